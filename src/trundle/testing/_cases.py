"""Which tests a package has."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from trundle.engine import EngineError, Session, Type
from trundle.errors import did_you_mean, expectation, listed
from trundle.packages import Package
from trundle.testing._errors import NoTestError

FIXTURE = "io.murano.test.TestFixture"
"""The class that classes of tests extend."""

_TEST = re.compile(r"test(?![a-z])")


@dataclass(frozen=True, slots=True, order=True)
class Case:
    """A test.

    Attributes:
        package: the package, as `name/1.2.3`.
        class_name: the full name of the class.
        method: the method; empty for a class that cannot be built, of which nothing else is known.
        file: the class file.
        line: the line of the method.
    """

    package: str
    class_name: str
    method: str
    file: str
    line: int

    @property
    def name(self) -> str:
        """The class and the method."""
        return f"{self.class_name}.{self.method}" if self.method else self.class_name


def cases_in(session: Session, package: Package) -> list[Case]:
    """The tests of a package, in the order of its manifest and of its class files.

    A class that cannot be built may have tests; it is a case without a method, which fails when it is run.

    Args:
        session: a session of an engine that has the package.
        package: the package.
    """
    found = []
    label = f"{package.name}/{package.version}"
    for name, file in package.classes.items():
        try:
            type_ = session.type(name, f"={package.version}", package.name)
            is_fixture = _extends_fixture(type_)
        except EngineError as error:
            found.append(Case(label, name, "", error.file or file, error.line or 1))
            continue
        if is_fixture:
            declared = type_.declaration.methods.values()
            found += [
                Case(label, name, each.name, type_.declaration.file, each.line)
                for each in declared
                if _TEST.match(each.name)
            ]
    return found


def _extends_fixture(type_: Type) -> bool:
    """Whether a class is one of tests."""
    return any(each.name == FIXTURE for each in type_.ancestors)


def chosen(cases: Sequence[Case], names: Iterable[str]) -> list[Case]:
    """The tests that some names mean: a class, a method, both with a dot between, or a pattern with `*`; all where there are no names.

    Raises:
        NoTestError: a name means none.
    """
    wanted: set[Case] = set()
    names = list(names)
    for name in names:
        means = [each for each in cases if _is_meant(each, name)]
        if not means:
            classes = list(dict.fromkeys(each.class_name for each in cases))
            known = {text for each in cases for text in (each.method, each.name)} - {""}
            raise NoTestError(
                expectation("a test, a class of tests or a pattern", name),
                did_you_mean(name, [*classes, *known], f"name one of {listed(classes)}"),
            )
        wanted.update(means)
    return [each for each in cases if each in wanted] if names else list(cases)


def _is_meant(case: Case, name: str) -> bool:
    return any(fnmatchcase(each, name) for each in (case.method, case.name, case.class_name))
