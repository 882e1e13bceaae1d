"""What the methods of generated classes call: the scheme that a class belongs to, and its conversions."""

import sys
from collections.abc import Callable
from typing import Any

from trundle.runtime._bag import MISSING, unstash
from trundle.runtime._errors import ConversionError
from trundle.runtime._hiding import shown
from trundle.runtime._lookup import spoken
from trundle.runtime._objects import all_missing
from trundle.runtime._owning import own
from trundle.runtime._scheme import Scheme


def conversion_of(source: type[Any], target: type[Any] | None, *, up: bool) -> Callable[[Any], Any]:
    """The conversion between a class and the storage classes that keep it.

    Args:
        source: a generated class.
        target: a storage class; None where there is just one.
        up: whether the way leads to storage.

    Raises:
        ConversionError: there is none, or there are several to choose from.
    """
    scheme = scheme_of(source)
    if not up:
        assert target is not None
        function, wants_base = scheme.function(target, source)
    elif target is not None:
        function, wants_base = scheme.function(source, target)
    else:
        found = [each for each in scheme.conversions(source) if each.target.startswith("storage")]
        if len(found) != 1:
            choices = ", ".join(each.target for each in found)
            raise ConversionError(
                f"{spoken(source)} is kept as "
                + (f"several storage classes: {choices}; name one" if found else "no storage class")
            )
        function, wants_base = scheme.function(source, scheme._lookup.load(found[0].target))  # noqa: SLF001
    if not up:
        return lambda value: own(shown(function(value)))
    if wants_base:
        return lambda value: own(function(value, None))
    return lambda value: own(function(value))


def carried(stored: Any, class_: type[Any], *, stale: bool) -> Any:
    """What the bag of a storage object carries for an API class; absent for all else.

    Args:
        stored: the storage object.
        class_: the API class.
        stale: whether the stale entries are wanted, and not those that are current.

    Raises:
        ConversionError: objects of its class are not kept for the API class.
        BagError: an entry cannot be read.
    """
    scheme = scheme_of(type(stored))
    lookup = scheme._lookup  # noqa: SLF001
    conversion = lookup.conversion(type(stored), class_)
    rolls = any(each.target.startswith("storage") for each in scheme.conversions(type(stored)))
    if conversion is None and rolls:
        stored = conversion_of(type(stored), None, up=True)(stored)
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


def scheme_of(class_: type[Any]) -> Scheme:
    """The scheme of the generated package that a class belongs to: the nearest one around its module.

    Raises:
        ConversionError: it belongs to none.
    """
    package = class_.__module__
    while package:
        scheme = getattr(sys.modules.get(package), "scheme", None)
        if isinstance(scheme, Scheme) and scheme.package == package:
            return scheme
        package = package.rpartition(".")[0]
    raise ConversionError(f"{spoken(class_)} does not belong to a generated package")
