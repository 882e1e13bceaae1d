"""A broken law, and where two documents differ."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

MISSING: Any = msgspec.UNSET
"""There is no value at a path."""


class LawBroken(AssertionError):  # noqa: N818 - the name of what happened
    """A law of conversion that does not hold for some values.

    Attributes:
        law: which law, in words.
        resource: the resource type.
        versions: the API versions that take part.
        path: JSON path of the first difference.
        expected: the value that the law asks for, as JSON; `UNSET` for none.
        found: the value that is there instead, as JSON; `UNSET` for none.
    """

    def __init__(
        self,
        law: str,
        resource: str,
        versions: tuple[str, ...],
        *,
        path: str = "$",
        expected: Any = MISSING,
        found: Any = MISSING,
        context: str = "",
    ) -> None:
        self.law = law
        self.resource = resource
        self.versions = versions
        self.path = path
        self.expected = expected
        self.found = found
        super().__init__(
            f"{law}: {resource} {', '.join(versions)} - at {path}\n"
            f"  expected: {spoken(expected)}\n  found:    {spoken(found)}"
            + (f"\n{context}" if context else "")
        )


class Difference(NamedTuple):
    """One place at which two JSON values differ."""

    path: tuple[str | int, ...]
    one: Any
    other: Any


class Number(str):
    """A number with its spelling kept, so that `1.10` is not `1.1`."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(("number", str(self)))


def tree(data: bytes) -> Any:
    """JSON as plain values, with the spelling of its numbers kept."""
    return json.loads(data, parse_float=Number, parse_int=Number)


def spoken(value: Any) -> str:
    """A value of a tree as JSON text."""
    if value is MISSING:
        return "nothing"
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        members = (f"{json.dumps(name)}: {spoken(member)}" for name, member in value.items())
        return f"{{{', '.join(members)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(spoken, value))}]"
    return json.dumps(value)


def shown(path: tuple[str | int, ...]) -> str:
    """A path as a JSON path, starting with `$`."""
    parts = [
        f"[{part}]"
        if isinstance(part, int)
        else f".{part}"
        if part.isidentifier()
        else f"[{json.dumps(part)}]"
        for part in path
    ]
    return "$" + "".join(parts)


def differences(one: Any, other: Any, path: tuple[str | int, ...] = ()) -> Iterator[Difference]:
    """All places at which two trees differ; the order of an object's members does not matter."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in {**one, **other}:
            yield from differences(one.get(name, MISSING), other.get(name, MISSING), (*path, name))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (item, counterpart) in enumerate(zip(one, other, strict=True)):
            yield from differences(item, counterpart, (*path, place))
    elif not same(one, other):
        yield Difference(path, one, other)


def same(one: Any, other: Any) -> bool:
    """Whether two trees are the same, kinds of scalars included."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)
