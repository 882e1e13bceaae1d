"""What all generated objects have in common."""

from collections.abc import Mapping
from typing import Any, ClassVar, Never, TypeAlias, cast

import msgspec

from trundle.runtime._by_class import table
from trundle.runtime._class_fields import fields_of

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


class Marked(dict[str, FreeForm]):
    """The unknown properties of an object that has none, and by which a merge sees something of what is elsewhere."""


class Opened(Marked):
    """The unknown properties of an object that has something of its own, and something in it that is elsewhere."""


class Hollow(Marked):
    """The unknown properties of an object that is there only for a merge to see that its writer has it."""


class Made(Hollow):
    """The unknown properties of an object that a writer does not have, but what is in it elsewhere."""


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
    __required__: ClassVar[dict[str, str]] = {}
    __labels__: ClassVar[tuple[tuple[str, str], ...]] = ()


def all_missing(class_: type[Any]) -> Mapping[str, Any]:
    """What an object of a class is made from that has none of the properties that it requires."""
    found = _MISSING.get(class_)
    if found is None:
        fields = fields_of(class_)
        found = _MISSING[class_] = {each.name: ABSENT for each in fields if each.required}
    return found


_MISSING: dict[type[Any], Mapping[str, Any]] = table()


def spoken(class_: type[Any]) -> str:
    """A class by its full name."""
    return f"{class_.__module__}.{class_.__qualname__}"
