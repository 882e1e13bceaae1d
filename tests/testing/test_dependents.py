"""Which packages a release may break, and with what their tests run."""

import pytest
from engines import package

from trundle.testing import dependents
from trundle.testing._errors import NoTestError
from trundle.version import SemVer


def of(*packages, name="lib", version="1.1.0"):
    found, kept = dependents(packages, name, SemVer.parse(version))
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
