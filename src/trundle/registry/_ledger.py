"""Keeps a list of changes at a registry so that none is ever lost, however many write at the same time.

A registry gives no way to change a tag only if no one else has: of two who read a file, change it and write it back,
the second undoes what the first did. So what must not get lost is never written over. Each change is an *entry* with
a tag of its own, and a tag that all may overwrite, the *head*, only shows what follows from the entries.

Why nothing is lost:

- An entry has a tag that no other process writes, and a manifest that no other tag has. It is removed in one case: a
  *checkpoint* that contains it has been written and read back. The same holds for a checkpoint, which is removed only
  when a later one contains all of its entries. So the union of what the tags hold only grows, in whatever order
  any number of processes do this, and wherever they die.
- A process that sets the head lists the entries again afterwards, and sets it anew if there are any that are not in it. Of all
  who set it, the last one saw every entry that was complete before; and the author of a later one was still to set it.
  So once no process is at work the head has all entries, unless the last one died between setting it and looking. Then
  the entries are there nevertheless, `is_settled` shows that, and `settle` or the next commit makes it good.

Turns, which are leases, keep processes from getting in each other's way, and make each change see all earlier ones.
The argument does not rest on them. Entries are ordered by the number that follows the highest one that their author
saw, so an entry comes after all that it could know of; equals are ordered by their names.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import TypeAlias

from trundle.registry._entries import Entries, LedgerEntry
from trundle.registry._interface import Lease, Repository
from trundle.registry._ledger_entries import EntryTags
from trundle.registry._model import check_manifest_size
from trundle.registry.errors import ConflictError, LeaseLostError, NotFoundError, RegistryError

MARK_ANNOTATION = "dev.trundle.ledger.mark"
"""The annotation in which the manifest of a head says which entries it shows."""

_ATTEMPTS = 10
_LOOSE = 32


Decide: TypeAlias = Callable[[Entries], bytes]
"""Gives the payload of a new entry, from all that there are; or raises, and nothing is changed."""

Build: TypeAlias = Callable[[Entries, str], str]
"""Pushes the manifest that shows entries, with the mark as its `MARK_ANNOTATION`, and gives its digest."""


class PendingError(ConflictError):
    """A change is recorded and will not get lost, but the head does not show it yet.

    Attributes:
        entry: the change.
    """

    entry: LedgerEntry | None = None


class Ledger:
    """A list of changes in a repository, and a tag that shows what follows from them."""

    def __init__(
        self, repository: Repository, name: str, *, head: str, compact_at: int = _LOOSE
    ) -> None:
        """Names a ledger, which comes into being with its first entry.

        Args:
            repository: where it is. One with few other tags is best: registries walk through all of them
                whenever they delete.
            name: lower-case letters, digits and hyphens; unique in the repository.
            head: the tag that shows what follows from the entries.
            compact_at: how many entries with tags of their own there may be before they are put into a
                checkpoint.

        Raises:
            InvalidReferenceError: that is no name.
        """
        self.repository = repository
        self.name = name
        self.head = head
        self.compact_at = compact_at
        self.tags = EntryTags(repository, name)

    def entries(self) -> Entries:
        """All entries, in the order in which they are to be applied; those of checkpoints are read when needed.

        Raises:
            BusyError: others change them all the time.
            RegistryError: the registry cannot be read, or what is read there is not a ledger's.
        """
        return self.tags.view().entries

    def is_settled(self) -> bool:
        """Whether the head shows just the entries that there are; a ledger without any is settled."""
        entries = self.entries()
        shown = self.shown()
        return entries.is_marked(shown) if entries else shown is None

    def commit(self, decide: Decide, build: Build, *, wait: float = 300.0) -> LedgerEntry:
        """Appends an entry, and makes the head show it.

        Both functions may be called several times, and `build` with entries of others that came meanwhile.

        Args:
            decide: gives the payload of the entry from those before it.
            build: pushes what the head is to point to.
            wait: seconds to wait for others.

        Returns:
            The entry. The head shows it, and had all others that were complete.

        Raises:
            BusyError: others were at work all the time; nothing was changed.
            PendingError: the entry is recorded, but something went wrong before the head showed it; its cause
                says what. `settle` finishes it.
            RegistryError: anything else that the registry raises. Where it became unreachable while the entry
                was sent, `entries` shows whether it is recorded.
        """
        entry: LedgerEntry | None = None
        failure: Exception | None = None
        for _ in range(_ATTEMPTS):
            try:
                with self.turn(wait) as turn:
                    if entry is None:
                        entry = turn.append(decide(turn.entries))
                    turn.settle(build)
                    # Tags that are left over are removed another time.
                    with contextlib.suppress(RegistryError):
                        turn.compact_if_needed()
                    return entry
            except LeaseLostError as error:
                failure = error  # Others may have gone on, so all is looked at anew.
            except Exception as error:
                if entry is None:
                    raise
                raise self._pending(entry, error) from error
        assert failure is not None
        if entry is None:
            raise failure
        raise self._pending(entry, failure) from failure

    def settle(self, build: Build, *, wait: float = 300.0) -> bool:
        """Makes the head show all entries, if it does not; what `repair` does.

        Returns:
            Whether there was anything to do.

        Raises:
            BusyError: others were at work all the time.
            ConflictError: others set the head all the time.
            RegistryError: anything else that the registry raises.
        """
        with self.turn(wait) as turn:
            if self.is_settled():
                return False
            turn.settle(build)
            return True

    @contextlib.contextmanager
    def turn(self, wait: float = 300.0) -> Iterator["Turn"]:
        """Keeps others from changing the ledger, as long as that can be.

        Raises:
            BusyError: others were at work all the time.
        """
        with self.repository.lease(f"ledger-{self.name}", wait=wait) as lease:
            yield Turn(self, lease)

    def shown(self) -> str | None:
        """The mark of the head, None where there is no head or none on it."""
        try:
            return self.repository.get_manifest(self.head).document.annotations.get(MARK_ANNOTATION)
        except NotFoundError:
            return None

    def _pending(self, entry: LedgerEntry, cause: Exception) -> PendingError:
        error = PendingError(
            f"{self.repository.location}: ledger {self.name}",
            f"{self.head} to show entry {entry.id}",
            str(cause),
            "the change is recorded and not lost; repair finishes it",
        )
        error.entry = entry
        return error


class Turn:
    """The time in which one process changes a ledger.

    Attributes:
        entries: all entries.
    """

    def __init__(self, ledger: Ledger, lease: Lease) -> None:
        self._ledger = ledger
        self._lease = lease
        self.entries = ledger.entries()

    def check(self) -> None:
        """Makes sure that it is still this process's turn.

        Raises:
            LeaseLostError: it may not be.
        """
        self._lease.check()

    def append(self, payload: bytes) -> LedgerEntry:
        """Records a change; when this returns it will not get lost.

        Raises:
            LeaseLostError: it took too long; nothing was changed.
            TooLargeError: the payload is larger than manifests may be.
        """
        ledger = self._ledger
        check_manifest_size(len(payload), f"{ledger.repository.location}: ledger {ledger.name}")
        self._lease.check()
        entry = ledger.tags.append(self.entries, payload)
        self.entries = self.entries.plus(entry)
        return entry

    def settle(self, build: Build) -> None:
        """Makes the head show all entries, and looks afterwards whether it does.

        Raises:
            LeaseLostError: it took too long; another process has the turn now.
            ConflictError: others set the head all the time.
        """
        ledger = self._ledger
        for _ in range(_ATTEMPTS):
            self._lease.check()  # Else there may be entries by now that the head already shows.
            digest = build(self.entries, self.entries.mark)
            self._lease.check()
            ledger.repository.set_tag(ledger.head, digest)
            self.entries = ledger.entries()
            if ledger.shown() == self.entries.mark:
                return
        raise ConflictError(
            f"{ledger.repository.location}:{ledger.head}",
            "a head that shows all entries",
            "it set by others, or built without its mark, every time",
            "make sure that only Trundle sets this tag",
        )

    def compact_if_needed(self) -> bool:
        """Puts entries into a checkpoint once there are many with tags of their own."""
        view = self._ledger.tags.view()
        return len(view.loose) >= self._ledger.compact_at and self.compact()

    def compact(self) -> bool:
        """Puts entries into one checkpoint, and removes the tags of what it contains.

        Returns:
            Whether there was anything to do.

        Raises:
            LeaseLostError: it took too long; nothing is lost, some tags are left to be removed.
        """
        ledger = self._ledger
        view = ledger.tags.view()
        if not view.loose and len(view.checkpoints) <= 1:
            return False
        return ledger.tags.compact(view, self._lease.check)
