"""Scalars that a contract is certain to take as they are, found out without running its expression.

`$.int().notNull().check($ > 0 and $ < 65536)` takes each integer between the bounds. Where it is not certain, the expression decides.
"""

from collections.abc import Mapping
from typing import Any

from trundle.engine._errors import EngineError
from trundle.engine.contracts._methods import arguments_of
from trundle.engine.contracts._predicates import Bounds, Predicate, predicate_of
from trundle.engine.contracts._steps import Glance, calls_of, kept_by
from trundle.engine.expressions import Tree


def glances_of(tree: Tree) -> Mapping[type, Glance]:
    """Tests by the exact type of a value; nothing for contracts without checks, or with some that are not understood."""
    calls = calls_of(tree) or []
    checks = [each for each in calls if each.name == "check"]
    if not checks:
        return {}
    demanded = Predicate()
    try:
        for each in checks:
            demanded &= predicate_of(arguments_of(each)["pred"], is_integer=True)
    except EngineError:
        return {}
    if demanded.others:
        return {}
    kept = kept_by([each for each in calls if each.name != "check"])
    found: dict[type, Glance] = {}
    if int in kept and demanded.bounds.keys() <= {"value"}:
        found[int] = _integers(demanded)
    if str in kept and demanded.bounds.keys() <= {"length"}:
        found[str] = _texts(demanded)
    return found


def _integers(demanded: Predicate) -> Glance:
    low, high = _between(demanded.bounds.get("value", Bounds()))
    only, never = _constants(demanded, int)
    if only is not None:
        return lambda value: value in only and low <= value <= high and value not in never
    if never:
        return lambda value: low <= value <= high and value not in never
    return lambda value: low <= value <= high


def _texts(demanded: Predicate) -> Glance:
    low, high = _between(demanded.bounds.get("length", Bounds()))
    only, never = _constants(demanded, str)
    if only is not None:
        return lambda value: value in only and low <= len(value) <= high and value not in never
    return lambda value: low <= len(value) <= high and value not in never


def _between(bounds: Bounds) -> tuple[float, float]:
    """The bounds of integers, which are inclusive; the numbers beside them where they are not."""
    (low, above), (high, below) = bounds.low, bounds.high
    return low + 1 if above > 0 else low, high - 1 if below < 0 else high


def _constants(demanded: Predicate, type_: type) -> tuple[frozenset[Any] | None, frozenset[Any]]:
    """The only values, of one type, and those that are excluded, of any type."""
    only = demanded.values
    mine = None if only is None else frozenset(value for _, value in only if type(value) is type_)
    return mine, frozenset(value for _, value in demanded.excluded)
