"""SemVer 2.0: versions of packages, their order, and how far apart two of them are.

Rules are those of https://semver.org/spec/v2.0.0.html; the numbers of its items are beside what follows them.
"""

import functools
import re
from collections.abc import Iterable
from typing import Literal, Self, TypeAlias

from trundle.errors import expectation
from trundle.version._scanning import Scanner

Level: TypeAlias = Literal["patch", "minor", "major", "prerelease"]
"""How far a change of version goes; `prerelease` is a change between versions of the same three numbers."""

ZeroMajor: TypeAlias = Literal["caret", "plain"]
"""How changes below 1.0.0 count: `caret` takes the first number that is not zero for the major one."""

_IDENTIFIER = re.compile(r"[0-9A-Za-z-]+")
_RELEASE = re.compile(r"\.".join([r"(0|[1-9][0-9]{0,8})"] * 3))
_Identifiers: TypeAlias = tuple[tuple[int, int, str], ...]


class Frozen:
    """Keeps the attributes of a value from being changed."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed; make another one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed; make another one")


@functools.total_ordering
class SemVer(Frozen):
    """A version of a package, such as `1.2.3`, `1.2.3-beta.1` or `1.2.3-beta.1+20`.

    Two versions are equal when they are written alike, builds included: `1.0.0+1` is not `1.0.0+2`. The order is total
    and agrees with that: by precedence first (item 11), and where that is equal by build, none before any,
    numeric identifiers as numbers. Compare `precedence` where builds must not count.

    Attributes:
        major: changes with what breaks users.
        minor: changes with what is added.
        patch: changes with what is mended.
        prerelease: the identifiers after the hyphen; empty for a release.
        build: the identifiers after the plus; they have no part in precedence.
        precedence: a sort key that leaves builds out (item 10); equal keys mean equal precedence.
    """

    __slots__ = ("_hash", "_order", "build", "major", "minor", "patch", "precedence", "prerelease")

    major: int
    minor: int
    patch: int
    prerelease: tuple[str, ...]
    build: tuple[str, ...]
    precedence: tuple[object, ...]
    _order: tuple[object, ...]
    _hash: int

    def __init__(
        self,
        major: int,
        minor: int,
        patch: int,
        prerelease: tuple[str, ...] = (),
        build: tuple[str, ...] = (),
    ) -> None:
        _check((major, minor, patch), prerelease, build)
        # A release comes after its pre-releases (item 11.3), a longer pre-release after a shorter one (11.4.4).
        precedence = (major, minor, patch, not prerelease, _identifiers(prerelease))
        # The texts distinguish 1.0.0+1 and 1.0.0+01, which are equal as numbers.
        order = (precedence, _identifiers(build), build)
        put = functools.partial(object.__setattr__, self)
        put("major", major)
        put("minor", minor)
        put("patch", patch)
        put("prerelease", prerelease)
        put("build", build)
        put("precedence", precedence)
        put("_order", order)
        put("_hash", hash(order))

    @classmethod
    def parse(cls, text: str, *, shortened: bool = False) -> Self:
        """Reads a version.

        Args:
            text: the version, without any `v` before it or blanks around it.
            shortened: also take `1` for `1.0.0` and `1.2` for `1.2.0`.

        Raises:
            VersionSyntaxError: the text is not a version; it says where.
        """
        if plain := _RELEASE.fullmatch(text):  # Most versions are this simple.
            return cls(int(plain[1]), int(plain[2]), int(plain[3]))
        scanner = Scanner(text)
        numbers = scanner.numbers()
        if not shortened and len(numbers) < len(_PARTS):
            expected = f"'.' and the {_PARTS[len(numbers)]} number"
            whole = ".".join(str(each) for each in (*numbers, 0, 0)[: len(_PARTS)])
            scanner.fail(expected, f"write {whole}")
        prerelease, build = scanner.suffixes(allowed=len(numbers) == len(_PARTS))
        scanner.end("the end of the version")
        major, minor, patch = (*numbers, 0, 0)[: len(_PARTS)]
        return cls(major, minor, patch, prerelease, build)

    @property
    def is_prerelease(self) -> bool:
        """Whether this is a pre-release; every other version is a release."""
        return bool(self.prerelease)

    @property
    def numbers(self) -> tuple[int, int, int]:
        """Major, minor and patch."""
        return (self.major, self.minor, self.patch)

    @property
    def release(self) -> "SemVer":
        """The version without pre-release and build."""
        return SemVer(*self.numbers)

    def next_patch(self) -> "SemVer":
        """The first release after this version."""
        return self.release if self.prerelease else SemVer(self.major, self.minor, self.patch + 1)

    def next_minor(self) -> "SemVer":
        """The first release `X.Y.0` after this version; of `1.3.0-rc` that is `1.3.0`."""
        if self.prerelease and not self.patch:
            return self.release
        return SemVer(self.major, self.minor + 1, 0)

    def next_major(self) -> "SemVer":
        """The first release `X.0.0` after this version; of `2.0.0-rc` that is `2.0.0`."""
        if self.prerelease and not self.patch and not self.minor:
            return self.release
        return SemVer(self.major + 1, 0, 0)

    def __eq__(self, other: object) -> bool:
        return self._order == other._order if isinstance(other, SemVer) else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return SemVer, (*self.numbers, self.prerelease, self.build)

    def __repr__(self) -> str:
        return f"SemVer.parse({str(self)!r})"

    def __lt__(self, other: object) -> bool:
        return self._order < other._order if isinstance(other, SemVer) else NotImplemented

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.prerelease:
            text += f"-{'.'.join(self.prerelease)}"
        return f"{text}+{'.'.join(self.build)}" if self.build else text


_PARTS = ("major", "minor", "patch")


def _check(numbers: tuple[int, ...], prerelease: tuple[str, ...], build: tuple[str, ...]) -> None:
    for number in numbers:
        if number < 0:
            raise ValueError(expectation("a number of at least 0 in a version", str(number)))
    for identifier in (*prerelease, *build):
        if not _IDENTIFIER.fullmatch(identifier):
            expected = "letters, digits and hyphens as identifier of a version"
            raise ValueError(expectation(expected, repr(identifier)))
    for identifier in prerelease:
        if identifier.isdigit() and identifier[0] == "0" and identifier != "0":
            expected = "a number without leading zeros in a pre-release"
            raise ValueError(expectation(expected, repr(identifier)))


def _identifiers(identifiers: tuple[str, ...]) -> _Identifiers:
    """Sort key of identifiers: numbers by value, before texts in the order of ASCII (item 11.4)."""
    return tuple((0, int(each), "") if each.isdigit() else (1, 0, each) for each in identifiers)


def version_before(version: SemVer, versions: Iterable[SemVer]) -> SemVer | None:
    """The version that a version follows: the newest of those whose release is a lower one.

    Pre-releases of one release follow the same version. None where there is nothing to follow.
    """
    return max((each for each in versions if each.release < version.release), default=None)


def change_level(old: SemVer, new: SemVer, zero_major: ZeroMajor = "caret") -> Level | None:
    """How far a change between two versions goes, in either direction.

    The first of the three numbers that differs decides, also between pre-releases. Where all are equal it is
    `prerelease` if either side is one, else `patch`: then only the builds differ.

    Args:
        old: the version before the change.
        new: the version after it.
        zero_major: `caret` counts a change of the first number that is not zero in the lower version as major, as
            0.4 to 0.5, since below 1.0.0 everything may change (item 4); `plain` goes by the place of the number.

    Returns:
        The level; None for one and the same version.
    """
    if old == new:
        return None
    if old.numbers == new.numbers:
        return "prerelease" if old.prerelease or new.prerelease else "patch"
    low, high = sorted((old.numbers, new.numbers))
    place = next(index for index in range(len(_PARTS)) if low[index] != high[index])
    if zero_major == "caret" and not any(low[:place]):
        return "major"
    return _LEVELS[place]


_LEVELS: tuple[Level, ...] = ("major", "minor", "patch")
