"""What clients have seen of channels, on disk: one file for each, replaced as a whole, under a lock."""

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import filelock
import msgspec

from trundle._durable import write_durably
from trundle.channels.trust._errors import TrustError
from trundle.channels.trust._verifying import Read, TrustState, valid_until, verify

_WAIT = 30.0
_STATES = "*.json"


class TrustStore:
    """Keeps what was seen of each channel, for any number of clients at once.

    Args:
        folder: where the states are; it is made where it does not exist.
        wait: seconds to wait for another client that verifies the same channel.
    """

    def __init__(self, folder: Path, *, wait: float = _WAIT) -> None:
        self._folder = folder
        self._wait = wait

    def path(self, channel: str) -> Path:
        """The file that keeps the state of a channel, by the channel's full name."""
        plain = re.sub(r"[^A-Za-z0-9.-]+", "_", channel).strip("_.")[:60]
        digest = hashlib.sha256(channel.encode()).hexdigest()[:12]
        return self._folder / f"{plain}-{digest}.json"

    def check_writable(self) -> None:
        """Makes sure that what is seen can be remembered.

        Raises:
            OSError: the folder cannot be written.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        probe = self._folder / f".{os.getpid()}.probe"
        write_durably(probe, b"", mode=0o600)
        probe.unlink()

    def state(self, channel: str) -> TrustState | None:
        """What was seen of a channel; None where it is not trusted yet.

        Raises:
            TrustError: the state cannot be read. It is never thrown away by itself: without it, old
                metadata could pass for new.
        """
        return self._read(self.path(channel))

    def _read(self, path: Path) -> TrustState | None:
        try:
            return msgspec.json.decode(path.read_bytes(), type=TrustState)
        except FileNotFoundError:
            return None
        except (msgspec.MsgspecError, OSError, UnicodeDecodeError) as error:
            expected = f"what was seen of the channel in {path}"
            advice = "restore the file, or remove it and trust the channel's root again"
            raise TrustError("malformed", str(error), expected=expected, advice=advice) from None

    def trust(self, channel: str, state: TrustState) -> None:
        """Begins to trust a channel.

        Raises:
            TrustError: the channel is trusted already.
        """
        with self._locked(self.path(channel)) as path:
            if self._read(path) is not None:
                raise TrustError(
                    "mismatch", "it trusted", expected="a channel that is not trusted yet"
                )
            self._write(path, state)

    def forget(self, channel: str) -> None:
        """Ends to trust a channel; what was seen of it is lost."""
        with self._locked(self.path(channel)) as path:
            path.unlink(missing_ok=True)

    def forget_seen(self, channel: str) -> None:
        """Forgets what was seen of a channel; its root, as it was last seen, is trusted further on.

        Raises:
            TrustError: the state cannot be read, or another client is at it.
        """
        with self._locked(self.path(channel)) as path:
            state = self._read(path)
            if state is not None:
                self._write(path, TrustState(state.root))

    def valid_until(self, channel: str) -> datetime | None:
        """When the first of what was verified of a channel expires; None where nothing was yet.

        Raises:
            TrustError: the state cannot be read.
        """
        state = self.state(channel)
        return None if state is None else valid_until(state)

    def clock(self) -> datetime | None:
        """The latest time at which any channel was verified; None where none ever was.

        Raises:
            TrustError: a state cannot be read.
        """
        states = (self._read(path) for path in self._folder.glob(_STATES))
        return max((each.clock for each in states if each and each.clock), default=None)

    def forget_clock(self) -> None:
        """Forgets at which time channels were verified.

        Raises:
            TrustError: a state cannot be read, or another client is at it.
        """
        for each in sorted(self._folder.glob(_STATES)):
            with self._locked(each) as path:
                state = self._read(path)
                if state is not None and state.clock is not None:
                    self._write(path, msgspec.structs.replace(state, clock=None))

    def verify(
        self, channel: str, read: Read, names: Sequence[str], *, clock: Callable[[], datetime]
    ) -> Mapping[str, bytes]:
        """Verifies a channel, remembers what was seen, and gives the wanted files.

        Args:
            channel: the channel's full name.
            read: fetches the channel's metadata and files.
            names: the files that are wanted, by their signed names.
            clock: tells the time; it is read once the channel is locked, so that clients that wait for
                each other are not taken for a clock that went back.

        Raises:
            TrustError: the channel is not trusted, or something of it is not to be trusted.
        """
        with self._locked(self.path(channel)) as path:
            state = self._read(path)
            if state is None:
                raise TrustError("missing", "none", expected="a trusted root")
            after, files = verify(state, read, names, now=clock())
            if after != state:
                self._write(path, after)
            return files

    @contextlib.contextmanager
    def _locked(self, path: Path) -> Iterator[Path]:
        self._folder.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(f"{path}.lock", timeout=self._wait)
        try:
            with lock:
                yield path
        except filelock.Timeout:
            found, expected = "another client at it", "to verify the channel alone"
            raise TrustError("busy", found, expected=expected) from None

    @staticmethod
    def _write(path: Path, state: TrustState) -> None:
        write_durably(path, msgspec.json.encode(state), mode=0o600)
