"""Signs states of a channel for its publisher, and keeps the publisher from building on anything older than it saw."""

import contextlib
import datetime as dt
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from trundle.channels._refusals import RefusalCode, RefusedError, refusal
from trundle.channels.files import Channel, read_latest, reopen_all
from trundle.channels.publishing._keys import KeyFolder
from trundle.channels.publishing._records import names_of, read_names
from trundle.channels.reading import (
    OPERATIONS,
    ChannelSource,
    RepositorySource,
    is_metadata_name,
    read_whole,
    refusal_of_trust,
    signed_name,
)
from trundle.channels.reading.signatures import (
    KeyFileError,
    Lifetimes,
    Signer,
    TrustError,
    TrustFolder,
    refresh,
    role_keys,
    sign,
    signed_files,
    trust,
)
from trundle.errors import Finding
from trundle.registry import MARK_ANNOTATION

_EVER_FRESH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
"""The time by which the publisher judges: it continues from a state of its own even if that expired."""

SEEN_ANNOTATION = "dev.trundle.channel.seen"
"""The annotation in which a head says up to which serial the authors of its operations had seen."""

_FILES = ("latest", "all", OPERATIONS)


class Shown(msgspec.Struct, frozen=True, dict=True):
    """What a channel shows before it is changed, verified where it is signed.

    Attributes:
        files: its files and metadata by name.
        operations: the names of the operations that the publisher signed; None for an unsigned channel.
        package: the package.
        serial: the channel's serial.
        mark: stands for the entries of the ledger that are shown; empty where that is not known.
        seen: the most that the author of any operation had seen; None where that is not known, or where entries of
            the ledger do not count, so that the channel can only be made anew from all operations.
    """

    files: Mapping[str, bytes]
    operations: frozenset[str] | None
    package: str
    serial: int = 0
    mark: str = ""
    seen: int | None = None

    @cached_property
    def reopened(self) -> Channel | None:
        """The channel in these files, to be gone on from; None where they are laid out otherwise."""
        return reopen_all(self.files["all"])


class ChannelSigner:
    """The publisher's side of a channel's trust.

    Args:
        keys: the keys.
        clock: returns the time.
        lifetimes: how long signatures are good for.
        seen: the folder in which is remembered what was seen of channels; beside the keys by default.
    """

    def __init__(
        self,
        keys: KeyFolder,
        *,
        clock: Callable[[], dt.datetime],
        lifetimes: Lifetimes | None = None,
        seen: Path | None = None,
    ) -> None:
        self.keys = keys
        self.lifetimes = lifetimes or Lifetimes()
        self._clock = clock
        self._seen = seen or keys.seen
        self._store = TrustFolder(self._seen)

    def targets_key(self) -> Signer:
        """The key that signs operations, once it is certain that the online key is at hand too.

        Raises:
            KeyFileError: one of them is not here, or cannot be read; or what was seen of the channel cannot be
                remembered.
        """
        self.keys.signer("online")
        with self._remembering():
            self._store.check_writable()
        return self.keys.signer("targets")

    def verify(self, source: RepositorySource, shown: Shown) -> Shown:
        """Verifies what a channel shows, and remembers it.

        Raises:
            RefusedError: it is older than what was seen, or badly signed. Expired is no reason.
            KeyFileError: what was seen of the channel cannot be remembered.
        """
        where = source.location
        word = where.rpartition(".")[2]
        names = [signed_name(shown.package, word, name) for name in _FILES]
        try:
            with self._remembering():
                self._begin(where)
                files = self._store.verify(where, source.read, names, clock=lambda: _EVER_FRESH)
            operations = read_names(files[names[-1]])
        except TrustError as error:
            raise RefusedError(refusal_of_trust(error, where)) from error
        return msgspec.structs.replace(shown, operations=operations)

    def refuse_if_seen(self, where: str, found: str) -> None:
        """Refuses a channel that is gone, or no longer signed, though a signed one was seen.

        Raises:
            RefusedError: one was seen.
        """
        if self._store.state(where) is None:
            return
        expected = "the signed channel that was seen here before"
        raise RefusedError(refusal(RefusalCode.STALE_METADATA, where, expected, found))

    def last_seen(
        self,
        where: str,
        package: str,
        read: Callable[[str, int], bytes | None],
        recorded: Sequence[str],
    ) -> Shown | None:
        """The newest state of a channel that this publisher has verified; None where it has seen none.

        Args:
            where: the channel's full name.
            package: the package.
            read: returns the content with a SHA-256 digest and a length, or None where it is gone.
            recorded: the names of the operations in the ledger, the oldest first. Where the list of those that were seen is
                gone, the oldest of these must be that list: a whole repository that was set back lacks it, too.

        Raises:
            RefusedError: what was seen cannot be read, or the ledger lacks operations that were seen.
        """
        try:
            state = self._store.state(where)
        except TrustError as error:
            raise RefusedError(refusal_of_trust(error, where)) from error
        if state is None or not state.metadata:
            return None
        files = dict(state.metadata)
        for name, (digest, length) in signed_files(state).items():
            content = read(digest, length)
            if content is not None:
                files[name.rpartition("/")[2]] = content
            elif name.endswith(f"/{OPERATIONS}") and not _has_list(recorded, digest, length):
                raise RefusedError(lacking_operations(where, len(recorded)))
        names = read_names(files[OPERATIONS]) if OPERATIONS in files else frozenset()
        latest = files.get("latest")
        serial = read_latest(latest, f"{where}/latest").latest.serial if latest else 0
        return Shown(files, names, package, serial)

    def sign(
        self, shown: Shown | None, files: Mapping[str, bytes], *, rebuilt: bool = False
    ) -> Mapping[str, bytes]:
        """The metadata of a new state; `files` are by their signed names.

        Args:
            shown: what the channel shows so far.
            files: the files of the new state.
            rebuilt: whether nothing that the channel shows can be trusted. The versions of the metadata then
                begin at the Unix time, which is above all that any client can have seen.

        Raises:
            RefusedError: the keys are not those of the channel.
            KeyFileError: a key cannot be read.
        """
        previous, now = self._previous(shown), self._clock()
        try:
            return sign(
                previous,
                files,
                targets=self.keys.signer("targets"),
                online=self.keys.signer("online"),
                now=now,
                lifetimes=self.lifetimes,
                at_least=int(now.timestamp()) if rebuilt else 0,
            )
        except TrustError as error:
            raise RefusedError(refusal_of_trust(error, str(self.keys.path))) from error

    def refresh(self, shown: Shown, files: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """The metadata of the same state, fresh again; with the online key alone, unless the root was replaced.

        Raises:
            RefusedError: the keys are not those of the channel.
            KeyFileError: a key cannot be read.
        """
        previous = self._previous(shown)
        roots = [each for each in shown.files if each.endswith(".root.json")]
        newest = shown.files[max(roots, key=lambda name: int(name.partition(".")[0]))]
        if (
            role_keys(newest, "targets").keys()
            != role_keys(self.keys.newest_root(), "targets").keys()
        ):
            return self.sign(shown, files)
        try:
            online, now = self.keys.signer("online"), self._clock()
            return refresh(previous, online=online, now=now, lifetimes=self.lifetimes)
        except TrustError as error:
            raise RefusedError(refusal_of_trust(error, str(self.keys.path))) from error

    @contextlib.contextmanager
    def _remembering(self) -> Iterator[None]:
        """Says what to do where what was seen of the channel cannot be remembered."""
        try:
            yield
        except OSError as error:
            expected = "a folder that can be written, to remember what was seen of the channel"
            found, advice = error.strerror or str(error), "name another one with --seen"
            raise KeyFileError(str(self._seen), expected, found, advice) from error

    def _begin(self, where: str) -> None:
        """Trusts a channel by the first root, unless it is trusted."""
        if self._store.state(where) is None:
            self._store.trust_first(where, trust(next(iter(self.keys.roots().values()))))

    def _previous(self, shown: Shown | None) -> dict[str, bytes]:
        """The metadata so far, with all roots that are known here."""
        files = shown.files if shown else {}
        previous = {name: data for name, data in files.items() if is_metadata_name(name)}
        roots = self.keys.roots()
        for name, data in previous.items():
            if name.endswith(".root.json") and roots.get(name) != data:
                expected = f"the keys of the channel with its {name}"
                advice = "use the channel's own keys, and copy roots that are newer beside them"
                code = RefusalCode.BAD_SIGNATURE
                where = str(self.keys.path)
                found = "another one" if name in roots else "none"
                raise RefusedError(refusal(code, where, expected, found, advice))
        return previous | dict(roots)


def lacking_operations(where: str, found: int, serial: int | None = None) -> Finding:
    """That a ledger lacks operations which the channel has shown.

    Args:
        where: the channel's full name.
        found: how many operations there are.
        serial: how many there were, where that is known.
    """
    expected = "all operations" if serial is None else f"all {serial} operations"
    advice = "publish where the channel comes from if this is a mirror; else restore the repository"
    code = RefusalCode.STALE_METADATA
    return refusal(
        code, where, f"{expected} that the channel shows in its ledger", str(found), advice
    )


def _has_list(names: Sequence[str], digest: str, length: int) -> bool:
    """Whether the first of some names make a list with a SHA-256 digest and a length; all names are equally long."""
    each = len(names_of(names[:1])) - 1  # Between brackets, with a comma behind each but the last.
    content = names_of(names[: (length - 1) // each])
    return hashlib.sha256(content).hexdigest() == digest


def read_shown(source: RepositorySource) -> Shown:
    """What a channel shows, not verified yet.

    Raises:
        ChannelFileError: its `latest` file cannot be used.
        RegistryError: it cannot be read.
    """
    files = {name: _whole(source, name) for name in source.files}
    latest = read_latest(files["latest"], f"{source.location}/latest").latest
    annotations = source.manifest.document.annotations
    seen = annotations.get(SEEN_ANNOTATION, "")
    return Shown(
        files,
        None,
        latest.package,
        latest.serial,
        mark=annotations.get(MARK_ANNOTATION, ""),
        seen=int(seen) if seen.isdecimal() else None,
    )


def is_signed(shown: Shown) -> bool:
    """Whether a channel has signatures."""
    return "timestamp.json" in shown.files


def _whole(source: ChannelSource, name: str) -> bytes:
    content = read_whole(source, name)
    assert content is not None
    return content
