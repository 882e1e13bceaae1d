"""Properties that leave and return in another shape: the shape before the gap is the one that is stored.

While a property is away, the store keeps it in its property bag, and every release after that reads it.
"""

import itertools
import json
from collections.abc import Mapping
from typing import Any

import pytest
from amounts import some_of
from people import ADDRESS, NUMBER, TEXT, address, known, person, stored, texts
from projects import Installation, Installer
from proving import prove, prove_release

Versions = Mapping[str, Mapping[str, Any]]


def releases(install: Installer, versions: Versions, *counts: int, **options: Any) -> Any:
    """Releases that know so many of the versions each, one after the other, under one lock."""
    found: list[Installation] = []
    for count in counts:
        files = {f"{name}.yaml": versions[name] for name in list(versions)[:count]}
        before = found[-1] if found else None
        last = {} if count < len(versions) else options
        found.append(install(files, released=before, **last))
    return found


def rules(version: str, type_: str = "Address", **changes: Any) -> dict[str, Any]:
    return {"changes": {version: {type_: changes}}}


THREE_AWAY = {
    "v1": person(address("label"), address=ADDRESS),
    "v2": person(),
    "v3": person(),
    "v4": person(),
    "v5": person(address("street", "city"), address=ADDRESS),
}


@pytest.fixture(scope="module")
def three_away(install: Installer) -> tuple[Installation, Installation]:
    before, after = releases(
        install, THREE_AWAY, 4, 5, config=rules("v1", rename={"label": "street"})
    )
    return before, after


def test_a_property_that_skips_three_versions_waits_in_the_shape_it_left_in(three_away) -> None:
    before, after = three_away
    kept = before.put(known("v1", address={"label": "Main St"}))
    assert json.loads(kept) == stored("v4", "v1", {"address": {"v1": {"label": "Main St"}}})
    assert json.loads(after.roll(kept)) == stored("v5", "v1", address={"street": "Main St"})
    assert after.read(kept, "v1") == known("v1", address={"label": "Main St"})
    for version in ("v2", "v3", "v4"):
        assert after.read(kept, version) == known(version)
    assert after.read(kept, "v5") == known("v5", address={"street": "Main St"})


def test_a_property_that_skips_three_versions_converts_both_ways(three_away) -> None:
    _, after = three_away
    one = known("v1", address={"label": "Main St"})
    two = known("v5", address={"street": "Main St", "city": "Anaheim"})
    assert after.convert(one, "v5") == known("v5", address={"street": "Main St"})
    assert after.convert(two, "v1") == one
    assert after.convert(two, "v3") == known("v3")
    kept = after.put(two)
    assert after.read(after.edit(kept, "v1", address={"label": "High St"}), "v5") == known(
        "v5", address={"street": "High St", "city": "Anaheim"}
    )
    assert after.read(after.edit(kept, "v3", name="Minnie"), "v5") == {**two, "name": "Minnie"}


def test_a_property_that_skips_three_versions_keeps_the_laws(three_away) -> None:
    before, after = three_away
    prove(after.scheme, "Person")
    prove_release(before.scheme, after.scheme, "Person")


TWICE_AWAY = {
    "v1": person(address("a"), address=ADDRESS),
    "v2": person(),
    "v3": person(address("a", "b"), address=ADDRESS),
    "v4": person(),
    "v5": person(address("b", "c"), address=ADDRESS),
}


@pytest.fixture(scope="module")
def twice_away(install: Installer) -> tuple[Installation, ...]:
    return tuple(releases(install, TWICE_AWAY, 2, 3, 4, 5))


def test_a_property_that_skips_twice_is_stored_in_the_shape_before_each_gap(twice_away) -> None:
    first, second, third, _ = twice_away
    one, two = known("v1", address={"a": "1"}), known("v3", address={"a": "1", "b": "2"})
    assert first.kept(one) == stored("v2", "v1", {"address": {"v1": {"a": "1"}}})
    assert second.kept(two) == stored("v3", "v3", address={"a": "1", "b": "2"})
    assert third.kept(one) == stored("v4", "v1", {"address": {"v3": {"a": "1"}}})
    assert third.kept(two) == stored("v4", "v3", {"address": {"v3": {"a": "1", "b": "2"}}})


def test_a_property_that_skips_twice_is_carried_from_release_to_release(twice_away) -> None:
    first, second, third, last = twice_away
    kept = first.put(known("v1", address={"a": "1"}))
    assert second.read(kept, "v3") == known("v3", address={"a": "1"})
    kept = second.edit(kept, "v3", address={"a": "1", "b": "2"})
    assert third.read(kept, "v4") == known("v4")
    kept = third.edit(kept, "v4", name="Mick")
    assert last.read(kept, "v5") == {**known("v5", address={"b": "2"}), "name": "Mick"}
    kept = last.edit(kept, "v5", address={"b": "2", "c": "3"})
    assert last.read(kept, "v1")["address"] == {"a": "1"}
    assert last.read(kept, "v3")["address"] == {"a": "1", "b": "2"}
    assert last.read(kept, "v5")["address"] == {"b": "2", "c": "3"}


def test_what_the_first_release_stored_is_read_by_each_later_one(twice_away) -> None:
    kept = twice_away[0].put(known("v1", address={"a": "1"}))
    for release in twice_away:
        assert release.read(kept, "v1") == known("v1", address={"a": "1"})
        assert release.read(release.roll(kept), "v1") == known("v1", address={"a": "1"})
    assert twice_away[-1].read(kept, "v5") == known("v5", address={})


def test_a_property_that_skips_twice_keeps_the_laws(twice_away) -> None:
    prove(twice_away[-1].scheme, "Person")
    for before, after in itertools.pairwise(twice_away):
        prove_release(before.scheme, after.scheme, "Person")
    prove_release(twice_away[0].scheme, twice_away[-1].scheme, "Person")


TWO_SHAPES = {
    "v1": person(address("label"), home=ADDRESS, work=ADDRESS),
    "v2": person(address("label", "floor"), work=ADDRESS),
    "v3": person(),
    "v4": person(address("label", "floor", "city"), home=ADDRESS, work=ADDRESS),
}


@pytest.mark.full
def test_two_properties_of_one_type_wait_in_the_shape_that_each_had(install) -> None:
    before, after = releases(install, TWO_SHAPES, 3, 4)
    document = known("v1", home={"label": "Oak St"}, work={"label": "Main St"})
    kept = before.put(document)
    bag = {"home": {"v1": {"label": "Oak St"}}, "work": {"v2": {"label": "Main St"}}}
    assert json.loads(kept) == stored("v3", "v1", bag)
    kept = before.edit(kept, "v2", work={"label": "Main St", "floor": "4"})
    assert after.read(kept, "v1") == document
    assert after.read(kept, "v2") == known("v2", work={"label": "Main St", "floor": "4"})
    assert after.read(kept, "v4") == known(
        "v4", home={"label": "Oak St"}, work={"label": "Main St", "floor": "4"}
    )
    kept = after.edit(kept, "v4", home={"label": "Oak St", "floor": "1", "city": "Anaheim"})
    assert after.read(kept, "v1") == document
    prove(after.scheme, "Person")
    prove_release(before.scheme, after.scheme, "Person")


@pytest.mark.full
def test_a_property_that_returns_under_another_name_is_the_same(install) -> None:
    versions = {
        "v1": person(address("label", "code"), residence=ADDRESS),
        "v2": person(),
        "v3": person(address("label", "city"), home=ADDRESS),
    }
    config = rules("v1", "Person", rename={"residence": "home"})
    before, after = releases(install, versions, 2, 3, config=config)
    kept = before.put(known("v1", residence={"label": "Main St", "code": "1"}))
    bag = {"residence": {"v1": {"label": "Main St", "code": "1"}}}
    assert json.loads(kept) == stored("v2", "v1", bag)
    assert after.read(kept, "v2") == known("v2")
    assert after.read(kept, "v3") == known("v3", home={"label": "Main St"})
    kept = after.edit(kept, "v3", home={"label": "High St", "city": "Anaheim"})
    assert after.read(kept, "v1") == known("v1", residence={"label": "High St", "code": "1"})
    assert after.read(kept, "v3") == known("v3", home={"label": "High St", "city": "Anaheim"})
    prove(after.scheme, "Person", renamed={"residence": "home"})
    prove_release(before.scheme, after.scheme, "Person")


def variants(*more: str) -> dict[str, Any]:
    """Ways to reach a person: by mail or by phone; the newer ones know more."""
    return {
        name: {
            "type": "object",
            "properties": {"by": {"const": name.lower()}, **dict.fromkeys((text, *more), TEXT)},
            "required": ["by"],
        }
        for name, text in (("Mail", "box"), ("Phone", "number"))
    }


REACH = {"oneOf": [{"$ref": "#/$defs/Mail"}, {"$ref": "#/$defs/Phone"}]}
LIST = {"type": "array", "items": ADDRESS}
MAP = {"type": "object", "additionalProperties": ADDRESS}

SHAPES: dict[str, tuple[Any, Any, Any, Any, Any]] = {
    # what has it before and after, the value before, as seen after, and as edited there
    "list": (
        (LIST, address("name", "label")),
        (LIST, address("name", "city")),
        [{"name": "home", "label": "Oak St"}, {"name": "work", "label": "Main St"}],
        [{"name": "home"}, {"name": "work"}],
        [{"name": "work", "city": "Anaheim"}, {"name": "home"}],
    ),
    "map": (
        (MAP, address("label", "floor")),
        (MAP, address("label", "city")),
        {"home": {"label": "Oak St"}, "work": {"label": "Main St", "floor": "4"}},
        {"home": {"label": "Oak St"}, "work": {"label": "Main St"}},
        {"home": {"label": "Oak St"}, "work": {"label": "Main St", "city": "Anaheim"}},
    ),
    "list of lists": (
        ({"type": "array", "items": LIST}, address("name", "label")),
        ({"type": "array", "items": LIST}, address("name", "city")),
        [[{"name": "home", "label": "Oak St"}], []],
        [[{"name": "home"}], []],
        [[{"name": "home", "city": "Anaheim"}], []],
    ),
    "map of lists": (
        ({"type": "object", "additionalProperties": LIST}, address("name", "label")),
        ({"type": "object", "additionalProperties": LIST}, address("name", "city")),
        {"all": [{"name": "home", "label": "Oak St"}]},
        {"all": [{"name": "home"}]},
        {"all": [{"name": "home", "city": "Anaheim"}]},
    ),
    "union": (
        (REACH, variants("note")),
        (REACH, variants("hours")),
        {"by": "phone", "number": "555", "note": "loud"},
        {"by": "phone", "number": "555"},
        {"by": "phone", "number": "555", "hours": "9-5"},
    ),
    "list of unions": (
        ({"type": "array", "items": REACH}, variants("note")),
        ({"type": "array", "items": REACH}, variants("hours")),
        [{"by": "phone", "number": "555", "note": "loud"}, {"by": "mail", "box": "7"}],
        [{"by": "phone", "number": "555"}, {"by": "mail", "box": "7"}],
        [{"by": "phone", "number": "555", "hours": "9-5"}, {"by": "mail", "box": "7"}],
    ),
    "scalar": ((NUMBER, {}), ({"type": "number"}, {}), 7, 7, 7.5),
    "text": ((TEXT, {}), (TEXT, {}), "a", "a", "b"),
    "enum": (
        ({"type": "string", "enum": ["Gold", "Silver"]}, {}),
        (TEXT, {}),
        "Gold",
        "Gold",
        "Silver",
    ),
}


@pytest.mark.parametrize("shape", some_of(SHAPES, 2))
def test_whatever_leaves_and_returns_is_kept(install, shape: str) -> None:
    (old, old_defs), (new, new_defs), value, seen, edited = SHAPES[shape]
    versions = {"v1": person(old_defs, it=old), "v2": person(), "v3": person(new_defs, it=new)}
    before, after = releases(install, versions, 2, 3)
    kept = before.put(known("v1", it=value))
    assert json.loads(kept) == stored("v2", "v1", {"it": {"v1": value}})
    assert after.read(kept, "v1") == known("v1", it=value)
    assert after.read(kept, "v2") == known("v2")
    assert after.read(kept, "v3") == known("v3", it=seen)
    assert after.convert(known("v1", it=value), "v3") == known("v3", it=seen)
    kept = after.edit(kept, "v3", it=edited)
    assert after.read(kept, "v3") == known("v3", it=edited)
    kept = after.edit(kept, "v3", it=seen)
    assert after.read(kept, "v3") == known("v3", it=seen)
    assert after.read(kept, "v1") == known("v1", it=value)
    prove(after.scheme, "Person")
    prove_release(before.scheme, after.scheme, "Person")


NOT_EXACT: dict[str, tuple[Any, Any, dict[str, Any], Any, Any]] = {
    # the rule, what has it before and after, and a value of either side that the rule leads between
    "values": ({"values": {"it": {"red": "warm"}}}, TEXT, {"it": TEXT}, "red", "warm"),
    "convert": ({"convert": {"it": "integer-to-string"}}, NUMBER, {"it": TEXT}, 7, "7"),
    "wrap": ({"wrap": ["it"]}, TEXT, {"it": {"type": "array", "items": TEXT}}, "a", ["a"]),
    "unwrap": ({"unwrap": ["it"]}, {"type": "array", "items": TEXT}, {"it": TEXT}, ["a"], "a"),
    "wrap and rename": (
        {"wrap": {"it": "all"}},
        TEXT,
        {"all": {"type": "array", "items": TEXT}},
        "a",
        ["a"],
    ),
    "free-form": ({}, TEXT, {"it": {}}, "a", "a"),
    "number to integer": ({}, {"type": "number"}, {"it": NUMBER}, 7, 7),
}


@pytest.mark.parametrize(
    ("case", "preview"), some_of(itertools.product(NOT_EXACT, [False, True]), 3)
)
def test_a_conversion_that_is_not_exact_reaches_over_a_gap(
    install, case: str, preview: bool
) -> None:
    rule, old, returning, value, expected = NOT_EXACT[case]
    ((name, _),) = returning.items()
    newest = "v4beta1" if preview else "v4"
    versions = {
        "v1": person(it=old),
        "v2": person(),
        "v3": person(),
        newest: person(**returning),
    }
    config = rules("v1", "Person", **rule) if rule else None
    before, after = releases(install, versions, 3, 4, config=config)
    kept = before.put(known("v1", it=value))
    assert json.loads(kept) == stored("v3", "v1", {"it": {"v1": value}})
    for each in (kept, after.roll(kept), after.put(known("v1", it=value))):
        assert after.read(each, "v1") == known("v1", it=value)
        assert after.read(each, newest) == known(newest, **{name: expected})
    kept = after.put(known(newest, **{name: expected}))
    assert after.read(kept, "v1") == known("v1", it=value)
    assert after.read(after.edit(kept, "v2", name="Mick"), "v1")["it"] == value
    renamed = {"it": name}
    prove(after.scheme, "Person", renamed=renamed)
    prove_release(before.scheme, after.scheme, "Person")


@pytest.mark.full
@pytest.mark.parametrize(
    "between",
    [TEXT, NUMBER, LIST, {"$ref": "#/$defs/Stars"}],
    ids=["text", "number", "list", "object"],
)
def test_an_unrelated_type_in_between_is_a_gap(install, between: dict[str, Any]) -> None:
    value = {"string": "x", "integer": 5, "array": [{"label": "y"}], None: {"count": "5"}}[
        between.get("type")
    ]
    versions = {
        "v1": person(address("label", "floor"), address=ADDRESS),
        "v2": person(address("label"), texts("Stars", "count"), address=between),
        "v3": person(address("label", "city"), address=ADDRESS),
    }
    before, after = releases(install, versions, 2, 3)
    kept = before.put(known("v1", address={"label": "Main St", "floor": "4"}))
    entry = json.loads(kept)["$propertyBag"]["address"]["v1"]
    assert entry["value"] == {"label": "Main St", "floor": "4"}
    assert after.read(kept, "v2") == known("v2")
    assert after.read(kept, "v3") == known("v3", address={"label": "Main St"})
    kept = after.edit(kept, "v2", address=value)
    assert after.read(kept, "v2") == known("v2", address=value)
    kept = after.edit(kept, "v3", address={"label": "High St", "city": "Anaheim"})
    assert after.read(kept, "v1") == known("v1", address={"label": "High St", "floor": "4"})
    assert after.read(kept, "v3")["address"] == {"label": "High St", "city": "Anaheim"}
    prove(after.scheme, "Person")
    prove_release(before.scheme, after.scheme, "Person")


HOOK = """
from trundle.runtime import hook


class Lines:
    @hook(reads=("label",), writes=("city", "street"))
    def assign_to(self, source, /):
        street, _, city = source.label.partition(", ")
        return {"street": street, "city": city}

    @hook(reads=("city", "street"), writes=("label",))
    def assign_from(self, source, /):
        return {"label": f"{source.street or ''}, {source.city or ''}"}
"""


@pytest.mark.full
@pytest.mark.parametrize(
    ("type_", "around"),
    [
        (ADDRESS, lambda value: value),
        (LIST, lambda value: [value]),
        (MAP, lambda value: {"home": value}),
        ({"type": "object", "additionalProperties": LIST}, lambda value: {"all": [value]}),
    ],
    ids=["object", "list", "map", "map of lists"],
)
def test_a_hook_stands_between_the_shape_before_the_gap_and_the_returning_version(
    install, type_: dict[str, Any], around: Any
) -> None:
    versions = {
        "v1": person(address("label"), address=type_),
        "v2": person(),
        "v3": person(),
        "v4": person(address("street", "city"), address=type_),
        "v5": person(address("street", "city", "country"), address=type_),
    }
    hooks = {"hooks": [{"type": "Address", "between": ["v1", "v4"], "use": "HOOKS:Lines"}]}
    before, after = releases(install, versions, 3, 5, config=hooks, code=HOOK)
    one = known("v1", address=around({"label": "Main St, Anaheim"}))
    kept = before.put(one)
    assert json.loads(kept) == stored("v3", "v1", {"address": {"v1": one["address"]}})
    new = known("v5", address=around({"street": "Main St", "city": "Anaheim"}))
    assert after.read(kept, "v5") == new
    assert after.read(kept, "v4") == {**new, "apiVersion": "v4"}
    assert after.read(kept, "v1") == one
    assert after.convert(one, "v5") == new
    assert after.convert(new, "v1") == one
    moved = around({"street": "High St", "city": "Anaheim"})
    kept = after.edit(kept, "v5", address=moved)
    assert after.read(kept, "v1") == known("v1", address=around({"label": "High St, Anaheim"}))
    prove(after.scheme, "Person", hooks=True)
    prove_release(before.scheme, after.scheme, "Person")


@pytest.mark.full
def test_a_version_that_is_served_no_more_lives_on_in_compat(install) -> None:
    config = {**rules("v1", rename={"label": "street"}), "horizon": {"ga": 2}}
    before, after = releases(install, THREE_AWAY, 4, 5, config=config)
    assert before.scheme.served == ("v1", "v2", "v3", "v4")
    assert after.scheme.served == ("v4", "v5")
    assert after.module("compat.v1").Address(label="x").label == "x"
    with pytest.raises(ModuleNotFoundError):
        after.module("v1")
    kept = before.put(known("v1", address={"label": "Main St"}))
    assert after.read(kept, "v5") == known("v5", address={"street": "Main St"})
    assert after.read(kept, "v1") == known("v1", address={"label": "Main St"})
    moved = known("v1", address={"label": "High St"})
    assert after.read(after.put(moved, kept), "v5") == known("v5", address={"street": "High St"})
    prove(after.scheme, "Person")
    prove_release(before.scheme, after.scheme, "Person")


@pytest.mark.full
def test_a_preview_of_the_returning_version_stores_the_shape_before_the_gap(install) -> None:
    versions = {
        "v1": person(address("label", "floor"), address=ADDRESS),
        "v2": person(),
        "v3beta1": person(address("label", "city"), address=ADDRESS),
        "v3": person(address("label", "city", "country"), address=ADDRESS),
    }
    before, after = releases(install, versions, 3, 4)
    document = known("v3beta1", address={"label": "Main St", "city": "Anaheim"})
    kept = before.put(document)
    assert json.loads(kept)["apiVersion"] == "v2"
    assert list(json.loads(kept)["$propertyBag"]["address"]) == ["v1"]
    assert before.read(kept, "v3beta1") == document
    assert after.read(kept, "v3beta1") == document
    assert after.read(kept, "v3") == {**document, "apiVersion": "v3"}
    assert after.read(kept, "v1") == known("v1", address={"label": "Main St"})
    prove(before.scheme, "Person")
    prove(after.scheme, "Person")
    prove_release(before.scheme, after.scheme, "Person")


def test_an_entry_that_cannot_be_read_is_an_error_and_stays(install) -> None:
    from trundle.runtime import ConversionError

    before, after = releases(install, THREE_AWAY, 4, 5)
    damaged = stored("v4", "v1", {"address": {"v1": {"label": 5}}})
    data = json.dumps(damaged).encode()
    with pytest.raises(ConversionError, match="address") as error:
        after.read(data, "v5")
    for part in ("v1", "v4", "$"):
        assert part in str(error.value)
    assert json.loads(before.edit(data, "v4", name="Minnie")) == {
        **damaged,
        "name": "Minnie",
        "$writtenWith": "v4",
    }
