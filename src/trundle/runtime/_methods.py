"""What the methods of generated objects call: conversions to and from storage, and their bags."""

from collections.abc import Callable
from typing import Any

from trundle.runtime._bag import MISSING, unstash
from trundle.runtime._bases import ObjectMethods
from trundle.runtime._copies import own
from trundle.runtime._errors import ConversionError
from trundle.runtime._hidden_content import shown
from trundle.runtime._lookup import Lookup
from trundle.runtime._objects import all_missing, spoken


class LookedUpMethods(ObjectMethods):
    """What the methods of objects call, with the conversions that a package has.

    Args:
        lookup: finds them.
    """

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    def conversion_of(
        self, source: type[Any], target: type[Any] | None, *, up: bool
    ) -> Callable[[Any], Any]:
        """The conversion between a class and the storage classes that keep it; see `ObjectMethods`."""
        lookup = self._lookup
        if not up:
            assert target is not None
            function, wants_base = lookup.function(target, source)
        elif target is not None:
            function, wants_base = lookup.function(source, target)
        else:
            found = [x for x in lookup.conversions(source) if x.target.startswith("storage")]
            if len(found) != 1:
                choices = ", ".join(each.target for each in found)
                kept = f"several storage classes: {choices}; name one" if found else ""
                raise ConversionError(f"{spoken(source)} is kept as {kept or 'no storage class'}")
            function, wants_base = lookup.function(source, lookup.load(found[0].target))
        if not up:
            return lambda value: own(shown(function(value)))
        if wants_base:
            return lambda value: own(function(value, None))
        return lambda value: own(function(value))

    def carried(self, stored: Any, class_: type[Any], *, stale: bool) -> Any:
        """What the bag of a storage object carries for an API class; see `ObjectMethods`."""
        lookup, source = self._lookup, type(stored)
        conversion = lookup.conversion(source, class_)
        rolls = any(each.target.startswith("storage") for each in lookup.conversions(source))
        if conversion is None and rolls:
            stored = self.conversion_of(source, None, up=True)(stored)
            conversion = lookup.conversion(type(stored), class_)
        if conversion is None:
            raise ConversionError(f"nothing converts {spoken(type(stored))} to {spoken(class_)}")
        found: dict[str, Any] = {}
        for name, (entries, witness) in lookup.bagged(conversion).items():
            value = unstash(stored, entries, witness)
            if stale:
                value = unstash(stored, entries, stale=True) if value is MISSING else MISSING
            if value is not MISSING:
                found[name] = value
        return own(class_(**{**all_missing(class_), **found}))
