"""The root of trust: which keys may sign what, signed by offline keys.

Rules: The Update Framework's specification, sections 3 (roles) and 6.1 (rotating root).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

import msgspec
from securesystemslib.signer import Key
from tuf.api.exceptions import RepositoryError
from tuf.api.metadata import Metadata, Root, Snapshot, Targets, Timestamp

from trundle.channels.reading._keys import Signer
from trundle.channels.reading._trust_errors import TrustError
from trundle.errors import expectation

THRESHOLD = 2
"""How many root keys must sign a root, of three."""

ROOT_LIFETIME = timedelta(days=365)
"""The validity period of a root, by default."""

_ONLINE = (Snapshot.type, Timestamp.type)


class Replacement(msgspec.Struct, frozen=True):
    """Keys that take the place of others; whatever is None stays.

    Attributes:
        root: all root keys.
        targets: the publisher's key.
        online: the key that keeps a channel fresh.
    """

    root: Sequence[Key] | None = None
    targets: Key | None = None
    online: Key | None = None


def first_root(
    root: Sequence[Signer],
    targets: Key,
    online: Key,
    *,
    now: datetime,
    lifetime: timedelta = ROOT_LIFETIME,
) -> bytes:
    """The first root of a channel, signed by all root keys.

    Args:
        root: the offline keys; two of them are needed from now on to say anything new.
        targets: the publisher's public key.
        online: the public key that keeps the channel fresh.
        now: the time.
        lifetime: how long the root is good for.

    Raises:
        ValueError: there are fewer root keys than must sign, or a key is used twice.
    """
    _check_apart([*(each.public_key for each in root), targets, online], len(root))
    made = Root(expires=(now + lifetime).replace(microsecond=0), consistent_snapshot=False)
    for signer in root:
        made.add_key(signer.public_key, Root.type)
    made.add_key(targets, Targets.type)
    for role in _ONLINE:
        made.add_key(online, role)
    made.roles[Root.type].threshold = THRESHOLD
    metadata = Metadata(made)
    for signer in root:
        metadata.sign(signer, append=True)
    return bytes(metadata.to_bytes())


def next_root(
    current: bytes,
    replacement: Replacement,
    signers: Sequence[Signer],
    *,
    now: datetime,
    lifetime: timedelta = ROOT_LIFETIME,
) -> bytes:
    """The root that follows another, with some keys replaced, or just a new expiry.

    Args:
        current: the newest root.
        replacement: the new keys.
        signers: root keys that sign: enough of the old ones, and enough of the new ones.
        now: the time.
        lifetime: how long the new root is good for.

    Raises:
        TrustError: too few of the signers are root keys, or the current root is malformed.
        ValueError: there are fewer root keys than must sign, or a key is used twice.
    """
    old = read_root(current)
    made = read_root(current).signed
    made.version += 1
    made.expires = (now + lifetime).replace(microsecond=0)
    _replace(made, Root.type, replacement.root)
    _replace(made, Targets.type, _alone(replacement.targets))
    for role in _ONLINE:
        _replace(made, role, _alone(replacement.online))
    roots = made.roles[Root.type].keyids
    kept = {keyid for role in made.roles.values() for keyid in role.keyids}
    _check_apart([made.keys[keyid] for keyid in sorted(kept)], len(roots))
    metadata = Metadata(made)
    known = {*old.signed.roles[Root.type].keyids, *roots}
    for signer in signers:
        if signer.public_key.keyid not in known:
            found = f"{signer.public_key.keyid[:12]}, which is none"
            raise TrustError("signature", found, expected="root keys to sign with")
        metadata.sign(signer, append=True)
    payload = metadata.signed_bytes
    for delegator in (old.signed, made):
        result = delegator.get_verification_result(Root.type, payload, metadata.signatures)
        if not result:
            which = "new" if delegator is made else "present"
            raise TrustError(
                "signature",
                str(len(result.signed)),
                expected=f"{result.threshold} signatures of the {which} root keys",
                advice=f"sign with {result.missing} more",
            )
    return bytes(metadata.to_bytes())


def read_root(data: bytes) -> Metadata[Root]:
    """Reads a root, without judging it.

    Raises:
        TrustError: it is no root.
    """
    try:
        return Metadata[Root].from_bytes(data)
    except (RepositoryError, ValueError) as error:
        raise TrustError("malformed", str(error), expected="a TUF root") from None


def contradicts(root: bytes, trusted: bytes) -> bool:
    """Whether a root cannot be one of the roots before and after a trusted one.

    Of one version there is one root, and each root is signed by enough keys of the one before. Of roots that are further apart nothing can be
    said without those in between, but that a newer one which the trusted keys have not signed is not trusted yet.

    Raises:
        TrustError: one of them is no root.
    """
    given, known = read_root(root), read_root(trusted)
    if given.signed.version == known.signed.version:
        return given.signed_bytes != known.signed_bytes
    older, newer = sorted((given, known), key=lambda each: each.signed.version)
    if newer is known and newer.signed.version > older.signed.version + 1:
        return False
    try:
        older.signed.verify_delegate(Root.type, newer.signed_bytes, newer.signatures)
    except RepositoryError:
        return True
    return False


def role_keys(root: bytes, role: Literal["root", "targets", "online"]) -> Mapping[str, Key]:
    """The public keys that a root names for a role, by their ids.

    Raises:
        TrustError: it is no root.
    """
    signed = read_root(root).signed
    name = {"root": Root.type, "targets": Targets.type, "online": Timestamp.type}[role]
    return {each: signed.keys[each] for each in signed.roles[name].keyids}


def _replace(root: Root, role: str, keys: Sequence[Key] | None) -> None:
    if keys is None:
        return
    for keyid in list(root.roles[role].keyids):
        root.revoke_key(keyid, role)
    for key in keys:
        root.add_key(key, role)


def _alone(key: Key | None) -> Sequence[Key] | None:
    return None if key is None else [key]


def _check_apart(keys: Sequence[Key], roots: int) -> None:
    if roots < THRESHOLD:
        raise ValueError(expectation(f"at least {THRESHOLD} root keys", str(roots)))
    if len({key.keyid for key in keys}) < len(keys):
        raise ValueError(expectation("a key of its own for each role", "one used twice"))
