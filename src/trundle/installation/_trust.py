"""What was seen of signed channels, in the database of an installation; and what was seen by releases that kept files."""

import contextlib
from collections.abc import Iterator
from datetime import datetime

import msgspec

from trundle.channels.reading.signatures import TrustError, TrustState, TrustStore, trust_key
from trundle.installation._state import Memory


class TrustTable(TrustStore):
    """Keeps what was seen of signed channels with all else that an installation remembers.

    Args:
        state: what the installation remembers.
    """

    def __init__(self, state: Memory) -> None:
        self._memory = state

    def state(self, channel: str) -> TrustState | None:
        return self._read(trust_key(channel))

    def _read(self, key: str) -> TrustState | None:
        content = self._memory.trust(key)
        if content is None:
            return None
        try:
            return msgspec.json.decode(content, type=TrustState)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            expected = f"what was seen of the channel in {self._memory.path}"
            advice = "restore the file from a backup"
            raise TrustError("malformed", str(error), expected=expected, advice=advice) from None

    def _write(self, channel: str, state: TrustState) -> None:
        self._memory.put_trust(trust_key(channel), msgspec.json.encode(state))

    def _remove(self, channel: str) -> None:
        self._memory.remove_trust(trust_key(channel))

    @contextlib.contextmanager
    def _locked(self, channel: str) -> Iterator[None]:  # noqa: ARG002 - the whole database is locked
        with self._memory.changing():
            yield

    def clock(self) -> datetime | None:
        """The latest time at which any channel was verified; None where none ever was.

        Raises:
            TrustError: a state cannot be read.
        """
        states = map(self._read, self._memory.trusted())
        return max((each.clock for each in states if each and each.clock), default=None)

    def forget_clock(self) -> None:
        """Forgets at which time channels were verified; called within `changing`.

        Raises:
            TrustError: a state cannot be read.
        """
        for key in self._memory.trusted():
            state = self._read(key)
            if state is not None and state.clock is not None:
                after = msgspec.structs.replace(state, clock=None)
                self._memory.put_trust(key, msgspec.json.encode(after))


class TrialTrust(TrustTable):
    """Trusts some channels on trial: what is seen of them is recorded only by `save`.

    Args:
        state: what the installation remembers.
        roots: the states that the channels on trial begin with, by their full names.
    """

    def __init__(self, state: Memory, roots: dict[str, TrustState]) -> None:
        super().__init__(state)
        self._trials = dict(roots)

    def state(self, channel: str) -> TrustState | None:
        return self._trials.get(channel) or super().state(channel)

    def _write(self, channel: str, state: TrustState) -> None:
        if channel in self._trials:
            self._trials[channel] = state
        else:
            super()._write(channel, state)

    def save(self) -> None:
        """Records what was seen of the channels on trial; called within `changing`."""
        for channel, state in self._trials.items():
            super()._write(channel, state)
