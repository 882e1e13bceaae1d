"""What the checks of a contract demand, as far as it can be read off their expressions.

Bounds (`$ > 0`, `len($) <= 3`), values (`$ in list(a, b)`, `$ = a or $ = b`) and excluded values (`$ != 0`) are understood; any other
condition is known by its text alone.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from trundle.engine.contracts._steps import bare
from trundle.engine.expressions import (
    Binary,
    Call,
    Constant,
    ListOf,
    Tree,
    Unary,
    Variable,
    Word,
    spelled,
)

Subject: TypeAlias = Literal["value", "length"]
Key: TypeAlias = tuple[bool, Any]
"""A constant, by which `true` and 1 are two."""

_FEW = 100
"""How many integers are looked at one by one."""

_MIRRORED = {">": "<", "<": ">", ">=": "<=", "<=": ">=", "=": "=", "!=": "!="}


@dataclass(frozen=True, slots=True)
class Bounds:
    """The numbers between two bounds; the second part of a bound says by which side of the number it stands."""

    low: tuple[float, int] = (-math.inf, 0)
    high: tuple[float, int] = (math.inf, 0)

    def __and__(self, other: "Bounds") -> "Bounds":
        return Bounds(max(self.low, other.low), min(self.high, other.high))

    def is_within(self, other: "Bounds") -> bool:
        """Whether the other bounds hold for all numbers between these."""
        return self.low >= other.low and self.high <= other.high

    def has(self, number: float) -> bool:
        """Whether a number is between the bounds."""
        return self.low <= (number, 0) <= self.high


@dataclass(frozen=True, slots=True)
class Predicate:
    """A list of conditions, all of which hold.

    Attributes:
        bounds: for numbers, or for the lengths of values.
        values: the only values; None for any.
        excluded: values that do not satisfy it.
        others: the texts of other conditions.
    """

    bounds: dict[Subject, Bounds] = field(default_factory=dict)
    values: frozenset[Key] | None = None
    excluded: frozenset[Key] = frozenset()
    others: frozenset[str] = frozenset()

    def __and__(self, other: "Predicate") -> "Predicate":
        bounds = dict(self.bounds)
        for subject, each in other.bounds.items():
            bounds[subject] = bounds[subject] & each if subject in bounds else each
        values = self.values
        if other.values is not None:
            values = other.values if values is None else values & other.values
        return Predicate(bounds, values, self.excluded | other.excluded, self.others | other.others)

    def of_integers(self) -> "Predicate":
        """The same for integers, of which few are between two bounds: the values themselves."""
        bounds = self.bounds.get("value", Bounds())
        (low, _), (high, _) = bounds.low, bounds.high
        if high - low > _FEW:
            return self
        others = dict(self.bounds)
        del others["value"]
        between = Predicate(values=frozenset(map(key_of, range(int(low), int(high) + 1))))
        return replace(self, bounds=others) & between

    @property
    def takes_null(self) -> bool | None:
        """Whether null satisfies it; None where that is not known."""
        null = key_of(None)
        is_bound = any(  # Null is less than all numbers, and has no length.
            subject == "length" or each.low != Bounds().low for subject, each in self.bounds.items()
        )
        if is_bound or null in self.excluded:
            return False
        if self.values is not None and null not in self.values:
            return False
        return None if self.others else True

    @property
    def demands_more(self) -> bool:
        """Whether it demands more than that there is a value."""
        return bool(self.bounds or self.values is not None or self.others) or any(
            each != key_of(None) for each in self.excluded
        )

    def implies(self, other: "Predicate") -> bool | None:
        """Whether all values other than null that satisfy this one satisfy another one; None where that is not known."""
        if self._implies_what_is_known(other):
            if other.others <= self.others:
                return True
            return None if self.others - other.others or self.values is not None else False
        return None if self.others - other.others else False

    def _implies_what_is_known(self, other: "Predicate") -> bool:
        """Whether it implies another one but for the other conditions of that."""
        if self.values is not None:
            known = replace(other, others=frozenset())
            values = self.values - {key_of(None)}
            return all(known.holds(each) for each in values if self.holds(each) is not False)
        if other.values is not None:
            return False
        excluded = other.excluded - {key_of(None)}
        return all(self.holds(each) is False for each in excluded) and all(
            self.bounds.get(subject, Bounds()).is_within(bounds)
            for subject, bounds in other.bounds.items()
        )

    def holds(self, key: Key) -> bool | None:
        """Whether a constant satisfies it; None where that is not known."""
        _, value = key
        if self.values is not None and key not in self.values:
            return False
        if key in self.excluded:
            return False
        if not all(_is_between(value, subject, each) for subject, each in self.bounds.items()):
            return False
        return None if self.others else True


def key_of(value: Any) -> Key:
    """A constant as it is compared."""
    return isinstance(value, bool), value


def predicate_of(tree: Tree, *, is_integer: bool) -> Predicate:
    """The conditions in the expression of a check.

    Args:
        tree: the expression over `$`.
        is_integer: whether the value is an integer, or null.
    """
    tree = bare(tree)
    if isinstance(tree, Binary) and tree.operator == "and":
        left = predicate_of(tree.left, is_integer=is_integer)
        return left & predicate_of(tree.right, is_integer=is_integer)
    found = _values(tree)
    if found is None and isinstance(tree, Binary):
        found = _comparison(tree, is_integer=is_integer)
    if found is None and isinstance(tree, Unary) and tree.operator == "not":
        inner = _values(bare(tree.operand))
        found = None if inner is None else Predicate(excluded=inner.values or frozenset())
    return found or Predicate(others=frozenset({spelled(tree)}))


def at_step(predicate: Predicate, steps: int) -> Predicate:
    """The same conditions, of which the unknown ones are about the value after some conversions."""
    return replace(predicate, others=frozenset(f"{steps}: {each}" for each in predicate.others))


def _values(tree: Tree) -> Predicate | None:
    """`$ = a`, `$ in list(a, b)`, and such conditions with `or` between them."""
    if not isinstance(tree, Binary):
        return None
    if tree.operator == "or":
        left, right = _values(bare(tree.left)), _values(bare(tree.right))
        if left is None or right is None:
            return None
        return Predicate(values=(left.values or frozenset()) | (right.values or frozenset()))
    if not _is_value(tree.left):
        return None
    if tree.operator == "=":
        items: tuple[Tree, ...] = (tree.right,)
    elif tree.operator == "in" and isinstance(tree.right, ListOf):
        items = tree.right.items
    elif tree.operator == "in" and isinstance(tree.right, Call) and tree.right.name == "list":
        items = tree.right.arguments
    else:
        return None
    constants = [list(_constant(each)) for each in items]
    if not all(constants):
        return None
    return Predicate(values=frozenset(key_of(value) for (value,) in constants))


def _comparison(tree: Binary, *, is_integer: bool) -> Predicate | None:
    left, right, operator = tree.left, tree.right, tree.operator
    if operator not in _MIRRORED:
        return None
    subject = _subject(left)
    if subject is None:
        subject, right, operator = _subject(right), left, _MIRRORED[operator]
    constant = list(_constant(right))
    if subject is None or not constant:
        return None
    if operator == "!=" and subject == "value":
        return Predicate(excluded=frozenset({key_of(constant[0])}))
    number = constant[0]
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    bounds = _bounds(operator, number, is_integer=is_integer or subject == "length")
    return None if bounds is None else Predicate({subject: bounds})


def _bounds(operator: str, number: float, *, is_integer: bool) -> Bounds | None:
    match operator:
        case ">=":
            return Bounds(low=(math.ceil(number) if is_integer else number, 0))
        case "<=":
            return Bounds(high=(math.floor(number) if is_integer else number, 0))
        case ">":
            return Bounds(low=(math.floor(number) + 1, 0) if is_integer else (number, 1))
        case "<":
            return Bounds(high=(math.ceil(number) - 1, 0) if is_integer else (number, -1))
        case "=":
            return Bounds((number, 0), (number, 0))
    return None


def _subject(tree: Tree) -> Subject | None:
    tree = bare(tree)
    if _is_value(tree):
        return "value"
    match tree:
        case Call(name="len", arguments=(only,)) if _is_value(only):
            return "length"
        case Binary(operator=".", left=left, right=Call(name="len", arguments=())) if _is_value(
            left
        ):
            return "length"
    return None


def _is_value(tree: Tree) -> bool:
    return isinstance(tree, Variable) and tree.name == "$1"


def _constant(tree: Tree) -> Iterator[Any]:
    """The value of a constant; nothing for other expressions."""
    match bare(tree):
        case Constant(value=value) | Word(text=value):
            yield value
        case Unary(operator="-", operand=Constant(value=int() | float() as value)):
            yield -value


def _is_between(value: Any, subject: Subject, bounds: Bounds) -> bool:
    if subject == "length":
        return isinstance(value, str) and bounds.has(len(value))
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and bounds.has(float(value))
    )
