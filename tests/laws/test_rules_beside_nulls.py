"""Every rule about a property that may be null, or is required, on either side, in objects, lists and maps."""

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from amounts import some_of
from cases import V1, V2, V3
from evolving import Store, evolve, rules
from ruled_nulls import HOOKS, ONE_A, ONE_C, RULED, A, C, Ruled, configured, paths, versions

from trundle.evolution import NamedConversion
from trundle.runtime import ABSENT, Scheme

BOTH = (V1, V2)
PLACES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "object": lambda inner: {"o": inner},
    "list": lambda inner: {"l": [{"name": "k", **inner}]},
    "map": lambda inner: {"m": {"k": inner}},
}


class Sides:
    """What each side of a rule may have, and shows of the other's values."""

    def __init__(self, name: str, nulls: tuple[str, str], required: tuple[str, str]) -> None:
        self.ruled: Ruled = RULED[name]
        self.nulls = nulls
        self.required = required
        self.hooked = name in HOOKS

    def values(self, side: int) -> list[Any]:
        """All values of a side, null and nothing included where these may be."""
        found = [each for each, _ in (self.ruled.up, self.ruled.down)[side]]
        found += [None] if self.nulls[side] else []
        return found + ([] if self.required[side] else [ABSENT])

    def across(self, side: int, value: Any) -> Any:
        """What the other side shows of a value, but for what it requires."""
        if value is ABSENT or (value is None and (self.hooked or not all(self.nulls))):
            return ABSENT
        shown = (self.ruled.up, self.ruled.down)[side]
        return None if value is None else next(other for one, other in shown if one == value)

    def inner(self, side: int, values: list[Any]) -> dict[str, Any]:
        """An object with the values of both properties, and with what it requires where there are none."""
        found: dict[str, Any] = {}
        instead = None if self.nulls[side] else self.ruled.zero[side]
        given = any(each is not ABSENT for each in values)
        for path, value in zip(paths(self.ruled, side), values, strict=True):
            lacks = value is ABSENT and self.required[side] and (given or len(path) == 1)
            shown = instead if lacks else value
            if shown is ABSENT:
                continue
            at = found
            for name in path[:-1]:
                at = at.setdefault(name, {})
            at[path[-1]] = shown
        return found


def is_moved_null(sides: Sides, side: int, value: Any) -> bool:
    """Whether a null moves into an object that cannot have it: that object is shown empty, or not, as is stored."""
    return value is None and "." in sides.ruled.names[1 - side] and not sides.nulls[1 - side]


@pytest.mark.parametrize(
    ("name", "nulls", "required", "hub"),
    some_of(
        itertools.product(
            RULED,
            itertools.product(("", "?"), repeat=2),
            itertools.product(("", "!"), repeat=2),
            BOTH,
        ),
        31,
    ),
)
def test_a_neighbour_shows_what_the_rule_says_and_all_comes_back(
    forgetting: Callable[[Scheme], Scheme],
    name: str,
    nulls: tuple[str, str],
    required: tuple[str, str],
    hub: str,
) -> None:
    sides = Sides(name, nulls, required)
    made = evolve(versions(sides.ruled, nulls, required), *configured(sides.ruled), hub=hub)
    scheme = forgetting(made)
    for side, (place, around) in itertools.product((0, 1), PLACES.items()):
        first, *_ = sides.values(side)
        for value, other in itertools.product(sides.values(side), (first, ABSENT)):
            pair = [value, first if required[side] else other]
            if any(is_moved_null(sides, side, each) for each in pair):
                continue
            own = around(sides.inner(side, pair))
            shown = around(sides.inner(1 - side, [sides.across(side, each) for each in pair]))
            store = Store(scheme).put(BOTH[side], **own)
            stored = json.dumps(store.stored)
            written = {"apiVersion": BOTH[side], "kind": "Thing", **own}
            at_once = scheme.convert(written, to=BOTH[1 - side])
            assert {**at_once, **shown} == at_once, (place, own)
            assert store.read(BOTH[side]) == own, place
            assert store.read(BOTH[1 - side]) == shown, (place, own)
            assert json.dumps(store.put(BOTH[1 - side], **shown).stored) == stored, (place, own)
            assert store.put(BOTH[1 - side], **shown, n=1).read(BOTH[side]) == {**own, "n": 1}


@pytest.mark.parametrize(
    ("name", "nulls", "hub"),
    some_of(
        itertools.product(
            [each for each in RULED if "." not in "".join(RULED[each].names)],
            itertools.product(("", "?"), repeat=2),
            BOTH,
        ),
        17,
    ),
)
def test_what_one_side_writes_instead_takes_the_place_of_what_the_other_has(
    forgetting: Callable[[Scheme], Scheme], name: str, nulls: tuple[str, str], hub: str
) -> None:
    """A list keeps, behind the value that the other side wrote, elements that this cannot see, or not."""
    sides = Sides(name, nulls, ("", ""))
    made = evolve(versions(sides.ruled, nulls, ("", "")), *configured(sides.ruled), hub=hub)
    scheme = forgetting(made)
    for side in (0, 1):
        for value, edit in itertools.product(sides.values(side), sides.values(1 - side)):
            shown = sides.across(side, value)
            hides = isinstance(value, list) and (len(value) > 1 or (value and shown == []))
            if sides.hooked and value is edit is None:
                continue  # neither side sees anything of the other's null
            if hides or (edit is shown or edit == shown):
                continue
            store = Store(scheme).put(BOTH[side], o=sides.inner(side, [value, ABSENT]))
            own = {"o": sides.inner(1 - side, [edit, ABSENT])}
            assert store.put(BOTH[1 - side], **own).read(BOTH[1 - side]) == own, value
            expected = sides.inner(side, [sides.across(1 - side, edit), ABSENT])
            assert store.read(BOTH[side]) == {"o": expected}, (value, edit)


THREE: dict[str, tuple[str, str, dict[str, Any], Any, Any]] = {
    "rename": ("string", "string", {}, "x", "x"),
    "number": ("integer", "number", {}, 1, 1),
    "numbers": ("[integer]", "[number]", {}, [1], [1]),
    "wrap": ("string", "[string]", {"wrap": None}, "x", ["x"]),
    "unwrap": ("[string]", "string", {"unwrap": None}, ["x"], "x"),
    "convert": ("string", "integer", {"convert": "duration-to-seconds"}, "PT5S", 5),
    "map to list": (
        "{string}",
        "[P]",
        {"convert": NamedConversion(name="map-to-list", key="k", value="v")},
        {"x": "1"},
        [{"k": "x", "v": "1"}],
    ),
    "list to map": (
        "[P]",
        "{string}",
        {"convert": NamedConversion(name="list-to-map", key="k", value="v")},
        [{"k": "x", "v": "1"}],
        {"x": "1"},
    ),
}
ALL = (V1, V2, V3)
NULLS = list(itertools.product(("", "?"), repeat=3))


@pytest.mark.parametrize(
    ("name", "first", "hub"), some_of(itertools.product(THREE, (V1, V2), ALL), 11)
)
def test_nulls_of_three_versions_come_back(
    forgetting: Callable[[Scheme], Scheme], name: str, first: str, hub: str
) -> None:
    """The rule stands between the first two versions, or the last two; each property may be null in some versions."""
    older, newer, says, *values = THREE[name]
    pairs = {f"a{number}": f"b{number}" for number in range(len(NULLS))}
    changes = {
        rule: dict(pairs) if what is None else dict.fromkeys(pairs, what)
        for rule, what in says.items()
    }
    changes |= {} if {"wrap", "unwrap"} & says.keys() else {"rename": dict(pairs)}
    types: dict[str, Any] = {}
    for at, version in enumerate(ALL):
        names, type_ = (pairs, older) if version <= first else (pairs.values(), newer)
        admitted = {each: type_ + nulls[at] for each, nulls in zip(names, NULLS, strict=True)}
        types[version] = {
            "Thing": {"n": "integer", **admitted},
            "P": {"k": "string", "v": "string"},
        }
    scheme = forgetting(evolve(types, rules(first, **changes), hub=hub))
    for (at, version), number in itertools.product(enumerate(ALL), range(len(NULLS))):
        prefix, value = ("a", values[0]) if version <= first else ("b", values[1])
        for each in (value, None) if NULLS[number][at] else (value,):
            own = {f"{prefix}{number}": each}
            store = Store(scheme).put(version, **own)
            assert store.read(version) == own, NULLS[number]
            for other in ALL:
                store.put(other, **{**store.read(other), "n": 1})
                assert store.read(version) == {**own, "n": 1}, (NULLS[number], version, other)


@pytest.mark.parametrize("hub", BOTH)
@pytest.mark.parametrize("changes", [[], [rules(V1, variant={"a": "A"})]], ids=("same", "variant"))
@pytest.mark.parametrize("around", ["[{}]?", "{{{}}}?"])
def test_null_takes_the_place_of_all_elements_also_of_those_that_its_writer_cannot_see(
    forgetting: Callable[[Scheme], Scheme], around: str, changes: list[Any], hub: str
) -> None:
    types = {V1: {"Thing": {"a": around.format("A")}, **A}}
    types[V2] = {"Thing": {"a": around.format("A|C")}, **A, **C}
    scheme = forgetting(evolve(types, *changes, hub=hub))
    for every in ([ONE_C], [ONE_A, ONE_C]):
        value: Any = every if around[0] == "[" else {each["kind"]: each for each in every}
        store = Store(scheme).put(V2, a=value).put(V1, a=None)
        assert [store.read(each) for each in BOTH] == [{"a": None}] * 2
