"""How large a package may be; what packs also unpacks."""

import msgspec


class ArchiveLimits(msgspec.Struct, frozen=True):
    """Bounds on an archive, so that a broken or hostile one cannot fill a machine.

    Attributes:
        files: how many files it may hold.
        size: how many bytes its files may have together.
    """

    files: int = 100_000
    size: int = 2 * 1024**3


BLOCK = 512
"""The unit of a tar archive; headers and contents are filled up to it."""

HEADER = 64 * 1024
"""How many bytes may describe one file; names are far shorter."""
