"""The list of the versions of a package, kept beside their pages, and the pages made of such lists."""

from collections.abc import Iterable, Mapping

import msgspec

from trundle.pages._described_version import DescribedVersion
from trundle.pages._names import file_names, folder_name, link
from trundle.pages._rendering import render
from trundle.pages._search import SearchEntry, search_script, versions_script
from trundle.version import SemVer

FILE = "versions.json"


class Listed(msgspec.Struct, frozen=True, omit_defaults=True):
    """A version whose pages are there.

    Attributes:
        version: which one.
        digest: the digest of its archive.
        title: what people call the package.
        description: what it is for.
        type: `Application` or `Library`; may be empty.
        classes: its classes, by the file of their page.
        resources: its resource types, by the file of their page.
        base: the version that it was compared with; empty where it was not.
        level: how far its changes go; empty where it was not compared.
        count: how many changes were found.
        changes: what its manifest says is new.
    """

    version: str
    digest: str
    title: str
    description: str = ""
    type: str = ""
    classes: dict[str, str] = {}
    resources: dict[str, str] = {}
    base: str = ""
    level: str = ""
    count: int = 0
    changes: tuple[str, ...] = ()

    @classmethod
    def of(cls, release: DescribedVersion) -> "Listed":
        """A version as it is listed."""
        manifest, bump = release.manifest, release.bump
        return cls(
            version=str(release.version),
            digest=release.digest,
            title=release.title,
            description=manifest.description,
            type=manifest.type,
            classes=_by_file(each.name for each in release.classes),
            resources=_by_file(each.name for each in release.resources),
            base="" if bump is None else str(bump.base),
            level="" if bump is None or not bump.changes else bump.level.word,
            count=0 if bump is None else len(bump.changes),
            changes=manifest.changes,
        )


class Listing(msgspec.Struct, frozen=True):
    """The versions of a package whose pages are there.

    Attributes:
        package: its name.
        versions: the newest first.
    """

    package: str
    versions: tuple[Listed, ...] = ()

    @property
    def newest(self) -> Listed:
        """The newest version that is no pre-release, else the newest."""
        return next(
            (each for each in self.versions if not SemVer.parse(each.version).is_prerelease),
            self.versions[0],
        )

    @property
    def folder(self) -> str:
        """The folder of the package within the site."""
        return folder_name(self.package)

    def find(self, version: str) -> Listed | None:
        """A version that is listed."""
        return next((each for each in self.versions if each.version == version), None)

    def having(self, version: Listed) -> "Listing":
        """The list with a version more, or with that version anew."""
        others = [each for each in self.versions if each.version != version.version]
        ordered = sorted(
            [*others, version], key=lambda each: SemVer.parse(each.version), reverse=True
        )
        return Listing(self.package, tuple(ordered))


def pages(listings: Iterable[Listing]) -> Mapping[str, bytes]:
    """The pages of all packages, and of all versions of each, by their paths within the site."""
    found: dict[str, bytes] = {}
    ordered = sorted(listings, key=lambda each: (each.newest.title.casefold(), each.package))
    for ending in ("html", "md"):
        name = f"index.{ending}"
        found[name] = render(f"site.{ending}", name, {"listings": ordered})
        for each in ordered:
            page = f"{each.folder}/index.{ending}"
            found[page] = render(f"package.{ending}", page, {"listing": each})
    for each in ordered:
        versions = (one.version for one in each.versions)
        found[f"{each.folder}/versions.js"] = versions_script(versions)
    found["search.js"] = search_script(entry for each in ordered for entry in _entries(each))
    return found


def _entries(listing: Listing) -> Iterable[SearchEntry]:
    """What can be found of a package, in its newest version."""
    newest, page = listing.newest, "search.js"
    yield SearchEntry(
        listing.package, "package", newest.title, link(f"{listing.folder}/index.html", page)
    )
    for kind, folder, files in (
        ("class", "classes", newest.classes),
        ("resource type", "resources", newest.resources),
    ):
        for name, file in files.items():
            target = f"{listing.folder}/{newest.version}/{folder}/{file}.html"
            yield SearchEntry(name, kind, newest.title, link(target, page))


def _by_file(names: Iterable[str]) -> dict[str, str]:
    return dict(file_names(names))
