"""What is seen of objects: their names, and how they look as JSON to the versions that a law is held to."""

import decimal
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

import msgspec

from trundle.runtime import DocumentError, GeneratedObject, Scheme
from trundle.verify._broken import MISSING, LawBroken, differences, shown, spoken, tree

Context: TypeAlias = Callable[[], str]
_NO_CONTEXT: Context = lambda: ""  # noqa: E731 - a constant
_ALL_DIGITS = decimal.Context(prec=decimal.MAX_PREC)
_EXACT: Mapping[str, Any] = {"parse_float": Decimal, "parse_int": Decimal}
_MANY = 4
"""With more versions than these, an example is held to so many of them, chosen by its data."""


def equal(
    law: str,
    where: tuple[str, tuple[str, ...]],
    expected: bytes,
    found: bytes,
    context: Context = _NO_CONTEXT,
    *,
    spelt: bool = True,
) -> None:
    """Raises the first difference between two documents.

    Args:
        law: the law, in words.
        where: the resource type and the versions.
        expected: the document that the law asks for.
        found: the other one.
        context: what the law says about the objects that take part.
        spelt: whether order and spelling count, too.
    """
    if expected == found:
        return
    one, other = tree(expected), tree(found)
    for each in differences(one, other):
        raise LawBroken(
            law,
            *where,
            path=shown(each.path),
            expected=each.one,
            found=each.other,
            context=context(),
        )
    if spelt:
        raise LawBroken(
            f"{law} (order or spelling)", *where, expected=one, found=other, context=context()
        )


def labelled(document: Any) -> bool:
    """Whether labels of a document stand for properties: its metadata is put together anew when it is read."""
    return bool(document.__labels__)


def in_stored_order(value: Any, stored: Any) -> Any:
    """A value whose additional properties stand in the order in which a stored object can give them back.

    What the stored object has a property for is not in order with its additional properties: it comes behind them.
    """
    named = frozenset(_named_beside_others(stored))
    return _ordered(value, named) if named else value


def _named_beside_others(value: Any) -> Iterator[str]:
    """The names in documents of the properties that objects with additional ones have."""
    match value:
        case GeneratedObject():
            members = {name: getattr(value, name) for name in value.__struct_fields__}
            if "additional_properties" in members:
                yield from value.__struct_encode_fields__
            for each in members.values():
                yield from _named_beside_others(each)
        case list():
            for each in value:
                yield from _named_beside_others(each)
        case dict():
            for each in value.values():
                yield from _named_beside_others(each)


def _ordered(value: Any, named: frozenset[str]) -> Any:
    match value:
        case GeneratedObject():
            members = {
                name: _ordered(getattr(value, name), named) for name in value.__struct_fields__
            }
            others = members.get("additional_properties")
            if isinstance(others, dict):
                behind = {name: others[name] for name in sorted(others) if name in named}
                front = {name: each for name, each in others.items() if name not in named}
                members["additional_properties"] = front | behind
            return msgspec.structs.replace(value, **members)
        case list():
            return [_ordered(each, named) for each in value]
        case dict():
            return {name: _ordered(each, named) for name, each in value.items()}
        case _:
            return value


def in_one_spelling(value: Any) -> Any:
    """A value whose free-form data is spelt in one way, whichever way its writer chose.

    A put keeps the spelling that it has of what says the same.
    """
    match value:
        case msgspec.Raw():
            return msgspec.Raw(_canonical(json.loads(bytes(value), **_EXACT)).encode())
        case GeneratedObject():
            members = {name: getattr(value, name) for name in value.__struct_fields__}
            made = {name: in_one_spelling(member) for name, member in members.items()}
            return msgspec.structs.replace(value, **made)
        case list():
            return [in_one_spelling(each) for each in value]
        case dict():
            return {name: in_one_spelling(each) for name, each in value.items()}
        case _:
            return value


def _canonical(value: Any) -> str:
    match value:
        case Decimal():
            return str(value.normalize(_ALL_DIGITS))
        case dict():
            members = (f"{json.dumps(name)}:{_canonical(value[name])}" for name in sorted(value))
            return f"{{{','.join(members)}}}"
        case list():
            return f"[{','.join(map(_canonical, value))}]"
        case _:
            return json.dumps(value)


def in_free_form(value: Any, path: Iterable[int | str]) -> bool:
    """Whether a path of an object's JSON leads into free-form data, or to it."""
    for part in path:
        match value:
            case GeneratedObject():
                names = dict(
                    zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
                )
                value = getattr(value, names[part]) if part in names else _others(value, part)
            case list() | dict():
                value = _element(value, part)
            case _:
                break
    return isinstance(value, msgspec.Raw)


def _others(value: GeneratedObject, name: int | str) -> Any:
    return _element(getattr(value, "additional_properties", {}), name)


def _element(value: Any, part: int | str) -> Any:
    if isinstance(value, dict):
        return value.get(part, MISSING)
    known = isinstance(value, list) and isinstance(part, int) and part < len(value)
    return value[part] if known else MISSING


def some_versions(scheme: Scheme, resource: str, data: bytes) -> list[str]:
    """The versions that a law is held to: all, or a few of many; which ones depends on the data."""
    versions = list(scheme.resources[resource].versions)
    if len(versions) <= _MANY:
        return versions
    return sorted(versions, key=lambda each: zlib.crc32(each.encode() + data))[:_MANY]


def named(scheme: Scheme, value: Any) -> tuple[str, str]:
    """The resource type and version of an object."""
    name = next(
        each.name
        for each in scheme.resources.values()
        if getattr(value, _attribute(each.name_property)).casefold() == each.name.casefold()
    )
    return name, value.api_version.rpartition("/")[2]


def _attribute(name_property: str) -> str:
    return name_property if name_property in {"kind", "type"} else "kind"


def reloaded(scheme: Scheme, value: Any) -> Any:
    """An object as it comes back from where it was kept."""
    if value.written_with is MISSING:
        return value
    return scheme.decode(scheme.encode(value))


def complete(scheme: Scheme, document: Any) -> bool:
    """Whether an object that was read can be written: nothing required is absent in it."""
    return not lacking_in(scheme, document)


def lacking_in(scheme: Scheme, document: Any) -> list[str]:
    """The paths at which an object that was read is not valid: what is required is absent there."""
    try:
        scheme.decode(scheme.encode(document))
    except DocumentError as error:
        return [each.place.path for each in error.findings]
    return []


def tree_of(scheme: Scheme, value: Any) -> Any:
    return tree(scheme.encode(value))


def view(scheme: Scheme, stored: Any, version: str) -> Any:
    return tree_of(scheme, scheme.from_storage(stored, version))


def context_of(scheme: Scheme, **values: Any) -> Context:
    """What a broken law shows of the objects that take part; made only where one is broken."""

    def lines() -> Iterator[str]:
        for name, value in values.items():
            yield f"  {name}: {spoken(tree_of(scheme, value)) if value is not None else 'nothing'}"

    return lambda: "\n".join(lines())
