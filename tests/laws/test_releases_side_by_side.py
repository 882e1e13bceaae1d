"""Two releases over one store: the later one stores a shape that the earlier one can read.

It does so because its hub is held back, or because that storage version is chosen when it runs.
"""

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from amounts import ALL, some_of
from cases import CASES, P2, V1, V2, V3, V4, Case, invented, thing
from evolving import Store, evolve, hooked, rules
from moving_cases import MOVES
from proving import prove, prove_side_by_side
from test_releases import RESOURCE, apart, earlier

from trundle.evolution import ChangeError
from trundle.runtime import Scheme

Take = Callable[[Scheme], Scheme]
SEEDS = range(30 if ALL else 6)


def held_back(case: Case, hub: str, take: Take) -> Scheme:
    """The newest release of a case, whose configuration says that an earlier hub is still the hub."""
    scheme = take(evolve(case.versions, *case.more, hub=hub))
    prove(
        scheme,
        RESOURCE,
        examples=8,
        hooks=case.hooks,
        hooked=case.hooked,
        renamed=case.renamed,
        apart=apart(case),
    )
    return scheme


def storing(case: Case, hub: str, take: Take) -> Scheme:
    """The newest release of a case with a hub of its own, which is set at run time to store an earlier one."""
    return take(evolve(case.versions, *case.more, kept=(hub,))).storing({RESOURCE: hub})


WAYS = {"held back": held_back, "chosen": storing}


@pytest.mark.parametrize(("name", "way"), some_of(itertools.product(CASES, WAYS), 19))
def test_releases_of_a_case_share_a_store(name: str, way: str, forgetting: Take) -> None:
    case = CASES[name]
    old = forgetting(earlier(case, len(case.versions) - 1))
    new = WAYS[way](case, old.resources[RESOURCE].hub, forgetting)
    check(case, old, new)


@pytest.mark.parametrize(
    "name", some_of((name for name, case in CASES.items() if len(case.versions) > 2), 3)
)
def test_a_release_is_rolled_back_over_several_versions(name: str, forgetting: Take) -> None:
    case = CASES[name]
    old = forgetting(earlier(case, 1))
    check(case, old, held_back(case, old.resources[RESOURCE].hub, forgetting))


@pytest.mark.parametrize("seed", SEEDS)
def test_releases_of_a_random_evolution_share_a_store(seed: int, forgetting: Take) -> None:
    case = invented(seed)
    try:
        old = forgetting(earlier(case, 1 + seed % (len(case.versions) - 1)))
        way = WAYS[list(WAYS)[seed % 2]]
        new = way(case, old.resources[RESOURCE].hub, forgetting)
    except ChangeError:
        pytest.skip("the invented renames contradict each other")
    check(case, old, new)


def check(case: Case, old: Scheme, new: Scheme) -> None:
    prove_side_by_side(
        old,
        new,
        RESOURCE,
        examples=12,
        hooks=case.hooks,
        hooked=case.hooked,
        renamed=case.renamed,
        apart=apart(case),
    )


@pytest.mark.parametrize("way", list(WAYS))
def test_what_a_move_takes_out_is_kept_once(way: str, forgetting: Take) -> None:
    versions = {
        V1: thing(a="string", h="string"),
        V2: thing(o="O", n="string") | {"O": {"a": "string", "z": "string"}},
    }
    case = Case(versions, (rules(V1, move={"a": "o.a"}),))
    old = forgetting(evolve({V1: versions[V1]}))
    store = Store(WAYS[way](case, V1, forgetting)).put(V2, o={"a": "5", "z": "Z"}, n="N")
    assert store.stored is not None
    assert store.stored["$propertyBag"]["o"][V2]["value"] == {"z": "Z"}
    store.stored = Store(old, store.stored).edit(V1, a=None).stored
    assert store.read(V2) == {"o": {"z": "Z"}, "n": "N"}


@pytest.mark.parametrize("way", list(WAYS))
def test_what_returns_in_another_shape_is_kept_in_the_one_before_the_gap(
    way: str, forgetting: Take
) -> None:
    """The stored version is in the gap, where an earlier release looks for the shape that it knows."""
    versions = {
        V1: thing(p="L") | {"L": ["Red", "Blue"]},
        V2: thing(n="string"),
        V3: thing(p="any"),
    }
    old = forgetting(evolve({each: versions[each] for each in (V1, V2)}))
    store = Store(WAYS[way](Case(versions), V2, forgetting)).put(V3, p="Red")
    assert store.read(V1) == Store(old, store.stored).read(V1) == {"p": "Red"}
    store.stored = Store(old, store.stored).edit(V1, p="Blue").stored
    assert store.read(V3) == store.read(V1) == {"p": "Blue"}
    store.edit(V3, p=[5])
    assert Store(old, store.stored).read(V1) == {}
    assert store.read(V3) == {"p": [5]}


ITEMS = {"Item": {"x": "string"}}
PLAIN = {V1: thing(s="string", l="[Item]", o="Item") | ITEMS}
NULLABLE = {version: thing(s="string?", l="[Item]?", o="Item?") | ITEMS for version in (V2, P2)}
NULLS = {"s": None, "l": None, "o": None}


@pytest.mark.parametrize(("later", "way"), [(P2, "held back"), (V2, "held back"), (V2, "chosen")])
def test_a_null_that_only_a_later_version_admits_is_kept_apart(
    later: str, way: str, forgetting: Take
) -> None:
    """A property of the stored version never has it, because an earlier release cannot read it there."""
    old = forgetting(evolve(PLAIN))
    case = Case({**PLAIN, later: NULLABLE[later]})
    store = Store(WAYS[way](case, V1, forgetting)).put(later, **NULLS)
    assert store.stored is not None
    assert store.stored.keys().isdisjoint(NULLS)
    assert store.read(later) == NULLS
    assert Store(old, store.stored).read(V1) == store.read(V1) == {}
    store.stored = Store(old, store.stored).edit(V1, s="1").stored
    assert store.read(later) == {**NULLS, "s": "1"}


@pytest.mark.parametrize("hub", [V1, V2])
def test_a_null_that_an_earlier_release_stored_where_no_version_admits_it_is_read(
    hub: str, forgetting: Take
) -> None:
    stored = {"apiVersion": V1, "kind": "Thing", **NULLS, "$writtenWith": V2}
    store = Store(forgetting(evolve({**PLAIN, V2: NULLABLE[V2]}, hub=hub)), stored)
    assert store.read(V2) == NULLS
    assert store.read(V1) == {}
    store.put(V2, **{**NULLS, "s": "1"})
    assert store.read(V2) == {**NULLS, "s": "1"}
    assert store.read(V1) == {"s": "1"}


@pytest.mark.parametrize("way", list(WAYS))
def test_a_null_in_place_of_what_a_rule_leads_into_is_kept_apart(
    way: str, forgetting: Take
) -> None:
    versions = {
        V1: thing(a="string", o="O") | {"O": {"b": "string"}},
        V2: thing(o="O?") | {"O": {"a": "string", "b": "string"}},
    }
    case = Case(versions, (rules(V1, move={"a": "o.a"}),))
    old = forgetting(evolve({V1: versions[V1]}))
    store = Store(WAYS[way](case, V1, forgetting)).put(V2, o=None)
    assert Store(old, store.stored).read(V1) == {}
    assert store.read(V2) == {"o": None}
    store.stored = Store(old, store.stored).put(V1, a="1").stored
    assert store.read(V2) == {"o": {"a": "1"}}
    store.stored = Store(old, store.stored).put(V1).stored
    assert store.read(V2) == {"o": None}
    store.stored = Store(old, store.stored).put(V1, o={"b": "2"}).stored
    assert store.read(V2) == {"o": {"b": "2"}}
    store.put(V2, o=None)
    assert store.read(V2) == {"o": None}
    assert Store(old, store.stored).read(V1) == {}


@pytest.mark.parametrize("way", list(WAYS))
@pytest.mark.parametrize("name", [each for each in MOVES if each.startswith("null is new")])
def test_releases_share_a_store_though_null_is_new_where_a_rule_leads(
    name: str, way: str, forgetting: Take
) -> None:
    case = MOVES[name]
    old = forgetting(earlier(case, 1))
    check(case, old, WAYS[way](case, V1, forgetting))


def test_a_null_object_that_an_earlier_release_stored_is_read(forgetting: Take) -> None:
    versions = {
        V1: thing(a="string", o="O") | {"O": {"b": "string"}},
        V2: thing(o="O?") | {"O": {"a": "string", "b": "string"}},
    }
    stored = {"apiVersion": V1, "kind": "Thing", "o": None, "$writtenWith": V2}
    moved = rules(V1, move={"a": "o.a"})
    store = Store(forgetting(evolve(versions, moved, hub=V1)), stored)
    assert store.read(V1) == {}
    assert store.read(V2) == {"o": None}
    store.put(V1, a="1")
    assert store.read(V2) == {"o": {"a": "1"}}


@pytest.mark.parametrize("way", list(WAYS))
@pytest.mark.parametrize("first", [V1, f"{V1}-preview"])
def test_what_goes_with_an_object_does_so_whatever_a_later_release_keeps_in_that(
    first: str, way: str, forgetting: Take
) -> None:
    """The earlier release has no bag in a type that is the same in all its versions, and carries that of the later one along."""
    versions = {
        first: thing(p="L") | {"L": ["Red", "Blue"]},
        V2: thing(p="Item?") | {"Item": {"x": "string"}},
        V3: thing(p="Item?") | {"Item": {"x": "string", "z": "string"}},
    }
    case = Case(versions)
    old = forgetting(evolve({each: versions[each] for each in (first, V2)}))
    store = Store(WAYS[way](case, V2, forgetting)).put(V3, p={"z": "Z"}).put(first, p="Red")
    both = Store(old, store.stored).read(first), store.read(first)
    assert both == ({"p": "Red"}, {"p": "Red"})
    store.stored = Store(old, store.stored).edit(first, p="Blue").stored
    both = Store(old, store.stored).read(first), store.read(first)
    assert both == ({"p": "Blue"}, {"p": "Blue"})
    assert store.read(V3) == {"p": {"z": "Z"}}
    store.edit(V3, p={"z": "other"})
    both = Store(old, store.stored).read(first), store.read(first)
    assert both == ({"p": "Blue"}, {"p": "Blue"})
    store.edit(V3, p={"x": "X"})
    both = Store(old, store.stored).read(first), store.read(first)
    assert both == ({}, {})


@pytest.mark.parametrize("way", list(WAYS))
def test_a_list_may_have_another_name_where_it_is_stored_beside_another_type(
    way: str, forgetting: Take
) -> None:
    """A list of objects that change, which a release finds beside a property of the earliest storage version."""
    versions = {
        V1: thing(p="L") | {"L": ["Red", "Blue"]},
        P2: thing(p="[Item]") | {"Item": {"name": "string"}},
        V3: thing(r="[Item]") | {"Item": {"name": "string", "z": "number"}},
    }
    case = Case(versions, (rules(P2, rename={"p": "r"}),))
    old = forgetting(earlier(case, 1))
    new = WAYS[way](case, V1, forgetting)
    store = Store(new).put(V3, r=[{"name": "a", "z": 1}])
    assert store.read(P2) == {"p": [{"name": "a"}]}
    store.edit(P2, p=[{"name": "b"}, {"name": "a"}])
    assert store.read(V3) == {"r": [{"name": "b"}, {"name": "a", "z": 1}]}
    check(case, old, new)


@pytest.mark.parametrize("way", list(WAYS))
def test_what_an_earlier_release_removes_is_gone_for_all_versions(
    way: str, forgetting: Take
) -> None:
    versions = {
        V1: thing(a="string"),
        P2: thing(a="string", p="any"),
        V3: thing(a="string", p="any"),
        V4: thing(a="string", p="integer"),
    }
    old = forgetting(evolve({each: versions[each] for each in (V1, P2)}))
    store = Store(WAYS[way](Case(versions), V1, forgetting)).put(P2, p=True)
    assert store.stored is not None
    assert store.stored["$propertyBag"] == {"p": {P2: {"value": True}}}
    assert store.read(V3) == {"p": True}
    store.stored = Store(old, store.stored).edit(P2, p=None).stored
    assert [store.read(each) for each in versions] == [{}, {}, {}, {}]


@pytest.mark.parametrize("way", list(WAYS))
def test_what_a_client_leaves_out_though_a_hook_would_write_it_is_absent(
    way: str, forgetting: Take
) -> None:
    """It is until a client of the earlier version writes what the hook reads."""
    case = CASES["hook, one way"]
    old = forgetting(earlier(case, 1))
    store = Store(WAYS[way](case, V1, forgetting)).put(V1, a="x")
    assert store.read(V2) == {"a": "x", "b": "x!"}
    assert store.edit(V2, b=None).read(V2) == {"a": "x"}
    assert Store(old, store.stored).read(V1) == {"a": "x"}
    store.stored = Store(old, store.stored).edit(V1, a="y").stored
    assert store.read(V2) == {"a": "y", "b": "y!"}


def test_what_was_left_out_in_a_later_shape_stays_so_in_the_chosen_one(forgetting: Take) -> None:
    case = CASES["hook, one way"]
    store = Store(forgetting(evolve(case.versions, *case.more, kept=(V1,)))).put(V2, a="x")
    assert store.stored is not None
    assert store.stored["apiVersion"] == V2
    chosen = Store(store.scheme.storing({RESOURCE: V1}), store.stored).edit(V2, a="y")
    assert chosen.stored is not None
    assert chosen.stored["apiVersion"] == V1
    assert chosen.read(V2) == {"a": "y"}


@pytest.mark.parametrize("way", list(WAYS))
def test_an_element_of_another_key_is_another_object_where_a_rule_unwraps_it(
    way: str, forgetting: Take
) -> None:
    """What the object of the other version has stays with it while its key does, and goes with it."""
    case = CASES["unwrap objects"]
    old = forgetting(earlier(case, 1))
    store = Store(WAYS[way](case, V1, forgetting)).put(V2, b={"name": "1", "y": "Y"})
    store.stored = Store(old, store.stored).edit(V1, a=[{"name": "1", "x": "X"}]).stored
    assert store.read(V2) == {"b": {"name": "1", "y": "Y"}}
    store.stored = Store(old, store.stored).edit(V1, a=[{"name": "2", "x": "X"}]).stored
    assert store.read(V2) == {"b": {"name": "2"}}


@pytest.mark.parametrize("way", list(WAYS))
@pytest.mark.parametrize("type_", ["string", "P", "P?"])
def test_what_neither_the_hub_nor_the_stored_version_has_is_where_an_earlier_release_looks(
    type_: str, way: str, forgetting: Take
) -> None:
    """The hub would keep it in the shape of the third version, which the earlier release does not know."""
    held = {V2: {"P": {"x": "string"}}, V3: {"P": {"x": "string", "y": "string"}}}
    versions = {
        V1: thing(n="string"),
        **{each: thing(n="string", p=type_) | held[each] for each in held},
        V4: thing(n="string"),
    }
    old = forgetting(evolve({each: versions[each] for each in (V1, V2)}, hub=V1))
    store = Store(WAYS[way](Case(versions), V1, forgetting))
    value, other = ("1", "2") if type_ == "string" else ({"x": "1"}, {"x": "2"})
    store.put(V3, p=value if type_ == "string" else {"x": "1", "y": "Y"})
    assert store.stored is not None
    assert list(store.stored["$propertyBag"]["p"]) == [V2]
    assert [Store(old, store.stored).read(each) for each in (V1, V2)] == [{}, {"p": value}]
    store.stored = Store(old, store.stored).put(V2, p=other).stored
    assert store.read(V3) == {"p": other if type_ == "string" else {"x": "2", "y": "Y"}}
    assert store.edit(V4, n="n").read(V2) == {"n": "n", "p": other}
    store.stored = Store(old, store.stored).put(V2, n="n").stored
    assert [store.read(each) for each in versions] == [{"n": "n"}] * 4
    if type_ == "P?":
        store.put(V3, p=None)
        assert [store.read(each) for each in (V2, V3)] == [{"p": None}] * 2
        assert Store(old, store.stored).read(V2) == {"p": None}


@pytest.mark.parametrize("way", list(WAYS))
def test_a_null_is_not_noted_for_an_earlier_version_that_admits_none(
    way: str, forgetting: Take
) -> None:
    inner = {"a": "string", "b": "string"}
    versions = {
        V1: thing(a="string", o="O") | {"O": {"b": "string"}},
        V2: thing(o="O") | {"O": inner},
        V3: thing(o="O?") | {"O": inner},
    }
    moved = rules(V1, move={"a": "o.a"})
    old = forgetting(evolve({each: versions[each] for each in (V1, V2)}, moved))
    store = (
        Store(WAYS[way](Case(versions, (moved,)), V2, forgetting)).put(V3, o=None).put(V1, a="1")
    )
    assert [store.read(each) for each in versions] == [
        {"a": "1"},
        {"o": {"a": "1"}},
        {"o": {"a": "1"}},
    ]
    assert [Store(old, store.stored).read(each) for each in (V1, V2)] == [
        {"a": "1"},
        {"o": {"a": "1"}},
    ]


@pytest.mark.parametrize("way", list(WAYS))
@pytest.mark.parametrize("held", ["{}", "[{}]", '{"q": {}}'])
def test_an_earlier_release_shows_what_its_version_requires_and_stores_it_not(
    held: str, way: str, forgetting: Take
) -> None:
    """Nothing that the type has changes in the earlier release; in the later one a version is added that requires less."""
    value = json.loads(held)
    type_ = {"{}": "Item", "[{}]": "[Item]"}.get(held, "{Item}")
    versions = {
        V1: thing(n="string"),
        V2: thing(n="string", p=type_) | {"Item": {"x!": "integer", "u": "string"}},
        V3: thing(n="string", p=type_) | {"Item": {"x": "integer", "u": "string", "w": "string"}},
    }
    old = forgetting(evolve({each: versions[each] for each in (V1, V2)}, hub=V1))
    store = Store(WAYS[way](Case(versions), V1, forgetting)).put(V3, p=value)
    shown = store.read(V2)
    assert shown == {"p": json.loads(held.replace("{}", '{"x": 0}'))}
    assert Store(old, store.stored).read(V2) == shown
    store.stored = Store(old, store.stored).put(V2, n="n", **shown).stored
    assert store.read(V3) == {"n": "n", "p": value}


@pytest.mark.full
@pytest.mark.parametrize("way", list(WAYS))
def test_what_goes_with_an_object_does_so_though_that_lacks_what_its_version_requires(
    way: str, forgetting: Take
) -> None:
    """The earlier release digests the object as its clients see it, and so does the later one."""
    versions = {
        V1: thing(p="L") | {"L": ["Red", "Blue"]},
        V2: thing(p="Item") | {"Item": {"i!": "Inner"}, "Inner": {"x!": "integer", "u": "string"}},
        V3: thing(p="Item") | {"Item": {"i": "Inner"}, "Inner": {"x": "integer", "w": "string"}},
    }
    case = Case(versions)
    old = forgetting(evolve({each: versions[each] for each in (V1, V2)}, hub=V2))
    store = Store(WAYS[way](case, V2, forgetting)).put(V3, p={"i": {}}).put(V1, p="Red")
    for scheme in (store.scheme, old):
        assert Store(scheme, store.stored).read(V1) == {"p": "Red"}
        assert Store(scheme, store.stored).read(V2) == {"p": {"i": {"x": 0}}}
    assert store.read(V3) == {"p": {"i": {}}}
    store.stored = Store(old, store.stored).put(V1, p="Blue").stored
    assert [store.read(V1), store.read(V3)] == [{"p": "Blue"}, {"p": {"i": {}}}]
    store.stored = Store(old, store.stored).edit(V2, p={"i": {"x": 0, "u": "U"}}).stored
    assert [store.read(V1), Store(old, store.stored).read(V1)] == [{}, {}]
    assert store.read(V3) == {"p": {"i": {}}}
    check(case, old, WAYS[way](case, V2, forgetting))


class Doubled:
    """Needs the number that its version requires."""

    def assign_from(self, source: Any) -> dict[str, Any]:
        return {"n": source.p.x + 1}


def test_a_hook_of_an_earlier_release_reads_what_its_version_requires(forgetting: Take) -> None:
    item = {"Item": {"x!": "integer", "u": "string"}}
    versions = {
        V1: thing(n="integer"),
        V2: thing(p="Item") | item,
        V3: thing(p="Item") | {"Item": {"x": "integer", "u": "string", "w": "string"}},
    }
    reading = hooked(V1, V2, Doubled, back=(("p",), ("n",)))
    old = forgetting(evolve({each: versions[each] for each in (V1, V2)}, reading, hub=V2))
    store = Store(forgetting(evolve(versions, reading, hub=V2))).put(V3, p={"w": "W"})
    assert store.read(V1) == {"n": 1}
    assert Store(old, store.stored).read(V1) == {"n": 1}
