"""Removes content from the local store that no rollback needs."""

import msgspec

from trundle.installation._installation import Installation
from trundle.installation._upgrade import way_back


class Removed(msgspec.Struct, frozen=True):
    """An artifact that was removed from the local store.

    Attributes:
        digest: its digest.
        name: the package and version that it was installed as; empty where it never was.
    """

    digest: str
    name: str


class Tidied(msgspec.Struct, frozen=True):
    """What was removed from the local store, or would be.

    Attributes:
        removed: the artifacts, by name.
        size: how many bytes they had that nothing else needs.
    """

    removed: tuple[Removed, ...]
    size: int


def needed_content(installation: Installation, keep: int) -> set[str]:
    """The digests of what is installed, and of the last versions to go back to.

    Args:
        installation: the installation.
        keep: to how many earlier versions of each package one can still go back.
    """
    needed = set()
    for package in installation.packages():
        needed.add(package.digest)
        if package.pinned is None:
            history = installation.history(package.name)
            needed.update([e.before_digest for e in way_back(history, package.digest)][:keep])
    return needed


def tidy(installation: Installation, keep: int, *, dry_run: bool = False) -> Tidied:
    """Removes content that is neither installed nor among the last versions to go back to.

    Args:
        installation: the installation.
        keep: to how many earlier versions of each package one can still go back.
        dry_run: whether nothing is removed.

    Raises:
        StateBusyError: others were changing the installation all the time.
        StorageError: the local store cannot be read or written.
    """
    # In this order: others fetch content first, and change the installation then.
    with installation.removing(), installation.alone():
        needed = needed_content(installation, keep)
        digests, size = installation.content.tidy(needed, dry_run=dry_run)
        names = {
            each.after_digest: f"{each.package} {each.after}".rstrip()
            for each in installation.history()
        }
    removed = (Removed(each, names.get(each, "")) for each in digests)
    return Tidied(tuple(sorted(removed, key=lambda each: (each.name, each.digest))), size)
