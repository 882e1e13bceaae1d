"""What a generated package calls static methods with, where these are its hooks.

The classes that have them stand in the generated package as text. A method gets plain values and returns plain values; it runs in the engine, within
limits, and in a process of its own where the package was not written by those who run it.
"""

import importlib
import itertools
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec import inspect

from trundle.runtime import ABSENT, decoder

if TYPE_CHECKING:
    from trundle.project._methods_apart import MethodsApart

APART: set[str] = set()
"""The packages, by the first part of their names, whose static methods run in processes of their own."""


class Computing(Protocol):
    """What runs static methods."""

    def compute(self, class_name: str, method: str, values: Mapping[str, Any]) -> Any:
        """What a method returns for plain values.

        Raises:
            StaticMethodError: it fails.
        """


class Assigning(msgspec.Struct, frozen=True):
    """A method that augments the conversion of a type.

    Attributes:
        module: the module of the records, beside the one that has this.
        written: the record of the side that is written.
        reads: the arguments by the attributes that they are called after.
        writes: the attributes by the keys of the map that the method returns.
    """

    module: str
    written: str
    reads: Mapping[str, str] = {}
    writes: Mapping[str, str] = {}


class Converting(msgspec.Struct, frozen=True):
    """A method that converts a property.

    Attributes:
        module: the module of the records, beside the one that has this.
        written: the record of the side that is written.
        argument: the argument that takes the value.
        attributes: the attributes that may get what it makes.
    """

    module: str
    written: str
    argument: str
    attributes: list[str]


class StaticMethods:
    """The static methods of the classes of a package.

    Args:
        package: the package that the records are in.
        files: the files of the package of classes.
    """

    def __init__(self, package: str, files: Mapping[str, str]) -> None:
        self._package = package
        self._files = dict(files)
        is_apart = package.partition(".")[0] in APART
        self._apart = _methods_apart(self._files) if is_apart else None

    def close(self) -> None:
        """Ends the processes that its methods run in."""
        if self._apart is not None:
            self._apart.close()

    def hooks(self, class_name: str, **methods: Assigning | Converting) -> Any:
        """A Python class whose methods call static methods of these names."""
        members = {name: self._called(class_name, name, each) for name, each in methods.items()}
        return type(class_name.rpartition(".")[2], (), members)

    @cached_property
    def _computing(self) -> Computing:
        if self._apart is not None:
            return self._apart
        from trundle.project._methods_here import MethodsHere  # noqa: PLC0415 - needs an extra

        return MethodsHere(self._files)

    def _called(
        self, class_name: str, name: str, method: Assigning | Converting
    ) -> Callable[[Any, Any], Any]:
        def compute(values: Mapping[str, Any]) -> Any:
            return self._computing.compute(class_name, name, values)

        if isinstance(method, Assigning):
            return lambda _, record: self._assigned(method, compute, record)
        return lambda _, value: self._converted(method, compute, value)

    def _assigned(
        self, method: Assigning, compute: Callable[[Mapping[str, Any]], Any], record: Any
    ) -> Any:
        given = {
            argument: _plain(value)
            for attribute, argument in method.reads.items()
            if (value := getattr(record, attribute)) is not ABSENT
        }
        found = compute(given)
        if not isinstance(found, Mapping):
            return found
        named = {method.writes.get(key, key): value for key, value in found.items()}
        written = self._record(method.module, method.written, type(record))
        made = _typed(named, written)
        return {name: getattr(made, name, value) for name, value in named.items()}

    def _converted(
        self, method: Converting, compute: Callable[[Mapping[str, Any]], Any], value: Any
    ) -> Any:
        written = self._record(method.module, method.written, type(value))
        if value is None and _taking(written, method.attributes, None):
            return None
        found = compute({method.argument: _plain(value)})
        attribute = _taking(written, method.attributes, found) or method.attributes[0]
        return getattr(_typed({attribute: found}, written), attribute)

    def _record(self, module: str, name: str, read: type[Any]) -> Any:
        """A record in the generated package that has what is read; the module of many places has numbered parts."""
        package = self._package
        if issubclass(read, msgspec.Struct):
            around = itertools.accumulate(read.__module__.split("."), "{}.{}".format)
            holding = [f"{each}.hooks" for each in around if f"{each}.hooks" in sys.modules]
            package = (holding or [package])[-1]
        for part in itertools.count(1):
            numbered = f"{package}.{module}{f'_part{part}' if part > 1 else ''}"
            found = importlib.import_module(numbered)
            if hasattr(found, name):
                return getattr(found, name)
        raise AssertionError


def _methods_apart(files: Mapping[str, str]) -> "MethodsApart":
    from trundle.project._methods_apart import MethodsApart  # noqa: PLC0415 - rarely needed

    return MethodsApart(files)


def _plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def _typed(values: Mapping[str, Any], record: Any) -> Any:
    """Values as a record has them; null is absent where a property does not take it.

    Raises:
        msgspec.ValidationError: one is of a wrong type.
    """
    fields = {each.name: each.type for each in _fields(record)}
    kept = {
        name: _without_null(value, fields[name]) if name in fields else value
        for name, value in values.items()
        if value is not None or name not in fields or _takes_null(fields[name])
    }
    return decoder(record).decode(msgspec.json.encode(kept))


def _fields(struct: Any) -> Iterable[inspect.Field]:
    found = inspect.type_info(struct)
    assert isinstance(found, inspect.StructType)
    return found.fields


def _takes_null(type_: inspect.Type) -> bool:
    match type_:
        case inspect.UnionType(types):
            return any(map(_takes_null, types))
        case inspect.NoneType() | inspect.AnyType() | inspect.RawType():
            return True
    return False


def _without_null(value: Any, type_: inspect.Type) -> Any:
    """A value without the null members of objects in it that do not take null."""
    match type_:
        case inspect.UnionType(types):
            for each in types:
                if isinstance(each, inspect.StructType) and isinstance(value, dict):
                    return _without_null(value, each)
                if isinstance(each, inspect.ListType) and isinstance(value, list):
                    return _without_null(value, each)
                if isinstance(each, inspect.DictType) and isinstance(value, dict):
                    return _without_null(value, each)
        case inspect.ListType(item_type=inner) if isinstance(value, list):
            return [_without_null(each, inner) for each in value]
        case inspect.DictType(value_type=inner) if isinstance(value, dict):
            return {name: _without_null(each, inner) for name, each in value.items()}
        case inspect.StructType(fields=fields) if isinstance(value, dict):
            known = {each.encode_name: each.type for each in fields}
            return {
                name: _without_null(each, known[name]) if name in known else each
                for name, each in value.items()
                if each is not None or name not in known or _takes_null(known[name])
            }
    return value


def _taking(record: Any, attributes: Iterable[str], value: Any) -> str | None:
    """The first of some attributes of a record that takes a value."""
    fields = {each.name: each.type for each in _fields(record)}
    for each in attributes:
        if value is None and not _takes_null(fields[each]):
            continue
        try:
            _typed({each: value}, record)
        except msgspec.ValidationError:
            continue
        return each
    return None
