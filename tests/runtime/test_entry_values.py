"""The JSON of entries is read with the classes of what it is merged with, and stays JSON where it is of none."""

import msgspec
import pytest

from trundle.runtime import ABSENT, BAG, Absent, PropertyBag, StorageObject
from trundle.runtime._bag import NoEntry
from trundle.runtime._entry_values import as_json, read_like
from trundle.runtime._objects import Made


class A(StorageObject, kw_only=True, tag_field="kind", tag="a"):
    x: str | Absent = ABSENT
    property_bag: PropertyBag | Absent = msgspec.field(default=ABSENT, name=BAG)


class B(StorageObject, kw_only=True, tag_field="kind", tag="b"):
    y: int | Absent = ABSENT
    property_bag: PropertyBag | Absent = msgspec.field(default=ABSENT, name=BAG)


class One(StorageObject, kw_only=True):
    x: str


class Two(StorageObject, kw_only=True):
    y: int


def raw(text):
    return msgspec.Raw(text.encode())


def plain(value):
    """A value in which JSON is text."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return ("JSON", bytes(value).decode()) if isinstance(value, msgspec.Raw) else value


def test_elements_are_objects_of_the_classes_that_they_fit():
    known = raw('[{"kind": "b", "y": 1}, {"kind": "a", "x": "1"}]')
    assert read_like(known, [A()], [B()]) == [B(y=1), A(x="1")]
    assert read_like(raw('{"m": {"kind": "a"}}'), {"n": A()}) == {"m": A()}


def test_a_class_that_an_element_fits_comes_before_one_in_which_some_of_it_is_unknown():
    known = raw('[{"y": 1, "x": "1"}, {"y": 1}]')
    found = read_like(known, [One(x="")], [Two(y=0)])
    assert [type(each) for each in found] == [One, Two]


def test_what_is_of_none_of_the_classes_stays_json():
    known = raw('[{"kind": "c", "z": 1.10}, "text", {"kind": "a"}]')
    expected = [{"kind": ("JSON", '"c"'), "z": ("JSON", "1.10")}, ("JSON", '"text"'), A()]
    assert plain(read_like(known, [A()])) == expected


def test_an_object_is_none_where_it_is_of_another_variant_or_cannot_be_read():
    assert read_like(raw('{"kind": "a", "x": "1"}'), A(), A()) == A(x="1")
    for text in ('{"kind": "b", "y": 1}', '{"kind": "a", "x": 1}', '["a"]'):
        assert read_like(raw(text), A(), A()) is None
    later = read_like(raw('{"kind": "a", "x": "1", "z": [1.10]}'), A(), A())
    assert later.x == "1"
    assert bytes(later.unknown["z"]) == b"[1.10]"


def test_free_form_elements_stay_json_and_plain_ones_are_values():
    known = raw('[{"z": 1.10}, "text", 2]')
    free = [("JSON", '{"z": 1.10}'), ("JSON", '"text"'), ("JSON", "2")]
    assert plain(read_like(known, [raw("1")])) == free
    assert plain(read_like(known, ["other"])) == [{"z": ("JSON", "1.10")}, "text", 2]
    assert read_like(raw('{"m": "text", "n": 2}'), {"m": "other"}) == {"m": "text", "n": 2}


@pytest.mark.parametrize(("known", "like"), [("{}", ["a"]), ("[]", {"a": 1}), ("1", A())])
def test_what_is_of_another_kind_is_nothing_to_merge_with(known, like):
    assert read_like(raw(known), like) is None


def test_a_merged_value_is_json_where_some_of_it_is():
    values = [A(x="1")]
    assert as_json(values) is values
    assert bytes(as_json([A(x="1"), raw('{"z":1.10}')])) == b'[{"kind":"a","x":"1"},{"z":1.10}]'


def test_a_merged_value_that_is_json_has_no_marks_of_what_its_writer_left_unsaid():
    made = A(x="1", property_bag={"y": {"v1": NoEntry("z")}})
    made.unknown = Made()
    assert bytes(as_json({"m": made, "n": raw("1.10")})) == b'{"m":{"kind":"a","x":"1"},"n":1.10}'
