"""Documents: where places are in them, and writing them with nothing left out."""

from collections.abc import Iterator
from typing import Any

import msgspec

from trundle.runtime._objects import ABSENT, ADDITIONAL, UNKNOWN, GeneratedObject


def member_path(path: str, name: str) -> str:
    """JSON path of a member of an object."""
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
                (getattr(value, name), member_path(path, encoded)) for name, encoded in names
            )
        elif isinstance(value, dict):
            waiting.extend((member, member_path(path, str(name))) for name, member in value.items())
        elif isinstance(value, list):
            waiting.extend((item, f"{path}[{place}]") for place, item in enumerate(value))
    return None
