"""Values of expressions: immutable within the language, plain outside of it."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from trundle.engine.expressions._yaql import FrozenDict, is_iterable, limited

_SCALARS = frozenset({str, int, bool, float, type(None)})


def freeze(value: Any) -> Any:
    """A value as expressions see it: lists as tuples, maps that can be hashed; lazy sequences are gone through.

    Raises:
        Exception: what a lazy sequence raises; it has at most 2,000 items.
    """
    if type(value) in _SCALARS:
        return value
    if isinstance(value, tuple | list):
        return tuple([freeze(each) for each in value])
    if isinstance(value, Mapping):
        return FrozenDict([(freeze(key), freeze(each)) for key, each in value.items()])
    if isinstance(value, set | frozenset):
        return frozenset([freeze(each) for each in value])
    if isinstance(value, Iterator | AbstractSet) or is_iterable(value):
        return tuple([freeze(each) for each in limited(value)])
    return value


def thaw(value: Any) -> Any:
    """A value as Python has it: lists and dictionaries; sets become lists, and objects stay as they are."""
    if isinstance(value, tuple | list | frozenset | set):
        return [thaw(each) for each in value]
    if isinstance(value, Mapping):
        return {thaw(key): thaw(each) for key, each in value.items()}
    return value


def is_sequence(value: Any) -> bool:
    """Whether a frozen value is a list or a set."""
    return isinstance(value, tuple | list | frozenset)
