"""What changed from one release of a package to the next, and the version that the next one needs at least.

Whatever a package carries, its changes are records of one kind. What finds them says how far each goes; this module
says what version follows.
"""

from collections.abc import Iterable
from enum import IntEnum
from typing import Any

import msgspec

from trundle.errors import Code, Finding, Place
from trundle.packages._model import Manifest
from trundle.version import SemVer


class Level(IntEnum):
    """How far a change goes; levels compare."""

    PATCH = 1
    MINOR = 2
    MAJOR = 3

    @property
    def word(self) -> str:
        """The level in a word, such as `major`."""
        return self.name.lower()


class ReleaseChange(msgspec.Struct, frozen=True, order=True):
    """One change between two releases of a package.

    Attributes:
        place: what changed, such as `Person.name in 2016-03-01`.
        code: what kind of change it is.
        text: what changed about it.
        level: how far it goes.
        judge: whether only a person can say how far it goes; the level is what it counts as until then.
    """

    place: str
    code: Code
    text: str
    level: Level
    judge: bool = False

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"

    def to_plain(self) -> dict[str, Any]:
        """The change as plain values, for programs."""
        return {
            "code": str(self.code),
            "level": self.level.word,
            "place": self.place,
            "text": self.text,
            "judge": self.judge,
        }


class ResourceChange(msgspec.Struct, frozen=True):
    """What another release of a package changes about a resource type.

    Attributes:
        name: the resource type.
        added: the API versions that only the other release brings, oldest first.
        removed: those that it no longer brings.
    """

    name: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def resource_changes(before: Manifest, after: Manifest) -> tuple[ResourceChange, ...]:
    """The resource types of which another release of a package brings other API versions, in alphabetical order."""
    ours, theirs = before.resources, after.resources
    found = (
        ResourceChange(
            name,
            tuple(each for each in theirs.get(name, ()) if each not in ours.get(name, ())),
            tuple(each for each in ours.get(name, ()) if each not in theirs.get(name, ())),
        )
        for name in sorted(ours.keys() | theirs.keys())
    )
    return tuple(each for each in found if each.added or each.removed)


class Bump(msgspec.Struct, frozen=True):
    """What changed since a release, and what version that asks for.

    Attributes:
        base: the version of the release.
        changes: what changed, the farthest first.
    """

    base: SemVer
    changes: tuple[ReleaseChange, ...]

    @property
    def level(self) -> Level:
        """How far the changes go together; other content is a patch at least."""
        return max((each.level for each in self.changes), default=Level.PATCH)

    @property
    def required(self) -> SemVer:
        """The lowest version that the changes admit; that of the release where nothing changed."""
        return next_version(self.base, self.level) if self.changes else self.base.release

    def findings(self, version: SemVer) -> tuple[Finding, ...]:
        """Why a version is too low for the changes, one finding for each change; nothing where it is not.

        Args:
            version: the version in the manifest; a pre-release counts as the release that it leads to.
        """
        if version.release >= self.required:
            return ()
        advice = f"raise the version to {self.required} at least, or take the change back"
        return tuple(
            Finding(
                each.code,
                Place(object=each.place),
                "",
                f"{each.text}; {version} is too low",
                advice,
            )
            for each in self.changes
            if version.release < next_version(self.base, each.level)
        )


def bump_of(base: SemVer, changes: Iterable[ReleaseChange]) -> Bump:
    """What some changes ask for, each once, the farthest first."""
    ordered = sorted(set(changes), key=lambda each: (-each.level, each))
    return Bump(base, tuple(ordered))


def next_version(base: SemVer, level: Level) -> SemVer:
    """The release after another one, by a step of a level; below 1.0.0 a major step is a minor one.

    A pre-release counts as the release that it leads to.
    """
    base = base.release
    match level:
        case Level.MAJOR if base.major:
            return base.next_major()
        case Level.MAJOR | Level.MINOR:
            return base.next_minor()
        case _:
            return base.next_patch()
