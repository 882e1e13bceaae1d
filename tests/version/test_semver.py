import copy
import itertools
import pickle
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from semvers import VERSIONS

from trundle.version import SemVer, VersionError, VersionSyntaxError, change_level, version_before

v = SemVer.parse

# The examples of semver.org, items 9 to 11, and of the regular expression that it suggests.
GOOD = [
    "0.0.4",
    "1.2.3",
    "10.20.30",
    "1.1.2-prerelease+meta",
    "1.1.2+meta",
    "1.1.2+meta-valid",
    "1.0.0-alpha",
    "1.0.0-beta",
    "1.0.0-alpha.beta",
    "1.0.0-alpha.beta.1",
    "1.0.0-alpha.1",
    "1.0.0-alpha0.valid",
    "1.0.0-alpha.0valid",
    "1.0.0-alpha-a.b-c-somethinglong+build.1-aef.1-its-okay",
    "1.0.0-rc.1+build.1",
    "2.0.0-rc.1+build.123",
    "1.2.3-beta",
    "10.2.3-DEV-SNAPSHOT",
    "1.2.3-SNAPSHOT-123",
    "1.0.0",
    "2.0.0",
    "1.1.7",
    "2.0.0+build.1848",
    "2.0.1-alpha.1227",
    "1.0.0-alpha+beta",
    "1.2.3----RC-SNAPSHOT.12.9.1--.12+788",
    "1.2.3----R-S.12.9.1--.12+meta",
    "1.2.3----RC-SNAPSHOT.12.9.1--.12",
    "1.0.0+0.build.1-rc.10000aaa-kk-0.1",
    "99999999999999999999999.999999999999999999.99999999999999999",
    "1.0.0-0A.is.legal",
    "1.0.0-alpha.1",
    "1.0.0-0.3.7",
    "1.0.0-x.7.z.92",
    "1.0.0-x-y-z.--",
    "1.0.0+001",
    "1.0.0+20130313144700",
    "1.0.0-beta+exp.sha.5114f85",
    "1.0.0+21AF26D3----117B344092BD",
]
BAD = [
    "1",
    "1.2",
    "1.2.3-0123",
    "1.2.3-0123.0123",
    "1.1.2+.123",
    "+invalid",
    "-invalid",
    "-invalid+invalid",
    "-invalid.01",
    "alpha",
    "alpha.beta",
    "alpha.beta.1",
    "alpha.1",
    "alpha+beta",
    "alpha_beta",
    "alpha.",
    "alpha..",
    "beta",
    "1.0.0-alpha_beta",
    "-alpha.",
    "1.0.0-alpha..",
    "1.0.0-alpha..1",
    "1.0.0-alpha...1",
    "01.1.1",
    "1.01.1",
    "1.1.01",
    "1.2.3.DEV",
    "1.2-SNAPSHOT",
    "1.2.31.2.3----RC-SNAPSHOT.12.09.1--..12+788",
    "1.2-RC-SNAPSHOT",
    "-1.0.3-gamma+b7718",
    "+justmeta",
    "9.8.7+meta+meta",
    "9.8.7-whatever+meta+meta",
    "v1.0.0",
    "1.0.0.",
    "1.0.0-",
    "1.0.0+",
]
OFFICIAL = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(?:-((?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
    r"(?:\.(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?"
)


@pytest.mark.parametrize("text", GOOD)
def test_a_good_version_is_read_and_written_back(text):
    assert str(v(text)) == text
    assert str(v(text, shortened=True)) == text


@pytest.mark.parametrize(
    "text", [*BAD, "", " 1.0.0", "1.0.0 ", "1.0.0\n", "\u0661.0.0", "1.0.0-é", "²"]
)
def test_a_bad_version_is_refused(text):
    with pytest.raises(VersionSyntaxError):
        v(text)


@settings(deadline=None)
@given(st.text(st.sampled_from("01290.-+aAvé \n"), max_size=12))
def test_just_what_the_official_expression_matches_is_read(text):
    try:
        version = v(text)
    except VersionError:
        assert not OFFICIAL.fullmatch(text)
    else:
        assert OFFICIAL.fullmatch(text)
        assert str(version) == text


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("", 1, "'': expected a number at character 1, found the end"),
        ("v1.0.0", 1, "'v1.0.0': expected a number at character 1, found 'v'; remove the v"),
        (
            "1.10",
            5,
            "'1.10': expected '.' and the patch number at character 5, found the end; write 1.10.0",
        ),
        (
            "1.02.0",
            3,
            "'1.02.0': expected a number without leading zeros at character 3, found '0'; write 2",
        ),
        (
            "1.0.0-01",
            7,
            "'1.0.0-01': expected a number without leading zeros at character 7, found '0'; write 1",
        ),
        (
            "1.0.0_rc",
            6,
            "'1.0.0_rc': expected the end of the version at character 6, found '_'; remove the rest",
        ),
        (
            "1.0.0-a..b",
            9,
            "'1.0.0-a..b': expected letters, digits or hyphens at character 9, found '.'",
        ),
    ],
)
def test_an_error_says_where_and_what(text, position, message):
    with pytest.raises(VersionSyntaxError) as caught:
        v(text)
    assert str(caught.value) == message
    assert caught.value.position == position


@pytest.mark.parametrize("text", ["9" * 256 + ".0.0", "1.0.0-" + "9" * 5000, "1.0.0+" + "a" * 256])
def test_a_part_without_measure_is_refused(text):
    with pytest.raises(VersionSyntaxError, match="at most 255 characters in one part"):
        v(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [("1", "1.0.0"), ("1.10", "1.10.0"), ("0", "0.0.0"), ("1.2.3-a+b", "1.2.3-a+b")],
)
def test_shortening_fills_up_with_zeros(text, meant):
    assert v(text, shortened=True) == v(meant)


@pytest.mark.parametrize("text", ["1-rc", "1.2+5", "1.", "", "1.2.3.4"])
def test_shortening_stays_strict_otherwise(text):
    with pytest.raises(VersionSyntaxError):
        v(text, shortened=True)


def test_precedence_is_that_of_the_specification():
    ordered = [
        "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11",
        "1.0.0-rc.1", "1.0.0", "2.0.0", "2.1.0", "2.1.1",
    ]  # fmt: skip
    for seed in range(5):
        shuffled = random.Random(seed).sample(ordered, len(ordered))
        assert [str(each) for each in sorted(map(v, shuffled))] == ordered


def test_builds_order_by_identifiers_and_numbers_by_value():
    ordered = [
        "1.2.3-beta", "1.2.3-beta+2", "1.2.3-beta+2.1", "1.2.3-beta+10", "1.2.3-beta+a", "1.2.3-beta+b.1",
        "1.2.3-beta.1+1",
    ]  # fmt: skip
    for seed in range(5):
        shuffled = random.Random(seed).sample(ordered, len(ordered))
        assert [str(each) for each in sorted(map(v, shuffled))] == ordered


def test_builds_part_versions_of_equal_precedence():
    assert v("1.0.0+1").precedence == v("1.0.0+2").precedence == v("1.0.0").precedence
    assert len({v("1.0.0"), v("1.0.0+1"), v("1.0.0+01"), v("1.0.0+1")}) == 3


@settings(deadline=None)
@given(VERSIONS, VERSIONS, VERSIONS)
def test_the_order_is_total_and_agrees_with_equality(a, b, c):
    assert (a == b) == (str(a) == str(b)) == (hash(a) == hash(b) and a == b)
    assert (a < b) + (a == b) + (b < a) == 1
    assert (a <= b) == (a < b or a == b)
    if a <= b <= c:
        assert a <= c


@settings(deadline=None)
@given(VERSIONS, VERSIONS)
def test_the_order_refines_precedence(a, b):
    if a.precedence < b.precedence:
        assert a < b
    assert (a.precedence == b.precedence) == (
        (a.numbers, a.prerelease) == (b.numbers, b.prerelease)
    )


@settings(deadline=None)
@given(VERSIONS)
def test_a_version_survives_text_pickle_and_copy(version):
    assert v(str(version)) == version
    assert pickle.loads(pickle.dumps(version)) == version
    assert copy.deepcopy(version) == version
    assert pickle.loads(pickle.dumps(version)) <= version


def test_a_version_cannot_be_changed():
    with pytest.raises(AttributeError):
        v("1.0.0").major = 2


@pytest.mark.parametrize(
    "arguments",
    [
        (-1, 0, 0),
        (0, 0, 0, ("",)),
        (0, 0, 0, ("01",)),
        (0, 0, 0, ("a.b",)),
        (0, 0, 0, (), ("a+b",)),
    ],
)
def test_parts_that_are_no_version_are_refused(arguments):
    with pytest.raises(ValueError, match="expected"):
        SemVer(*arguments)


@pytest.mark.parametrize(
    ("text", "patch", "minor", "major"),
    [
        ("1.2.3", "1.2.4", "1.3.0", "2.0.0"),
        ("1.2.3+5", "1.2.4", "1.3.0", "2.0.0"),
        ("1.2.3-rc", "1.2.3", "1.3.0", "2.0.0"),
        ("1.3.0-rc", "1.3.0", "1.3.0", "2.0.0"),
        ("2.0.0-rc+1", "2.0.0", "2.0.0", "2.0.0"),
        ("0.0.0", "0.0.1", "0.1.0", "1.0.0"),
    ],
)
def test_next_versions(text, patch, minor, major):
    version = v(text)
    assert version.next_patch() == v(patch)
    assert version.next_minor() == v(minor)
    assert version.next_major() == v(major)


SPACE = [SemVer(*numbers) for numbers in itertools.product(range(6), repeat=3)]


@settings(deadline=None)
@given(VERSIONS)
def test_next_versions_are_the_first_of_their_kind(version):
    later = [each for each in SPACE if each.precedence > version.precedence]
    assert version.next_patch() == min(later)
    assert version.next_minor() == min(each for each in later if not each.patch)
    assert version.next_major() == min(each for each in later if not each.patch and not each.minor)


@pytest.mark.parametrize(
    ("old", "new", "caret", "plain"),
    [
        ("1.2.3", "1.2.3", None, None),
        ("1.2.3", "1.2.4", "patch", "patch"),
        ("1.2.3", "1.3.0", "minor", "minor"),
        ("1.2.3", "2.0.0", "major", "major"),
        ("0.4.0", "0.5.0", "major", "minor"),
        ("0.4.1", "0.4.2", "patch", "patch"),
        ("0.0.3", "0.0.4", "major", "patch"),
        ("0.0.3", "0.1.0", "major", "minor"),
        ("0.9.0", "1.0.0", "major", "major"),
        ("1.2.3-beta.1", "1.2.3-beta.2", "prerelease", "prerelease"),
        ("1.2.3-beta.2", "1.2.3", "prerelease", "prerelease"),
        ("1.2.3-beta+1", "1.2.3-beta+2", "prerelease", "prerelease"),
        ("1.2.3-beta", "1.3.0-beta", "minor", "minor"),
        ("1.2.3-beta", "2.0.0-beta", "major", "major"),
        ("0.4.0-beta", "0.5.0-beta", "major", "minor"),
        ("1.2.3+1", "1.2.3+2", "patch", "patch"),
    ],
)
def test_the_level_of_a_change(old, new, caret, plain):
    assert change_level(v(old), v(new)) == caret
    assert change_level(v(new), v(old)) == caret
    assert change_level(v(old), v(new), "plain") == plain


def test_a_version_follows_the_newest_lower_release_and_its_pre_releases_the_same() -> None:
    versions = [v("1.0.0"), v("1.1.0"), v("1.2.0-beta.1"), v("1.2.0"), v("2.0.0")]
    assert version_before(v("1.2.0"), versions) == v("1.1.0")
    assert version_before(v("1.2.0-beta.2"), versions) == v("1.1.0")
    assert version_before(v("1.3.0"), versions) == v("1.2.0")
    assert version_before(v("1.0.0"), versions) is None
