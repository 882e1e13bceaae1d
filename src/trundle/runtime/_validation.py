"""The careful way to read documents: every finding is named, and what is tolerated is reported.

The quick way is msgspec's own. This is the way behind it: for documents that carry properties their class does
not know, that lack required ones, or that are wrong.
"""

import functools
import re
from collections.abc import Collection
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect

from trundle.errors import Finding, meant, similar
from trundle.runtime._bases import ApiObject
from trundle.runtime._by_class import once
from trundle.runtime._class_fields import struct_type
from trundle.runtime._documents import (
    MARKS,
    OTHERS,
    declares,
    is_bag,
    may_be_kept_apart,
    member_path,
    own_names,
    plain_name,
)
from trundle.runtime._errors import ValueCode, finding
from trundle.runtime._hidden_content import note_hidden
from trundle.runtime._json import decoder
from trundle.runtime._lenience import STRICT, Lenience, Tolerated
from trundle.runtime._objects import ABSENT, GeneratedObject
from trundle.runtime._required_values import note_missing

_NO_VALUE: Any = object()


class _Field(NamedTuple):
    attribute: str
    type: Any
    required: bool


@once
def _fields(class_: Any) -> dict[str, _Field]:
    """The fields of a class by their names in JSON."""
    return {
        each.encode_name: _Field(each.name, each.type, each.required)
        for each in struct_type(class_).fields
    }


@once
def _inspected(type_: Any) -> Any:
    return inspect.type_info(type_)


def read_value(
    data: bytes, type_: Any, *, strict: bool, stored: bool = True
) -> tuple[Any, tuple[Finding, ...]]:
    """Reads a value of some type from JSON.

    Args:
        data: well-formed JSON.
        type_: a generated class, or any type that msgspec knows.
        strict: whether unknown and missing properties are findings; otherwise unknown ones are kept in
            the object and missing ones are absent.
        stored: whether objects of storage classes are stored ones, which may have bags.

    Returns:
        The value and all findings; the value is of use only where there is none.
    """
    lenience = STRICT if strict else STRICT.of_stored()
    read = read_leniently(data, type_, lenience, stored=stored)
    return read.value, read.findings


class Read(NamedTuple):
    """What reading a value came to.

    Attributes:
        value: the value; of use only where there is no finding.
        findings: everything that is wrong with it, in the order of the document.
        tolerated: everything that was tolerated, in the order of the document.
    """

    value: Any
    findings: tuple[Finding, ...]
    tolerated: tuple[Tolerated, ...]


def read_leniently(
    data: bytes,
    type_: Any,
    lenience: Lenience,
    shown: Collection[Finding] = (),
    *,
    stored: bool = True,
) -> Read:
    """Reads a value of some type from JSON; defaults are not filled in here.

    Args:
        data: well-formed JSON.
        type_: a generated class, or any type that msgspec knows.
        lenience: what is tolerated.
        shown: what is missing or unknown in what the writer was shown, and may be written back like that.
        stored: whether objects of storage classes are stored ones, which may have bags.
    """
    reader = _Reader(type_, lenience, shown, stored=stored)
    value = reader.read(msgspec.Raw(data), _inspected(type_), "$")
    return Read(value, tuple(reader.findings), tuple(reader.tolerated))


class _Reader:
    def __init__(
        self, type_: Any, lenience: Lenience, shown: Collection[Finding], *, stored: bool
    ) -> None:
        self.lenience = lenience
        self.stored = stored
        self.in_store = stored and lenience.unknown == "keep" and not _is_api_class(type_)
        self.hidden = OTHERS if stored else (*OTHERS, *MARKS)
        self.shown = shown
        self.findings: list[Finding] = []
        self.tolerated: list[Tolerated] = []

    def note(self, path: str, expected: str, found: str, advice: str = "") -> Any:
        self.findings.append(finding(path, expected, found, advice))
        return _NO_VALUE

    def read(self, raw: msgspec.Raw, type_: Any, path: str) -> Any:
        match type_:
            case inspect.RawType() | inspect.AnyType():
                return msgspec.Raw(bytes(raw))
            case inspect.StructType(cls) if issubclass(cls, GeneratedObject):
                return self.object(raw, cls, path)
            case inspect.ListType(item_type=item):
                return self.items(raw, item, path)
            case inspect.DictType(value_type=value):
                return self.members(raw, value, path)
            case inspect.UnionType(types):
                return self.union(raw, types, path)
            case _:
                return self.plain(raw, type_, path)

    def plain(self, raw: msgspec.Raw, type_: Any, path: str) -> Any:
        try:
            wanted: Any = _annotation(type_)
            return decoder(wanted).decode(raw)
        except msgspec.MsgspecError as error:
            return self.note(path, *_parted(error))

    def items(self, raw: msgspec.Raw, item: Any, path: str) -> Any:
        if _kind(raw) != "array":
            return self.note(path, "`array`", f"`{_kind(raw)}`")
        parts = decoder(list[msgspec.Raw]).decode(raw)
        return [self.read(part, item, f"{path}[{place}]") for place, part in enumerate(parts)]

    def members(self, raw: msgspec.Raw, value: Any, path: str) -> Any:
        if _kind(raw) != "object":
            return self.note(path, "`object`", f"`{_kind(raw)}`")
        found = {}
        for key, part in decoder(dict[str, msgspec.Raw]).decode(raw).items():
            place = member_path(path, key)
            if not self.dropped(part, value, place):
                found[key] = self.read(part, value, place)
        return found

    def dropped(self, raw: msgspec.Raw, type_: Any, path: str) -> bool:
        """Whether a member is null where that cannot be, and is dropped for it."""
        if not self.lenience.nulls or _kind(raw) != "null" or _takes_null(type_):
            return False
        self.tolerated.append(Tolerated(path, _wanted(type_), "`null`", "dropped"))
        return True

    def union(self, raw: msgspec.Raw, types: tuple[Any, ...], path: str) -> Any:
        kind = _kind(raw)
        classes = [each.cls for each in types if isinstance(each, inspect.StructType)]
        if kind == "object" and classes:
            return self.variant(raw, classes, path)
        for each in types:
            if _takes(each, kind):
                return self.read(raw, each, path)
        return self.note(path, _wanted(inspect.UnionType(types)), f"`{kind}`")

    def variant(self, raw: msgspec.Raw, classes: list[type[Any]], path: str) -> Any:
        if len(classes) == 1:
            return self.object(raw, classes[0], path)
        tag_field = classes[0].__struct_config__.tag_field
        parts = decoder(dict[str, msgspec.Raw]).decode(raw)
        if tag_field not in parts:
            return self.note(path, f"the required property `{tag_field}`", "nothing")
        tag = decoder(Any).decode(parts[tag_field])
        for exactly in (True, False):
            for each in classes:
                own = each.__struct_config__.tag
                if own == tag or (not exactly and str(own).casefold() == str(tag).casefold()):
                    return self.object(raw, each, path)
        known = ", ".join(repr(each.__struct_config__.tag) for each in classes)
        return self.note(member_path(path, tag_field), f"one of {known}", repr(tag))

    def object(self, raw: msgspec.Raw, class_: Any, path: str) -> Any:
        if _kind(raw) != "object":
            return self.note(path, "`object`", f"`{_kind(raw)}`")
        parts = decoder(dict[str, msgspec.Raw]).decode(raw)
        fields: dict[str, _Field] = _fields(class_)
        values: dict[str, Any] = {}
        others: dict[str, msgspec.Raw] = {}
        apart: dict[str, msgspec.Raw] = {}
        own = own_names(class_) if self.stored else ()
        for name, part in parts.items():
            field = fields.get(name)
            if field is None or field.attribute in self.hidden:
                if name in own and (held := _held_apart(part, class_)):
                    apart = held
                elif name != class_.__struct_config__.tag_field:
                    others[name if name in own else plain_name(name, own)] = part
                continue
            place = member_path(path, name)
            if field.attribute == "property_bag":
                if may_be_kept_apart(bytes(part)):
                    note_hidden()
                values[field.attribute] = self.plain(part, field.type, place)
            elif not self.dropped(part, field.type, place):
                values[field.attribute] = self.read(part, field.type, place)
        self.others(others, fields, values, path)
        if apart:
            values["unknown"] = {**values.get("unknown", {}), **apart}
            note_hidden()
        for name, field in fields.items():
            if field.required and field.attribute not in values:
                values[field.attribute] = ABSENT
                note_missing(class_, field.attribute)
                if not (self.lenience.defaults and field.attribute in class_.__defaults__):
                    self.missing(path, name)
        return class_(**values)

    def missing(self, path: str, name: str) -> None:
        """Notes that a required property is missing."""
        expected, code = f"the required property `{name}`", ValueCode.MISSING
        found = finding(member_path(path, name), expected, "nothing", code=code)
        if found in self.shown:
            return
        if self.lenience.missing:
            self.tolerated.append(Tolerated.of(found, "left absent"))
        else:
            self.findings.append(found)

    def others(
        self,
        others: dict[str, msgspec.Raw],
        fields: dict[str, _Field],
        values: dict[str, Any],
        path: str,
    ) -> None:
        """Keeps properties that the class has no field for, drops them or notes them."""
        bags = {}
        if self.in_store and not any(each.attribute == "property_bag" for each in fields.values()):
            # Where the type has a bag, properties of such a name have one more `$`.
            bags = {
                name: part.copy()
                for name, part in others.items()
                if is_bag(name) and _kind(part) == "object"
            }
        if bags:  # of a later release, in a type that has none here
            values["unknown"] = bags
            note_hidden()
            others = {name: part for name, part in others.items() if name not in bags}
        additional = next(
            (each for each in fields.values() if each.attribute == "additional_properties"), None
        )
        if additional is not None:
            if others:
                values[additional.attribute] = self.additional(others, additional, path)
            return
        kept = {name: part.copy() for name, part in others.items() if self.kept(path, name, fields)}
        if kept:
            values["unknown"] = {**bags, **kept}
            note_hidden()

    def additional(self, others: dict[str, msgspec.Raw], field: _Field, path: str) -> Any:
        item = _map_values(field.type)
        found = {}
        for name, part in others.items():
            place = member_path(path, name)
            if not self.dropped(part, item, place):
                found[name] = self.read(part, item, place)
        return found

    def kept(self, path: str, name: str, fields: dict[str, _Field]) -> bool:
        """Whether an unknown property is kept."""
        advice = _suggestion(name, fields)
        code = ValueCode.UNKNOWN
        found = finding(member_path(path, name), "a known property", f"`{name}`", advice, code)
        if found in self.shown:
            return True
        match self.lenience.unknown:
            case "error":
                self.findings.append(found)
            case "keep":
                self.tolerated.append(Tolerated.of(found, "kept"))
                return True
            case "prune":
                self.tolerated.append(Tolerated.of(found, "dropped"))
        return False


def _is_api_class(type_: Any) -> bool:
    return isinstance(type_, type) and issubclass(type_, ApiObject)


def _held_apart(raw: msgspec.Raw, class_: Any) -> dict[str, msgspec.Raw]:
    """The unknown properties that a stored object holds apart, because its class has properties of their names.

    Empty where it holds anything else: the member is then an unknown property itself.
    """
    if _kind(raw) != "object":
        return {}
    held = decoder(dict[str, msgspec.Raw]).decode(raw)
    if not all(declares(class_, name) for name in held):
        return {}
    return {name: each.copy() for name, each in held.items()}


def _suggestion(name: str, fields: dict[str, _Field]) -> str:
    return meant(similar(name, [each for each in fields if not each.startswith("$")]))


_MESSAGE = re.compile(r"Expected (.+?), got (.+)", re.DOTALL)


def _parted(error: msgspec.MsgspecError) -> tuple[str, str]:
    """What msgspec expected, and what it found."""
    said = str(error).split(" - at ")[0]
    match = _MESSAGE.fullmatch(said)
    return (match[1], match[2]) if match else ("a value of its type", said)


def _map_values(type_: Any) -> Any:
    types = type_.types if isinstance(type_, inspect.UnionType) else (type_,)
    return next(each.value_type for each in types if isinstance(each, inspect.DictType))


def _annotation(type_: Any) -> Any:
    match type_:
        case inspect.StrType():
            return str
        case inspect.IntType():
            return int
        case inspect.FloatType():
            return float
        case inspect.BoolType():
            return bool
        case inspect.NoneType():
            return None
        case inspect.StructType(cls):
            return cls
        case inspect.DictType(key_type=key, value_type=value):
            return dict[_annotation(key), _annotation(value)]  # type: ignore[misc]
        case inspect.UnionType(types):
            return functools.reduce(lambda one, other: one | other, map(_annotation, types))
        case inspect.LiteralType(values):
            from typing import Literal  # noqa: PLC0415

            return Literal[values]
        case _:
            return msgspec.UnsetType if "Unset" in type(type_).__name__ else Any


_KINDS = {
    b"{": "object",
    b"[": "array",
    b'"': "str",
    b"t": "bool",
    b"f": "bool",
    b"n": "null",
}


def _kind(raw: msgspec.Raw) -> str:
    text = bytes(raw).lstrip()
    found = _KINDS.get(text[:1])
    if found is not None:
        return found
    return "float" if any(mark in text for mark in b".eE") else "int"


def _spoken(type_: Any) -> str:
    spoken: dict[Any, str] = {
        inspect.StrType: "str",
        inspect.IntType: "int",
        inspect.FloatType: "float",
        inspect.BoolType: "bool",
        inspect.NoneType: "null",
        inspect.ListType: "array",
        inspect.DictType: "object",
        inspect.StructType: "object",
        inspect.LiteralType: "str",
    }
    return spoken.get(type(type_), "unset")


def _wanted(type_: Any) -> str:
    """What a place takes, as messages say it."""
    types = type_.types if isinstance(type_, inspect.UnionType) else (type_,)
    return f"`{' | '.join(each for each in map(_spoken, types) if each != 'unset')}`"


def _takes_null(type_: Any) -> bool:
    types = type_.types if isinstance(type_, inspect.UnionType) else (type_,)
    return any(
        isinstance(each, inspect.NoneType | inspect.RawType | inspect.AnyType) for each in types
    )


def _takes(type_: Any, kind: str) -> bool:
    if isinstance(type_, inspect.RawType | inspect.AnyType):
        return True
    spoken = _spoken(type_)
    return spoken == kind or (spoken == "float" and kind == "int")
