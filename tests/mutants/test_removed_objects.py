"""`verify` finds what goes or stays wrongly with an object that a client removes, and that its version does not see."""

import pytest
from cases import CASES, V1, V2, V3, Case
from evolving import rules
from run import Project

from trundle.runtime import ABSENT

OUTSIDE = CASES["move, and a version without it"]
BETWEEN = Case(
    {
        V1: {"Thing": {"o": "O"}, "O": {"s": "S"}, "S": {"l": "string"}},
        V2: {"Thing": {"p": "P"}, "P": {"l": "string"}},
        V3: {"Thing": {"o": "O"}, "O": {}},
    },
    (rules(V1, move={"o.s.l": "p.l"}),),
)


@pytest.mark.parametrize(
    ("left", "law"),
    [
        (lambda *_: ABSENT, "law 3, an edit is seen, and all else is as before"),
        (
            lambda held, _paths: held,
            "laws 3 and 4, what an edit changes is seen, and what it cannot see stays",
        ),
    ],
    ids=["what others have outside goes", "what none has outside stays"],
)
def test_verify_finds_what_a_removed_object_takes_along_or_leaves(monkeypatch, left, law):
    project = Project("removed", OUTSIDE)
    assert project.right_findings() == set()
    monkeypatch.setattr("trundle.runtime._presences._left", left)
    assert law in project.right_findings()
