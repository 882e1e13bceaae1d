"""Who owns which fields of an object, at a version: what each write makes of that, and what clients see of it."""

import datetime as dt
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import msgspec

from trundle.api._kinds import ServedKind, ServedVersion, defaults_of
from trundle.api._recent import Recent
from trundle.api._status import ApiError, Cause, bad_request, cause_of, invalid
from trundle.api._status_part import subresource_of
from trundle.api.apply import (
    APPLIES,
    KEPT_BY,
    NOWHERE,
    UPDATES,
    ApplyConflictError,
    AtOthers,
    Conflict,
    ElementError,
    Elsewhere,
    FieldSet,
    LineageWords,
    ListError,
    UnreadableFieldsError,
    Writer,
    applied,
    decode,
    encode,
    given_back_elsewhere,
    given_up_elsewhere,
    hidden_fields,
    ignored,
    owned_elsewhere,
    remaining_elsewhere,
    require_elements,
    resource_shape,
    shown_fields,
    size_of,
    updated,
)
from trundle.evolution import Lineage
from trundle.version import ApiVersion

_OWNERS = b'"managedFields"'
_LONGEST = 128
_KEPT = 1024
"""How many translated entries are kept; most objects of a resource type have the same few."""
_KEPT_BYTES = 1024 * 1024
"""How many bytes of translated sets of fields are kept, about."""

_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_entries = msgspec.json.Decoder(list[dict[str, msgspec.Raw]]).decode

Document = dict[str, Any]
Seen: TypeAlias = Callable[[Document, FieldSet], Iterable[Elsewhere]]


def _unseen(*_: object) -> Iterable[Elsewhere]:
    return ()


def renamed_fields(
    kind: ServedKind, source: ServedVersion, target: ServedVersion, fields: Any
) -> dict[str, Any]:
    """The fields of an entry of `managedFields` in the words of another version; empty where that shows none of them.

    Args:
        kind: the resource type.
        source: the version that the entry names.
        target: the other version.
        fields: the entry's `fieldsV1`.

    Raises:
        UnreadableFieldsError: they cannot be read.
    """
    before, after = (ApiVersion.parse(each.version) for each in (source, target))
    kept = LineageWords(kind.lineage, before, kind.hub).kept(decode(fields or {}), frozenset())
    shown, _ = LineageWords(kind.lineage, after, kind.hub).shown(kept)
    return encode(shown) if shown else {}


class _KnownWords(LineageWords):
    """Words that know sets of fields which were translated lately; most objects of a resource type have the same few."""

    def __init__(self, root: Lineage, version: ApiVersion, hub: ApiVersion) -> None:
        super().__init__(root, version, hub)
        self._shown: Recent[tuple[FieldSet, FieldSet]] = Recent(_KEPT_BYTES)
        self._kept: Recent[FieldSet] = Recent(_KEPT_BYTES)

    def shown(self, fields: FieldSet) -> tuple[FieldSet, FieldSet]:
        found = self._shown.get(fields)
        if found is None:
            found = super().shown(fields)
            self._shown.keep(fields, found, size_of(fields))
        return found

    def kept(self, fields: FieldSet, hidden: FieldSet) -> FieldSet:
        found = self._kept.get((fields, hidden))
        if found is None:
            found = super().kept(fields, hidden)
            self._kept.keep((fields, hidden), found, size_of(found))
        return found


class Ownership:
    """Keeps owners of fields in the words of the hub, for writes and reads at a version.

    Args:
        kind: the resource type.
        served: the version.
    """

    def __init__(self, kind: ServedKind, served: ServedVersion) -> None:
        self._kind = kind
        self._version = kind.api_version(served)
        self._words = _KnownWords(kind.lineage, ApiVersion.parse(served.version), kind.hub)
        self._shape = resource_shape(served.schema, served.resource)
        self._keeps_status = kind.keeps_status(served)
        # Go has them in each object, whatever a client writes.
        self._unowned = defaults_of(served) if kind.is_core else {}
        self._fields = functools.lru_cache(_KEPT)(self._shown_fields)

    def shown(self, document: bytes) -> bytes:
        """A document with its owners as clients of the version see them."""
        if _OWNERS not in document:
            return document
        members = _members(document)
        metadata = _members(members["metadata"])
        if "managedFields" not in metadata:
            return document
        try:
            entries = [self._entry(each) for each in _entries(metadata["managedFields"])]
        except (UnreadableFieldsError, msgspec.ValidationError):
            return document  # A client wrote what is no such field; it stays as it is.
        metadata["managedFields"] = _raw([each for each in entries if each])
        members["metadata"] = _raw(metadata)
        return msgspec.json.encode(members)

    def _entry(self, entry: dict[str, msgspec.Raw]) -> dict[str, msgspec.Raw]:
        """An entry of `managedFields` as clients see it; empty where they see nothing of it."""
        by = msgspec.json.decode(entry.pop(KEPT_BY, b'""'))
        fields = self._fields(bytes(entry.get("fieldsV1", b"{}")), str(by))
        return {**entry, "fieldsV1": msgspec.Raw(fields)} if fields else {}

    def after_update(
        self,
        live: Document,
        new: Document,
        manager: str,
        now: dt.datetime,
        subresource: str = "",
        seen: Seen = _unseen,
    ) -> Document:
        """What is stored of an object after an update.

        Args:
            live: the object before, with its owners as they are kept; empty where it is created.
            new: the object as the client wants it.
            manager: who writes.
            now: the time.
            subresource: the subresource that is written, or nothing.
            seen: gives the write as other versions show it, those that show any of some kept fields; for an object after it.
        """
        writer = self._writer(manager, now, subresource)
        found = updated(writer, live or {**self._nothing(), **self._unowned}, new)
        try:
            return self._with_elsewhere(writer, UPDATES, found, seen, _Conflicts(forced=True))
        except ElementError:  # The owners of such a list cannot be found.
            return _document(found)

    def after_apply(
        self,
        live: Document,
        config: Document,
        manager: str,
        now: dt.datetime,
        subresource: str = "",
        seen: Seen = _unseen,
        at_others: AtOthers = NOWHERE,
        *,
        force: bool,
    ) -> Document:
        """What is stored of an object after a configuration was applied; see `after_update`.

        Args:
            live: the object before, with its owners as they are kept; empty where it is created.
            config: the configuration.
            manager: who applies.
            now: the time.
            subresource: the subresource that is written, or nothing.
            seen: see `after_update`.
            at_others: see `applied` of `trundle.api.apply`.
            force: whether it takes over what others own.

        Raises:
            ApiError: others own fields with other values, the configuration has owners itself, or elements of lists cannot
                be distinguished.
        """
        metadata = config.get("metadata")
        if isinstance(metadata, Mapping) and metadata.get("managedFields") is not None:
            raise bad_request("metadata.managedFields must be nil")
        writer = self._writer(manager, now, subresource)
        written = config
        if subresource:
            written = subresource_of(config, subresource)
        try:
            if written is not config:  # What is not written makes sense, too.
                require_elements(self._shape, config)
            before = live or self._nothing()
            return self._applied(writer, before, written, seen, at_others, force=force)
        except ApplyConflictError as error:
            raise _conflict(error) from error
        except ListError as error:
            name = str((config.get("metadata") or {}).get("name", ""))
            raise invalid(self._kind, name, [cause_of(each) for each in error.findings]) from error
        except (UnreadableFieldsError, ElementError) as error:
            raise bad_request(str(error)) from error

    def _applied(
        self,
        writer: Writer,
        live: Document,
        config: Document,
        seen: Seen,
        at_others: AtOthers,
        *,
        force: bool,
    ) -> Document:
        """An object after a configuration was applied to it; see `after_apply`.

        Raises:
            ApplyConflictError: there are conflicts, at this version or at others. They count before all else that is wrong: that comes of going on as by force.
        """
        conflicts = _Conflicts(forced=force)
        try:
            found = conflicts.of(
                functools.partial(applied, writer, live, config, at_others=at_others)
            )
            found = self._with_elsewhere(writer, APPLIES, found, seen, conflicts)
        except Exception:
            conflicts.require_none()
            raise
        conflicts.require_none()
        return _document(found)

    def shows(self, kept: FieldSet) -> bool:
        """Whether the version shows any of kept fields."""
        return bool(self._words.shown(kept)[0])

    def seen(self, before: Document, after: Document) -> Elsewhere:
        """A write as the version shows it: the object before and after it."""
        return Elsewhere(self._shape, self._words, before, after)

    def given_back(self, before: Document, after: Document, hidden: FieldSet) -> Document | None:
        """An object as the version shows it, with what others own here of what an apply takes away; None where that is nothing.

        Args:
            before: the object with what its applier no longer states.
            after: the object without it.
            hidden: what others own that the applier's version cannot show, as it is kept.
        """
        found = given_back_elsewhere(self.seen(before, after), hidden)
        return None if found is None else _document(found)

    def given_up(self, document: Document, fields: FieldSet) -> Document | None:
        """An object as the version shows it, without kept fields; None where it shows none of them.

        Args:
            document: the object.
            fields: the fields, as they are kept.
        """
        found = given_up_elsewhere(self.seen(document, document), fields)
        return None if found is None else _document(found)

    def remaining(self, document: Document, fields: FieldSet) -> FieldSet:
        """Which kept fields the version shows of an object."""
        return remaining_elsewhere(self.seen(document, document), fields)

    def _with_elsewhere(
        self, writer: Writer, operation: str, found: Any, seen: Seen, conflicts: "_Conflicts"
    ) -> Document:
        """An object after a write, whose writer takes over what other versions show as changed, too.

        A field that a version has in another structure is hidden from the writer's version, and changes with the writer's field all the same.

        Raises:
            ElementError: elements of the object's own lists cannot be distinguished.
        """
        if len(self._kind.versions) == 1:
            return _document(found)
        if hidden := hidden_fields(writer, found):
            for each in seen(_document(found), hidden):
                found = conflicts.of(
                    functools.partial(owned_elsewhere, writer, operation, found, each)
                )
        return _document(found)

    def _writer(self, manager: str, now: dt.datetime, subresource: str) -> Writer:
        return Writer(
            name=manager[:_LONGEST],
            version=self._version,
            shape=self._shape,
            now=f"{now.isoformat(timespec='seconds')[:19]}Z",
            subresource=subresource,
            ignored=ignored(subresource) if self._keeps_status else (),
            words=self._words,
        )

    def _shown_fields(self, kept: bytes, by: str) -> bytes:
        """The fields of an entry in the words of the version; empty where it shows none of them."""
        found = shown_fields(msgspec.json.decode(kept), self._words, by)
        return msgspec.json.encode(found) if found else b""

    def _nothing(self) -> Document:
        return {"apiVersion": self._version, "kind": self._kind.kind}


class _Conflicts:
    """All conflicts of a write, those that other versions show among them.

    Args:
        forced: whether the writer takes over what others own.
    """

    def __init__(self, *, forced: bool) -> None:
        self._forced = forced
        self._found: list[Conflict] = []

    def of(self, step: Callable[..., Any]) -> Any:
        """What a step of the write gives; as if it were forced where it meets conflicts, so that the next steps find theirs."""
        try:
            return step(force=self._forced)
        except ApplyConflictError as error:
            self._found += error.conflicts
            return step(force=True)

    def require_none(self) -> None:
        """Raises an `ApplyConflictError` with all conflicts."""
        if self._found:
            raise ApplyConflictError(self._found)


def _raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


def _document(found: Any) -> Document:
    assert isinstance(found, dict), "an object stays an object"
    return found


def _conflict(error: ApplyConflictError) -> ApiError:
    causes = [
        Cause("FieldManagerConflict", each.field, f"conflict with {each.manager}")
        for each in error.conflicts
    ]
    return ApiError(409, "Conflict", str(error), causes=causes)
