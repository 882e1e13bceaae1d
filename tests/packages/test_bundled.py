"""The packages that come with Trundle."""

from trundle.engine import core_packages
from trundle.packages import BUNDLED, Requirement, to_install
from trundle.version import VersionRange


def test_they_are_those_of_the_engine():
    assert {each.name: each.version for each in core_packages()} == dict(BUNDLED)


def test_requirements_that_they_do_not_meet_stay():
    wanted = [
        Requirement(name, VersionRange.parse(each))
        for name, each in (
            ("io.trundle", "1"),
            ("io.trundle", "2"),
            ("io.murano", "0.1"),
            ("a", "1"),
        )
    ]
    assert list(map(str, to_install(wanted))) == [str(wanted[1]), str(wanted[3])]
