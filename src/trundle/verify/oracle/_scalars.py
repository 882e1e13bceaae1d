"""What becomes of single values: numbers, texts of enums, and the named conversions."""

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from trundle.schema import EnumType, FreeForm, ListOf, MapOf, Ref, Scalar, Type, Union
from trundle.verify._broken import MISSING, Number
from trundle.verify.oracle._expected import ANY, either
from trundle.verify.oracle._meeting import At, World, bare

_WHOLE = re.compile(r"-?(0|[1-9]\d*)")
_DECIMAL = re.compile(r"-?(0|[1-9]\d*)\.\d*[1-9]")
_ISO = re.compile(r"PT(?:(?P<h>[1-9]\d*)H)?(?:(?P<m>[1-9]\d*)M)?(?:(?P<s>[1-9]\d*)S)?")
_GO = re.compile(r"(?:(?P<h>[1-9]\d*)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+)s)")
_PLAIN_TEXT = re.compile(r"[A-Za-z ]+")


def kind_of(value: Any) -> str:
    """The JSON kind of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case Number():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def whole(value: Any) -> bool:
    """Whether a number is written as a whole one."""
    return bool(_WHOLE.fullmatch(value))


def scalar(world: World, value: Any, one: At, other: At) -> Any:
    """What a value that is no list and no object shows at another type that meets its own."""
    kind = kind_of(value)
    if kind == "null":
        return None if other.type != bare(other.type) else MISSING
    goal = bare(other.type)
    target = world.definition(At(other.version, goal))
    if isinstance(target, EnumType) and target.kind == "string":
        return _enum_text(value, target, world.definition(At(one.version, bare(one.type))))
    wanted = goal.kind if isinstance(goal, Scalar) else getattr(target, "kind", "")
    if wanted == "integer" and kind == "number":
        if whole(value):
            return value
        return ANY if Fraction(str(value)).denominator == 1 else MISSING
    return value


def _enum_text(text: str, target: EnumType, source: Any) -> Any:
    """A text that is read as an enum; unknown text survives.

    It takes the enum's own letter case, unless the source's enum spells it alike: then they may be one enum, which
    shares what was written.
    """
    own = _spelled(target, text)
    if not own or text in own:
        return text
    known = _spelled(source, text) if isinstance(source, EnumType) else []
    alike = bool(known) and set(known) == set(own)
    return either(*own, text) if alike else either(*own)


def _spelled(enum: EnumType, text: str) -> list[str]:
    """How an enum spells a text."""
    return [str(each) for each in enum.values if str(each).casefold() == text.casefold()]


def mapped(text: Any, pairs: Mapping[str, str], older: Any, *, up: bool) -> Any:
    """A text that a rule gives another name; all others stay, and so does one that the older enum has by that name."""
    own = not up and isinstance(older, EnumType) and text in older.values
    if own and pairs.get(text, text) == text:
        return text
    if not isinstance(text, str) or isinstance(text, Number):
        return text
    ways = list(pairs.items()) if up else [(newer, older) for older, newer in pairs.items()]
    found = [new for old, new in ways if old == text]
    folded = [new for old, new in ways if old.casefold() == text.casefold()]
    if found:
        return either(*found)
    return either(*folded, text) if folded else text


def converted(value: Any, rule: str | Mapping[str, str], *, up: bool) -> Any:
    """What a named conversion makes of a value; silent where several spellings are right."""
    name = rule if isinstance(rule, str) else rule["name"]
    if not up:
        first, _, last = name.partition("-to-")
        name = f"{last}-to-{first}"
    kind = kind_of(value)
    if name in {"integer-to-string", "number-to-string"} and kind == "number" and whole(value):
        return str(value)
    if name == "boolean-to-string" and kind == "boolean":
        return json.dumps(value)
    if name in {"disabled-to-enabled", "enabled-to-disabled"} and kind == "boolean":
        return not value
    if kind != "string":
        return ANY
    if name == "string-to-integer":
        return _read(value, Number(value) if _WHOLE.fullmatch(value) else ANY)
    if name == "string-to-number":
        plain = _WHOLE.fullmatch(value) or _DECIMAL.fullmatch(value)
        return _read(value, Number(value) if plain and value != "-0" else ANY)
    if name == "string-to-boolean":
        return {"true": True, "false": False}.get(value, ANY)
    if name in {"duration-to-seconds", "go-duration-to-seconds"}:
        return _read(value, _seconds(value, name))
    if name == "api-version-to-group" and value.count("/") == 1:
        return value.partition("/")[0] or ANY
    return ANY


def _read(text: str, value: Any) -> Any:
    """A value that was read from a text; none where the text has no digit at all."""
    return MISSING if value is ANY and _PLAIN_TEXT.fullmatch(text) else value


def _seconds(text: str, name: str) -> Any:
    iso = _ISO.fullmatch(text) if text != "PT" and name.startswith("duration") else None
    found = iso or _GO.fullmatch(text)
    if found is None:
        return ANY
    hours, minutes, seconds = (int(found[unit] or 0) for unit in "hms")
    return Number(3600 * hours + 60 * minutes + seconds)


def may_be(world: World, value: Any, at: At) -> bool | None:
    """Whether free-form data fits a type; None where that is not sure."""
    type_: Type = bare(at.type)
    kind = kind_of(value)
    target = world.definition(At(at.version, type_))
    match type_:
        case FreeForm():
            return True
        case Union():
            return None
        case ListOf():
            wanted = "array"
        case MapOf():
            wanted = "object"
        case Scalar(own):
            wanted = own
        case Ref():
            wanted = target.kind if isinstance(target, EnumType) else "object"
    if kind == "null":
        return at.type != type_
    if kind in {"array", "object"} or wanted == "integer":
        return None if wanted in {kind, "integer"} else False
    return kind == wanted
