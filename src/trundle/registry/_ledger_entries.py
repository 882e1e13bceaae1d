"""The tags that hold the entries of a ledger, and what may be done to them without losing one."""

import itertools
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import msgspec

from trundle.registry._entries import Entries, LedgerEntry, Part, is_mark, part_of
from trundle.registry._interface import INTERNAL_PREFIX, Repository
from trundle.registry._markers import put_marker
from trundle.registry._model import Descriptor, ImageManifest, describe
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
_FIRST, _COUNT = "dev.trundle.ledger.first", "dev.trundle.ledger.count"
_MARK = "dev.trundle.ledger.mark"
_LOOKS = 50
_PATIENCE = 3
_PAUSE = 0.05


class View(msgspec.Struct, frozen=True):
    """What the tags of a ledger hold."""

    entries: Entries
    loose: tuple[str, ...]
    checkpoints: tuple[str, ...]
    tags: tuple[str, ...]


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
        self._known: dict[str, Part] = {}

    def append(self, seen: Sequence[LedgerEntry], payload: bytes) -> LedgerEntry:
        """Records an entry behind those that were seen."""
        highest = (
            seen.highest
            if isinstance(seen, Entries)
            else max((each.serial for each in seen), default=0)
        )
        serial = 1 + highest
        entry = LedgerEntry(serial, secrets.token_hex(8), payload)
        self._write("e", entry, ENTRY_ARTIFACT, describe(payload, _PAYLOAD_TYPE), payload)
        return entry

    def compact(self, view: View, check: Callable[[], None]) -> bool:
        """Puts entries of a view into one checkpoint, and removes the tags of what it contains.

        These are the newest ones, and those of earlier checkpoints that are no larger. So however many entries there are, each
        is written again only as often as their number doubles.

        Args:
            view: what the tags hold.
            check: called before each change; may raise.

        Returns:
            Whether there was anything to do.

        Raises:
            InvalidManifestError: the registry gives another checkpoint back; nothing was removed.
        """
        if not view.checkpoints or len(view.entries.parts) != len(view.loose) + len(
            view.checkpoints
        ):
            self._compact(tuple(view.entries), (*view.loose, *view.checkpoints), check)
            return True
        known = {tag: self._known[tag] for tag in (*view.loose, *view.checkpoints)}
        chosen = dict.fromkeys(view.loose)
        count = sum(known[tag].count for tag in chosen)
        for tag in sorted(view.checkpoints, reverse=True):
            if known[tag].count > count:
                break
            chosen[tag] = None
            count += known[tag].count
        entries = sorted(entry for tag in chosen for entry in known[tag].entries)
        if not chosen:
            return False
        self._compact(tuple(entries), tuple(chosen), check)
        return True

    def _compact(
        self, entries: tuple[LedgerEntry, ...], tags: tuple[str, ...], check: Callable[[], None]
    ) -> None:
        content = msgspec.json.encode(entries)
        name = LedgerEntry(entries[-1].serial, secrets.token_hex(8), b"")
        check()
        part = part_of(entries)
        facts = {_FIRST: str(part.lowest), _COUNT: str(part.count), _MARK: part.mark}
        payload = describe(content, _CHECKPOINT_TYPE)
        tag = self._write("c", name, CHECKPOINT_ARTIFACT, payload, content, facts)
        if self._read_anew(tag).entries != entries:
            raise InvalidManifestError(
                f"{self._where}: {tag}",
                "the checkpoint that was written",
                "another",
                "do not use this registry",
            )
        for old in tags:
            check()
            self._repository.remove_unique_tag(old)

    def tag_of(self, entry: LedgerEntry) -> str:
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

    def unknown(self) -> tuple[str, ...]:
        """What is wrong with each tag that holds neither an entry nor a checkpoint; with such a tag no ledger can be read.

        Raises:
            RegistryError: the registry cannot be read.
        """
        found = []
        for tag in self._tags():
            try:
                self._read(tag)
            except InvalidManifestError as error:
                found.append(str(error))
            except NotFoundError:
                continue
        return tuple(found)

    def foreign(self) -> tuple[str, ...]:
        """Tags that look like those of this ledger and are not; they do not count.

        Raises:
            RegistryError: the registry cannot be read.
        """
        return tuple(tag for tag in self._named() if not self._is_tag(tag))

    def _tags(self) -> tuple[str, ...]:
        return tuple(tag for tag in self._named() if self._is_tag(tag))

    def _named(self) -> Iterator[str]:
        """The tags that have the name of the ledger."""
        tags = self._repository.tags(internal=True)
        return (tag for tag in tags if tag.startswith(self._prefix))

    def _is_tag(self, tag: str) -> bool:
        """Whether a tag with the name of the ledger has the form of an entry's or a checkpoint's."""
        return _TAG.fullmatch(tag[len(self._prefix) :]) is not None

    def _load(self, tags: Collection[str]) -> tuple[View, bool]:
        """Reads what tags hold; also whether any was missing."""
        missing = False
        parts: list[Part] = []
        loose: list[str] = []
        checkpoints: list[str] = []
        for tag in sorted(tags):  # Checkpoints come first.
            try:
                parts.append(self._read(tag))
            except NotFoundError:
                missing = True
                continue
            (checkpoints if tag[len(self._prefix)] == "c" else loose).append(tag)
        entries = _joined(parts)
        return View(entries, tuple(loose), tuple(checkpoints), tuple(tags)), missing

    def _read(self, tag: str) -> Part:
        """The entries that a tag holds."""
        if tag not in self._known:
            self._known[tag] = self._read_anew(tag)
        return self._known[tag]

    def _read_anew(self, tag: str) -> Part:
        stored = self._repository.get_manifest(tag)
        document = stored.document
        kind = document.artifact_type
        layers = document.layers if isinstance(document, ImageManifest) else ()
        if kind not in {ENTRY_ARTIFACT, CHECKPOINT_ARTIFACT} or len(layers) != 1:
            raise InvalidManifestError(
                stored.where,
                "an entry or a checkpoint of a ledger",
                f"a manifest for {kind}",
                "another tool has set this tag; set it to what it had before, or remove it if it is new",
            )
        if kind == ENTRY_ARTIFACT:
            parts = _TAG.fullmatch(tag[len(self._prefix) :])
            assert parts
            content = self._repository.read_blob(layers[0], limit=_LARGEST_CHECKPOINT)
            return part_of([LedgerEntry(int(parts["serial"]), parts["id"], content)])
        return self._checkpoint(tag, stored.where, layers[0], document.annotations)

    def _checkpoint(
        self, tag: str, where: str, layer: Descriptor, facts: Mapping[str, str]
    ) -> Part:
        """A checkpoint; it is read later where its annotations say what is in it."""

        def read() -> tuple[LedgerEntry, ...]:
            content = self._repository.read_blob(layer, limit=_LARGEST_CHECKPOINT)
            try:
                return msgspec.json.decode(content, type=tuple[LedgerEntry, ...])
            except msgspec.DecodeError as error:
                raise InvalidManifestError(
                    where, "a checkpoint", str(error), "ask who runs the registry"
                ) from None

        first, count, mark = (facts.get(each, "") for each in (_FIRST, _COUNT, _MARK))
        parts = _TAG.fullmatch(tag[len(self._prefix) :])
        if parts is None or not (first.isdecimal() and count.isdecimal() and is_mark(mark)):
            return part_of(read())  # An earlier release wrote it.
        return Part(int(first), int(parts["serial"]), int(count), mark, read)

    def _write(
        self,
        kind: str,
        entry: LedgerEntry,
        artifact: str,
        payload: Descriptor,
        content: bytes,
        facts: Mapping[str, str] | None = None,
    ) -> str:
        tag = self._tag(kind, entry)
        self._repository.put_blob(content, payload)
        put_marker(self._repository, tag, artifact, (payload,), facts=facts)
        return tag

    def _tag(self, kind: str, entry: LedgerEntry) -> str:
        return f"{self._prefix}{kind}-{entry.serial:010d}-{entry.id}"


def _joined(parts: Sequence[Part]) -> Entries:
    """The entries of parts that may have some in common."""
    ordered = sorted(parts, key=lambda each: (each.lowest, each.highest, each.mark))
    if all(_are_apart(one, other) for one, other in itertools.pairwise(ordered)):
        return Entries(ordered)
    return Entries([part_of({e.id: e for each in ordered for e in each.entries}.values())])


def _are_apart(one: Part, other: Part) -> bool:
    """Whether it is certain, without reading them, that two parts have no entry in common."""
    single = one.count == other.count == 1
    return one.highest < other.lowest or (single and one.mark != other.mark)
