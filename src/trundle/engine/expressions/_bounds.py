"""Ends what yaql's functions would do for too long, or for ever: sequences, what goes through whole values, and the reading of dates."""

from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

from yaql.language import utils

from trundle.errors import expectation

MOST_ITEMS: Final = 2000
"""How many items of one sequence an expression goes through."""

_SOURCES: Final = ("range", "sequence", "generate", "generateMany", "repeat", "cycle")
"""What makes sequences."""

WHOLE: Final = (
    "flatten",
    "*equal",
    "*not_equal",
    "#operator_in",
    "contains",
    "containsValue",
    "indexOf",
    "lastIndexOf",
    "toSet",
    "distinct",
    "mergeWith",
    "#map",
    "#indexer",
    "dict",
    "toDict",
    "groupBy",
    "get",
    "set",
    "containsKey",
    "add",
    "remove",
    "delete",
    "deleteAll",
)
"""What goes through all parts of a value, also to compare it, or to look for it in a map or set."""
_DATES: Final = ("datetime",)
_LONGEST_DATE: Final = 1_000
"""How many characters a date, or its format, may have: nothing ends the reading of a longer one."""


def bounding(base: Any, measure: Callable[[Any], object]) -> Any:
    """A context over another one, in which what makes sequences, or goes through all of a value, ends with an error where that is too long."""
    layers = {name: base.collect_functions(name) for name in (*_SOURCES, *WHOLE, *_DATES)}
    context = base
    for depth in reversed(range(max(map(len, layers.values())))):
        context = context.create_child_context()
        for name, found in layers.items():
            for spec in found[depth] if depth < len(found) else ():
                clone = spec.clone()
                clone.payload = _ending(name, spec.payload, measure)
                context.register_function(clone)
    return context


def _ending(
    name: str, payload: Callable[..., Any], measure: Callable[[Any], object]
) -> Callable[..., Any]:
    if name in _DATES:
        return _brief(payload)
    measured = _measured(payload, measure)
    return measured if name in WHOLE else _bounded(measured)


def _brief(payload: Callable[..., Any]) -> Callable[..., Any]:
    def brief(*arguments: Any, **named: Any) -> Any:
        for each in (*arguments, *named.values()):
            if isinstance(each, str) and len(each) > _LONGEST_DATE:
                expected = f"at most {_LONGEST_DATE} characters of a date or its format"
                raise ValueError(expectation(expected, str(len(each))))
        return payload(*arguments, **named)

    return brief


def _bounded(payload: Callable[..., Any]) -> Callable[..., Any]:
    def bounded(*arguments: Any, **named: Any) -> Any:
        made = payload(*arguments, **named)
        if isinstance(made, range) and not made:  # As a condition, unlike an iterator, it is false
            return made
        return limited(iter(made))

    return bounded


def _measured(payload: Callable[..., Any], measure: Callable[[Any], object]) -> Callable[..., Any]:
    def measured(*arguments: Any, **named: Any) -> Any:
        given = [_each_measured(each, measure) for each in arguments]
        by_name = {name: _each_measured(each, measure) for name, each in named.items()}
        return payload(*given, **by_name)

    return measured


def _each_measured(given: Any, measure: Callable[[Any], object]) -> Any:
    """What a function is given, after it was measured; of a lambda, and of a rule, what it yields."""
    if isinstance(given, utils.MappingRule):
        measure(given.source)
    elif isinstance(given, FunctionType):

        def computed(*arguments: Any, **named: Any) -> Any:
            found = given(*arguments, **named)
            measure(found)
            return found

        return computed
    else:
        measure(given)
    return given


def limited(items: Any) -> Any:
    """A sequence that ends with an error after `MOST_ITEMS`; at once where its length is known."""
    return utils.limit_iterable(items, MOST_ITEMS)
