"""A sample of all mutants: `make mutants` runs them all."""

import pytest
from amounts import full, some_of
from damage import DECISIONS, damages
from run import Project, decided, report


@pytest.mark.parametrize("name", ["rename", full("lists with a key property"), full("hook")])
def test_damaged_plans_are_found(name: str) -> None:
    results = list(Project(name).mutants(every=11))
    fates = [each.fate for each in results]
    assert "caught" in fates
    assert [each for each in results if each.fate == "survived"] == []


@pytest.mark.parametrize(
    "decision",
    some_of(
        ["current: always", "current: never", "bags: not merged", "put: what was written, always"],
        2,
    ),
)
def test_wrong_decisions_are_found(decision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("run.DECISIONS", {decision: DECISIONS[decision]})
    (result,) = decided([Project("hook"), Project("gap, objects"), Project("list of unions")])
    assert result.fate == "caught"


@pytest.mark.parametrize(
    "decision", some_of(["put: what was written, always", "objects: what was written, always"], 2)
)
def test_what_is_lost_in_an_object_beside_an_edit_is_found(
    decision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("run.DECISIONS", {decision: DECISIONS[decision]})
    (result,) = decided([Project("object to union")])
    assert result.fate == "caught"


def test_every_plan_of_a_project_can_be_damaged_in_several_ways() -> None:
    plans = Project("values").blueprint.plans.values()
    kinds = {each.kind for plan in plans for each in damages(plan)}
    assert {"a step left out", "a stash left out", "MapText: values inverted"} <= kinds


def test_the_report_counts_what_changes_an_output() -> None:
    text = report(list(Project("rename").mutants(every=5)))
    assert (
        text.splitlines()[0]
        == "| damage | mutants | change an output | caught | stored bytes only |"
    )
    assert "| all | " in text


@pytest.mark.full
def test_what_is_stored_twice_and_read_alike_is_distinguished() -> None:
    project = Project("number to integer")
    fates = {each.fate for each in project.mutants() if each.kind == "Stash: derived removed"}
    assert "stored" in fates
    assert "survived" not in fates


@pytest.mark.full
def test_undamaged_projects_have_no_findings() -> None:
    assert Project("enum and text").right_findings() == set()
