"""The attributes of fields: which there are, what each may be, for which types, and since when."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from trundle.engine.expressions import Code, Expression, Listing, Mapped, Scalar
from trundle.forms._model import Choice, FieldType, FormVersion

LONGEST_TEXT: Final = 100_000
_FIRST = FormVersion(2, 0)
_INTEGERS = ("min_vcpus", "max_vcpus", "min_disk", "max_disk", "min_memory_mb", "max_memory_mb")
_FLAGS = {"I": re.IGNORECASE, "M": re.MULTILINE, "S": re.DOTALL, "X": re.VERBOSE, "A": re.ASCII}
_FLAGS |= {"U": re.UNICODE}

_TEXTS = frozenset({FieldType.STRING, FieldType.TEXT, FieldType.PASSWORD})
_ALL = frozenset(FieldType)


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of fields.

    Attributes:
        expected: what it may be, in words.
        fits: whether a plain value is that.
        types: the types whose fields have it.
        since: the first version with it.
    """

    expected: str
    fits: Callable[[Any], bool]
    types: frozenset[FieldType] = _ALL
    since: FormVersion = _FIRST


def is_scalar(value: Any) -> bool:
    """Whether a value is a scalar that can be shown as text."""
    return isinstance(value, str | int | float) and len(str(value)) <= LONGEST_TEXT


def is_integer(value: Any) -> bool:
    """Whether a value is an integer; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def choices_of(value: Any) -> tuple[Choice, ...] | None:
    """The choices that a list of pairs, or a map, says; None if it is neither."""
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        if not all(isinstance(each, list) and len(each) == 2 for each in value):  # noqa: PLR2004
            return None
        pairs = [(key, title) for key, title in value]
    else:
        return None
    if not all((key is None or is_scalar(key)) and is_scalar(title) for key, title in pairs):
        return None
    return tuple(Choice(key, str(title)) for key, title in pairs)


def _is_requirements(value: Any) -> bool:
    return isinstance(value, dict) and all(
        name in _INTEGERS and is_integer(each) for name, each in value.items()
    )


def _is_messages(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(name, str) and is_scalar(each) for name, each in value.items()
    )


def _is_flag(value: Any) -> bool:
    return value is None or isinstance(value, bool)


def _is_length(value: Any) -> bool:
    return value is None or (is_integer(value) and value >= 0)


def _is_number(value: Any) -> bool:
    return value is None or is_integer(value)


def _is_text(value: Any) -> bool:
    return value is None or is_scalar(value)


_TEXT = Attribute("a text", _is_text)
_FLAG = Attribute("true or false", _is_flag)
_LENGTH = Attribute("a length", _is_length, _TEXTS)
_NUMBER = Attribute("an integer", _is_number, frozenset({FieldType.INTEGER}))
_NETWORK = frozenset({FieldType.NETWORK})
_VOLUME = frozenset({FieldType.VOLUME})

ATTRIBUTES: Final[dict[str, Attribute]] = {
    "label": _TEXT,
    "description": _TEXT,
    "description_title": _TEXT,
    "help_text": _TEXT,
    "initial": Attribute("a value", lambda _: True),
    "required": _FLAG,
    "hidden": _FLAG,
    "error_messages": Attribute("texts under `required` and `invalid`", _is_messages),
    "regexp_validator": Attribute("a pattern", lambda value: isinstance(value, str)),
    "validators": Attribute(
        "a list of maps with `expr` and `message`", lambda value: isinstance(value, list)
    ),
    "min_length": _LENGTH,
    "max_length": _LENGTH,
    "min_value": _NUMBER,
    "max_value": _NUMBER,
    "choices": Attribute(
        "a list of pairs of a value and its title, or from 2.4 on a map",
        lambda value: choices_of(value) is not None,
        frozenset({FieldType.CHOICE}),
    ),
    "confirm_input": Attribute(
        "true or false", _is_flag, frozenset({FieldType.PASSWORD}), FormVersion(2, 3)
    ),
    "image_type": Attribute("a text", _is_text, frozenset({FieldType.IMAGE})),
    "requirements": Attribute(
        "integers under names such as min_vcpus", _is_requirements, frozenset({FieldType.FLAVOR})
    ),
    "include_subnets": Attribute("true or false", _is_flag, _NETWORK),
    "filter": Attribute("a text", _is_text, _NETWORK),
    "murano_networks": Attribute(
        "exclude or translate",
        lambda value: (
            value is None or (isinstance(value, str) and value.lower() in ("exclude", "translate"))
        ),
        _NETWORK,
    ),
    "allow_auto": Attribute("true or false", _is_flag, _NETWORK),
    "include_volumes": Attribute("true or false", _is_flag, _VOLUME),
    "include_snapshots": Attribute("true or false", _is_flag, _VOLUME),
    "empty_value_message": Attribute(
        "a text", _is_text, frozenset({FieldType.OBJECT, FieldType.DOMAIN})
    ),
}
"""The attributes of fields, under names with underscores; forms may write these as `minLength`, too."""


def spelled_with_underscores(name: str) -> str:
    """The name of an attribute as the table has it."""
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


def is_constant(code: Code) -> bool:
    """Whether there is no expression in a part of a form."""
    match code:
        case Expression():
            return False
        case Scalar():
            return True
        case Listing(items=items):
            return all(map(is_constant, items))
        case Mapped(entries=entries):
            return all(is_constant(key) and is_constant(value) for key, value in entries)


def constant(code: Code) -> Any:
    """The plain value of a part of a form without expressions."""
    match code:
        case Scalar(value=value):
            return value
        case Listing(items=items):
            return [constant(each) for each in items]
        case Mapped(entries=entries):
            return {constant(key): constant(value) for key, value in entries}
    raise AssertionError(code)


def pattern_of(text: str) -> tuple[str, int]:
    """The pattern and the flags of `/pattern/flags`, or of a pattern alone."""
    written = re.fullmatch(r"/(.*)/([A-Za-z]*)", text, re.DOTALL)
    if written is None:
        return text, 0
    flags = 0
    for each in written[2].upper():
        flags |= _FLAGS.get(each, 0)
    return written[1], flags
