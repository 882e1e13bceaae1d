"""Packages that are Python distributions: their entry points in `io.murano.extensions` are classes.

Each entry point is a class: its name is the full name, its object the Python class behind it. The package is named like the
distribution, in small letters. With a `manifest.yaml` among its files, it has the distribution's version, and the requirements, class files and format of the manifest; without
one, its version is 0.0.0, as no one has said yet what a change of it means. Only distributions that the operator lists are imported.
"""

import re
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from trundle.engine._errors import EngineCode
from trundle.errors import Finding, Place, TrundleError, listed
from trundle.packages import MANIFEST_FILE, Manifest, Package, PackageFormat, parse_manifest
from trundle.version import SemVer, VersionError

GROUP = "io.murano.extensions"
"""The group of entry points that are classes."""


class Plugins(NamedTuple):
    """What distributions bring: `Engine([*packages, *plugins.packages], natives=plugins.natives)`.

    Attributes:
        packages: a package for each distribution that can be used.
        natives: the Python classes, by the name of the class and the range of its package's version.
        findings: why others cannot be used.
    """

    packages: tuple[Package, ...]
    natives: Mapping[str, type]
    findings: tuple[Finding, ...]


def load_plugins(names: Iterable[str]) -> Plugins:
    """The packages of installed distributions.

    Args:
        names: the distributions; no other one is imported.
    """
    packages: list[Package] = []
    natives: dict[str, type] = {}
    found = {_normal(name): _points(name) for name in names}
    findings = list(_shared(found))
    refused = {each.place.object for each in findings}
    for name, points in found.items():
        if name in refused:
            continue
        try:
            package = _package(name, points)
            classes = {point.name: _loaded(name, point) for point in points}
        except _UnusableError as error:
            findings += error.findings
            continue
        packages.append(package)
        natives |= {f"{each}/{package.version}": native for each, native in classes.items()}
    return Plugins(tuple(packages), MappingProxyType(natives), tuple(findings))


class _UnusableError(TrundleError):
    """A distribution that cannot be used."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(str(finding))
        self.findings = (finding,)


def _points(name: str) -> list[metadata.EntryPoint]:
    """The classes of a distribution, in alphabetical order."""
    found = metadata.entry_points(group=GROUP)
    own = [
        each for each in found if each.dist is not None and _normal(each.dist.name) == _normal(name)
    ]
    return sorted(own, key=lambda each: each.name)


def _shared(found: Mapping[str, list[metadata.EntryPoint]]) -> Iterable[Finding]:
    """The classes that several distributions have; none of these is loaded."""
    owners: dict[str, list[str]] = {}
    for name, points in found.items():
        for point in points:
            owners.setdefault(point.name, []).append(name)
    for class_name, names in owners.items():
        if len(names) > 1:
            words = f"the class {class_name} of one distribution"
            advice = "list one of them only"
            for name in names:
                yield _finding(EngineCode.CONFLICT, name, words, listed(names), advice)


def _package(name: str, points: list[metadata.EntryPoint]) -> Package:
    if not points:
        expected = f"an installed distribution with entry points in {GROUP}"
        raise _unusable(EngineCode.NO_PACKAGE, name, expected, "none", "install it")
    dist = metadata.distribution(name)
    own_name = dist.name.lower()
    folder = _folder(dist)
    manifest = Manifest(name=own_name, version=SemVer(0, 0, 0), format=PackageFormat())
    files: dict[str, str | bytes] = {}
    if folder is not None:
        try:
            manifest = parse_manifest(
                (folder / MANIFEST_FILE).read_bytes(), str(folder / MANIFEST_FILE)
            )
        except TrundleError as error:
            raise _unusable(
                EngineCode.MANIFEST, name, "a manifest", str(error), "correct it"
            ) from None
        for each in manifest.classes:
            path = f"Classes/{each.file}"
            if (folder / path).is_file():
                files[path] = (folder / path).read_bytes()
    classes = {each.name: f"Classes/{each.file}" for each in manifest.classes}
    for at, point in enumerate(points):
        if point.name not in classes:
            classes[point.name] = f"Classes/native-{at}.yaml"
            files[classes[point.name]] = f"Name: {point.name}\n"
    version = SemVer(0, 0, 0) if folder is None else _version(name, dist.version)
    files["app.yaml"] = _manifest_text(own_name, version, manifest, classes)
    try:
        return Package.from_files(files)
    except TrundleError as error:
        raise _unusable(EngineCode.MANIFEST, name, "a package", str(error), "correct it") from None


def _folder(dist: metadata.Distribution) -> Path | None:
    """The folder with the manifest of a distribution; None where it has none."""
    for each in dist.files or ():
        if each.name == MANIFEST_FILE:
            return Path(str(dist.locate_file(each))).parent
    return None


def _version(name: str, text: str) -> SemVer:
    try:
        return SemVer.parse(text, shortened=True).release
    except VersionError:
        expected = "a version of three numbers"
        advice = "release the distribution under such a version"
        raise _unusable(EngineCode.MANIFEST, name, expected, text, advice) from None


def _manifest_text(
    name: str, version: SemVer, manifest: Manifest, classes: Mapping[str, str]
) -> str:
    lines = [f"name: {name}", f"version: {version}", "type: Library"]
    lines.append(f"format: {manifest.format or PackageFormat()}")
    if manifest.requirements:
        lines.append("dependsOn:")
        lines += (f"  {each.name}: '{each.range}'" for each in manifest.requirements)
    lines.append("classes:")
    lines += (f"  {each}: {path}" for each, path in classes.items())
    return "\n".join([*lines, ""])


def _loaded(name: str, point: metadata.EntryPoint) -> type:
    try:
        found: Any = point.load()
    except Exception as error:  # noqa: BLE001 - whatever the code of a plug-in raises
        expected, advice = f"{point.value} to be importable", "correct the distribution"
        found_text = f"{type(error).__name__}: {error}"
        raise _unusable(EngineCode.NO_CLASS, name, expected, found_text, advice) from None
    if not isinstance(found, type):
        expected, advice = f"a Python class as {point.name}", "name a class in the entry point"
        raise _unusable(EngineCode.NO_CLASS, name, expected, point.value, advice)
    return found


def _unusable(
    code: EngineCode, name: str, expected: str, found: str, advice: str
) -> _UnusableError:
    return _UnusableError(_finding(code, name, expected, found, advice))


def _finding(code: EngineCode, name: str, expected: str, found: str, advice: str) -> Finding:
    return Finding(code, Place(object=name), expected, found, advice)


def _normal(name: str) -> str:
    """The name of a distribution, as all tools spell it."""
    return re.sub(r"[-_.]+", "-", name).lower()
