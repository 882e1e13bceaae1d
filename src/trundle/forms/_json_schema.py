"""The JSON Schema of the answers to a form.

It refuses nothing that the form takes. What it cannot say is left to the form: rules that are expressions, patterns that mean
something else in other languages, and attributes that follow from other answers.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from trundle.engine.expressions import Code, Expression, Listing, Mapped
from trundle.forms._answers import (
    IDENTIFIER,
    LONGEST_PASSWORD,
    SHORTEST_PASSWORD,
    STRONG,
    is_empty,
)
from trundle.forms._evaluation import Evaluation, Sources
from trundle.forms._model import Definition, Field, FieldType, Form, Step
from trundle.forms._settling import settled

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_ADDRESS = r"^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])(?:\.(?!$)|$)){4}$(?!\n)"
_SIGNS = r"\^$\\.*+?()\[\]{}|/nrt"
_EVERYWHERE = re.compile(
    rf"(?:\\[{_SIGNS}]|\[(?!\^\])\^?(?:\\[{_SIGNS}\-]|[^\]\\\[])+\]|\{{[0-9]+(?:,[0-9]*)?\}}|\(\?[:=!]|\((?!\?)|[^\\\[\]{{}}(])*"
)
"""Patterns that JavaScript reads, with its flag `u` too, as Python does: no class such as `\\w`, which holds more letters in Python, no brackets and escapes that stand for themselves."""
_ONLY_PYTHON = re.compile(r"[*+?}]\+|\(\?[=!].*\)[*+?{]", re.DOTALL)
"""What such a pattern must not have beside that: possessive counts, and counts of conditions."""
_DEPENDS = re.compile(r"\$(?!\w)|\$forms\b|\bname\(")


def json_schema(form: Form, parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The JSON Schema, of the draft 2020-12, of the answers to a form.

    Fields are marked with `x-trundle-type`, with `x-trundle-hidden` where people are not asked, and with `x-trundle-confirm` where they are
    asked twice.

    Args:
        form: the form.
        parameters: what the method gives that the form names under `ParametersSource`.

    Raises:
        FormError: an attribute or a parameter cannot be computed.
    """
    none = Sources(lambda: "id", lambda: "name")
    evaluation = Evaluation(form, none, parameters)
    steps = {each.name: _step(each, evaluation) for each in form.steps}
    required = [name for name, each in steps.items() if "required" in each]
    whole = {"$schema": DIALECT, "type": "object", "properties": steps}
    if required:
        whole["required"] = required
    return {**whole, "additionalProperties": False}


def _step(step: Step, evaluation: Evaluation) -> dict[str, Any]:
    properties, required = {}, []
    for definition in step.fields:
        field, is_open = _known(definition, evaluation)
        properties[field.name] = _field(field, is_open=is_open)
        is_auto = field.type is FieldType.NETWORK and field.allow_auto
        if field.required and is_empty(field, field.initial) and not is_open and not is_auto:
            required.append(field.name)
    found: dict[str, Any] = {"title": step.name, "type": "object", "properties": properties}
    if required:
        found["required"] = required
    return {**found, "additionalProperties": False}


def _known(definition: Definition, evaluation: Evaluation) -> tuple[Field, bool]:
    """A field with what does not follow from other answers, and whether something of weight does."""
    fixed = {name: code for name, code in definition.attributes.items() if not _depends(name, code)}
    left = definition.attributes.keys() - fixed.keys()
    kept = Definition(definition.name, definition.type, definition.classes, fixed, definition.place)
    is_open = bool(left & {"required", "initial", "allow_auto"}) or (
        bool(left & {"choices"}) and definition.type is FieldType.CHOICE
    )
    return settled(kept, evaluation.value), is_open


def _depends(name: str, code: Code) -> bool:
    """Whether an attribute follows from answers; rules always do, in their own way."""
    if name == "validators":
        return False
    match code:
        case Expression(text=text):
            return _DEPENDS.search(text) is not None
        case Listing(items=items):
            return any(_depends(name, each) for each in items)
        case Mapped(entries=entries):
            return any(_depends(name, key) or _depends(name, value) for key, value in entries)
    return False


def _field(field: Field, *, is_open: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"title": field.label}
    description = "\n".join(filter(None, (field.description, field.help_text)))
    if description:
        found["description"] = description
    if not is_empty(field, field.initial) and field.type is not FieldType.PASSWORD:
        found["default"] = field.initial
    found["x-trundle-type"] = field.type.value
    if field.hidden:
        found["x-trundle-hidden"] = True
    if field.type is FieldType.PASSWORD:
        found |= {"writeOnly": True, "format": "password"}
        if field.confirm_input:
            found["x-trundle-confirm"] = True
    if field.classes:
        found["x-trundle-classes"] = list(field.classes)
    if is_open and field.type is FieldType.CHOICE:
        return found
    value = _value(field)
    is_auto = field.type is FieldType.NETWORK and field.allow_auto
    if field.required and not is_open and not is_auto:
        return found | value
    none: list[Any] = [None, "", []] if field.type is FieldType.DATABASES else [None, ""]
    return found | {"anyOf": [value, {"enum": none}]}


def _value(field: Field) -> dict[str, Any]:
    match field.type:
        case FieldType.INTEGER:
            bounds = {"minimum": field.min_value, "maximum": field.max_value}
            limits = {name: each for name, each in bounds.items() if each is not None}
            return {"type": "integer", **limits}
        case FieldType.BOOLEAN | FieldType.FLOATING_IP:
            return {"type": "boolean"}
        case FieldType.CHOICE:
            if not field.choices:
                return {"enum": [{"there is": "no choice"}]}
            return {"oneOf": _choices(field)}
        case FieldType.CLUSTER_IP:
            return {"type": "string", "format": "ipv4", "pattern": _ADDRESS}
        case FieldType.DATABASES:
            names = {"type": "array", "minItems": 1}
            listed = {**names, "items": {"type": "string", "pattern": IDENTIFIER}}
            return {"anyOf": [listed, {"type": "string", "minLength": 1}]}
        case FieldType.NETWORK:
            part = {"type": ["string", "null"]}
            pair: dict[str, Any] = {"type": "array", "prefixItems": [part, part]}
            pair |= {"items": False, "minItems": 2}
            return pair if field.allow_auto else pair | {"not": {"const": [None, None]}}
    return _text(field)


def _choices(field: Field) -> list[dict[str, Any]]:
    seen: dict[Any, dict[str, Any]] = {}
    for each in field.choices:
        key = (isinstance(each.value, bool), each.value)
        if not is_empty(field, each.value):
            seen.setdefault(key, {"const": each.value, "title": each.title})
    return list(seen.values()) or [{"not": {}}]


def _text(field: Field) -> dict[str, Any]:
    least, most = field.min_length, field.max_length
    patterns = [
        check.rule
        for check in field.checks
        if isinstance(check.rule, str)
        and not check.flags
        and _EVERYWHERE.fullmatch(check.rule)
        and _ONLY_PYTHON.search(check.rule) is None
    ]
    if field.type is FieldType.PASSWORD and not field.checks:
        least = SHORTEST_PASSWORD if least is None else least
        most = LONGEST_PASSWORD if most is None else most
        patterns.append(STRONG)
    found: dict[str, Any] = {"type": "string", "minLength": max(least or 1, 1)}
    if most is not None and field.type in (FieldType.STRING, FieldType.TEXT, FieldType.PASSWORD):
        found["maxLength"] = most
    if len(patterns) == 1:
        found["pattern"] = patterns[0]
    elif patterns:
        found["allOf"] = [{"pattern": each} for each in patterns]
    return found
