"""What is compiled of the operators and functions: rows of types, each with the function that computes it.

A row says for which types of values yaql would do the same. Types are those of the values themselves, so that a boolean
is no number. Where no row fits, yaql's own evaluator decides.
"""

import itertools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import GeneratorType
from typing import Any, Final

from trundle.engine.expressions._bounds import limited
from trundle.engine.expressions._folding import (
    ascending,
    descending,
    groups,
    largest,
    smallest,
    sum_of,
)
from trundle.engine.expressions._library import format_text, matches, multiply
from trundle.engine.expressions._sizes import as_key, as_text, check_size, check_text
from trundle.engine.expressions._yaql import FrozenDict, is_iterable, stop


class _Any:
    """Stands for every type."""


class _Lazy:
    """Stands for an expression that is evaluated when it is needed, with `$` as its argument."""


Kind = frozenset[type]

_ANY: Final[Kind] = frozenset({_Any})
LAZY: Final[Kind] = frozenset({_Lazy})
_INT: Final[Kind] = frozenset({int})
_NUMBER: Final[Kind] = frozenset({int, float})
_TEXT: Final[Kind] = frozenset({str})
_LIST: Final[Kind] = frozenset({tuple, list})
_TUPLE: Final[Kind] = frozenset({tuple})
_MAP: Final[Kind] = frozenset({FrozenDict, dict})
_HOLDER: Final[Kind] = _LIST | _MAP
_FLOWS: Final[Kind] = frozenset({map, filter, GeneratorType, itertools.islice, itertools.chain})
_ITEMS: Final[Kind] = _LIST | _FLOWS
"""What a function for sequences takes; maps are not among it, because only older formats iterate them."""


@dataclass(frozen=True, slots=True)
class Row:
    """What is computed from values of these types.

    Attributes:
        kinds: for each argument its types; the receiver of a method is the first.
        compute: takes the values; something that can be called for each lazy one.
        modern: whether formats below 1.2 do something else.
        operators: what it takes before the values, by name: functions of two values, as the language has them.
    """

    kinds: tuple[Kind, ...]
    compute: Callable[..., Any]
    modern: bool = False
    operators: tuple[str, ...] = ()

    def takes(self, at: int, kind: type) -> bool:
        """Whether an argument may have a type."""
        return self.kinds[at] is _ANY or kind in self.kinds[at]


def rows_for(
    table: Mapping[str, tuple[Row, ...]], name: str, count: int, *, is_legacy: bool
) -> tuple[Row, ...]:
    """The rows of a name with so many arguments, in formats of one family."""
    return tuple(
        each
        for each in table.get(name, ())
        if len(each.kinds) == count and not (is_legacy and each.modern)
    )


def _joined_text(left: str, right: str) -> str:
    check_text(len(left) + len(right))
    return left + right


def _concatenated(*parts: str) -> str:
    check_text(sum(map(len, parts)))
    return "".join(parts)


def _joined_lists(left: Sequence[Any], right: Sequence[Any]) -> Any:
    limited(left)
    limited(right)
    return left + right  # type: ignore[operator]


def _divide(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        return left // right
    return left / right


def _in_list(value: Any, items: Sequence[Any]) -> bool:
    check_size(value)
    return value in limited(items)


def _contains(items: Any, value: Any) -> bool:
    check_size(value)
    return value in limited(items)


def _equal(left: Any, right: Any) -> Any:
    check_size(left)
    return left == right


def _unequal(left: Any, right: Any) -> Any:
    check_size(left)
    return left != right


def _first(items: Any, *default: Any) -> Any:
    for each in limited(items):
        return each
    if default:
        return default[0]
    raise stop()


def _last(items: Sequence[Any], *default: Any) -> Any:
    limited(items)
    if items:
        return items[-1]
    if default:
        return default[0]
    raise stop()


def _any(items: Any, predicate: Callable[[Any], Any] | None = None) -> bool:
    return any(predicate is None or predicate(each) for each in limited(items))


def _all(items: Any, predicate: Callable[[Any], Any] = bool) -> bool:
    return all(predicate(each) for each in limited(items))


def _select(items: Any, selector: Callable[[Any], Any]) -> Iterator[Any]:
    return map(selector, limited(items))


def _where(items: Any, predicate: Callable[[Any], Any]) -> Iterator[Any]:
    return filter(predicate, limited(items))


def _select_many(items: Any, selector: Callable[[Any], Any]) -> Iterator[Any]:
    for each in items:
        inner = selector(each)
        if is_iterable(inner):
            yield from inner
        else:
            yield inner


def _selected_many(items: Any, selector: Callable[[Any], Any]) -> Iterator[Any]:
    return _select_many(limited(items), selector)


def _index_where(items: Any, predicate: Callable[[Any], Any]) -> int:
    for index, each in enumerate(limited(items)):
        if predicate(each):
            return index
    return -1


def _to_dict(items: Any, key: Callable[[Any], Any], value: Any = None) -> dict[Any, Any]:
    return {as_key(key(each)): each if value is None else value(each) for each in limited(items)}


def _take(items: Any, count: int) -> Iterator[Any]:
    return itertools.islice(limited(items), count)


def _skip(items: Any, count: int) -> Iterator[Any]:
    return itertools.islice(limited(items), count, None)


def _join(items: Any, separator: str) -> str:
    texts = [as_text(each) for each in limited(items)]
    check_text(sum(map(len, texts)) + len(separator) * max(len(texts) - 1, 0))
    return separator.join(texts)


def _join_with(separator: str, items: Any) -> str:
    return _join(items, separator)


def _substring(text: str, start: int, length: int = -1) -> str:
    if length < 0:
        length = len(text)
    if start < 0:
        start += len(text)
    return text[start : start + length]


def _replace_all(text: str, replacements: Mapping[Any, Any]) -> str:
    for old, new in replacements.items():
        text = _replaced(text, as_text(old), as_text(new))
    return text


def _replaced(text: str, old: str, new: str, count: int = -1) -> str:
    if len(new) > len(old):
        found = text.count(old) if count < 0 else min(count, text.count(old))
        check_text(len(text) + found * (len(new) - len(old)))
    return text.replace(old, new, count)


def _split(text: str, separator: str) -> list[str]:
    return text.split(separator, -1)


def _with_entry(entries: Any, key: Any, value: Any) -> Any:
    return FrozenDict(itertools.chain(entries.items(), ((as_key(key), value),)))


def _int(value: Any) -> int:
    return 0 if value is None else int(value)


def _float(value: Any) -> float:
    return 0.0 if value is None else float(value)


_NUMBERS = (_NUMBER, _NUMBER)
_TEXTS = (_TEXT, _TEXT)


def _ordering(compare: Callable[[Any, Any], Any]) -> tuple[Row, ...]:
    return Row(_NUMBERS, compare), Row(_TEXTS, compare)


def _folding(compute: Callable[..., Any], operator_: str) -> tuple[Row, ...]:
    return (
        Row((_ITEMS,), compute, operators=(operator_,)),
        Row((_ITEMS, _ANY), compute, operators=(operator_,)),
    )


OPERATORS: Final[dict[str, tuple[Row, ...]]] = {
    "+": (
        Row(_NUMBERS, operator.add),
        Row(_TEXTS, _joined_text),
        Row((_TUPLE, _TUPLE), _joined_lists),
    ),
    "-": (Row(_NUMBERS, operator.sub),),
    "*": (Row(_NUMBERS, multiply),),
    "/": (Row(_NUMBERS, _divide),),
    "mod": (Row(_NUMBERS, operator.mod),),
    "<": _ordering(operator.lt),
    "<=": _ordering(operator.le),
    ">": _ordering(operator.gt),
    ">=": _ordering(operator.ge),
    "=": (Row((_HOLDER, _HOLDER), _equal), Row((_ANY, _ANY), operator.eq)),
    "!=": (Row((_HOLDER, _HOLDER), _unequal), Row((_ANY, _ANY), operator.ne)),
    "in": (Row(_TEXTS, lambda part, text: part in text), Row((_ANY, _LIST), _in_list)),
    "=~": (Row(_TEXTS, matches),),
    "!~": (Row(_TEXTS, lambda text, expression: not matches(text, expression)),),
}
"""The operators between two operands."""

UNARY: Final[dict[str, tuple[Row, ...]]] = {
    "+": (Row((_NUMBER,), operator.pos),),
    "-": (Row((_NUMBER,), operator.neg),),
    "not": (Row((_ANY,), operator.not_),),
}
"""The operators before an operand."""

FUNCTIONS: Final[dict[str, tuple[Row, ...]]] = {
    "abs": (Row((_NUMBER,), abs),),
    "bool": (Row((_ANY,), bool, modern=True),),
    "concat": tuple(Row((_TEXT,) * n, _concatenated) for n in range(2, 6)),
    "float": (Row((_ANY,), _float, modern=True),),
    "format": tuple(Row((_TEXT, *(_ANY,) * n), format_text) for n in range(1, 8)),
    "int": (Row((_ANY,), _int, modern=True),),
    "isBoolean": (Row((_ANY,), lambda value: isinstance(value, bool)),),
    "isInteger": (
        Row((_ANY,), lambda value: isinstance(value, int) and not isinstance(value, bool)),
    ),
    "isString": (Row((_ANY,), lambda value: isinstance(value, str)),),
    "len": (Row((_TEXT | _LIST | _MAP,), len),),
    "str": (Row((_ANY,), as_text),),
}
"""The functions that are called without a dot."""

METHODS: Final[dict[str, tuple[Row, ...]]] = {
    "all": (Row((_ITEMS,), _all), Row((_ITEMS, LAZY), _all)),
    "any": (Row((_ITEMS,), _any), Row((_ITEMS, LAZY), _any)),
    "contains": (Row((_ITEMS, _ANY), _contains),),
    "containsKey": (Row((_MAP, _ANY), lambda entries, key: as_key(key) in entries),),
    "endsWith": (Row(_TEXTS, str.endswith),),
    "first": (Row((_ITEMS,), _first), Row((_ITEMS, _ANY), _first)),
    "format": FUNCTIONS["format"],
    "groupBy": tuple(Row((_ITEMS, *(LAZY,) * n), groups) for n in range(1, 4)),
    "get": (
        Row((_MAP, _ANY), lambda entries, key: entries.get(as_key(key))),
        Row((_MAP, _ANY, _ANY), lambda entries, key, default: entries.get(as_key(key), default)),
    ),
    "indexWhere": (Row((_ITEMS, LAZY), _index_where),),
    "items": (Row((_MAP,), lambda entries: entries.items()),),
    "join": (Row((_ITEMS, _TEXT), _join), Row((_TEXT, _ITEMS), _join_with)),
    "keys": (Row((_MAP,), lambda entries: entries.keys()),),
    "last": (Row((_LIST,), _last), Row((_LIST, _ANY), _last)),
    "len": FUNCTIONS["len"],
    "matches": (Row(_TEXTS, matches),),
    "max": _folding(largest, "max"),
    "min": _folding(smallest, "min"),
    "orderBy": (Row((_ITEMS, LAZY), ascending, operators=("<", ">")),),
    "orderByDescending": (Row((_ITEMS, LAZY), descending, operators=("<", ">")),),
    "replace": (
        Row((_TEXT, _TEXT, _TEXT), _replaced),
        Row((_TEXT, _TEXT, _TEXT, _INT), _replaced),
        Row((_TEXT, _MAP), _replace_all),
    ),
    "select": (Row((_ITEMS, LAZY), _select),),
    "selectMany": (Row((_ITEMS, LAZY), _selected_many),),
    "set": (Row((_MAP, _ANY, _ANY), _with_entry),),
    "skip": (Row((_ITEMS, _INT), _skip),),
    "split": (Row(_TEXTS, _split),),
    "startsWith": (Row(_TEXTS, str.startswith),),
    "sum": _folding(sum_of, "+"),
    "substring": (Row((_TEXT, _INT), _substring), Row((_TEXT, _INT, _INT), _substring)),
    "take": (Row((_ITEMS, _INT), _take),),
    "toDict": (Row((_ITEMS, LAZY), _to_dict), Row((_ITEMS, LAZY, LAZY), _to_dict)),
    "toLower": (Row((_TEXT,), str.lower),),
    "toUpper": (Row((_TEXT,), str.upper),),
    "trim": (Row((_TEXT,), str.strip),),
    "values": (Row((_MAP,), lambda entries: entries.values()),),
    "where": (Row((_ITEMS, LAZY), _where),),
}
"""The methods; their receiver is the first argument."""

FOLDS: Final[dict[str, tuple[Row, ...]]] = {
    "max": (
        Row(_NUMBERS, max),
        Row(_TEXTS, max),
    ),
    "min": (
        Row(_NUMBERS, lambda left, right: min(right, left)),
        Row(_TEXTS, lambda left, right: min(right, left)),
    ),
}
"""The functions of two values that are methods of sequences, too."""

NULL_ORDER: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": lambda left, right: left is None and right is not None,
    "<=": lambda left, _: left is None,
    ">": lambda left, right: right is None and left is not None,
    ">=": lambda _, right: right is None,
}
"""The comparisons where one side is null, which is less than everything."""
