import pytest

from trundle.errors import Code
from trundle.packages import Level, ReleaseChange, bump_of, next_version
from trundle.version import SemVer


class SomeCode(Code):
    SOME = "some-change"


def change(level, place="Person"):
    return ReleaseChange(place, SomeCode.SOME, "it is otherwise", level)


@pytest.mark.parametrize(
    ("base", "level", "expected"),
    [
        ("1.2.3", Level.PATCH, "1.2.4"),
        ("1.2.3", Level.MINOR, "1.3.0"),
        ("1.2.3", Level.MAJOR, "2.0.0"),
        ("0.2.3", Level.MAJOR, "0.3.0"),
        ("0.2.3", Level.MINOR, "0.3.0"),
        ("0.2.3", Level.PATCH, "0.2.4"),
        ("1.3.0-rc", Level.MINOR, "1.4.0"),
        ("1.0.0-beta.1", Level.MAJOR, "2.0.0"),
    ],
)
def test_the_next_version_by_level(base, level, expected):
    assert next_version(SemVer.parse(base), level) == SemVer.parse(expected)


def test_the_farthest_change_decides_and_comes_first():
    bump = bump_of(SemVer(1, 0, 0), [change(Level.PATCH), change(Level.MAJOR), change(Level.MINOR)])
    assert [each.level for each in bump.changes] == [Level.MAJOR, Level.MINOR, Level.PATCH]
    assert bump.required == SemVer(2, 0, 0)


def test_a_version_that_is_too_low_is_a_finding_for_each_change_that_it_is_too_low_for():
    bump = bump_of(SemVer(1, 0, 0), [change(Level.MAJOR, "a"), change(Level.MINOR, "b")])
    assert [each.where for each in bump.findings(SemVer(1, 0, 1))] == ["a", "b"]
    assert [each.where for each in bump.findings(SemVer(1, 1, 0))] == ["a"]
    assert "raise the version to 2.0.0 at least" in bump.findings(SemVer(1, 1, 0))[0].message
    assert bump.findings(SemVer(2, 0, 0)) == ()
    assert bump.findings(SemVer.parse("2.0.0-beta.1")) == ()


def test_without_changes_the_version_may_stay():
    assert bump_of(SemVer(1, 0, 0), []).findings(SemVer(1, 0, 0)) == ()
