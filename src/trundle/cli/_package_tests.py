"""`trundle package test`: how it finds packages, runs their tests and shows what came out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from trundle.cli._catalogs import IN_CATALOG, At, CatalogPlace, Place, Tenant
from trundle.cli._channels import version_of
from trundle.cli._failures import CommandExit, ExitCode, unmet
from trundle.cli._package_sources import package_folder, packages_below
from trundle.cli._printing import Format, print_data, print_text, progress, say, table
from trundle.cli._runs import MEMORY, MemoryLimit, RunOptions, Traced, limits_of
from trundle.cli._settings import current
from trundle.cli.project import Jobs, Output

if TYPE_CHECKING:
    from trundle.packages import Package
    from trundle.testing import Case, CaseOutcome, Covered, TestRun

_MARKS = {"passed": "ok", "failed": "FAILED", "error": "ERROR"}


_Folders = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="FOLDER",
        help="Packages to test, or folders with packages in them; the current folder by default.",
    ),
]
_Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="TEST",
        help="A class, a method, CLASS.METHOD, or a pattern with `*`; repeatable.",
    ),
]
_Others = Annotated[
    list[Path] | None,
    typer.Option(
        "--packages",
        metavar="FOLDER",
        help="Packages that they use, or folders with packages in them; repeatable.",
    ),
]
_Against = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="NAME@VERSION",
        help="Run the tests of all packages that depend on this release instead: those in the folders, else those of the catalog. "
        "A folder, an archive, a published version such as `oci:DIR//NAME:1.2.3`, or `catalog:NAME:1.2.3`.",
    ),
]
_Timeout = Annotated[
    float,
    typer.Option("--timeout", min=0.1, metavar="SECONDS", help="How long a test may take."),
]
_Junit = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help="Also write what came out as XML of JUnit."),
]
_Covering = Annotated[bool, typer.Option("--coverage", help="Show which methods and branches ran.")]


def run_tests_of(
    folders: _Folders = None,
    *,
    only: _Only = None,
    packages: _Others = None,
    against: _Against = None,
    timeout: _Timeout = 60.0,
    junit: _Junit = None,
    coverage: _Covering = False,
    memory_limit: MemoryLimit = MEMORY,
    trace: Traced = False,
    tenant: Tenant = None,
    catalog: Place = None,
    server: At = None,
    jobs: Jobs = None,
    output: Output = Format.TABLE,
) -> None:
    """Run the tests of packages: classes that extend io.murano.test.TestFixture.

    Exits with 3 if a test does not pass.
    """
    from trundle.testing import Covered, Status, TestRun, covered_text, junit_xml  # noqa: PLC0415

    if against is None:
        what = _tested(folders or [], packages or [])
    else:
        kept = CatalogPlace(catalog, server, tenant)
        what = _tested_against(against, folders or [], packages or [], kept)
    cases = _cases_of(what, only or [])
    run = TestRun(
        tuple(each.archive for each in what.among),
        jobs=jobs or current().jobs,
        seconds=timeout,
        limits=limits_of(RunOptions(memory=memory_limit)),
        coverage=coverage,
        trace=trace,
        lock=what.lock,
    )
    found = _outcomes(run, cases)
    covered = Covered.of(found) if coverage else None
    if junit is not None:
        junit.parent.mkdir(parents=True, exist_ok=True)
        junit.write_bytes(junit_xml(found))
    if output is Format.TABLE:
        print_text(_outcomes_text(found, covered))
        if covered is not None:
            say(covered_text(covered))
        say(_summary(found))
    else:
        print_data(_outcomes_data(found, covered), output.value)
    if any(each.status is not Status.PASSED for each in found):
        raise CommandExit(ExitCode.FINDINGS)


class _Tested(NamedTuple):
    """What is to be tested.

    Attributes:
        packages: the packages whose tests run.
        among: all packages that tests may use, those included.
        lock: which versions requirements get.
    """

    packages: "list[Package]"
    among: "list[Package]"
    lock: "Mapping[str, Mapping[str, str]]"


def _tested(folders: Sequence[Path], others: Sequence[Path]) -> _Tested:
    """The packages in folders, with others that they may use."""
    packages = _distinct(packages_below(folders or [Path()]))
    more = packages_below(others) if others else []
    return _Tested(packages, _distinct([*packages, *more]), {})


def _tested_against(
    release: str, folders: Sequence[Path], others: Sequence[Path], kept: CatalogPlace
) -> _Tested:
    """The packages that depend on a release, with the release in the place of newer ones.

    Args:
        release: `NAME@VERSION`, or a package as other commands take it.
        folders: where the packages are; the catalog where there are none.
        others: more of them.
        kept: the catalog.

    Raises:
        CommandExit: there is no such release, or nothing depends on it.
    """
    from trundle.testing import dependents  # noqa: PLC0415

    among = packages_below([*folders, *others]) if folders or others else _of_catalog(kept)
    name, _, number = release.partition("@")
    if number and not Path(release).exists():
        version = version_of(number)
    else:
        given = _given(release, kept)
        name, version = given.name, given.version
        among = [given, *(each for each in among if (each.name, each.version) != (name, version))]
    found, kept_packages, lock = dependents(_distinct(among), name, version)
    for each in found:
        if not each.takes:
            way = " > ".join(each.path)
            say(f"{each.package.name} {each.package.version} does not take {version}: {way}")
    taking = [each.package for each in found if each.takes]
    if not taking:
        expected = f"packages that depend on {name} and take {version}"
        raise unmet(release, expected, "none", "name the folders they are in", ExitCode.NOT_FOUND)
    return _Tested(taking, kept_packages, lock)


def _given(release: str, kept: CatalogPlace) -> "Package":
    from trundle.packages import Package  # noqa: PLC0415

    with package_folder(release, kept) as folder:
        return Package.from_folder(folder)


def _of_catalog(kept: CatalogPlace) -> "list[Package]":
    return [kept.package(each) for each in kept.names(IN_CATALOG)]


def _distinct(packages: "Sequence[Package]") -> "list[Package]":
    """Packages, each content once."""
    return list({(each.name, each.version, each.digest): each for each in packages}.values())


def _outcomes(run: "TestRun", cases: "Sequence[Case]") -> "list[CaseOutcome]":
    """What comes out of tests, in their order."""
    from trundle.testing import run_tests  # noqa: PLC0415

    found = {}
    with progress("Testing") as step:
        for each in run_tests(run, cases):
            found[each.case] = each
            step(each.case.name, len(found), len(cases))
    return [found[each] for each in cases]


def _cases_of(what: _Tested, names: Sequence[str]) -> "list[Case]":
    """The tests that are to run.

    Raises:
        CommandExit: there is none.
        EngineError: the packages cannot be used together.
    """
    from trundle.engine import Engine  # noqa: PLC0415
    from trundle.testing import cases_in, chosen  # noqa: PLC0415

    with Engine(what.among).session(lock=what.lock) as session:
        cases = [case for each in what.packages for case in cases_in(session, each)]
    if not cases:
        where = ", ".join(each.name for each in what.packages)
        expected = "a class that extends io.murano.test.TestFixture, with methods `test...`"
        raise unmet(where, expected, "none", "write one", ExitCode.NOT_FOUND)
    return chosen(cases, names)


def _outcomes_text(outcomes: "Sequence[CaseOutcome]", covered: "Covered | None") -> str:
    """What came out of tests: a line for each, what is wrong with those that did not pass, and how much of each class ran."""
    rows: list[tuple[str, ...]] = [
        (_MARKS[each.status.value], each.case.name, each.case.package) for each in outcomes
    ]
    parts = [table(("", "TEST", "PACKAGE"), rows)]
    for each in outcomes:
        if each.calls:
            calls = "\n".join(each.calls)
            parts.append(f"\n{each.case.name} ({each.case.package}):\n{calls}\n")
        if each.details:
            log = f"\n{each.log}" if each.log else ""
            parts.append(f"\n{each.case.name} ({each.case.package}):\n{each.details}{log}\n")
    if covered is not None:
        parts += ["\n", _coverage_text(covered)]
    return "".join(parts)


def _coverage_text(covered: "Covered") -> str:
    from trundle.testing import covered_rows  # noqa: PLC0415

    rows: list[tuple[str, ...]] = list(covered_rows(covered))
    return table(("CLASS", "METHODS", "BRANCHES", "LINES THAT DID NOT RUN"), rows)


def _summary(outcomes: "Sequence[CaseOutcome]") -> str:
    """All of it in a line."""
    counts = {mark: sum(each.status.value == mark for each in outcomes) for mark in _MARKS}
    words = {"passed": "passed", "failed": "failed", "error": "with an error"}
    return ", ".join(f"{number} {words[mark]}" for mark, number in counts.items() if number)


def _outcomes_data(outcomes: "Sequence[CaseOutcome]", covered: "Covered | None") -> dict[str, Any]:
    """All of it for JSON."""
    data: dict[str, Any] = {"tests": [each.to_plain() for each in outcomes]}
    if covered is not None:
        data["coverage"] = covered.to_plain()
    return data
