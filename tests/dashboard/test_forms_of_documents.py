"""Forms of documents in random schemas: what a user does not touch stays byte for byte, and what they change is changed alone."""

import json

import pytest
import submitting
from amounts import amount
from hypothesis import given, settings
from hypothesis import strategies as st

from trundle.dashboard._drafts import document_of, drafted, sent
from trundle.dashboard._fields import fields_in, groups_in, name_of
from trundle.dashboard._frame import _templates
from trundle.dashboard._schema_form import DocumentForm
from trundle.documents import compact
from trundle.project import write_documents
from trundle.schema import (
    EnumType,
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Property,
    Ref,
    Scalar,
    Schema,
    Union,
)
from trundle.version import ApiVersion

NAMES = st.sampled_from(
    ["name", "size", "kind", "a b", "x/y", "~", "%20", "ä", "0", "", "a.b", "q\"'<>&"]
)
ODD = ["", " a ", "a\nb", "\n", "\r\n", "\r", "a\rb", "\tx", "\x00", "\x0c", "\x85", "\u2028", "1", "1e5", "true", "null", "<b>", "</textarea>"]  # fmt: skip
TEXTS = st.one_of(st.text(max_size=8), st.sampled_from(ODD))
NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(NAMES, TEXTS), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = ["Root", "Part", "Round", "Square", "Level", "Count"]


def types():
    flat = st.one_of(
        st.sampled_from(["boolean", "integer", "number", "string"]).map(Scalar),
        st.sampled_from(KEYS).map(Ref),
        st.just(FreeForm()),
        st.just(Union((Ref("Round"), Ref("Square")))),
        st.just(Union((Scalar("string"), Scalar("integer")))),
    )
    return st.recursive(
        flat,
        lambda inner: st.one_of(
            inner.map(ListOf),
            inner.map(MapOf),
            inner.map(lambda x: x if isinstance(x, Nullable) else Nullable(x)),
        ),
        max_leaves=3,
    )


@st.composite
def schemas(draw):
    definitions = {
        "Level": EnumType("Level", True, "string", ("low", "high", "")),
        "Count": EnumType("Count", True, "integer", (1, 2)),
        "RoundKind": EnumType("RoundKind", False, "string", ("round",)),
        "SquareKind": EnumType("SquareKind", False, "string", ("square",)),
    }
    for key in ("Root", "Part", "Round", "Square"):
        names = draw(st.lists(NAMES, max_size=4, unique=True))
        properties = [
            Property(each, draw(types()), draw(st.booleans()), doc="<i>") for each in sorted(names)
        ]
        if key in ("Round", "Square"):
            properties = [each for each in properties if each.name != "kind"]
            properties.append(Property("kind", Ref(f"{key}Kind"), required=True))
        additional = draw(st.one_of(st.none(), types())) if key != "Root" else None
        definitions[key] = ObjectType(key, True, tuple(properties), additional)
    return Schema(ApiVersion.parse("v1"), definitions, ())


@st.composite
def values(draw, schema, type_, depth=0):
    """A value of a type, mostly; now and then anything."""
    if depth > 4 or draw(st.integers(0, 9)) == 0:
        return draw(ANYTHING)
    inner = lambda of: values(schema, of, depth + 1)  # noqa: E731
    match type_:
        case Scalar("boolean"):
            return draw(st.booleans())
        case Scalar("integer"):
            return draw(st.integers())
        case Scalar("number"):
            return draw(NUMBERS)
        case Scalar():
            return draw(TEXTS)
        case Nullable(of):
            return draw(st.one_of(st.none(), inner(of)))
        case ListOf(of):
            return draw(st.lists(inner(of), max_size=2))
        case MapOf(of):
            return draw(st.dictionaries(st.one_of(NAMES, TEXTS), inner(of), max_size=2))
        case Union(variants):
            return draw(inner(draw(st.sampled_from(variants))))
        case Ref(key) if isinstance(definition := schema.definitions[key], EnumType):
            return draw(st.sampled_from(definition.values))
        case Ref(key):
            return {
                each.name: draw(inner(each.type))
                for each in definition.properties
                if each.required or draw(st.booleans())
            }
    return draw(ANYTHING)


@st.composite
def cases(draw):
    """What makes forms, and a document in YAML."""
    schema = draw(schemas())
    document = draw(values(schema, Ref("Root")))
    document = document if isinstance(document, dict) else {"name": document}
    if draw(st.booleans()):
        document["metadata"] = draw(
            st.one_of(ANYTHING, st.just({"labels": {"a": "b"}, "uid": "x"}))
        )
    data = json.dumps({"apiVersion": "v1", "kind": "Root", **document}).encode()
    return DocumentForm(schema, "Root", ("name",)), write_documents([data], "yaml")


def sent_form(draft):
    """What a browser sends of a form, with what its buttons do."""
    state = {"typed": draft.typed, "errors": {}, "focus": draft.focus}
    page = _templates().get_template("fields.html").module.inside(draft.form, state, "/")
    return submitting.form_in(f"<form>{page}</form>")


def leaves(value, path=()):
    """The values of a document that have nothing in them, by their places."""
    if isinstance(value, dict | list) and value:
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        return {k: v for key, each in inner for k, v in leaves(each, (*path, key)).items()}
    return {path: json.dumps(value)}


def plain(text):
    return json.loads(compact(document_of(text)))


@settings(max_examples=amount(100))
@given(cases())
def test_what_is_not_touched_stays_byte_for_byte(case):
    maker, text = case
    given_, buttons = sent_form(drafted(maker, text))
    after = sent(maker, text, given_)
    assert (after.text, after.problems) == (text, {})
    assert len(buttons) == len(set(buttons))


@pytest.mark.parametrize("value", [*ODD, None, True, 7, 1.5, [], {}, [[]], {"": {}}], ids=repr)
def test_odd_values_stay_as_they_are(value):
    """At places of each type, whether they fit there or not."""
    every = [Scalar(each) for each in ("boolean", "integer", "number", "string")]
    every += [FreeForm(), Ref("Level"), Ref("Count"), Union((Scalar("string"), Ref("Level")))]
    every += [make(each) for make in (ListOf, MapOf, Nullable) for each in every]
    properties = tuple(Property(f"p{at}", each) for at, each in enumerate(every))
    definitions = {
        "Root": ObjectType("Root", True, properties),
        "Level": EnumType("Level", True, "string", ("low", "high", "")),
        "Count": EnumType("Count", True, "integer", (1, 2)),
    }
    maker = DocumentForm(Schema(ApiVersion.parse("v1"), definitions, ()), "Root")
    for held in (value, [value], {"key": value}):
        document = {each.name: held for each in properties}
        text = write_documents([json.dumps(document).encode()], "yaml")
        assert sent(maker, text, sent_form(drafted(maker, text))[0]).text == text


@settings(max_examples=amount(100))
@given(cases())
def test_a_form_shows_every_value(case):
    maker, text = case
    shown = {each.path for each in fields_in(drafted(maker, text).form)}
    shown |= {each.path for each in groups_in(drafted(maker, text).form) if not each.members}
    for path in leaves(plain(text)):
        if path[0] not in {"apiVersion", "kind", "metadata"}:
            assert any(path[:length] in shown for length in range(1, len(path) + 1)), path


@settings(max_examples=amount(100))
@given(cases(), st.data())
def test_what_is_changed_is_changed_alone(case, data):
    maker, text = case
    draft = drafted(maker, text)
    fields = [each for each in fields_in(draft.form) if each.control != "choice"]
    if not fields:
        return
    field = data.draw(st.sampled_from(fields))
    given_, _ = sent_form(draft)
    after = sent(maker, text, {**given_, field.name: "17"})
    before, now = leaves(plain(text)), leaves(plain(after.text))
    kept = {key: each for key, each in before.items() if key[: len(field.path)] != field.path}
    rest = {key: each for key, each in now.items() if key[: len(field.path)] != field.path}
    made = {key for key in kept.keys() - rest.keys() if key == field.path[: len(key)]}
    assert {key: each for key, each in kept.items() if key not in made} == rest
    assert json.loads(now[field.path]) == (17 if field.control in {"number", "yaml"} else "17")
    assert sent(maker, after.text, sent_form(after)[0]).text == after.text


@settings(max_examples=amount(100))
@given(cases(), st.data())
def test_a_key_is_changed_alone_and_back(case, data):
    maker, text = case
    draft = drafted(maker, text)
    parts = [*fields_in(draft.form), *groups_in(draft.form)]
    entries = [each for each in parts if each.key is not None]
    if not entries:
        return
    entry = data.draw(st.sampled_from(entries))
    given_, _ = sent_form(draft)
    assert given_[entry.rename_name] == entry.key
    after = sent(maker, text, {**given_, entry.rename_name: "a new / key"})
    assert after.problems == {}
    renamed = (*entry.path[:-1], "a new / key")
    now = leaves(plain(after.text))
    back = {
        (*entry.path, *path[len(renamed) :]) if path[: len(renamed)] == renamed else path: each
        for path, each in now.items()
    }
    assert [*back.items()] == [*leaves(plain(text)).items()]  # In the same order, too.
    form = sent_form(after)[0]
    if entry.key and (place := f"rename {name_of(renamed)}") in form:
        assert sent(maker, after.text, {**form, place: entry.key}).text == text


@pytest.mark.full
@settings(max_examples=amount(100))
@given(cases(), st.data())
def test_buttons_add_and_remove_one_thing(case, data):
    maker, text = case
    draft = drafted(maker, text)
    given_, buttons = sent_form(draft)
    if not buttons:
        return
    button = data.draw(st.sampled_from(buttons))
    do, _, name = button.partition(" ")
    after = sent(maker, text, {**given_, "do": button, f"key {name}": "new key"})
    path = next(x.path for x in [*fields_in(draft.form), *groups_in(draft.form)] if x.name == name)
    before, now = leaves(plain(text)), leaves(plain(after.text))
    outside = lambda found: {k: v for k, v in found.items() if k[: len(path)] != path}  # noqa: E731
    if do == "add":
        assert len(now) >= len(before)
        assert outside(before).items() <= outside(now).items() or path
    if after.text != text:
        assert not after.problems
        assert sent(maker, after.text, sent_form(after)[0]).text == after.text
