"""Contracts that no value satisfies: found by reading them, where their checks contradict each other or the kind of the value."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trundle.engine.contracts._chains import CONVERSIONS
from trundle.engine.contracts._contract import Contract
from trundle.engine.contracts._methods import METHODS, arguments_of
from trundle.engine.contracts._parts import ExpressionPart, ListPart, MapPart, Part
from trundle.engine.contracts._predicates import Predicate, predicate_of
from trundle.engine.contracts._steps import bare, calls_of
from trundle.engine.expressions import Call, Constant, Expression, Tree, children

_FROM = {
    "": ("string", "int", "bool", "class", "template"),
    "string": ("string", "int", "bool", "class"),
    "int": ("string", "int", "bool"),
    "bool": ("string", "int", "bool"),
    "class": ("string", "bool", "class", "template"),
    "template": ("bool", "class", "template"),
}
"""Which conversions take what another one gives."""

_NO_NUMBER = ("string", "class", "template")
_NO_LENGTH = ("int", "bool", "class")
_MAY_BE_OWNED = ("", "class")
_OWNERSHIP = ("owned", "notOwned")


class Impossible(NamedTuple):
    """A contract, or a part of one, that no value satisfies.

    Attributes:
        expression: the part.
        takes_null: whether null does.
    """

    expression: Expression
    takes_null: bool


def impossible(contract: Contract) -> Iterator[Impossible]:
    """The parts of a contract that no value satisfies, as far as that can be read off them."""
    for part in _expressions(contract.part):
        calls = calls_of(part.expression.tree)
        if calls is None or any(each.name not in METHODS for each in calls):
            continue
        takes_value, takes_null = _taken(calls)
        if not takes_value:
            yield Impossible(part.expression, takes_null)


def _expressions(part: Part) -> Iterator[ExpressionPart]:
    match part:
        case ExpressionPart():
            yield part
        case ListPart(items=items):
            for each in items:
                yield from _expressions(each)
        case MapPart(named=named, others=others):
            for each in (*named.values(), *(others or ())):
                yield from _expressions(each)


def _taken(calls: Iterable[Call]) -> tuple[bool, bool]:
    """Whether there is a value that some methods of contracts take, one after the other, and whether they take null."""
    takes_value = takes_null = True
    kind, demand, ownership = "", Predicate(), set[str]()
    for call in calls:
        if call.name in CONVERSIONS:
            takes_value &= call.name in _FROM[kind]
            kind, demand, ownership = call.name, Predicate(), set()
        elif call.name == "notNull":
            takes_null = False
        elif call.name == "check":
            condition = arguments_of(call)["pred"]
            always = bare(condition)
            if isinstance(always, Constant) and not always.value:
                return False, False
            if _has_booleans(condition):
                continue  # True equals 1, and predicates distinguish them.
            added = predicate_of(condition, is_integer=kind == "int")
            demand &= added
            takes_null &= added.takes_null is not False
        else:
            ownership.add(call.name)
        takes_value &= _has_values(demand, kind)
        if ownership:
            takes_value &= kind in _MAY_BE_OWNED and len(ownership) < len(_OWNERSHIP)
    return takes_value, takes_null


def _has_booleans(tree: Tree) -> bool:
    is_boolean = isinstance(tree, Constant) and isinstance(tree.value, bool)
    return is_boolean or any(map(_has_booleans, children(tree)))


def _has_values(demand: Predicate, kind: str) -> bool:
    """Whether some value of a kind, other than null, may satisfy the checks after a conversion."""
    if (kind in _NO_NUMBER and "value" in demand.bounds) or (
        kind in _NO_LENGTH and "length" in demand.bounds
    ):
        return False
    if any(each.low > each.high for each in demand.bounds.values()):
        return False
    if "length" in demand.bounds and demand.bounds["length"].high < (0, 0):
        return False
    if kind == "int" and "value" in demand.bounds:
        demand = demand.of_integers()
    if demand.values is None:
        return True
    return any(
        value is not None and _is_of(value, kind) and demand.holds((is_bool, value)) is not False
        for is_bool, value in demand.values
    )


def _is_of(value: object, kind: str) -> bool:
    """Whether a value of a kind may equal a constant; true equals 1."""
    if kind == "string":
        return isinstance(value, str)
    if kind in ("int", "bool"):
        return isinstance(value, int | float)
    return kind == ""
