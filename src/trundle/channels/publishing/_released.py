"""Whether a stable version was ever released, so that its pre-releases come too late."""

from collections.abc import Iterable

from trundle.channels._refusals import ChannelError
from trundle.channels.files import STABLE
from trundle.channels.publishing._counting import entries_since
from trundle.channels.publishing._records import read_record
from trundle.channels.publishing._signing import Shown, read_shown
from trundle.channels.reading import RepositorySource, channel_tag, ledger_name
from trundle.channels.transitions import Publish
from trundle.registry import (
    DigestMismatchError,
    InvalidManifestError,
    Ledger,
    LedgerEntry,
    NotFoundError,
    Repository,
)
from trundle.version import SemVer


def is_released(repository: Repository, version: SemVer) -> bool:
    """Whether the stable channel of a repository ever had a version, unpublished since or not.

    What the channel shows is read, and of its ledger only what came since; all of it where that does not fit.

    Raises:
        RegistryError: the registry cannot be read.
    """
    entries = Ledger(repository, ledger_name(STABLE), head=channel_tag(STABLE)).entries()
    shown = _shown(repository) if entries else None
    since = entries_since(entries, shown)
    channel = shown.reopened if shown and since is not None else None
    if channel is None or since is None:
        return _publishes(entries, version, repository.location)
    listed = channel.entry(version) or channel.tombstone(version)
    return listed is not None or _publishes(since, version, repository.location)


def _shown(repository: Repository) -> Shown | None:
    """What the stable channel shows; None where it cannot be read, of which its own publishers learn."""
    try:
        return read_shown(RepositorySource(repository, STABLE))
    except (ChannelError, DigestMismatchError, InvalidManifestError, NotFoundError):
        return None


def _publishes(entries: Iterable[LedgerEntry], version: SemVer, where: str) -> bool:
    for entry in entries:
        try:
            operation = read_record(entry.payload, f"{where}: {entry.id}").operation
        except ChannelError:
            continue  # The publishers of that channel learn of it.
        if isinstance(operation, Publish) and operation.entry.version == version:
            return True
    return False
