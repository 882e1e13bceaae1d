"""Why packages do not fit together, in records and in words."""

from collections.abc import Iterable, Sequence

import msgspec

from trundle.errors import expectation
from trundle.packages._lock import Release
from trundle.packages._model import Requirement
from trundle.version import SemVer

_MOST = 6


class Side(msgspec.Struct, frozen=True):
    """One side of a conflict: a requirement, and the release that has it; None where the caller asked for it."""

    requirement: Requirement
    release: Release | None

    @property
    def package(self) -> str:
        """The package that has the requirement, or the request itself."""
        return self.release.name if self.release else "the request"

    @property
    def order(self) -> tuple[tuple[SemVer, ...], str]:
        """A sort key among the sides of one package."""
        return ((self.release.version,) if self.release else (), str(self.requirement.range))


class Clash(msgspec.Struct, frozen=True):
    """A package of which no version satisfies all requirements.

    Attributes:
        package: its name.
        sides: who requires it, and in which versions.
        known: its versions, newest first.
        unusable: versions that would serve but cannot be used, each with the reason.
    """

    package: str
    sides: tuple[Side, ...]
    known: tuple[SemVer, ...]
    unusable: tuple[tuple[SemVer, str], ...]

    @property
    def is_missing(self) -> bool:
        """Whether no version of the package is known at all."""
        return not self.known and not self.unusable

    def __str__(self) -> str:
        sides = _sides(self.sides)
        expected = "one version" if len(sides) > 1 else "a version"
        wanted = _listed(sides, " and ")
        text = expectation(f"{expected} for {wanted}", self._found(), self._advice())
        return f"{self.package}: {text}"

    def _found(self) -> str:
        if self.unusable:
            reasons = _listed([f"{version} ({reason})" for version, reason in self.unusable], ", ")
            return f"only what cannot be used: {reasons}"
        if self.is_missing:
            return "no such package"
        return f"none among {_listed([str(each) for each in self.known], ', ')}"

    def _advice(self) -> str:
        if self.unusable:
            return f"publish {self.package} again in a higher version"
        if self.is_missing:
            return "publish it, or correct the requirement"
        return "widen a requirement, or publish a version that fits"


class Conflict(msgspec.Struct, frozen=True):
    """Why a requirement cannot be met.

    Attributes:
        clashes: the packages of which no version satisfies all requirements, in alphabetical order. Where several versions of the
            packages that require them were tried, the sides name each of them.
        gave_up: whether the search was ended because it took too long, and not because nothing was left to try.
    """

    clashes: tuple[Clash, ...]
    gave_up: bool = False

    def __str__(self) -> str:
        lines = [str(clash) for clash in self.clashes]
        if self.gave_up:
            lines.append(
                expectation("an answer within the steps allowed", "none", "narrow the requirements")
            )
        return "\n".join(lines)


def _sides(sides: Iterable[Side]) -> list[str]:
    """Each requirement once, with all the versions of one package that have it."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for side in sides:
        versions = grouped.setdefault((side.package, str(side.requirement.range)), [])
        if side.release:
            versions.append(str(side.release.version))
    return [
        f"{who}{' ' if versions else ''}{_listed(versions, ', ')} ({needed})"
        for (who, needed), versions in grouped.items()
    ]


def _listed(words: Sequence[str], between: str) -> str:
    shown = list(words[:_MOST])
    if len(words) > _MOST:
        shown.append(f"{len(words) - _MOST} more")
    return between.join(shown)
