"""Conversions that the laws alone did not see are found: right plans have no finding, damaged ones have."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from amounts import some_of
from cases import CASES, V1, V2, V3, Case, thing
from evolving import hooked, rules
from run import Project

from trundle.evolution import Lineage, Plan, PlanKey
from trundle.evolution._planning import make_plan
from trundle.evolution.steps import Cases, First, HookOutput, Read, Shape, Stash, ToEnum
from trundle.runtime import ABSENT

OBJECT = {"O": {"a": "integer", "b": "integer"}}
E = {"E": {"type!": "TE", "name!": "N", "x": "string"}, "TE": ["auditing"], "N": ["default"]}
F = {"F": {"type!": "TF", "name!": "N", "x": "string"}, "TF": ["assessments"], "N": ["default"]}


class Notes:
    def assign_to(self, source: Any) -> dict[str, Any]:
        return {"note": source.note or ABSENT}

    def assign_from(self, source: Any) -> dict[str, Any]:
        return {"note": source.note}


MOVES = Case(
    {V1: thing(a="integer", b="integer"), V2: thing(o="O") | OBJECT},
    (rules(V1, move={"a": "o.a", "b": "o.b"}),),
)
E2 = {"E": {**E["E"], "z": "string"}}
VARIANTS = Case({V1: thing(u="[E|F]") | E | F, V2: thing(u="[F|E]") | E | E2 | F})
HOOK = Case(
    {V1: thing(note="string", k="string"), V2: thing(note="string")},
    (hooked(V1, V2, Notes, to=(("note",), ("note",)), back=(("note",), ("note",))),),
)
SIZES = Case(
    {
        V1: thing(s="L") | {"L": ["Small", "Mid"]},
        V2: thing(s="L") | {"L": ["Small", "Mid", "Large"]},
        V3: thing(s="string"),
    }
)
Change = Callable[[Any], Any]


def changed(record: Any, change: Change) -> Any:
    """A record with a change made to every record in it, from the inside out."""
    if isinstance(record, tuple):
        return tuple(changed(each, change) for each in record)
    if not isinstance(record, msgspec.Struct) or isinstance(record, PlanKey | Lineage | Shape):
        return record
    fields = {name: changed(getattr(record, name), change) for name in record.__struct_fields__}
    return change(msgspec.structs.replace(record, **fields))


def broken(case: Case, change: Change, fits: Callable[[Plan], bool]) -> set[str]:
    """The laws that are found broken where some plans are damaged; at least one has to be."""
    project = Project("damaged", case)
    damaged = 0
    for key, plan in project.blueprint.plans.items():
        if fits(plan) and (wrong := changed(plan, change)) != plan:
            key.lineage.evolution.made[make_plan, (key,)] = wrong
            damaged += 1
    assert damaged
    with project.scheme() as scheme:
        return set(project.broken(scheme))


def up(plan: Plan) -> bool:
    return plan.key.source.version < plan.key.target.version


@pytest.mark.full
@pytest.mark.parametrize(
    "case", some_of([MOVES, VARIANTS, HOOK], 3), ids=["moves", "variants", "hook"]
)
def test_what_is_not_damaged_has_no_finding(case: Case) -> None:
    project = Project("right", case)
    with project.scheme() as scheme:
        assert set(project.broken(scheme)) == set()


@pytest.mark.full
def test_several_moves_of_which_one_is_not_made_are_found() -> None:
    project = Project("moves", MOVES)
    fates = [each.fate for each in project.mutants() if each.kind == "a step left out"]
    assert "caught" in fates
    assert "survived" not in fates


def test_variants_that_are_swapped_are_found() -> None:
    def swapped(record: Any) -> Any:
        if not isinstance(record, Cases) or len(record.cases) != 2:
            return record
        one, other = record.cases
        cases = (
            msgspec.structs.replace(one, step=other.step),
            msgspec.structs.replace(other, step=one.step),
        )
        return msgspec.structs.replace(record, cases=cases)

    assert broken(VARIANTS, swapped, up)


@pytest.mark.full
def test_an_output_of_a_hook_that_is_replaced_where_it_is_absent_is_found() -> None:
    def filled(record: Any) -> Any:
        return First((record, Read("note"))) if isinstance(record, HookOutput) else record

    laws = broken(HOOK, filled, lambda plan: up(plan) and plan.key.source.kind == "api")
    assert "law 8, what a hook returns is shown" in laws


@pytest.mark.full
def test_enum_text_that_loses_its_letter_case_is_found() -> None:
    def as_listed(record: Any) -> Any:
        if not isinstance(record, ToEnum):
            return record
        return msgspec.structs.replace(record, values=(), partly=())

    assert broken(SIZES, as_listed, lambda plan: plan.key.target.kind == "api")


@pytest.mark.full
def test_an_entry_that_never_becomes_stale_is_found_by_an_edit_of_an_edit() -> None:
    def always_current(record: Any) -> Any:
        return (
            msgspec.structs.replace(record, witness=None) if isinstance(record, Stash) else record
        )

    laws = broken(
        CASES["list of unions"],
        always_current,
        lambda plan: (
            plan.key.source.kind == "api" and plan.key.target.kind == "storage" and up(plan)
        ),
    )
    assert "laws 4 and 8, an edit leaves nothing stale, and all else as before" in laws
