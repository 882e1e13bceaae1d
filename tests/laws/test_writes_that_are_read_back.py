"""A client reads what it wrote, also where it removes an object in which others have what it has beside it."""

import json
from typing import Any, NamedTuple

import pytest
from cases import V1, V2, V3, V4, thing
from evolving import evolve, hooked, rules
from evolving import thing as document

from trundle.evolution import HookDeclaration, TypeChanges
from trundle.runtime import ABSENT


class Sizes:
    def assign_to(self, source: Any) -> dict[str, Any]:
        return {"o__c": ABSENT if source.d is ABSENT else source.d + 1}

    def assign_from(self, source: Any) -> dict[str, Any]:
        return {"d": ABSENT if source.o__c is ABSENT else source.o__c - 1}


class Letters:
    def assign_to(self, source: Any) -> dict[str, Any]:
        return {"t__q": source.q.upper()}

    def assign_from(self, source: Any) -> dict[str, Any]:
        return {"q": source.t__q.lower()}


class Loud:
    def assign_to(self, source: Any) -> dict[str, Any]:
        return {"o": {"d": source.text, "x": "x"}}

    def assign_from(self, source: Any) -> dict[str, Any]:
        return {"text": source.o.d.upper()}


class Story(NamedTuple):
    """What clients write one after another."""

    versions: dict[str, Any]
    more: tuple[TypeChanges | HookDeclaration, ...]
    hub: str
    writes: tuple[tuple[str, dict[str, Any]], ...]


ITEM, MORE, OTHER = ({"Item": {"id!": "string", name: "string"}} for name in ("m", "n", "w"))
REQUIRING = {
    V1: thing(a="[string]", p="P") | {"P": {"b": "string"}},
    V2: thing(o="O") | {"O": {"b": "string", "d!": "[string]"}},
}
STORIES = {
    "what stays was in the object that goes, for others": Story(
        {
            V1: thing(o="O") | {"O": {"a": "integer"}},
            V2: thing(o="O") | {"O": {"a": "string"}},
            V3: thing(a="string", o="O") | {"O": {"x": "string"}},
        },
        (rules(V2, move={"o.a": "a"}),),
        V1,
        ((V1, {"o": {"a": 0}}), (V3, {"a": "", "o": {}}), (V3, {"a": ""})),
    ),
    "a hook writes what stays into the object that goes": Story(
        {
            V1: thing(d="integer", o="O") | {"O": {}},
            V2: thing(o="O") | {"O": {"b": "string", "c": "integer"}},
        },
        (hooked(V1, V2, Sizes, to=(("d",), ("o.c",)), back=(("o.c",), ("d",))),),
        V2,
        ((V2, {"o": {"b": "x", "c": 3}}), (V1, {"d": 1, "o": {}}), (V1, {"d": 1})),
    ),
    "a hook writes what stays into an object that only others have": Story(
        {
            V1: thing(d="integer", o="O") | {"O": {"x": "string"}},
            V2: thing(o="O") | {"O": {"b": "string", "c": "integer"}},
            V3: thing(o="O") | {"O": {"b": "string"}},
        },
        (hooked(V1, V2, Sizes, to=(("d",), ("o.c",)), back=(("o.c",), ("d",))),),
        V3,
        ((V3, {"o": {"b": "x"}}), (V2, {"o": {"b": "x", "c": 3}}), (V1, {"d": 2})),
    ),
    "an object goes with what is hidden in it, though a rule leads it elsewhere": Story(
        {
            V1: thing(b="Item") | ITEM,
            V2: thing(o="O") | {"O": {"c": "Item"}} | MORE,
            V3: thing(o="O") | {"O": {"c": "Item"}} | OTHER,
        },
        (rules(V1, move={"b": "o.c"}),),
        V2,
        ((V2, {"o": {"c": {"id": "i", "n": "x"}}}), (V3, {})),
    ),
    "what is left is what is required, beside the object that is stored": Story(
        REQUIRING,
        (rules(V1, move={"p.b": "o.b", "a": "o.d"}),),
        V1,
        ((V1, {"p": {"b": "x"}}), (V2, {"o": {"d": []}})),
    ),
    "what is left is what is required, within another object": Story(
        {
            V3: thing(a="string", p="P") | {"P": {"t": "T"}, "T": {"b": "string"}},
            V4: thing(p="P") | {"P": {"t": "T"}, "T": {"b": "string", "d!": "string"}},
        },
        (rules(V3, move={"a": "p.t.d"}),),
        V3,
        ((V3, {"p": {"t": {"b": "x"}}}), (V4, {"p": {"t": {"d": ""}}})),
    ),
    "what is left is what is required, and a list of another version": Story(
        {
            V1: thing(o="O") | {"O": {"s": "S", "b!": "[string]"}, "S": {"x": "string"}},
            V2: thing(o="O") | {"O": {"s": "S", "b": "string"}, "S": {"x": "string"}},
            V3: thing(a="string"),
        },
        (rules(V1, unwrap={"o.b": "o.b"}), rules(V2, move={"o.b": "a"})),
        V2,
        ((V2, {"o": {"s": {"x": "1"}}}), (V1, {"o": {"b": []}})),
    ),
    "a hook makes what stays of what is in the object that goes": Story(
        {
            V1: thing(q="string", t="T") | {"T": {"s": "string"}},
            V2: thing(s="string", t="T") | {"T": {"q": "string"}},
        },
        (
            hooked(V1, V2, Letters, to=(("q",), ("t.q",)), back=(("t.q",), ("q",))),
            rules(V1, move={"t.s": "s"}),
        ),
        V2,
        ((V2, {"s": "y", "t": {"q": "X"}}), (V1, {"q": "x"})),
    ),
    "a hook needs what its version requires, beside what is left": Story(
        {
            V1: thing(text="string", p="P") | {"P": {"q!": "string", "r": "string"}},
            V2: thing(o="O", p="P") | {"O": {"d!": "string", "x": "string"}, "P": {"q!": "string", "r": "string"}},
            V3: thing(o="O", p="P") | {"O": {"x": "string"}, "P": {"q!": "string", "r": "string"}},
        },
        (hooked(V1, V2, Loud, to=(("text",), ("o",)), back=(("o",), ("text",))),),
        V3,
        ((V3, {"o": {"x": "1"}, "p": {"q": "1", "r": "2"}}), (V1, {"text": "", "p": {"q": "1"}})),
    ),
    "what is left is empty, and was there for what another version has in it": Story(
        {
            V1: thing(z="string"),
            V2: thing(p="P") | {"P": {"t": "string"}},
            V3: thing(**{"p!": "P"}) | {"P": {"c": "integer"}},
            V4: thing(p="P") | {"P": {"a": "string"}},
        },
        (rules(V3, move={"p.c": "p.a"}, convert={"p.c": "integer-to-string"}),),
        V1,
        ((V4, {}), (V3, {"p": {"c": 2}}), (V4, {"p": {}})),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STORIES)
def test_a_client_reads_what_it_wrote(name, store):
    story = STORIES[name]
    object_ = store(story.versions, *story.more, hub=story.hub)
    for version, written in story.writes:
        assert object_.put(version, **written).read(version) == written


def test_what_an_edit_leaves_required_alone_is_written_for_others_as_in_a_first_write(store):
    object_ = store(REQUIRING, rules(V1, move={"p.b": "o.b", "a": "o.d"}), hub=V1)
    object_.put(V1, p={"b": "x"}).put(V2, o={"b": "y", "d": []})
    assert object_.read(V1) == {"p": {"b": "y"}}
    assert object_.put(V2, o={"d": []}).read(V1) == {"a": []}


@pytest.mark.parametrize("hub", [V1, V2])
def test_what_is_only_shown_is_not_written_where_something_that_is_required_is_stored(store, hub):
    versions = {
        V1: thing(o="O") | {"O": {"name!": "string", "kind!": "string", "area": "string"}},
        V2: thing(o="O") | {"O": {"name!": "string", "kind": "string", "area": "string"}},
    }
    object_ = store(versions, hub=hub).put(V2, o={"name": "n", "area": "a"})
    assert object_.read(V1) == {"o": {"name": "n", "kind": "", "area": "a"}}
    left = {"o": {"name": "n", "kind": ""}}
    assert object_.put(V1, **left).read(V2) == {"o": {"name": "n"}}
    assert object_.read(V1) == left
    assert object_.put(V1, o={"name": "m", "kind": "k"}).read(V2) == {
        "o": {"name": "m", "kind": "k"}
    }


def test_an_edit_beside_an_object_says_nothing_of_it(forgetting):
    """Whether what was converted before is looked at or all of it, the same is stored."""
    scheme = forgetting(
        evolve(
            {
                V1: thing(b="string", c="string", o="O") | {"O": {"s": "S"}, "S": {}},
                V2: thing(c="string", o="O") | {"O": {"s": "S"}, "S": {"d": "string"}},
                V3: thing(c="string", o="O") | {"O": {}},
            },
            rules(V1, move={"b": "o.s.d"}),
            hub=V1,
        )
    )
    stored = scheme.put(V1, document(V1, b="1", o={}))
    written = document(V2, c="1", o={"s": {"d": "1"}})
    expected = document(V1, b="1", c="1", o={}) | {"$writtenWith": V2}
    assert scheme.put(V2, written, stored) == expected
    data = json.dumps(written).encode()
    assert json.loads(scheme.put(V2, data, json.dumps(stored).encode())) == expected


def test_an_object_that_a_version_between_admits_as_null_needs_no_version_that_has_it(store):
    """A version without the object has nothing to say of its null."""
    versions = {
        V1: thing(d="string"),
        V2: thing(o="O") | {"O": {"s": "S"}, "S": {"b": "string"}},
        V3: thing(o="O?") | {"O": {}},
        V4: thing(d="integer"),
    }
    object_ = store(versions, rules(V1, move={"d": "o.s.b"}), hub=V1)
    object_.put(V3, o=None).put(V1, d="1").put(V4, d=1)
    assert object_.read(V4) == {"d": 1}
    assert object_.put(V3, o=None).read(V3) == {"o": None}
