"""Contracts that no value satisfies: found by reading them, where their checks contradict each other, the kind of the value or what an ancestor demands."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trundle.engine.contracts._chains import CONVERSIONS
from trundle.engine.contracts._contract import Contract
from trundle.engine.contracts._methods import METHODS, arguments_of
from trundle.engine.contracts._parts import ConstantPart, ExpressionPart, ListPart, MapPart, Part
from trundle.engine.contracts._predicates import Predicate, key_of, predicate_of
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

_NO_NUMBER = ("string", "class", "template", "list", "map")
_NO_LENGTH = ("int", "bool", "class")
_MAY_BE_OWNED = ("", "class")
_OWNERSHIP = ("owned", "notOwned")
_ALIKE = (frozenset({"template", "map"}), frozenset({"template", "class"}))
"""Conversions of which one may take what the other makes."""


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
        found = _taken(calls)
        if not found.takes_value:
            yield Impossible(part.expression, found.takes_null)


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


def refused(contract: Contract, inherited: Contract) -> bool | None:
    """Whether a contract of an ancestor refuses all that the contract of a class makes of values, as far as that can be read off them.

    Returns:
        None if it may take some of it; else whether it takes null.
    """
    made, held = _of_part(contract.part), _of_part(inherited.part, is_checking=True)
    if made is None or held is None or not made.takes_value:
        return None
    both = made.kind, held.kind
    fits = "" in both or both[0] == both[1] or frozenset(both) in _ALIKE
    ownership = made.ownership | held.ownership
    kind = made.kind or held.kind
    demand = made.demand & held.demand
    if fits and held.takes_value and _has_values(demand, kind) and _may_be(ownership, kind):
        return None
    return made.takes_null and held.takes_null


class _Taken(NamedTuple):
    """What some methods of contracts take, one after the other, and what comes of it.

    Attributes:
        takes_value: whether there is a value other than null that they take.
        takes_null: whether they take null.
        kind: what they make of values: a conversion, `list` or `map`; empty for anything.
        demand: what holds for it.
        ownership: those of `owned` and `notOwned` that hold for it.
    """

    takes_value: bool = True
    takes_null: bool = True
    kind: str = ""
    demand: Predicate = Predicate()
    ownership: frozenset[str] = frozenset()


def _of_part(part: Part, *, is_checking: bool = False) -> _Taken | None:
    """The same for a part of a contract; None where it cannot be read off it."""
    match part:
        case ExpressionPart():
            calls = calls_of(part.expression.tree)
            if calls is None or any(each.name not in METHODS for each in calls):
                return None
            return _taken(calls, is_checking=is_checking)
        case ConstantPart(constant=bool()):
            return _Taken(takes_null=False, kind="bool")
        case ConstantPart(constant=str() | int() | float() as constant):
            kind = {str: "string", int: "int"}.get(type(constant), "")
            demand = Predicate(values=frozenset([key_of(constant)]))
            return _Taken(takes_null=False, kind=kind, demand=demand)
        case ListPart():
            return _Taken(takes_null=False, kind="list")
        case MapPart():
            return _Taken(takes_null=False, kind="map")
    return None


def _taken(calls: Iterable[Call], *, is_checking: bool = False) -> _Taken:
    """What some methods of contracts take, one after the other; where they only check, conversions change nothing."""
    takes_value = takes_null = True
    kind, demand, ownership = "", Predicate(), frozenset[str]()
    for call in calls:
        if call.name in CONVERSIONS:
            takes_value &= call.name in ((kind or call.name,) if is_checking else _FROM[kind])
            kind = call.name
            if not is_checking:
                demand, ownership = Predicate(), frozenset()
        elif call.name == "notNull":
            takes_null = False
        elif call.name == "check":
            condition = arguments_of(call)["pred"]
            always = bare(condition)
            if isinstance(always, Constant) and not always.value:
                return _Taken(takes_value=False, takes_null=False)
            if _has_booleans(condition):
                continue  # True equals 1, and predicates distinguish them.
            added = predicate_of(condition, is_integer=kind == "int")
            demand &= added
            takes_null &= added.takes_null is not False
        else:
            ownership |= {call.name}
        takes_value &= _has_values(demand, kind) and _may_be(ownership, kind)
    return _Taken(takes_value, takes_null, kind, demand, ownership)


def _may_be(ownership: frozenset[str], kind: str) -> bool:
    """Whether a value of a kind may be owned, or not, as contracts say."""
    return not ownership or (kind in _MAY_BE_OWNED and len(ownership) < len(_OWNERSHIP))


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
