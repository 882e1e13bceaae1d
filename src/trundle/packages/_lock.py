"""What a resolution came to: the release of each package, by version and digest, and the file that records it."""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from trundle.packages._errors import LockError, PackageCode, finding
from trundle.packages._model import Requirement, decode_text
from trundle.version import SemVer, VersionRange

_FORMAT = 1
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class Release(msgspec.Struct, frozen=True):
    """One version of a package as it was released.

    Attributes:
        name: the package.
        version: its version.
        digest: `sha256:` and the digest of its artifact in hexadecimal digits.
        requirements: what it needs, in alphabetical order.
    """

    name: str
    version: SemVer
    digest: str
    requirements: tuple[Requirement, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Lock(msgspec.Struct, frozen=True):
    """The releases that belong together, at most one of each package, in alphabetical order."""

    releases: tuple[Release, ...] = ()

    def get(self, name: str) -> Release | None:
        """The release of a package; None where the lock has none."""
        return next((each for each in self.releases if each.name == name), None)

    def required_by(self, name: str) -> tuple[Release, ...]:
        """The releases that require a package."""
        return tuple(
            each
            for each in self.releases
            if any(requirement.name == name for requirement in each.requirements)
        )

    def in_order(self) -> tuple[Release, ...]:
        """The releases with each one after those that it needs, as far as they do not need each other in a circle."""
        releases = {each.name: each for each in self.releases}
        done: dict[str, Release] = {}
        opened: set[str] = set()
        stack = [each.name for each in reversed(self.releases)]
        while stack:
            name = stack[-1]
            if name in opened:
                stack.pop()
                done.setdefault(name, releases[name])
                continue
            opened.add(name)
            needed = (each.name for each in reversed(releases[name].requirements))
            stack.extend(each for each in needed if each in releases and each not in opened)
        return tuple(done.values())

    def to_json(self) -> bytes:
        """Writes the lock as a JSON file, equal bytes for equal locks."""
        document = {
            "format": _FORMAT,
            "packages": [
                {
                    "name": each.name,
                    "version": str(each.version),
                    "digest": each.digest,
                    "requires": dict(
                        sorted((one.name, str(one.range)) for one in each.requirements)
                    ),
                }
                for each in self.releases
            ],
        }
        return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"

    @classmethod
    def from_json(cls, data: bytes, name: str) -> "Lock":
        """Reads a lock that `to_json` wrote.

        Args:
            data: the content of the file.
            name: what messages call it.

        Raises:
            LockError: this is no such lock.
        """
        try:
            file = msgspec.json.decode(data, type=_File, dec_hook=decode_text)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise _damaged(name, "a lock of packages", str(error)) from None
        if file.format != _FORMAT:
            raise _damaged(name, f"format {_FORMAT}", f"format {file.format}")
        for each in file.packages:
            if not _DIGEST.fullmatch(each.digest):
                raise _damaged(name, f"sha256:... as digest of {each.name}", repr(each.digest))
        lock = lock_of(Release(*_fields(each)) for each in file.packages)
        if len({each.name for each in lock.releases}) < len(lock.releases):
            raise _damaged(name, "each package once", "one of them twice")
        return lock


class _Package(msgspec.Struct):
    name: str
    version: SemVer
    digest: str
    requires: dict[str, VersionRange] = {}


class _File(msgspec.Struct):
    format: int
    packages: list[_Package] = []


def lock_of(releases: Iterable[Release]) -> Lock:
    """The lock of some releases, in whatever order they come."""
    return Lock(tuple(sorted(releases, key=lambda each: (each.name, each.version))))


def _fields(package: _Package) -> tuple[Any, ...]:
    requirements = tuple(Requirement(*each) for each in sorted(package.requires.items()))
    return package.name, package.version, package.digest, requirements


def _damaged(name: str, expected: str, found: str) -> LockError:
    return LockError(
        [finding(PackageCode.DAMAGED_LOCK, name, expected, found, "restore it, or lock again")]
    )
