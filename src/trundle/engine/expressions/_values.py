"""Values of expressions: immutable within the language, plain outside of it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeAlias

from trundle.engine.expressions._yaql import Context, FrozenDict, limited

Freezer: TypeAlias = Callable[[Any], Any]


def freeze(value: Any) -> Any:
    """A value as expressions see it: lists as tuples, maps that can be hashed; lazy sequences are gone through.

    Raises:
        Exception: what a lazy sequence raises; it has at most 2,000 items.
    """
    kind = type(value)
    freezer = _FREEZERS[kind] if kind in _FREEZERS else _freezer(kind)
    return value if freezer is None else freezer(value)


def _list(value: Any) -> tuple[Any, ...]:
    return tuple([freeze(each) for each in value])


def _map(value: Mapping[Any, Any]) -> Any:
    return FrozenDict([(freeze(key), freeze(each)) for key, each in value.items()])


def _set(value: Any) -> frozenset[Any]:
    return frozenset([freeze(each) for each in value])


def _no_value(_: Any) -> NoReturn:
    raise TypeError("variables are no value; `->` and an expression stand behind `let`")


def _sequence(value: Any) -> tuple[Any, ...]:
    return _list(limited(value))


_FREEZERS: dict[type, Freezer | None] = {}


def _freezer(kind: type) -> Freezer | None:
    """What freezes values of a type; None if they are immutable."""
    found: Freezer | None = None
    if issubclass(kind, Context):
        found = _no_value
    elif issubclass(kind, tuple | list):
        found = _list
    elif issubclass(kind, Mapping):
        found = _map
    elif issubclass(kind, set | frozenset):
        found = _set
    elif issubclass(kind, Iterable) and not issubclass(kind, str | bytes):
        found = _sequence
    _FREEZERS[kind] = found
    return found


def thaw(value: Any) -> Any:
    """A value as Python has it: lists and dictionaries; sets become lists, objects and the keys of maps stay as they are."""
    if isinstance(value, tuple | list | frozenset | set):
        return [thaw(each) for each in value]
    if isinstance(value, Mapping):
        return {key: thaw(each) for key, each in value.items()}
    return value


def is_sequence(value: Any) -> bool:
    """Whether a frozen value is a list or a set."""
    return isinstance(value, tuple | list | frozenset)
