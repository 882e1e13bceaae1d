"""One scheme over generated packages that know nothing of each other: one for each group of resources.

Each package has a scheme of its own, which does the work. This one finds it by the resource type of a
document or the class of an object, and imports it when it is first needed.
"""

import copy
import importlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Self

from trundle.errors import meant, similar
from trundle.runtime._bases import scheme_of
from trundle.runtime._errors import ConversionError, UnknownVersionError
from trundle.runtime._groups import GroupVersion
from trundle.runtime._heads import BYTES, Head, head_of, named_resource, said_resource
from trundle.runtime._lenience import Lenience
from trundle.runtime._lists import DocumentList
from trundle.runtime._lookup import Conversion
from trundle.runtime._many import ManyDocuments
from trundle.runtime._objects import FreeForm, GeneratedObject, spoken
from trundle.runtime._outcomes import Outcome, outcome_of
from trundle.runtime._quick_views import QuickView
from trundle.runtime._resource_types import ResourceType, chosen_storage
from trundle.runtime._scheme import Scheme

_LISTED = 12
"""How many names a message lists."""


class _Home(NamedTuple):
    """Where a resource type is.

    Attributes:
        name: what the joined scheme calls it.
        member: its package, relative to the one that joins them.
        plain: what its own package calls it.
    """

    name: str
    member: str
    plain: str


class JoinedScheme(ManyDocuments):
    """Converts documents and objects of several generated packages, each between all its versions.

    Resource types are called as their packages call them. Where several groups have one of a name, each is
    called `group/name`, and the `apiVersion` of a document (`group/version`) distinguishes them.

    Args:
        package: the dotted name of the package that holds the others.
        members: the packages, by their names within it: the group of each, and its resource types.
        served: the API versions that clients are meant to use; those of all packages.
        unknown: what happens to properties that a version does not know when a client writes them:
            `error`, or `keep`.
    """

    def __init__(
        self,
        package: str,
        members: Mapping[str, tuple[str, tuple[str, ...]]],
        *,
        served: tuple[str, ...],
        unknown: str = "error",
    ) -> None:
        super().__init__(served, unknown)
        self.package = package
        self._homes = _homes(members)
        self._storing: Mapping[str, Scheme] = {}
        self._resources = _Resources(
            {each.name: each for each in self._homes.values()}, self._resource_type
        )

    @property
    def resources(self) -> Mapping[str, ResourceType]:
        """The resource types, by the names that this scheme calls them by."""
        return self._resources

    def storing(self, storage: Mapping[str, str]) -> Self:
        """This scheme with other storage versions: whatever it stores has their shape.

        See `AnyScheme.storing`.
        """
        chosen: dict[str, dict[str, str]] = {}
        for name, version in chosen_storage(storage).items():
            home = self._homes.get(name.casefold())
            if home is None:
                advice = self._advice(Head(), name)
                raise UnknownVersionError(
                    f"there is no resource type {name!r} to be stored; {advice}"
                )
            chosen.setdefault(home.member, {})[home.plain] = version
        found = copy.copy(self)
        found._storing = {  # noqa: SLF001 - it is of this class
            member: self._scheme(member).storing(versions) for member, versions in chosen.items()
        }
        return found

    def convert(
        self,
        value: Any,
        to: str | None = None,
        base: Any = None,
        *,
        version: str | None = None,
        resource: str | None = None,
        lenience: Lenience | None = None,
    ) -> Any:
        """Converts a document or an object to another version, or to what a store keeps.

        See `AnyScheme.convert`.
        """
        if (listed := self._list_in(value)) is not None:
            return json.loads(self._convert_list(listed, to, base, lenience))
        scheme, named = self._of_value(value, resource)
        return scheme.convert(value, to, base, version=version, resource=named, lenience=lenience)

    def convert_json(
        self,
        data: bytes,
        to: str | None = None,
        base: bytes | None = None,
        *,
        version: str | None = None,
        resource: str | None = None,
        strict: bool = False,
        lenience: Lenience | None = None,
    ) -> bytes:
        """Like `convert`, from JSON to JSON; numbers in free-form data keep their spelling.

        See `AnyScheme.convert_json`.
        """
        if (listed := self._list_in(data)) is not None:
            return self._convert_list(listed, to, base, lenience, strict=strict)
        scheme, named = self._of_value(data, resource)
        return scheme.convert_json(
            data, to, base, version=version, resource=named, strict=strict, lenience=lenience
        )

    def convert_quickly(
        self,
        data: bytes,
        to: str,
        has_repeated: Callable[[bytes], bool],
        *,
        resource: str | None = None,
    ) -> bytes | None:
        """Converts a document like one that was converted before; None for any other.

        See `AnyScheme.convert_quickly`.
        """
        scheme, named = self._of_value(data, resource)
        return scheme.convert_quickly(data, to, has_repeated, resource=named)

    def read(self, version: str, stored: Any) -> Any:
        """What a store keeps, as it is seen at a version, in the form in which it is kept.

        See `AnyScheme.read`.
        """
        return self._of_value(stored, None)[0].read(version, stored)

    def read_quickly(
        self, version: str, stored: bytes, described: Callable[[FreeForm], bytes]
    ) -> bytes | None:
        """The quick way of `read`, with other metadata. See `AnyScheme.read_quickly`."""
        return self._of_value(stored, None)[0].read_quickly(version, stored, described)

    def lacking(self, version: str, stored: Any) -> tuple[str, ...]:
        """What a version requires, and what is stored has nothing for. See `AnyScheme.lacking`."""
        return self._of_value(stored, None)[0].lacking(version, stored)

    def quick_view(
        self,
        resource: str,
        source: str | None,
        target: str | None,
        keeps_spelling: Callable[[bytes], bool],
    ) -> QuickView | None:
        """The quick way to show documents at a version where that shows all of them. See `AnyScheme.quick_view`."""
        home = self._homes[resource.casefold()]
        return self._scheme(home.member).quick_view(home.plain, source, target, keeps_spelling)

    def put(
        self,
        version: str | None,
        document: Any,
        stored: Any = None,
        *,
        resource: str | None = None,
        lenience: Lenience | None = None,
    ) -> Any:
        """Writes a document of a version over what a store keeps; gives what it keeps from now on.

        See `AnyScheme.put`.
        """
        if (listed := self._list_in(document)) is not None:
            return self._list_in_form(document, listed, version, stored, lenience)
        scheme, named = self._of_value(document, resource)
        return scheme.put(version, document, stored, resource=named, lenience=lenience)

    def attempt(
        self,
        value: Any,
        to: str | None = None,
        base: Any = None,
        *,
        version: str | None = None,
        resource: str | None = None,
        lenience: Lenience | None = None,
        losses: bool = False,
    ) -> Outcome:
        """Converts a document, and gives its result or its error, what was lost and what was tolerated.

        See `AnyScheme.attempt`.
        """
        if (listed := self._list_in(value)) is not None:
            return outcome_of(
                lambda noting: self._list_in_form(value, listed, to, base, noting),
                lambda _: iter(()),
                lenience or self._lenience,
            )
        try:
            scheme, named = self._of_value(value, resource)
        except ConversionError as error:
            return Outcome(error=error)
        return scheme.attempt(
            value,
            to,
            base,
            version=version,
            resource=named,
            lenience=lenience,
            losses=losses,
        )

    def to_storage(
        self,
        value: Any,
        base: Any = None,
        *,
        version: str | None = None,
        lenience: Lenience | None = None,
    ) -> Any:
        """An API object or document as the storage object that a store keeps.

        See `AnyScheme.to_storage`.
        """
        scheme, _ = self._of_value(value, None)
        return scheme.to_storage(value, base, version=version, lenience=lenience)

    def from_storage(self, stored: Any, to: str) -> Any:
        """A stored object or document as an API object of some version."""
        return self._of_value(stored, None)[0].from_storage(stored, to)

    def decode(
        self,
        data: bytes,
        *,
        version: str | None = None,
        resource: str | None = None,
        lenience: Lenience | None = None,
    ) -> Any:
        """Reads a document as an object of its version, or of its storage version.

        See `AnyScheme.decode`.
        """
        scheme, named = self._of_value(data, resource)
        return scheme.decode(data, version=version, resource=named, lenience=lenience)

    def encode(self, value: GeneratedObject) -> bytes:
        """The compact JSON of an object.

        Raises:
            DocumentError: a number in it is infinite or no number, or a text has a lone surrogate.
        """
        return self._of_class(type(value)).encode(value)

    def function(self, source: type[Any], target: type[Any]) -> tuple[Callable[..., Any], bool]:
        """The generated function that converts objects of one class to another.

        See `Scheme.function`.
        """
        return self._of_class(source).function(source, target)

    def conversions(self, source: type[Any]) -> tuple[Conversion, ...]:
        """All conversions that lead from a class of a package and are kept with it."""
        return self._of_class(source).conversions(source)

    def _scheme(self, member: str) -> Scheme:
        scheme: Scheme = importlib.import_module(f"{self.package}.{member}").scheme
        return self._storing.get(member, scheme)

    def _of_class(self, class_: type[Any]) -> Scheme:
        if not class_.__module__.startswith(f"{self.package}."):
            raise ConversionError(f"{spoken(class_)} does not belong to {self.package}")
        return self._scheme(scheme_of(class_).package.removeprefix(f"{self.package}."))

    def _of_value(self, value: Any, resource: str | None) -> tuple[Scheme, str | None]:
        """The scheme that knows a document, and what it calls the resource type that was asked for."""
        if isinstance(value, GeneratedObject):
            return self._of_class(type(value)), None
        head = head_of(value)
        home = self._home(head, resource)
        return self._scheme(home.member), None if resource is None else home.plain

    def _named(self, head: Head, name: str) -> _Home | None:
        """Where the resource type of a name is, for a document with some head; None where there is none."""
        own = head.api_version if isinstance(head.api_version, str) else ""
        group = (GroupVersion.parse(own).group or "").casefold()
        return self._homes.get(name.casefold()) or self._homes.get(f"{group}/{name}".casefold())

    def _called(self, head: Head, name: str) -> str:
        home = self._named(head, name)
        return name if home is None else home.name

    def _listed(self, listed: DocumentList) -> ResourceType | None:
        home = self._named(listed.head, listed.resource) if listed.resource else None
        return None if home is None else self.resources[home.name]

    def _list_in_form(
        self,
        value: Any,
        listed: DocumentList,
        to: str | None,
        base: Any,
        lenience: Lenience | None,
    ) -> Any:
        """Converts a list whole: JSON to JSON, a dictionary to a dictionary."""
        made = self._convert_list(listed, to, base, lenience)
        return made if isinstance(value, BYTES) else json.loads(made)

    def _home(self, head: Head, resource: str | None) -> _Home:
        own = head.api_version if isinstance(head.api_version, str) else ""
        group = GroupVersion.parse(own).group or ""

        def find(name: str) -> _Home | None:
            return self._homes.get(name) or self._homes.get(f"{group.casefold()}/{name}")

        found = named_resource(head, resource, find)
        if found is not None:
            return found
        if resource is None and head.kind is None and head.type is None and len(self._homes) == 1:
            return next(iter(self._homes.values()))
        raise UnknownVersionError(
            f"{said_resource(head, resource)}; {self._advice(head, resource)}"
        )

    def _advice(self, head: Head, resource: str | None) -> str:
        wanted = str(resource or head.kind or head.type or "").casefold()
        close = list(similar(wanted, self._homes, 3))
        close += [key for key in self._homes if key.rpartition("/")[2] == wanted]
        names = [self._homes[key].name for key in dict.fromkeys(close)]
        if names:
            return meant(names)
        listed = ", ".join(list(self.resources)[:_LISTED])
        more = f", and {len(self._homes) - _LISTED} more" if len(self._homes) > _LISTED else ""
        return f"{self.package} has {listed}{more}"

    def _resource_type(self, home: _Home) -> ResourceType:
        found = self._scheme(home.member).resources[home.plain]

        def placed(paths: Mapping[str, str]) -> Mapping[str, str]:
            return {version: f"{home.member}.{path}" for version, path in paths.items()}

        return found._replace(versions=placed(found.versions), storage=placed(found.storage))


class _Resources(Mapping[str, ResourceType]):
    """Resource types by name; only the package of one that is asked for is imported."""

    def __init__(
        self, homes: Mapping[str, _Home], resource_type: Callable[[_Home], ResourceType]
    ) -> None:
        self._homes = homes
        self._resource_type = resource_type

    def __getitem__(self, name: str) -> ResourceType:
        return self._resource_type(self._homes[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


def _homes(members: Mapping[str, tuple[str, tuple[str, ...]]]) -> dict[str, _Home]:
    """Where each resource type is, by its name in small letters, in alphabetical order."""
    holders: dict[str, list[_Home]] = {}
    for member, (_, names) in members.items():
        for name in names:
            holders.setdefault(name.casefold(), []).append(_Home(name, member, name))
    found = {}
    for homes in holders.values():
        for home in homes:
            group = members[home.member][0]
            full = home.plain if len(homes) == 1 else f"{group}/{home.plain}"
            found[full.casefold()] = home._replace(name=full)
    return dict(sorted(found.items()))
