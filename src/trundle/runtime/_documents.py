"""Documents: reading them with every finding named, and writing them with nothing left out.

The fast way is msgspec's own. This module is the careful way behind it: for documents that carry
properties their class does not know, that lack required ones, or that are wrong.
"""

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect

from trundle.runtime._bag import decoder
from trundle.runtime._errors import Finding
from trundle.runtime._objects import ABSENT, ADDITIONAL, BAG, UNKNOWN, GeneratedObject

_NO_VALUE: Any = object()


class _Field(NamedTuple):
    attribute: str
    type: Any
    required: bool


@functools.cache
def _fields(class_: Any) -> dict[str, _Field]:
    info = inspect.type_info(class_)
    assert isinstance(info, inspect.StructType)
    return {
        field.encode_name: _Field(field.name, field.type, field.required) for field in info.fields
    }


@functools.cache
def _inspected(type_: Any) -> Any:
    return inspect.type_info(type_)


def read_value(data: bytes, type_: Any, *, strict: bool) -> tuple[Any, tuple[Finding, ...]]:
    """Reads a value of some type from JSON.

    Args:
        data: well-formed JSON.
        type_: a generated class, or any type that msgspec knows.
        strict: whether unknown and missing properties are findings; otherwise unknown ones are kept in
            the object and missing ones are absent.

    Returns:
        The value and all findings; the value is of use only where there is none.
    """
    reader = _Reader(strict)
    value = reader.read(msgspec.Raw(data), _inspected(type_), "$")
    return value, tuple(reader.findings)


class _Reader:
    def __init__(self, strict: bool) -> None:  # noqa: FBT001 - private
        self.strict = strict
        self.findings: list[Finding] = []

    def note(self, path: str, reason: str) -> Any:
        self.findings.append(Finding(path, reason))
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
            return self.note(path, str(error).split(" - at ")[0])

    def items(self, raw: msgspec.Raw, item: Any, path: str) -> Any:
        if _kind(raw) != "array":
            return self.note(path, f"Expected `array`, got `{_kind(raw)}`")
        parts = decoder(list[msgspec.Raw]).decode(raw)
        return [self.read(part, item, f"{path}[{place}]") for place, part in enumerate(parts)]

    def members(self, raw: msgspec.Raw, value: Any, path: str) -> Any:
        if _kind(raw) != "object":
            return self.note(path, f"Expected `object`, got `{_kind(raw)}`")
        parts = decoder(dict[str, msgspec.Raw]).decode(raw)
        return {key: self.read(part, value, _member(path, key)) for key, part in parts.items()}

    def union(self, raw: msgspec.Raw, types: tuple[Any, ...], path: str) -> Any:
        kind = _kind(raw)
        classes = [each.cls for each in types if isinstance(each, inspect.StructType)]
        if kind == "object" and classes:
            return self.variant(raw, classes, path)
        for each in types:
            if _admits(each, kind):
                return self.read(raw, each, path)
        wanted = " | ".join(_spoken(each) for each in types if _spoken(each) != "unset")
        return self.note(path, f"Expected `{wanted}`, got `{kind}`")

    def variant(self, raw: msgspec.Raw, classes: list[type[Any]], path: str) -> Any:
        if len(classes) == 1:
            return self.object(raw, classes[0], path)
        tag_field = classes[0].__struct_config__.tag_field
        parts = decoder(dict[str, msgspec.Raw]).decode(raw)
        if tag_field not in parts:
            return self.note(path, f"Object missing required field `{tag_field}`")
        tag = decoder(Any).decode(parts[tag_field])
        for exactly in (True, False):
            for each in classes:
                own = each.__struct_config__.tag
                if own == tag or (not exactly and str(own).casefold() == str(tag).casefold()):
                    return self.object(raw, each, path)
        known = ", ".join(repr(each.__struct_config__.tag) for each in classes)
        return self.note(_member(path, tag_field), f"Expected one of {known}, got {tag!r}")

    def object(self, raw: msgspec.Raw, class_: Any, path: str) -> Any:
        if _kind(raw) != "object":
            return self.note(path, f"Expected `object`, got `{_kind(raw)}`")
        parts = decoder(dict[str, msgspec.Raw]).decode(raw)
        fields: dict[str, _Field] = _fields(class_)
        values: dict[str, Any] = {}
        others: dict[str, msgspec.Raw] = {}
        for name, part in parts.items():
            field = fields.get(name)
            if field is None or name in {UNKNOWN, ADDITIONAL}:
                if name != class_.__struct_config__.tag_field:
                    others[name] = part
                continue
            if name == BAG:
                values[field.attribute] = self.plain(part, field.type, _member(path, name))
            else:
                values[field.attribute] = self.read(part, field.type, _member(path, name))
        self.others(others, fields, values, path)
        for name, field in fields.items():
            if field.required and field.attribute not in values:
                values[field.attribute] = ABSENT
                if self.strict:
                    self.note(_member(path, name), f"Object missing required field `{name}`")
        return class_(**values)

    def others(
        self,
        others: dict[str, msgspec.Raw],
        fields: dict[str, _Field],
        values: dict[str, Any],
        path: str,
    ) -> None:
        """Keeps properties that the class has no field for, or notes them."""
        if not others:
            return
        additional = fields.get(ADDITIONAL)
        if additional is not None:
            item = _map_values(additional.type)
            values[additional.attribute] = {
                name: self.read(part, item, _member(path, name)) for name, part in others.items()
            }
        elif self.strict:
            for name in others:
                hint = _suggestion(name, fields)
                self.note(_member(path, name), f"Object contains unknown field `{name}`{hint}")
        else:
            values["unknown"] = {name: part.copy() for name, part in others.items()}


def _suggestion(name: str, fields: dict[str, _Field]) -> str:
    import difflib  # noqa: PLC0415 - only for people who err

    close = difflib.get_close_matches(
        name, [each for each in fields if not each.startswith("$")], 1
    )
    return f"; did you mean `{close[0]}`?" if close else ""


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


def _admits(type_: Any, kind: str) -> bool:
    if isinstance(type_, inspect.RawType | inspect.AnyType):
        return True
    spoken = _spoken(type_)
    return spoken == kind or (spoken == "float" and kind == "int")


def _member(path: str, name: str) -> str:
    return f"{path}.{name}" if name.isidentifier() else f"{path}[{_quoted(name)}]"


def _quoted(name: str) -> str:
    return msgspec.json.encode(name).decode()


def kept_apart(data: bytes, place: int) -> bool:
    """Whether a document has what objects keep apart, at its first `$` or after; that is found at once."""
    return place >= 0 and (data.find(_UNKNOWN, place) >= 0 or data.find(_ADDITIONAL, place) >= 0)


_UNKNOWN = UNKNOWN.encode()
_ADDITIONAL = ADDITIONAL.encode()


def write_value(value: Any) -> bytes:
    """The compact JSON of a value, with unknown and additional properties in their places."""
    data = msgspec.json.encode(value)
    if b'"$unknown"' in data or b'"$additional"' in data:
        return b"".join(_written(value))
    return data


def same_content(one: Any, other: Any) -> bool:
    """Whether two values say the same as JSON, whatever the order of their members and the white space."""
    ours, theirs = write_value(one), write_value(other)
    if ours == theirs:
        return True
    try:
        return _in_order(ours) == _in_order(theirs)
    except msgspec.DecodeError:
        return False


def _in_order(data: bytes) -> bytes:
    return msgspec.json.encode(msgspec.json.decode(data), order="sorted")


def without_bags(value: Any) -> Any:
    """A value as other versions may see it: what its bags hold is for those who stashed it."""
    if isinstance(value, GeneratedObject):
        members = {
            name: ABSENT if name == "property_bag" else without_bags(getattr(value, name))
            for name in value.__struct_fields__
        }
        return type(value)(**members)
    if isinstance(value, list):
        return [without_bags(item) for item in value]
    if isinstance(value, dict):
        return {name: without_bags(item) for name, item in value.items()}
    return value


def _written(value: Any) -> Iterator[bytes]:
    match value:
        case GeneratedObject():
            yield from _written_members(_object_members(value))
        case dict():
            yield from _written_members(value.items())
        case list():
            yield b"["
            for place, item in enumerate(value):
                if place:
                    yield b","
                yield from _written(item)
            yield b"]"
        case _:
            yield msgspec.json.encode(value)


def _written_members(members: Any) -> Iterator[bytes]:
    yield b"{"
    for place, (name, value) in enumerate(members):
        if place:
            yield b","
        yield msgspec.json.encode(name)
        yield b":"
        yield from _written(value)
    yield b"}"


def _object_members(value: GeneratedObject) -> Iterator[tuple[str, Any]]:
    config = value.__struct_config__
    if config.tag is not None and config.tag_field is not None:
        yield config.tag_field, config.tag
    others: dict[str, Any] = {}
    known = set()
    for name, encoded in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
        member = getattr(value, name)
        if member is ABSENT:
            continue
        if encoded in {UNKNOWN, ADDITIONAL}:
            others.update(member)
        else:
            known.add(encoded)
            yield encoded, member
    for name, member in others.items():
        if name not in known:
            yield name, member


def find_path(root: Any, wanted: object) -> str | None:
    """JSON path of an object within another; None where it is not there."""
    waiting: list[tuple[Any, str]] = [(root, "$")]
    while waiting:
        value, path = waiting.pop()
        if value is wanted:
            return path
        if isinstance(value, GeneratedObject):
            names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
            waiting.extend(
                (getattr(value, name), _member(path, encoded)) for name, encoded in names
            )
        elif isinstance(value, dict):
            waiting.extend((member, _member(path, str(name))) for name, member in value.items())
        elif isinstance(value, list):
            waiting.extend((item, f"{path}[{place}]") for place, item in enumerate(value))
    return None
