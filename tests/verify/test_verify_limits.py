"""What is lossy by nature, said of plans alone."""

from collections.abc import Mapping

from cases import V1, V2, thing
from evolving import Version, evolution, rules

from trundle.codegen import Blueprint
from trundle.evolution import TypeChanges
from trundle.verify.limits import limits


def kinds(sides: Mapping[str, Version], rule: TypeChanges) -> set[str]:
    made = evolution(sides, rule)
    return {each.kind for each in limits(made, Blueprint(made).plans)["Thing"]}


def test_a_negated_boolean_is_no_limit() -> None:
    sides = {V1: thing(off="boolean"), V2: thing(on="boolean")}
    negated = rules(V1, rename={"off": "on"}, convert={"off": "disabled-to-enabled"})
    assert kinds(sides, negated) == set()
    apart = {V1: thing(off="boolean"), V2: thing(on="string")}
    spelt = rules(V1, rename={"off": "on"}, convert={"off": "boolean-to-string"})
    assert kinds(apart, spelt) == {"narrowed"}
