"""A field whose attributes are computed, out of its definition."""

import re
from collections.abc import Callable
from typing import Any

from trundle.engine.expressions import Code, Expression, Listing, Mapped, Scalar, pattern
from trundle.errors import Finding, Place, shown
from trundle.forms._attributes import ATTRIBUTES, choices_of, pattern_of
from trundle.forms._errors import FormCode, FormError
from trundle.forms._model import Check, Definition, Field, FieldType


def settled(definition: Definition, value_of: Callable[[Code], Any]) -> Field:
    """A field with computed attributes.

    Args:
        definition: what the form says of the field.
        value_of: computes an attribute; it may raise a FormError.

    Raises:
        FormError: an attribute cannot be computed, or is not what it ought to be.
    """
    values: dict[str, Any] = {}
    findings: list[Finding] = []
    for name, code in definition.attributes.items():
        if name == "validators" or definition.type not in ATTRIBUTES[name].types:
            continue
        try:
            values[name] = value_of(code)
        except FormError as error:
            findings += error.findings
            continue
        findings += wrong_attribute(name, values[name], place_of(definition, code))
    if findings:
        raise FormError(findings)
    return _field(definition, values)


def wrong_attribute(name: str, value: Any, place: Place) -> list[Finding]:
    """What is wrong with the value of an attribute."""
    attribute = ATTRIBUTES[name]
    if not attribute.fits(value):
        advice = "correct it"
        return [Finding(FormCode.ATTRIBUTE, place, attribute.expected, shown(value), advice)]
    return wrong_pattern(value, place) if name == "regexp_validator" else []


def wrong_pattern(text: str, place: Place) -> list[Finding]:
    """What is wrong with a pattern."""
    try:
        pattern(*pattern_of(text))
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        found = f"{shown(text)} ({error})"
        return [Finding(FormCode.ATTRIBUTE, place, "a pattern", found, "correct it")]
    return []


def place_of(definition: Definition, code: Code) -> Place:
    """Where an attribute of a field is written."""
    line = code.place.line if isinstance(code, Expression) else code.line
    return Place(definition.place.file, line or definition.place.line, definition.place.object)


def checks_of(code: Code) -> tuple[Check, ...]:
    """The checks under `validators`; entries that are none are left out."""
    found = []
    for each in code.items if isinstance(code, Listing) else ():
        if isinstance(each, Mapped) and (rule := _rule(each.get("expr"))) is not None:
            text, flags = rule
            message = each.get("message")
            said = str(message.value) if isinstance(message, Scalar) else ""
            if isinstance(message, Expression):
                said = message.text
            found.append(Check(text, said, flags))
    return tuple(found)


def _rule(code: Code | None) -> tuple[Expression | str, int] | None:
    match code:
        case Expression():
            return code, 0
        case Scalar(value=bool() as value, line=line):
            return Expression(str(value).lower(), Place(line=line)), 0
        case Mapped():
            text = code.get("regexpValidator")
            if isinstance(text, Scalar) and isinstance(text.value, str):
                return pattern_of(text.value)
            if isinstance(text, Expression):  # A pattern without quotes may look like one
                return pattern_of(text.text)
    return None


def _field(definition: Definition, values: dict[str, Any]) -> Field:
    messages = values.get("error_messages") or {}
    checks = checks_of(definition.attributes.get("validators", Listing(())))
    if (text := values.get("regexp_validator")) is not None:
        written, flags = pattern_of(text)
        checks = (Check(written, str(messages.get("invalid", "")), flags), *checks)
    label = str(values.get("label") or definition.name)
    return Field(
        name=definition.name,
        type=definition.type,
        classes=definition.classes,
        label=label,
        description=str(values.get("description") or ""),
        description_title=str(values.get("description_title") or label),
        help_text=str(values.get("help_text") or ""),
        initial=_initial(definition.type, values.get("initial")),
        required=definition.type is not FieldType.BOOLEAN
        and definition.type is not FieldType.FLOATING_IP
        and values.get("required") is not False,
        hidden=bool(values.get("hidden")),
        min_length=values.get("min_length"),
        max_length=values.get("max_length"),
        min_value=values.get("min_value"),
        max_value=values.get("max_value"),
        checks=checks,
        choices=choices_of(values.get("choices")) or (),
        confirm_input=values.get("confirm_input") is not False,
        required_message=str(messages.get("required", "")),
        invalid_message=str(messages.get("invalid", "")),
        allow_auto=values.get("allow_auto") is not False,
    )


def _initial(type_: FieldType, value: Any) -> Any:
    """A default as the field's values are; forms write numbers as text, and text as numbers."""
    if type_ is FieldType.INTEGER and isinstance(value, str):
        return int(value) if re.fullmatch(r"\s*-?[0-9]{1,400}\s*", value) else value
    if type_ in (FieldType.STRING, FieldType.TEXT, FieldType.PASSWORD):
        if isinstance(value, bool):
            return str(value).lower()
        return str(value) if isinstance(value, int | float) else value
    return value
