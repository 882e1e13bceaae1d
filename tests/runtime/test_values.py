import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trundle.evolution import SCALAR_CONVERSIONS
from trundle.runtime import (
    ABSENT,
    convert_scalar,
    fit,
    free_form,
    from_free_form,
    map_text,
    other_members,
    present,
    present_members,
    put_member,
    single,
    take_member,
    take_named,
    through,
    to_enum,
    to_free_form,
    with_named,
    within,
)
from trundle.runtime._objects import ApiObject
from trundle.runtime._values import _SCALAR_CONVERSIONS


class Place(ApiObject, kw_only=True):
    street: str
    town: str = "T"


def test_every_conversion_that_may_be_configured_is_there_and_has_its_inverse():
    assert set(_SCALAR_CONVERSIONS) == set(SCALAR_CONVERSIONS)
    for name, inverse in SCALAR_CONVERSIONS.items():
        assert SCALAR_CONVERSIONS[inverse] == name


@given(st.integers())
def test_an_integer_comes_back_from_its_text(value):
    text = convert_scalar("integer-to-string", value)
    assert convert_scalar("string-to-integer", text) == value


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_comes_back_from_its_text_with_its_kind(value):
    found = convert_scalar("string-to-number", convert_scalar("number-to-string", value))
    assert found == value
    assert type(found) is type(value)


@given(st.booleans())
def test_a_boolean_comes_back_from_its_text(value):
    assert convert_scalar("boolean-to-string", value) == str(value).lower()
    found = convert_scalar("string-to-boolean", convert_scalar("boolean-to-string", value))
    assert found is value


@given(st.integers(0, 2**62))
def test_seconds_come_back_from_their_duration(value):
    text = convert_scalar("seconds-to-duration", value)
    assert convert_scalar("duration-to-seconds", text) == value


@pytest.mark.parametrize(
    ("seconds", "duration"),
    [(0, "PT0S"), (59, "PT59S"), (60, "PT1M"), (3600, "PT1H"), (90061, "PT25H1M1S")],
)
def test_durations_read_as_people_write_them(seconds, duration):
    assert convert_scalar("seconds-to-duration", seconds) == duration
    assert convert_scalar("duration-to-seconds", duration) == seconds


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("string-to-integer", ""),
        ("string-to-integer", "1.5"),
        ("string-to-integer", " 1"),
        ("string-to-integer", "+1"),
        ("string-to-integer", "01"),
        ("string-to-integer", "1_000"),
        ("string-to-integer", "1\n"),
        ("string-to-integer", "0x10"),
        ("string-to-integer", 5),
        ("string-to-number", "nan"),
        ("string-to-number", "Infinity"),
        ("string-to-number", "1e999"),
        ("string-to-number", ".5"),
        ("string-to-number", "1,5"),
        ("string-to-number", True),
        ("string-to-boolean", "True"),
        ("string-to-boolean", "1"),
        ("string-to-boolean", 1),
        ("seconds-to-duration", -1),
        ("seconds-to-duration", 1.5),
        ("seconds-to-duration", True),
        ("seconds-to-duration", "1"),
        ("duration-to-seconds", "PT"),
        ("duration-to-seconds", "P1D"),
        ("duration-to-seconds", "PT1.5S"),
        ("duration-to-seconds", "PT-1S"),
        ("duration-to-seconds", ""),
        ("duration-to-seconds", 60),
    ],
)
def test_what_has_no_counterpart_is_absent(name, value):
    assert convert_scalar(name, value) is ABSENT


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("string-to-integer", "1\N{ARABIC-INDIC DIGIT TWO}"),
        ("string-to-number", "1.\N{ARABIC-INDIC DIGIT TWO}"),
        ("duration-to-seconds", "PT\N{ARABIC-INDIC DIGIT TWO}S"),
    ],
)
def test_digits_of_other_scripts_are_text(name, value):
    assert convert_scalar(name, value) is ABSENT


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("string-to-integer", "-" + "9" * 5000),
        ("string-to-number", "9" * 5000),
        ("duration-to-seconds", f"PT{'9' * 5000}H"),
    ],
)
def test_numbers_longer_than_documents_have_are_absent(name, value):
    assert convert_scalar(name, value) is ABSENT


def test_large_integers_are_exact():
    assert convert_scalar("string-to-integer", "9" * 40) == 10**40 - 1
    assert convert_scalar("string-to-number", "9" * 40) == 10**40 - 1
    assert convert_scalar("integer-to-string", 10**40 - 1) == "9" * 40


@given(st.text())
def test_no_text_makes_a_conversion_fail(text):
    for name in SCALAR_CONVERSIONS:
        if name.startswith(("string", "duration")):
            convert_scalar(name, text)


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


def test_a_list_is_told_by_its_first_element():
    assert single([1, 2]) == 1
    assert single([]) is single(ABSENT) is single(None) is ABSENT


def test_members_of_nested_objects():
    place = Place(street="S")
    assert take_member(place, "street") == "S"
    assert take_member(None, "street") is take_member(ABSENT, "street") is ABSENT
    assert within(place, "street") == "S"
    assert within(None, "street") is None
    changed = put_member(place, Place, "street", "new")
    assert (changed.street, changed.town, place.street) == ("new", "T", "S")


def test_a_member_makes_an_object_where_there_is_none():
    made = put_member(ABSENT, Place, "town", "new")
    assert (made.town, made.street) == ("new", ABSENT)
    assert put_member(ABSENT, Place, "town", ABSENT) is ABSENT
    assert put_member(None, Place, "town", ABSENT) is None


@given(st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text(), st.lists))
def test_free_form_data_reads_back(value):
    assert from_free_form(free_form(value), object if value is None else type(value)) == value


def test_free_form_data_that_does_not_fit_is_absent():
    assert from_free_form(free_form("x"), int) is ABSENT
    assert from_free_form(free_form({"street": 5}), Place) is ABSENT
    assert from_free_form(free_form({"street": "S"}), Place) == Place(street="S")
    assert bytes(to_free_form(Place(street="S"))) == b'{"street":"S","town":"T"}'
