"""Hypothesis strategies of valid objects of generated classes.

A class is read from its fields alone, so that it may come from any generated package. Values are of the
kinds that conversions stumble over: empty texts and lists, zeros, integers beyond 2^53, text that looks
like JSON, numbers whose spelling matters, null where null is admitted.
"""

import functools
import json
import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from types import ModuleType
from typing import Any, NamedTuple, cast

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from msgspec import inspect

from trundle.runtime import ABSENT, GeneratedObject, StorageObject, struct_type
from trundle.verify._literals import Mentioned

_DEPTH = 3
_SIZE = 3
_OPTIONAL = 6
KEY_PROPERTIES = ("name", "id", "key")
"""Properties that identify an element of a list where no keys are declared."""

_TEXTS = (
    "",
    "a",
    "b",
    "Zoë",
    "two words",
    "null",
    "true",
    "0",
    "1.10",
    "12",
    '{"a": 1.10}',
    "[]",
    "$unknown",
    "$propertyBag",
    "$.a[0]",
    '"quoted"',
    "back\\slash",
    "line\nbreak",
    "\u2028\U0001f600",
    "2019-09-09",
)
_INTEGERS = (0, 1, -1, 7, 2**31, 2**53 + 1, -(2**63), 2**64 + 1)
_FLOATS = (0.0, -0.0, 0.5, -2.25, 1.0, 1e-7, 1e22, 1.7976931348623157e308)
_FREE = (
    b"null",
    b"true",
    b"0",
    b"1.10",
    b"-0",
    b"1e2",
    b"123456789012345678901234567890",
    b'""',
    b'"text"',
    b"[]",
    b"{}",
    b"[1, 2.50, null]",
    b'{"a": 1.10, "b": {"c": []}}',
    b'{"name": "x", "value": 9007199254740993}',
    b'[{"name": "x"}, {"name": "y", "more": 1.0}]',
    b'{"$unknown": {"x": 1}, "apiVersion": "v1"}',
)
_LABEL_TEXTS = ("", "a", "Zoë")
_MAP_KEYS = ("a", "b", "", "two words", "$unknown", "$additional", "Name", "name", "0")
_ADDITIONAL_KEYS = ("x-a", "x-b", "x two", "x$")


class Hints(NamedTuple):
    """What is drawn more often than by luck: the texts of enums, and what rules and hooks mention."""

    texts: tuple[str, ...] = ()
    integers: tuple[int, ...] = ()


_NO_HINTS = Hints()
_MENTIONED: dict[str, Mapping[str, Mentioned]] = {}


def mention(package: str, said: Mapping[str, Mentioned]) -> None:
    """Lets objects of a package's classes have what its rules and hooks mention.

    Args:
        package: the package's dotted name.
        said: the literals, by the name of the class that has them.
    """
    if _MENTIONED.get(package, {}) != said:
        _MENTIONED[package] = said
        _objects.cache_clear()


def _said(class_: Any) -> Mentioned:
    for package, said in _MENTIONED.items():
        if class_.__module__.startswith(f"{package}.") and class_.__name__ in said:
            return said[class_.__name__]
    return Mentioned()


def objects(class_: Any, *, depth: int = _DEPTH) -> SearchStrategy[Any]:
    """Valid objects of a generated class.

    Args:
        class_: a generated API or storage class. What names a resource keeps its default. Storage objects
            have no property bag, but sometimes unknown properties.
        depth: how many levels of nested objects there are at most, where the class allows it.
    """
    return _objects(class_, depth)


def values(type_: Any, *, depth: int = _DEPTH) -> SearchStrategy[Any]:
    """Valid values of a type as msgspec's `inspect` describes it."""
    return _value(type_, depth, _NO_HINTS)


@functools.cache
def _objects(class_: Any, depth: int) -> SearchStrategy[Any]:
    fields = drawn_fields(class_)
    required = {
        name: _field(class_, field, depth) for name, field in fields.items() if field.required
    }
    optional = {
        name: _field(class_, field, depth) for name, field in fields.items() if not field.required
    }
    return _made(class_, required, optional, shallow=depth <= 0)


@st.composite
def _made(
    draw: DrawFn,
    class_: type[Any],
    required: Mapping[str, SearchStrategy[Any]],
    optional: Mapping[str, SearchStrategy[Any]],
    *,
    shallow: bool,
) -> Any:
    chosen: list[str] = []
    names = list(optional)
    if names and not shallow:
        if len(names) <= _OPTIONAL:
            mask = draw(_masks(len(names)))
            chosen = [name for place, name in enumerate(names) if mask >> place & 1]
        else:
            chosen = draw(_few(tuple(names)))
    drawn = {name: draw(strategy) for name, strategy in required.items()}
    drawn.update((name, draw(optional[name])) for name in sorted(chosen))
    return class_(**drawn)


@functools.cache
def _masks(count: int) -> SearchStrategy[int]:
    return st.integers(0, 2**count - 1)


@functools.cache
def _few(names: tuple[str, ...]) -> SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(names), unique=True, max_size=_OPTIONAL)


def drawn_fields(class_: Any) -> Mapping[str, inspect.Field]:
    """The fields of a class that are drawn, by attribute; what names a resource keeps its default."""
    return _drawn_fields(class_)


@functools.cache
def _drawn_fields(class_: Any) -> Mapping[str, inspect.Field]:
    info = struct_type(class_)
    skipped = {"property_bag", "written_with"}
    additional = any(field.name == "additional_properties" for field in info.fields)
    if additional or not issubclass(class_, StorageObject):
        skipped.add("unknown")
    return {
        field.name: field
        for field in info.fields
        if field.name not in skipped and field.default in {inspect_default, ABSENT}
    }


inspect_default = msgspec.NODEFAULT


def _field(class_: Any, field: inspect.Field, depth: int) -> SearchStrategy[Any]:
    return field_values(class_, field, depth)


def field_values(class_: Any, field: inspect.Field, depth: int) -> SearchStrategy[Any]:
    """Valid values of a field of a class."""
    match field.name:
        case "unknown":
            return st.dictionaries(
                st.sampled_from(("later", "odd one")), free_forms(), min_size=1, max_size=1
            )
        case "additional_properties":
            inner = cast("inspect.DictType", _dict_type(field.type))
            return st.dictionaries(
                st.sampled_from(_ADDITIONAL_KEYS),
                _value(inner.value_type, depth - 1, _NO_HINTS),
                min_size=1,
                max_size=2,
            )
        case "metadata" if _plain_json(field.type):
            return _metadata(class_.__labels__, (*_LABEL_TEXTS, *_said(class_).texts))
        case _:
            said = _said(class_)
            texts = (*enum_texts(class_, field.name), *said.texts)
            return _value(field.type, depth, Hints(texts, said.integers))


def _plain_json(type_: Any) -> bool:
    types = type_.types if isinstance(type_, inspect.UnionType) else (type_,)
    return any(isinstance(each, inspect.RawType) for each in types)


def _dict_type(type_: Any) -> Any:
    types = type_.types if isinstance(type_, inspect.UnionType) else (type_,)
    return next(each for each in types if isinstance(each, inspect.DictType))


def _value(type_: Any, depth: int, hints: Hints) -> SearchStrategy[Any]:
    match type_:
        case inspect.StrType():
            return _texts(hints.texts)
        case inspect.IntType():
            return _integers(hints.integers)
        case inspect.FloatType():
            return _floats()
        case inspect.BoolType():
            return st.booleans()
        case inspect.NoneType():
            return st.none()
        case inspect.ListType(item_type=item):
            if depth <= 0:
                return st.builds(list[Any])
            return _lists(_value(item, depth - 1, hints))
        case inspect.DictType(value_type=value):
            if depth <= 0:
                return st.builds(dict[str, Any])
            return st.dictionaries(
                st.sampled_from(_MAP_KEYS), _value(value, depth - 1, hints), max_size=_SIZE
            )
        case inspect.StructType(cls):
            return st.deferred(lambda: _objects(cls, depth - 1))
        case inspect.UnionType(types):
            return st.one_of([_value(each, depth, hints) for each in types])
        case inspect.LiteralType(values=known):
            return st.sampled_from(known)
        case _:
            return free_forms()


@functools.cache
def _texts(known: tuple[str, ...]) -> SearchStrategy[str]:
    samples = st.sampled_from((*known, *known, *_TEXTS) if known else _TEXTS)
    return st.one_of(samples, st.text(max_size=6))


@functools.cache
def _integers(known: tuple[int, ...]) -> SearchStrategy[int]:
    return st.one_of(st.sampled_from((*known, *_INTEGERS)), st.integers(-1000, 1000))


@functools.cache
def _floats() -> SearchStrategy[float]:
    return st.sampled_from(_FLOATS)


@functools.cache
def free_forms() -> SearchStrategy[msgspec.Raw]:
    """Free-form data, with numbers whose spelling matters."""
    return st.one_of(
        st.sampled_from(_FREE),
        st.text(max_size=6).map(lambda text: json.dumps(text).encode()),
    ).map(msgspec.Raw)


@functools.cache
def _metadata(
    labels: tuple[tuple[str, str], ...], texts: tuple[str, ...]
) -> SearchStrategy[msgspec.Raw]:
    plain = (b'{"name":"one"}', b'{"name":"two","labels":{"a":"1.10"},"generation":1e2}', b"{}")
    own = (
        msgspec.json.encode({**more, field: {**beside, key: text}})
        for field, key in labels
        for text in texts
        for more, beside in (({}, {}), ({"name": "one"}, {"a": "1.10"}))
    )
    return st.sampled_from((*plain, *own)).map(msgspec.Raw)


@st.composite
def _lists(draw: DrawFn, items: SearchStrategy[Any]) -> list[Any]:
    drawn = draw(st.lists(items, max_size=_SIZE))
    if len(drawn) > 1 and isinstance(drawn[0], GeneratedObject) and draw(st.booleans()):
        name_apart(drawn)
    return drawn


def name_apart(items: list[Any]) -> None:
    """Makes the texts of a list's key properties unique, where its elements have some."""
    for attribute in KEY_PROPERTIES:
        seen: set[str] = set()
        for place, item in enumerate(items):
            text = getattr(item, attribute, None)
            if isinstance(text, str):
                if text in seen:
                    setattr(item, attribute, f"{text}-{place}")
                seen.add(getattr(item, attribute))


@functools.cache
def enum_texts(class_: Any, attribute: str) -> tuple[str, ...]:
    """The texts of the enums that a property may be of, as far as the class's modules show.

    An enum belongs to a property when its name ends with the property's name; where none does, all enums
    of these modules do.
    """
    module = sys.modules.get(class_.__module__)
    enums = dict(_enums(module)) if module is not None else {}
    wanted = attribute.replace("_", "").casefold()
    close = {name: texts for name, texts in enums.items() if name.casefold().endswith(wanted)}
    found = [text for texts in (close or enums).values() for text in texts]
    return tuple(dict.fromkeys(found[:40]))


def _enums(module: ModuleType) -> Mapping[str, tuple[str, ...]]:
    inside: Callable[[ModuleType], list[tuple[str, Any]]] = lambda each: sorted(vars(each).items())  # noqa: E731
    package = module.__name__.partition(".")[0]
    members = inside(module)
    for _, value in inside(module):
        if isinstance(value, ModuleType) and value.__name__.partition(".")[0] == package:
            members.extend(inside(value))
    return {
        name: tuple(each.value for each in value)
        for name, value in members
        if isinstance(value, type) and issubclass(value, StrEnum) and value is not StrEnum
    }
