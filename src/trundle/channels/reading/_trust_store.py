"""The state that clients have seen of channels, and continue from; kept in files, in memory, or where a subclass keeps it."""

import abc
import contextlib
import hashlib
import re
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

import msgspec

from trundle._durable import write_durably
from trundle._locking import LockBusyError, locked
from trundle.channels.reading._trust_errors import TrustError
from trundle.channels.reading._verifying import Read, TrustState, valid_until, verify

_WAIT = 30.0
_ATTEMPTS = 5


def trust_key(channel: str) -> str:
    """What the state of a channel is kept under, by the channel's full name: a text that can name a file."""
    plain = re.sub(r"[^A-Za-z0-9.-]+", "_", channel).strip("_.")[:60]
    digest = hashlib.sha256(channel.encode()).hexdigest()[:12]
    return f"{plain}-{digest}"


class TrustStore(abc.ABC):
    """Keeps what was seen of each channel, for any number of clients at once.

    A subclass says where: it reads, writes and removes the state of a channel, and locks it. Channels go by their full names.
    """

    @abc.abstractmethod
    def state(self, channel: str) -> TrustState | None:
        """What was seen of a channel; None where it is not trusted yet.

        Raises:
            TrustError: the state cannot be read. It is never thrown away by itself: without it, old
                metadata could pass for new.
        """

    @abc.abstractmethod
    def _write(self, channel: str, state: TrustState) -> None:
        """Replaces the state of a channel, durably; called under its lock."""

    @abc.abstractmethod
    def _remove(self, channel: str) -> None:
        """Removes the state of a channel, if there is one; called under its lock."""

    @abc.abstractmethod
    def _locked(self, channel: str) -> contextlib.AbstractContextManager[None]:
        """Keeps other clients from changing the state of a channel.

        Raises:
            TrustError: another client did not end within the time.
        """

    def trust(self, channel: str, state: TrustState) -> None:
        """Begins to trust a channel.

        Raises:
            TrustError: the channel is trusted already.
        """
        with self._locked(channel):
            if self.state(channel) is not None:
                raise TrustError(
                    "mismatch", "it trusted", expected="a channel that is not trusted yet"
                )
            self._write(channel, state)

    def trust_first(self, channel: str, state: TrustState) -> None:
        """Begins to trust a channel, unless it is trusted already; another client may do the same right now."""
        with self._locked(channel):
            if self.state(channel) is None:
                self._write(channel, state)

    def forget(self, channel: str) -> None:
        """Ends to trust a channel; what was seen of it is lost."""
        with self._locked(channel):
            self._remove(channel)

    def forget_seen(self, channel: str) -> None:
        """Forgets what was seen of a channel; its root, as it was last seen, is trusted further on.

        Raises:
            TrustError: the state cannot be read, or another client is at it.
        """
        with self._locked(channel):
            state = self.state(channel)
            if state is not None:
                self._write(channel, TrustState(state.root))

    def valid_until(self, channel: str) -> datetime | None:
        """When the first of what was verified of a channel expires; None where nothing was yet.

        Raises:
            TrustError: the state cannot be read.
        """
        state = self.state(channel)
        return None if state is None else valid_until(state)

    def verify(
        self, channel: str, read: Read, names: Sequence[str], *, clock: Callable[[], datetime]
    ) -> Mapping[str, bytes]:
        """Verifies a channel, remembers what was seen, and returns the wanted files.

        Everything is fetched and verified first, without the lock. What was fetched is then verified once more under
        the lock, where another client has changed the state meanwhile. So a slow server delays no other process.

        Args:
            channel: the channel's full name.
            read: fetches the channel's metadata and files.
            names: the files that are wanted, by their signed names.
            clock: returns the time; it is read again under the lock, so that clients that wait for
                each other are not taken for a clock that went back.

        Raises:
            TrustError: the channel is not trusted, or something of it is not to be trusted.
        """
        attempt = 0
        while True:
            attempt += 1
            before = self._trusted(channel)
            fetched = _Fetched(read)
            after, files = verify(before, fetched.fetch, names, now=clock())
            with self._locked(channel):
                current = self._trusted(channel)
                if current == before:
                    self._write_changed(channel, before, after)
                    return files
                try:
                    after, files = verify(current, fetched.again, names, now=clock())
                except TrustError:
                    if attempt == _ATTEMPTS:
                        raise
                    continue  # Another client has seen a newer state, which is there to be fetched.
                self._write_changed(channel, current, after)
                return files

    def _trusted(self, channel: str) -> TrustState:
        state = self.state(channel)
        if state is None:
            raise TrustError("missing", "none", expected="a trusted root")
        return state

    def _write_changed(self, channel: str, before: TrustState, after: TrustState) -> None:
        if after != before:
            self._write(channel, after)


class TrustFolder(TrustStore):
    """Keeps what was seen in files: one for each channel, replaced as a whole, under a lock.

    Args:
        folder: where the states are; it is made where it does not exist.
        wait: seconds to wait for another client that changes the state of the same channel.
    """

    def __init__(self, folder: Path, *, wait: float = _WAIT) -> None:
        self._folder = folder
        self._wait = wait

    def path(self, channel: str) -> Path:
        """The file that keeps the state of a channel, by the channel's full name."""
        return self._folder / f"{trust_key(channel)}.json"

    def check_writable(self) -> None:
        """Makes sure that what is seen can be remembered.

        Raises:
            OSError: the folder cannot be written.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        # The number of this process is no name of its own: processes in two containers may share the folder.
        probe = self._folder / f".{secrets.token_hex(8)}.probe"
        write_durably(probe, b"", mode=0o600)
        probe.unlink()

    def state(self, channel: str) -> TrustState | None:
        path = self.path(channel)
        try:
            return msgspec.json.decode(path.read_bytes(), type=TrustState)
        except FileNotFoundError:
            return None
        except (msgspec.MsgspecError, OSError, UnicodeDecodeError) as error:
            expected = f"what was seen of the channel in {path}"
            advice = "restore the file, or remove it and trust the channel's root again"
            raise TrustError("malformed", str(error), expected=expected, advice=advice) from None

    def _write(self, channel: str, state: TrustState) -> None:
        write_durably(self.path(channel), msgspec.json.encode(state), mode=0o600)

    def _remove(self, channel: str) -> None:
        self.path(channel).unlink(missing_ok=True)

    @contextlib.contextmanager
    def _locked(self, channel: str) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self.path(channel)
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(locked(path.with_name(f"{path.name}.lock"), self._wait))
            except LockBusyError:
                found, expected = "another client at it", "to verify the channel alone"
                raise TrustError("busy", found, expected=expected) from None
            yield


class TrustMemory(TrustStore):
    """Keeps what was seen in memory, and loses it when it goes; threads may share it.

    Args:
        states: what was seen before, by the full names of channels.
    """

    def __init__(self, states: Mapping[str, TrustState] = MappingProxyType({})) -> None:
        self._states = dict(states)
        self._lock = threading.Lock()

    def state(self, channel: str) -> TrustState | None:
        return self._states.get(channel)

    def _write(self, channel: str, state: TrustState) -> None:
        self._states[channel] = state

    def _remove(self, channel: str) -> None:
        self._states.pop(channel, None)

    @contextlib.contextmanager
    def _locked(self, channel: str) -> Iterator[None]:  # noqa: ARG002 - all channels have one lock
        with self._lock:
            yield


class _Fetched:
    """The files of a channel as they were fetched, so that they can be read again without the network."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._contents: dict[str, bytes | None] = {}

    def fetch(self, name: str) -> Iterator[bytes]:
        """Fetches a file, and keeps it."""
        pieces = []
        try:
            for piece in self._read(name):
                pieces.append(piece)
                yield piece
        except FileNotFoundError:
            self._contents[name] = None
            raise
        self._contents[name] = b"".join(pieces)

    def again(self, name: str) -> Iterator[bytes]:
        """Returns a file that was fetched; one that was not counts as missing."""
        content = self._contents.get(name)
        if content is None:
            raise FileNotFoundError(name)
        yield content
