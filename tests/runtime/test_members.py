"""Documents that have a member twice are told from all others by what was read of them, without a look at each name."""

import json

import msgspec
import pytest
from amounts import amount
from evolving import evolution, evolve, load, rules
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UnsetType

from trundle.documents import has_repeated_member
from trundle.runtime import ABSENT, ApiObject, FreeForm
from trundle.runtime._members import has_members_once

THING = {
    "n": "number", "on": "boolean", "in": "In", "items": "[In]", "by": "{In}", "tags": "{string}", "free": "any",
    "level": "Level",
}  # fmt: skip
VERSIONS = {
    version: {
        "Thing": {**THING, name: "string"},
        "In": {"x!": "string", "y": "integer", "free": "any"},
        "Level": ["low", "high"],
    }
    for version, name in (("v1", "old"), ("v2", "new"))
}
HEAD = '{"apiVersion":"v1","kind":"Thing"'
_TEXTS = st.text(st.characters(codec="utf-8"), max_size=4) | st.sampled_from(
    [":", '":', "a:b", "\\"]
)
_FREE = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | _TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
)
_IN = st.fixed_dictionaries({"x": _TEXTS}, optional={"y": st.integers(-9, 9), "free": _FREE})
_THINGS = st.fixed_dictionaries(
    {},
    optional={
        "n": st.floats(-9, 9) | st.integers(-9, 9),
        "on": st.booleans(),
        "in": _IN,
        "items": st.lists(_IN, max_size=2),
        "by": st.dictionaries(_TEXTS, _IN, max_size=2),
        "tags": st.dictionaries(_TEXTS, _TEXTS, max_size=2),
        "free": _FREE,
        "level": st.sampled_from(["low", "high", "a:b"]),
        "old": _TEXTS,
    },
)


@pytest.fixture(scope="module", params=["straight", "by the hub"])
def scheme(request):
    changes = rules("v1", rename={"old": "new"})
    if request.param == "straight":
        found = evolve(VERSIONS, changes)
    else:
        found = load(evolution(VERSIONS, changes), straight=0)
    found.convert_json(f"{HEAD}}}".encode(), "v2", strict=True)
    return found


def written(document, random, repeats):
    """A document as JSON, spelt by chance, with so many members once more before they come; how many there were."""
    left = repeats

    def text(value):
        nonlocal left
        if isinstance(value, list):
            return f"[{random.choice(['', ' '])}{','.join(map(text, value))}]"
        if not isinstance(value, dict):
            return json.dumps(value, ensure_ascii=random.random() < 0.5)
        members = []
        for name, each in value.items():
            member = f"{json.dumps(name)}{random.choice(['', ' '])}:{text(each)}"
            if left and random.random() < 0.2:
                left -= 1
                members.append(member)
            members.append(member)
        return f"{{{','.join(members)}}}"

    body = text(document)[1:-1]
    return f"{HEAD}{',' if body else ''}{body}}}".encode(), repeats - left


@settings(max_examples=amount(1500), deadline=None)
@given(document=_THINGS, random=st.randoms(use_true_random=False), repeats=st.integers(0, 2))
def test_only_documents_with_each_member_once_are_converted_quickly(
    scheme, document, random, repeats
):
    data, repeated = written(document, random, repeats)
    found = scheme.convert_quickly(data, "v2", has_repeated_member)
    if repeated:
        assert found is None
    else:
        assert found in (None, scheme.convert_json(data, "v2", strict=True))


def test_most_documents_are_converted_quickly_without_a_look_at_their_whole_text(scheme):
    seen = []
    document = {"n": 1.5, "in": {"x": "a:b", "free": {"c": 1}}, "free": [2], "tags": {"d": "e"}}
    data = (HEAD + "," + json.dumps(document)[1:]).encode()
    assert scheme.convert_quickly(data, "v2", lambda text: bool(seen.append(text)))
    assert sorted(seen) == [b'[[2],{"c": 1}]']


@pytest.mark.parametrize(
    "unusual",
    [
        '{"kind":"Thing","apiVersion":"v1"}',
        f'{HEAD},"unknown":1}}',
        f'{HEAD},"n":"text"}}',
        f'{HEAD},"in":{{}}}}',
        f'{HEAD},"free":{{"a":1,"\\u0061":2}}}}',
        f'{HEAD},"old":"\\u003a","old":"","n":1}}',
        f'{HEAD},"apiVersion":"v2"}}',
        f"{HEAD}",
    ],
)
def test_what_is_unusual_is_left_to_the_careful_way(scheme, unusual):
    assert scheme.convert_quickly(unusual.encode(), "v2", has_repeated_member) is None


@pytest.mark.parametrize("where", ["free", "in.free", "old", "tags", "tag", "escaped"])
@pytest.mark.parametrize("text", [b"\xff", b"\xed\xa0\x80", b"a\xc3", b"\xc3\xa4\x80"])
def test_what_is_no_utf_8_is_left_to_the_careful_way(scheme, where, text):
    documents = {
        "free": b'"free":{"%s":1}',
        "in.free": b'"in":{"x":"","free":["%s"]}',
        "old": b'"old":"%s"',
        "tags": b'"tags":{"%s":""}',
        "tag": b'"tags":{"a":"%s"}',
        "escaped": b'"free":"\\u003a%s"',  # Not judged by the object.
    }
    data = HEAD.encode() + b"," + documents[where] % text + b"}"
    assert scheme.convert_quickly(data, "v2", has_repeated_member) is None
    assert scheme.convert_quickly(data.replace(text, "ä".encode()), "v2", has_repeated_member)


class Filled(ApiObject, kw_only=True):
    note: str = "a"
    x: int | UnsetType = ABSENT


class Tagged(ApiObject, kw_only=True, tag_field="kind", tag="Tagged"):
    x: int | UnsetType = ABSENT


class Around(ApiObject, kw_only=True):
    filled: Filled | UnsetType = ABSENT


class Itself(ApiObject, kw_only=True):
    kind: str = "Itself"
    inner: "Itself | UnsetType" = ABSENT
    x: int | UnsetType = ABSENT


class Free(ApiObject, kw_only=True):
    data: dict[str, list[FreeForm]] | UnsetType = ABSENT


@pytest.mark.parametrize(
    ("class_", "text"),
    [
        (Filled, b'{"x":1,"x":2}'),
        (Tagged, b'{"x":1,"x":2}'),
        (Around, b'{"filled":{},"filled":{}}'),
        (Itself, b'{"kind":"Itself","inner":{"x":1,"x":2}}'),
    ],
)
def test_an_object_that_may_have_more_than_its_text_is_no_judge(class_, text):
    """Each of these, written anew, has as many colons as its text."""
    value = msgspec.json.decode(text, type=class_)
    assert msgspec.json.encode(value).count(b":") == text.count(b":")
    assert not has_members_once(value, text, has_repeated_member)


def test_free_form_data_is_looked_at_wherever_it_is():
    text = b'{"data":{"a":[{"b":1},{"c":{"d":1,"d":2}}]}}'
    value = msgspec.json.decode(text, type=Free)
    assert not has_members_once(value, text, has_repeated_member)
    assert has_members_once(value, text, lambda _: False)
