"""The pages of one version of a package."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trundle.engine import ClassOutline, ValueOutline
from trundle.packages import Level
from trundle.pages._described_version import DescribedVersion, ResourceType
from trundle.pages._names import anchor, file_names, folder_name, link
from trundle.pages._rendering import pieces, render
from trundle.pages._search import SearchEntry, search_script


def version_pages(release: DescribedVersion) -> Mapping[str, bytes]:
    """All pages of a version, by their paths within its folder."""
    pages = _Pages(release)
    found = dict(pages.all())
    found["search.js"] = search_script(pages.entries())
    for name, file in pages.resources.items():
        picture = next(each.picture for each in release.resources if each.name == name)
        found[f"resources/{file}.svg"] = picture.encode()
    return found


class _Pages:
    """Makes the pages; paths are those within the site."""

    def __init__(self, release: DescribedVersion) -> None:
        self.release = release
        self.folder = f"{folder_name(release.name)}/{release.version}"
        self.classes = file_names(each.name for each in release.classes)
        self.resources = file_names(each.name for each in release.resources)
        self._paths = {
            name: f"{folder_name(each.name)}/{each.version}/classes/{file}"
            for each in reversed(release.required)
            for name, file in file_names(sorted(each.classes)).items()
        }
        self._paths |= {
            name: f"{self.folder}/classes/{file}" for name, file in self.classes.items()
        }

    def all(self) -> Iterator[tuple[str, bytes]]:
        """All pages, in HTML and in Markdown."""
        for ending in ("html", "md"):
            yield self._page("version", f"index.{ending}", ending, {"levels": self._levels()})
            for each in self.release.classes:
                name = f"classes/{self.classes[each.name]}.{ending}"
                yield self._page("class", name, ending, self._class(each, ending))
            for one in self.release.resources:
                file = f"resources/{self.resources[one.name]}"
                values = {"resource": one, "picture": f"{self.folder}/{file}.svg"}
                yield self._page("resource", f"{file}.{ending}", ending, values)

    def _page(
        self, template: str, name: str, ending: str, values: Mapping[str, Any]
    ) -> tuple[str, bytes]:
        page = f"{self.folder}/{name}"
        shared = {
            "release": self.release,
            "folder": self.folder,
            "own": {name: self._target(name, ending) for name in self.classes},
            "classes": {name: self._target(name, ending) for name in self._paths},
            "resources": {
                name: f"{self.folder}/resources/{file}.{ending}"
                for name, file in self.resources.items()
            },
        }
        return name, render(f"{template}.{ending}", page, {**shared, **values})

    def _class(self, shown: ClassOutline, ending: str) -> Mapping[str, Any]:
        def parts(value: ValueOutline, text: str) -> Sequence[tuple[str, str, str]]:
            targets = {
                name: (full, self._target(full, ending)) for name, full in value.types.items()
            }
            return pieces(text, targets)

        heirs = [each.name for each in self.release.classes if shown.name in each.parents]
        changes = () if self.release.bump is None else self.release.bump.changes
        own = tuple(
            each
            for each in changes
            if each.place == shown.name or each.place.startswith(f"{shown.name}.")
            if not self._is_of_longer_name(each.place, shown.name)
        )
        return {"shown": shown, "parts": parts, "heirs": heirs, "changes": own}

    def _is_of_longer_name(self, place: str, name: str) -> bool:
        """Whether a place is in a class whose name begins with that of another class."""
        return any(
            other.startswith(f"{name}.") and (place == other or place.startswith(f"{other}."))
            for other in self.classes
        )

    def _target(self, name: str, ending: str) -> str:
        """The page of a class; empty where there is none."""
        path = self._paths.get(name)
        return f"{path}.{ending}" if path else ""

    def _levels(self) -> Sequence[tuple[str, Any]]:
        """The changes by their levels, the farthest first."""
        changes = () if self.release.bump is None else self.release.bump.changes
        found = (
            (level.word, tuple(each for each in changes if each.level is level))
            for level in sorted(Level, reverse=True)
        )
        return [each for each in found if each[1]]

    def entries(self) -> Iterator[SearchEntry]:
        """What can be found in a version."""
        for each in self.release.classes:
            target = f"classes/{self.classes[each.name]}.html"
            yield SearchEntry(each.name, "class", each.title, link(target, "search.js"))
            for kind, names in (
                ("property", [one.name for one in each.properties]),
                ("method", [one.name for one in each.methods]),
            ):
                for name in names:
                    place = f"{target}#{anchor(kind, name)}"
                    yield SearchEntry(name, kind, each.name, link(place, "search.js"))
        for resource in self.release.resources:
            yield from self._resource_entries(resource)

    def _resource_entries(self, resource: ResourceType) -> Iterator[SearchEntry]:
        target = f"resources/{self.resources[resource.name]}.html"
        yield SearchEntry(resource.name, "resource type", "", link(target, "search.js"))
        for each in resource.definitions:
            place = link(f"{target}#{anchor('type', each.name)}", "search.js")
            for field in each.fields:
                yield SearchEntry(field.name, "property", each.name, place)
