"""What each version shows of a list and its first element after any few writes: derived anew, or kept because no write touched it.

The oracle has plain values and the rules of the guides: `wrap` makes a list of one, the way back takes the first element, null is null
where the other side admits it. It knows neither entries nor digests. What a version shows after a write of another one is right where it is
what that write says in its terms, or where it is its own value, or the rest of its own list, from which the writer still sees what it
wrote. All else is stale.
"""

import itertools
import json
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from amounts import amount, some_of
from cases import V1, V2, V3
from evolving import evolve, rules, thing

from trundle.runtime import ABSENT, Scheme

ALL = (V1, V2, V3)
CHAINS = ("SL", "LS", "SLL", "SSL", "LSS", "LLS", "SLS", "LSL")
"""Of each version, from the first one on, whether it has a single value or a list."""


class Side(NamedTuple):
    """What a version has of the value: a list or a single one, which may be null or not."""

    is_list: bool
    nullable: bool

    @property
    def type_(self) -> str:
        return ("[string]" if self.is_list else "string") + ("?" if self.nullable else "")

    @property
    def values(self) -> list[Any]:
        """All that it may write."""
        few = [[], ["x"], ["y"], ["x", "y"], ["y", "z"]] if self.is_list else ["x", "y"]
        return [ABSENT, *few, *([None] if self.nullable else [])]


class Moment(NamedTuple):
    """What all versions show at one time, and who wrote last."""

    shown: tuple[Any, ...]
    writer: int


def across(sides: list[Side], value: Any, start: int, end: int) -> Any:
    """What a version shows of what another one writes, by the versions between them."""
    step = 1 if end > start else -1
    for at in range(start, end, step):
        one, other = sides[at], sides[at + step]
        if value is None:
            value = None if other.nullable else ABSENT
        elif value is not ABSENT and one.is_list != other.is_list:
            value = [value] if other.is_list else value[0] if value else ABSENT
    return value


def is_right(sides: list[Side], history: list[Moment], now: Moment, at: int) -> bool:
    """Whether what a version shows after a write is derived from it, or kept beside it."""
    writer, found, said = now.writer, now.shown[at], now.shown[now.writer]
    before = history[-1].shown
    if alike(said, before[writer]):
        return alike(found, before[at])  # Nothing was edited.
    derived = across(sides, said, writer, at)
    if alike(found, derived) or (found is None and said is None):
        return True
    way = range(writer, at, 1 if at > writer else -1)
    # Its own value, which a version on the way showed as it shows what is written now.
    own = itertools.takewhile(lambda each: each.writer != at, reversed(history))
    last = next((each for each in reversed(history) if each.writer == at), None)
    for each in [*own, *([last] if last else [])]:
        if alike(found, each.shown[at]) and any(alike(now.shown[x], each.shown[x]) for x in way):
            return True
    # The rest of its own list, which none on the way shows.
    had = before[at]
    lists = all(isinstance(each, list) and each for each in (found, derived, had))
    return lists and found[0] == derived[0] and found[1:] == had[1:]


def alike(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and one == other)


class Written:
    """A scheme of one value in several versions, whose puts and reads are done once each."""

    def __init__(self, scheme: Scheme, count: int) -> None:
        self._scheme = scheme
        self._count = count
        self._puts: dict[Any, str] = {}
        self._shown: dict[str, tuple[Any, ...]] = {}

    def put(self, at: int, value: Any, stored: str | None) -> str:
        key = (at, repr(value), stored)
        if key not in self._puts:
            document = thing(ALL[at], **({} if value is ABSENT else {"a": value}))
            base = None if stored is None else json.loads(stored)
            self._puts[key] = json.dumps(self._scheme.convert(document, base=base))
        return self._puts[key]

    def shown(self, stored: str) -> tuple[Any, ...]:
        if stored not in self._shown:
            found = (
                self._scheme.convert(json.loads(stored), to=each) for each in ALL[: self._count]
            )
            self._shown[stored] = tuple(each.get("a", ABSENT) for each in found)
        return self._shown[stored]


def _writes(sides: list[Side]) -> list[tuple[tuple[int, Any], ...]]:
    every = [(at, value) for at, side in enumerate(sides) for value in side.values]
    known = list(itertools.product(every, repeat=3))
    return random.Random(5).sample(known, min(amount(2500), len(known)))


@pytest.mark.parametrize(
    ("chain", "nulls", "hub"),
    some_of(
        [
            (chain, nulls, hub)
            for chain in CHAINS
            for nulls in itertools.product((False, True), repeat=len(chain))
            for hub in ALL[: len(chain)]
        ],
        9,
    ),
)
def test_after_each_write_all_versions_show_what_it_says_or_what_it_left_alone(
    forgetting: Callable[[Scheme], Scheme], chain: str, nulls: tuple[bool, ...], hub: str
) -> None:
    sides = [Side(kind == "L", nullable) for kind, nullable in zip(chain, nulls, strict=True)]
    changes = [
        rules(version, **{"unwrap" if one.is_list else "wrap": {"a": "a"}})
        for version, (one, other) in zip(ALL, itertools.pairwise(sides), strict=False)
        if one.is_list != other.is_list
    ]
    types = {
        version: {"Thing": {"a": each.type_}} for version, each in zip(ALL, sides, strict=False)
    }
    written = Written(forgetting(evolve(types, *changes, hub=hub)), len(sides))
    for writes in _writes(sides):
        stored: str | None = None
        history = [Moment((ABSENT,) * len(sides), -1)]
        for at, value in writes:
            stored = written.put(at, value, stored)
            now = Moment(written.shown(stored), at)
            assert alike(now.shown[at], value), (writes, now)
            if len(history) > 1:
                for other in range(len(sides)):
                    assert other == at or is_right(sides, history, now, other), (writes, now, other)
            history.append(now)
