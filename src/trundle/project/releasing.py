"""What a package is as a release: whether it is in order, what it brings, what changed in it.

A package carries each project whose file is packed with it, and the classes in its manifest.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from trundle.errors import Finding, Place, errors_among, listed
from trundle.packages import (
    Bump,
    ChangeCode,
    Manifest,
    Package,
    PackageFormat,
    ReleaseChange,
    bump_of,
    major,
    minor,
    package_files,
    read_manifest,
)
from trundle.project._carried_changes import with_rules
from trundle.project._class_sources import holds_packages
from trundle.project._each_part import Progress, ignore
from trundle.project._release_codes import ReleaseCode
from trundle.project.checking import check
from trundle.project.config import load_config
from trundle.project.errors import ConfigError, ProjectError
from trundle.project.findings import ProjectCode
from trundle.project.init import CONFIG_NAME
from trundle.project.loading import load_parts
from trundle.project.release_changes import changes_between
from trundle.schema import SchemaError
from trundle.version import ApiVersion, SemVer


class Review(msgspec.Struct, frozen=True):
    """What there is to say about a package that is to be released.

    Attributes:
        version: the version in its manifest.
        resources: the API versions that clients are meant to use, by the resource types that its projects bring.
        findings: what is wrong with it, errors first, then notes.
        bump: what changed since the release before; None where there is none to compare with.
    """

    version: SemVer
    resources: Mapping[str, tuple[str, ...]] = {}
    findings: tuple[Finding, ...] = ()
    bump: Bump | None = None

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Why it should not be released."""
        return errors_among(self.findings)

    def to_plain(self) -> dict[str, Any]:
        """The review as plain values, for programs."""
        return {
            "version": str(self.version),
            "resourceTypes": {name: list(each) for name, each in self.resources.items()},
            "findings": [each.to_plain() for each in self.findings],
            **({} if self.bump is None else bump_to_plain(self.bump)),
        }


def bump_to_plain(bump: Bump) -> dict[str, Any]:
    """What changed since a release as plain values, for programs."""
    return {
        "base": str(bump.base),
        "required": str(bump.required),
        "changes": [each.to_plain() for each in bump.changes],
    }


def projects_in(folder: Path) -> tuple[PurePosixPath, ...]:
    """The files of the projects that a package carries, relative to its folder, in alphabetical order.

    Those that generate Python classes for packages of classes have no schemas, and are not among them.
    """
    return tuple(each for each in _configs_in(folder) if not _is_of_classes(folder / each))


def _configs_in(folder: Path) -> tuple[PurePosixPath, ...]:
    """The project files in a package, relative to its folder, in alphabetical order."""
    names = (PurePosixPath(each.name) for each in package_files(folder).files)
    return tuple(sorted(each for each in names if each.name == CONFIG_NAME))


def _is_of_classes(path: Path) -> bool:
    try:
        return holds_packages(load_config(path))
    except ConfigError:  # Reading it again says what is wrong.
        return False


def resources_in(folder: Path) -> Mapping[str, tuple[str, ...]]:
    """The API versions that clients are meant to use, by the resource types of a package's projects.

    Where several groups have a resource type of one name, it is called `group/name`.

    Raises:
        ConfigError: the file of a project cannot be used.
        SchemaError: a schema cannot be read.
        ProjectError: there are no resources in the schemas.
    """
    return brought_by(folder).served


class Brought(msgspec.Struct, frozen=True):
    """What a package brings of resource types.

    Attributes:
        served: the API versions that clients are meant to use, by resource type; where several groups have one of a name, it is called
            `group/name`.
        stored: the storage versions that can be read, by resource type: `group/name`, with nothing before the slash where it has no group.
    """

    served: Mapping[str, tuple[str, ...]]
    stored: Mapping[str, tuple[str, ...]]


def brought_by(folder: Path) -> Brought:
    """What the projects of a package bring.

    Raises:
        ConfigError: the file of a project cannot be used.
        SchemaError: a schema cannot be read.
        ProjectError: there are no resources in the schemas.
    """
    found: dict[str, dict[str, set[ApiVersion]]] = {}
    stored: dict[str, tuple[str, ...]] = {}
    for name in projects_in(folder):
        config = msgspec.structs.replace(load_config(folder / name), hooks=())  # They add nothing.
        for project in load_parts(config).values():
            for resource in project.evolution.resources:
                group = resource.resources[resource.versions.versions[-1]].group
                served = resource.served(project.config.horizon)
                found.setdefault(resource.name, {}).setdefault(group, set()).update(served)
                own = resource.resources[resource.versions.hub].group
                stored[f"{own}/{resource.name}"] = tuple(
                    each.text for each in resource.versions.storage
                )
    names = {
        name if len(groups) == 1 else f"{group}/{name}": tuple(map(str, sorted(versions)))
        for name, groups in sorted(found.items())
        for group, versions in sorted(groups.items())
    }
    return Brought(names, dict(sorted(stored.items())))


def compare_packages(before: Path, now: Path, base: SemVer) -> Bump:
    """What changed from one release of a package to the next: in its projects, its classes, and what these need.

    Args:
        before: the folder of the earlier release.
        now: the folder of the later one.
        base: the version of the earlier one.

    Raises:
        ConfigError: the file of a project cannot be used.
        SchemaError: a schema cannot be read.
        ProjectError: there are no resources in the schemas, or a lock cannot be read.
    """
    return bump_of(base, _changes(before, now))


def _changes(before: Path, now: Path) -> Iterator[ReleaseChange]:
    if any(read_manifest(each).classes for each in (before, now)):
        from trundle.engine.changes import package_changes  # noqa: PLC0415 - needs an extra

        packages = Package.from_folder(before), Package.from_folder(now)
        yield from with_rules(package_changes(*packages), *packages)
    ours, theirs = set(projects_in(before)), set(projects_in(now))
    for name in sorted(ours - theirs):
        yield major(ChangeCode.PROJECT_REMOVED, str(name), "the project is removed")
    for name in sorted(theirs - ours):
        yield minor(ChangeCode.PROJECT_ADDED, str(name), "the project is new")
    for name in sorted(ours & theirs):
        yield from changes_between(before / name, now / name)


def review(
    folder: Path,
    released: tuple[Path, SemVer] | None = None,
    *,
    resources: Mapping[str, tuple[str, ...]] | None = None,
    among: Callable[[Package], Iterable[Package]] = lambda _: (),
    jobs: int | None = None,
    progress: Progress = ignore,
) -> Review:
    """Looks at a package that is to be released: at its projects and what they store, its classes, its manifest, and its version.

    Args:
        folder: the folder of the package.
        released: the folder and the version of the release before; None where there is none.
        resources: what `resources_in` says of the folder, where that is at hand.
        among: gives packages that may be what a package of classes requires.
        jobs: how many processes to use; None for one to each processor, where that is worth it.
        progress: called for each step.

    Raises:
        PackageError: the manifest cannot be used.
        ConfigError: the file of a project cannot be used.
        SchemaError: a schema cannot be read.
        ProjectError: there are no resources in the schemas, or a lock cannot be read.
    """
    manifest = read_manifest(folder)
    names = projects_in(folder)
    resources = resources_in(folder) if resources is None else resources
    found: list[Finding] = []
    classes: tuple[Finding, ...] = ()
    asked: tuple[Finding, ...] = ()
    for name in _configs_in(folder):
        checked = check(load_config(folder / name), jobs=jobs, progress=progress)
        found += map(_as_released, checked)
    if names:
        found += _resource_types(manifest, resources, folder)
    if manifest.classes or _is_foreign(manifest):
        from trundle.engine import check_alone  # noqa: PLC0415 - needs an extra
        from trundle.project.package_evolution import check_rules  # noqa: PLC0415 - the same

        package = Package.from_folder(folder)
        required = list(among(package))
        classes = check_alone(package, required)
        found += errors_among(classes)
        earlier = None if released is None else Package.from_folder(released[0])
        required += [] if earlier is None else among(earlier)
        found += check_rules(package, earlier, required)
    if manifest.forms or (folder / "UI").is_dir():  # One that is usual needs no mention
        from trundle.forms import check_forms  # noqa: PLC0415 - needs an extra

        package = Package.from_folder(folder)
        known = {each.name: each for each in among(package)}
        is_known = all(each.name in known for each in manifest.requirements)
        asked = check_forms(package, known.values() if is_known else None)
        found += errors_among(asked)
    bump, lacking = (None, ()) if released is None else _compared(folder, manifest, *released)
    found += lacking
    notes = [each for each in found if each.severity == "note"]
    notes += [each for each in (*classes, *asked) if each.severity != "error"]
    return Review(manifest.version, resources, (*errors_among(found), *notes), bump)


def _compared(
    folder: Path, manifest: Manifest, before: Path, base: SemVer
) -> tuple[Bump | None, tuple[Finding, ...]]:
    """What changed since the release before, and what of it the version does not say."""
    try:
        bump = compare_packages(before, folder, base)
    except (SchemaError, ProjectError) as error:
        # What is to be released was loaded already, so it is the release before that cannot be.
        return None, (_not_compared(before, base, error),)
    return bump, tuple(bump.findings(manifest.version) or _behind(manifest.version, base))


def _is_foreign(manifest: Manifest) -> bool:
    """Whether a package is written in another language than that of the engine."""
    return manifest.format is not None and manifest.format.language != PackageFormat().language


def _as_released(finding: Finding) -> Finding:
    """What a finding of `check` is for a release: what a release stores must be recorded."""
    if finding.code is not ProjectCode.LOCK or finding.severity != "note":
        return finding
    advice = "run `trundle lock`"
    return Finding(finding.code, finding.place, finding.expected, finding.found, advice)


def _behind(version: SemVer, base: SemVer) -> list[Finding]:
    """What is wrong with a version that comes before the release that it is compared with."""
    if version.release >= base.release:
        return []
    expected, advice = f"{base} or newer", "raise the version, or name the release before it"
    place = Place(object="the version")
    return [Finding(ReleaseCode.VERSION, place, expected, str(version), advice)]


def _not_compared(before: Path, base: SemVer, error: Exception) -> Finding:
    reason = str(error).replace(f"{before}/", "")
    expected, found = f"to compare it with {base}", f"a release that cannot be read: {reason}"
    advice = "compare them yourself, and give the reason for an override"
    return Finding(ReleaseCode.UNREADABLE, Place(object=str(base)), expected, found, advice)


def _resource_types(
    manifest: Manifest, resources: Iterable[str], folder: Path
) -> Iterator[Finding]:
    """What the manifest says of resource types, where that is not what its projects have."""
    wanted, said = set(resources), set(manifest.resource_types)
    if said and said != wanted:
        expected = f"the resource types of its projects: {listed(sorted(wanted))}"
        advice = "correct the list, or remove it: it is computed when the package is packed"
        place = Place(str(folder), object="resourceTypes")
        yield Finding(ReleaseCode.RESOURCE_TYPES, place, expected, listed(sorted(said)), advice)
