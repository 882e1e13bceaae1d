"""Reads documents that are written over stored objects."""

from typing import Any

from trundle.runtime._bases import ApiObject
from trundle.runtime._defaults import fill_in
from trundle.runtime._documents import write_value
from trundle.runtime._errors import DocumentError
from trundle.runtime._lenience import Lenience
from trundle.runtime._lookup import Lookup
from trundle.runtime._object_conversion import ObjectConversion
from trundle.runtime._reading import Reading
from trundle.runtime._required_values import with_required
from trundle.runtime._validation import read_value


class ReadingOver:
    """Reads what a client writes, knowing what it was shown.

    Args:
        lookup: the package's classes and functions.
        reading: reads documents.
        conversion: shows stored objects.
    """

    def __init__(self, lookup: Lookup, reading: Reading, conversion: ObjectConversion) -> None:
        self._lookup = lookup
        self._reading = reading
        self._conversion = conversion

    def read(
        self,
        document: Any,
        stored: Any,
        version: str | None,
        resource: str | None,
        lenience: Lenience,
    ) -> Any:
        """Reads a document that is written over a stored one.

        What a reader of the stored object is shown may be written back, even what its version does not
        know, or requires and does not find; anything more of the kind is for the lenience to decide.

        Args:
            document: JSON, or a dictionary.
            stored: what the store keeps; None for a new object.
            version: its version, where it does not say.
            resource: its resource type, where it does not say.
            lenience: what is tolerated about it.
        """
        if stored is None:
            return self._reading.read(document, version, resource, lenience)
        value = self._unfilled(document, stored, version, resource, lenience)
        if lenience.defaults and isinstance(value, ApiObject):
            _, named = self._lookup.origin(type(value))
            seen = with_required(self._conversion.convert(stored, named, None))
            for each in fill_in(value, seen):
                if lenience.report is not None:
                    lenience.report(each)
        return value

    def _unfilled(
        self,
        document: Any,
        stored: Any,
        version: str | None,
        resource: str | None,
        lenience: Lenience,
    ) -> Any:
        strictly = Lenience(defaults=lenience.defaults, report=lenience.report)
        try:
            return self._reading.read(document, version, resource, strictly, fills=False)
        except DocumentError:
            _, named, kept = self._reading.names(document, version, resource)
            if kept:
                raise
        seen = self._conversion.convert(stored, named, None)
        _, known = read_value(write_value(seen), type(seen), strict=True)
        shown = frozenset(known)
        return self._reading.read(document, version, resource, lenience, shown, fills=False)
