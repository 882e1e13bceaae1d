"""A class in a version as JSON Schema: the maps that load as its objects, as far as JSON Schema can say it."""

import contextlib
from collections.abc import Callable
from typing import Any

from trundle.engine.contracts import Chain
from trundle.engine.expressions import Code, Expression, Listing, Mapped, Scalar
from trundle.engine.schemas._inputs import (
    Described,
    chain_in,
    constant,
    inputs,
    lengths,
    takes_null,
)

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TEXT = {"type": ["string", "null"]}
_NUMBER_OR_TEXT = {"type": ["string", "integer", "null"]}
_HEADER = {
    "type": "object",
    "properties": {
        "type": {"type": ["string", "null"]},
        "classVersion": _NUMBER_OR_TEXT,
        "package": _NUMBER_OR_TEXT,
        "id": _NUMBER_OR_TEXT,
        "name": _TEXT,
    },
}
_ACCEPTED: dict[str, dict[str, Any]] = {
    "string": {"type": ["string", "integer", "boolean", "null"]},
    "int": {
        "anyOf": [
            {"type": ["number", "boolean", "null"]},
            {"type": "string", "pattern": r"^\s*[+-]?[0-9]+(_[0-9]+)*\s*$"},
        ]
    },
    "bool": {},
    "class": {
        "anyOf": [
            {"type": ["string", "null"]},
            {"type": "object", "properties": {"?": {"$ref": "#/$defs/header"}}},
        ]
    },
    "template": {"type": ["object", "null"]},
}


def class_json_schema(type_: Described) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the maps that stand for objects of a class in a version.

    A map that loads is valid, where nothing but the map itself decides about it. One that is invalid does not load. What JSON Schema
    cannot say is left out: expressions in contracts, references by id, which class an object has that stands in a property.
    """
    properties: dict[str, Any] = {"?": {"$ref": "#/$defs/header"}}
    required = []
    for each in inputs(type_):
        found = {} if each.contract is None else _accepted(each.contract, each.full)
        if each.default is not None:
            with contextlib.suppress(ValueError):
                found = {**found, "default": constant(each.default)}
        elif each.contract is not None and not takes_null(each.contract, each.full):
            required.append(each.name)
        properties[each.name] = found
    return {
        "$schema": _DRAFT,
        "title": type_.label,
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        "$defs": {"header": _HEADER},
    }


def _accepted(code: Code, full: Callable[[str], str]) -> dict[str, Any]:
    match code:
        case Scalar(value):
            return {"const": value}
        case Expression():
            chain = chain_in(code, full)
            return {} if chain is None else _by_chain(chain)
        case Listing():
            return _list(code, full)
        case Mapped():
            return _map(code, full)


def _by_chain(chain: Chain) -> dict[str, Any]:
    found = _ACCEPTED[chain.conversions[0].method] if chain.conversions else {}
    if chain.takes_null is not False:
        return found
    return {**found, "not": {"type": "null"}}


def _list(listing: Listing, full: Callable[[str], str]) -> dict[str, Any]:
    items, least, most = lengths(listing)
    parts = [_accepted(each, full) for each in items]
    found: dict[str, Any] = {"type": "array"}
    if len(parts) > 1:
        found["prefixItems"] = parts[:-1]
    if parts:
        found["items"] = parts[-1]
    found |= {"minItems": least} if least else {}
    found |= {"maxItems": most} if most is not None else {}
    ways = [found]
    if not least:
        ways.append({"type": "null"})
    if least <= 1 and most != 0:
        single = parts[0] if parts else {}
        ways.append({"allOf": [{"not": {"type": ["array", "null"]}}, single]})
    return {"anyOf": ways}


def _map(mapped: Mapped, full: Callable[[str], str]) -> dict[str, Any]:
    named = [(key.value, each) for key, each in mapped.entries if isinstance(key, Scalar)]
    others = [each for key, each in mapped.entries if isinstance(key, Expression)]
    found: dict[str, Any] = {"type": "object"}
    texts = {name: each for name, each in named if isinstance(name, str)}
    if texts:
        found["properties"] = {name: _accepted(each, full) for name, each in texts.items()}
    required = [name for name, each in texts.items() if not takes_null(each, full)]
    found |= {"required": required} if required else {}
    if others:
        found["additionalProperties"] = _accepted(others[0], full)
    if all(takes_null(each, full) for _, each in named):
        return {"anyOf": [found, {"type": "null"}]}
    return found
