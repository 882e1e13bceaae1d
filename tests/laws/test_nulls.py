"""Nulls in lists and maps, and other members that only some versions can show."""

import pytest
from evolving import Store, evolve, forget, rules

IN = {"In": {"kind!": "Is"}, "Other": {"kind!": "Isnt"}, "Is": ["in"], "Isnt": ["other"]}
ONE, OTHER = {"kind": "in"}, {"kind": "other"}


def store_of(older, newer, written, value):
    types = {"v1": older, "v2": newer}
    scheme = evolve({v: {"Thing": {"l": each, "n": "integer"}, **IN} for v, each in types.items()})
    return Store(scheme).put(written, l=value, n=1)


@pytest.mark.parametrize("hub_admits", [True, False])
@pytest.mark.parametrize(
    ("plain", "wide", "value", "seen", "edit", "result"),
    [
        (
            "[string]",
            "[string?]",
            ["a", None, "b"],
            ["a", "b"],
            ["a", "x", "b"],
            ["a", None, "x", "b"],
        ),
        ("[string]", "[string?]", ["a", None, "b"], ["a", "b"], ["b", "a"], ["b", "a", None]),
        ("[string]", "[string?]", [None, None], [], ["c"], [None, None, "c"]),
        (
            "{string}",
            "{string?}",
            {"a": "1", "b": None},
            {"a": "1"},
            {"a": "2", "c": "3"},
            {"a": "2", "c": "3", "b": None},
        ),
        ("[[string]]", "[[string?]]", [["a", None]], [["a"]], [["a"], ["b"]], [["a", None], ["b"]]),
        ("{[integer]}", "{[number]}", {"a": [1.5, 1]}, {"a": [1]}, {"a": [2]}, {"a": [1.5, 2]}),
        (
            "[string]|boolean",
            "[string?]|boolean",
            ["a", None, "b"],
            ["a", "b"],
            ["a", "c", "b"],
            ["a", None, "c", "b"],
        ),
        ("{string}", "{string?}", {"b": None}, {}, {"b": "1"}, {"b": "1"}),
        ("{integer}", "{number}", {"a": 1, "b": 1.5}, {"a": 1}, {"c": 2}, {"c": 2, "b": 1.5}),
        (
            "{In}",
            "{In|Other}",
            {"a": ONE, "b": OTHER},
            {"a": ONE},
            {"a": ONE, "c": ONE},
            {"a": ONE, "c": ONE, "b": OTHER},
        ),
    ],
)
def test_what_a_version_cannot_show_is_kept_while_it_edits_the_rest(
    plain, wide, value, seen, edit, result, hub_admits
):
    older, newer = (plain, wide) if hub_admits else (wide, plain)
    writer, editor = ("v2", "v1") if hub_admits else ("v1", "v2")
    store = store_of(older, newer, writer, value)
    assert store.read(writer) == {"l": value, "n": 1}
    assert store.read(editor) == {"l": seen, "n": 1}
    store.edit(editor, n=2)
    assert store.read(writer) == {"l": value, "n": 2}
    store.edit(editor, l=edit)
    assert store.read(editor) == {"l": edit, "n": 2}
    assert store.read(writer) == {"l": result, "n": 2}
    forget(store.scheme)


@pytest.mark.parametrize("hub", ["v1", "v2"])
def test_an_object_that_is_shown_empty_is_removed_with_what_is_hidden_in_it(hub):
    versions = {
        "v1": {"Thing": {"o": "O", "n": "integer"}, "O": {"h": "string"}},
        "v2": {"Thing": {"o": "O", "n": "integer"}, "O": {"z": "string"}},
    }
    scheme = evolve(versions, hub=hub)
    store = Store(scheme).put("v1", o={"h": "x"}, n=1)
    assert store.read("v2") == {"o": {}, "n": 1}
    assert store.edit("v2", n=2).read("v1") == {"o": {"h": "x"}, "n": 2}
    assert store.edit("v2", o=None).read("v2") == {"n": 2}
    assert store.read("v1") == {"n": 2}
    forget(scheme)


@pytest.mark.parametrize("hub", ["v1", "v2"])
def test_a_null_beside_configured_values_is_shown_where_it_is_admitted(hub):
    versions = {
        "v1": {"Thing": {"a": "L"}, "L": ["Gold"]},
        "v2": {"Thing": {"a": "M?"}, "M": ["au"]},
    }
    scheme = evolve(versions, rules("v1", values={"a": {"Gold": "au"}}), hub=hub)
    store = Store(scheme).put("v2", a=None)
    assert [store.read(each) for each in versions] == [{}, {"a": None}]
    assert store.put("v1", a="Gold").read("v2") == {"a": "au"}
    forget(scheme)
