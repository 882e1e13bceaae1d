import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trundle.runtime import (
    ABSENT,
    fit,
    free_form,
    from_free_form,
    map_text,
    other_members,
    present,
    present_members,
    present_or_none,
    single,
    take_named,
    through,
    to_enum,
    to_free_form,
    with_named,
)
from trundle.runtime._bases import ApiObject


class Place(ApiObject, kw_only=True):
    street: str
    town: str = "T"


@pytest.mark.parametrize(
    ("value", "kinds", "fits"),
    [
        (1, ("integer",), True),
        (1.0, ("integer",), False),
        (True, ("integer",), False),
        (True, ("number",), False),
        (True, ("boolean",), True),
        (1, ("number",), True),
        (math.pi, ("number",), True),
        ("a", ("integer", "string"), True),
        (None, ("string",), False),
    ],
)
def test_a_scalar_fits_where_it_is_of_a_kind(value, kinds, fits):
    assert fit(value, *kinds) is (value if fits else ABSENT)


def test_reading_as_an_enum_gives_the_enums_own_letter_case():
    own = {"red": "Red", "strasse": "Straße"}
    assert [to_enum(text, own) for text in ("RED", "STRASSE", "blue", "")] == [
        "Red",
        "Straße",
        "blue",
        "",
    ]


def test_configured_values_change_and_all_others_stay():
    assert [map_text(value, {"on": "yes"}) for value in ("on", "On", 5, None)] == [
        "yes",
        "On",
        5,
        None,
    ]


def test_absent_elements_and_members_are_left_out_and_nulls_are_not():
    assert present([1, ABSENT, None]) == [1, None]
    assert present_members([("a", 1), ("b", ABSENT), ("c", None)]) == {"a": 1, "c": None}


def test_what_is_absent_stays_absent_through_all_steps():
    assert through("1", int, lambda value: value + 1) == 2
    assert through("x", lambda value: ABSENT, pytest.fail) is ABSENT


def test_additional_properties_are_taken_and_put_back_by_name():
    members = {"a": 1, "b": 2}
    assert take_named(members, "a") == 1
    assert take_named(members, "z") is take_named(ABSENT, "a") is ABSENT
    assert other_members(members, ("a",)) == {"b": 2}
    assert other_members(members, ("a", "b")) is ABSENT
    assert other_members(ABSENT, ("a",)) is ABSENT
    assert with_named({"b": 2}, ("a", 1), ("c", ABSENT)) == {"b": 2, "a": 1}
    assert with_named(ABSENT, ("a", 1)) == {"a": 1}
    assert with_named(ABSENT, ("a", ABSENT)) is ABSENT
    assert members == {"a": 1, "b": 2}


def test_a_list_is_recognised_by_its_first_element():
    assert single([1, 2]) == 1
    assert single([]) is single(ABSENT) is single(None) is ABSENT


def test_what_a_stored_object_has_or_none():
    assert present_or_none(Place(street="S").street) == "S"
    assert present_or_none(ABSENT) is None


@pytest.mark.full
@given(st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text(), st.lists))
def test_free_form_data_reads_back(value):
    assert from_free_form(free_form(value), object if value is None else type(value)) == value


def test_free_form_data_that_does_not_fit_is_absent():
    assert from_free_form(free_form("x"), int) is ABSENT
    assert from_free_form(free_form({"street": 5}), Place) is ABSENT
    assert from_free_form(free_form({"street": "S"}), Place) == Place(street="S")
    assert bytes(to_free_form(Place(street="S"))) == b'{"street":"S","town":"T"}'
