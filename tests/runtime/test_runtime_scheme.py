import copy
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from evolving import evolution, evolve, hooked, load, parse_schema, thing

from trundle.evolution import Evolution
from trundle.runtime import BagError, ConversionError, DocumentError, UnknownVersionError
from trundle.schema import Resource

VERSIONS = {
    "v1": {
        "Thing": {"a": "string", "old": "string", "in": "In", "many": "[In]"},
        "In": {"x": "string"},
    },
    "v2alpha1": {"Thing": {"a": "string", "tried": "integer"}},
    "v2": {
        "Thing": {"a": "string", "new": "string", "in": "In", "many": "[In]"},
        "In": {"x": "string", "y": "string"},
    },
}


@pytest.fixture(scope="module")
def scheme():
    return evolve(VERSIONS)


@pytest.fixture(scope="module")
def pets():
    """Two resource types, with a group, as Kubernetes has them."""
    schemas = []
    for version in ("v1", "v2"):
        plain = parse_schema(version, {"Dog": {"name": "string"}, "Cat": {"name": "string"}})
        resources = tuple(Resource(name, name, group="pets.example") for name in ("Cat", "Dog"))
        schemas.append(type(plain)(plain.version, plain.definitions, resources))
    return load(Evolution(tuple(schemas)))


def test_a_document_is_kept_at_the_hub_with_the_version_it_was_written_with(scheme):
    assert scheme.convert(thing("v1", a="x", old="o")) == {
        "apiVersion": "v2",
        "kind": "Thing",
        "a": "x",
        "$writtenWith": "v1",
        "$propertyBag": {"old": {"v1": {"value": "o"}}},
    }


def test_every_version_is_converted_to_every_other(scheme):
    for source in VERSIONS:
        for target in VERSIONS:
            assert scheme.convert(thing(source, a="x"), target) == thing(target, a="x")


def test_converting_to_the_same_version_gives_the_document_itself(scheme):
    document = thing("v1", old="o", many=[{}])
    assert scheme.convert(document, "v1") == document
    value = scheme.decode(json.dumps(document).encode())
    assert scheme.convert(value, "v1") == value


def test_the_input_is_never_changed(scheme):
    document = thing("v1", a="x", old="o", many=[{"x": "1"}])
    base = scheme.convert(thing("v2", a="y", many=[{"x": "1", "y": "2"}]))
    kept = copy.deepcopy((document, base))
    scheme.convert(document, base=base)
    scheme.convert(base, "v1")
    assert (document, base) == kept


def test_objects_convert_to_objects_and_are_never_changed(scheme):
    value = scheme.decode(json.dumps(thing("v1", a="x", old="o")).encode())
    before = scheme.encode(value)
    stored = scheme.convert(value)
    kept = scheme.encode(stored)
    seen = scheme.convert(stored, "v2")
    assert type(stored).__module__.endswith("storage.v2")
    assert type(seen).__module__.endswith("v2.types")
    assert scheme.convert(stored, "v1") == value
    assert (scheme.encode(value), scheme.encode(stored)) == (before, kept)


@pytest.mark.parametrize("kind", ["Thing", "thing", "THING"])
def test_the_letter_case_of_a_kind_is_forgiven_and_made_right(scheme, kind):
    for _ in range(2):
        found = scheme.convert({"apiVersion": "v1", "kind": kind, "a": "x"}, "v2")
        assert found == thing("v2", a="x")


def test_a_package_of_one_resource_type_needs_no_kind(scheme):
    assert scheme.convert({"apiVersion": "v1", "a": "x"}, "v2") == thing("v2", a="x")


def test_the_caller_may_name_what_the_document_does_not(scheme, pets):
    assert scheme.convert({"a": "x"}, "v2", version="v1") == thing("v2", a="x")
    found = pets.convert({"name": "Rex"}, "v2", version="v1", resource="dog")
    assert found == {"apiVersion": "pets.example/v2", "kind": "Dog", "name": "Rex"}


def test_a_group_stands_before_the_version(pets):
    for version in ("pets.example/v1", "v1"):
        found = pets.convert({"apiVersion": version, "kind": "Cat", "name": "Tom"}, "v2")
        assert found == {"apiVersion": "pets.example/v2", "kind": "Cat", "name": "Tom"}
    stored = pets.convert({"apiVersion": "pets.example/v1", "kind": "Cat", "name": "Tom"})
    assert stored["apiVersion"] == "pets.example/v2"
    assert pets.convert(stored, "v1")["apiVersion"] == "pets.example/v1"


def test_a_group_is_spelt_as_the_resource_type_spells_it(pets):
    found = pets.convert({"apiVersion": "Pets.Example/v1", "kind": "Cat", "name": "Tom"}, "v1")
    assert found == {"apiVersion": "pets.example/v1", "kind": "Cat", "name": "Tom"}


@pytest.mark.parametrize("group", ["zoo.example/", "example/", "pets.example/extra/", "/"])
def test_a_document_of_another_group_is_refused(pets, group):
    document = {"apiVersion": "pets.example/v1", "kind": "Cat", "name": "Tom"}
    stored = pets.convert(document)
    for each in (document, stored):
        version = each["apiVersion"].rpartition("/")[2]
        foreign = {**each, "apiVersion": f"{group}{version}"}
        for to in ("v2", "v1", None):
            with pytest.raises(UnknownVersionError) as raised:
                pets.convert(foreign, to)
            assert str(raised.value) == (
                "Cat is of the API group 'pets.example', but the `apiVersion` is "
                f"'{group}{version}'; write 'pets.example/{version}' if Cat is meant"
            )
    with pytest.raises(UnknownVersionError, match="is of the API group"):
        pets.convert(document, base={**stored, "apiVersion": f"{group}v2"})


def test_a_resource_type_without_a_group_takes_none(scheme):
    with pytest.raises(UnknownVersionError) as raised:
        scheme.convert(thing("example.org/v1", a="x"), "v2")
    assert str(raised.value) == (
        "Thing has no API group, but the `apiVersion` is 'example.org/v1'; "
        "write 'v1' if Thing is meant"
    )


@pytest.mark.parametrize(
    ("document", "to", "said"),
    [
        (
            {"apiVersion": "v9", "kind": "Thing"},
            None,
            "Thing has no version 'v9'; it has v1, v2alpha1, v2",
        ),
        (thing("v1"), "v9", "Thing has no version 'v9'; it has v1, v2alpha1, v2"),
        ({"kind": "Thing"}, None, "the document does not name its version by `apiVersion`"),
        ({"apiVersion": 5, "kind": "Thing"}, None, "does not name its version by `apiVersion`"),
        (
            {"apiVersion": "v1", "kind": "Pet"},
            None,
            "the document is of the resource type 'Pet'; ",
        ),
        (
            {"apiVersion": "v2alpha1", "kind": "Thing", "$writtenWith": "v1"},
            None,
            "Thing has no storage version 'v2alpha1'; it has v1, v2",
        ),
    ],
)
def test_an_unknown_version_or_resource_type_is_named_with_those_there_are(
    scheme, document, to, said
):
    for _ in range(2):
        with pytest.raises(UnknownVersionError) as raised:
            scheme.convert(document, to)
        assert said in str(raised.value)


def test_a_document_of_several_resource_types_must_name_its_own(pets):
    with pytest.raises(UnknownVersionError, match="does not name its resource type by `kind`"):
        pets.convert({"apiVersion": "v1", "name": "Tom"})


def test_a_version_that_contradicts_the_documents_own_is_an_error(scheme):
    with pytest.raises(UnknownVersionError, match="of version 'v1', but 'v2' was asked for"):
        scheme.convert(thing("v1"), version="v2")


def test_a_base_must_be_stored(scheme):
    with pytest.raises(
        ConversionError, match="expected a stored document, found one of version v2"
    ):
        scheme.convert(thing("v1"), base=thing("v2"))


def test_a_write_over_a_base_keeps_what_its_version_cannot_see(scheme):
    base = scheme.convert(thing("v2", a="x", new="n", many=[{"x": "1", "y": "2"}]))
    stored = scheme.convert(thing("v1", a="changed", many=[{"x": "1"}]), base=base)
    assert scheme.convert(stored, "v2") == thing(
        "v2", a="changed", new="n", many=[{"x": "1", "y": "2"}]
    )
    assert stored["$writtenWith"] == "v1"


def test_writing_back_what_one_read_changes_no_byte(scheme):
    base = scheme.convert_json(json.dumps(thing("v2", a="x", new="n")).encode())
    for version in VERSIONS:
        seen = scheme.convert_json(base, version)
        assert scheme.convert_json(seen, base=base) == base


def test_a_base_may_be_bytes_a_dictionary_or_an_object(scheme):
    base = scheme.convert(thing("v2", new="n"))
    data = json.dumps(base).encode()
    results = [
        scheme.convert(thing("v1", a="x"), base=each) for each in (base, data, scheme.decode(data))
    ]
    assert results[0] == results[1] == results[2]
    assert results[0]["new"] == "n"


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_documents_may_be_any_kind_of_bytes(scheme, kind):
    data = kind(json.dumps(thing("v1", a="x")).encode())
    for _ in range(2):
        assert scheme.convert(data, "v2") == thing("v2", a="x")
        assert json.loads(scheme.convert_json(data, "v2")) == thing("v2", a="x")
        assert scheme.decode(data).a == "x"


def test_what_a_caller_changes_in_a_result_stays_as_it_was_in_the_store(scheme):
    stored = scheme.to_storage(thing("v1", many=[{"x": "1"}]))
    seen = scheme.from_storage(stored, "v1")
    seen.many[0].x = "2"
    seen.many.append(type(seen.many[0])(x="3"))
    assert scheme.from_storage(stored, "v1").many[0].x == "1"
    put = scheme.to_storage(seen, stored)
    assert [each.x for each in scheme.from_storage(put, "v1").many] == ["2", "3"]
    seen.many[0].x = "4"
    assert [each.x for each in scheme.from_storage(put, "v1").many] == ["2", "3"]


def test_stored_objects_are_equal_by_what_is_in_their_bags(scheme):
    document = thing("v1", old="o", many=[{"x": "1"}])
    made, other = scheme.to_storage(document), scheme.to_storage(document)
    read = scheme.decode(scheme.encode(made))
    spaced = scheme.decode(json.dumps(json.loads(scheme.encode(made)), indent=1).encode())
    assert made == other == read == spaced
    assert made != scheme.to_storage(thing("v1", old="p", many=[{"x": "1"}]))
    assert scheme.to_storage(read, base=read) == read
    with pytest.raises(TypeError):
        hash(made)


def test_an_older_stored_object_is_read_and_rolled_forward(scheme):
    older = {**thing("v1", a="x", old="o", many=[{"x": "1"}]), "$writtenWith": "v1"}
    rolled = scheme.convert(older)
    assert rolled["apiVersion"] == "v2"
    assert rolled["$writtenWith"] == "v1"
    assert rolled["$propertyBag"] == {"old": {"v1": {"value": "o"}}}
    assert scheme.convert(older, "v1") == thing("v1", a="x", old="o", many=[{"x": "1"}])
    assert scheme.convert(older, "v2") == thing("v2", a="x", many=[{"x": "1"}])
    stored = scheme.convert(thing("v2", a="y", new="n"), base=older)
    assert scheme.convert(stored, "v1") == thing("v1", a="y", old="o")


def test_a_stored_object_that_need_not_roll_stays_itself(scheme):
    stored = scheme.convert(thing("v1", a="x", old="o"))
    assert scheme.convert(stored) == stored
    value = scheme.to_storage(thing("v1", a="x"))
    assert scheme.convert(value) == value


def test_to_and_from_storage(scheme):
    stored = scheme.to_storage(thing("v1", a="x", old="o"))
    assert scheme.from_storage(stored, "v1").old == "o"
    assert scheme.from_storage(json.loads(scheme.encode(stored)), "v2").a == "x"


def test_an_entry_that_cannot_be_read_names_object_path_and_version(scheme):
    stored = scheme.convert(thing("v1", old="o"))
    stored["$propertyBag"]["old"]["v1"]["value"] = 5
    kept = copy.deepcopy(stored)
    with pytest.raises(BagError) as raised:
        scheme.convert(stored, "v1")
    assert str(raised.value) == (
        "stored Thing v2: the entry 'old' of version v1 in the property bag cannot be read: "
        "Expected `str`, got `int` - at $"
    )
    assert stored == kept
    assert scheme.convert(stored, "v2") == thing("v2")


@pytest.mark.parametrize(
    "bag", [5, [], {"old": 5}, {"old": {"v1": 5}}, {"old": {"v1": {"beside": 5}}}]
)
def test_a_bag_that_is_none_is_a_document_error(scheme, bag):
    with pytest.raises(DocumentError, match="propertyBag"):
        scheme.convert({**thing("v2"), "$writtenWith": "v1", "$propertyBag": bag}, "v1")


def test_unknown_entries_travel_on(scheme):
    stored = scheme.convert(thing("v1", old="o"))
    stored["$propertyBag"]["later"] = {"v7": {"value": {"x": 1.10}}}
    edited = scheme.convert(thing("v2", a="x"), base=stored)
    assert edited["$propertyBag"]["later"] == {"v7": {"value": {"x": 1.10}}}


def test_metadata_is_carried_verbatim_and_partial_objects_convert(scheme):
    metadata = {"name": "x", "labels": {"a": "b"}, "generation": 3, "n": 1.10}
    document = {**thing("v1"), "metadata": metadata}
    assert scheme.convert(scheme.convert(document), "v2") == {**thing("v2"), "metadata": metadata}
    assert scheme.convert(thing("v1"), "v2alpha1") == thing("v2alpha1")


def test_nested_objects_convert_by_their_own_methods(scheme):
    value = scheme.decode(json.dumps(thing("v1", **{"in": {"x": "1"}})).encode())
    nested = next(
        getattr(value, name)
        for name, encoded in zip(
            value.__struct_fields__, value.__struct_encode_fields__, strict=True
        )
        if encoded == "in"
    )
    stored = nested.convert_to_storage()
    assert type(stored).__module__.endswith("storage.v2")
    assert type(nested).convert_from_storage(stored) == nested
    with pytest.raises(ConversionError, match="is not a resource type of"):
        scheme.convert(nested, "v2")


def test_root_objects_convert_by_their_own_methods_too(scheme):
    value = scheme.decode(json.dumps(thing("v1", a="x", old="o")).encode())
    stored = value.convert_to_storage()
    assert type(value).convert_from_storage(stored) == value
    older = scheme.decode(json.dumps({**thing("v1", old="o"), "$writtenWith": "v1"}).encode())
    rolled = older.convert_to_storage()
    assert type(rolled).__module__.endswith("storage.v2")
    assert scheme.encode(type(rolled).convert_from_storage(older)) == scheme.encode(rolled)
    with pytest.raises(ConversionError, match="nothing converts"):
        type(older).convert_from_storage(rolled)


def test_a_stored_root_that_rolls_by_its_own_method_stays_a_stored_document(scheme):
    older = scheme.decode(json.dumps({**thing("v1", old="o"), "$writtenWith": "v1"}).encode())
    assert older.convert_to_storage().written_with == "v1"


def test_a_class_that_is_kept_as_several_needs_the_name_of_one():
    shared = {"x": "string"}
    scheme = evolve(
        {
            "v1": {"Thing": {"one": "In", "two": "In"}, "~In": shared},
            "v2": {
                "Thing": {"one": "In", "two": "Two", "more": "string"},
                "In": {**shared, "y": "string"},
                "Two": {**shared, "z": "string"},
            },
        }
    )
    value = scheme.decode(json.dumps(thing("v1", one={"x": "1"}, two={"x": "2"})).encode())
    with pytest.raises(ConversionError, match=r"is kept as several storage classes: .*; name one"):
        value.one.convert_to_storage()
    stored = scheme.convert(value)
    assert value.one.convert_to_storage(type(stored.one)) == stored.one
    assert type(value.two).convert_from_storage(stored.two) == value.two


def test_a_foreign_class_does_not_belong_to_a_package():
    from trundle.runtime import ApiObject

    class Foreign(ApiObject):
        pass

    with pytest.raises(ConversionError, match="does not belong to a generated package"):
        Foreign().convert_to_storage()


def test_the_horizon_ends_serving_and_not_reading():
    scheme = load(evolution(VERSIONS), horizon=1)
    assert scheme.served == ("v2alpha1", "v2")
    assert scheme.convert(thing("v1", a="x", old="o"), "v2") == thing("v2", a="x")
    value = scheme.decode(json.dumps(thing("v1")).encode())
    assert type(value).__module__.endswith("compat.v1.types")


def test_a_resource_type_that_later_versions_drop_keeps_its_hub():
    schemas = (
        parse_schema("v1", {"Old": {"a": "string"}}, resource="Old"),
        parse_schema("v2", {"New": {"a": "string"}}, resource="New"),
    )
    scheme = load(Evolution(schemas))
    assert scheme.resources["Old"].hub == "v1"
    stored = scheme.convert({"apiVersion": "v1", "kind": "Old", "a": "x"})
    assert stored["apiVersion"] == "v1"
    with pytest.raises(UnknownVersionError, match="Old has no version 'v2'; it has v1"):
        scheme.convert(stored, "v2")


class Slow:
    def assign_to(self, source):
        return {"new": source.old.upper()}


@pytest.mark.full
def test_many_threads_convert_at_once():
    documents = [
        thing(version, a=f"a{number}", many=[{"x": str(number)}] * 5)
        for number in range(100)
        for version in ("v1", "v2")
    ]

    def work(fresh, document):
        stored = fresh.convert(document)
        edited = fresh.convert(thing("v2", a="z", new="n"), base=stored)
        return stored, edited, fresh.convert(edited, "v1"), fresh.convert(stored, "v2")

    alone = evolve(VERSIONS)
    expected = [work(alone, each) for each in documents]
    fresh = evolve(VERSIONS, hooked("v1", "v2", Slow, to=(("old",), ("new",))))
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda each: work(fresh, each), documents)) == expected


def test_equal_inputs_give_equal_bytes(scheme):
    data = json.dumps(thing("v1", a="x", old="o", many=[{"x": "1"}])).encode()
    assert len({scheme.convert_json(data) for _ in range(5)}) == 1
