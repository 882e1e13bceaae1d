"""A channel as its publishers see it: operations in a ledger, and a head that shows their result.

Publishing is atomic by nature: the head is one tag on one manifest. Whenever a publisher dies, a reader sees
the old state or the new one. An operation that was recorded is not lost; the next change, or a repair, shows it.
"""

import contextlib
import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import msgspec

from trundle.channels._refusals import ChannelError, RefusalCode, RefusedError, refusal
from trundle.channels.files import (
    Channel,
    ChannelFileError,
    check_channel_word,
    read_all,
    write_all,
    write_latest,
)
from trundle.channels.publishing._accepted import AcceptedOperations
from trundle.channels.publishing._counting import (
    Counted,
    continued,
    counted,
    entries_since,
)
from trundle.channels.publishing._head import ChannelHead, DamagedHeadError
from trundle.channels.publishing._records import (
    RecordedOperation,
    names_of,
    read_record,
    write_record,
)
from trundle.channels.publishing._signing import (
    ChannelSigner,
    Shown,
    is_signed,
    lacking_operations,
)
from trundle.channels.reading import (
    OPERATIONS,
    channel_tag,
    ledger_name,
    signed_name,
)
from trundle.channels.transitions import Folded, Operation, OperationOutcome, Publish
from trundle.errors import Finding, expectation
from trundle.packages import manifest_from_json
from trundle.registry import (
    Entries,
    ImageManifest,
    Ledger,
    LedgerEntry,
    Repository,
    Turn,
)

Decide: TypeAlias = Callable[[Channel], Operation]
"""Gives the operation to record for a channel as it is; or raises, and nothing is changed."""

_LARGEST_CONFIG = 16 * 1024 * 1024


class Committed(msgspec.Struct, frozen=True):
    """A change that was made.

    Attributes:
        channel: the channel afterwards; changes that others made meanwhile are in it.
        notes: what the caller should know.
    """

    channel: Channel
    notes: tuple[str, ...] = ()


class _Before(msgspec.Struct, frozen=True):
    """What was counted last, and from what."""

    entries: Entries
    shown: Shown | None
    counted: Counted


class PublishedChannel:
    """A channel in a repository, as its publishers see it.

    Args:
        repository: the repository of the package.
        word: the channel.
        package: the package; what the channel says where None.
        signer: signs the channel; None for one without signatures.
        clock: returns the time.
        wait: seconds to wait for other publishers.

    Raises:
        RefusedError: it is no channel name.
    """

    def __init__(
        self,
        repository: Repository,
        word: str,
        *,
        clock: Callable[[], dt.datetime],
        package: str | None = None,
        signer: ChannelSigner | None = None,
        wait: float = 300.0,
    ) -> None:
        self.repository = repository
        self.word = check_channel_word(word)
        self.tag = channel_tag(word)
        self.head = ChannelHead(repository, word, package=package, signer=signer)
        self.ledger = Ledger(repository, ledger_name(word), head=self.tag)
        self.signer = signer
        self.clock = clock
        self.wait = wait
        self._package = package
        self._accepted = AcceptedOperations(self.location, signer)
        self._before: _Before | None = None
        self._built: Counted | None = None

    @property
    def location(self) -> str:
        """The channel's full name."""
        return f"{self.repository.location}:{self.tag}"

    def current(self, entries: Entries | None = None) -> Channel:
        """The channel with all operations that count, after the present head was verified.

        Raises:
            RefusedError: the head is older than one that was seen, badly signed, or shows what the ledger lacks.
            ChannelError: an operation cannot be understood.
            RegistryError: the registry cannot be read.
        """
        # What is shown is looked at first: entries only become more, so none of it can be missing then.
        shown = self.shown()
        return self._counted(self._entries(entries), shown).folded.channel

    def folded(self, entries: Entries | None = None) -> Folded:
        """The result of all operations that count, each of them read; errors are those of `current`."""
        shown = self.shown()
        return self._counted_anew(self._entries(entries), shown).folded

    def _entries(self, entries: Entries | None) -> Entries:
        return self.ledger.entries() if entries is None else entries

    def shown(self) -> Shown | None:
        """What the channel shows, verified; None where it shows nothing yet. Errors are those of `ChannelHead.shown`."""
        return self.head.shown()

    def check_keys(self) -> None:
        """Makes sure that the keys are at hand that a change is signed with.

        Raises:
            KeyFileError: one of them is not here, or cannot be read.
        """
        if self.signer:
            self.signer.targets_key()

    def commit(self, decide: Decide) -> Committed:
        """Records an operation, and makes the channel show it.

        Args:
            decide: gives the operation from the channel as it is, after all that others did.

        Raises:
            RefusedError: a rule refuses it; nothing was changed.
            KeyFileError: a key cannot be read; nothing was changed.
            PendingError: it is recorded, but the channel does not show it yet; `repair` finishes it.
            RegistryError: anything else that the registry raises.
        """
        made: list[Operation] = []
        key = self.signer.targets_key() if self.signer else None

        def payload(entries: Entries) -> bytes:
            made[:] = [decide(self.current(entries))]
            return write_record(made[0], key)

        self.ledger.commit(payload, self.build, wait=self.wait)
        assert self._built is not None
        self._look_again()
        outcome = self._built.folded.outcome(made[0])
        return self._committed(outcome)

    def settle(self) -> bool:
        """Makes the channel show all that is recorded; whether there was anything to do."""
        with self.ledger.turn(self.wait) as turn:
            if self.is_shown():
                return False
            self.show_all(turn)
            return True

    def show_all(self, turn: Turn) -> None:
        """Makes the channel show all that is recorded, in this publisher's turn."""
        turn.settle(lambda entries, mark: self._show(entries, mark, self.shown(), rebuilt=True))
        self._look_again()

    def refresh(self) -> Committed:
        """Signs anew with the online key what the channel shows; nothing else changes.

        Raises:
            RefusedError: the channel is not signed, shows nothing, or is not to be trusted.
        """
        assert self.signer is not None
        with self.ledger.turn(self.wait) as turn:
            shown = self.shown()
            if shown is None or shown.operations is None:
                advice = "publish something with these keys first"
                code = RefusalCode.UNSIGNED_CHANNEL
                expected = "a signed channel"
                raise RefusedError(refusal(code, self.location, expected, "none", advice))
            plain = {name: shown.files[name] for name in ("latest", "all", OPERATIONS)}
            metadata = self.signer.refresh(shown, self._signed_names(plain, shown.package))
            digest = self.head.push(plain, metadata, shown.mark, shown.seen)
            turn.check()
            self.repository.set_tag(self.tag, digest)
            notes = () if self.is_shown() else (self._hidden,)
        self._look_again()
        channel = read_all(plain["all"], f"{self.location}/all").channel
        return Committed(channel, notes)

    @property
    def _hidden(self) -> str:
        """What to do where the head does not show all that is recorded: it was rolled back, or a publisher died."""
        found = (
            "the channel does not show all operations that are recorded, so clients may refuse it"
        )
        return f"{self.location}: {found}; to show them, run: {self.head.repair_command}"

    def unknown(self) -> tuple[str, ...]:
        """What the ledger holds that this release cannot read, and without which the channel cannot be changed.

        In a signed channel an entry that cannot be read was not signed, so that it does not count; `ignored` has it.

        Raises:
            RegistryError: the registry cannot be read.
        """
        found = list(self.ledger.tags.unknown())
        if found or self.signer:
            return tuple(found)
        for entry in self.ledger.entries():
            try:
                read_record(entry.payload, f"{self.location}: entry {entry.id}")
            except ChannelError as error:
                found.append(str(error))
        return tuple(found)

    def damage(self, entries: Entries) -> str:
        """Why the channel's head cannot be built on; empty where it can.

        A head is damaged where it is gone, cannot be read, is badly signed, or is older than a state that was seen.

        Args:
            entries: all entries of the ledger, in this publisher's turn; else others may show more meanwhile.

        Raises:
            RefusedError: the keys of a signed channel are missing, or the channel is another one.
            RegistryError: the registry or the ledger cannot be read.
        """
        try:
            shown = self.shown()
        except DamagedHeadError as error:
            return error.damage
        folded = self._counted_anew(entries, shown).folded
        if shown is not None and shown.mark == entries.mark:
            return self._difference(shown, folded.channel)
        return ""

    def rebuild(self, turn: Turn) -> None:
        """Replaces a damaged head by one that shows what the ledger holds; clients follow it.

        Args:
            turn: this publisher's turn.

        Raises:
            RefusedError: the ledger lacks operations that were seen, or its operations are signed with other keys.
            KeyFileError: a key cannot be read; nothing was changed.
            RegistryError: as the registry raises it.
        """
        self.check_keys()
        shown = self._last_seen(turn.entries)
        turn.settle(lambda entries, mark: self._show(entries, mark, shown, rebuilt=True))
        self._look_again()

    def build(self, entries: Entries, mark: str) -> str:
        """Pushes the state that shows entries; gives the digest of its manifest."""
        shown = self.shown()
        # An entry beside the one that is recorded now may have been shown by a head that was rolled back since.
        since = entries.after(shown.mark) if shown is not None and shown.mark else None
        return self._show(entries, mark, shown, rebuilt=since is not None and len(since) > 1)

    def _show(
        self, entries: Entries, mark: str, shown: Shown | None, *, rebuilt: bool = False
    ) -> str:
        if shown is None:
            self._accepted.check_signer(entries, self._accepted.records(entries, shown))
            rebuilt = rebuilt or len(entries) > 1
        count = self._counted_anew if rebuilt else self._counted
        self._built = built = count(entries, shown)
        channel = built.folded.channel
        plain = {"latest": write_latest(channel), "all": write_all(channel)}
        metadata = {}
        if self.signer:
            plain[OPERATIONS] = names_of(built.names)
            names = self._signed_names(plain, channel.package)
            metadata = dict(self.signer.sign(shown, names, rebuilt=rebuilt))
        return self.head.push(plain, metadata, mark, built.seen)

    @property
    def ignored(self) -> tuple[str, ...]:
        """What the ledger holds and does not count, since the publisher never signed it."""
        return self._accepted.ignored

    @contextlib.contextmanager
    def alone_with_content(self) -> Iterator[None]:
        """Keeps others from setting and removing tags of versions, which share manifests between channels."""
        with self.repository.lease("content", wait=self.wait):
            yield

    def is_shown(self) -> bool:
        """Whether the channel shows all that is recorded."""
        return self.ledger.is_settled()

    # What counts

    def _counted(self, entries: Entries, shown: Shown | None) -> Counted:
        """The result of the operations, continued from the shown channel where possible."""
        before = self._before
        if before and before.entries == entries and before.shown == shown:
            return before.counted
        since = entries_since(entries, shown)
        found = None
        if shown is not None and since is not None and bool(self.signer) == is_signed(shown):
            records = self._accepted.records(since, shown)
            found = continued(shown, records, self.word, ignored=bool(self._accepted.ignored))
        if found is None:
            return self._counted_anew(entries, shown)
        self._before = _Before(entries, shown, found)
        return found

    def _counted_anew(self, entries: Entries, shown: Shown | None) -> Counted:
        """The result of all operations."""
        records = self._accepted.records(entries, shown)
        if not records and shown is None and self._package is None:
            raise RefusedError(_none(self.location))
        package = shown.package if shown else self._package or self._package_of(records)
        base = Channel(name=self.word, package=package)
        found = counted(base, records, ignored=bool(self._accepted.ignored))
        if shown is not None:
            self._check_complete(found.folded, records, shown)
        self._before = _Before(entries, shown, found)
        return found

    def _check_complete(
        self, folded: Folded, records: dict[str, RecordedOperation], shown: Shown
    ) -> None:
        """Refuses to build on a ledger that lacks what the channel already shows."""
        serial = shown.serial
        lacking = set(shown.operations or ()) - records.keys()
        if not lacking and folded.channel.serial >= serial:
            return
        raise RefusedError(lacking_operations(self.location, len(records), serial))

    def _package_of(self, records: dict[str, RecordedOperation]) -> str:
        """The package of a channel that shows nothing yet: what its first version says."""
        for record in records.values():
            operation = record.operation
            if isinstance(operation, Publish) and operation.entry.digest:
                document = self.repository.get_manifest(operation.entry.digest).document
                if isinstance(document, ImageManifest):
                    config = self.repository.read_blob(document.config, limit=_LARGEST_CONFIG)
                    return manifest_from_json(config, f"{self.location}").name
        raise RefusedError(_none(self.location))

    # Heads

    def _last_seen(self, entries: Sequence[LedgerEntry]) -> Shown | None:
        """What this publisher last verified of the channel; None for an unsigned channel, or where it saw nothing."""
        records = self._accepted.records(entries, None)
        self._accepted.check_signer(entries, records)
        if self.signer is None:
            return None
        package = self._package or self._package_of(records)
        return self.signer.last_seen(self.location, package, self.head.content, list(records))

    def _signed_names(self, files: dict[str, bytes], package: str) -> dict[str, bytes]:
        return {signed_name(package, self.word, name): data for name, data in files.items()}

    def _difference(self, shown: Shown, channel: Channel) -> str:
        """How what is shown differs from the result of all operations; empty where it does not."""
        try:
            if read_all(shown.files["all"], f"{self.location}/all").channel == channel:
                return ""
        except ChannelFileError as error:
            return "; ".join(map(str, error.refusals))
        other = expectation("the result of its operations", "something else")
        return f"{self.location}: {other}"

    def _look_again(self) -> None:
        """Reads back what clients see now, and remembers it, so that a rollback is noticed."""
        if self.signer:
            self.shown()

    def _committed(self, outcome: OperationOutcome | None) -> Committed:
        assert self._built is not None
        channel = self._built.folded.channel
        notes = tuple(f"{each}; it does not count" for each in self._accepted.ignored)
        if self._accepted.adopted:
            notes += ("the channel was not signed so far; it is signed now, as it was found",)
        if outcome is None:
            return Committed(channel, notes)
        if outcome.refusals:
            raise RefusedError(*outcome.refusals)
        return Committed(channel, (*outcome.notes, *notes))


def _none(where: str) -> Finding:
    advice = "check the address and the channel name; publishing creates a channel"
    return refusal(RefusalCode.CHANNEL_NOT_FOUND, where, "a channel", "none", advice)
