"""Objects of one version, read and written as Kubernetes' API does it."""

import contextlib
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec

from trundle._clock import Clock
from trundle.api._admission import Admission, Placed
from trundle.api._bodies import as_json, document_of, patched_document
from trundle.api._deletions import deletion_of
from trundle.api._documents import (
    equal_content,
    object_of,
    require_object,
    shown_object,
    text_of,
    values_of,
    with_tidy_metadata,
    without_version,
)
from trundle.api._metadata_rules import finalizer_warnings, kept_owner_causes
from trundle.api._object_reads import ObjectReads
from trundle.api._other_versions import OtherVersions
from trundle.api._patches import APPLY, PATCHES, patch_of
from trundle.api._reading import Reading, explained
from trundle.api._removals import Removals
from trundle.api._requests import Answer, Request, Target
from trundle.api._requirements import (
    generated_name,
    metadata_of,
    name_causes,
    require_configuration,
    require_kept,
    require_named,
    require_namespace,
    require_new,
    require_same,
    require_same_kind,
    require_some_name,
    require_version,
)
from trundle.api._status import ApiError, bad_request, invalid, modified
from trundle.api._status_part import leaves_out, stated_of, status_apart
from trundle.api._steps import Lookup, Steps, Storing
from trundle.api._validation import Validators
from trundle.api._views import OWNERS, Failed
from trundle.api.apply import STATUS
from trundle.errors import TrundleError
from trundle.runtime import Lenience
from trundle.store import (
    ConflictError,
    NoSuchObjectError,
    PreparedWrite,
    Store,
    StoredObject,
    Write,
)

_OF_DELETION = frozenset({"deletionTimestamp", "deletionGracePeriodSeconds"})
"""What a new object does not have, whatever its document says."""
_ATTEMPTS = 8
"""How often a patch is tried anew over what another client wrote meanwhile."""

_NOTHING: Mapping[str, Any] = {}
_decode = msgspec.json.decode


class Wanted(NamedTuple):
    """What a request wants an object to be.

    Attributes:
        document: the object from now on, with its owners.
        draft: what that makes of the object, where it is known.
        is_valid: whether its version's schema is known to have nothing against it.
    """

    document: dict[str, Any]
    draft: PreparedWrite | None = None
    is_valid: bool = False


_Current: TypeAlias = Callable[[], dict[str, Any]]
_Prepared: TypeAlias = Callable[[Sequence[bytes]], Write]
"""Prepares a write, with further documents put over what it writes."""


class Resources(ObjectReads):
    """Answers requests about objects.

    Each method raises `ApiError` where the answer is no success.

    What stores an object is in steps (`Steps`), so that requests that come together share what they do with the database.

    Args:
        store: keeps the objects.
        clock: gives the time.
        admit: called with the target of each object that is created; raises `ApiError` where there can be none.
        failed: see `Views`.
        hooks: are asked before objects are written.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        admit: Callable[[Target], None] = lambda _: None,
        failed: Failed = lambda *_: None,
        hooks: Sequence[Placed] = (),
    ) -> None:
        super().__init__(store, failed)
        self._clock = clock
        self._admit = admit
        self._validators = Validators()
        self._admission = Admission(hooks, self.views, self._validators.causes_over)
        self._removals = Removals(self, self._admission)

    def create(self, request: Request) -> Steps:
        """Stores a new object."""
        document = document_of(request)
        reading = Reading(request, document)
        reading.note_metadata(document)
        with reading.heard(request.target, self._unknown(request.target, document)):
            return (yield from self._create_as(request, document, reading))

    def _create_as(self, request: Request, document: dict[str, Any], reading: Reading) -> Steps:
        """Stores what a document says as a new object."""
        target = request.target
        reading.require_strict(target)
        metadata = {
            key: each for key, each in metadata_of(document).items() if key not in _OF_DELETION
        }
        require_namespace(target, metadata)
        name = metadata.get("name") or generated_name(metadata.get("generateName")) or ""
        target = msgspec.structs.replace(target, name=name)
        self._admit(target)
        document = {**document, "metadata": {**metadata, "name": name}}
        require_same_kind(target, document)
        stated = self.made(target, document)
        if leaves_out(target, {}, document):
            reading.note_left_out(target, self._unknown(target, document))
        wrong = name_causes(target, metadata.get("generateName"))
        made = stated, wrong, reading.text(stated)
        reading.note_broken(self._validators.require_valid(target, None, *made))
        if (metadata.get("resourceVersion") or "").strip("0").isdecimal():
            raise bad_request("resourceVersion should not be set on objects to be created")
        draft, read = self._read(target, reading, stated)
        ownership = self.views.ownership(target.kind, target.served)
        owned = ownership.after_update({}, read, request.manager, self._clock())
        return (yield from self._create(request, target, reading, _owned(draft, owned)))

    def _create(
        self, request: Request, target: Target, reading: Reading, draft: PreparedWrite
    ) -> Steps:
        if request.creation_refusal is not None:
            raise request.creation_refusal

        def prepared(further: Sequence[bytes]) -> Write:
            return self.store.creation(draft, further=further)

        with reading.explained(target):
            tried = self._tried(prepared)
            further, warned = self._admission.writing(request, target, None, tried)
            made = yield from self._stored(prepared(further), dry_run=request.dry_run)
            added = finalizer_warnings(target, (), made.finalizers)
            warnings = (*reading.warnings, *added, *warned)
            if request.dry_run:
                body = self.answered(made, request, target, without_version)
                return Answer(body, 201, warnings)
            self._admit_again(target, made)
            return Answer(self.answered(made, request, target), 201, warnings)

    def _stored(self, write: Write, *, dry_run: bool) -> Generator[Storing, None, StoredObject]:
        """The object after a write.

        Raises:
            TrundleError: it is refused.
        """
        if dry_run:
            return self.store.tried(write).object
        yield Storing(self.store, write)
        return write.outcome().object

    def _tried(self, prepared: _Prepared) -> Callable[[Sequence[bytes]], StoredObject]:
        """What writes would store, as hooks are shown it."""
        return lambda further: self.store.tried(prepared(further)).object

    def _admit_again(self, target: Target, made: StoredObject) -> None:
        """Takes an object back where there can be none any more, as its namespace was deleted meanwhile."""
        try:
            self._admit(target)
        except ApiError:
            with contextlib.suppress(NoSuchObjectError, ConflictError):
                self.store.delete(made.key, uid=made.uid)
            raise

    def replace(self, request: Request) -> Steps:
        """Puts a document over an object; what its version cannot see stays as it was."""
        target = request.target
        document = document_of(request)
        metadata = metadata_of(document)
        reading = Reading(request, document)
        reading.note_metadata(document)
        with reading.heard(target, self._unknown(target, document)):
            reading.require_strict(target)
            require_some_name(target, metadata)
            require_named(target, metadata)
            require_namespace(target, metadata)
            return (yield from self._write(request, lambda _: document, reading))

    def patch(self, request: Request) -> Steps:
        """Changes an object by a patch, or applies a configuration to it."""
        if request.media_type == APPLY:
            return (yield from self._apply(request))
        apply = patch_of(request.media_type, request.target.kind)

        def changed(current: _Current) -> dict[str, Any]:
            patched = require_object(apply(current(), values_of(request.body)))
            return patched_document(patched, request.body, request.target)

        return (yield from self._write(request, changed, Reading(request)))

    def _apply(self, request: Request) -> Steps:
        """Applies a configuration; an object that is not there is created."""
        target = request.target
        text = as_json(request.body)
        config = object_of(text)
        require_configuration(target, config)
        config = patched_document(config, text, target)
        said = metadata_of(config)
        require_namespace(target, said)
        require_named(target, said)
        if "name" in said:
            require_some_name(target, said)
        config["metadata"] = {"name": target.name, **said}
        # A status may be null, whether it is written here or not.
        stated = {key: x for key, x in config.items() if key != STATUS or x is not None}
        force = "force" in request.query and request.flag("force")
        reading = Reading(request, applying=True)
        reading.note_metadata(config)
        reading.require_strict(target)
        ownership = self.views.ownership(target.kind, target.served)

        def after(live: dict[str, Any], current: StoredObject | None) -> Wanted:
            if leaves_out(target, {}, stated):
                stored = None if current is None else current.data
                reading.note_left_out(target, self._unknown(target, stated, stored))
            has_nulls = self._validators.has_nulls(target, stated)
            if live:
                require_same(target, live, config, patched=True)
                if "resourceVersion" in said:
                    require_version(target, said)
                require_kept(target, live, config)
            with explained(target):
                by = request.manager, self._clock(), target.subresource
                others = None if current is None else self._others(target, reading, current, live)
                at = (others.applied, others) if others else ()
                owned = ownership.after_apply(live, config, *by, *at, force=force)
            wanted = with_tidy_metadata(owned)
            if has_nulls:
                written = self.changed(target, live, wanted) if live else self.made(target, wanted)
                self._validators.require_nulls(target, live, written)
            wanted = self._validators.of(target).without_nulls(wanted, live)
            draft = None if others is None else others.applied_draft
            return Wanted(wanted, None if draft is None else _owned(draft, wanted))

        try:
            return (yield from self.write(request, after, reading))
        except ApiError as error:
            if error.reason != "NotFound" or target.subresource:
                raise
        require_new(target, said)
        self._admit(target)
        made = self.made(target, after({}, None).document)
        wrong = name_causes(target, said.get("generateName"))
        reading.note_broken(self._validators.require_valid(target, None, made, wrong))
        with reading.explained(target):
            draft = self._draft(target, made, reading.lenience)
        return (yield from self._create(request, target, reading, draft))

    def delete(self, request: Request) -> Answer:
        """Deletes an object, or marks it as deleted while it has finalizers."""
        return self._removals.one(request)

    def delete_all(self, request: Request) -> Answer:
        """Deletes all objects that selectors choose, or as many of them as a client limits it to."""
        target = request.target
        # What makes no sense deletes nothing, and is refused where nothing is there, too.
        deletion_of(request)
        listed = self.get_all(Request(target, request.query))
        warnings: dict[str, None] = {}
        for each in _decode(listed.body)["items"]:
            namespace, name = each["metadata"].get("namespace", ""), each["metadata"]["name"]
            one = Target(target.kind, target.served, namespace, name)
            try:
                done = self.delete(msgspec.structs.replace(request, target=one))
                warnings |= dict.fromkeys(done.warnings)
            except ApiError as error:
                if error.reason != "NotFound":  # Another client was quicker.
                    raise
        return listed._replace(warnings=tuple(warnings))

    def _write(
        self, request: Request, change: Callable[[_Current], dict[str, Any]], reading: Reading
    ) -> Steps:
        """Writes what a change makes of an object.

        Args:
            request: the request.
            change: gives the client's document; it may ask for the object as clients see it.
            reading: how that is read.
        """
        target = request.target
        ownership = self.views.ownership(target.kind, target.served)

        def after(live: dict[str, Any], current: StoredObject) -> Wanted:
            document = change(lambda: object_of(ownership.shown(text_of(live))))
            reading.note_metadata(document)
            with reading.heard(target, self._unknown(target, document, current.data)):
                reading.require_strict(target)
                require_same(target, live, document, patched=request.media_type in PATCHES)
                require_version(target, metadata_of(document))
                require_kept(target, live, document)
                require_same_kind(target, document)
                if causes := [*kept_owner_causes(metadata_of(document))]:
                    raise invalid(target.kind, target.name, causes)
                wanted = status_apart(target, live, document)
                if leaves_out(target, live, document):
                    unknown = self._unknown(target, document, current.data)
                    reading.note_left_out(target, unknown)
                written = wanted, (), reading.text(wanted)
                reading.note_broken(self._validators.require_valid(target, live, *written))
                draft, read = self._read(target, reading, wanted, current, live)
            by = request.manager, self._clock(), target.subresource
            others = self._others(target, reading, current, live)
            owned = ownership.after_update(
                live, read, *by, lambda _, kept: others.written(draft, kept)
            )
            return Wanted(owned, _owned(draft, owned), is_valid=equal_content(read, wanted))

        return (yield from self.write(request, after, reading))

    def write(
        self,
        request: Request,
        after: Callable[[dict[str, Any], StoredObject], Wanted],
        reading: Reading | None = None,
    ) -> Steps:
        """Writes what an object becomes; over what another client wrote meanwhile, again.

        Args:
            request: the request.
            after: gives the object from now on, with its owners, from what it was, as clients see it and as it is stored.
            reading: how the client's document is read.
        """
        target = request.target
        reading = reading or Reading(request)
        for _ in range(_ATTEMPTS):
            with explained(target):
                lookup = Lookup(self.store, self.key(target))
                yield lookup
                current = lookup.outcome()
                before = shown_object(self.views.kept(current, target.kind, target.served))
            found = after(before, current)
            with contextlib.suppress(ConflictError), reading.heard(target):
                return (yield from self._over(request, current, before, found, reading))
        raise modified(target.kind, target.name)

    def _over(
        self,
        request: Request,
        current: StoredObject,
        before: dict[str, Any],
        found: Wanted,
        reading: Reading,
    ) -> Steps:
        """Writes what an object becomes over the object that was read; see `write`.

        Raises:
            ConflictError: another client wrote meanwhile.
        """
        target = request.target
        wanted = self.changed(target, before, found.document)
        same = wanted == before and text_of(wanted) == text_of(before)
        if not same and not found.is_valid:
            reading.note_broken(self._validators.require_valid(target, before, wanted))
        prepared = self._replacing(target, current, wanted, found, reading.lenience)
        try:
            tried = self._tried(prepared)
            further, warned = self._admission.writing(request, target, current, tried)
            written = current
            if further or not same:
                write = prepared(further)
                written = yield from self._stored(write, dry_run=request.dry_run)
        except ConflictError:
            raise
        except TrundleError as error:
            raise reading.answer_to(error, target) from error
        if request.dry_run:  # The object stays the one that the client read.
            written = msgspec.structs.replace(written, resource_version=current.resource_version)
        with explained(target):
            body = self.answered(written, request, target)
            added = finalizer_warnings(target, current.finalizers, written.finalizers)
            return Answer(body, 200, (*reading.warnings, *added, *warned))

    def _replacing(
        self,
        target: Target,
        current: StoredObject,
        wanted: dict[str, Any],
        found: Wanted,
        lenience: Lenience,
    ) -> _Prepared:
        """Puts a document over an object that was read, and further ones over that."""

        def prepared(further: Sequence[bytes]) -> Write:
            draft = found.draft if wanted == found.document else None
            if draft is None:
                draft = self._draft(target, wanted, lenience, current)
            counts = target.subresource != STATUS
            return self.store.replacement(draft, current, counts=counts, further=further)

        return prepared

    def _draft(
        self,
        target: Target,
        document: dict[str, Any],
        lenience: Lenience,
        current: StoredObject | None = None,
    ) -> PreparedWrite:
        key = self.key(target)
        return self.views.draft(key, document, target.kind, target.served, lenience, current)

    def _others(
        self, target: Target, reading: Reading, current: StoredObject, live: dict[str, Any]
    ) -> OtherVersions:
        """A write over an object as other versions show it."""

        def draft(wanted: dict[str, Any]) -> PreparedWrite:
            written = self.changed(target, live, wanted)
            written = self._validators.of(target).without_nulls(written, live)
            return self._draft(target, written, reading.lenience, current)

        return OtherVersions(self.views, target, current, draft, reading.lenience)

    def _read(
        self,
        target: Target,
        reading: Reading,
        document: dict[str, Any],
        current: StoredObject | None = None,
        live: Mapping[str, Any] = _NOTHING,
    ) -> tuple[PreparedWrite, dict[str, Any]]:
        """What a client's document makes of an object, with the owners as before; and the document as it is read.

        That has defaults, no nulls, no unknown fields, and the owners that the client names.
        """
        nulls = self._validators.of(target)
        document = nulls.without_nulls(document, live, reading.text(document))
        with reading.explained(target):
            as_before = _with_owners(document, _owners(live))
            draft = self._draft(target, as_before, reading.lenience, current)
            read = self.views.drafted(draft, target.kind, target.served, current)
        return draft, _with_owners(read, _owners(document))

    def _unknown(
        self, target: Target, document: dict[str, Any], stored: bytes | None = None
    ) -> Callable[[], Sequence[str]]:
        """What finds the unknown fields of a client's document, which may be wrong otherwise."""
        return lambda: self.views.unknown(document, target.kind, target.served, stored)

    def changed(
        self, target: Target, before: dict[str, Any], after: dict[str, Any]
    ) -> dict[str, Any]:
        """What of a document is written over an object: only its status, or all but that, where it is written apart."""
        return status_apart(target, before, after)

    def made(self, target: Target, document: dict[str, Any]) -> dict[str, Any]:
        """What of a new object is stored: all but its status, where that is written apart."""
        return stated_of(target, document)


def _owners(document: Mapping[str, Any]) -> Any:
    """The owners that a document names; None where it names none."""
    return metadata_of(document).get(OWNERS)


def _owned(draft: PreparedWrite, document: dict[str, Any]) -> PreparedWrite:
    """A draft with the owners that a document names."""
    owners = _owners(document)
    metadata = {OWNERS: None if owners is None else text_of(owners)}
    return msgspec.structs.replace(draft, metadata=metadata)


def _with_owners(document: dict[str, Any], owners: Any) -> dict[str, Any]:
    """A document with other owners of its fields; None for none at all."""
    metadata = {key: each for key, each in metadata_of(document).items() if key != OWNERS}
    return {**document, "metadata": metadata if owners is None else {**metadata, OWNERS: owners}}
