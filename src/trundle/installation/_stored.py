"""Keeps releases away that could not read what the stores of an installation hold.

An installation remembers the stores that its resource types are kept in: `serve --installed` records them. A release is held against
all of them before it is installed, by what its manifest says that it can read. Objects of a cluster are no store; the operator asks about them.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from trundle.channels import RefusalCode, RefusedError, refusal
from trundle.channels.decision import UpgradePlan, withheld
from trundle.database import DatabaseError
from trundle.errors import Finding, Place, expectation
from trundle.installation._installation import Installation
from trundle.installation._records import InstalledPackage
from trundle.packages import Manifest
from trundle.registry import RegistryError, open_repository

if TYPE_CHECKING:
    from trundle.version import SemVer

_HIDDEN = ":***@"


def remember_store(installation: Installation, where: str) -> bool:
    """Remembers that what is installed is kept in a store; whether its password was left out.

    Args:
        installation: the installation.
        where: the file, or the URL; a password in it is not kept.
    """
    place = where.replace(_HIDDEN, "@") if "://" in where else str(Path(where).absolute())
    if place not in installation.memory.stores():
        with installation.alone(), installation.memory.changing():
            installation.memory.add_store(place)
    return _HIDDEN in where


def forget_store(installation: Installation, place: str, *, dry_run: bool = False) -> bool:
    """Forgets a store that is gone for good; whether it was remembered."""
    known = installation.memory.stores()
    found = next((each for each in (place, str(Path(place).absolute())) if each in known), None)
    if found is not None and not dry_run:
        with installation.alone(), installation.memory.changing():
            installation.memory.forget_store(found)
    return found is not None


def with_readable(
    installation: Installation, repository: str, before: InstalledPackage | None, plan: UpgradePlan
) -> UpgradePlan:
    """A plan in which the versions are blocked that could not read what is stored, as far as they come before one that can.

    Args:
        installation: the installation.
        repository: where the versions are.
        before: what is installed of the package.
        plan: the plan.
    """
    asked = installation.unreadable is not None or installation.memory.stores()
    if not plan.ready or not asked:
        return plan
    blocked: dict[SemVer, str] = {}
    for each in plan.ready:
        entry = each.entry
        where = f"{plan.package} {entry.version}"
        try:
            source = open_repository(repository, settings=installation.settings)
            reference = entry.digest or entry.tag_name
            manifest = installation.content.look(source, reference, where).package
        except (RefusedError, RegistryError):
            break  # It is refused when it is fetched.
        found = unreadable(installation, before, manifest)
        if not found:
            break
        whys = "; ".join(expectation(x.expected, x.found, x.advice) for x in found)
        blocked[entry.version] = f"{entry.version} cannot read what is stored: {whys}"
    return withheld(plan, blocked)


def check_readable(
    installation: Installation, before: InstalledPackage | None, after: Manifest, where: str
) -> None:
    """Refuses a release that could not read what is stored.

    Raises:
        RefusedError: it could not.
    """
    found = unreadable(installation, before, after)
    if found:
        code = RefusalCode.STILL_STORED
        raise RefusedError(*(refusal(code, where, x.expected, x.found, x.advice) for x in found))


def unreadable(
    installation: Installation, before: InstalledPackage | None, after: Manifest
) -> tuple[Finding, ...]:
    """What a release could not read of what the stores of an installation hold.

    Args:
        installation: the installation.
        before: what is installed of the package.
        after: the manifest of the release.
    """
    places = installation.memory.stores()
    names = after.storage.keys() | (before.manifest.storage.keys() if before else set())
    elsewhere = () if installation.unreadable is None else installation.unreadable(before, after)
    if not places or not names:
        return tuple(elsewhere)
    found = (each for place in places for each in _unreadable_in(place, names, after))
    return (*found, *elsewhere)


def _unreadable_in(place: str, names: Iterable[str], after: Manifest) -> Iterator[Finding]:
    from trundle.store import dropped  # noqa: PLC0415 - only where there is a store

    among = {_type_of(name): after.storage.get(name, []) for name in names}
    try:
        if "://" not in place and not Path(place).exists():
            yield _unseen(place, "no such file")
            return
        for each in dropped(place if "://" in place else Path(place), among, only=True):
            what = f"{each.found}, in {place}"
            yield Finding(each.code, each.place, each.expected, what, _advice(each, among))
    except (DatabaseError, ImportError) as error:
        yield _unseen(place, str(error))


def _unseen(place: str, found: str) -> Finding:
    expected = f"to see in the store {place} whether the release can read it"
    advice = "let it be reached, or run `trundle forget store` if it is gone for good"
    return Finding(RefusalCode.STILL_STORED, Place(file=place), expected, found, advice)


def _advice(found: Finding, among: Mapping[tuple[str, str], Iterable[str]]) -> str:
    from trundle.store import StoreCode  # noqa: PLC0415 - only where there is a store

    if found.code == StoreCode.NEWER:
        return found.advice
    if any(
        versions and found.place.object in {name, f"{group}/{name}"}
        for (group, name), versions in among.items()
    ):
        return "run `trundle store roll --installed` first"
    return (
        "delete its objects and run `trundle store compact --installed`, or stay with this release"
    )


def _type_of(name: str) -> tuple[str, str]:
    """The group and the name of a resource type, as a store has them: names of types may have slashes, groups have none."""
    group, _, rest = name.partition("/")
    return group, rest
