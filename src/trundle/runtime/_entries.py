"""Entries of property bags."""

from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from trundle.runtime._documents import same_content
from trundle.runtime._objects import ABSENT, Absent, FreeForm


class BaseEntry(msgspec.Struct, eq=False):
    """What entries of a property bag have in common: they are equal where their content is.

    An entry that a conversion has made holds a typed value, and the same entry read from a store its JSON.
    """

    if TYPE_CHECKING:
        value: Any = ABSENT
        beside: str | Absent | None = ABSENT

    # An entry can be changed.
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        """Whether two entries have the same value, beside the same."""
        if not isinstance(other, BaseEntry):
            return NotImplemented
        if self.beside != other.beside:
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


class Entry(BaseEntry, dict=True):
    """An entry of a property bag.

    Attributes:
        value: the value, in the shape of the version that the entry is keyed by; absent where its side was
            absent on purpose.
        beside: a digest of what the entry accompanied, null where that was absent; left out where nothing
            can make the entry stale.
    """

    value: Any = ABSENT
    beside: str | Absent | None = ABSENT


class StoredEntry(BaseEntry):
    """How an entry is read: its value is read when it is first used."""

    value: FreeForm | Absent = ABSENT
    beside: str | Absent | None = ABSENT


PropertyBag: TypeAlias = dict[str, dict[str, StoredEntry]]
"""Entries by property and by the version whose shape they have."""
