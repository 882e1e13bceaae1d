"""What a version shows of kept fields is what it shows of the object itself: a generated package converts that."""

import itertools
import json

import pytest
from amounts import amount
from cases import CASES, invented
from evolving import Store, evolution, load, rules, thing

from trundle.api.apply import (
    ApplyConflictError,
    LineageWords,
    Writer,
    applied,
    resource_shape,
    shown_fields,
    updated,
)
from trundle.api.apply._differences import fields_of
from trundle.api.apply._fields import decode, encode
from trundle.verify._cover import covering
from trundle.version import ApiVersion

SHOWN = (
    "lists with a key property",
    "gap, objects",
    "additional, nested",
    "map to list",
    "recursion",
    "previews only",
)
"""The evolutions of which packages are made."""
VERSIONS = {
    "2011-01-01": {
        "Thing": {"name": "string", "phone": "string", "fax": "string", "email": "string", "home": "Home",
                  "addresses": "[Address;id]", "tags": "{string}", "homes": "{Home}", "free": "any", "more": "More"},
        "Address": {"id": "string", "street": "string", "zip": "string"},
        "Home": {"city": "string", "zip": "string"},
        "More": {"*": "integer"},
    },
    "2016-01-01": {
        "Thing": {"name": "string", "mobile": "string", "email": "string", "home": "Home", "city": "string",
                  "addresses": "[Address;code]", "labels": "{string}", "homes": "{Home}", "free": "any", "more": "More"},
        "Address": {"code": "string", "road": "string", "zip": "integer"},
        "Home": {"zip": "string"},
        "More": {"a": "string", "*": "integer"},
    },
    "2019-01-01": {
        "Thing": {"name": "string", "mobile": "string", "emails": "[string]", "home": "Home", "city": "string",
                  "addresses": "[Address;code]", "labels": "{string}", "homes": "{Home}", "free": "any", "more": "More",
                  "nick": "string"},
        "Address": {"code": "string", "road": "string", "zip": "integer"},
        "Home": {"zip": "string"},
        "More": {"a": "string", "*": "integer"},
    },
}  # fmt: skip
CHANGES = (
    rules("2011-01-01", rename={"phone": "mobile", "tags": "labels"}, move={"home.city": "city"}),
    rules("2011-01-01", "Address", rename={"id": "code", "street": "road"}),
    rules("2016-01-01", wrap={"email": "emails"}),
)
OLDEST, MIDDLE, NEWEST = map(ApiVersion.parse, VERSIONS)
DOCUMENTS = {
    OLDEST: {
        "name": "a", "email": "e", "phone": "1", "fax": "2", "home": {"city": "x", "zip": "z"},
        "addresses": [{"id": "i", "street": "s"}, {"id": "j", "zip": "z"}], "tags": {"t": "u"},
        "homes": {"h": {"zip": "z"}}, "free": {"a": {"b": 1}}, "more": {"n": 1},
    },
    MIDDLE: {
        "name": "a", "mobile": "1", "home": {"zip": "z"}, "city": "x",
        "addresses": [{"code": "i", "road": "s", "zip": 1}, {"code": "j"}], "labels": {"t": "u"},
        "homes": {"h": {"zip": "z"}}, "free": {"a": {"b": 1}}, "more": {"n": 1},
    },
    NEWEST: {
        "name": "a", "emails": ["e"], "mobile": "1", "nick": "n", "addresses": [{"code": "i", "road": "s", "zip": 1}],
        "labels": {"t": "u"}, "more": {"a": "x", "n": 1},
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def evolved():
    return evolution(VERSIONS, *CHANGES)


@pytest.fixture(scope="module")
def scheme(evolved):
    return load(evolved)


def words(evolved, version):
    return LineageWords(evolved.resources[0].root, version, NEWEST)


def stated(evolved, version, document):
    schema = evolved.schema(version)
    return fields_of(resource_shape(schema, schema.resources[0]), document)


@pytest.mark.parametrize("version", DOCUMENTS, ids=str)
def test_a_version_sees_its_own_fields_again(evolved, version):
    fields = stated(evolved, version, DOCUMENTS[version])
    kept = words(evolved, version).kept(fields, frozenset())
    assert len(kept) == len(fields)
    assert decode(encode(kept)) == kept
    assert words(evolved, version).shown(kept) == (fields, frozenset())


@pytest.mark.parametrize(
    ("writer", "reader"), list(itertools.product(DOCUMENTS, repeat=2)), ids=str
)
def test_another_version_sees_the_fields_that_it_shows(evolved, scheme, writer, reader):
    fields = stated(evolved, writer, DOCUMENTS[writer])
    seen = Store(scheme).put(str(writer), **DOCUMENTS[writer]).read(str(reader))
    shown, hidden = words(evolved, reader).shown(words(evolved, writer).kept(fields, frozenset()))
    # An owner of `email` owns nothing of `emails`: the conversion of the list to its one value is not exact.
    apart = (
        frozenset()
        if NEWEST not in {writer, reader} or writer == reader
        else {("f:email",), ("f:emails",)}
    )
    assert shown == stated(evolved, reader, seen) - apart
    assert words(evolved, writer).shown(words(evolved, reader).kept(shown, hidden)) == (
        fields,
        frozenset(),
    )


def test_what_a_later_release_kept_is_hidden_from_an_earlier_one(evolved):
    """A release that is rolled back to keeps the owners of what it does not know."""
    fields = frozenset({("b:2030-01-01:nick",), ("f:home", "b:2011-01-01:unknown"), ("f:mobile",)})
    for version in DOCUMENTS:
        shown, hidden = words(evolved, version).shown(fields)
        assert len(shown) == 1
        assert words(evolved, version).kept(shown, hidden) == fields


def test_fields_are_kept_by_the_names_of_the_hub(evolved):
    fields = stated(evolved, OLDEST, DOCUMENTS[OLDEST])
    code = {".": {}, "f:code": {}}
    assert encode(words(evolved, OLDEST).kept(fields, frozenset())) == {
        "b:2011-01-01:fax": {},
        "b:2016-01-01:email": {},
        "f:addresses": {
            'k:{"code":"i"}': {**code, "f:road": {}},
            'k:{"code":"j"}': {**code, "b:2011-01-01:zip": {}},
        },
        "f:city": {},
        "f:free": {"f:a": {".": {}, "f:b": {}}},
        "f:home": {"f:zip": {}},
        "f:homes": {"f:h": {".": {}, "f:zip": {}}},
        "f:labels": {"f:t": {}},
        "f:mobile": {},
        "f:more": {"f:n": {}},
        "f:name": {},
    }


def test_values_of_another_structure_are_shown_to_their_own_version_alone(evolved):
    fields = decode({"f:email": {"f:inside": {}}, "f:unheard": {"f:of": {}}})
    kept = words(evolved, OLDEST).kept(fields, frozenset())
    assert encode(kept) == {
        "w:2011-01-01:email": {"f:inside": {}},
        "w:2011-01-01:unheard": {"f:of": {}},
    }
    assert words(evolved, OLDEST).shown(kept) == (fields, frozenset())
    assert words(evolved, NEWEST).shown(kept) == (frozenset(), kept)


class Kept:
    """A stored object with its owners, as clients of each version write it."""

    def __init__(self, evolved, scheme):
        self.evolved, self.store = evolved, Store(scheme)
        self.managed = []

    def writer(self, name, version):
        schema = self.evolved.schema(version)
        shape = resource_shape(schema, schema.resources[0])
        now = "2026-01-01T00:00:00Z"
        return Writer(name, str(version), shape, now, words=words(self.evolved, version))

    def seen(self, version):
        """The object as it is kept, at a version."""
        spec = self.store.read(str(version)) if self.store.stored else {}
        metadata = {"uid": "1"} if self.store.stored else {}
        if self.managed:
            metadata["managedFields"] = self.managed
        return thing(str(version), metadata=metadata, **spec)

    def keep(self, version, written):
        self.managed = written["metadata"]["managedFields"]
        rest = {
            name: each
            for name, each in written.items()
            if name not in ("apiVersion", "kind", "metadata")
        }
        self.store.put(str(version), **rest)

    def apply(self, name, version, *, force=False, **properties):
        config = thing(str(version), **properties)
        self.keep(
            version, applied(self.writer(name, version), self.seen(version), config, force=force)
        )

    def owners(self, version):
        entries = self.shown(version)["metadata"].get("managedFields", ())
        return {each["manager"]: each["fieldsV1"] for each in entries}

    def shown(self, version):
        """The object with its owners, as the server shows it to clients of a version."""
        found, said = self.seen(version), words(self.evolved, version)
        entries = [
            {**each, "fieldsV1": fields}
            for each in found["metadata"].pop("managedFields", ())
            if (fields := shown_fields(each["fieldsV1"], said))
        ]
        return {**found, "metadata": {**found["metadata"], "managedFields": entries}}


def test_an_apply_takes_and_gives_up_only_what_its_version_can_show(evolved, scheme):
    kept = Kept(evolved, scheme)
    kept.apply("ann", NEWEST, mobile="1", nick="n", city="x")
    kept.apply("ann", OLDEST, phone="2", fax="f")
    assert kept.store.read(str(NEWEST)) == {"mobile": "2", "nick": "n"}
    assert kept.store.read(str(OLDEST)) == {"phone": "2", "fax": "f"}
    assert kept.owners(NEWEST) == {"ann": {"f:mobile": {}, "f:nick": {}}}
    assert kept.owners(OLDEST) == {"ann": {"f:fax": {}, "f:phone": {}}}
    kept.apply("ann", NEWEST, mobile="2")
    assert kept.store.read(str(NEWEST)) == {"mobile": "2"}
    assert kept.owners(OLDEST) == {"ann": {"f:fax": {}, "f:phone": {}}}


def test_a_conflict_is_named_in_the_words_of_the_version_that_asks(evolved, scheme):
    kept = Kept(evolved, scheme)
    kept.apply("ann", NEWEST, mobile="1", addresses=[{"code": "i", "road": "s"}])
    with pytest.raises(ApplyConflictError) as raised:
        kept.apply("ben", OLDEST, phone="2", addresses=[{"id": "i", "street": "t"}])
    assert {each.field for each in raised.value.conflicts} == {
        ".phone",
        '.addresses[id="i"].street',
    }
    kept.apply("ben", OLDEST, phone="2", force=True)
    assert kept.owners(MIDDLE)["ben"] == {"f:mobile": {}}


def test_clients_that_write_owners_leave_alone_what_they_cannot_see(evolved, scheme):
    kept = Kept(evolved, scheme)
    kept.apply("ann", NEWEST, mobile="1", nick="n")
    seen = kept.shown(OLDEST)
    assert kept.owners(OLDEST) == {"ann": {"f:phone": {}}}
    seen["metadata"]["managedFields"][0]["fieldsV1"] = {"f:name": {}}
    kept.keep(
        OLDEST, updated(kept.writer("cleo", OLDEST), kept.seen(OLDEST), {**seen, "phone": "3"})
    )
    assert kept.owners(NEWEST) == {"ann": {"f:name": {}, "f:nick": {}}, "cleo": {"f:mobile": {}}}
    seen["metadata"]["managedFields"] = [{}]
    kept.keep(
        OLDEST, updated(kept.writer("cleo", OLDEST), kept.seen(OLDEST), {**seen, "phone": "3"})
    )
    assert kept.owners(NEWEST) == {"ann": {"f:nick": {}}}


def documents(evolved, version):
    schema = evolved.schema(version)
    found = itertools.islice(covering(schema, schema.resources[0]), 12)
    return [json.loads(each) for each in found]


@pytest.mark.parametrize("name", [*CASES, *(f"invented {seed}" for seed in range(amount(200)))])
def test_so_it_is_in_any_evolution(name):
    word, _, seed = name.partition(" ")
    case = invented(int(seed)) if word == "invented" else CASES[name]
    made = evolution(case.versions, *case.more)
    (resource,) = made.resources
    hub = resource.versions.hub
    for version in resource.versions.versions:
        own = LineageWords(resource.root, version, hub)
        for document in documents(made, version):
            fields = stated(made, version, document)
            kept = own.kept(fields, frozenset())
            assert decode(encode(kept)) == kept
            assert own.shown(kept) == (fields, frozenset()), (version, document, encode(kept))


@pytest.mark.parametrize("name", SHOWN)
def test_a_version_shows_no_field_that_its_object_lacks(name):
    made = evolution(CASES[name].versions, *CASES[name].more)
    scheme = load(made)
    (resource,) = made.resources
    hub = resource.versions.hub
    for writer, reader in itertools.permutations(resource.versions.versions, 2):
        for document in documents(made, writer):
            rest = {
                key: each for key, each in document.items() if key not in ("apiVersion", "kind")
            }
            seen = Store(scheme).put(str(writer), **rest).read(str(reader))
            kept = LineageWords(resource.root, writer, hub).kept(
                stated(made, writer, document), frozenset()
            )
            shown, _ = LineageWords(resource.root, reader, hub).shown(kept)
            bare = {path for path in shown if path[0] not in ("f:apiVersion", "f:kind")}
            assert bare <= stated(made, reader, seen), (writer, document, reader, seen)


@pytest.mark.parametrize(
    ("version", "hub"), list(itertools.product(DOCUMENTS, (OLDEST, MIDDLE))), ids=str
)
def test_fields_that_an_earlier_hub_kept_are_those_of_the_hub(evolved, version, hub):
    fields = stated(evolved, version, DOCUMENTS[version])
    before = LineageWords(evolved.resources[0].root, version, hub).kept(fields, frozenset())
    now = words(evolved, version)
    assert now.shown(now.moved(before, str(hub))) == (fields, frozenset())
    assert now.moved(before, str(hub)) == now.kept(fields, frozenset())


@pytest.mark.parametrize("by", ["2030-01-01", "no version"])
def test_words_of_a_hub_that_is_not_known_are_not_read(evolved, by):
    assert words(evolved, OLDEST).moved(frozenset({("f:name",)}), by) is None
