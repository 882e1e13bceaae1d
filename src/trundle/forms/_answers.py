"""Whether a value is an answer to a field, and what it becomes."""

import ipaddress
import re
from typing import Any, Final

from trundle.engine import EngineError
from trundle.engine.expressions import Expression, pattern
from trundle.errors import Finding, Place, shown
from trundle.forms._errors import FormCode, FormError
from trundle.forms._evaluation import Evaluation
from trundle.forms._model import Field, FieldType

SPECIAL: Final = "!@#$%^&*()_+|\\/.,~?><:{}-"
_IN_CLASS = re.sub(r"([\\^\-\]])", r"\\\1", SPECIAL)
STRONG: Final = f"^(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z])(?=.*[{_IN_CLASS}])"
"""The pattern of passwords for which a form says nothing else."""
SHORTEST_PASSWORD: Final = 7
LONGEST_PASSWORD: Final = 255
IDENTIFIER: Final = "^[a-zA-Z_][a-zA-Z0-9_$#@]*$(?!\\n)"
"""The pattern of names of databases."""

_TEXTS = frozenset({FieldType.STRING, FieldType.TEXT, FieldType.PASSWORD})
_SWITCHES = frozenset({FieldType.BOOLEAN, FieldType.FLOATING_IP})
_NETWORK_PARTS = 2


class _Unfit(Exception):  # noqa: N818 - never leaves this module
    def __init__(self, expected: str, advice: str = "") -> None:
        super().__init__(expected)
        self.expected, self.advice = expected, advice


def empty_value(field: Field) -> Any:
    """What a field is that has no value."""
    if field.type in _SWITCHES:
        return False
    if field.type is FieldType.NETWORK:
        return [None, None]
    if field.type is FieldType.DATABASES:
        return []
    if field.type in (FieldType.INTEGER, FieldType.OBJECT, FieldType.DOMAIN):
        return None
    return ""


def is_empty(field: Field, value: Any) -> bool:
    """Whether a value counts as none in a field."""
    return value is None or value == "" or (value == [] and field.type is FieldType.DATABASES)


def answer(
    field: Field, value: Any, evaluation: Evaluation, place: Place
) -> tuple[Any, list[Finding]]:
    """What a value becomes as the answer to a field, and everything that is wrong with it.

    Args:
        field: the field.
        value: a plain value; None for no value.
        evaluation: computes the rules of the field.
        place: what messages call the answer.
    """
    if is_empty(field, value):
        if not field.required or (field.type is FieldType.NETWORK and field.allow_auto):
            return empty_value(field), []
        expected = "a value"
        advice = field.required_message or "give one"
        return None, [Finding(FormCode.UNANSWERED, place, expected, "none", advice)]
    try:
        found = _typed(field, value)
    except _Unfit as error:
        advice = field.invalid_message or error.advice or field.help_text
        return None, [_wrong(field, value, error.expected, advice, place)]
    return found, list(_failures(field, found, evaluation, place))


def _wrong(field: Field, value: Any, expected: str, advice: str, place: Place) -> Finding:
    found = "what is given" if field.type is FieldType.PASSWORD else shown(value)
    return Finding(FormCode.ANSWER, place, expected, found, advice)


def _typed(field: Field, value: Any) -> Any:
    """The value as a field of its type keeps it."""
    match field.type:
        case FieldType.INTEGER:
            return _integer(value)
        case FieldType.BOOLEAN | FieldType.FLOATING_IP:
            if not isinstance(value, bool):
                raise _Unfit("true or false")
            return value
        case FieldType.CHOICE:
            return _choice(field, value)
        case FieldType.CLUSTER_IP:
            return _address(value)
        case FieldType.DATABASES:
            return _databases(value)
        case FieldType.NETWORK:
            return _network(field, value)
    if not isinstance(value, str):
        raise _Unfit("a text", "" if isinstance(value, list | dict) else "put quotes around it")
    return value


def _integer(value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _Unfit("an integer")
    return value


def _choice(field: Field, value: Any) -> Any:
    for each in field.choices:
        if each.value == value and isinstance(each.value, bool) == isinstance(value, bool):
            return each.value
    offered = ", ".join(shown(each.value) for each in field.choices[:12]) or "nothing to choose"
    raise _Unfit(f"one of {offered}" if field.choices else "nothing, as there is no choice")


def _address(value: Any) -> str:
    try:
        if not isinstance(value, str):
            raise _Unfit("an IPv4 address")
        return str(ipaddress.IPv4Address(value))
    except ValueError:
        raise _Unfit("an IPv4 address", "such as 10.0.0.1") from None


def _databases(value: Any) -> list[str]:
    names = [each.strip() for each in value.split(",")] if isinstance(value, str) else value
    if not isinstance(names, list):
        raise _Unfit("names of databases", "write a list, or names with commas between them")
    for each in names:
        if not isinstance(each, str) or re.search(IDENTIFIER, each) is None:
            raise _Unfit(
                "names of databases: letters, digits, _, $, # and @, with a letter or _ first"
            )
    return names


def _network(field: Field, value: Any) -> list[str | None]:
    if (
        not isinstance(value, list)
        or len(value) != _NETWORK_PARTS
        or not all(each is None or isinstance(each, str) for each in value)
    ):
        raise _Unfit("a list of a network and a subnet", "write null for one that does not matter")
    if value == [None, None] and not field.allow_auto:
        raise _Unfit("a network")
    return list(value)


def _failures(field: Field, value: Any, evaluation: Evaluation, place: Place) -> list[Finding]:
    """What a value of the right type does not fulfil."""
    found = [
        _wrong(field, value, expected, field.invalid_message, place)
        for expected in _out_of_bounds(field, value)
    ]
    for check in field.checks:
        try:
            rule = check.rule
            if isinstance(rule, Expression):
                is_met = evaluation.holds(rule, value)
                expected = f"a value for which {rule} is true"
            else:
                is_met = pattern(rule, check.flags).search(str(value)) is not None
                expected = f"a text that matches {shown(rule)}"
        except FormError as error:
            found += error.findings
            continue
        except EngineError as error:
            found.append(Finding(FormCode.LIMIT, place, "", error.message, error.advice))
            continue
        if not is_met:
            found.append(_wrong(field, value, expected, check.message, place))
    return found


def _out_of_bounds(field: Field, value: Any) -> list[str]:
    found = []
    if field.type in _TEXTS:
        least, most = field.min_length, field.max_length
        if field.type is FieldType.PASSWORD and not field.checks:
            least = SHORTEST_PASSWORD if least is None else least
            most = LONGEST_PASSWORD if most is None else most
            if re.search(STRONG, value) is None:
                found.append("a capital, a small letter, a digit and a special sign")
        if least is not None and len(value) < least:
            found.append(f"at least {least} characters")
        if most is not None and len(value) > most:
            found.append(f"at most {most} characters")
    if field.type is FieldType.INTEGER:
        if field.min_value is not None and value < field.min_value:
            found.append(f"at least {field.min_value}")
        if field.max_value is not None and value > field.max_value:
            found.append(f"at most {field.max_value}")
    return found
