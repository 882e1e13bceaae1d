"""The bases of all generated classes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Never, Self, TypeAlias, TypeVar, cast

import msgspec

Absent: TypeAlias = msgspec.UnsetType
ABSENT = msgspec.UNSET
LACKING: Never = cast("Never", ABSENT)
"""`ABSENT` where a type requires a value, and nothing provides one; it passes for any type."""
FreeForm: TypeAlias = msgspec.Raw
"""Any JSON, kept byte for byte; `msgspec.json.decode` reads it and `free_form` makes it."""

UNKNOWN = "$unknown"
ADDITIONAL = "$additional"
BAG = "$propertyBag"
WRITTEN_WITH = "$writtenWith"


BAG_FIELD: Any = msgspec.field(default=ABSENT, name=BAG)
"""The field of a storage class for its property bag."""
WRITTEN_WITH_FIELD: Any = msgspec.field(default=ABSENT, name=WRITTEN_WITH)
"""The field of a stored resource for the version it was written with."""


def free_form(value: Any) -> FreeForm:
    """Free-form data from plain Python values."""
    return msgspec.Raw(msgspec.json.encode(value))


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
        from trundle.runtime._documents import same_content  # noqa: PLC0415 - documents are made of objects

        return same_content(one, two)

    def __ne__(self, other: object) -> bool:
        """Whether two entries differ; msgspec has a comparison of its own, which knows identity alone."""
        return not self == other


class Hollow(dict[str, FreeForm]):
    """The unknown properties of an object that is there only for a merge to see that its writer has it."""


class Made(Hollow):
    """The unknown properties of an object that a writer does not have, but what is in it elsewhere."""


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


class GeneratedObject(
    msgspec.Struct, kw_only=True, forbid_unknown_fields=True, rename="camel", gc=False
):
    """What every generated class has.

    Objects are trees, so the garbage collector leaves them alone: one that was put into itself would never be
    freed.

    Attributes:
        unknown: properties that the class does not know, as they came from storage or a webhook.
    """

    unknown: dict[str, FreeForm] | Absent = msgspec.field(default=ABSENT, name=UNKNOWN)

    __list_keys__: ClassVar[dict[str, tuple[str, ...]]] = {}
    __defaults__: ClassVar[dict[str, str]] = {}
    __labels__: ClassVar[tuple[tuple[str, str], ...]] = ()


def all_missing(class_: type[Any]) -> Mapping[str, Any]:
    """What an object of a class is made from that has none of the properties that it requires."""
    found = _MISSING.get(class_)
    if found is None:
        fields = msgspec.structs.fields(class_)
        found = _MISSING[class_] = {each.name: ABSENT for each in fields if each.required}
    return found


_MISSING: dict[type[Any], Mapping[str, Any]] = {}


class ApiObject(GeneratedObject, kw_only=True):
    """An object as clients of one API version see it: required means required."""

    def convert_to_storage(self, target: type[Any] | None = None) -> Any:
        """This object as a storage object, of the newest storage type that there is for it.

        Args:
            target: the storage class, where this class is kept as several.

        Raises:
            ConversionError: there is no such storage class, or several.
        """
        from trundle.runtime._methods import conversion_of  # noqa: PLC0415 - the scheme reads objects

        return conversion_of(type(self), target, up=True)(self)

    @classmethod
    def convert_from_storage(cls, stored: Any) -> Self:
        """A storage object as an object of this class.

        Raises:
            ConversionError: objects of its class are not kept for this class.
        """
        from trundle.runtime._methods import conversion_of  # noqa: PLC0415

        found: Self = conversion_of(cls, type(stored), up=False)(stored)
        return found


AnyApiObject = TypeVar("AnyApiObject", bound=ApiObject)


class StorageObject(GeneratedObject, kw_only=True):
    """An object as it is persisted: every property is optional, and there is a property bag.

    Attributes:
        property_bag: what the class has no property for.
    """

    __discriminators__: ClassVar[tuple[str, ...]] = ()

    if TYPE_CHECKING:
        property_bag: PropertyBag | Absent = ABSENT

    def bag(self, class_: type[AnyApiObject], /, *, stale: bool = False) -> AnyApiObject:
        """What the bag carries for another version: `stored.bag(v2013.Person).first_name`.

        The result has the version's attributes. Those that the bag has an entry for have its value in the version's
        shape; all others are absent, required ones too. It shares nothing with this object. Nested storage
        objects have bags of their own.

        Args:
            class_: the API class of the version.
            stale: whether to give the stale entries, which the version does not show, and not the current ones.

        Raises:
            ConversionError: objects of this class are not kept for the API class.
            BagError: an entry cannot be read.
        """
        from trundle.runtime._methods import carried  # noqa: PLC0415

        found: AnyApiObject = carried(self, class_, stale=stale)
        return found

    def convert_to_storage(self, target: type[Any] | None = None) -> Any:
        """This object as the newest storage type: the way an older stored object is rolled forward.

        Raises:
            ConversionError: there is no such storage class.
        """
        from trundle.runtime._methods import conversion_of  # noqa: PLC0415

        return conversion_of(type(self), target, up=True)(self)

    @classmethod
    def convert_from_storage(cls, stored: Any) -> Self:
        """An older storage object as an object of this class.

        Raises:
            ConversionError: nothing leads from its class to this one.
        """
        from trundle.runtime._methods import conversion_of  # noqa: PLC0415

        found: Self = conversion_of(type(stored), cls, up=True)(stored)
        return found
