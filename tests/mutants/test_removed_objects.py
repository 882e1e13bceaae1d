"""`verify` finds what goes or stays wrongly with an object that a client removes, and that its version does not see."""

import functools

import pytest
from cases import CASES, V1, V2, V3, Case
from evolving import evolution, rules
from run import Project

from trundle.runtime import ABSENT

OUTSIDE = CASES["move, and a version without it"]
INSIDE = Case(
    {
        V1: {"Thing": {"p": "P"}, "P": {"k": "string"}},
        V2: {"Thing": {"p": "P"}, "P": {"l": "string", "k": "string"}},
        V3: {"Thing": {"l": "string", "k": "string"}},
    },
    (rules(V2, move={"p.l": "l", "p.k": "k"}),),
)
WITHIN = Case(
    {
        V1: {"Thing": {"o": "O"}, "O": {"k": "string"}},
        V2: {"Thing": {"o": "O"}, "O": {"s": "S", "k": "string"}, "S": {"l": "string"}},
        V3: {"Thing": {"o": "O"}, "O": {"l": "string", "k": "string"}},
    },
    (rules(V2, move={"o.s.l": "o.l"}),),
)


@pytest.mark.parametrize(("case", "hub"), [(OUTSIDE, V3), (INSIDE, V2)], ids=["later", "between"])
def test_verify_finds_that_what_a_version_has_outside_of_a_removed_object_goes(
    monkeypatch, case, hub
):
    monkeypatch.setattr("run.evolution", functools.partial(evolution, hub=hub))
    project = Project("outside", case)
    assert project.right_findings() == set()
    monkeypatch.setattr("trundle.runtime._presences._left", lambda *_: ABSENT)
    monkeypatch.setattr("trundle.runtime._presences._put_back", lambda *_: None)
    assert "law 3, an edit is seen, and all else is as before" in project.right_findings()


def test_verify_finds_that_what_no_version_has_outside_of_a_removed_object_stays(monkeypatch):
    project = Project("within", WITHIN)
    assert project.right_findings() == set()
    monkeypatch.setattr("trundle.evolution._holders._is_outside", lambda *_: True)
    assert (
        "laws 3 and 4, what an edit changes is seen, and what it cannot see stays"
        in project.right_findings()
    )
