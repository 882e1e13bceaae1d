"""What a package says about itself: one model for both kinds of manifest.

Nothing in a manifest leads back to it, so that the garbage collector need not look at the thousands that a catalog has (`gc=False`).
"""

import functools
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from trundle.errors import expectation
from trundle.packages._errors import ManifestError, PackageCode, finding
from trundle.version import SemVer, VersionError, VersionRange

CORE_LIBRARY = "io.murano"
"""The package that every package in the package language depends on."""

PACKAGE_LANGUAGE = "MuranoPL"
"""The language of packages whose format names none."""


class Requirement(msgspec.Struct, frozen=True, order=False, gc=False):
    """A package that another one needs.

    Attributes:
        name: the package.
        range: the versions of it that will do.
    """

    name: str
    range: VersionRange

    def __str__(self) -> str:
        return f"{self.name} {self.range}"


class PackageFormat(msgspec.Struct, frozen=True, gc=False):
    """What code of a package is written in.

    Attributes:
        language: the language.
        version: the lowest version of the engine that runs it.
    """

    language: str = PACKAGE_LANGUAGE
    version: SemVer = SemVer(1, 0, 0)

    def __str__(self) -> str:
        return f"{self.language}/{self.version}"


class ClassFile(msgspec.Struct, frozen=True, gc=False):
    """A class of the package language.

    Attributes:
        name: its full name.
        file: the file in the package that declares it, below `Classes`.
    """

    name: str
    file: str


class PackageMeta(msgspec.Struct, frozen=True, gc=False):
    """What a package attaches to itself.

    Attributes:
        name: the full name of the Meta class.
        properties: its properties, as plain values.
    """

    name: str
    properties: dict[str, Any] = {}


class ResourceVersions(msgspec.Struct, frozen=True, gc=False):
    """A resource type that a package brings, and versions of it.

    Attributes:
        name: the resource type; `group/name` where storage versions are meant.
        versions: API versions that clients are meant to use, or storage versions that can be read; oldest first.
    """

    name: str
    versions: tuple[str, ...]


def _listed(versions: Mapping[str, Iterable[str]]) -> tuple[ResourceVersions, ...]:
    """Versions by resource type, in alphabetical order of the types."""
    return tuple(ResourceVersions(name, tuple(each)) for name, each in sorted(versions.items()))


class Manifest(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", gc=False
):
    """What a package says about itself, whichever manifest it has.

    Attributes:
        name: the name that others require it by.
        version: its version; that of an `app.yaml` has neither pre-release nor build.
        title: what people call it; may be empty.
        description: what it is for; may be empty.
        changes: what is new in this version.
        critical: whether this version is an urgent fix.
        min_upgrade_from: the lowest version that can be upgraded to this one; None for all.
        requirements: the declared requirements, in the order of the manifest, in which classes are looked up.
        format: language and lowest engine version; None where there is nothing in the package language.
        type: `Application` or `Library`; may be empty.
        classes: the classes in alphabetical order.
        resource_types: the resource types that the package carries, in alphabetical order.
        resource_versions: the API versions of these, computed when the package was packed; empty for packages that carry no
            project.
        storage_versions: the storage versions that its projects can read, by `group/name` of their resource types; computed as well.
        forms: the files of the UI forms.
        meta: what the package attaches to itself, in the order of the manifest.
        keywords: words to find it by.
        maintainers: who looks after it.
        license: the licence, as an SPDX expression where possible; may be empty.
        website: where to read about it; may be empty.
        source: where its source is kept; may be empty.
    """

    name: str
    version: SemVer
    title: str = ""
    description: str = ""
    changes: tuple[str, ...] = ()
    critical: bool = False
    min_upgrade_from: SemVer | None = None
    requirements: tuple[Requirement, ...] = ()
    format: PackageFormat | None = None
    type: str = ""
    classes: tuple[ClassFile, ...] = ()
    resource_types: tuple[str, ...] = ()
    resource_versions: tuple[ResourceVersions, ...] = ()
    storage_versions: tuple[ResourceVersions, ...] = ()
    forms: tuple[str, ...] = ()
    meta: tuple[PackageMeta, ...] = ()
    keywords: tuple[str, ...] = ()
    maintainers: tuple[str, ...] = ()
    license: str = ""
    website: str = ""
    source: str = ""

    def bringing(
        self, resources: Mapping[str, Iterable[str]], storage: Mapping[str, Iterable[str]]
    ) -> "Manifest":
        """The manifest of a package that brings these API versions, and can read these storage versions, by resource types."""
        versions = _listed(resources)
        return msgspec.structs.replace(
            self,
            resource_types=tuple(each.name for each in versions),
            resource_versions=versions,
            storage_versions=_listed(storage),
        )

    @property
    def storage(self) -> dict[str, list[str]]:
        """The storage versions that the package can read, by resource type: `group/name`, with nothing before the slash where it has no group."""
        return {each.name: list(each.versions) for each in self.storage_versions}

    @property
    def resources(self) -> dict[str, list[str]]:
        """The API versions that the package brings, by resource type, as plain values; oldest first."""
        found: dict[str, list[str]] = {name: [] for name in self.resource_types}
        found.update({each.name: list(each.versions) for each in self.resource_versions})
        return found

    @property
    def effective_requirements(self) -> tuple[Requirement, ...]:
        """The requirements in the order of the manifest, then the implied ones.

        A package may use other versions of itself with the same major number, and a package in the package language
        the core library in its versions below 1.0.0, unless it says otherwise.
        """
        ranges = {each.name: each.range for each in self.requirements}
        ranges.setdefault(self.name, VersionRange.family(self.version.major))
        if self.format and self.format.language == PACKAGE_LANGUAGE:
            ranges.setdefault(CORE_LIBRARY, VersionRange.parse(""))
        return tuple(Requirement(name, each) for name, each in ranges.items())


def manifest_to_json(manifest: Manifest) -> bytes:
    """Writes a manifest as JSON, equal bytes for equal manifests; the configuration blob of the package's artifact."""
    return msgspec.json.encode(manifest, enc_hook=encode_text)


def manifest_from_json(data: bytes, name: str = "manifest") -> Manifest:
    """Reads a manifest that `manifest_to_json` wrote; keys of later versions of Trundle are passed over.

    Args:
        data: the JSON.
        name: what messages call it.

    Raises:
        ManifestError: this is no such manifest.
    """
    try:
        return msgspec.json.decode(data, type=Manifest, dec_hook=decode_text)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        code, expected = PackageCode.DAMAGED_MANIFEST, "the manifest of a package"
        advice = "publish the package again"
        raise ManifestError([finding(code, name, expected, str(error), advice)]) from None


def encode_text(value: Any) -> str:
    """Writes versions and ranges in JSON.

    Raises:
        NotImplementedError: the value is something else.
    """
    if isinstance(value, SemVer | VersionRange):
        return str(value)
    raise NotImplementedError


def decode_text(kind: type, value: Any) -> Any:
    """Reads versions and ranges in JSON.

    Raises:
        ValueError: the text is neither.
        NotImplementedError: something else is wanted.
    """
    if kind not in (SemVer, VersionRange):
        raise NotImplementedError
    if not isinstance(value, str):
        raise VersionError(expectation("text", repr(value)))
    return _parsed(kind, value)


@functools.lru_cache(maxsize=4096)
def _parsed(kind: type, text: str) -> SemVer | VersionRange:
    """A version or range; a catalog has the same few of them in thousands of manifests."""
    return SemVer.parse(text) if kind is SemVer else VersionRange.parse(text)
