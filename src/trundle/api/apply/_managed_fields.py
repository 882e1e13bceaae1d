"""`metadata.managedFields`: read, written, and kept by each write of an object."""

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from trundle.api._recent import Recent
from trundle.api.apply._checking import require_elements
from trundle.api.apply._differences import differences
from trundle.api.apply._fields import (
    EMPTY,
    FieldSet,
    Json,
    Path,
    UnreadableFieldsError,
    decode,
    encode,
    member,
)
from trundle.api.apply._last_applied import MANAGER, applied_by_client, with_last_applied
from trundle.api.apply._owning import (
    NOWHERE,
    ApplyConflictError,
    AtOthers,
    Manager,
    Owned,
    Owners,
    apply,
    hidden_of,
    present,
    pruned_of,
    taken_elsewhere,
    update,
    with_claimed,
)
from trundle.api.apply._shapes import ElementError, Shape
from trundle.api.apply._values import same
from trundle.api.apply._words import SameWords, Words
from trundle.errors import expectation

_UNTRACKED = ("apiVersion", "kind", "metadata")
_UNTRACKED_METADATA = (
    "name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields",
    "resourceVersion",
)  # fmt: skip
_STRIPPED = frozenset(
    {(member(name),) for name in _UNTRACKED}
    | {(member("metadata"), member(name)) for name in _UNTRACKED_METADATA}
)
"""What has no owner."""
_MOST_UPDATERS = 10
KEPT_BY = "trundle.dev/hub"
"""The member of a kept entry that says in whose words its fields are; clients are not shown it."""

APPLIES, UPDATES = "Apply", "Update"
"""The operations of managers."""

_SAME_WORDS = SameWords()
_ENCODE = msgspec.json.Encoder(decimal_format="number").encode
_READ: "Recent[tuple[Manager, Owned]]" = Recent(1024 * 1024)
"""Entries that were read lately, by words and their text: each write reads those of an object several times."""

_OLD_UPDATES = "ancient-changes"
_BEFORE_APPLY = "before-first-apply"


@dataclass(frozen=True, slots=True)
class Writer:
    """A write of an object, as far as it concerns who owns what.

    Attributes:
        name: the field manager that the client names.
        version: the `apiVersion` of the request.
        shape: the shape of objects at that version.
        now: the time, as `2026-01-31T12:00:00Z`.
        subresource: the subresource that is written, or nothing.
        ignored: places that this write cannot change, such as `status` where it is a subresource.
        words: how kept fields are called at the version.
        served: whether objects can be shown at a version; what was owned at others is given up.
    """

    name: str
    version: str
    shape: Shape
    now: str
    subresource: str = ""
    ignored: tuple[Path, ...] = ()
    words: Words = field(default_factory=SameWords)
    served: Callable[[str], bool] = lambda _: True

    def manager(self, operation: str) -> Manager:
        """Who this is when it writes so."""
        version = "" if operation == APPLIES else self.version
        return Manager(self.name or "unknown", operation, version, self.subresource)


def applied(
    writer: Writer,
    live: Json,
    config: Json,
    *,
    force: bool = False,
    at_others: AtOthers = NOWHERE,
) -> Json:
    """An object after a configuration was applied to it.

    Args:
        writer: who applies.
        live: the object; what has only `apiVersion` and `kind` where there is none yet.
        config: the configuration, which has no `managedFields`.
        force: whether the configuration takes over what others own.
        at_others: asked where the version hides what the writer has stated at other ones, and where fields go while it hides what others own.

    Returns:
        The object with its `managedFields` as they are kept; the object as it was where nothing changed.

    Raises:
        ApplyConflictError: others own fields with other values.
        ListError: elements of the configuration's lists cannot be distinguished.
        UnreadableFieldsError: the object's `managedFields` cannot be read.
        ElementError: elements of the object's own lists cannot be distinguished.
    """
    require_elements(writer.shape, config)
    try:
        result = _applied(writer, live, config, at_others, force=force)
    except ApplyConflictError as error:
        if writer.name != MANAGER:
            raise
        own = applied_by_client(writer.shape, _bare(live), writer.version)
        conflicts = [each for each in error.conflicts if each.path not in own]
        if conflicts:
            raise ApplyConflictError(conflicts) from None
        result = _applied(writer, live, config, at_others, force=True)
    if writer.name == MANAGER:
        result = with_last_applied(result, config)
    return _unless_same(live, result)


def _applied(writer: Writer, live: Json, config: Json, at_others: AtOthers, *, force: bool) -> Json:
    owners = _owners(live, writer)
    if not owners:
        first = dataclasses.replace(writer, name=_BEFORE_APPLY)
        owners = _updated(first, _typed(live), _bare(live), {})
    owners = _served(owners, writer)
    manager = writer.manager(APPLIES)
    previous = owners.get(manager)
    before = _bare(live)
    result, owners = apply(
        writer.shape,
        before,
        config,
        owners,
        manager,
        writer.version,
        writer.words,
        force=force,
        ignored=writer.ignored,
        at_others=at_others,
    )
    owners = _stripped(owners, manager)
    own = owners.get(manager)
    if own and previous and (own.fields, own.hidden) == (previous.fields, previous.hidden):
        owners[manager] = replace(previous, version=writer.version)  # It stays as it is written.
    if not same(result, before) and manager in owners:
        owners[manager] = replace(owners[manager], time=writer.now)
    return _with_owners(result, owners, writer)


def updated(writer: Writer, live: Json, new: Json) -> Json:
    """An object after an update, with its `managedFields` as they are kept.

    Owners are not kept for an object in which elements of a list with keys have none of them.

    Args:
        writer: who updates.
        live: the object before; what has only `apiVersion` and `kind` where it is created.
        new: the object as the client wants it. Its own `managedFields` count, so that clients can edit them, unless they
            cannot be read; a list with one empty entry ends that owners are kept. They are in the words of the version.
    """
    created = not live.get("metadata", {}).get("uid")
    before, after = _bare(live), _bare(new)
    owners = _owners_or_none(live, writer)
    given = None if writer.subresource else new.get("metadata", {}).get("managedFields")
    if given:
        owners = _as_given([] if given == [{}] else given, owners)
    if owners or created:
        try:
            owners = _capped(_updated(writer, before, after, _served(owners, writer)))
        except ElementError:  # The owners of such a list cannot be found.
            owners = {}
    result = _with_owners(after, owners, writer)
    return live if same(before, after) and _untimed(live) == _untimed(result) else result


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """An object at another version than that of a write.

    Attributes:
        shape: the shape of objects at that version.
        words: how kept fields are called there.
        before: the object before the write.
        after: the object after it.
    """

    shape: Shape
    words: Words
    before: Json
    after: Json


def hidden_fields(writer: Writer, document: Json) -> FieldSet:
    """What is owned of an object that a writer's version cannot show, as it is kept.

    Args:
        writer: who writes.
        document: the object, with its `managedFields` as they are kept.
    """
    return hidden_of(_owners_or_none(document, writer))


def given_back_elsewhere(elsewhere: Elsewhere, hidden: FieldSet) -> Json | None:
    """An object at another version with what others own there of what an apply takes away; None where that is nothing.

    Args:
        elsewhere: the object there, with what the applier no longer states and without it.
        hidden: what others own that the applier's version cannot show, as it is kept.
    """
    claimed, _ = elsewhere.words.shown(hidden)
    before, after = _bare(elsewhere.before), _bare(elsewhere.after)
    return with_claimed(elsewhere.shape, before, after, claimed)


def given_up_elsewhere(elsewhere: Elsewhere, fields: FieldSet) -> Json | None:
    """An object at another version without kept fields that it shows; None where it has none of them.

    Args:
        elsewhere: the object there; what it is after the write counts.
        fields: the fields, as they are kept.
    """
    shown, _ = elsewhere.words.shown(fields)
    found = pruned_of(elsewhere.shape, elsewhere.after, shown)
    return None if same(found, elsewhere.after) else found


def remaining_elsewhere(elsewhere: Elsewhere, fields: FieldSet) -> FieldSet:
    """Which kept fields an object has at another version; what it is there after the write counts."""
    shown = {each: elsewhere.words.shown(frozenset({each}))[0] for each in fields}
    return present(elsewhere.shape, _bare(elsewhere.after), shown)


def owned_elsewhere(
    writer: Writer, operation: str, document: Json, elsewhere: Elsewhere, *, force: bool
) -> Json:
    """An object after a write, whose writer takes over what another version shows as changed, too.

    Args:
        writer: who writes.
        operation: how: `APPLIES` or `UPDATES`.
        document: the object after the write, with its `managedFields` as they are kept.
        elsewhere: the object at the other version.
        force: whether the writer takes over what others own.

    Raises:
        ApplyConflictError: others own such fields with other values.
    """
    owners, manager = _owners_or_none(document, writer), writer.manager(operation)
    found = differences(elsewhere.shape, _bare(elsewhere.before), _bare(elsewhere.after))
    left = taken_elsewhere(
        owners, manager, found.outside(writer.ignored), elsewhere.words, force=force
    )
    return document if left == owners else _with_owners(document, left, writer)


def shown_fields(kept: Json, words: Words, by: str = "") -> Json:
    """The fields of an entry of `managedFields` in the words of a version; empty where it shows none of them.

    Args:
        kept: the fields as they are kept.
        words: how they are called at the version.
        by: in whose words they are kept, as the entry says it under `KEPT_BY`.

    Raises:
        UnreadableFieldsError: they cannot be read.
    """
    fields = decode(kept or {})
    moved = words.moved(fields, by) if by and by != words.by else fields
    shown, _ = words.shown(moved or EMPTY)
    return encode(shown) if shown else {}


def _as_given(given: Json, kept: Owners) -> Owners:
    """The owners that a client writes, who keep what the client's version cannot show."""
    try:
        found = dict(_read(entry, _SAME_WORDS) for entry in given)
    except UnreadableFieldsError:
        return kept
    hidden = {each: owned.with_fields(EMPTY) for each, owned in kept.items() if owned.hidden}
    for each, owned in found.items():
        known = kept.get(each, owned)
        if known.fields == owned.fields and known is not owned:  # It stays as it is written.
            hidden[each] = replace(known, version=owned.version, time=owned.time)
        else:
            rest = hidden.get(each, owned).hidden
            hidden[each] = Owned(owned.version, owned.fields, owned.time, rest)
    return hidden


def _updated(writer: Writer, live: Json, new: Json, owners: Owners) -> Owners:
    manager = writer.manager(UPDATES)
    taken, left = update(
        writer.shape, live, new, owners, manager, writer.words, ignored=writer.ignored
    )
    taken -= _STRIPPED
    if taken:
        previous = left.get(manager, Owned(writer.version, EMPTY))
        fields = previous.fields | taken
        left[manager] = replace(  # Where it owned them all, they stay as they are written.
            previous.with_fields(fields), version=writer.version, time=writer.now
        )
    return left


def _capped(owners: Owners) -> Owners:
    """Owners of which not too many are updaters; the oldest of a version become one."""
    updaters = [each for each in owners if each.operation == UPDATES]
    updaters.sort(key=lambda each: (owners[each].time or "", each))
    excess = len(updaters) - _MOST_UPDATERS
    firsts: dict[str, Manager] = {}
    for each in updaters:
        if excess <= 0:
            break
        owned = owners[each]
        first = firsts.setdefault(owned.version, each)
        if first is each:
            continue
        old = Manager(_OLD_UPDATES, UPDATES, owned.version, "")
        if old not in owners:
            owners[old] = owners.pop(first)
        joined = owners[old].fields | owned.fields
        owners[old] = replace(owners[old].with_fields(joined), time=owned.time)
        del owners[each]
        excess -= 1
    return owners


def _served(owners: Owners, writer: Writer) -> Owners:
    return {each: owned for each, owned in owners.items() if writer.served(owned.version)}


def _stripped(owners: Owners, manager: Manager) -> Owners:
    if manager not in owners:
        return owners
    own = owners[manager]
    own = own.with_fields(own.fields - _STRIPPED)
    return (
        {**owners, manager: own}
        if own
        else {each: owners[each] for each in owners if each != manager}
    )


def _typed(document: Json) -> Json:
    return {key: document[key] for key in ("apiVersion", "kind") if key in document}


def _bare(document: Json) -> Json:
    """A document without its `managedFields`."""
    if "metadata" not in document:
        return document
    return {**document, "metadata": _others_of_metadata(document)}


def _others_of_metadata(document: Json) -> dict[str, Json]:
    """The members of a document's metadata beside its `managedFields`."""
    found = dict(document.get("metadata", {}))
    found.pop("managedFields", None)
    return found


def _with_owners(document: Json, owners: Owners, writer: Writer) -> Json:
    entries = [_entry(each, owners[each], writer) for each in _in_order(owners)]
    if not entries:
        return _bare(document)
    return {**document, "metadata": {**_others_of_metadata(document), "managedFields": entries}}


def _in_order(owners: Owners) -> list[Manager]:
    return sorted(
        owners,
        key=lambda each: (
            each.operation, owners[each].time or "", each.name, owners[each].version, each.subresource
        ),
    )  # fmt: skip


def _entry(manager: Manager, owned: Owned, writer: Writer) -> dict[str, Json]:
    entry: dict[str, Json] = {
        "manager": manager.name,
        "operation": manager.operation,
        "apiVersion": owned.version,
        "time": owned.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": owned.written or encode(writer.words.kept(owned.fields, owned.hidden)),
        "subresource": manager.subresource,
        KEPT_BY: owned.by if owned.written else writer.words.by,
    }
    return {key: value for key, value in entry.items() if value not in (None, "")}


def _owners(document: Json, writer: Writer) -> Owners:
    """The owners that a document names.

    Raises:
        UnreadableFieldsError: its `managedFields` cannot be read.
    """
    found: Owners = {}
    for place, entry in enumerate(document.get("metadata", {}).get("managedFields") or ()):
        try:
            manager, owned = _read(entry, writer.words)
        except UnreadableFieldsError as error:
            raise UnreadableFieldsError(f"metadata.managedFields[{place}]: {error}") from None
        found[manager] = owned
    return found


def _owners_or_none(document: Json, writer: Writer) -> Owners:
    try:
        return _owners(document, writer)
    except UnreadableFieldsError:
        return {}


def _read(entry: Json, words: Words) -> tuple[Manager, Owned]:
    """The manager that an entry names, and what it owns.

    Raises:
        UnreadableFieldsError: it cannot be read.
    """
    text = _ENCODE(entry)
    found = _READ.get((words, text))
    if found is None:
        found = _read_anew(entry, words)
        _READ.keep((words, text), found, 2 * len(text))
    return found


def _read_anew(entry: Json, words: Words) -> tuple[Manager, Owned]:
    """Like `_read`, for an entry that was not read lately."""
    operation, version = entry.get("operation"), entry.get("apiVersion")
    if operation not in {APPLIES, UPDATES}:
        raise UnreadableFieldsError(expectation("Apply or Update as operation", repr(operation)))
    if not version:
        raise UnreadableFieldsError(expectation("an apiVersion", "none"))
    if entry.get("fieldsType") != "FieldsV1":
        raise UnreadableFieldsError(
            expectation("FieldsV1 as fieldsType", repr(entry.get("fieldsType")))
        )
    written = entry.get("fieldsV1") or {}
    manager = Manager(
        entry.get("manager", ""),
        operation,
        "" if operation == APPLIES else version,
        entry.get("subresource", ""),
    )
    kept, by = decode(written), entry.get(KEPT_BY) or words.by
    moved = kept if by == words.by else words.moved(kept, by)
    if moved is None:
        return manager, Owned(version, EMPTY, entry.get("time"), kept, written, by, foreign=True)
    fields, hidden = words.shown(moved)
    return manager, Owned(version, fields, entry.get("time"), hidden, written, by)


def _unless_same(live: Json, result: Json) -> Json:
    """The object as it was, where at most times of its owners changed."""
    if same(_bare(live), _bare(result)) and _untimed(live) == _untimed(result):
        return live
    return result


def _untimed(document: Json) -> Iterable[Json]:
    entries = document.get("metadata", {}).get("managedFields") or ()
    return [{key: value for key, value in each.items() if key != "time"} for each in entries]
