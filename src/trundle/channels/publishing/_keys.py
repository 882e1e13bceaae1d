"""The folder with a channel's keys: made, read, and changed when a key is replaced.

`root-1.pem` to `root-3.pem` belong somewhere offline. `targets.pem` and `online.pem` sign what is published; after a
replacement the new key has the number of the root that names it in its name, and the old file can be removed.
`root.json` is what clients are given, `1.root.json`, `2.root.json`, ... are all roots that there were.
"""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from trundle._durable import write_durably
from trundle.channels.reading.signatures import (
    KeyCode,
    KeyFileError,
    Replacement,
    Signer,
    first_root,
    generate_key,
    key_unread,
    next_root,
    read_key,
    role_keys,
    write_key,
)
from trundle.errors import Kind

Role: TypeAlias = Literal["root", "targets", "online"]

Ask: TypeAlias = Callable[[], bytes]
"""Gives the passphrase of encrypted keys; called when one is needed."""

ROOT_KEYS = 3
"""How many root keys are made; two of them must sign."""

_ENCRYPTED = b"BEGIN ENCRYPTED PRIVATE KEY"


class KeysExistError(KeyFileError):
    """There are keys where new ones were to be made."""

    kind = Kind.EXISTS
    code = KeyCode.EXISTS


class MadeKeys(msgspec.Struct, frozen=True):
    """Files that were written, the newest root last."""

    files: tuple[Path, ...]


class KeyFolder:
    """A folder with keys and roots.

    Args:
        path: the folder.
        ask: gives the passphrase of encrypted keys; asked at most once.
    """

    def __init__(self, path: Path, ask: Ask) -> None:
        self.path = path
        self._ask = ask
        self._passphrase: bytes | None = None
        self._read: dict[Path, Signer] = {}

    @property
    def seen(self) -> Path:
        """The folder in which is remembered what was seen of channels that these keys sign."""
        return self.path / "seen"

    def roots(self) -> Mapping[str, bytes]:
        """All roots by file name, the oldest first.

        Raises:
            KeyFileError: there are none, or one is missing in between.
        """
        found: dict[str, bytes] = {}
        while (path := self.path / f"{len(found) + 1}.root.json").exists():
            found[path.name] = path.read_bytes()
        if not found:
            advice = "make keys with: trundle keys init"
            raise KeyFileError(str(self.path), "keys and 1.root.json", "none", advice)
        return found

    def newest_root(self) -> bytes:
        """The newest root."""
        return list(self.roots().values())[-1]

    def signer(self, role: Role) -> Signer:
        """The key that the newest root names for a role.

        Raises:
            KeyFileError: it is not here, or cannot be read.
        """
        wanted = role_keys(self.newest_root(), role)
        for key in self._keys(role):
            if key.public_key.keyid in wanted:
                return key
        expected = f"the {role} key {', '.join(each[:12] for each in sorted(wanted))}"
        advice = f"copy {role}.pem there, or replace it: trundle keys rotate {role}"
        raise KeyFileError(str(self.path), expected, "none of that id", advice)

    def root_signers(self) -> tuple[Signer, ...]:
        """All root keys that are here."""
        return tuple(self._keys("root"))

    def _keys(self, role: Role) -> Iterator[Signer]:
        for path in sorted(self.path.glob(f"{role}*.pem"), reverse=True):
            yield self.read(path)

    def read(self, path: Path) -> Signer:
        """Reads a key, with the passphrase where it is encrypted.

        Raises:
            KeyFileError: it cannot be read, or the passphrase is another.
        """
        if path not in self._read:
            self._read[path] = self._read_anew(path)
        return self._read[path]

    def _read_anew(self, path: Path) -> Signer:
        try:
            encrypted = _ENCRYPTED in path.read_bytes()
        except OSError as error:
            raise key_unread(path, error) from None
        if encrypted and self._passphrase is None:
            self._passphrase = self._ask()
        return read_key(path, self._passphrase if encrypted else None)


def make_keys(
    folder: Path, passphrase: bytes | None, *, now: dt.datetime, dry_run: bool = False
) -> MadeKeys:
    """Makes all keys of a publisher, and the first root.

    Args:
        folder: where; it is made, and must hold no keys.
        passphrase: what the key files are encrypted with; None for plain ones.
        now: the time.
        dry_run: whether nothing is written.

    Raises:
        KeysExistError: there are keys already.
        KeyFileError: a file cannot be written.
    """
    if any(folder.glob("*.pem")) or any(folder.glob("*root.json")):
        advice = "choose another folder; `trundle keys rotate` replaces keys"
        raise KeysExistError(str(folder), "a folder without keys", "keys", advice)
    roots = [generate_key() for _ in range(ROOT_KEYS)]
    targets, online = generate_key(), generate_key()
    named = {folder / f"root-{number}.pem": key for number, key in enumerate(roots, 1)}
    named |= {folder / "targets.pem": targets, folder / "online.pem": online}
    root = first_root(roots, targets.public_key, online.public_key, now=now)
    if not dry_run:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for path, key in named.items():
            write_key(key, path, passphrase)
        _write_root(folder, 1, root)
    return MadeKeys((*named, *_root_paths(folder, 1)))


def replace_key(
    folder: KeyFolder,
    role: Role,
    passphrase: bytes | None,
    root_signers: Sequence[Signer],
    *,
    now: dt.datetime,
    dry_run: bool = False,
) -> MadeKeys:
    """Replaces the key of a role, or all root keys; a channel gets the new root with its next change.

    If it breaks off, the new keys are left unused and nothing has changed.

    Args:
        folder: the keys.
        role: whose key is replaced.
        passphrase: what the new key files are encrypted with; None for plain ones.
        root_signers: root keys; two of the present ones at least.
        now: the time.
        dry_run: whether nothing is written.

    Raises:
        TrustError: too few of the signers are root keys.
        KeyFileError: a file cannot be written.
    """
    current = folder.newest_root()
    number = len(folder.roots()) + 1
    count = ROOT_KEYS if role == "root" else 1
    made = [generate_key() for _ in range(count)]
    publics = [each.public_key for each in made]
    match role:
        case "root":
            replacement = Replacement(root=publics)
        case "targets":
            replacement = Replacement(targets=publics[0])
        case "online":
            replacement = Replacement(online=publics[0])
    wanted = role_keys(current, "root")
    signers = [each for each in root_signers if each.public_key.keyid in wanted]
    if role == "root":
        signers += made
    root = next_root(current, replacement, signers, now=now)
    named = {
        folder.path
        / (f"root-{number}-{index}.pem" if role == "root" else f"{role}-{number}.pem"): key
        for index, key in enumerate(made, 1)
    }
    if not dry_run:
        for path, key in named.items():
            path.unlink(missing_ok=True)
            write_key(key, path, passphrase)
        _write_root(folder.path, number, root)
    return MadeKeys((*named, *_root_paths(folder.path, number)))


def renew_root(
    folder: KeyFolder, root_signers: Sequence[Signer], *, now: dt.datetime, dry_run: bool = False
) -> MadeKeys:
    """Makes the root good for another year, with the same keys; a channel gets it with its next change.

    Args:
        folder: the keys.
        root_signers: root keys; two of the present ones at least.
        now: the time.
        dry_run: whether nothing is written.

    Raises:
        TrustError: too few of the signers are root keys.
        OSError: a file cannot be written.
    """
    current = folder.newest_root()
    wanted = role_keys(current, "root")
    signers = [each for each in root_signers if each.public_key.keyid in wanted]
    root = next_root(current, Replacement(), signers, now=now)
    number = len(folder.roots()) + 1
    if not dry_run:
        _write_root(folder.path, number, root)
    return MadeKeys(_root_paths(folder.path, number))


def _root_paths(folder: Path, number: int) -> tuple[Path, Path]:
    return folder / f"{number}.root.json", folder / "root.json"


def _write_root(folder: Path, number: int, root: bytes) -> None:
    for path in _root_paths(folder, number):
        write_durably(path, root, mode=0o644)
