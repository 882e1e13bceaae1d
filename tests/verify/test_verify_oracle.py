"""What the oracle says of small documents, and that it knows nothing of plans."""

import ast
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cases import A2, LEVEL, V1, V2, V3, A, B, C, thing
from evolving import evolution, hooked, rules
from verify_projects import proved

from trundle.evolution import TypeChanges
from trundle.verify import oracle
from trundle.verify._broken import MISSING, spoken, tree
from trundle.verify._parts import part_of, world_of
from trundle.verify.oracle import ANY, Edited, Either, World, after_edit, disagreements

Versions = dict[str, Any]


def world(versions: Versions, *more: TypeChanges) -> World:
    made = evolution(versions, *more)
    (resource,) = made.resources
    return world_of(part_of(made, resource), resource.versions.hub.text)


def as_tree(version: str, members: dict[str, Any]) -> Any:
    return tree(msgspec.json.encode({"apiVersion": version, "kind": "Thing", **members}))


def shown(known: World, source: str, target: str, **members: Any) -> Any:
    found = oracle.shown_document(known, as_tree(source, members), source, target)
    assert found.pop("apiVersion") == target
    assert found.pop("kind") == "Thing"
    return found


def test_it_shares_nothing_with_what_makes_conversions() -> None:
    folder = Path(oracle.__file__).parent
    imported = set()
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                imported.add(node.module)
            elif isinstance(node, ast.Import):
                imported |= {each.name for each in node.names}
    rooms = {name for name in imported if name and name.startswith("trundle.")}
    own = {name for name in rooms if name.startswith("trundle.verify.oracle")}
    assert rooms - own == {"trundle.schema", "trundle.version", "trundle.verify._broken"}


E = {"E": {"type!": "TE", "name!": "N", "x": "string"}, "TE": ["auditing"], "N": ["default"]}
F = {"F": {"type!": "TF", "name!": "N", "y": "string"}, "TF": ["assessments"], "N": ["default"]}
AUDIT = {"type": "auditing", "name": "default", "x": "1"}
OBJECT = {"O": {"a": "integer", "b": "integer"}}

SHOWN: dict[str, tuple[Versions, tuple[TypeChanges, ...], dict[str, Any], dict[str, Any]]] = {
    "same name and type": (
        {V1: thing(a="string", b="integer"), V2: thing(a="string")},
        (),
        {"a": "x", "b": 1},
        {"a": "x"},
    ),
    "another kind": ({V1: thing(a="string"), V2: thing(a="integer")}, (), {"a": "1"}, {}),
    "whole numbers": (
        {V1: thing(a="number", b="number"), V2: thing(a="integer", b="integer")},
        (),
        {"a": 3, "b": 2.5},
        {"a": 3},
    ),
    "rename, and a namesake that stays behind": (
        {V1: thing(a="string", b="string"), V2: thing(b="string")},
        (rules(V1, rename={"a": "b"}),),
        {"a": "x", "b": "y"},
        {"b": "x"},
    ),
    "keep": (
        {V1: thing(a="string"), V2: thing(a="string")},
        (rules(V1, keep=("a",)),),
        {"a": "x"},
        {},
    ),
    "values": (
        {V1: thing(a="L") | LEVEL, V2: thing(a="M") | {"M": ["au", "ag"]}},
        (rules(V1, values={"a": {"Gold": "au"}}),),
        {"a": "Gold"},
        {"a": "au"},
    ),
    "enum text of another letter case": (
        {V1: thing(a="string"), V2: thing(a="L") | LEVEL},
        (),
        {"a": "gOLD"},
        {"a": "Gold"},
    ),
    "enum text that another enum spells otherwise": (
        {V1: thing(a="L") | {"L": ["GOLD", "Tin"]}, V2: thing(a="L") | LEVEL},
        (),
        {"a": "gold"},
        {"a": "Gold"},
    ),
    "unknown enum text": (
        {V1: thing(a="string"), V2: thing(a="L") | LEVEL},
        (),
        {"a": "Tin"},
        {"a": "Tin"},
    ),
    "a duration": (
        {V1: thing(a="string"), V2: thing(a="integer")},
        (rules(V1, convert={"a": "duration-to-seconds"}),),
        {"a": "PT1H30M"},
        {"a": 5400},
    ),
    "wrap": (
        {V1: thing(a="string"), V2: thing(b="[string]")},
        (rules(V1, wrap={"a": "b"}),),
        {"a": "x"},
        {"b": ["x"]},
    ),
    "unwrap": (
        {V1: thing(a="[string]"), V2: thing(a="string")},
        (rules(V1, unwrap={"a": "a"}),),
        {"a": ["x", "y"]},
        {"a": "x"},
    ),
    "unwrap a list that may be null": (
        {V1: thing(a="[string]?"), V2: thing(b="string")},
        (rules(V1, unwrap={"a": "b"}),),
        {"a": ["x", "y"]},
        {"b": "x"},
    ),
    "move beside what is required and not there": (
        {
            V1: thing(a="string", b="string?"),
            V2: thing(o="O") | {"O": {"a!": "string", "b!": "string?"}},
        },
        (rules(V1, move={"a": "o.a", "b": "o.b"}),),
        {"a": "x"},
        {"o": {"a": "x", "b": None}},
    ),
    "several moves into one object": (
        {V1: thing(a="integer", b="integer"), V2: thing(o="O") | OBJECT},
        (rules(V1, move={"a": "o.a", "b": "o.b"}),),
        {"a": 1, "b": 2},
        {"o": {"a": 1, "b": 2}},
    ),
    "several moves out of one object": (
        {V1: thing(o="O") | OBJECT, V2: thing(a="integer", b="integer")},
        (rules(V1, move={"o.a": "a", "o.b": "b"}),),
        {"o": {"a": 1, "b": 2}},
        {"a": 1, "b": 2},
    ),
    "a deep move with another name and values": (
        {
            V1: thing(s="S") | {"S": {"t": "T"}, "T": {"m": "string"}},
            V2: thing(r="R") | {"R": {"mode": "string"}},
        },
        (rules(V1, move={"s.t.m": "r.mode"}, values={"s.t.m": {"on": "Always"}}),),
        {"s": {"t": {"m": "on"}}},
        {"r": {"mode": "Always"}},
    ),
    "variants in another order, with a constant that both have": (
        {V1: thing(u="[E|F]") | E | F, V2: thing(u="[F|E]") | E | F},
        (),
        {"u": [AUDIT]},
        {"u": [AUDIT]},
    ),
    "variants that the target lacks": (
        {V1: thing(u="[A|B]") | A | B, V2: thing(u="[A|C]") | A2 | C},
        (),
        {"u": [{"kind": "b"}, {"kind": "a", "x": "1"}]},
        {"u": [{"kind": "a", "x": "1"}]},
    ),
    "a union that becomes free-form data": (
        {V1: thing(u="A|B") | A | B, V2: thing(u="any")},
        (),
        {"u": {"kind": "b"}},
        {"u": {"kind": "b"}},
    ),
    "lists and maps in their order": (
        {V1: thing(l="[string]", m="{integer}"), V2: thing(l="[string]", m="{number}")},
        (),
        {"l": ["b", "a"], "m": {"z": 1, "a": 2}},
        {"l": ["b", "a"], "m": {"z": 1, "a": 2}},
    ),
    "a required value that is absent": (
        {V1: thing(), V2: {"Thing": {"a!": "integer", "b!": ("string", "dd"), "c!": "[string]"}}},
        (),
        {},
        {"a": 0, "b": "dd", "c": []},
    ),
    "a configured default": (
        {V1: thing(), V2: {"Thing": {"a!": "string"}}},
        (rules(V2, default={"a": "west"}),),
        {},
        {"a": "west"},
    ),
    "a gap": (
        {V1: thing(a="string"), V2: thing(), V3: thing(a="string")},
        (),
        {"a": "x"},
        {"a": "x"},
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_it_says_what_a_version_shows(name: str) -> None:
    versions, more, document, expected = SHOWN[name]
    found = shown(world(versions, *more), V1, max(versions), **document)
    wanted = tree(msgspec.json.encode(expected))
    assert list(disagreements(found, wanted)) == [], spoken(wanted)
    missing = next(disagreements(found, {**wanted, "more": "x"}), None)
    assert missing is not None
    assert missing.path == ("more",)


@pytest.mark.parametrize("declaring", [V1, V2])
def test_metadata_is_shown_as_it_is_where_only_one_version_declares_it(declaring: str) -> None:
    versions = {version: thing(a="string") for version in (V1, V2)}
    versions[declaring] = {**thing(a="string", metadata="M"), "M": {"name": "string"}}
    known = world(versions)
    for source, target in ((V1, V2), (V2, V1)):
        found = shown(known, source, target, a="1", metadata={"name": "n", "labels": {"l": "1"}})
        assert found == {"a": "1", "metadata": {"name": "n", "labels": {"l": "1"}}}


class Tiers:
    def assign_to(self, source: Any) -> dict[str, Any]:
        return {"metadata_labels_tier": str(source.level)}

    def assign_from(self, source: Any) -> dict[str, Any]:
        return {"level": int(source.metadata_labels_tier)}


@pytest.mark.parametrize("metadata", [0, "odd", [], None, {}])
def test_metadata_without_labels_may_stay_as_it_is_beside_a_hook_that_writes_one(
    metadata: Any,
) -> None:
    label = "metadata.labels[tier]"
    versions = {V1: thing(a="string", level="integer"), V2: thing(a="string")}
    writes = hooked(V1, V2, Tiers, to=(("level",), (label,)), back=((label,), ("level",)))
    known = world_of(part_of(made := evolution(versions, writes), made.resources[0]), V2)
    assert shown(known, V1, V1, a="1", metadata=metadata)["metadata"] is ANY


def test_it_is_silent_where_a_version_on_the_way_cannot_express_a_value() -> None:
    known = world({V1: thing(a="number"), V2: thing(a="integer"), V3: thing(a="number")})
    assert shown(known, V1, V3, a=2.5) == {"a": ANY}
    assert shown(known, V1, V3, a=2) == {"a": tree(b"2")}


def test_text_that_two_enums_spell_alike_may_stay_as_it_is_written() -> None:
    known = world({V1: thing(a="L") | LEVEL, V2: thing(a="L") | {"L": ["Gold", "Tin"]}})
    assert shown(known, V1, V2, a="gold") == {"a": Either(("Gold", "gold"))}
    assert shown(known, V1, V2, a="tin") == {"a": "Tin"}


def test_just_one_of_several_variants_meets_an_object_by_name() -> None:
    known = world(
        {
            V1: thing(u="P|Q") | {"P": {"t!": "TP"}, "TP": ["p"], "Q": {"t!": "TQ"}, "TQ": ["q"]},
            V2: thing(u="R") | {"R": {"t": "any"}},
        },
        rules(V1, "P", rename_type="R"),
        rules(V1, "Q", rename_type="R"),
    )
    assert shown(known, V1, V2, u={"t": "p"}) == {"u": ANY}
    alone = world(
        {V1: thing(u="R") | {"R": {"t": "string"}}, V2: thing(u="R") | {"R": {"t": "any"}}}
    )
    assert shown(alone, V1, V2, u={"t": "p"}) == {"u": {"t": "p"}}


def test_what_only_has_the_name_of_a_property_does_not_come_from_it() -> None:
    known = world(
        {
            V1: thing(a="P", b="Q") | {"P": {"l": "[string]"}, "Q": {"l": "[string]"}},
            V2: thing(a="R", b="Q") | {"R": {"l": "[string]"}, "Q": {"l": "[string]"}},
        }
    )
    assert not oracle.leads_to(known, V1, V2, ("a", "l"))
    assert oracle.leads_to(known, V1, V2, ("b", "l"))


def test_text_by_which_elements_are_found_may_stay_as_it_is_written() -> None:
    known = world({V1: thing(name="L") | LEVEL, V2: thing(name="L") | {"L": ["Gold", "Tin"]}})
    assert shown(known, V1, V2, name="tin") == {"name": Either(("Tin", "tin"))}


def test_the_text_of_a_discriminator_never_changes() -> None:
    known = world({V1: thing(u="[E|F]") | E | F, V2: thing(u="[F|E]") | E | F})
    document = as_tree(V1, {"u": [AUDIT]})
    swapped = as_tree(V2, {"u": [{"type": "assessments", "name": "default"}]})
    found = list(oracle.changed_discriminators(known, document, V1, swapped, V2))
    assert found == [(".u[].type", "assessments")]
    same = as_tree(V2, {"u": [AUDIT]})
    assert list(oracle.changed_discriminators(known, document, V1, same, V2)) == []


def after(
    known: World,
    seen: dict[str, Any],
    edited: dict[str, Any],
    before: dict[str, Any],
    editor: str = V2,
    observer: str = V1,
) -> Any:
    trees = [tree(msgspec.json.encode(each)) for each in (seen, edited, before, {}, {})]
    found = after_edit(known, Edited(*trees), editor, observer)
    return {name: each for name, each in found.items() if name not in known.names(observer)}


def test_an_edit_makes_the_namesake_of_what_it_touched_stale() -> None:
    known = world({V1: thing(a="string", b="string"), V2: thing(a="integer", b="string")})
    found = after(known, {"b": "x"}, {"a": 3, "b": "x"}, {"a": "old", "b": "x"})
    assert found == {"b": "x"}
    kept = after(known, {"b": "x"}, {"b": "y"}, {"a": "old", "b": "x"})
    assert kept == {"a": "old", "b": "y"}


def test_what_has_the_name_of_what_a_rule_leads_elsewhere_stays() -> None:
    known = world(
        {V1: thing(a="string", b="string"), V2: thing(b="string")}, rules(V1, rename={"a": "b"})
    )
    found = after(known, {"b": "x"}, {"b": "y"}, {"a": "x", "b": "z"})
    assert found == {"a": "y", "b": "z"}


class Sizes:
    def assign_to(self, source: Any) -> dict[str, Any]:
        return {"rollout__limits__max_size": source.size}

    def assign_from(self, source: Any) -> dict[str, Any]:
        return {"size": source.rollout__limits__max_size}


SIZES = {
    V1: thing(size="integer", k="string"),
    V2: {
        **thing(rollout="R", k="string"),
        "R": {"limits": "L"},
        "L": {"maxSize": "integer", "z": "string"},
    },
}
OWNED = (("size",), ("rollout.limits.maxSize",))
OWNS_ONE = hooked(V1, V2, Sizes, to=OWNED, back=OWNED[::-1])


def test_an_edit_of_what_a_hook_owns_leaves_what_stands_beside_it() -> None:
    part = part_of(made := evolution(SIZES, OWNS_ONE), made.resources[0])
    known = world_of(part, V2)

    def edited(seen: Any, written: Any, before: Any, was: Any, fresh: Any) -> Any:
        trees = [tree(msgspec.json.encode(each)) for each in (seen, written, before, was, fresh)]
        found = after_edit(known, Edited(*trees), V1, V2)
        return {name: each for name, each in found.items() if name not in known.names(V2)}

    def limits(**members: Any) -> Any:
        return {"rollout": {"limits": members}}

    def agrees(expected: Any, found: Any) -> bool:
        return next(disagreements(expected, tree(msgspec.json.encode(found))), None) is None

    changed = edited(
        {"size": 1}, {"size": 2}, limits(maxSize=1, z="a"), limits(maxSize=1), limits(maxSize=2)
    )
    assert agrees(changed, limits(maxSize=2, z="a"))
    assert not agrees(changed, limits(maxSize=2))
    assert not agrees(changed, limits(maxSize=1, z="a"))
    removed = edited({"size": 1}, {}, limits(maxSize=1, z="a"), limits(maxSize=1), {})
    assert agrees(removed, limits(z="a"))
    assert not agrees(removed, limits(maxSize=1, z="a"))
    assert not agrees(removed, {})
    emptied = edited({"size": 1}, {}, limits(maxSize=1), limits(maxSize=1), {})
    assert all(agrees(emptied, each) for each in ({}, {"rollout": {}}, limits()))
    added = edited({}, {"size": 2}, {}, {}, limits(maxSize=2))
    assert agrees(added, limits(maxSize=2))
    assert not agrees(added, limits(maxSize=3))
    apart = edited({}, {"size": 2}, limits(z="a"), {}, limits(maxSize=2))
    assert agrees(apart, limits(maxSize=2, z="a"))
    assert not agrees(apart, limits(maxSize=2))


def test_a_hook_that_owns_one_of_several_properties_keeps_all_laws() -> None:
    proofs = proved(evolution(SIZES, OWNS_ONE), examples=0)
    assert [found for proof in proofs for found in proof.findings] == []


def test_an_edit_of_the_other_side_of_a_lossy_rule_is_derived_anew() -> None:
    known = world({V1: thing(a="[string]"), V2: thing(a="string")}, rules(V1, unwrap={"a": "a"}))
    changed = after(known, {"a": "x"}, {"a": "z"}, {"a": "w"})
    assert changed == {"a": ["z"]}


@pytest.mark.parametrize("path", ["o.d", "d"])
def test_what_another_version_has_outside_of_a_removed_object_may_be_shown_inside(path) -> None:
    middle = thing(s="S", t="S") | {"S": {"m": "string", "d": "string"}}
    newest = thing(s="S", t="S", o="O", d="string") | {"S": {"m": "string"}, "O": {"d": "string"}}
    known = world(
        {
            V1: thing(s="S", t="S") | {"S": {"m": "string"}},
            V2: middle,
            V3: middle,
            "2023-01-01": newest,
        },
        rules(V3, move={"s.d": path}),
    )
    seen = {"s": {"m": "x"}, "t": {"m": "x"}}
    before = {"s": {"m": "x", "d": "y"}, "t": {"m": "x", "d": "y"}}
    found = after(known, seen, {}, before, V1, V2)
    assert found == {"s": ANY}
    assert after(known, seen, {"s": {"m": "x"}}, before, V1, V2) == {"s": before["s"]}


def test_what_may_be_missing_is_no_disagreement() -> None:
    assert list(disagreements(Either((MISSING, "a")), MISSING)) == []
    assert list(disagreements({"a": ANY}, {})) == []
    assert [each.path for each in disagreements({"a": [ANY, "x"]}, {"a": ["y", "z"]})] == [("a", 1)]
    assert [each.path for each in disagreements(Either(("a", "b")), "c")] == [()]


def test_an_object_whose_content_has_moved_may_be_left_out_where_it_would_show_a_zero() -> None:
    versions = {
        V1: thing(o="O") | {"O": {"a": "string", "d": "string"}},
        V2: thing(o="O", p="P") | {"O": {"d!": "string"}, "P": {"a": "string"}},
    }
    known = world(versions, rules(V1, move={"o.a": "p.a"}))
    moved = {"p": {"a": "x"}}
    assert shown(known, V1, V2, o={"a": "x"}) == {"o": Either(({"d": ""}, MISSING)), **moved}
    assert shown(known, V1, V2, o={"a": "x", "d": "y"}) == {"o": {"d": "y"}, **moved}


@pytest.mark.parametrize(("type_", "value"), [("integer", None), ("number", None), ("string", "x")])
def test_a_rule_does_not_move_a_value_to_a_property_of_another_type(type_, value) -> None:
    versions = {
        V1: thing(o="O") | {"O": {"a": "string"}},
        V2: thing(n="N") | {"N": {"b": type_}},
    }
    known = world(versions, rules(V1, move={"o.a": "n.b"}))
    found = shown(known, V1, V2, o={"a": "x"})
    assert found == ({} if value is None else {"n": {"b": "x"}})


def test_an_object_that_holds_nothing_but_what_moved_out_of_it_may_be_left_out() -> None:
    versions = {
        V1: thing(a="string", o="O") | {"O": {"c": "string"}},
        V2: thing(o="O") | {"O": {"a": "string", "c": "string"}},
    }
    known = world(versions, rules(V1, move={"a": "o.a"}))
    found = shown(known, V2, V1, o={"a": "x"})
    assert found["a"] == "x"
    assert list(found["o"].options) == [{}, MISSING]
    assert shown(known, V2, V1, o={"a": "x", "c": "y"}) == {"a": "x", "o": {"c": "y"}}
    assert shown(known, V2, V1, o={}) == {"o": {}}


def test_a_renamed_object_that_holds_nothing_but_what_moved_out_of_it_may_be_left_out() -> None:
    versions = {
        V1: thing(a="string", p="O") | {"O": {"c": "string"}},
        V2: thing(o="O") | {"O": {"a": "string", "c": "string"}},
    }
    known = world(versions, rules(V1, move={"a": "o.a"}, rename={"p": "o"}))
    found = shown(known, V2, V1, o={"a": "x"})
    assert list(found["p"].options) == [{}, MISSING]
    assert shown(known, V2, V1, o={"a": "x", "c": "y"}) == {"a": "x", "p": {"c": "y"}}


def test_an_object_that_moves_with_nothing_but_what_moves_elsewhere_may_be_left_out() -> None:
    versions = {
        V1: thing(o="O") | {"O": {"a": "string", "c": "string"}},
        V2: thing(p="P", d="string") | {"P": {"o": "O"}, "O": {"c": "string"}},
    }
    known = world(versions, rules(V1, move={"o": "p.o", "o.a": "d"}))
    found = shown(known, V1, V2, o={"a": "x"})
    assert found["d"] == "x"
    assert list(disagreements(found["p"], MISSING)) == []
    assert list(disagreements(found["p"], {"o": {}})) == []
    assert list(disagreements(found["p"], {"o": {"c": "y"}})) != []
    whole = {"d": "x", "p": {"o": {"c": "y"}}}
    assert shown(known, V1, V2, o={"a": "x", "c": "y"}) == whole
    assert shown(known, V1, V2, o={}) == {"p": {"o": {}}}


def test_an_object_that_holds_nothing_but_what_moves_later_may_be_left_out() -> None:
    known = world(
        {
            V1: thing(o="O") | {"O": {"c": "string"}},
            V2: thing(o="O") | {"O": {"a": "string", "c": "string"}},
            V3: thing(a="string"),
        },
        rules(V2, move={"o.a": "a"}),
    )
    (left,) = shown(known, V2, V1, o={"a": "x"}).values()
    assert list(left.options) == [{}, MISSING]
    assert shown(known, V2, V1, o={"a": "x", "c": "y"}) == {"o": {"c": "y"}}
    assert shown(known, V2, V1, o={"c": "y"}) == {"o": {"c": "y"}}


@pytest.mark.parametrize("make", [list, lambda texts: dict(zip("bca", texts, strict=False))])
def test_texts_that_an_edit_leaves_alone_are_as_they_were_and_new_ones_as_they_are_shown(make):
    wrap = "[{}]" if make is list else "{{{}}}"
    known = world({V1: thing(a=wrap.format("string")), V2: thing(a=wrap.format("L")) | LEVEL})
    seen, before = {"a": make(["Gold", "Tin"])}, {"a": make(["gold", "TIN"])}
    edited = {"a": make(["Gold", "Tin", "Silver"])}
    assert after(known, seen, edited, before) == {"a": make(["gold", "TIN", "Silver"])}
    assert after(known, seen, {"a": make(["Gold"])}, before) == {"a": make(["gold"])}
    respelled = after(known, seen, {"a": make(["GOLD", "Tin"])}, before)
    assert respelled == {"a": make([Either(("GOLD", "gold")), "TIN"])}


def test_of_texts_that_cannot_be_distinguished_nothing_is_said() -> None:
    known = world({V1: thing(a="[string]"), V2: thing(a="[L]") | LEVEL})
    seen, before = {"a": ["Gold", "Gold"]}, {"a": ["gold", "GOLD"]}
    assert after(known, seen, {"a": ["Gold", "Gold", "Tin"]}, before) == {"a": ANY}
    assert after(known, {"a": ["Gold"]}, {"a": ["Gold", "Tin"]}, before) == {"a": ANY}


def test_what_a_nested_type_moves_into_an_object_does_not_leave_with_that_object() -> None:
    versions = {
        V1: {
            **thing(strategy="S", check="TCheck"),
            "S": {"remediation": "R"},
            "R": {"m": "string"},
            "TCheck": {"range": "string"},
        },
        V2: {
            **thing(health="TCheck"),
            "TCheck": {"remediation": "R"},
            "R": {"trigger": "T", "m": "string"},
            "T": {"range": "string"},
        },
    }
    moved = {"strategy.remediation": "health.remediation", "check": "health"}
    inside = rules(V1, "TCheck", move={"range": "remediation.trigger.range"})
    known = world(versions, rules(V1, move=moved), inside)
    strategy, check = {"remediation": {"m": "1"}}, {"range": "x"}
    trigger = {"trigger": {"range": "x"}}
    alone = shown(known, V2, V1, health={"remediation": trigger})
    assert alone.pop("check") == check
    assert list(disagreements(alone, {})) == []
    assert list(disagreements(alone, {"strategy": strategy})) != []
    both = {"health": {"remediation": {"m": "1", **trigger}}}
    assert shown(known, V2, V1, **both) == {"strategy": strategy, "check": check}
    assert shown(known, V1, V2, strategy=strategy, check=check) == both
    assert shown(known, V1, V2, check=check) == {"health": {"remediation": trigger}}
    without = {"health": {"remediation": {"m": "1"}}}
    assert shown(known, V1, V2, strategy=strategy) == without
    found = shown(known, V2, V1, **without)
    assert found.pop("strategy") == strategy
    assert list(disagreements(found, {})) == []


def test_an_object_into_which_a_null_moves_that_it_does_not_show_may_be_there() -> None:
    versions = {V1: thing(a="string?"), V2: thing(o="O") | {"O": {"a": "string"}}}
    found = shown(world(versions, rules(V1, move={"a": "o.a"})), V1, V2, a=None)
    assert list(disagreements(found, {})) == list(disagreements(found, {"o": {}})) == []


def test_of_a_move_over_a_gap_nothing_is_said() -> None:
    versions = {V1: thing(a="string"), V2: thing(), V3: thing(o="O") | {"O": {"a": "string"}}}
    known = world(versions, rules(V1, move={"a": "o.a"}))
    assert shown(known, V1, V3, a="x") == {"o": ANY}
