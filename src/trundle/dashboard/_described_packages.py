"""What is in packages, read from their archives: classes, resource types, and what changed since the version before."""

import io
import tempfile
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from trundle.packages import Package, unpack
from trundle.pages import DescribedVersion, describe
from trundle.version import SemVer

_KEPT = 64
"""How many versions are kept."""


class Archive(NamedTuple):
    """The archive of a version of a package.

    Attributes:
        name: the package.
        version: the version.
        content: the archive, a tar.
    """

    name: str
    version: SemVer
    content: bytes


class DescribedPackages:
    """Describes versions of packages, and keeps what came of it. Threads may share it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, ...], DescribedVersion] = OrderedDict()
        self._lock = Lock()

    def known(self, key: tuple[str, ...]) -> DescribedVersion | None:
        """What was kept under a key."""
        with self._lock:
            return self._kept.get(key)

    def describe(
        self,
        key: tuple[str, ...],
        archive: Archive,
        before: Archive | None,
        required: Sequence[Archive],
    ) -> DescribedVersion:
        """Describes a version; nothing of it is run.

        Args:
            key: the digests of all archives.
            archive: that of the version.
            before: that of the version before; None where there is none.
            required: those of packages that it requires.

        Raises:
            TrundleError: the package cannot be described.
        """
        with tempfile.TemporaryDirectory(prefix="trundle-package-") as name:
            folders = Path(name, "package"), Path(name, "before")
            unpack(io.BytesIO(archive.content), folders[0], durable=False)
            earlier = None
            if before is not None:
                unpack(io.BytesIO(before.content), folders[1], durable=False)
                earlier = folders[1], before.version
            among = [Package.from_archive(each.content) for each in required]
            found = describe(folders[0], earlier, among)
        with self._lock:
            self._kept[key] = found
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found
