"""The tags that hold the entries of a ledger, and what may be done to them without losing one."""

import hashlib
import re
import secrets
import time
from collections.abc import Callable, Collection, Sequence

import msgspec

from trundle.registry._interface import INTERNAL_PREFIX, Repository
from trundle.registry._markers import put_marker
from trundle.registry._model import Descriptor, Manifest, describe
from trundle.registry.errors import (
    BusyError,
    InvalidManifestError,
    InvalidReferenceError,
    NotFoundError,
)

ENTRY_ARTIFACT = "application/vnd.trundle.ledger.entry.v1"
"""The artifact type of an entry."""
CHECKPOINT_ARTIFACT = "application/vnd.trundle.ledger.checkpoint.v1"
"""The artifact type of a checkpoint."""

_CHECKPOINT_TYPE = "application/vnd.trundle.ledger.checkpoint.v1+json"
_PAYLOAD_TYPE = "application/octet-stream"
_LARGEST_CHECKPOINT = 256 * 1024 * 1024
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?")
_TAG = re.compile(r"(?P<kind>[ec])-(?P<serial>\d{10})-(?P<id>[0-9a-f]{16})")
_LOOKS = 50
_PATIENCE = 3
_PAUSE = 0.05


class Entry(msgspec.Struct, frozen=True, order=True):
    """A change; entries order as they are to be applied.

    Attributes:
        serial: one more than the highest that its author saw.
        id: its name, 16 hexadecimal digits.
        payload: what its author wrote.
    """

    serial: int
    id: str
    payload: bytes


class View(msgspec.Struct, frozen=True):
    """What the tags of a ledger hold."""

    entries: tuple[Entry, ...]
    loose: tuple[str, ...]
    checkpoints: tuple[str, ...]
    tags: tuple[str, ...]


def mark_of(entries: Sequence[Entry]) -> str:
    """Stands for a set of entries."""
    names = "\n".join(each.id for each in sorted(entries))
    return hashlib.sha256(names.encode()).hexdigest()


class EntryTags:
    """The tags of one ledger."""

    def __init__(self, repository: Repository, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise InvalidReferenceError(
                repository.location,
                "the name of a ledger: lower-case letters, digits and hyphens",
                repr(name),
                "choose another name",
            )
        self._repository = repository
        self._where = f"{repository.location}: ledger {name}"
        self._prefix = f"{INTERNAL_PREFIX}ledger-{name}."
        # Tags of a ledger never move, so what was read once is known.
        self._known: dict[str, tuple[Entry, ...]] = {}

    def append(self, seen: Sequence[Entry], payload: bytes) -> Entry:
        """Records an entry behind those that were seen."""
        serial = 1 + max((each.serial for each in seen), default=0)
        entry = Entry(serial, secrets.token_hex(8), payload)
        self._write("e", entry, ENTRY_ARTIFACT, describe(payload, _PAYLOAD_TYPE), payload)
        return entry

    def compact(self, view: View, check: Callable[[], None]) -> None:
        """Puts all entries of a view into one checkpoint, and removes the tags of what it contains.

        Args:
            view: what the tags hold.
            check: called before each change; may raise.

        Raises:
            InvalidManifestError: the registry gives another checkpoint back; nothing was removed.
        """
        content = msgspec.json.encode(view.entries)
        name = Entry(view.entries[-1].serial, secrets.token_hex(8), b"")
        check()
        tag = self._write(
            "c", name, CHECKPOINT_ARTIFACT, describe(content, _CHECKPOINT_TYPE), content
        )
        if self._read_anew(tag) != view.entries:
            raise InvalidManifestError(
                f"{self._where}: {tag}",
                "the checkpoint that was written",
                "another",
                "do not use this registry",
            )
        for old in (*view.loose, *view.checkpoints):
            check()
            self._repository.remove_unique_tag(old)

    def tag_of(self, entry: Entry) -> str:
        """The tag of an entry that has one."""
        return self._tag("e", entry)

    def view(self) -> View:
        """What the tags hold, once two lists of them are the same.

        Raises:
            BusyError: others change them all the time.
            InvalidManifestError: a tag holds something else.
        """
        # A list is no snapshot. But entries only move forward, into checkpoints: if nothing has changed
        # between two lists, nothing was on its way.
        before: tuple[str, ...] | None = None
        lost = 0
        for _ in range(_LOOKS):
            tags = self._tags()
            view, missing = self._load(tags)
            if missing and lost < _PATIENCE:
                # Tags that are being set or removed. Those that stay missing were never complete.
                lost += 1
                time.sleep(_PAUSE)
                before = None
                continue
            if tags == before:
                self._known = {tag: known for tag, known in self._known.items() if tag in tags}
                return view
            before = tags
        raise BusyError(
            self._where,
            "entries that stay the same while they are read",
            "others changing them all the time",
            "try again later",
        )

    def _tags(self) -> tuple[str, ...]:
        start = len(self._prefix)
        return tuple(
            tag
            for tag in self._repository.tags(internal=True)
            if tag.startswith(self._prefix) and _TAG.fullmatch(tag[start:])
        )

    def _load(self, tags: Collection[str]) -> tuple[View, bool]:
        """Reads what tags hold; also tells whether any was missing."""
        missing = False
        found: dict[str, Entry] = {}
        loose: list[str] = []
        checkpoints: list[str] = []
        for tag in sorted(tags):  # Checkpoints come first.
            kind = tag[len(self._prefix)]
            name = tag.rpartition("-")[2]
            try:
                if kind == "c":
                    found |= {each.id: each for each in self._read(tag)}
                elif name not in found:
                    found[name] = self._read(tag)[0]
            except NotFoundError:
                missing = True
                continue
            (checkpoints if kind == "c" else loose).append(tag)
        view = View(tuple(sorted(found.values())), tuple(loose), tuple(checkpoints), tuple(tags))
        return view, missing

    def _read(self, tag: str) -> tuple[Entry, ...]:
        """The entries that a tag holds."""
        if tag not in self._known:
            self._known[tag] = self._read_anew(tag)
        return self._known[tag]

    def _read_anew(self, tag: str) -> tuple[Entry, ...]:
        stored = self._repository.get_manifest(tag)
        document = stored.document
        kind = document.artifact_type
        layers = document.layers if isinstance(document, Manifest) else ()
        if kind not in {ENTRY_ARTIFACT, CHECKPOINT_ARTIFACT} or len(layers) != 1:
            raise InvalidManifestError(
                stored.where,
                "an entry or a checkpoint of a ledger",
                f"a manifest for {kind}",
                "somebody else has set this tag; restore it",
            )
        content = self._repository.read_blob(layers[0], limit=_LARGEST_CHECKPOINT)
        if kind == ENTRY_ARTIFACT:
            parts = _TAG.fullmatch(tag[len(self._prefix) :])
            assert parts
            return (Entry(int(parts["serial"]), parts["id"], content),)
        try:
            return msgspec.json.decode(content, type=tuple[Entry, ...])
        except msgspec.DecodeError as error:
            raise InvalidManifestError(
                stored.where, "a checkpoint", str(error), "ask who runs the registry"
            ) from None

    def _write(
        self, kind: str, entry: Entry, artifact: str, payload: Descriptor, content: bytes
    ) -> str:
        tag = self._tag(kind, entry)
        self._repository.put_blob(content, payload)
        put_marker(self._repository, tag, artifact, (payload,))
        return tag

    def _tag(self, kind: str, entry: Entry) -> str:
        return f"{self._prefix}{kind}-{entry.serial:010d}-{entry.id}"
