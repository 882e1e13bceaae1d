"""Labels and annotations that hooks write: each belongs to the versions on one side, and to no other."""

import json

import pytest
from amounts import amount
from evolving import Store, evolve, forget, hooked
from hypothesis import given, settings
from hypothesis import strategies as st

from trundle.runtime import ABSENT, HookError, LabelError

V1, V2, V3 = "2020-01-01", "2021-01-01", "2022-01-01"
KEY = "crm.example/tier"
LABEL = f"metadata.labels[{KEY}]"
PAUSED = "metadata.annotations[paused]"


@pytest.fixture
def install():
    made = []

    def install(versions, *more, **options):
        made.append(evolve(versions, *more, **options))
        return made[-1]

    yield install
    for scheme in made:
        forget(scheme)


def thing(version, **properties):
    return {"apiVersion": version, "kind": "Thing", **properties}


class Tier:
    """The older side has a number, the newer a label with a word for it."""

    def assign_to(self, source):
        return {"metadata_labels_crm_example_tier": "gold" if source.level > 9 else "plain"}

    def assign_from(self, source):
        return {"level": 10 if source.metadata_labels_crm_example_tier == "gold" else 1}


VERSIONS = {
    V1: {"Thing": {"level": "integer", "x": "string"}},
    V2: {"Thing": {"x": "string"}},
    V3: {"Thing": {"x": "string", "y": "string"}},
}
TIER = hooked(V1, V2, Tier, to=(("level",), (LABEL,)), back=((LABEL,), ("level",)))
EVERY = pytest.mark.parametrize("hub", [V1, V2, V3])


def named(**labels):
    return {"name": "t", **({"labels": labels} if labels else {})}


def tier(text, **more):
    return {"name": "t", "labels": {**more, KEY: text}}


@EVERY
def test_a_label_is_shown_in_the_versions_on_its_side(install, hub):
    store = Store(install(VERSIONS, TIER, hub=hub)).put(V1, level=12, metadata=named(a="b"))
    assert store.read(V1) == {"level": 12, "metadata": named(a="b")}
    assert store.read(V2) == {"metadata": tier("gold", a="b")}
    assert store.read(V3) == {"metadata": tier("gold", a="b")}


@EVERY
def test_a_document_without_metadata_gets_some_for_the_label(install, hub):
    store = Store(install(VERSIONS, TIER, hub=hub)).put(V1, level=1)
    assert store.read(V2) == {"metadata": {"labels": {KEY: "plain"}}}
    assert store.read(V1) == {"level": 1}


@EVERY
@pytest.mark.parametrize("text", ["gold", "silver"])
@pytest.mark.parametrize("version", [V2, V3])
def test_a_client_reads_the_label_that_it_wrote(install, hub, version, text):
    store = Store(install(VERSIONS, TIER, hub=hub)).put(version, x="x", metadata=tier(text))
    assert store.read(version) == {"x": "x", "metadata": tier(text)}
    assert store.read(V1) == {"x": "x", "level": 10 if text == "gold" else 1, "metadata": named()}


@EVERY
def test_writing_what_one_reads_changes_nothing(install, hub):
    store = Store(install(VERSIONS, TIER, hub=hub)).put(V1, level=12, metadata=named(a="b"))
    before = store.stored
    for version in (V1, V2, V3):
        assert store.put(version, **store.read(version)).stored == before


@EVERY
def test_an_edit_of_the_label_reaches_the_older_side(install, hub):
    store = Store(install(VERSIONS, TIER, hub=hub)).put(V1, level=12, x="x", metadata=named(a="b"))
    store.edit(V3, metadata=tier("plain", a="b"))
    assert store.read(V1) == {"level": 1, "x": "x", "metadata": named(a="b")}
    assert store.read(V2) == {"x": "x", "metadata": tier("plain", a="b")}
    store.edit(V1, level=30)
    assert store.read(V3) == {"x": "x", "metadata": tier("gold", a="b")}


@EVERY
def test_a_client_may_remove_the_label(install, hub):
    store = Store(install(VERSIONS, TIER, hub=hub)).put(V1, level=12, metadata=named(a="b"))
    store.edit(V2, metadata=named(a="b"))
    assert store.read(V2) == {"metadata": named(a="b")}
    assert store.read(V3) == {"metadata": named(a="b")}
    assert store.read(V1) == {"metadata": named(a="b")}


@EVERY
def test_a_label_of_the_same_name_stays_with_the_other_side(install, hub):
    own = tier("mine", a="b")
    store = Store(install(VERSIONS, TIER, hub=hub)).put(V1, level=12, metadata=own)
    assert store.read(V1) == {"level": 12, "metadata": own}
    assert store.read(V2) == {"metadata": tier("gold", a="b")}
    store.edit(V2, metadata={**tier("plain", a="c"), "resourceVersion": "7"})
    assert store.read(V1) == {
        "level": 1,
        "metadata": {**tier("mine", a="c"), "resourceVersion": "7"},
    }
    store.edit(V3, metadata=named(a="c"))
    assert store.read(V1) == {"metadata": tier("mine", a="c")}
    assert store.read(V2) == {"metadata": named(a="c")}
    store.edit(V1, metadata=named(a="c"))
    assert store.read(V2) == {"metadata": named(a="c")}


@EVERY
@pytest.mark.parametrize("labels", [{}, None, ["odd"], "odd"])
def test_labels_with_nothing_in_them_stay_as_their_writer_has_them(install, hub, labels):
    own = {"name": "t", "labels": labels}
    store = Store(install(VERSIONS, TIER, hub=hub)).put(V1, level=12, metadata=own)
    store.edit(V2, metadata={**tier("gold"), "resourceVersion": "7"})
    assert store.read(V1) == {"level": 12, "metadata": {**own, "resourceVersion": "7"}}


def test_the_rest_of_metadata_keeps_its_spelling(install):
    scheme = install(VERSIONS, TIER)
    data = f'{{"apiVersion":"{V2}","kind":"Thing","metadata":{{"n":1.00,"labels":{{"{KEY}":"gold"}}}}}}'
    assert b'"metadata":{"n":1.00}' in scheme.convert_json(data.encode(), V1)
    assert b'"n":1.00,"labels":{' in scheme.convert_json(data.encode(), V3)


def test_a_store_has_the_label_apart_from_metadata(install):
    scheme = install(VERSIONS, TIER)
    stored = scheme.put(V2, thing(V2, metadata=tier("gold", a="b")))
    assert stored["metadata"] == named(a="b")
    assert stored[LABEL] == "gold"


@EVERY
def test_conversions_of_documents_agree_with_those_of_stored_ones(install, hub):
    scheme = install(VERSIONS, TIER, hub=hub)
    document = thing(V1, level=12, metadata=named(a="b"))
    shown = scheme.convert(document, V3)
    assert shown == thing(V3, metadata=tier("gold", a="b"))
    assert json.loads(scheme.convert_json(json.dumps(document).encode(), V3)) == shown
    assert scheme.convert(shown, V2) == thing(V2, metadata=tier("gold", a="b"))
    assert scheme.convert(shown, V1) == thing(V1, level=10, metadata=named(a="b"))


def test_a_label_that_is_not_text_is_refused(install):
    scheme = install(VERSIONS, TIER)
    with pytest.raises(
        LabelError, match=r'expected text as metadata.labels\["crm.example/tier"\], found 5'
    ):
        scheme.put(V2, thing(V2, metadata=tier(5)))


@EVERY
def test_what_was_stored_before_there_was_the_hook_is_shown_until_it_is_removed(install, hub):
    old = tier("old", a="b")
    kept = {"apiVersion": hub, "kind": "Thing", "metadata": old, "$writtenWith": hub}
    scheme = install(VERSIONS, TIER, hub=hub)
    store = Store(scheme, kept)
    assert [store.read(version)["metadata"] for version in VERSIONS] == [old, old, old]
    for version in VERSIONS:
        assert store.put(version, **store.read(version)).stored == kept
    store.edit(V2, metadata={**tier("new", a="b"), "resourceVersion": "7"})
    assert store.read(V1)["metadata"] == {**old, "resourceVersion": "7"}
    assert store.read(V3)["metadata"] == {**tier("new", a="b"), "resourceVersion": "7"}
    store.edit(V1, metadata=named(a="b"))
    assert store.read(V1)["metadata"] == named(a="b")
    assert store.read(V2)["metadata"] == tier("new", a="b")


class Reads(Tier):
    def assign_to(self, source):
        labels = {} if source.metadata is ABSENT else source.metadata.get("labels", {})
        return {"metadata_labels_crm_example_tier": ",".join(sorted(labels)) or "none"}


@EVERY
def test_a_hook_that_reads_metadata_does_not_find_there_what_hooks_write(install, hub):
    reads = hooked(V1, V2, Reads, to=(("level", "metadata"), (LABEL,)))
    scheme = install(VERSIONS, reads, hub=hub)
    store = Store(scheme).put(V1, level=12, metadata=tier("mine", a="b"))
    assert store.read(V2)["metadata"] == tier("a", a="b")
    assert scheme.convert(thing(V1, level=1, metadata=tier("x")), V2)["metadata"] == tier("none")


class Wrong:
    def assign_to(self, source):
        return {"metadata_labels_crm_example_tier": source.level}


def test_a_hook_that_writes_anything_else_than_text_is_refused(install):
    scheme = install(VERSIONS, hooked(V1, V2, Wrong, to=(("level",), (LABEL,))))
    with pytest.raises(HookError, match="wrong type: Expected `str`, got `int`"):
        scheme.convert(thing(V1, level=1), V2)


class Promoted:
    """An annotation of the older side became a property."""

    def assign_to(self, source):
        return {"paused": source.metadata_annotations_paused == "true"}

    def assign_from(self, source):
        return {"metadata_annotations_paused": "true" if source.paused else ABSENT}


PROMOTED = hooked(V1, V2, Promoted, to=((PAUSED,), ("paused",)), back=(("paused",), (PAUSED,)))


@pytest.mark.parametrize("hub", [V1, V2])
def test_an_annotation_of_the_older_side(install, hub):
    versions = {V1: {"Thing": {"x": "string"}}, V2: {"Thing": {"x": "string", "paused": "boolean"}}}
    store = Store(install(versions, PROMOTED, hub=hub))
    store.put(V1, metadata={"annotations": {"paused": "true", "b": "c"}})
    assert store.read(V2) == {"paused": True, "metadata": {"annotations": {"b": "c"}}}
    store.edit(V2, paused=False)
    assert store.read(V1) == {"metadata": {"annotations": {"b": "c"}}}
    store.edit(V1, metadata={"annotations": {"b": "c", "paused": "True"}})
    assert store.read(V1) == {"metadata": {"annotations": {"b": "c", "paused": "True"}}}
    assert store.read(V2) == {"paused": False, "metadata": {"annotations": {"b": "c"}}}


LABELS = st.dictionaries(
    st.sampled_from([KEY, "a"]), st.sampled_from(["gold", "plain", "odd"]), max_size=2
)
METADATA = st.fixed_dictionaries(
    {}, optional={"labels": st.one_of(st.none(), LABELS), "name": st.just("t")}
)
DOCUMENTS = st.one_of(
    st.fixed_dictionaries(
        {"apiVersion": st.just(version), "kind": st.just("Thing")},
        optional={
            "metadata": METADATA,
            **{name: st.sampled_from(["x", "y"]) for name in names},
            **({"level": st.integers(8, 11)} if version == V1 else {}),
        },
    )
    for version, names in ((V1, "x"), (V2, "x"), (V3, "xy"))
)


@pytest.fixture(scope="module", params=[V1, V2, V3])
def labelled(request):
    scheme = evolve(VERSIONS, TIER, hub=request.param)
    yield scheme
    forget(scheme)


@settings(max_examples=amount(150), deadline=None)
@given(st.lists(DOCUMENTS, min_size=1, max_size=4))
def test_the_laws_hold_for_every_writer_of_labels(labelled, documents):
    """Each version reads what it wrote, writing that back changes nothing, and others keep what they have."""
    stored = None
    for document in documents:
        version = document["apiVersion"]
        before = {} if stored is None else {v: labelled.convert(stored, v) for v in VERSIONS}
        stored = labelled.put(version, document, stored)
        after = {v: labelled.convert(stored, v) for v in VERSIONS}
        assert after[version] == document
        for each, seen in after.items():
            assert labelled.put(each, seen, stored) == stored
        assert after[V2].get("metadata") == after[V3].get("metadata")
        if before and version != V1:
            assert labels(after[V1]).get(KEY) == labels(before[V1]).get(KEY)
        if before and before[version] == document:
            assert after == before


def labels(document):
    return document.get("metadata", {}).get("labels") or {}
