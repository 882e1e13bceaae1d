"""What objects show for requiring it: a configured default, the schema's, or a zero value."""

from typing import Any

import msgspec

from trundle.schema import ABSENT, ListOf, Nullable, ObjectType, Property, Ref, Scalar
from trundle.verify._broken import MISSING, Number, tree
from trundle.verify.oracle._expected import ANY
from trundle.verify.oracle._meeting import At, World
from trundle.verify.oracle._variants import fixed_texts


def required(world: World, found: dict[str, Any], at: At) -> dict[str, Any]:
    """An object with what it shows for requiring it: the configured default, the schema's, or a zero."""
    configured = world.rules_of(at).get("default") or {}
    for each in world.object(at).properties:
        if found.get(each.name, MISSING) is MISSING:
            if each.name in configured:
                found[each.name] = _as_tree(configured[each.name])
            elif each.required:
                found[each.name] = _zero(world, each, at)
            elif fixed_texts(world, at).get(each.name) and each.name == world.object(at).tag:
                found[each.name] = ANY
    return {name: each for name, each in found.items() if each is not MISSING}


def _zero(world: World, declared: Property, at: At) -> Any:
    if declared.default is not ABSENT:
        return _as_tree(declared.default)
    limits = {name for name, _ in declared.constraints} - {"items"}
    if limits or isinstance(world.definition(At(at.version, declared.type)), ObjectType):
        return ANY
    match declared.type:
        case Nullable():
            return None
        case Scalar("boolean"):
            return False
        case Scalar("integer" | "number"):
            return Number("0")
        case Scalar("string", format=None):
            return ""
        case ListOf():
            return []
        case Ref():
            return ANY if fixed_texts(world, at).get(declared.name) else MISSING
        case _:
            return ANY


def _as_tree(value: Any) -> Any:
    return tree(msgspec.json.encode(value))
