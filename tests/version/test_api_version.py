import copy
import datetime as dt
import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trundle.version import ApiVersion, SemVer, VersionError, own_spelling

v = ApiVersion.parse

DATED = st.builds(
    lambda date, stage: f"{date.isoformat()}{stage}",
    st.dates(dt.date(2000, 1, 1), dt.date(2003, 12, 31)),
    st.sampled_from(["", "-preview", "-Preview", "-beta", "-alpha.2"]),
)
STAGED = st.builds(
    lambda major, stage, number: f"v{major}{stage}{number if stage else ''}",
    st.integers(1, 12),
    st.sampled_from(["", "alpha", "beta"]),
    st.integers(1, 12),
)
LABELS = st.builds(
    lambda prefix, date, stage: f"{prefix}{date:%Y%m%d}{stage}",
    st.sampled_from(["v", "v1api"]),
    st.dates(dt.date(2000, 1, 1), dt.date(2003, 12, 31)),
    st.sampled_from(["", "preview", "alpha1", "beta1", "beta2", "beta12"]),
)
PACKAGED = st.builds(
    lambda numbers, stage: ".".join(map(str, numbers)) + stage,
    st.tuples(*[st.integers(0, 12)] * 3),
    st.sampled_from(["", "-rc.1", "-rc.10", "-alpha", "-0"]),
)
VERSIONS = st.one_of(DATED, LABELS, STAGED, PACKAGED).map(v)


@pytest.mark.parametrize(
    ("text", "preview"),
    [
        ("2014-04-04", False),
        ("2014-04-04-preview", True),
        ("2014-04-04-privatepreview", True),
        ("2014-04-04-alpha.1", True),
        ("2016-02-29", False),
        ("v1", False),
        ("v12", False),
        ("v1alpha1", True),
        ("v2beta13", True),
        ("1.2.0", False),
        ("0.0.0", False),
        ("10.0.1-rc.1", True),
    ],
)
def test_a_version_is_read_from_its_name(text, preview):
    version = v(text)
    assert (version.text, str(version), version.preview) == (text, text, preview)
    assert repr(version) == f"ApiVersion.parse({text!r})"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "v0",
        "v01",
        "v1beta",
        "v1beta0",
        "v1gamma1",
        "V1",
        " v1",
        "v1\n",
        "2014-4-4",
        "2014-04-04-",
        "2014-04-04-1",
        "2014-04-04preview",
        "14-04-04",
        "1.2",
        "v1.2.3",
        "1.2.3.4",
        "1.2.3+1",
        "2014-04-04\n",
        "\N{ARABIC-INDIC DIGIT ONE}014-04-04-preview!",
    ],
)
def test_any_other_text_is_an_error_that_shows_it_and_what_was_expected(text):
    with pytest.raises(VersionError) as raised:
        v(text)
    assert repr(text) in str(raised.value)
    assert "expected a date such as 2016-03-01" in str(raised.value)


@pytest.mark.parametrize("text", ["01.2.3", "1.2.3-01", "1.2.3-a..b"])
def test_a_version_of_a_package_is_strict(text):
    with pytest.raises(VersionError, match=f"'{text}' is not an API version"):
        v(text)


@given(PACKAGED, PACKAGED)
def test_versions_of_packages_order_as_semver_says(one, other):
    assert (v(one) < v(other)) == (SemVer.parse(one) < SemVer.parse(other))
    assert (v(one) == v(other)) == (one == other)
    assert v("v99") < v(one)
    assert v("9999-01-01") < v(one)


@pytest.mark.parametrize("text", ["2015-02-29", "2015-13-01", "2015-00-10", "0000-01-01"])
def test_a_day_that_is_not_in_the_calendar_is_an_error(text):
    with pytest.raises(VersionError, match=f"'{text}' is not an API version"):
        v(text)


def test_dated_versions_order_by_date_and_a_preview_before_the_ga_of_its_date():
    ordered = [
        "2011-01-01",
        "2014-04-04-alpha",
        "2014-04-04-preview",
        "2014-04-04",
        "2014-04-05-preview",
        "2014-10-01",
    ]
    assert_order(ordered)


def test_staged_versions_order_by_major_then_stage_then_number():
    assert_order(
        ["v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta10", "v1", "v2alpha1", "v2", "v10"]
    )


def test_all_dated_versions_come_before_all_staged_ones():
    assert_order(["1999-01-01", "2999-12-31", "v1alpha1", "v1"])


def assert_order(ordered):
    shuffled = list(ordered)
    random.Random(7).shuffle(shuffled)
    assert [each.text for each in sorted(map(v, shuffled))] == ordered


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("2014-04-04-preview", "v2014_04_04_preview"),
        ("2014-04-04-Alpha.1", "v2014_04_04_alpha_1"),
        ("v1beta1", "v1beta1"),
        ("v2", "v2"),
    ],
)
def test_the_identifier_is_a_python_name(text, identifier):
    assert v(text).identifier == identifier
    assert identifier.isidentifier()


def test_letter_case_of_a_stage_distinguishes_two_versions_but_keeps_them_together():
    one, other = v("2014-04-04-Preview"), v("2014-04-04-preview")
    assert one != other
    assert_order(["2014-04-03", "2014-04-04-Preview", "2014-04-04-preview", "2014-04-04"])


@pytest.mark.parametrize(
    "spellings",
    [
        ("2019-09-09", "v20190909", "v1api20190909"),
        (
            "2014-04-04-preview",
            "v20140404beta1",
            "v20140404preview",
            "v1api20140404preview",
            "v1api20140404beta1",
        ),
        ("2014-04-04-alpha", "v20140404alpha1"),
        ("2014-04-04-preview.2", "v20140404beta2"),
        ("2014-04-04-privatepreview", "v1api20140404privatepreview"),
    ],
)
def test_spellings_of_one_version_are_equal_and_keep_their_text(spellings):
    first, *others = map(v, spellings)
    for other in others:
        assert other == first
        assert hash(other) == hash(first)
        assert other.preview == first.preview
        assert not other < first
    assert [each.text for each in (first, *others)] == list(spellings)


@pytest.mark.parametrize("text", ["v20150229", "v1api20151301", "v99999999"])
def test_a_label_of_no_day_in_the_calendar_is_an_error(text):
    with pytest.raises(VersionError, match=f"'{text}' is not an API version"):
        v(text)


def test_labels_order_as_kubernetes_orders_them_and_all_other_dated_ones_as_their_dates():
    ordered = ["v20140404alpha1", "v20140404beta1", "v20140404beta2", "v20140404beta10"]
    assert_order(["2014-04-03", *ordered, "v20140404", "2014-04-05-preview", "v1alpha1"])


def test_a_text_is_found_among_versions_in_any_spelling():
    known = (v("2019-09-09"), v("v1"))
    assert own_spelling("v20190909", known).text == "2019-09-09"
    assert own_spelling("v2", known) is None
    assert own_spelling("nothing", known) is None


def test_a_version_is_equal_to_no_text():
    assert v("v1") != "v1"
    assert v("v1") == v("v1")
    assert {v("v1"): 1}[v("v1")] == 1


def test_a_version_survives_copying_and_pickling():
    version = v("2014-04-04-preview")
    assert copy.deepcopy(version) == pickle.loads(pickle.dumps(version)) == version


@given(VERSIONS, VERSIONS, VERSIONS)
def test_the_order_is_total_and_consistent(one, two, three):
    assert (one < two) + (one == two) + (one > two) == 1
    assert (one <= two) == (not one > two)
    if one == two:
        assert hash(one) == hash(two)
    if one <= two <= three:
        assert one <= three


@given(VERSIONS)
def test_a_version_reads_itself_back(version):
    assert v(str(version)) == version
    assert version.identifier.isidentifier()


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("2014-04-04", "v20140404"),
        ("2014-04-04-preview", "v20140404beta1"),
        ("2014-04-04-preview.2", "v20140404beta2"),
        ("2014-04-04-alpha", "v20140404alpha1"),
        ("2014-04-04-privatepreview", "v20140404privatepreview"),
        ("v1beta1", "v1beta1"),
        ("v1api20140404preview", "v20140404beta1"),
    ],
)
def test_a_label_is_read_back_as_the_version(text, label):
    assert v(text).label == label
    assert v(label) == v(text) or label == "v20140404privatepreview"
