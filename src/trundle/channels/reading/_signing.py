"""Signing a channel: the publisher says what it holds, the online key that this is still so."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TypeAlias, TypeVar

import msgspec
from tuf.api.exceptions import RepositoryError
from tuf.api.metadata import Metadata, MetaFile, Root, Snapshot, TargetFile, Targets, Timestamp

from trundle.channels.reading._keys import Signer
from trundle.channels.reading._roots import read_root
from trundle.channels.reading._trust_errors import TrustError

SignedFiles: TypeAlias = Mapping[str, bytes]
"""Metadata by file name: `1.root.json` and those after it, `targets.json`, `snapshot.json`, `timestamp.json`."""

_Signed = TypeVar("_Signed", Targets, Snapshot, Timestamp)
_NAMES = {Targets: "targets.json", Snapshot: "snapshot.json", Timestamp: "timestamp.json"}


class Lifetimes(msgspec.Struct, frozen=True):
    """How long signatures are good for.

    Attributes:
        targets: what the publisher signs; a channel without a release for that long must be signed anew.
        online: what the online key signs; so long may an attacker in between hold back news unnoticed.
    """

    targets: timedelta = timedelta(days=180)
    online: timedelta = timedelta(days=7)


def sign(
    previous: SignedFiles,
    files: Mapping[str, bytes],
    *,
    targets: Signer,
    online: Signer,
    now: datetime,
    lifetimes: Lifetimes = Lifetimes(),  # noqa: B008 - immutable
    at_least: int = 0,
) -> SignedFiles:
    """Signs what a channel holds.

    Args:
        previous: the channel's metadata so far; at least its roots. It is taken as it is: verify it first.
        files: all files of the channel by their signed names, such as `acme/db/stable/latest`.
        targets: the publisher's key.
        online: the online key.
        now: the time.
        lifetimes: how long the signatures are good for.
        at_least: the lowest version that the new metadata may have; a channel that is rebuilt must be
            above every version that a client has seen.

    Returns:
        All metadata, the roots too.

    Raises:
        TrustError: a key is not the one that the root names, or the previous metadata is malformed.
    """
    root = _newest_root(previous)
    made = Targets(
        version=max(_version(previous, Targets) + 1, at_least),
        expires=(now + lifetimes.targets).replace(microsecond=0),
        targets={
            name: TargetFile.from_data(name, data, ["sha256"])
            for name, data in sorted(files.items())
        },
    )
    signed = _signed(root, made, targets)
    held = {**previous, _NAMES[Targets]: signed}
    return _fresh(held, root, online, now, lifetimes, at_least=at_least)


def refresh(
    previous: SignedFiles,
    *,
    online: Signer,
    now: datetime,
    lifetimes: Lifetimes = Lifetimes(),  # noqa: B008 - immutable
) -> SignedFiles:
    """Says with the online key alone that what the publisher signed is still so.

    Args:
        previous: the channel's metadata, which was verified.
        online: the online key.
        now: the time.
        lifetimes: how long the signatures are good for.

    Raises:
        TrustError: the key is not the one that the root names, or nothing was published yet.
    """
    if _NAMES[Targets] not in previous:
        raise TrustError("missing", "none", expected="a channel with something published")
    return _fresh(previous, _newest_root(previous), online, now, lifetimes)


def _fresh(
    files: SignedFiles,
    root: Metadata[Root],
    online: Signer,
    now: datetime,
    lifetimes: Lifetimes,
    *,
    at_least: int = 0,
) -> SignedFiles:
    expires = (now + lifetimes.online).replace(microsecond=0)
    held = files[_NAMES[Targets]]
    snapshot = Snapshot(
        version=max(_version(files, Snapshot) + 1, at_least),
        expires=expires,
        meta={_NAMES[Targets]: MetaFile.from_data(_version(files, Targets), held, ["sha256"])},
    )
    snapshot_data = _signed(root, snapshot, online)
    timestamp = Timestamp(
        version=max(_version(files, Timestamp) + 1, at_least),
        expires=expires,
        snapshot_meta=MetaFile.from_data(snapshot.version, snapshot_data, ["sha256"]),
    )
    return {
        **files,
        _NAMES[Snapshot]: snapshot_data,
        _NAMES[Timestamp]: _signed(root, timestamp, online),
    }


def _signed(root: Metadata[Root], made: _Signed, key: Signer) -> bytes:
    metadata = Metadata(made)
    metadata.sign(key)
    result = root.signed.get_verification_result(
        made.type, metadata.signed_bytes, metadata.signatures
    )
    if not result:
        wanted = ", ".join(keyid[:12] for keyid in root.signed.roles[made.type].keyids)
        found = key.public_key.keyid[:12]
        raise TrustError("signature", found, expected=f"the {made.type} key {wanted}")
    return bytes(metadata.to_bytes())


def _newest_root(files: SignedFiles) -> Metadata[Root]:
    numbers = [
        int(number)
        for number, _, rest in (name.partition(".") for name in files)
        if rest == "root.json" and number.isdecimal()
    ]
    if not numbers:
        raise TrustError("missing", "none", expected="the channel's root")
    return read_root(files[f"{max(numbers)}.root.json"])


def _version(files: SignedFiles, kind: type[Targets | Snapshot | Timestamp]) -> int:
    """The version of some metadata; 0 where there is none yet."""
    data = files.get(_NAMES[kind])
    if data is None:
        return 0
    try:
        return int(Metadata.from_bytes(data).signed.version)
    except (RepositoryError, ValueError) as error:
        raise TrustError("malformed", f"{_NAMES[kind]}: {error}") from None
