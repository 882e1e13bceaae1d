"""What a map of a model says of the object that it stands for, in either form."""

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._scene import TypeValue
from trundle.errors import expectation, shown

HEADER = "?"
"""The key of the header."""

_READ = frozenset({"type", "classVersion", "package", "id", "name"})
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_DROPPED = ("_actions",)
_TEXTS = frozenset({str})
_INLINE = ("id", "name", "metadata")
DEPENDENCIES = "dependencies"
"""The entry of headers that says who is to know when the object is destroyed."""
ON_DESTRUCTION = "onDestruction"
"""The entry in that which lists them."""
_CLASS = re.compile(r"[^/@]+([./][^@]*)?(@[^@]+)?")


class Header(NamedTuple):
    """What a map says of its object.

    Attributes:
        type: its class, by name or itself; None where the map does not say.
        spec: the version of the class.
        package: the package of the class.
        id: its id; None for a new one.
        name: what people call it.
        kept: other entries that stay with the object.
        properties: the values of its properties.
    """

    type: str | TypeValue | None
    spec: str | None
    package: str | None
    id: str | None
    name: str | None
    kept: Mapping[str, Any]
    properties: Mapping[str, Any]


def plain_header(model: Mapping[Any, Any]) -> Mapping[str, str] | None:
    """The header of a map, if it has a type, nothing but texts, and no entries to keep; None for any other.

    So are nearly all in large models.
    """
    header = model.get(HEADER)
    if type(header) is not dict or "type" not in header or not header.keys() <= _READ:
        return None
    return header if _TEXTS.issuperset(map(type, header.values())) else None


def read_header(model: Mapping[Any, Any]) -> Header:
    """Reads a map of a model.

    Raises:
        EngineError: the header is none.
    """
    header = model.get(HEADER)
    if header is None:
        if HEADER not in model and len(model) <= len(_INLINE) + 1:
            inline = _inline(model)
            if inline is not None:
                return inline
        return Header(None, None, None, None, None, {}, model)
    if type(header) is not dict and not isinstance(header, Mapping):
        raise _wrong(expectation("a header as an object under `?`", shown(header)))
    given = header.get("type")
    type_, spec, package = _parts(given) if type(given) is str else _type(given)
    kept = _NOTHING
    if not header.keys() <= _READ:
        kept = {key: header[key] for key in header if key not in _READ and key not in _DROPPED}
        if DEPENDENCIES in kept:
            _check_dependencies(kept[DEPENDENCIES])
    if spec is None:
        spec = _text(header, "classVersion")
    if package is None:
        package = _text(header, "package")
    identifier, name = _text(header, "id"), _text(header, "name")
    return Header(type_, spec, package, identifier, name, kept, model)


def _inline(model: Mapping[Any, Any]) -> Header | None:
    """The form `{a.B/1.2: {properties}, id: ..., name: ...}`."""
    keys = [key for key in model if key not in _INLINE]
    if len(keys) != 1 or len(model) > len(_INLINE) + 1:
        return None
    key, properties = keys[0], model[keys[0]]
    is_type = isinstance(key, TypeValue) or (
        isinstance(key, str) and ("." in key or "/" in key) and _CLASS.fullmatch(key)
    )
    if not is_type or not (properties is None or isinstance(properties, Mapping)):
        return None
    type_, spec, package = _type(key)
    kept = {"metadata": model["metadata"]} if "metadata" in model else {}
    return Header(
        type_, spec, package, _text(model, "id"), _text(model, "name"), kept, properties or {}
    )


def _type(value: object) -> tuple[str | TypeValue | None, str | None, str | None]:
    """Takes `name/version@package` apart."""
    if value is None or isinstance(value, TypeValue):
        return value, None, None
    if not isinstance(value, str):
        raise _wrong(expectation("the name of a class as `type`", shown(value)))
    return _parts(value)


@lru_cache(maxsize=4096)
def _parts(value: str) -> tuple[str, str | None, str | None]:
    if not value.strip():
        raise _wrong(expectation("the name of a class as `type`", shown(value)))
    if "/" not in value and "@" not in value:
        return value.strip(), None, None
    rest, _, package = value.partition("@")
    name, _, spec = rest.partition("/")
    return name.strip(), spec.strip() or None, package.strip() or None


def _text(header: Mapping[Any, Any], key: str) -> str | None:
    value = header.get(key)
    if value is None or type(value) is str or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and key != "name":
        return str(value)
    raise _wrong(expectation(f"text as `{key}` of an object", shown(value)))


def _check_dependencies(value: object) -> None:
    if value is None or (isinstance(value, Mapping) and value.get(ON_DESTRUCTION) is None):
        return
    listed = value.get(ON_DESTRUCTION) if isinstance(value, Mapping) else None
    if not isinstance(listed, list | tuple):
        where = f"`{DEPENDENCIES}` of an object"
        raise _wrong(expectation(f"`{ON_DESTRUCTION}` with a list in {where}", shown(value)))
    for each in listed:
        is_named = isinstance(each, Mapping) and isinstance(each.get("subscriber"), str | int)
        if not is_named or not isinstance(each.get("handler"), str | None):
            expected = f"the id of a `subscriber` and the name of a `handler` in `{ON_DESTRUCTION}`"
            raise _wrong(expectation(expected, shown(each)))


def _wrong(message: str) -> EngineError:
    return EngineError(EngineCode.SYNTAX, message, advice="correct the model")
