"""Which packages a release may break, and with what their tests run."""

import pytest
from engines import package

from trundle.engine import Engine
from trundle.testing import dependents
from trundle.testing._errors import NoTestError
from trundle.version import SemVer


def of(*packages, name="lib", version="1.1.0"):
    found, kept, _ = dependents(packages, name, SemVer.parse(version))
    return (
        [(each.package.name, str(each.package.version), each.path, each.takes) for each in found],
        sorted(f"{each.name}/{each.version}" for each in kept),
    )


def test_those_that_require_it_or_require_what_does():
    found, kept = of(
        package("lib", "1.0.0"),
        package("lib", "1.1.0"),
        package("lib", "1.2.0"),
        package("lib", "2.0.0"),
        package("mid", requires={"lib": "1"}),
        package("app", requires={"mid": "1"}),
        package("old", requires={"lib": "=1.0.0"}),
        package("other"),
    )
    assert found == [
        ("app", "1.0.0", ("app", "mid", "lib"), True),
        ("mid", "1.0.0", ("mid", "lib"), True),
        ("old", "1.0.0", ("old", "lib"), False),
    ]
    assert kept == ["app/1.0.0", "lib/1.0.0", "lib/1.1.0", "mid/1.0.0", "old/1.0.0", "other/1.0.0"]


def test_a_pre_release_takes_the_place_of_those_that_would_be_chosen_before_it():
    found, kept = of(
        package("lib", "0.9.0"),
        package("lib", "1.0.0"),
        package("lib", "1.1.0-rc.1"),
        package("lib", "1.1.0"),
        package("app", requires={"lib": "1"}),
        package("old", requires={"lib": "0"}),
        version="1.1.0-rc.1",
    )
    assert found == [
        ("app", "1.0.0", ("app", "lib"), True),
        ("old", "1.0.0", ("old", "lib"), False),
    ]
    assert kept == ["app/1.0.0", "lib/0.9.0", "lib/1.1.0-rc.1", "old/1.0.0"]


def test_the_newest_version_of_each_counts():
    found, _ = of(
        package("lib", "1.1.0"),
        package("app", "1.0.0", requires={"lib": "1"}),
        package("app", "2.0.0", requires={"lib": "2"}),
        package("gone", "1.0.0", requires={"lib": "1"}),
        package("gone", "1.1.0"),
    )
    assert found == [("app", "2.0.0", ("app", "lib"), False)]


def test_circles_end():
    found, _ = of(
        package("lib", "1.1.0", requires={"a": "1"}),
        package("a", requires={"b": "1", "lib": "1"}),
        package("b", requires={"a": "1"}),
    )
    assert [each[:1] for each in found] == [("a",), ("b",)]


@pytest.mark.parametrize(
    ("name", "version", "message"),
    [("lib", "1.3.0", "found only 1.1.0"), ("lob", "1.1.0", "no such package; did you mean lib")],
)
def test_a_release_that_is_not_there_is_refused(name, version, message):
    with pytest.raises(NoTestError, match=message):
        of(package("lib", "1.1.0"), name=name, version=version)


def test_one_way_that_takes_the_release_is_enough():
    packages = (
        package("lib", "1.0.0"),
        package("lib", "2.0.0"),
        package("a", requires={"lib": "1"}),
        package("b", requires={"lib": "2"}),
        package("far", requires={"b": "1"}),
        package("diamond", requires={"a": "1", "b": "1"}),
        package("long", requires={"a": "1", "far": "1"}),
        package("own", requires={"lib": "1", "b": "1"}),
    )
    found, kept = of(*packages, version="2.0.0")
    assert found == [
        ("a", "1.0.0", ("a", "lib"), False),
        ("b", "1.0.0", ("b", "lib"), True),
        ("diamond", "1.0.0", ("diamond", "b", "lib"), True),
        ("far", "1.0.0", ("far", "b", "lib"), True),
        ("long", "1.0.0", ("long", "far", "b", "lib"), True),
        ("own", "1.0.0", ("own", "b", "lib"), True),
    ]
    assert "lib/1.0.0" in kept


def test_the_way_leads_through_the_versions_that_requirements_get():
    found, _ = of(
        package("lib", "1.1.0"),
        package("mid", "1.0.0", requires={"lib": "=1.0.0"}),
        package("mid", "2.0.0", requires={"lib": "1"}),
        package("old", requires={"mid": "1"}),
        package("new", requires={"mid": "2"}),
        package("none", requires={"mid": "3"}),
    )
    assert found == [
        ("mid", "2.0.0", ("mid", "lib"), True),
        ("new", "1.0.0", ("new", "mid", "lib"), True),
        ("old", "1.0.0", ("old", "mid", "lib"), False),
    ]


def test_a_release_that_something_requires_beside_the_tested_one_stays():
    packages = [
        *(package("lib", each, classes={"lib.A": ""}) for each in ("1.0.0", "1.1.0", "2.0.0")),
        package("a", requires={"lib": "1"}),
        package("b", requires={"lib": "2"}, classes={"b.B": "Extends: lib.A"}),
        package("any", requires={"lib": ">=1"}, classes={"any.B": "Extends: lib.A"}),
        package("both", requires={"a": "1", "b": "1"}),
    ]
    found, kept, lock = dependents(packages, "lib", SemVer.parse("1.1.0"))
    assert {each.package.name for each in found if each.takes} == {"a", "any", "both"}
    assert {f"{each.version}" for each in kept if each.name == "lib"} == {"1.0.0", "1.1.0", "2.0.0"}
    assert lock == {"a/1.0.0": {"lib": "1.1.0"}, "any/1.0.0": {"lib": "1.1.0"}}
    with Engine(kept).session(lock=lock) as session:
        parents = [session.type(each).parents[0].label for each in ("any.B", "b.B")]
    assert parents == ["lib.A/1.1.0@lib", "lib.A/2.0.0@lib"]
