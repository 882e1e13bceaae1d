"""Partial objects stay partial: what a version requires is shown for whole objects only."""

import json
from typing import Any

import pytest
from evolving import evolve, forget, rules, thing
from hypothesis import given, settings
from hypothesis import strategies as st

from trundle.runtime import WEBHOOK, Lenience

IN = {"id!": "string", "x!": "string"}
OLD = {
    "a!": "string",
    "old!": "string",
    "in": "In",
    "many": "[In]",
    "by": "{In}",
    "deep!": "integer",
}
NEW = {"a!": "string", "new!": "string", "in!": "In", "many": "[In]", "by": "{In}", "more": "More"}
VERSIONS = {
    "v1": {"Thing": OLD, "In": IN},
    "v2": {
        "Thing": {**NEW, "count!": "integer", "told!": ("string", "d")},
        "In": {**IN, "y!": "string"},
        "More": {"deep!": "integer", "beside!": "string"},
    },
}
RULES = rules("v1", rename={"old": "new"}, move={"deep": "more.deep"})


@pytest.fixture(scope="module", params=["v1", "v2", "v3"])
def scheme(request):
    made = evolve({**VERSIONS, "v3": VERSIONS["v2"]}, RULES, hub=request.param)
    yield made
    forget(made)


def ways(scheme: Any, document: dict[str, Any], to: str) -> dict[str, Any]:
    """What a document becomes, which is the same in every form."""
    data = json.dumps(document).encode()
    found: dict[str, Any] = scheme.convert(document, to, lenience=WEBHOOK)
    assert json.loads(scheme.convert_json(data, to, lenience=WEBHOOK)) == found
    assert json.loads(scheme.convert_json(data, to, lenience=WEBHOOK, strict=True)) == found
    read = scheme.decode(data, lenience=WEBHOOK)
    assert json.loads(scheme.encode(scheme.convert(read, to))) == found
    (outcome,) = scheme.convert_many([document], to, lenience=WEBHOOK, losses=True)
    assert (outcome.result, outcome.lost) == (found, ())
    assert document["apiVersion"] != to
    return found


def test_a_whole_document_gets_what_the_other_version_requires(scheme):
    document = thing("v1", a="", old="o", deep=1, many=[{"id": "1", "x": ""}])
    assert ways(scheme, document, "v2") == thing(
        "v2",
        a="",
        new="o",
        more={"deep": 1, "beside": ""},
        many=[{"id": "1", "x": "", "y": ""}],
        count=0,
        told="d",
        **scheme_default(scheme, document),
    )


def scheme_default(scheme: Any, document: dict[str, Any]) -> dict[str, Any]:
    """What a required object shows where it is missing."""
    found = scheme.convert(document, "v2")
    return {"in": found["in"]} if "in" in found else {}


def test_a_fragment_stays_as_it_is(scheme):
    assert ways(scheme, thing("v1"), "v2") == thing("v2")
    fragment = {"in": {"x": ""}, "many": [{}, {"id": "", "x": "1"}], "by": {"k": {}}}
    assert ways(scheme, thing("v1", **fragment), "v2") == thing("v2", **fragment)
    assert ways(scheme, thing("v1", a="", old=""), "v2") == thing("v2", a="", new="")
    assert ways(scheme, thing("v1", deep=0), "v2") == thing("v2", more={"deep": 0})
    assert ways(scheme, thing("v2", more={"deep": 0}), "v1") == thing("v1", deep=0)


def test_what_is_missing_within_makes_all_of_a_document_partial(scheme):
    document = thing("v1", a="1", old="2", deep=3, many=[{"x": "4"}])
    expected = thing("v2", a="1", new="2", more={"deep": 3}, many=[{"x": "4"}])
    assert ways(scheme, document, "v2") == expected


def test_what_a_store_keeps_is_whole(scheme):
    stored = scheme.put("v1", thing("v1"), lenience=Lenience(missing=True))
    assert (scheme.read("v1", stored)["a"], scheme.read("v2", stored)["count"]) == ("", 0)


_TEXT = st.text(max_size=2)
_INNER = st.fixed_dictionaries({}, optional={"id": _TEXT, "x": _TEXT})


@pytest.mark.full
@settings(deadline=None)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "a": _TEXT,
            "old": _TEXT,
            "in": _INNER,
            "many": st.lists(_INNER, max_size=3),
            "by": st.dictionaries(_TEXT, _INNER, max_size=3),
        },
    )
)
def test_a_fragment_has_after_a_conversion_what_it_had_before(scheme, fragment):
    renamed = {"new" if name == "old" else name: each for name, each in fragment.items()}
    for to in ("v2", "v3"):
        assert ways(scheme, thing("v1", **fragment), to) == thing(to, **renamed)
    partial = thing("v2", **renamed)
    assert ways(scheme, partial, "v1") == thing("v1", **fragment)
