"""A null in one of three versions, into whose object a rule leads: its writer reads it, and so do all versions that can."""

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest
from amounts import some_of
from cases import V1, V2, V3
from evolving import Store, evolve, rules

from trundle.evolution import TypeChanges

INNER, OUTER = {"b": "string"}, {"a": "string", "b": "string"}


class Way(NamedTuple):
    """What each version has beside the object, what it has in it, and what leads there."""

    beside: tuple[Mapping[str, str], ...]
    within: tuple[Mapping[str, str] | None, ...]
    rules: tuple[TypeChanges, ...]


A = {"a": "string"}
WAYS = {
    "into the second": Way((A, {}, {}), (INNER, OUTER, OUTER), (rules(V1, move={"a": "o.a"}),)),
    "into the third": Way((A, A, {}), (INNER, INNER, OUTER), (rules(V2, move={"a": "o.a"}),)),
    "in and out again": Way(
        (A, {}, A),
        (INNER, OUTER, INNER),
        (rules(V1, move={"a": "o.a"}), rules(V2, move={"o.a": "a"})),
    ),
    "one after the other": Way(
        ({**A, "c": "string"}, {"c": "string"}, {}),
        (INNER, OUTER, {**OUTER, "c": "string"}),
        (rules(V1, move={"a": "o.a"}), rules(V2, move={"c": "o.c"})),
    ),
    "in, and something else out": Way(
        (A, {}, {"b": "string"}),
        (INNER, OUTER, A),
        (rules(V1, move={"a": "o.a"}), rules(V2, move={"o.b": "b"})),
    ),
    "into one that is new": Way((A, {}, {}), (None, OUTER, OUTER), (rules(V1, move={"a": "o.a"}),)),
}
NULLS = [each for each in itertools.product(["", "?"], repeat=3) if "?" in each[1:]]
HUBS = (V1, V2, V3)


@pytest.mark.parametrize("hub", HUBS)
@pytest.mark.parametrize("nulls", NULLS, ids="-".join)
@pytest.mark.parametrize("name", some_of(WAYS, 6))
def test_a_null_is_read_by_all_that_admit_it(
    forgetting: Any, name: str, nulls: tuple[str, ...], hub: str
) -> None:
    way = WAYS[name]
    versions: dict[str, dict[str, Any]] = {}
    for version, beside, within, null in zip(HUBS, way.beside, way.within, nulls, strict=True):
        versions[version] = {"Thing": {"n": "integer", **beside}}
        if within is not None:
            versions[version]["Thing"]["o"] = f"O{null}"
            versions[version]["O"] = within
    scheme = forgetting(evolve(versions, *way.rules, hub=hub))
    later = [version for version, null in zip(HUBS, nulls, strict=True) if null and version > V1]
    before: list[dict[str, Any] | None] = [None, {"n": 1}, {"o": {}}]
    if "b" not in way.beside[2]:  # else the second version has that in its object all the same
        before.append({"o": {"b": "1"}})
    seen = [
        (
            writer,
            first,
            [written(scheme, first, writer).read(each).get("o", "absent") for each in later],
        )
        for writer, first in itertools.product(later, before)
    ]
    assert all(value is None for _, _, values in seen for value in values), seen


def written(scheme: Any, first: dict[str, Any] | None, writer: str) -> Store:
    """What is stored once a client made an object null that was there before, or not."""
    store = Store(scheme)
    if first is None:
        return store.put(writer, o=None)
    store.put(V3 if "b" not in first.get("o", {}) else V2, **first)
    return store.put(writer, **{**store.read(writer), "o": None})


WITH_H = {
    V1: {"Thing": {"a": "string", "o": "O"}, "O": {"b": "string", "h": "string"}},
    V2: {"Thing": {"a": "string", "o": "O?"}, "O": {"b": "string"}},
    V3: {"Thing": {"o": "O?"}, "O": {"a": "string", "b": "string"}},
}
INTO_THIRD = rules(V2, move={"a": "o.a"})


@pytest.fixture(params=[*HUBS, "chosen"])
def store(request: pytest.FixtureRequest, forgetting: Any) -> Store:
    """Stored in the shape of one of three versions, one of which may be chosen at run time."""
    if request.param == "chosen":
        scheme = forgetting(evolve(WITH_H, INTO_THIRD, kept=(V1,)))
        return Store(scheme.storing({"Thing": V1}))
    return Store(forgetting(evolve(WITH_H, INTO_THIRD, hub=request.param)))


def seen(store: Store) -> list[dict[str, Any]]:
    return [store.read(each) for each in HUBS]


def test_a_null_that_a_moved_property_hides_goes_with_the_object_that_a_client_sees(
    store: Store,
) -> None:
    store.put(V2, o=None)
    assert seen(store) == [{}, {"o": None}, {"o": None}]
    store.put(V1, a="1")
    hidden = store.stored
    assert seen(store) == [{"a": "1"}, {"a": "1", "o": None}, {"o": {"a": "1"}}]
    store.put(V3, o={"a": "2"})
    assert seen(store) == [{"a": "2"}, {"a": "2", "o": None}, {"o": {"a": "2"}}]
    for version in (V2, V3):
        store.stored = hidden
        assert seen(store.put(version)) == [{}, {}, {}]
    store.stored = hidden
    assert seen(store.put(V3, o={})) == [{"o": {}}] * 3


def test_a_null_stays_where_its_object_is_rolled_to_another_stored_shape(forgetting: Any) -> None:
    """Each shape has other things in the object, and notes in an entry of the same name what it cannot have."""
    scheme = forgetting(evolve(WITH_H, INTO_THIRD, kept=(V1,)))
    ways = {V1: scheme.storing({"Thing": V1}), V3: scheme}
    for first, second in itertools.permutations(ways):
        for a in ({}, {"a": "1"}):
            store = Store(ways[first]).put(V2, o=None, **a)
            third = {"o": a or None}
            assert seen(store) == [a, {"o": None, **a}, third]
            store.scheme = ways[second]
            store.stored = ways[second].convert(store.stored)
            assert store.stored is not None
            assert store.stored["apiVersion"] == second
            assert seen(store) == [a, {"o": None, **a}, third]


NEW_OBJECT = {
    V1: {"Thing": {"a": "string"}},
    V2: {"Thing": {"o": "O"}, "O": OUTER},
    V3: {"Thing": {"o": "O?"}, "O": OUTER},
}
INTO_NEW = rules(V1, move={"a": "o.a"})


@pytest.mark.parametrize("way", ["held back", "chosen"])
def test_a_null_in_place_of_an_object_that_only_the_bag_has(forgetting: Any, way: str) -> None:
    """The bag has it in the shape of the second version, which admits no null: an earlier release can read that."""
    old = forgetting(evolve({each: NEW_OBJECT[each] for each in (V1, V2)}, INTO_NEW, hub=V1))
    new = forgetting(
        evolve(NEW_OBJECT, INTO_NEW, hub=V1)
        if way == "held back"
        else evolve(NEW_OBJECT, INTO_NEW, kept=(V1,)).storing({"Thing": V1})
    )
    store = Store(new).put(V3, o={"a": "1", "b": "2"}).put(V3, o=None)
    assert store.stored is not None
    assert store.stored["$propertyBag"] == {"o?": {V3: {"value": None, "beside": None}}}
    assert seen(store) == [{}, {}, {"o": None}]
    null = store.stored
    assert [Store(old, null).read(each) for each in (V1, V2)] == [{}, {}]
    # A release that merges in the shape of the third version has null or the object there, never both.
    for release in (old, new) if way == "held back" else (old,):
        store.stored = Store(release, null).put(V1, a="1").stored
        assert seen(store) == [{"a": "1"}, {"o": {"a": "1"}}, {"o": {"a": "1"}}]
        moved = store.stored
        assert seen(store.put(V3)) == [{}, {}, {}]
        store.stored = Store(release, moved).put(V1).stored
        assert seen(store) == [{}, {}, {"o": None}]
        store.stored = Store(release, null).put(V2, o={"b": "2"}).stored
        assert seen(store) == [{}, {"o": {"b": "2"}}, {"o": {"b": "2"}}]
        store.stored = Store(release, store.stored).put(V2, o={"a": "1"}).stored
        assert seen(store) == [{"a": "1"}, {"o": {"a": "1"}}, {"o": {"a": "1"}}]


def test_such_a_null_goes_along_from_one_stored_shape_to_another(forgetting: Any) -> None:
    scheme = forgetting(evolve(NEW_OBJECT, INTO_NEW, kept=(V1, V2)))
    ways = {each: scheme.storing({"Thing": each}) for each in HUBS}
    for chain in itertools.permutations(HUBS):
        store = Store(ways[chain[0]]).put(V3, o=None)
        for version in chain:
            store.scheme = ways[version]
            store.stored = store.scheme.convert(store.stored)
            assert store.stored is not None
            assert store.stored["apiVersion"] == version
            assert seen(store) == [{}, {}, {"o": None}], chain


@pytest.mark.parametrize("hub", [V1, V2])
@pytest.mark.parametrize(("older", "newer"), [("O?", "O?"), ("O", "O?"), ("O?", "O")])
def test_what_hides_a_null_goes_with_it_where_each_version_has_something_else_in_the_object(
    forgetting: Any, older: str, newer: str, hub: str
) -> None:
    versions = {
        V1: {"Thing": {"b": "string", "o": older}, "O": {"x": "string"}},
        V2: {"Thing": {"x": "string", "o": newer}, "O": {"b": "string"}},
    }
    changes = rules(V1, move={"b": "o.b", "o.x": "x"})
    scheme = forgetting(evolve(versions, changes, hub=hub))
    for null, other, moved in ((V1, V2, "b"), (V2, V1, "x")):
        if "?" not in versions[null]["Thing"]["o"]:
            continue
        store = Store(scheme).put(null, **{moved: "1"}, o=None)
        assert store.read(null) == {moved: "1", "o": None}
        assert store.read(other) == {"o": {moved: "1"}}
        assert store.put(other).read(other) == {}
        assert store.read(null) == {}
    for null, other, moved in ((V1, V2, "x"), (V2, V1, "b")):
        if "?" not in versions[null]["Thing"]["o"]:
            continue
        store = Store(scheme).put(null, o=None).put(other, **{moved: "1"})
        assert store.read(other) == {moved: "1"}
        assert store.read(null) == {"o": {moved: "1"}}
        assert store.put(null).read(null) == {}
        assert store.read(other) == {}


IN = {V1: "x", V2: "y", V3: "z"}
"""What each version has in its object; all else stands beside that."""
EACH_ITS_OWN = {
    version: {
        "Thing": {**{name: "string" for name in "xyz" if name != own}, "o": "O?"},
        "O": {own: "string"},
    }
    for version, own in IN.items()
}
BETWEEN = (rules(V1, move={"o.x": "x", "y": "o.y"}), rules(V2, move={"o.y": "y", "z": "o.z"}))


def shown(version: str, values: Mapping[str, str], there: dict[str, Any]) -> dict[str, Any]:
    """What a version shows of plain values: the object with its own in it, else whether it is there, or null."""
    own = IN[version]
    beside = {name: each for name, each in values.items() if name != own}
    return {**beside, "o": {own: values[own]}} if own in values else {**beside, **there}


@pytest.mark.parametrize("hub", HUBS)
@pytest.mark.parametrize("there", [{"o": None}, {"o": {}}, {}], ids=str)
def test_all_versions_read_what_one_says_of_an_object_in_which_each_has_something_else(
    forgetting: Any, there: dict[str, Any], hub: str
) -> None:
    scheme = forgetting(evolve(EACH_ITS_OWN, *BETWEEN, hub=hub))
    every = ["".join(each) for size in range(4) for each in itertools.combinations("xyz", size)]
    for first, writer, names in itertools.product(HUBS, HUBS, every):
        values = dict.fromkeys(names, "1")
        store = Store(scheme).put(first, **shown(first, values, {}))
        left = {name: each for name, each in values.items() if name != IN[writer]}
        store.put(writer, **shown(writer, left, there))
        assert [store.read(each) for each in HUBS] == [shown(each, left, there) for each in HUBS]


class Said(NamedTuple):
    """What clients have written: values, and what they last said of the object, `{}`, null or absent.

    An object that gets something of its own is as good as absent to the versions that have that beside it.
    """

    values: Mapping[str, str]
    there: Mapping[str, Any]

    def write(self, version: str, values: Mapping[str, str], there: Mapping[str, Any]) -> "Said":
        own = IN[version]
        if own in values:
            there = self.there if own in self.values else {}
        return Said(values, there)

    def seen(self) -> list[dict[str, Any]]:
        return [shown(each, self.values, dict(self.there)) for each in HUBS]


@pytest.mark.full
@pytest.mark.parametrize("hub", HUBS)
def test_writes_of_several_versions_say_of_an_object_what_a_model_says(
    forgetting: Any, hub: str
) -> None:
    versions = {
        version: {**definitions, "Thing": {**definitions["Thing"], "o": "O"}}
        for version, definitions in EACH_ITS_OWN.items()
    }
    scheme = forgetting(evolve(versions, *BETWEEN, hub=hub))
    writes = [
        (version, dict.fromkeys(names, "1"), there)
        for version, size in itertools.product(HUBS, range(4))
        for names in itertools.combinations("xyz", size)
        for there in ([{}] if IN[version] in names else [{}, {"o": {}}])
    ]
    for first in writes:
        store = Store(scheme).put(first[0], **shown(*first))
        said = Said({}, {}).write(*first)
        assert [store.read(each) for each in HUBS] == said.seen()
        stored = store.stored
        for second in writes:
            store.stored = stored
            store.put(second[0], **shown(*second))
            seen = [store.read(each) for each in HUBS]
            assert seen == said.write(*second).seen(), (first, second)
