"""The words of a version of a project: fields are kept by lineage, and shown at each version that has them.

A kept path has the names of the hub. Two more path elements say what the hub has no name for:

- `b:VERSION:NAME` is a property that a stored object keeps in its bag, under the version and name that its entry has;
- `w:VERSION:NAME` a property whose conversion changes the structure of its values: what follows is as this version wrote it, and
  other versions do not show it.
"""

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass

from trundle.api.apply._fields import FieldSet, Path, keyed, member, name_of
from trundle.evolution import ADDITIONAL, Lineage, Place, Thread
from trundle.schema import FreeForm, ListOf, MapOf, Nullable, ObjectType, Ref, Type
from trundle.version import ApiVersion, VersionError

_ALIKE = ("apiVersion", "kind", "metadata")
"""What is called alike at every version."""


class LineageWords:
    """How the fields of a resource type are called at a version.

    Args:
        root: the lineage of its root object.
        version: the version.
        hub: the version whose names are kept.
    """

    def __init__(self, root: Lineage, version: ApiVersion, hub: ApiVersion) -> None:
        self._root = root
        self._hub = hub
        self._by = str(hub)
        self._showing = _Showing(version, hub)
        self._keeping = _Keeping(version, hub)

    @property
    def by(self) -> str:
        """The hub, whose words fields are kept in."""
        return self._by

    def moved(self, fields: FieldSet, by: str) -> FieldSet | None:
        """Fields that were kept in the words of another hub, as they are kept now; None where that version is not known."""
        try:
            before = ApiVersion.parse(by)
        except VersionError:
            return None
        if before not in self._root.nodes:
            return None
        shown, rest = LineageWords(self._root, before, before).shown(fields)
        ours, hidden = LineageWords(self._root, self._hub, before).shown(rest)
        return LineageWords(self._root, before, self._hub).kept(shown, ours | hidden)

    def shown(self, fields: FieldSet) -> tuple[FieldSet, FieldSet]:
        """What of kept fields the version can show, in its own words; and the rest."""
        found = {path: self._showing.of_object(self._root, path) for path in fields}
        hidden = frozenset(path for path, each in found.items() if each is None)
        return frozenset(filter(None, found.values())), hidden

    def kept(self, fields: FieldSet, hidden: FieldSet) -> FieldSet:
        """Fields in the version's words, and the rest, as they are kept."""
        found = (self._keeping.of_object(self._root, path) for path in fields)
        return frozenset(filter(None, found)) | hidden


@dataclass(frozen=True, slots=True)
class _Translation(ABC):
    """Translates paths between the words of a version and how they are kept."""

    version: ApiVersion
    hub: ApiVersion

    @abstractmethod
    def read(self, lineage: Lineage, path: Path) -> tuple[Place, Path] | None:
        """The property that a path begins with, and the rest of the path."""

    @abstractmethod
    def spell(self, lineage: Lineage, thread: Thread) -> tuple[Place, Path] | None:
        """Where the other side has a property, and how a path to it begins."""

    @abstractmethod
    def as_written(self, path: Path) -> Path | None:
        """A path of which the other side has no translation."""

    def of_object(self, lineage: Lineage, path: Path) -> Path | None:
        """A path from an object, on the other side; none where that cannot say it."""
        if not path or (lineage.is_root and name_of(path[0]) in _ALIKE):
            return path
        return self._of_property(lineage, path) or self.as_written(path)

    def _of_property(self, lineage: Lineage, path: Path) -> Path | None:
        found = self.read(lineage, path)
        if found is None:
            return None
        place, rest = found
        spelt = self.spell(lineage, lineage.thread(place))
        if spelt is None:
            return None
        target, head = spelt
        inside = self._inside(lineage, (place, lineage.type(place)), lineage.type(target), rest)
        return None if inside is None else head + inside

    def _inside(
        self, lineage: Lineage, here: tuple[Place, Type], there: Type, path: Path
    ) -> Path | None:
        """A path from a value, which other versions may have with another structure."""
        place, type_ = here
        if not path:
            return path
        match _bare(type_), _bare(there):
            case FreeForm(), FreeForm():
                return path
            case MapOf(values), MapOf(others):
                rest = self._inside(lineage, (place, values), others, path[1:])
                return None if rest is None else (path[0], *rest)
            case ListOf(items), ListOf(others):
                first = self._element(lineage, place, items, path[0])
                rest = self._inside(lineage, (place, items), others, path[1:])
                return None if first is None or rest is None else (first, *rest)
            case Ref(key), Ref() if _is_object(lineage, place.version, key):
                return self.of_object(lineage.child(place, key), path)
        return None

    def _element(self, lineage: Lineage, place: Place, items: Type, element: str) -> str | None:
        """The element of a list, by the names that its keys have on the other side."""
        if not element.startswith("k:"):
            return element
        bare = _bare(items)
        if not isinstance(bare, Ref) or not _is_object(lineage, place.version, bare.key):
            return None
        keys = {}
        for name, value in json.loads(element[2:]).items():
            path = self._of_property(lineage.child(place, bare.key), (member(name),)) or ("",)
            renamed = name_of(path[0]) if len(path) == 1 else None
            if renamed is None:
                return None
            keys[renamed] = value
        return keyed(keys)


class _Keeping(_Translation):
    """From the words of a version to how they are kept."""

    def read(self, lineage: Lineage, path: Path) -> tuple[Place, Path] | None:
        return _read(lineage, self.version, path)

    def spell(self, lineage: Lineage, thread: Thread) -> tuple[Place, Path] | None:
        home = thread.home(self.hub)
        if home.version == self.hub:
            return home, _names(lineage, home)
        return home, (f"b:{home.version}:{home.property}",)

    def as_written(self, path: Path) -> Path | None:
        return (f"w:{self.version}:{name_of(path[0])}", *path[1:])


class _Showing(_Translation):
    """From how fields are kept to the words of a version."""

    def read(self, lineage: Lineage, path: Path) -> tuple[Place, Path] | None:
        mark, _, rest = path[0].partition(":")
        if mark == "b":
            version, _, name = rest.partition(":")
            place = Place(ApiVersion.parse(version), name)
            # A later release, which was rolled back, may have kept what this one does not know.
            return (place, path[1:]) if lineage.has(place) else None
        return None if mark == "w" else _read(lineage, self.hub, path)

    def spell(self, lineage: Lineage, thread: Thread) -> tuple[Place, Path] | None:
        place = thread.at(self.version)
        return None if place is None else (place, _names(lineage, place))

    def as_written(self, path: Path) -> Path | None:
        written = f"w:{self.version}:"
        if not path[0].startswith(written):
            return None
        return (member(path[0].removeprefix(written)), *path[1:])


def _read(lineage: Lineage, version: ApiVersion, path: Path) -> tuple[Place, Path] | None:
    """The property of a version that a path begins with, and the rest of the path."""
    names = tuple(map(name_of, path))
    lifted = lineage.lifted(version).items()
    leading = [each for each in lifted if names[: len(each[1])] == each[1]]
    if leading:
        name, longest = max(leading, key=lambda each: len(each[1]))
        return Place(version, name), path[len(longest) :]
    followed = lineage.followed(version)
    if names[0] in followed:
        return Place(version, str(names[0])), path[1:]
    return (Place(version, ADDITIONAL), path) if ADDITIONAL in followed else None


def _names(lineage: Lineage, place: Place) -> Path:
    """How a path from an object to a property begins; nothing for additional properties, which name themselves."""
    if place.property == ADDITIONAL:
        return ()
    return tuple(map(member, lineage.path(place)))


def _bare(type_: Type) -> Type:
    return type_.inner if isinstance(type_, Nullable) else type_


def _is_object(lineage: Lineage, version: ApiVersion, key: str) -> bool:
    return isinstance(lineage.evolution.schema(version).definitions[key], ObjectType)
