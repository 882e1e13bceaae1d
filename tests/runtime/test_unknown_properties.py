"""Unknown properties that have the name of a property of another version: nothing is lost, nothing is mistaken."""

import copy
import json
from typing import Any

import msgspec
import pytest
from amounts import full
from evolving import Store, evolution, forget, load, rules, thing
from hypothesis import given, settings
from hypothesis import strategies as st

from trundle.runtime import WEBHOOK, ConversionError, Lenience

VERSIONS = {
    "v1": {
        "Thing": {"a": "string", "old": "string", "n": "In", "l": "[In;id]", "o": "Open"},
        "In": {"id": "string", "x": "string"},
        "Open": {"p": "string"},
    },
    "v2": {
        "Thing": {"a": "string", "b": "integer", "new": "string", "n": "In", "l": "[In;id]"}
        | {"o": "Open"},
        "In": {"id": "string", "x": "string", "b": "integer"},
        "Open": {"p": "string", "*": "integer"},
    },
}


@pytest.fixture(scope="module", params=["v2", full("v1")])
def scheme(request):
    made = load(
        evolution(VERSIONS, rules("v1", rename={"old": "new"}), hub=request.param),
        unknown="keep",
    )
    yield made
    forget(made)


def wrong(version: str) -> dict[str, Any]:
    """Unknown properties of a version that the other one knows, with values of types that it does not."""
    return {"b": {"odd": [1]}, "new": 1} if version == "v1" else {"old": [7]}


def test_each_version_sees_its_own(scheme):
    x = Store(scheme).put("v1", a="1", old="o", **wrong("v1"))
    assert x.read("v1") == {"a": "1", "old": "o", **wrong("v1")}
    assert x.read("v2") == {"a": "1", "new": "o"}
    x.edit("v2", b=3, new="p", zzz=1)
    assert x.read("v2") == {"a": "1", "b": 3, "new": "p", "zzz": 1}
    assert x.read("v1") == {"a": "1", "old": "p", "zzz": 1, **wrong("v1")}
    x.edit("v1", b=4, new=None)
    assert x.read("v1") == {"a": "1", "old": "p", "zzz": 1, "b": 4}
    assert x.read("v2") == {"a": "1", "b": 3, "new": "p", "zzz": 1}


def test_a_stored_object_keeps_both_under_their_own_names():
    scheme = load(evolution(VERSIONS, hub="v2"), unknown="keep")
    x = Store(scheme).put("v1", a="1", b="theirs", c=1).edit("v2", b=5)
    assert (x.stored["b"], x.stored["c"]) == (5, 1)
    assert x.stored["$unknown"] == {"b": "theirs"}
    forget(scheme)


def test_unknown_properties_called_like_what_a_store_keeps_apart_are_themselves(scheme):
    for value in ({"b": 1}, {"c": 1}, {}, 5):
        for name in ("$unknown", "$$unknown"):
            document = thing("v1", a="1", b="x", **{name: value})
            assert scheme.convert(scheme.convert(document), "v1") == document


@pytest.mark.full
def test_what_an_earlier_release_stored_is_still_read():
    scheme = load(evolution(VERSIONS, hub="v2"), unknown="keep")
    stored = scheme.convert(thing("v1", a="1"))
    stored["$unknown"] = {"c": 1}
    assert scheme.convert(stored, "v1") == thing("v1", a="1", **{"$unknown": {"c": 1}})
    forget(scheme)


def test_without_a_store_the_error_names_the_place(scheme):
    document = thing("v1", a="1", l=[{"id": "1"}, {"id": "2", "b": "x"}])
    said = r"does not know the property 'b'.* - at \$\.l\[1\]\.b"
    with pytest.raises(ConversionError, match=said):
        scheme.convert(document, "v2")
    for convert in (scheme.convert_json, lambda data, to: scheme.convert(scheme.decode(data), to)):
        with pytest.raises(ConversionError, match=said):
            convert(json.dumps(document).encode(), to="v2")
    (outcome,) = scheme.convert_many([document], "v2", lenience=WEBHOOK)
    assert "$.l[1].b" in str(outcome.error)
    pruned = scheme.convert(document, "v2", lenience=Lenience(unknown="prune"))
    assert pruned == thing("v2", a="1", l=[{"id": "1"}, {"id": "2"}])


def test_objects_see_what_documents_see(scheme):
    stored = scheme.to_storage(scheme.decode(json.dumps(thing("v1", a="1", b="x")).encode()))
    seen = scheme.from_storage(stored, "v2")
    assert not seen.unknown
    assert type(seen).convert_from_storage(stored) == seen
    assert json.loads(scheme.encode(scheme.from_storage(stored, "v1"))) == thing("v1", a="1", b="x")


_TEXT, _NUMBER, _ODD = st.text(max_size=3), st.integers(-9, 9), st.sampled_from(["s", 1, [2], {}])
_OTHERS = st.dictionaries(st.sampled_from(["b", "x y", "new", "old", "$unknown", "p", "q"]), _ODD)


def _objects(**known: Any) -> Any:
    """Objects with some known properties, and others that are unknown."""
    others = _OTHERS.map(lambda each: {name: each[name] for name in each if name not in known})
    return st.builds(
        lambda one, two: {**two, **one}, st.fixed_dictionaries({}, optional=known), others
    )


def _documents(version: str) -> Any:
    more = {"b": _NUMBER} if version == "v2" else {}
    inner = _objects(id=_TEXT, x=_TEXT, **more)
    items = st.lists(inner.filter(lambda each: "id" in each), unique_by=lambda each: each["id"])
    open_ = (
        st.fixed_dictionaries({"p": _TEXT, "b": _NUMBER}) if version == "v2" else _objects(p=_TEXT)
    )
    renamed = {"new" if version == "v2" else "old": _TEXT}
    return _objects(a=_TEXT, n=inner, l=items, o=open_, **renamed, **more)


@pytest.mark.full
@settings(deadline=None)
@given(
    writes=st.lists(
        st.sampled_from(["v1", "v2"]).flatmap(
            lambda each: st.tuples(st.just(each), _documents(each))
        ),
        min_size=1,
        max_size=3,
    )
)
def test_what_a_client_writes_it_reads_and_writing_that_back_changes_nothing(scheme, writes):
    stored = None
    for version, properties in writes:
        document = thing(version, **properties)
        given_ = copy.deepcopy(document)
        stored = scheme.put(version, document, stored)
        assert document == given_
        assert scheme.read(version, stored) == document
        for each in ("v1", "v2"):
            seen = scheme.read(each, stored)
            assert scheme.put(each, seen, stored) == stored
            data = msgspec.json.encode(stored)
            assert scheme.put(each, scheme.read(each, data), data) == data
