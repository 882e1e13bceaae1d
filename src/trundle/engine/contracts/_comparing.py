"""How a contract differs from an earlier one: which values it refuses that were accepted, and which it accepts besides.

It is read off both contracts; no value is tried. What cannot be read off is left to a person.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from trundle.engine._described import described
from trundle.engine.contracts._chains import Chain, Conversion, chain_of
from trundle.engine.contracts._contract import Contract, Where, compile_contract
from trundle.engine.contracts._parts import (
    ConstantPart,
    ExpressionPart,
    ListPart,
    MapPart,
    Part,
)
from trundle.engine.expressions import Expression, Format, spelled

Effect: TypeAlias = Literal["refused", "turned", "admitted", "unclear"]
"""What a difference does: values are refused now; they become something else; more are accepted; a person must look."""

_ROOT = "io.murano.Object"
_KINDS = {
    "string": "text",
    "int": "integers",
    "bool": "true or false",
    "class": "objects",
    "template": "templates of objects",
}


class Difference(NamedTuple):
    """One difference between two contracts.

    Attributes:
        effect: what it does.
        text: which values it is about, in words.
    """

    effect: Effect
    text: str


class Types(Protocol):
    """What is known of the classes that the two contracts name."""

    def before(self, name: str) -> str:
        """The full name that a name stands for in the earlier contract.

        Raises:
            KeyError: it has an unknown prefix.
        """

    def now(self, name: str) -> str:
        """The full name that a name stands for in the later contract.

        Raises:
            KeyError: it has an unknown prefix.
        """

    def descends(self, child: str, parent: str) -> bool | None:
        """Whether a class has another one among its ancestors; None where that is not known."""

    def covers(self, versions: str, others: str) -> bool | None:
        """Whether a range of versions, as an expression writes it, has all versions of another one."""


def differences(before: Contract, now: Contract, types: Types) -> tuple[Difference, ...]:
    """Where a contract differs from an earlier one in what it does with values; nothing where it does the same.

    A key that the earlier contract of a map dropped counts as one that was not given.

    Args:
        before: the earlier contract.
        now: the later one.
        types: what is known of classes.
    """
    return tuple(dict.fromkeys(_Comparison(types).parts(before.part, now.part)))


def takes_null(contract: Contract, full: Callable[[str], str]) -> bool | None:
    """Whether a contract accepts that no value is given; None where that is not known.

    Args:
        contract: the contract.
        full: gives the full name of a class by the name in the contract; raises `KeyError` for an unknown prefix.
    """
    return _takes_null(contract.part, full)


def _takes_null(part: Part, full: Callable[[str], str]) -> bool | None:
    match part:
        case ListPart():
            return part.least == 0
        case MapPart():
            inner = [_takes_null(each, full) for each in part.named.values()]
            return False if False in inner else None if None in inner else True
        case ConstantPart():
            return part.constant is None
        case ExpressionPart():
            chain = chain_of(part.expression.tree, full)
            return None if chain is None else chain.takes_null


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Compares the parts at one place.

    Attributes:
        types: what is known of classes.
        path: where the parts are within the contract, in words.
    """

    types: Types
    path: tuple[str, ...] = field(default=())

    def at(self, place: str) -> "_Comparison":
        return replace(self, path=(*self.path, place))

    def found(self, effect: Effect, what: str, does: str = "") -> Difference:
        """A difference: which values it is about, and what becomes of them."""
        return Difference(effect, " ".join(filter(None, (what, *reversed(self.path), does))))

    def parts(self, before: Part, now: Part) -> Iterator[Difference]:
        match before, now:
            case ExpressionPart(), ExpressionPart():
                yield from self._expressions(before.expression, now.expression)
            case ListPart(), ListPart():
                yield from self._lists(before, now)
            case MapPart(), MapPart():
                yield from self._maps(before, now)
            case ConstantPart(), ConstantPart():
                if not _is_same_constant(before, now):
                    yield self.found("refused", described(before.constant))
                    yield self.found("admitted", described(now.constant))
            case _:
                yield from self._shapes(before, now)

    def _shapes(self, before: Part, now: Part) -> Iterator[Difference]:
        """Parts of which only one is a list, a map, a constant or an expression."""
        ours, theirs = _shape(before, self.types.before), _shape(now, self.types.now)
        if not ours or not theirs or (theirs == "values" and _demands(now, self.types.now)):
            yield self.found("unclear", "what both accept")
            return
        yield from self._nulls(
            _takes_null(before, self.types.before), _takes_null(now, self.types.now)
        )
        if theirs == "values":
            yield self.found("admitted", f"values that are no {ours}")
        elif ours == "values" and theirs != "lists":
            yield self.found("refused", f"values that are no {theirs}")
        else:
            old = "" if ours == "values" else f", not {ours}"
            yield self.found("turned", "values", f"become {theirs}{old}")

    def _lists(self, before: ListPart, now: ListPart) -> Iterator[Difference]:
        if before.least != now.least:
            least = max(before.least, now.least)
            fewer = f"lists of fewer than {least} items" if least > 1 else "empty lists"
            yield self.found("refused" if now.least > before.least else "admitted", fewer)
        if before.most != now.most:
            ours, theirs = before.most, now.most
            less = theirs is not None and (ours is None or theirs < ours)
            most = theirs if less else ours
            longer = f"lists of more than {'one item' if most == 1 else f'{most} items'}"
            yield self.found("refused" if less else "admitted", longer)
        lengths = [each for each in (before.most, now.most) if each is not None]
        count = max(len(before.items), len(now.items))
        for at in range(min([count, *lengths])):
            one, other = _item(before, at), _item(now, at)
            yield from self.at("in the list" if count == 1 else f"at [{at}]").parts(one, other)

    def _maps(self, before: MapPart, now: MapPart) -> Iterator[Difference]:
        if now.is_open and not before.is_open:
            for key in before.named:
                yield self.found("turned", f"the key {described(key)}", "is no longer always there")
            yield from self._other_keys(before, now)
            return
        for key in [*before.named, *(each for each in now.named if each not in before.named)]:
            yield from self._key(key, before, now)
        yield from self._other_keys(before, now)

    def _key(self, key: Any, before: MapPart, now: MapPart) -> Iterator[Difference]:
        here = self.at(f"under the key {described(key)}")
        if key in before.named and key in now.named:
            yield from here.parts(before.named[key], now.named[key])
        elif key in before.named:
            if now.others is None:
                yield self.found("turned", f"the key {described(key)}", "is dropped")
            else:
                yield self.found("turned", f"the key {described(key)}", "is no longer always there")
                yield from here.parts(before.named[key], now.others[1])
        else:
            required = _takes_null(now.named[key], self.types.now)
            if required is False:
                yield self.found("refused", f"maps without the key {described(key)}")
            elif required is None:
                yield self.found("unclear", f"whether the key {described(key)} must be given")
            yield self.found("admitted", f"the key {described(key)}, which is always there")
            if before.others is not None or before.is_open:
                old = _any() if before.others is None else before.others[1]
                yield from here.parts(old, now.named[key])

    def _other_keys(self, before: MapPart, now: MapPart) -> Iterator[Difference]:
        ours = (_any(), _any()) if before.is_open else before.others
        theirs = (_any(), _any()) if now.is_open else now.others
        if ours is None and theirs is not None:
            yield self.found("admitted", "other keys")
        elif ours is not None and theirs is None:
            yield self.found("turned", "other keys", "are dropped")
        elif ours is not None and theirs is not None:
            yield from self.at("as a key").parts(ours[0], theirs[0])
            yield from self.at("under other keys").parts(ours[1], theirs[1])

    def _expressions(self, before: Expression, now: Expression) -> Iterator[Difference]:
        ours, theirs = (
            chain_of(before.tree, self.types.before),
            chain_of(now.tree, self.types.now),
        )
        if ours is None or theirs is None:
            if spelled(before.tree) != spelled(now.tree):
                yield self.found("unclear", "what both accept")
            return
        methods = [tuple(step.method for step in each.conversions) for each in (ours, theirs)]
        if methods[0] == methods[1]:
            for pair in zip(ours.conversions, theirs.conversions, strict=True):
                yield from self._conversions(*pair)
        else:
            yield from self._kinds(*methods)
        yield from self._nulls(ours.takes_null, theirs.takes_null)
        if methods[0] == methods[1] or not all(methods):
            yield from self._checks(ours, theirs)
        if ours.fallback != theirs.fallback:
            words = theirs.fallback or "what they are"
            yield self.found("unclear", f"what empty values become: {words}")

    def _kinds(self, before: tuple[str, ...], now: tuple[str, ...]) -> Iterator[Difference]:
        """Conversions of different kinds."""
        if len(before) > 1 or len(now) > 1:
            yield self.found("unclear", "what values become")
        elif not now:
            yield self.found("admitted", f"values that are no {_KINDS[before[0]]}")
        elif now[0] == "bool" or before:
            old = f", not {_KINDS[before[0]]}" if before else ""
            yield self.found("turned", "values", f"become {_KINDS[now[0]]}{old}")
        else:
            yield self.found("refused", f"values that are no {_KINDS[now[0]]}")

    def _conversions(self, before: Conversion, now: Conversion) -> Iterator[Difference]:
        """Objects of different classes."""
        yield from self._types(before.type, now.type)
        if before.versions != now.versions:
            wider = self.types.covers(now.versions, before.versions)
            narrower = self.types.covers(before.versions, now.versions)
            name, versions = now.type, now.versions or "that are required"
            if wider is None or narrower is None:
                yield self.found("unclear", f"which versions of {name} are accepted")
                return
            if not wider:
                yield self.found("refused", f"objects of {name} in versions other than {versions}")
            if not narrower:
                yield self.found("admitted", f"objects of {name} in versions {versions}")
        if before.options != now.options:
            yield self.found("unclear", f"what maps become, by {_options(now)}")

    def _types(self, before: str, now: str) -> Iterator[Difference]:
        if before == now:
            return
        up = now == _ROOT or self.types.descends(before, now)
        down = before == _ROOT or self.types.descends(now, before)
        if up is None or down is None:
            yield self.found("unclear", f"whether objects of {before} are accepted as {now}")
            return
        if not up:
            yield self.found("refused", f"objects of {before} that are none of {now}")
        if not down:
            yield self.found("admitted", f"objects of {now}")

    def _nulls(self, *accepted: bool | None) -> Iterator[Difference]:
        before, now = accepted
        if before == now:
            return
        if before is None or now is None:
            yield self.found("unclear", "whether null is accepted")
        else:
            yield self.found("admitted" if now else "refused", "null")

    def _checks(self, before: Chain, now: Chain) -> Iterator[Difference]:
        for each in sorted(now.ownership - before.ownership):
            yield self.found("refused", f"objects that are not {_OWNERSHIP[each]}")
        for each in sorted(before.ownership - now.ownership):
            yield self.found("admitted", f"objects that are not {_OWNERSHIP[each]}")
        weaker = now.predicate.implies(before.predicate)
        stronger = before.predicate.implies(now.predicate)
        if weaker is None or stronger is None:
            yield self.found("unclear", "what the checks accept")
            return
        if not stronger:
            yield self.found("refused", f"values that fail {_and(now.checks)}")
        if not weaker:
            yield self.found("admitted", f"values that fail {_and(before.checks)}")


_OWNERSHIP = {"owned": "its own", "notOwned": "those of others"}


def _shape(part: Part, full: Callable[[str], str]) -> str:
    """What a part takes, in words: `values` for anything, nothing where that is not known."""
    match part:
        case ListPart():
            return "lists"
        case MapPart():
            return "maps"
        case ExpressionPart():
            chain = chain_of(part.expression.tree, full)
            if chain is None or chain.fallback:
                return ""
            return _KINDS[chain.conversions[-1].method] if chain.conversions else "values"
        case ConstantPart():
            return ""


def _demands(part: Part, full: Callable[[str], str]) -> bool:
    """Whether an expression demands more of values than that there are some."""
    chain = chain_of(part.expression.tree, full) if isinstance(part, ExpressionPart) else None
    return chain is not None and bool(chain.ownership or chain.predicate.demands_more)


@cache
def _any() -> Part:
    """The contract that takes any value as it is."""
    return compile_contract(Expression("$"), format_=Format(1, 4), where=Where("", "")).part


def _item(part: ListPart, at: int) -> Part:
    return part.items[min(at, len(part.items) - 1)] if part.items else _any()


def _is_same_constant(one: ConstantPart, other: ConstantPart) -> bool:
    return type(one.constant) is type(other.constant) and one.constant == other.constant


def _options(conversion: Conversion) -> str:
    return ", ".join(f"{name} => {each}" for name, each in conversion.options) or "no options"


def _and(checks: tuple[str, ...]) -> str:
    return " and ".join(f"`{each}`" for each in checks)
