"""Upgrades of environments: the model is converted to newer versions of packages, and deployed."""

from collections.abc import Collection, Mapping
from typing import TypeAlias

from trundle.catalog import Snapshot
from trundle.engine import HEADER
from trundle.environments._drafts import check_base
from trundle.environments._environments import Environments
from trundle.environments._errors import ArrivalError, MajorError, NoSuchObjectError
from trundle.environments._existing import check_alive
from trundle.environments._holding import Holder
from trundle.environments._models import label_of, objects_in
from trundle.environments._notes import Plan, pending_upgrades
from trundle.environments._records import Environment, Lock, Model, Opening, RunResult
from trundle.environments._rows import Rows
from trundle.environments._running import carry_out
from trundle.environments._wanted import wanted_now
from trundle.errors import listed
from trundle.models import ConvertedModel, convert_model
from trundle.packages import Package
from trundle.project.package_evolution import PackageEvolutions
from trundle.version import ANY, ApiVersion, SemVer

_UPGRADE = "upgrade"
"""What the history calls an upgrade."""

_Steps: TypeAlias = Mapping[str, tuple[SemVer, SemVer]]
"""By package: the oldest version that objects have, and the one that they get."""


def upgrade(
    environments: Environments,
    name: str,
    packages: Collection[str] = (),
    *,
    tenant: str,
    opening: Opening,
    major: bool = False,
    arriving: Collection[Package] = (),
    by: str = "",
    dry_run: bool = False,
) -> RunResult:
    """Converts the model of an environment to the newest releases of its packages, runs the `upgrade` methods of their classes, and deploys.

    An upgrade that failed or was killed has converted the model already; the next one goes on with it.

    Args:
        environments: the environments.
        name: the environment.
        packages: the packages; all of which it has objects where empty.
        tenant: whose it is.
        opening: opens what acts on the world, once the run holds the environment.
        major: whether another major version is taken, too.
        arriving: packages that are installed; those that the environment uses, and what they require, are stored in the catalog first, for the tenant.
        by: who does it.
        dry_run: whether nothing is done, nor written down.

    Returns:
        What was done; no deployment where all packages are the newest already, and the last upgrade has succeeded.

    Raises:
        NoSuchObjectError: the environment has no object of a package.
        MajorError: it has objects of a package in several major versions, and none may be left.
        ModelError: the model cannot be converted; nothing was done.
        ArrivalError: the catalog does not take what is installed; nothing was done.
        TrundleError: as for `deploy`.
    """
    environment = environments.get(name, tenant=tenant)
    check_alive(environment)
    environments = _arrived(environments, environment, arriving, dry_run=dry_run)
    snapshot = environments.snapshot(tenant)
    with environments.database.reading() as connection:
        rows = Rows(connection)
        model, lock = wanted_now(rows, environment)
        begun = _begun(rows, environment)
    steps = _steps(name, model, snapshot, packages, major=major)
    if not steps and begun is None:
        return RunResult(None, ())
    wanted = {package: ApiVersion.of_package(to) for package, (_, to) in steps.items()}
    converted = convert_model(PackageEvolutions(snapshot, environments.limits), model, wanted)
    upgraded = _upgraded(model, converted)

    def plan(rows: Rows, now: Environment) -> Plan:
        check_base(rows, now, environment.revision)
        pending = pending_upgrades(rows, now)
        kept = _kept(lock, steps)
        return Plan(_UPGRADE, converted.model, kept, {**upgraded, **pending})

    holder = Holder(_UPGRADE, by)
    done = carry_out(environments, name, tenant, opening, holder, plan, dry_run=dry_run)
    moved = _moved(begun or {}, steps)
    return RunResult(done.number, done.changes, findings=converted.findings, upgraded=moved)


def _moved(begun: _Steps, steps: _Steps) -> dict[str, tuple[str, str]]:
    """The version that each package had before the upgrade was begun, and the one that it gets, as text."""
    return {
        each: (str(begun.get(each, step)[0]), str(step[1]))
        for each, step in {**begun, **steps}.items()
    }


def _begun(rows: Rows, environment: Environment) -> _Steps | None:
    """Which packages got another version by an upgrade that has not come to its end; None where there is no such upgrade."""
    last = rows.deployment(environment, environment.revision)
    if last is None or last.outcome == "succeeded":
        return None
    if last.action != _UPGRADE and not last.upgraded:
        return None
    before = rows.succeeded(environment)
    old = {} if before is None or before.objects is None else _versions(before.objects)
    new = {} if last.objects is None else _versions(last.objects)
    return {
        each: (min(old[each]), max(new[each]))
        for each in new
        if each in old and old[each] != new[each]
    }


def _arrived(
    environments: Environments,
    environment: Environment,
    arriving: Collection[Package],
    *,
    dry_run: bool,
) -> Environments:
    """The environments with what is installed in their catalog; in a dry run as if it were there.

    Raises:
        ArrivalError: the catalog does not take it.
    """
    model = environments.model(environment.name, tenant=environment.tenant)
    packages = _needed([*_versions(model)], arriving)
    done = environments.catalog.upload(packages, tenant=environment.tenant, dry_run=dry_run)
    if done.refused:
        raise ArrivalError(each for each in done.findings if each.severity == "error")
    return environments.expecting(packages) if dry_run else environments


def _needed(names: list[str], installed: Collection[Package]) -> list[Package]:
    """The packages of some names among those that are installed, and what these require."""
    known: dict[str, list[Package]] = {}
    for each in installed:
        known.setdefault(each.name, []).append(each)
    wanted = dict.fromkeys(names)
    left = [*names]
    while left:
        for each in known.get(left.pop(), ()):
            further = [x.name for x in each.requirements if x.name not in wanted]
            wanted |= dict.fromkeys(further)
            left += further
    return [each for name in wanted for each in known.get(name, ())]


def newer_majors(environments: Environments, name: str, *, tenant: str) -> dict[str, str]:
    """The newest release of each package of an environment that has a higher major version.

    Raises:
        NoSuchEnvironmentError: the tenant has none of that name.
    """
    model = environments.model(name, tenant=tenant)
    snapshot = environments.snapshot(tenant)
    found = {}
    for package, versions in _versions(model).items():
        newest = ANY.choose(snapshot.versions(package))
        if newest is not None and newest.major > max(versions).major:
            found[package] = str(newest)
    return found


def _steps(
    name: str, model: Model, snapshot: Snapshot, packages: Collection[str], *, major: bool
) -> _Steps:
    """Which packages get another version: the oldest that objects have, and the one that they get."""
    versions = _versions(model)
    for each in packages:
        if each not in versions:
            found, advice = f"only {listed(versions)}" if versions else "none", "name one of these"
            raise NoSuchObjectError(name, f"an object of the package {each}", found, advice)
    steps = {}
    for package in packages or versions:
        newest = _newest(name, package, versions[package], snapshot, major=major)
        oldest = min(versions[package])
        if newest is not None and newest > oldest:
            steps[package] = oldest, newest
    return steps


def _newest(
    name: str, package: str, versions: Collection[SemVer], snapshot: Snapshot, *, major: bool
) -> SemVer | None:
    known = snapshot.versions(package)
    if major:
        return ANY.choose(known)
    majors = {each.major for each in versions}
    if len(majors) > 1:
        found = f"objects of {listed(map(str, sorted(versions)))}"
        expected = f"one major version of {package}, or leave to go to another"
        raise MajorError(name, expected, found, "give --major")
    return ANY.choose([each for each in known if each.major in majors])


def _versions(model: Model) -> dict[str, set[SemVer]]:
    """The versions of the objects of a model, by package."""
    found: dict[str, set[SemVer]] = {}
    for each in objects_in(model):
        _, version, package = label_of(each)
        if version:  # Else it is the root of an environment that was not deployed yet
            found.setdefault(package, set()).add(SemVer.parse(version))
    return found


def _upgraded(before: Model, converted: ConvertedModel) -> dict[str, str]:
    """The objects that have another version now, each with the one that it had."""
    old = {each[HEADER]["id"]: label_of(each) for each in objects_in(before)}
    new = {each[HEADER]["id"]: label_of(each) for each in objects_in(converted.model)}
    return {key: old[key][1] for key in new if key in old and old[key] != new[key]}


def _kept(lock: Lock, steps: Collection[str]) -> Lock:
    """A lock without what concerns packages that get another version."""
    found = {}
    for key, row in lock.items():
        if key.partition("/")[0] not in steps:
            kept = {name: each for name, each in row.items() if name.split()[0] not in steps}
            if kept:
                found[key] = kept
    return found
