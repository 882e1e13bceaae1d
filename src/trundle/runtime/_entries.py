"""Entries of property bags."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

import msgspec

from trundle.runtime._documents import same_content
from trundle.runtime._json import decoder
from trundle.runtime._objects import ABSENT, Absent, FreeForm

Value_co = TypeVar("Value_co", covariant=True)

Derive = Callable[[Any], Any]
"""A value that is derived from a stored object."""


class BagEntry(Generic[Value_co]):
    """One place that a value may have been stashed at, and how it is read from there.

    Args:
        property: the property.
        version: the version whose shape the value has.
        type: the type of the value in that shape.
        convert: what becomes of the value; None for the value itself.
    """

    __slots__ = ("_decode", "convert", "property", "type", "version")

    def __init__(
        self,
        property: str,  # noqa: A002 - generated code names it
        version: str,
        type: Any,  # noqa: A002
        convert: Callable[[Any], Value_co | Absent] | None = None,
    ) -> None:
        self.property = property
        self.version = version
        self.type = type
        self.convert = convert
        self._decode: Callable[[Any], Any] | None = None

    def decode(self, value: FreeForm) -> Any:
        """The value of an entry that is JSON, as its type."""
        if self._decode is None:
            self._decode = decoder(self.type).decode
        return self._decode(value)


Aliases = tuple["tuple[str, str] | BagEntry[Any]", ...]
"""Other places that one value may have been stashed at; entries where it has another shape there."""


def place_of(alias: tuple[str, str] | BagEntry[Any]) -> tuple[str, str]:
    """The property and the version of another place that a value may have been stashed at."""
    return (alias.property, alias.version) if isinstance(alias, BagEntry) else alias


class Stashing(NamedTuple):
    """What a conversion knows of an entry that it makes, beside what a store keeps of it.

    Attributes:
        witness: what the entry accompanies; None where nothing can make it stale.
        derived: the value that the object has without the entry; None where that is not known, or a hook makes it.
        hooked: whether a hook derives that.
        aliases: other places that the same value may have been stashed at.
        holder: the path of the nested object whose presence the entry says, where a put keeps that as its edit leaves it.
        own: whether the entry says that of the writer, too.
    """

    witness: Derive | None = None
    derived: Derive | None = None
    hooked: bool = False
    aliases: Aliases = ()
    holder: tuple[str, ...] = ()
    own: bool = False


class BaseEntry(msgspec.Struct, eq=False):
    """What entries of a property bag have in common: they are equal where their content is.

    An entry that a conversion has made holds a typed value, and the same entry read from a store its JSON.
    """

    stashing = Stashing()
    """What the conversion that made the entry knows of it; nothing where it was read."""

    is_mark = False
    """Whether it stands for no entry, which is equal to none that is there."""

    if TYPE_CHECKING:
        value: Any = ABSENT
        beside: str | Absent | None = ABSENT

    # An entry can be changed.
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        """Whether two entries have the same value, beside the same."""
        if not isinstance(other, BaseEntry):
            return NotImplemented
        if self.is_mark is not other.is_mark or self.beside != other.beside:
            return False
        one, two = self.value, other.value
        if type(one) is type(two) and not isinstance(one, msgspec.Raw):
            return bool(one == two)
        if one is ABSENT or two is ABSENT:
            return False
        return same_content(one, two)

    def __ne__(self, other: object) -> bool:
        """Whether two entries differ; msgspec has a comparison of its own, which knows identity alone."""
        return not self == other


class Entry(BaseEntry):
    """An entry of a property bag.

    Attributes:
        value: the value, in the shape of the version that the entry is keyed by; absent where its side was
            absent on purpose.
        beside: a digest of what the entry accompanied, null where that was absent; left out where nothing
            can make the entry stale.
    """

    value: Any = ABSENT
    beside: str | Absent | None = ABSENT


class Noted:
    """What a conversion knows of an entry: a slot beside the fields of the entry, as a field would be written."""

    __slots__ = ("stashing",)

    stashing: Stashing


class MadeEntry(Noted, BaseEntry):
    """How a conversion makes an entry of which it knows something; `made_entry` says what."""

    value: Any = ABSENT
    beside: str | Absent | None = ABSENT


def made_entry(value: Any, beside: str | Absent | None, stashing: Stashing) -> MadeEntry:
    """An entry, with what the conversion that makes it knows of it."""
    entry = MadeEntry(value, beside)
    entry.stashing = stashing
    return entry


class StoredEntry(BaseEntry):
    """How an entry is read: its value is read when it is first used."""

    value: FreeForm | Absent = ABSENT
    beside: str | Absent | None = ABSENT


PropertyBag: TypeAlias = dict[str, dict[str, StoredEntry]]
"""Entries by property and by the version whose shape they have."""
