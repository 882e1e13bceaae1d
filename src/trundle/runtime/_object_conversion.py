"""Converting objects between the classes of a generated package, so that the laws of reading and writing hold."""

import contextlib
from collections.abc import Mapping
from typing import Any

from trundle.runtime._bag import tidy
from trundle.runtime._bases import StorageObject
from trundle.runtime._documents import find_path
from trundle.runtime._errors import TOO_DEEP, DocumentError, HookError, PlacedError
from trundle.runtime._hidden_content import clash_in, shown
from trundle.runtime._json import encode
from trundle.runtime._lookup import Lookup
from trundle.runtime._marks import written_over
from trundle.runtime._merge import merge_objects
from trundle.runtime._placed import PLACING
from trundle.runtime._required_alone import without_filled
from trundle.runtime._required_values import Converting
from trundle.runtime._spelt_as_shown import spelt_as_shown
from trundle.runtime._unmarked import without_marks


class ObjectConversion:
    """Converts objects of a generated package.

    Args:
        lookup: the package's classes and functions.
        stored_as: by resource type the storage class that objects are kept as, where it is not the hub's.
    """

    def __init__(self, lookup: Lookup, stored_as: Mapping[str, type[Any]]) -> None:
        self._lookup = lookup
        self.stored_as = stored_as

    def convert(self, value: Any, to: str | None, base: Any) -> Any:
        """An object as one of an API version, or as what a store keeps.

        Args:
            value: an object of a version, or of a storage version.
            to: the API version that is wanted; None for what a store keeps.
            base: what the store keeps now; the object is then written over it.

        Raises:
            ConversionError: see `AnyScheme.convert`.
        """
        if isinstance(value, StorageObject):
            if to is None:
                return self._kept(value)
            found, _ = self._lookup.origin(type(value))
            return self._view(self._rolled(value), self._lookup.api_class(found, to))
        if to is not None and base is None:
            found, _ = self._lookup.origin(type(value))
            target = self._lookup.api_class(found, to)
            if target is type(value):
                return value
            with Converting(value):
                straight = self._lookup.known_function(type(value), target) is not None
                held = value if straight else self._call(value, self._lookup.hub_class(found))
                made = self._call(held, target)
            if (error := clash_in(made)) is not None:
                error.subject = self._lookup.subject(value)
                raise error
            return made
        stored = self._written_over(value, base)
        return stored if to is None else self.convert(stored, to, None)

    def _written_over(self, value: Any, base: Any) -> Any:
        """Writes an API object over what is stored, so that the laws of conversion hold."""
        found, version = self._lookup.origin(type(value))
        storage = self._lookup.hub_class(found)
        if base is None:
            stored = self._call(value, storage)
        else:
            current = self._rolled(base)
            placing = PLACING.set(True)
            try:
                seen = self._view(current, type(value))
            finally:
                PLACING.reset(placing)
            value = spelt_as_shown(value, seen)
            if seen == value and encode(seen) == encode(value):  # 1 and 1.0 are equal, too
                return base
            with written_over():
                before = self._before(seen, value, storage, current)
                after = self._call(value, storage, current)
            stored = merge_objects(current, before, after)
            if stored is current:
                return base
            without_marks(stored, current)
        stored.written_with = version
        tidy(stored)
        return self._kept(stored)

    def _before(self, seen: Any, value: Any, storage: type[Any], current: Any) -> Any:
        """What a writer sees, in the stored shape, without what it was only shown where it leaves nothing else."""
        with contextlib.suppress(HookError):  # A hook may need what its version requires.
            had = without_filled(seen, value, lambda: self._view(current, type(value)))
            return self._call(had, storage, current)
        return self._call(seen, storage, current)

    def _view(self, stored: Any, class_: type[Any]) -> Any:
        """What clients of an API class see of a stored object in the hub's shape."""
        return shown(self._call(stored, class_))

    def _kept(self, stored: Any) -> Any:
        """A stored object in the shape that a store keeps: the hub's, or the one that was chosen."""
        found, _ = self._lookup.origin(type(stored))
        chosen = self.stored_as.get(found.name)
        if type(stored) is chosen:
            return stored
        rolled = self._rolled(stored)
        if chosen is None or type(rolled) is chosen:
            return rolled
        kept = self._call(rolled, chosen)
        kept.written_with = rolled.written_with
        return kept

    def _rolled(self, stored: Any) -> Any:
        """A stored object in the hub's shape."""
        found, version = self._lookup.origin(type(stored))
        if version == found.hub:
            return stored
        rolled = self._call(stored, self._lookup.hub_class(found))
        rolled.written_with = stored.written_with
        return rolled

    def _call(self, value: Any, target: type[Any], base: Any = None) -> Any:
        function, wants_base = self._lookup.function(type(value), target)
        try:
            return function(value, base) if wants_base else function(value)
        except PlacedError as error:
            for root in (value, base):
                error.path = error.path or find_path(root, error.holder)
            error.subject = self._lookup.subject(value)
            raise
        except RecursionError:
            raise DocumentError(self._lookup.subject(value), [TOO_DEEP]) from None
