"""`verify` finds a version that shows a variant which another version has replaced."""

import pytest
from amounts import full
from cases import Case
from damage import damages
from run import Project

from trundle.evolution._planning import make_plan

KINDS = {"A": {"kind!": "KA"}, "B": {"kind!": "KB", "b": "string"}, "C": {"kind!": "KC"}}


def case(*unions):
    versions = {}
    for year, union in enumerate(unions, start=2020):
        kinds = {each: KINDS[each] for each in union}
        texts = {f"K{each}": [each.lower()] for each in union}
        versions[f"{year}-01-01"] = {"Thing": {"s": "|".join(union)}, **kinds, **texts}
    return Case(versions)


@pytest.mark.parametrize(
    "unions", [("AB", "AC"), full(("AB", "ABC", "AC")), full(("AB", "AC", "ABC"))], ids=" ".join
)
def test_verify_finds_a_variant_that_was_replaced(monkeypatch, unions):
    project = Project("variants", case(*unions))
    assert project.right_findings() == set()
    monkeypatch.setattr("trundle.runtime._merge.take_place", lambda *_: None)
    assert project.right_findings() == {
        "laws 4 and 8, an edit leaves nothing stale, and all else as before"
    }


@pytest.mark.full
def test_verify_finds_what_stays_after_a_version_has_removed_it() -> None:
    """One version replaces what another wrote, and that one then removes it: the first must not show it any more."""
    project = Project("union by another property")
    plans = project.blueprint.plans
    ((key, damaged),) = (
        (key, each.plan)
        for key, plan in plans.items()
        for each in damages(plan)
        if (key.source.kind, each.kind, each.where) == ("api", "Stash: witness removed", "bag u")
    )
    made = key.lineage.evolution.made
    made[make_plan, (key,)] = damaged
    try:
        assert "law 3, an edit is seen, and all else is as before" in project.right_findings()
    finally:
        made[make_plan, (key,)] = plans[key]
