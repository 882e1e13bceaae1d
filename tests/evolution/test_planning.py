import hashlib
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from evolving import evolution, hooked, parse_schema, rules
from lineages import place, planned, root, shape, spelt

from trundle.codegen import generate_package
from trundle.evolution import ChangeError, Evolution, PlanKey, calls_hook
from trundle.evolution.steps import (
    Assign,
    CallConverter,
    CallScalar,
    Change,
    First,
    Fit,
    HookOutput,
    Items,
    Listed,
    MapText,
    NotNull,
    Optional,
    PlannedEntry,
    Read,
    Single,
    Stash,
    ToEnum,
    ToObject,
    Unstash,
    Values,
    may_lack,
)
from trundle.schema import ABSENT


def steps(lineage, source, target):
    return list(planned(lineage, source, target).steps)


def assigned(lineage, source, target, name):
    """What a property of the target becomes."""
    return next(
        each.value
        for each in steps(lineage, source, target)
        if isinstance(each, Assign) and each.property == name
    )


def stashed(lineage, source, target):
    return [each for each in steps(lineage, source, target) if isinstance(each, Stash)]


def test_same_name_and_type_is_a_copy():
    lineage = root({"v1": {"Thing": {"a": "string"}}, "v2": {"Thing": {"a": "string"}}})
    assert steps(lineage, "api v1", "storage v2") == [Assign("a", Read("a"), ABSENT)]
    assert steps(lineage, "storage v2", "api v1") == [Assign("a", Read("a"), ABSENT)]


def test_a_plan_is_made_once():
    lineage = root({"v1": {"Thing": {"a": "string"}}, "v2": {"Thing": {"a": "string"}}})
    once, again = (planned(lineage, "api v1", "storage v2") for _ in range(2))
    assert once is again


def test_assignments_are_in_alphabetical_order_of_the_target():
    lineage = root({"v1": {"Thing": dict.fromkeys("dbca", "string")}})
    found = steps(lineage, "api v1", "storage v1")
    assert [each.property for each in found] == ["a", "b", "c", "d"]


def test_a_rename_reads_the_old_name_over_any_number_of_versions():
    lineage = root(
        {f"v{n}": {"Thing": {name: "string"}} for n, name in enumerate("abcd", 1)},
        *(rules(f"v{n}", rename={a: b}) for n, (a, b) in enumerate(("ab", "bc", "cd"), 1)),
    )
    assert steps(lineage, "api v1", "storage v4") == [Assign("d", Read("a"), ABSENT)]
    assert steps(lineage, "storage v4", "api v2") == [Assign("b", Read("d"), ABSENT)]


def test_what_only_the_source_has_is_stashed_and_comes_back():
    lineage = root({"v1": {"Thing": {"a": "string"}}, "v2": {"Thing": {}}})
    assert steps(lineage, "api v1", "storage v2") == [
        Stash(place("a@v1"), Read("a"), witness=None, derived=None, aliases=())
    ]
    assert steps(lineage, "storage v2", "api v1") == [
        Assign("a", Unstash((PlannedEntry(place("a@v1"), None),), None), ABSENT)
    ]


def test_what_only_the_target_has_is_absent():
    lineage = root({"v1": {"Thing": {}}, "v2": {"Thing": {"a": "string"}}})
    assert steps(lineage, "api v1", "storage v2") == [Assign("a", None, ABSENT)]


def test_a_required_property_of_an_api_object_has_a_default_and_one_of_storage_never():
    lineage = root({"v1": {"Thing": {}}, "v2": {"Thing": {"a!": ("string", "x")}}})
    assert steps(lineage, "storage v2", "api v2") == [Assign("a", Read("a"), "x")]
    assert steps(lineage, "api v2", "storage v2") == [Assign("a", Read("a"), ABSENT)]


def test_a_property_that_skips_versions_is_stashed_in_the_shape_before_the_gap():
    has, lacks = {"Thing": {"a": "string"}}, {"Thing": {}}
    lineage = root({"v1": has, "v2": lacks, "v3": lacks, "v4": has})
    assert steps(lineage, "api v1", "storage v4") == [Assign("a", Read("a"), ABSENT)]
    (stash,) = stashed(lineage, "storage v1", "storage v3")
    assert spelt(stash.entry) == "a@v1"
    rolled = planned(lineage, "storage v3", "storage v4")
    assert list(map(spelt, rolled.consumed)) == ["a@v1"]
    assert rolled.steps == (
        Assign("a", Unstash((PlannedEntry(place("a@v1"), None),), None), ABSENT),
    )


def test_what_a_preview_stashed_becomes_the_ga_property_under_its_new_name():
    lineage = root(
        {
            "v1": {"Thing": {}},
            "v2alpha1": {"Thing": {"a": "string"}},
            "v2": {"Thing": {"b": "string"}},
        },
        rules("v2alpha1", rename={"a": "b"}),
    )
    rolled = planned(lineage, "storage v1", "storage v2")
    assert rolled.steps == (
        Assign("b", Unstash((PlannedEntry(place("a@v2alpha1"), None),), None), ABSENT),
    )
    assert list(map(spelt, rolled.consumed)) == ["a@v2alpha1"]


def test_namesakes_of_other_types_accompany_each_other():
    lineage = root({"v1": {"Thing": {"a": "string"}}, "v2": {"Thing": {"a": "integer"}}})
    (stash,) = stashed(lineage, "api v1", "storage v2")
    assert spelt(stash.entry) == "a@v1"
    assert stash.witness.values == (Read("a"),)
    assert assigned(lineage, "api v1", "storage v2", "a") is None
    assert assigned(lineage, "storage v2", "api v1", "a") == Unstash(
        (PlannedEntry(place("a@v1"), None),), stash.witness
    )


def test_a_narrow_side_follows_the_wide_one_where_the_value_fits():
    lineage = root({"v1": {"Thing": {"a": "integer"}}, "v2": {"Thing": {"a": "number"}}})
    assert assigned(lineage, "api v1", "storage v2", "a") == Read("a")
    kept, derived = assigned(lineage, "storage v2", "api v1", "a").options
    assert kept.entries == (PlannedEntry(place("a@v1"), None),)
    assert kept.witness.values == (Read("a"),)
    assert derived == Change(Read("a"), Fit(("integer",)))


def last(expression):
    """The step by which the target's own side is derived, behind whatever the bag has."""
    found = expression.options[-1] if isinstance(expression, First) else expression
    return found.step


@pytest.mark.parametrize(
    ("older", "newer", "up", "down"),
    [
        ("string", "Colour", ToEnum(("red", "green")), None),
        ("string?", "string", None, None),
        ("[integer]", "[number]", None, Items(Fit(("integer",)))),
        ("{integer}", "{number}", None, Values(Fit(("integer",)))),
        ("integer?", "number", NotNull(None), Optional(Fit(("integer",)))),
    ],
)
def test_each_row_of_the_table_is_a_step(older, newer, up, down):
    lineage = root(
        {
            "v1": {"Thing": {"a": older}},
            "v2": {"Thing": {"a": newer}, "Colour": ["red", "green"]},
        }
    )
    for source, target, wanted in (
        ("api v1", "storage v2", up),
        ("storage v2", "api v1", down),
    ):
        found = assigned(lineage, source, target, "a")
        found = found.options[-1] if isinstance(found, First) else found
        assert (found.step if isinstance(found, Change) else None) == wanted


def test_nested_objects_have_plans_of_their_own():
    lineage = root(
        {
            "v1": {"Thing": {"in": "In"}, "In": {"a": "string"}},
            "v2": {"Thing": {"in": "In"}, "In": {"a": "string", "b": "string"}},
        }
    )
    inner = lineage.child(place("in@v1"), "In")
    assert assigned(lineage, "api v1", "storage v2", "in") == Change(
        Read("in"), ToObject(PlanKey(inner, shape("api v1"), shape("storage v2")))
    )


def test_a_stable_subtree_is_passed_on():
    same = {"Thing": {"in": "In", "many": "[In]"}, "In": {"a": "string"}}
    lineage = root({"v1": same, "v2": same})
    assert assigned(lineage, "api v1", "storage v2", "in") == Read("in")
    assert assigned(lineage, "api v1", "storage v2", "many") == Read("many")


def test_configured_changes_go_up_and_their_inverses_down():
    lineage = root(
        {
            "v1": {"Thing": {"mode": "string", "size": "string", "tag": "string"}},
            "v2": {"Thing": {"mode": "string", "size": "integer", "tags": "[string]"}},
        },
        rules(
            "v1",
            values={"mode": {"on": "enabled"}},
            convert={"size": "string-to-integer"},
            wrap={"tag": "tags"},
        ),
    )

    def step(source, target, name):
        return last(assigned(lineage, source, target, name))

    assert step("api v1", "storage v2", "mode") == MapText((("on", "enabled"),))
    assert step("storage v2", "api v1", "mode") == MapText((("enabled", "on"),))
    assert step("api v1", "storage v2", "size") == CallScalar(
        "string-to-integer", "size", integer=True
    )
    assert step("storage v2", "api v1", "size") == CallScalar("integer-to-string", "size")
    assert step("api v1", "storage v2", "tags") == Listed(None)
    assert step("storage v2", "api v1", "tag") == Single(None)


def last_option(expression):
    return expression.options[-1] if isinstance(expression, First) else expression


class Names:
    def assign_to(self, source): ...

    def assign_from(self, source): ...


NAMES = {
    "v1": {"Thing": {"fullName": "string"}},
    "v2": {"Thing": {"first": "string", "last": "string"}},
    "v3": {"Thing": {"first": "string", "last": "string"}},
}
SPLITS = hooked(
    "v1",
    "v2",
    Names,
    to=(("fullName",), ("first", "last")),
    back=(("first", "last"), ("fullName",)),
)


def test_a_hook_gives_its_outputs_in_one_call_and_its_input_is_kept():
    lineage = root(NAMES, SPLITS)
    first = assigned(lineage, "api v1", "storage v3", "first")
    other = assigned(lineage, "api v1", "storage v3", "last")
    assert isinstance(first, HookOutput)
    assert isinstance(other, HookOutput)
    assert first.call == other.call
    assert calls_hook(first)
    assert first.call.inputs == ((place("fullName@v1"), Read("fullName")),)
    assert (spelt(first.output), first.step) == ("first@v2", None)
    (stash,) = stashed(lineage, "api v1", "storage v3")
    assert spelt(stash.entry) == "fullName@v1"
    assert stash.witness.values == (Read("first"), Read("last"))


def test_an_entry_that_is_current_beats_the_hook_on_the_way_down():
    lineage = root(NAMES, SPLITS)
    kept, derived = assigned(lineage, "storage v3", "api v1", "fullName").options
    assert isinstance(kept, Unstash)
    assert isinstance(derived, HookOutput)
    assert [each for _, each in derived.call.inputs] == [Read("first"), Read("last")]


def test_an_input_that_the_source_cannot_see_is_read_from_the_stored_object():
    lineage = root(
        {
            "v1": {"Thing": {"a": "string"}},
            "v2": {"Thing": {"a": "string", "b": "string"}},
            "v3": {"Thing": {"a": "string", "b": "string", "c": "string"}},
        },
        hooked("v2", "v3", Names, to=(("a", "b"), ("c",))),
    )
    derived = last_option(assigned(lineage, "api v1", "storage v3", "c"))
    (_, seen), (_, hidden) = derived.call.inputs
    assert seen == Read("a")
    assert type(hidden).__name__ == "Hidden"
    assert hidden.value == Read("b")


def test_a_hook_that_declares_what_is_not_there_is_an_error():
    with pytest.raises(ChangeError, match="declares 'missing', which Thing of v1 does not have"):
        _ = root(NAMES, hooked("v1", "v2", Names, to=(("missing",), ("first",)))).threads


class Sizes:
    def convert_string_to_integer(self, value): ...


def test_a_property_converter_goes_the_way_it_has_and_the_other_way_is_the_bag():
    lineage = root(
        {"v1": {"Thing": {"a": "string"}}, "v2": {"Thing": {"a": "integer"}}},
        hooked("v1", "v2", Sizes),
    )
    step = last(assigned(lineage, "api v1", "storage v2", "a"))
    assert isinstance(step, CallConverter)
    assert step.method == "convert_string_to_integer"
    assert isinstance(assigned(lineage, "storage v2", "api v1", "a"), Unstash)


def test_steps_that_may_make_a_value_absent_say_so():
    assert may_lack(Fit(("integer",)))
    assert may_lack(Optional(Fit(("integer",))))
    assert may_lack(CallScalar("string-to-integer", "size"))
    assert not may_lack(ToEnum(("red",)))
    assert not may_lack(Items(Fit(("integer",))))


EVERYTHING = {
    "v1": {
        "Thing": {"a": "string", "b": "integer", "in": "In", "many": "[In]", "mode": "Mode"},
        "In": {"x": "string", "deep": "Deep"},
        "Deep": {"y": "string"},
        "Mode": ["on", "off"],
    },
    "v2alpha1": {"Thing": {"b": "number", "a": "string", "extra": "string"}},
    "v2": {
        "Thing": {"b": "string", "c": "string", "in": "In", "many": "[In]", "mode": "string"},
        "In": {"x": "string", "z": "string", "deep": "Deep"},
        "Deep": {"y": "string", "w": "integer"},
    },
}
CHANGES = (rules("v1", rename={"a": "c"}), rules("v1", "In", rename={"x": "z"}))


def fingerprint(made):
    found = hashlib.sha256()
    for path, data in sorted(generate_package(made, package="some").items()):
        found.update(path.encode() + b"\0" + data)
    return found.hexdigest()


@pytest.mark.full
def test_generated_code_is_the_same_in_any_order_of_declaration():
    wanted = fingerprint(evolution(EVERYTHING, *CHANGES))
    for seed in range(5):
        chance = random.Random(seed)
        schemas = []
        for version in chance.sample(sorted(EVERYTHING), len(EVERYTHING)):
            definitions = list(EVERYTHING[version].items())
            chance.shuffle(definitions)
            shuffled = {
                name: declared
                if isinstance(declared, list)
                else dict(chance.sample(list(declared.items()), len(declared)))
                for name, declared in definitions
            }
            schemas.append(parse_schema(version, shuffled))
        changes = chance.sample(CHANGES, len(CHANGES))
        assert fingerprint(Evolution(tuple(schemas), tuple(changes))) == wanted


@pytest.mark.full
def test_generated_code_is_the_same_under_any_hash_seed():
    code = "import test_planning as t; print(t.fingerprint(t.evolution(t.EVERYTHING, *t.CHANGES)))"
    here = Path(__file__).parent
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": os.pathsep.join([str(here), str(here.parent / "laws"), *sys.path]),
            },
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
    found = {each.communicate()[0].strip() for each in running}
    assert found == {fingerprint(evolution(EVERYTHING, *CHANGES))}
