"""What the names of functions, helpers and variables take from plans and their expressions."""

from typing import assert_never

from trundle.codegen._naming import attribute_name, shortened
from trundle.evolution import ADDITIONAL, Plan, PlanKey, snake
from trundle.evolution.steps import (
    Change,
    Expression,
    First,
    Hidden,
    HookOutput,
    HookRefill,
    KeepElements,
    KeepPlaces,
    Presence,
    Read,
    Refill,
    Said,
    Solid,
    Unstash,
)


def function_name(plan: Plan) -> str:
    """What a plan's function is called, as far as it is not numbered."""
    key = plan.key
    name = snake(key.lineage.definition(key.source.version).name) or "value"
    return shortened(name, f"_{direction(key)}")


def direction(key: PlanKey) -> str:
    """Where a plan leads, as names of its functions say it."""
    match key.source.kind, key.target.kind:
        case "api", "storage":
            return "to_storage"
        case "storage", "api":
            return "from_storage"
        case "storage", "storage":
            return "upgrade"
        case _:
            return f"to_{key.target.version.identifier}"


def about(value: Expression) -> str:
    """The property that an expression is about, for names."""
    match value:
        case Read(name):
            return name
        case Unstash(entries):
            return entries[0].place.property
        case HookOutput(output=place):
            return place.property
        case (
            Change(inner)
            | Hidden(inner)
            | HookRefill(inner)
            | KeepElements(inner)
            | KeepPlaces(inner)
            | Presence(inner)
            | Refill(inner)
            | Said(_, inner)
            | Solid(inner)
        ):
            return about(inner)
        case First(options):
            return about(options[0])
        case _:
            assert_never(value)


def attribute_of(name: str) -> str:
    """A property's name as part of a helper's name."""
    return "additional_properties" if name == ADDITIONAL else attribute_name(name).rstrip("_")
