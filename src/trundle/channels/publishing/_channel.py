"""A channel as its publishers see it: operations in a ledger, and a head that shows what they come to.

Publishing is atomic by nature: the head is one tag on one manifest. Whatever moment a publisher dies at, a reader sees
the old state or the new one. An operation that was recorded is not lost; the next change, or a repair, shows it.
"""

import contextlib
import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from trundle.channels._refusals import ChannelError, Refusal, RefusalCode, RefusedError
from trundle.channels.files import (
    Channel,
    ChannelFileError,
    check_channel_word,
    read_all,
    write_all,
    write_latest,
)
from trundle.channels.publishing._records import (
    Record,
    is_signed_by,
    names_of,
    read_record,
    write_record,
)
from trundle.channels.publishing._signing import ChannelSigner, Shown, is_signed, read_shown
from trundle.channels.serving import (
    CHANNEL_ARTIFACT,
    OPERATIONS,
    TITLE,
    RepositorySource,
    channel_tag,
    ledger_name,
    signed_name,
)
from trundle.channels.transitions import Folded, Operation, Outcome, Publish, fold_named
from trundle.channels.trust import role_keys
from trundle.packages import manifest_from_json
from trundle.registry import (
    EMPTY,
    EMPTY_DESCRIPTOR,
    MARK_ANNOTATION,
    OCI_MANIFEST,
    Descriptor,
    DigestMismatchError,
    InvalidManifestError,
    Ledger,
    Manifest,
    NotFoundError,
    Repository,
    TooLargeError,
    describe,
    encode,
)
from trundle.registry import Entry as LedgerEntry

Decide: TypeAlias = Callable[[Channel], Operation]
"""Gives the operation to record for a channel as it is; or raises, and nothing is changed."""

_DAMAGES = frozenset(
    {
        RefusalCode.BAD_SIGNATURE,
        RefusalCode.CONTENT_MISMATCH,
        RefusalCode.CONTENT_MISSING,
        RefusalCode.INCONSISTENT_FILE,
        RefusalCode.INVALID_FILE,
        RefusalCode.STALE_METADATA,
        RefusalCode.UNSIGNED_CHANNEL,
    }
)
"""The refusals of a head that a rebuilt one replaces."""

_UNREADABLE = (DigestMismatchError, InvalidManifestError, NotFoundError, TooLargeError)
_FILE_TYPE = "application/vnd.trundle.channel.file.v1+json"
_METADATA_TYPE = "application/vnd.trundle.channel.metadata.v1+json"
_LOOKS = 20
_LARGEST_CONFIG = 16 * 1024 * 1024


class Committed(msgspec.Struct, frozen=True):
    """A change that was made.

    Attributes:
        channel: the channel afterwards; changes that others made meanwhile are in it.
        notes: what whoever asked for it should know.
    """

    channel: Channel
    notes: tuple[str, ...] = ()


class _Before(msgspec.Struct, frozen=True):
    """What was folded last, and from what."""

    entries: tuple[LedgerEntry, ...]
    shown: Shown | None
    folded: Folded


class PublishedChannel:
    """A channel in a repository, for whoever changes it.

    Args:
        repository: the repository of the package.
        word: the channel.
        package: the package; what the channel says where None.
        signer: signs the channel; None for one without signatures.
        clock: tells the time.
        wait: seconds to wait for other publishers.

    Raises:
        RefusedError: the word cannot name a channel.
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
        self.ledger = Ledger(repository, ledger_name(word), head=self.tag)
        self.signer = signer
        self.clock = clock
        self.wait = wait
        self._package = package
        self._ignored: tuple[str, ...] = ()
        self._read: dict[str, Record] = {}
        self._adopted = False
        self._before: _Before | None = None
        self._built: Folded | None = None

    @property
    def location(self) -> str:
        """The channel's full name."""
        return f"{self.repository.location}:{self.tag}"

    def folded(self, entries: Sequence[LedgerEntry] | None = None) -> Folded:
        """What all operations that count come to, after the present head was verified.

        Raises:
            RefusedError: the head is older than one that was seen, badly signed, or shows what the ledger lacks.
            ChannelError: an operation cannot be understood.
            RegistryError: the registry cannot be read.
        """
        # What is shown is looked at first: entries only become more, so none of it can be missing then.
        shown = self.shown()
        return self._fold(self.ledger.entries() if entries is None else entries, shown)

    def shown(self) -> Shown | None:
        """What the channel shows, verified; None where it shows nothing yet.

        Raises:
            RefusedError: it is not to be trusted, or signed while there are no keys.
        """
        for _ in range(_LOOKS):
            source = self._source()
            try:
                return self._verified(source)
            except RefusedError as error:
                refused = error
                if not self._has_moved(source):
                    raise
        raise refused

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

        def payload(entries: Sequence[LedgerEntry]) -> bytes:
            made[:] = [decide(self.folded(entries).channel)]
            return write_record(made[0], key)

        self.ledger.commit(payload, self.build, wait=self.wait)
        assert self._built is not None
        self._look_again()
        outcome = self._built.outcome(made[0])
        return self._committed(outcome)

    def settle(self) -> bool:
        """Makes the channel show all that is recorded; whether there was anything to do."""

        def build(entries: Sequence[LedgerEntry], mark: str) -> str:
            return self._show(entries, mark, self.shown(), rebuilt=True)

        done = self.ledger.settle(build, wait=self.wait)
        if done:
            self._look_again()
        return done

    def refresh(self) -> Committed:
        """Signs anew with the online key what the channel shows; nothing else changes.

        Raises:
            RefusedError: the channel is not signed, shows nothing, or is not to be trusted.
        """
        assert self.signer is not None
        with self.ledger.turn(self.wait) as turn:
            source, shown = self._source(), self.shown()
            if source is None or shown is None or shown.operations is None:
                advice = "publish something with these keys first"
                code = RefusalCode.UNSIGNED_CHANNEL
                expected = "a signed channel"
                raise RefusedError(Refusal(code, self.location, expected, "none", advice))
            plain = {name: shown.files[name] for name in ("latest", "all", OPERATIONS)}
            metadata = self.signer.refresh(shown, self._signed_names(plain, shown.package))
            mark = source.manifest.document.annotations.get(MARK_ANNOTATION, "")
            digest = self._push(plain, metadata, mark)
            turn.check()
            self.repository.set_tag(self.tag, digest)
        self._look_again()
        channel = read_all(plain["all"], f"{self.location}/all").channel
        return Committed(channel)

    def damage(self) -> str:
        """Why the channel's head cannot be built on; empty where it can.

        A head is damaged where it is gone, cannot be read, is badly signed, or is older than a state that was seen.

        Raises:
            RefusedError: the keys of a signed channel are missing, or the channel is another one.
            RegistryError: the registry or the ledger cannot be read.
        """
        entries = self.ledger.entries()
        try:
            self.folded(entries)
        except RefusedError as error:
            if self.signer is None or error.code not in _DAMAGES:
                raise
            return str(error)
        except (ChannelFileError, *_UNREADABLE) as error:
            return str(error)
        return ""

    def rebuild(self) -> None:
        """Replaces a damaged head by one that shows what the ledger holds; clients follow it.

        Raises:
            RefusedError: the ledger lacks operations that were seen, or its operations are signed with other keys.
            KeyFileError: a key cannot be read; nothing was changed.
            RegistryError: as the registry raises it.
        """
        self.check_keys()
        with self.ledger.turn(self.wait) as turn:
            shown = self._last_seen(turn.entries)
            turn.settle(lambda entries, mark: self._show(entries, mark, shown, rebuilt=True))
        self._look_again()

    def build(self, entries: Sequence[LedgerEntry], mark: str) -> str:
        """Pushes the state that shows entries; gives the digest of its manifest."""
        return self._show(entries, mark, self.shown())

    def _show(
        self,
        entries: Sequence[LedgerEntry],
        mark: str,
        shown: Shown | None,
        *,
        rebuilt: bool = False,
    ) -> str:
        records = self._records(entries, shown)
        if shown is None:
            self._check_signer(entries, records)
            rebuilt = rebuilt or len(entries) > 1
        self._built = folded = self._fold(entries, shown)
        plain = {"latest": write_latest(folded.channel), "all": write_all(folded.channel)}
        metadata = {}
        if self.signer:
            plain[OPERATIONS] = names_of(records)
            names = self._signed_names(plain, folded.channel.package)
            metadata = dict(self.signer.sign(shown, names, rebuilt=rebuilt))
        return self._push(plain, metadata, mark)

    @property
    def ignored(self) -> tuple[str, ...]:
        """What the ledger holds and does not count, since the publisher never signed it."""
        return self._ignored

    @contextlib.contextmanager
    def alone_with_content(self) -> Iterator[None]:
        """Keeps others from setting and removing tags of versions, which share manifests between channels."""
        with self.repository.lease("content", wait=self.wait):
            yield

    def is_shown(self) -> bool:
        """Whether the channel shows all that is recorded."""
        return self.ledger.is_settled()

    # What counts

    def _fold(self, entries: Sequence[LedgerEntry], shown: Shown | None) -> Folded:
        before = self._before
        if before and before.entries == tuple(entries) and before.shown == shown:
            return before.folded
        records = self._records(entries, shown)
        if not records and shown is None and self._package is None:
            raise RefusedError(_none(self.location))
        package = shown.package if shown else self._package or self._package_of(records)
        base = Channel(name=self.word, package=package)
        folded = fold_named(base, {name: each.operation for name, each in records.items()})
        if shown is not None:
            self._check_complete(folded, records, shown)
        self._before = _Before(tuple(entries), shown, folded)
        return folded

    def _records(self, entries: Sequence[LedgerEntry], shown: Shown | None) -> dict[str, Record]:
        """The operations that count, by name."""
        records: dict[str, Record] = {}
        ignored = []
        keys = None
        for entry in entries:
            where = f"{self.location}: entry {entry.id}"
            try:
                record = self._read.get(entry.id) or read_record(entry.payload, where)
                self._read[entry.id] = record
            except ChannelError as error:
                if self.signer is None:
                    raise
                ignored.append(str(error))
                continue
            if self.signer and shown and shown.operations is None:
                self._adopted = True  # A channel that was unsigned so far is signed as it is.
            elif self.signer and not (shown and record.id in (shown.operations or ())):
                keys = keys or role_keys(self.signer.keys.newest_root(), "targets").values()
                if not is_signed_by(record, keys):
                    ignored.append(f"{where}: expected the publisher's signature, found none")
                    continue
            records[record.id] = record
        self._ignored = tuple(ignored)
        return records

    def _check_complete(self, folded: Folded, records: dict[str, Record], shown: Shown) -> None:
        """Refuses to build on a ledger that lacks what the channel already shows."""
        serial = shown.serial
        lacking = set(shown.operations or ()) - records.keys()
        if not lacking and folded.channel.serial >= serial:
            return
        advice = (
            "publish where the channel comes from if this is a mirror; else restore the repository"
        )
        code = RefusalCode.STALE_METADATA
        expected = f"all {serial} operations that the channel shows in its ledger"
        found = f"{len(records)}"
        raise RefusedError(Refusal(code, self.location, expected, found, advice))

    def _package_of(self, records: dict[str, Record]) -> str:
        """The package of a channel that shows nothing yet: what its first version says."""
        for record in records.values():
            operation = record.operation
            if isinstance(operation, Publish) and operation.entry.digest:
                document = self.repository.get_manifest(operation.entry.digest).document
                if isinstance(document, Manifest):
                    config = self.repository.read_blob(document.config, limit=_LARGEST_CONFIG)
                    return manifest_from_json(config, f"{self.location}").name
        raise RefusedError(_none(self.location))

    # Heads

    def _last_seen(self, entries: Sequence[LedgerEntry]) -> Shown | None:
        """What this publisher last verified of the channel; None for an unsigned channel, or where it saw nothing."""
        records = self._records(entries, None)
        self._check_signer(entries, records)
        if self.signer is None:
            return None
        package = self._package or self._package_of(records)
        return self.signer.last_seen(self.location, package, self._content)

    def _check_signer(self, entries: Sequence[LedgerEntry], records: Mapping[str, Record]) -> None:
        """Refuses keys that signed none of the operations, where operations are signed."""
        signed = any(self._read[each.id].envelope for each in entries if each.id in self._read)
        if not signed or (self.signer and any(each.envelope for each in records.values())):
            return
        expected = "the keys that signed the channel's operations"
        found = "others" if self.signer else "none"
        advice = "give the publisher's keys with --keys"
        code = RefusalCode.BAD_SIGNATURE
        raise RefusedError(Refusal(code, self.location, expected, found, advice))

    def _content(self, digest: str, length: int) -> bytes | None:
        """A file of an earlier head, which the registry keeps until it collects its garbage."""
        found = Descriptor(media_type=_FILE_TYPE, digest=f"sha256:{digest}", size=length)
        try:
            return self.repository.read_blob(found, limit=length)
        except _UNREADABLE:
            return None

    def _verified(self, source: RepositorySource | None) -> Shown | None:
        if source is None:
            if self.signer:
                self.signer.refuse_if_seen(self.location, "no channel")
            return None
        shown = read_shown(source)
        if self._package is not None and shown.package != self._package:
            expected, advice = f"the package {self._package}", "publish it to its own repository"
            code = RefusalCode.WRONG_PACKAGE
            raise RefusedError(Refusal(code, self.location, expected, shown.package, advice))
        if is_signed(shown):
            if self.signer is None:
                advice = "give the publisher's keys with --keys"
                code = RefusalCode.BAD_SIGNATURE
                expected = "the keys of this signed channel"
                raise RefusedError(Refusal(code, self.location, expected, "none", advice))
            return self.signer.verify(source, shown)
        if self.signer:
            self.signer.refuse_if_seen(self.location, "one without signatures")
        return shown

    def _has_moved(self, source: RepositorySource | None) -> bool:
        """Whether others changed the channel since, so that what they remember of it is newer than what was read."""
        before = source.manifest.descriptor.digest if source else None
        try:
            return self.repository.resolve(self.tag).digest != before
        except NotFoundError:
            return before is not None

    def _source(self) -> RepositorySource | None:
        try:
            self.repository.resolve(self.tag)
        except NotFoundError:
            return None
        return RepositorySource(self.repository, self.word)

    def _signed_names(self, files: dict[str, bytes], package: str) -> dict[str, bytes]:
        return {signed_name(package, self.word, name): data for name, data in files.items()}

    def _push(self, files: Mapping[str, bytes], metadata: Mapping[str, bytes], mark: str) -> str:
        layers = []
        self.repository.put_blob(EMPTY, EMPTY_DESCRIPTOR)
        kinds = [(files, _FILE_TYPE), (dict(sorted(metadata.items())), _METADATA_TYPE)]
        for group, kind in kinds:
            for name, content in group.items():
                layer = describe(content, kind, annotations={TITLE: name})
                self.repository.put_blob(content, layer)
                layers.append(layer)
        manifest = Manifest(
            schema_version=2,
            media_type=OCI_MANIFEST,
            artifact_type=CHANNEL_ARTIFACT,
            config=EMPTY_DESCRIPTOR,
            layers=tuple(layers),
            annotations={MARK_ANNOTATION: mark},
        )
        return self.repository.put_manifest(encode(manifest), OCI_MANIFEST).digest

    def _look_again(self) -> None:
        """Reads back what clients see now, and remembers it, so that nobody can take it back unnoticed."""
        if self.signer:
            self.shown()

    def _committed(self, outcome: Outcome | None) -> Committed:
        assert self._built is not None
        notes = tuple(f"{each}; it does not count" for each in self._ignored)
        if self._adopted:
            notes += ("the channel was not signed so far; it is signed now, as it was found",)
        if outcome is None:
            return Committed(self._built.channel, notes)
        if outcome.refusals:
            raise RefusedError(*outcome.refusals)
        return Committed(self._built.channel, (*outcome.notes, *notes))


def _none(where: str) -> Refusal:
    advice = "check the address and the channel's word; publishing makes a channel"
    return Refusal(RefusalCode.CHANNEL_NOT_FOUND, where, "a channel", "none", advice)
