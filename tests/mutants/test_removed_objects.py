"""`verify` finds what goes or stays wrongly with an object that a client removes, and that its version does not see."""

import functools

import msgspec
import pytest
from amounts import full
from cases import CASES, V1, V2, V3, Case
from evolving import evolution, rules
from run import Project

from trundle.runtime import ABSENT
from trundle.verify.oracle import _removing

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
LISTS = {
    "by keys": ("[Item;tag]", {"tag!": "string"}),
    "by name": ("[Item]", {"name!": "string"}),
    "by place": ("[Item]", {}),
}
"""Lists of things, by what names their elements."""
LAW_3 = "law 3, an edit is seen, and all else is as before"
LAW_5 = "law 5, data stays with its element"
LAWS_3_4 = "laws 3 and 4, what an edit changes is seen, and what it cannot see stays"


def listed(case: Case, kind: str) -> Case:
    """The same of each element of a list."""
    shape, names = LISTS[kind]
    versions = {
        version: {**types, "Thing": {"held": shape}, "Item": {**types["Thing"], **names}}
        for version, types in case.versions.items()
    }
    return Case(versions, tuple(msgspec.structs.replace(each, type="Item") for each in case.more))


def lose_what_is_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trundle.runtime._presences._left", lambda *_: ABSENT)
    monkeypatch.setattr("trundle.runtime._presences._put_back", lambda *_: None)


def without_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oracle as it was when it knew nothing of elements."""
    monkeypatch.setattr(_removing, "named", lambda _world, _at, views: views)


@pytest.mark.parametrize(
    ("case", "hub"), [(OUTSIDE, V3), full(INSIDE, V2)], ids=["later", "between"]
)
def test_verify_finds_that_what_a_version_has_outside_of_a_removed_object_goes(
    monkeypatch, case, hub
):
    monkeypatch.setattr("run.evolution", functools.partial(evolution, hub=hub))
    project = Project("outside", case)
    assert project.right_findings() == set()
    lose_what_is_outside(monkeypatch)
    assert LAW_3 in project.right_findings()


@pytest.mark.full
@pytest.mark.parametrize("kind", LISTS)
def test_verify_finds_the_same_in_elements_of_lists_which_it_names(monkeypatch, kind):
    monkeypatch.setattr("run.evolution", functools.partial(evolution, hub=V2))
    project = Project("outside", listed(INSIDE, kind))
    assert project.right_findings() == set()
    lose_what_is_outside(monkeypatch)
    assert LAW_5 in project.right_findings()
    without_elements(monkeypatch)
    assert project.right_findings() == set()


def test_verify_finds_that_what_no_version_has_outside_of_a_removed_object_stays(monkeypatch):
    project = Project("within", WITHIN)
    assert project.right_findings() == set()
    monkeypatch.setattr("trundle.evolution._holders._is_outside", lambda *_: True)
    assert LAWS_3_4 in project.right_findings()


@pytest.mark.full
@pytest.mark.parametrize("kind", ["by name", "by keys"])
def test_verify_finds_what_stays_with_a_removed_object_in_elements_of_lists(monkeypatch, kind):
    project = Project("within", listed(WITHIN, kind))
    assert project.right_findings() == set()
    monkeypatch.setattr("trundle.evolution._holders._is_outside", lambda *_: True)
    assert LAWS_3_4 in project.right_findings()
    without_elements(monkeypatch)
    assert LAWS_3_4 not in project.right_findings()
