"""What a generated package has: its resource types, their classes, and the functions between them."""

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

from trundle.runtime._bases import ApiObject, StorageObject
from trundle.runtime._errors import ConversionError, UnknownVersionError
from trundle.runtime._first_use import FIRST_USE
from trundle.runtime._groups import GroupVersion
from trundle.runtime._objects import spoken
from trundle.runtime._resource_types import ResourceType
from trundle.runtime._spelling import spelt


class Conversion(NamedTuple):
    """A generated conversion.

    Attributes:
        target: the class that it leads to.
        function: its function.
        version: the version that it is for, where it takes that before the object; else empty.
        makes: whether it takes the class that it makes, before all else.
        wants_base: whether it takes the stored object after the object.
    """

    target: str
    function: str
    version: str = ""
    makes: bool = False
    wants_base: bool = False


ConversionTable: TypeAlias = Mapping[tuple[str, str], Mapping[str, str | tuple[Any, ...]]]
"""The conversions of a module, by the modules of the classes that they read and make.

Under each pair stand the names of the two classes, one where both are called alike, and what `Conversion` has from
`function` on: the function alone where the rest is as it is by default, without a module where it is the table's own.
"""


class Lookup:
    """Finds classes and conversions of a generated package; modules are imported when they are needed.

    Args:
        package: the package's dotted name.
        resources: its resource types.
    """

    def __init__(self, package: str, resources: tuple[ResourceType, ...]) -> None:
        self.package = package
        self.resources = {each.name: each for each in resources}
        self.by_name = {each.name.casefold(): each for each in resources}
        self._functions: dict[
            tuple[type[Any], type[Any]], tuple[Callable[..., Any], bool] | None
        ] = {}
        self._origin: dict[type[Any], tuple[ResourceType, str]] = {}
        self._loaded: dict[str, Any] = {}
        self._tables: dict[str, Mapping[str, tuple[Conversion, ...]]] = {}

    def function(self, source: type[Any], target: type[Any]) -> tuple[Callable[..., Any], bool]:
        """The generated function that converts objects of one class to another.

        Returns:
            The function, and whether it takes the stored object as a second argument.

        Raises:
            ConversionError: there is none.
        """
        found = self.known_function(source, target)
        if found is None:
            raise ConversionError(
                f"nothing converts {spoken(source)} to {spoken(target)}; "
                f"{spoken(source)} becomes "
                + (", ".join(each.target for each in self.conversions(source)) or "nothing")
            )
        return found

    def known_function(
        self, source: type[Any], target: type[Any]
    ) -> tuple[Callable[..., Any], bool] | None:
        """Like `function`, but None where there is none."""
        if (source, target) not in self._functions:
            found = self.conversion(source, target)
            self._functions[source, target] = (
                None if found is None else (self.bound(found), found.wants_base)
            )
        return self._functions[source, target]

    def bound(self, conversion: Conversion) -> Callable[..., Any]:
        """The function of a conversion, with what it takes before the object."""
        function: Callable[..., Any] = self.load(conversion.function)
        leading = [self.load(conversion.target)] if conversion.makes else []
        if conversion.version:
            leading.append(conversion.version)
        return partial(function, *leading) if leading else function

    def conversion(self, source: type[Any], target: type[Any]) -> Conversion | None:
        """The conversion from one class to another; None where there is none."""
        kept_with = source if issubclass(source, ApiObject) else target
        kept_with = source if issubclass(target, StorageObject) else kept_with
        wanted = self._path(target)
        listed = self._listed(kept_with.__module__, source)
        return next((each for each in listed if each.target == wanted), None)

    def touched(self, function: str) -> Mapping[str, str] | None:
        """The attributes that a straight conversion does not just copy, and what converts these.

        None for a conversion whose documents must be read whole.
        """
        module, _, name = function.partition(":")
        listed = getattr(self._module(module), "TOUCHED", {})
        found: Mapping[str, str] | None = listed.get(name)
        return found

    def tied(self, function: str) -> Mapping[str, str] | None:
        """The attributes that a conversion to storage, or the way back, does not just copy.

        Returns:
            By attribute that of the storage class which both ways copy, empty where more depends on the
            attribute; all others are copied under their own names. None where nothing is known.
        """
        module, _, name = function.partition(":")
        listed = getattr(self._module(module), "TIED", {})
        found: Mapping[str, str] | None = listed.get(name)
        return found

    def bagged(self, conversion: Conversion) -> Mapping[str, tuple[tuple[Any, ...], Any]]:
        """What a conversion from storage takes from the bag: by attribute the entries, and their witness."""
        module, _, name = conversion.function.partition(":")
        found: Callable[[], Mapping[str, tuple[tuple[Any, ...], Any]]] = getattr(
            self._module(module), f"{name}_bag", dict
        )
        return found()

    def conversions(self, source: type[Any]) -> tuple[Conversion, ...]:
        """All conversions that lead from a class of the package and are kept with it."""
        return self._listed(source.__module__, source)

    def _listed(self, module: str, source: type[Any]) -> tuple[Conversion, ...]:
        relative = conversion_module(module.removeprefix(f"{self.package}."))
        if relative not in self._tables:
            self._tables[relative] = self._table(relative)
        return self._tables[relative].get(self._path(source), ())

    def _table(self, relative: str) -> Mapping[str, tuple[Conversion, ...]]:
        """What a module of conversions lists, by source class."""
        name = f"{self.package}.{relative}"
        try:
            listed: ConversionTable = getattr(self._module(relative), "CONVERSIONS", {})
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
            return {}  # no class of the module is converted on its own
        found: dict[str, list[Conversion]] = {}
        for (home, other), functions in listed.items():
            for classes, entry in functions.items():
                source, _, target = classes.partition(" ")
                function, *others = (entry,) if isinstance(entry, str) else entry
                path = function if ":" in function else f"{relative}:{function}"
                conversion = Conversion(f"{other}:{target or source}", path, *others)
                found.setdefault(f"{home}:{source}", []).append(conversion)
        return {path: tuple(each) for path, each in found.items()}

    def _path(self, class_: type[Any]) -> str:
        return f"{class_.__module__.removeprefix(self.package + '.')}:{class_.__qualname__}"

    def _module(self, relative: str) -> ModuleType:
        """A module of the package, by its name below it."""
        with FIRST_USE:
            return importlib.import_module(f"{self.package}.{relative}")

    def load(self, path: str) -> Any:
        """What is at a path: a module, relative to the package, and a name in it."""
        found = self._loaded.get(path)
        if found is None:
            module, _, name = path.partition(":")
            found = getattr(self._module(module), name)
            self._loaded[path] = found
        return found

    def origin(self, class_: type[Any]) -> tuple[ResourceType, str]:
        """The resource type and version of a root class.

        Raises:
            ConversionError: the class is no root of the package.
        """
        if class_ not in self._origin:
            path = self._path(class_)
            for each in self.resources.values():
                paths = each.storage if issubclass(class_, StorageObject) else each.versions
                for version, other in paths.items():
                    if other == path:
                        self._origin[class_] = (each, version)
            if class_ not in self._origin:
                raise ConversionError(
                    f"{spoken(class_)} is not a resource type of {self.package}; "
                    "convert nested objects with their own methods"
                )
        return self._origin[class_]

    def api_class(self, found: ResourceType, version: str) -> type[Any]:
        """The class of a resource type in an API version, in any of its spellings, its group before it or not.

        Raises:
            UnknownVersionError: there is no such version.
        """
        own: str | None = version
        if version not in found.versions:
            own = spelt(GroupVersion.parse(version).within(found), found.versions)
        if own is None:
            raise UnknownVersionError(
                f"{found.name} has no version {version!r}; it has {', '.join(found.versions)}"
            )
        class_: type[Any] = self.load(found.versions[own])
        return class_

    def hub_class(self, found: ResourceType) -> type[Any]:
        """The storage class that keeps a resource type now."""
        class_: type[Any] = self.load(found.storage[found.hub])
        return class_

    def storage_class(self, name: str, version: str) -> tuple[ResourceType, type[Any]]:
        """The storage class that a resource type can be kept as in place of the hub's.

        Args:
            name: the resource type, in any letter case.
            version: the storage version, in any spelling.

        Raises:
            UnknownVersionError: there is no such resource type, or it cannot be stored in that version.
        """
        found = self.by_name.get(name.casefold())
        if found is None:
            raise UnknownVersionError(
                f"there is no resource type {name!r} to be stored; {self.package} has "
                f"{', '.join(self.resources)}"
            )
        hub = self.hub_class(found)
        writable = {
            each: class_
            for each, path in found.storage.items()
            if (class_ := self.load(path)) is hub or self.conversion(hub, class_) is not None
        }
        own = spelt(version, writable)
        if own is None:
            raise UnknownVersionError(
                f"{found.name} cannot be stored in {version!r}, but in {', '.join(writable)}; "
                "`trundle lock` records the versions that a release stores"
            )
        return found, writable[own]

    def subject(self, value: Any) -> str:
        """The resource type and version of a root object, for messages."""
        found, version = self.origin(type(value))
        kind = "stored " if isinstance(value, StorageObject) else ""
        return f"{kind}{found.name} {version}"


def conversion_module(module: str) -> str:
    """The module that keeps the conversions of a module's classes, both relative to the package."""
    return f"conversions.{module.removesuffix('.types').replace('.', '_')}"
