"""What adds and compares items: sums, the largest and the smallest item, orders and groups.

Each takes the operators that it needs first, as functions of two values: for numbers and texts they are Python's, for all else
yaql's, which are called in the same order. Orders, and what is made of groups, are yaql's own code, with expressions that are compiled.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeAlias

from yaql.standard_library import queries

from trundle.engine.expressions._bounds import limited
from trundle.engine.expressions._sizes import as_key
from trundle.engine.expressions._values import PLAIN

Operator: TypeAlias = Callable[[Any, Any], Any]


def sum_of(add: Operator, items: Any, *initial: Any) -> Any:
    """The sum of items."""
    return functools.reduce(add, limited(items), *initial)


def largest(larger: Operator, items: Any, *initial: Any) -> Any:
    """The item that is larger than all others."""
    return functools.reduce(larger, limited(items), *initial)


def smallest(smaller: Operator, items: Any, *initial: Any) -> Any:
    """The item that is smaller than all others."""
    return functools.reduce(smaller, limited(items), *initial)


def ascending(less: Operator, more: Operator, items: Any, key: Callable[[Any], Any]) -> Any:
    """Items by a key, the smallest first; they are put in order when they are gone through."""
    return _ordered(items, key, less, more, is_ascending=True)


def descending(less: Operator, more: Operator, items: Any, key: Callable[[Any], Any]) -> Any:
    """Items by a key, the largest first."""
    return _ordered(items, key, less, more, is_ascending=False)


def _ordered(
    items: Any, key: Callable[[Any], Any], less: Operator, more: Operator, *, is_ascending: bool
) -> Any:
    made = queries.OrderingIterable(limited(items), less, more)
    made.append_field(key, is_ascending)  # `thenBy` adds further ones
    return made


def groups(items: Any, key: Callable[[Any], Any], *selectors: Callable[[Any], Any]) -> Any:
    """Pairs of a key and the items that have it; behind the key, what to keep of an item and what to make of a group."""
    value, aggregate = (*selectors, None, None)[:2]
    found: dict[Any, list[Any]] = {}
    for each in limited(items):
        kept = each if value is None else value(each)
        named = key(each)
        found.setdefault(named if type(named) in PLAIN else as_key(named), []).append(kept)
    return map(queries.GroupAggregator(aggregate), found.items())
