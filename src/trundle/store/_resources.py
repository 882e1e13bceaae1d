"""The resource types of a scheme, as a store finds them; and the schemes that store the shape that is agreed on."""

from collections.abc import Mapping
from dataclasses import dataclass

from trundle.errors import did_you_mean, listed
from trundle.runtime import AnyScheme, ConversionError
from trundle.store._errors import (
    InvalidKeyError,
    NewerShapeError,
    UnknownResourceError,
    UnrecordedShapeError,
)
from trundle.store._records import Key

_LONGEST = 512


@dataclass(frozen=True, slots=True)
class StoredType:
    """A resource type of a scheme.

    Attributes:
        called: what the scheme calls it.
        group: its API group.
        name: its name within the group.
        hub: the version that the scheme stores it in, unless another one is agreed on.
        readable: the storage versions that the scheme can read.
    """

    called: str
    group: str
    name: str
    hub: str
    readable: frozenset[str]

    @property
    def identity(self) -> tuple[str, str]:
        """Its group and name, which all releases and all databases have in the same order.

        A transaction that locks several resource types locks them in this order, so that no two transactions wait for each other.
        """
        return self.group, self.name


class StoredTypes:
    """The resource types of a scheme.

    Args:
        scheme: the scheme.
        where: the store, as errors name it.
    """

    def __init__(self, scheme: AnyScheme, where: str) -> None:
        self.scheme = scheme
        self._where = where
        self._types: dict[str, StoredType] = {}
        self._schemes: dict[tuple[str, str], AnyScheme] = {}

    @property
    def all(self) -> Mapping[str, StoredType]:
        """All of them, by what the scheme calls them."""
        return {name: self[name] for name in self.scheme.resources}

    def __getitem__(self, called: str) -> StoredType:
        """A resource type.

        Raises:
            UnknownResourceError: the scheme has none of this name.
        """
        found = self._types.get(called)
        if found is None:
            resource = self.scheme.resources.get(called)
            if resource is None:
                advice = did_you_mean(called, tuple(self.scheme.resources))
                expected = "a resource type of the project"
                raise UnknownResourceError(self._where, expected, repr(called), advice)
            found = StoredType(
                called, resource.group, resource.name, resource.hub, frozenset(resource.storage)
            )
            self._types[called] = found
        return found

    def storing(self, type_: StoredType, version: str) -> AnyScheme:
        """The scheme that stores a resource type in some version.

        Raises:
            NewerShapeError: this release cannot read it.
            UnrecordedShapeError: this release can read it, but its lock does not record it.
        """
        if version == type_.hub:
            return self.scheme
        found = self._schemes.get((type_.called, version))
        if found is None:
            if version not in type_.readable:
                raise unreadable(self._where, type_, version)
            try:
                found = self.scheme.storing({type_.called: version})
            except ConversionError:
                expected = f"{type_.called} to be stored in a version that the lock records"
                advice = "record it and generate again, or run `trundle store roll` when no server needs it"
                raise UnrecordedShapeError(self._where, expected, version, advice) from None
            self._schemes[type_.called, version] = found
        return found

    def check(self, key: Key) -> None:
        """Refuses a key that no object can have.

        Raises:
            UnknownResourceError: the scheme has no such resource type.
            InvalidKeyError: the name or the namespace is no text that a store can keep.
        """
        _ = self[key.resource]
        if key.name and _is_kept(key.name) and _is_kept(key.namespace):
            return
        for what, text in (("name", key.name), ("namespace", key.namespace)):
            if (what == "name" and not text) or not _is_kept(text):
                expected = (
                    f"a {what} of at most {_LONGEST} characters that can be printed, without `/`"
                )
                advice = "choose another one"
                raise InvalidKeyError(key.resource, expected, ascii(text[:60]), advice)


UNREADABLE_ADVICE = (
    "use a release that reads it; one without it comes after `trundle store roll` with that release"
)
"""What to do where a release cannot read what is stored: it is too early, or came too soon."""


def unreadable(
    where: str, type_: StoredType, version: str, advice: str = UNREADABLE_ADVICE
) -> NewerShapeError:
    """The error for a store that keeps what a release cannot read."""
    expected = f"{type_.called} to be stored in one of {listed(type_.readable)}"
    return NewerShapeError(where, expected, version, advice)


def _is_kept(text: str) -> bool:
    """Whether a store can keep a text as a name or a namespace."""
    return len(text) <= _LONGEST and text.isprintable() and "/" not in text
