"""Configured changes with suggestions among them, as they are once a user has taken these up."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from trundle.evolution import TypeChanges
from trundle.report._suggestion import Suggestion

if TYPE_CHECKING:
    from trundle.version import ApiVersion


def taken_up(
    changes: Iterable[TypeChanges], suggestions: Iterable[Suggestion]
) -> tuple[TypeChanges, ...]:
    """Configured changes, with what suggestions say beside it."""
    own = {(each.version, each.type): each for each in changes}
    rules: dict[tuple[ApiVersion, str], dict[str, Any]] = {each: {} for each in own}
    for each in suggestions:
        said = rules.setdefault((each.older, each.type), {})
        match each.rule:
            case "renameType":
                said["rename_type"] = each.target
            case "keep":
                said["keep"] = (*said.get("keep", ()), each.property)
            case _:
                value = dict(each.values) if each.rule == "values" else each.target
                said.setdefault(each.rule, {})[each.property] = value
    return tuple(
        _with(own.get(key, TypeChanges(version=key[0], type=key[1])), said)
        for key, said in rules.items()
    )


def _with(changes: TypeChanges, said: Mapping[str, Any]) -> TypeChanges:
    merged = {
        rule: (*changes.keep, *value)
        if rule == "keep"
        else value
        if rule == "rename_type"
        else {**getattr(changes, rule), **value}
        for rule, value in said.items()
    }
    return msgspec.structs.replace(changes, **merged)
