"""What a resolution came to: the release of each package, by version and digest, and the file that records it."""

from collections.abc import Iterable

import msgspec

from trundle.packages._model import Requirement
from trundle.version import SemVer

_FORMAT = 1


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


def lock_of(releases: Iterable[Release]) -> Lock:
    """The lock of some releases, in whatever order they come."""
    return Lock(tuple(sorted(releases, key=lambda each: (each.name, each.version))))
