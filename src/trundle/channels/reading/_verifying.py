"""Verifying a channel: the client's workflow of The Update Framework, by python-tuf, over a state of values.

python-tuf's updater writes its state in place and locks nothing. Here it works in a folder of its own that
is made for one verification; what it leaves there becomes the next state, or nothing does.
"""

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from tuf.api import exceptions
from tuf.api.metadata import Metadata, Targets
from tuf.ngclient import FetcherInterface, Updater, UpdaterConfig

from trundle.channels._times import CLOCK_TOLERANCE
from trundle.channels.reading._roots import read_root
from trundle.channels.reading._trust_errors import Reason, TrustError

_BASE = "channel:"
_BEHIND = re.compile(r"(\w+) version (\d+) must be >= (\d+)")
_KEPT = ("timestamp.json", "snapshot.json", "targets.json")
_REASONS: tuple[tuple[type[Exception], Reason], ...] = (
    (exceptions.DownloadLengthMismatchError, "endless"),
    (exceptions.DownloadHTTPError, "incomplete"),
    (exceptions.UnsignedMetadataError, "signature"),
    (exceptions.ExpiredMetadataError, "expired"),
    (exceptions.BadVersionNumberError, "rollback"),
    (exceptions.LengthOrHashMismatchError, "mismatch"),
)

Read = Callable[[str], Iterable[bytes]]
"""Fetches one file of a channel by name, in pieces; `FileNotFoundError` where there is none."""


class TrustState(msgspec.Struct, frozen=True):
    """The state that a client has seen of a channel and continues from; it never goes back.

    Attributes:
        root: the newest trusted root.
        metadata: the newest trusted metadata by file name.
        clock: the latest time at which something was verified.
    """

    root: bytes
    metadata: Mapping[str, bytes] = {}
    clock: datetime | None = None


def trust(root: bytes) -> TrustState:
    """The state of a client that was given a channel's root and has seen nothing yet.

    Raises:
        TrustError: it is no root, or its own keys did not sign it.
    """
    metadata = read_root(root)
    try:
        metadata.signed.verify_delegate("root", metadata.signed_bytes, metadata.signatures)
    except exceptions.RepositoryError as error:
        raise TrustError("signature", f"root: {error}") from None
    return TrustState(root)


def verify(
    state: TrustState, read: Read, names: Sequence[str], *, now: datetime
) -> tuple[TrustState, Mapping[str, bytes]]:
    """Verifies a channel's metadata and files against what was seen before.

    Args:
        state: what was seen before.
        read: fetches metadata (`2.root.json`, `timestamp.json`, ...) and files; never asked for more bytes
            than are signed or allowed.
        names: the files that are wanted, by their signed names.
        now: the time.

    Returns:
        The state to continue from, and the wanted files.

    Raises:
        TrustError: something is not to be trusted; the old state stays good.
    """
    if state.clock is not None and now < state.clock - CLOCK_TOLERANCE:
        expected = f"a time not before {_spoken(state.clock)}, when the channel was verified"
        raise TrustError("clock", _spoken(now), expected=expected)
    moment = now if state.clock is None else max(now, state.clock)
    with tempfile.TemporaryDirectory(prefix="trundle-trust-") as name:
        folder = Path(name)
        for kept, data in state.metadata.items():
            (folder / kept).write_bytes(data)
        try:
            updater = Updater(
                str(folder),
                _BASE,
                target_dir=str(folder),
                target_base_url=_BASE,
                fetcher=_Fetcher(read),
                config=UpdaterConfig(prefix_targets_with_hash=False),
                bootstrap=state.root,
            )
            # The updater reads the machine's clock; ours never goes back.
            updater._trusted_set.reference_time = moment  # noqa: SLF001
            updater.refresh()
            files = {each: _file(updater, each, folder) for each in names}
        except (exceptions.RepositoryError, exceptions.DownloadError, ValueError) as error:
            raise _distrusted(_reason(error), str(error)) from error
        metadata = {each: (folder / each).read_bytes() for each in _KEPT}
        root = (folder / "root.json").read_bytes()
    return TrustState(root, metadata, moment), files


def _distrusted(reason: Reason, found: str) -> TrustError:
    """The error for what python-tuf refuses, in the words of Trundle where these are clearer."""
    if reason != "rollback":
        return TrustError(reason, found)
    versions = _BEHIND.search(found)
    if versions is not None:
        role, shown, seen = versions.groups()
        found = f"its {role} {shown}, where {seen} was seen"
    return TrustError(reason, found, expected="a state no older than the one that was seen")


def valid_until(state: TrustState) -> datetime | None:
    """When the first of what was verified expires; None where nothing was yet."""
    if not state.metadata:
        return None
    documents = (state.root, *state.metadata.values())
    times = [Metadata.from_bytes(each).signed.expires for each in documents]
    return min(each.replace(tzinfo=UTC) for each in times)


def signed_files(state: TrustState) -> Mapping[str, tuple[str, int]]:
    """The SHA-256 digest and the length of each file that the newest trusted metadata signs, by signed name."""
    data = state.metadata.get("targets.json")
    if data is None:
        return {}
    held = Metadata[Targets].from_bytes(data).signed.targets
    return {name: (each.hashes["sha256"], each.length) for name, each in held.items()}


def _file(updater: Updater, name: str, folder: Path) -> bytes:
    found = updater.get_targetinfo(name)
    if found is None:
        raise TrustError("mismatch", "other files signed", expected=f"{name} to be signed")
    path = folder / "file"
    updater.download_target(found, str(path))
    return path.read_bytes()


def _reason(error: Exception) -> Reason:
    return next((reason for kind, reason in _REASONS if isinstance(error, kind)), "malformed")


def _spoken(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class _Fetcher(FetcherInterface):
    """Lets the updater read from wherever the channel is."""

    def __init__(self, read: Read) -> None:
        self._read = read

    def _fetch(self, url: str) -> Iterator[bytes]:
        name = url.removeprefix(_BASE).removeprefix("/")
        try:
            yield from self._read(name)
        except FileNotFoundError:
            raise exceptions.DownloadHTTPError(f"{name}: not found", 404) from None
