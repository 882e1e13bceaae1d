"""Asks hooks about writes: shows them objects at the version that they know, and takes over what they change."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from trundle.api._documents import object_of, text_of, to_scheme
from trundle.api._kinds import ServedKind, ServedVersion
from trundle.api._requests import Request, Target
from trundle.api._requirements import metadata_of
from trundle.api._status import ApiError, Cause, internal, invalid
from trundle.api._views import OWNERS, Views
from trundle.api.admission import (
    AdmissionHookError,
    AdmissionRequest,
    DeniedError,
    Names,
    PythonHook,
    Reviewer,
    Webhook,
    WebhookError,
)
from trundle.api.apply import restricted
from trundle.errors import Code, ExpectationError, Kind, TrundleError, listed
from trundle.project import AdmissionHook, AdmissionOperation
from trundle.runtime import Lenience
from trundle.store import StoredObject

Put: TypeAlias = Callable[[Sequence[bytes]], StoredObject]
"""What a write would store, with further documents put over it; nothing is stored."""

Causes: TypeAlias = Callable[[Target, Mapping[str, Any], Mapping[str, Any] | None], list[Cause]]
"""What the schema of a target's version has against a document."""

_HELD = ("name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp")  # fmt: skip
_OF_STORED = ("uid", "resourceVersion", "generation", "creationTimestamp")
_OPTIONS: Mapping[AdmissionOperation, Sequence[str]] = {
    "create": ("fieldManager", "fieldValidation"),
    "update": ("fieldManager", "fieldValidation"),
    "delete": ("propagationPolicy",),
}
_STRICT = Lenience(nulls=True, defaults=True, unknown="error")


class AdmissionCode(Code):
    """What can be wrong with where a hook stands."""

    NOT_SERVED = "not-served"


class AdmissionConfigError(ExpectationError):
    """A hook cannot stand where the project file puts it."""

    code = AdmissionCode.NOT_SERVED
    kind = Kind.REFUSED


class Placed(NamedTuple):
    """A hook, and what it is asked about.

    Attributes:
        kind: the resource type.
        served: the version at which it sees objects.
        reviewer: is asked.
    """

    kind: ServedKind
    served: ServedVersion
    reviewer: Reviewer


class Admitted(NamedTuple):
    """What hooks make of a write.

    Attributes:
        further: the documents that are put over the client's, one after another.
        warnings: what the client shows its user.
    """

    further: tuple[bytes, ...] = ()
    warnings: tuple[str, ...] = ()


def placed(
    kinds: Iterable[ServedKind], hooks: Iterable[AdmissionHook], complain: Callable[[str], None]
) -> tuple[Placed, ...]:
    """The hooks of a project by what they are asked about, in the order of its file.

    Args:
        kinds: the resource types that are served.
        hooks: the hooks.
        complain: is given what goes wrong with a webhook where no client is answered so.

    Raises:
        AdmissionConfigError: a resource type or version is not served.
    """
    kinds = tuple(kinds)
    found = []
    for hook in hooks:
        rule = hook.rule
        named = [each for each in kinds if rule.type.casefold() in _known_as(each)]
        if len(named) != 1:
            expected, what = "one resource type that is served", f"{len(named)} called {rule.type}"
            advice = f"write one of {listed(each.resource for each in kinds)}"
            raise AdmissionConfigError(rule.where, expected, what, advice)
        (kind,) = named
        served = [each for each in kind.versions.values() if each.is_version(rule.version)]
        if not served:
            expected = f"a version of {rule.type} that is served"
            advice = f"write one of {listed(each.version for each in kind.versions.values())}"
            raise AdmissionConfigError(rule.where, expected, str(rule.version), advice)
        reviewer: Reviewer = PythonHook(rule.use, hook.hook)
        if rule.webhook is not None:
            reviewer = Webhook(rule.webhook, hook.authorities, complain)
        found.append(Placed(kind, served[0], reviewer))
    return tuple(found)


def _known_as(kind: ServedKind) -> set[str]:
    last = kind.resource.rpartition("/")[2]
    return {each.casefold() for each in (kind.resource, last, f"{kind.group}/{last}")}


class Admission:
    """Asks hooks about writes, in the order of the project file. Each sees what those before it changed.

    Args:
        hooks: the hooks.
        views: shows objects.
        causes: validates what hooks change.
    """

    def __init__(self, hooks: Iterable[Placed], views: Views, causes: Causes) -> None:
        self._hooks = tuple(hooks)
        self._views = views
        self._causes = causes

    def handles(self, kind: ServedKind, operation: AdmissionOperation) -> bool:
        """Whether any hook is asked about an operation on a resource type."""
        return any(self._asked(kind, operation))

    def _asked(self, kind: ServedKind, operation: AdmissionOperation) -> Iterable[Placed]:
        return (
            each for each in self._hooks if each.kind is kind and each.reviewer.handles(operation)
        )

    def writing(
        self, request: Request, target: Target, old: StoredObject | None, put: Put
    ) -> Admitted:
        """Asks about an object that is created or replaced.

        Args:
            request: the client's request.
            target: what it writes.
            old: the object as it is; None where it is created.
            put: gives what would be stored.

        Raises:
            ApiError: a hook refuses it, or fails.
            TrundleError: what `put` raises.
        """
        operation: AdmissionOperation = "create" if old is None else "update"
        further: list[bytes] = []
        warnings: list[str] = []
        new: StoredObject | None = None
        for hook in self._asked(target.kind, operation):
            new = new or _as_before(put(further), old)
            changed = self._asked_about_write(hook, request, target, old, new, warnings)
            if changed is not None:
                further.append(changed)
                new = None
        return Admitted(tuple(further), tuple(warnings))

    def deleting(
        self, request: Request, target: Target, old: StoredObject, *, dry_run: bool
    ) -> tuple[str, ...]:
        """Asks about an object that is deleted; gives what the client shows its user.

        Raises:
            ApiError: a hook refuses it, or fails.
        """
        warnings: list[str] = []
        for hook in self._asked(target.kind, "delete"):
            shown = self._shown(hook, old)[0]
            question = _question(hook, "delete", replace(request, target=target), None, shown)
            question.dry_run = dry_run
            _review(hook, question, warnings)
        return tuple(warnings)

    def _asked_about_write(
        self,
        hook: Placed,
        request: Request,
        target: Target,
        old: StoredObject | None,
        new: StoredObject,
        warnings: list[str],
    ) -> bytes | None:
        """Asks one hook; gives the document that is put over the object, or None where the hook changes nothing."""
        shown, owners = self._shown(hook, new)
        if old is None:
            for each in _OF_STORED:
                shown["metadata"].pop(each, None)
        before = text_of(shown)
        operation: AdmissionOperation = "create" if old is None else "update"
        kept = None if old is None else self._shown(hook, old)[0]
        question = _question(hook, operation, replace(request, target=target), shown, kept)
        _review(hook, question, warnings)
        with _Failing(hook, question.operation):
            after = _document(question.object)
            known = object_of(before)
            if text_of(after) == before:
                return None
            _require_held(known, after)
            if target.kind.keeps_status(target.served):
                after = dict(restricted(target.subresource, known, after))
            seen = replace(target, served=hook.served)
            before_causes = self._causes(seen, known, kept)
            if new_causes := [x for x in self._causes(seen, after, kept) if x not in before_causes]:
                raise AdmissionHookError(str(invalid(target.kind, target.name, new_causes)))
            if owners is not None:
                after["metadata"] = {**after["metadata"], OWNERS: owners}
            read = self._views.as_read(after, hook.kind, hook.served, _STRICT, new.data)
        return to_scheme(read, hook.kind, hook.served)

    def _shown(self, hook: Placed, found: StoredObject) -> tuple[dict[str, Any], Any]:
        """An object as a hook sees it, and the owners of its fields."""
        with _Failing(hook, "read"):
            document = object_of(self._views.kept(found, hook.kind, hook.served))
        return document, document["metadata"].pop(OWNERS, None)


def _question(
    hook: Placed, operation: AdmissionOperation, request: Request, shown: Any, old: Any
) -> AdmissionRequest:
    """What a hook is asked about a request.

    Args:
        hook: the hook.
        operation: what happens to the object.
        request: the request, with the object as its target.
        shown: the object at the hook's version.
        old: the object as it was, there.
    """
    target = request.target
    return AdmissionRequest(
        operation,
        shown,
        old,
        request.user,
        target.namespace,
        target.name,
        target.subresource,
        request.dry_run,
        _names(target.kind, hook.served),
        _names(target.kind, target.served),
        _options(request, operation),
    )


def _options(request: Request, operation: AdmissionOperation) -> dict[str, Any]:
    """The client's options: in the body of a deletion, else in the query."""
    if operation == "delete" and request.body.strip():
        return object_of(request.body)
    found: dict[str, Any] = {
        key: request.query[key] for key in _OPTIONS[operation] if request.query.get(key)
    }
    if request.dry_run:
        found["dryRun"] = ["All"]
    return found


def _names(kind: ServedKind, served: ServedVersion) -> Names:
    return Names(kind.group, served.label, kind.kind, kind.plural)


def _as_before(new: StoredObject, old: StoredObject | None) -> StoredObject:
    """What would be stored, with the resource version that the client wrote over."""
    if old is None:
        return new
    return replace(new, resource_version=old.resource_version)


def _review(hook: Placed, question: AdmissionRequest, warnings: list[str]) -> None:
    """Asks a hook.

    Raises:
        ApiError: it refuses, or fails.
    """
    try:
        with _Failing(hook, question.operation):
            hook.reviewer.review(question)
    except ApiError as error:
        raise error.with_warnings([*warnings, *map(str, question.warnings)]) from error.__cause__
    warnings += map(str, question.warnings)
    if not question.refusals:
        return
    kind, name = hook.kind, question.name
    if any(field for _, field in question.refusals):
        causes = [
            Cause("FieldValueForbidden", str(field), f"Forbidden: {message}")
            for message, field in question.refusals
        ]
        raise invalid(kind, name, causes).with_warnings(warnings)
    text = "; ".join(str(message) for message, _ in question.refusals)
    details = {"name": name, "group": kind.group, "kind": kind.plural}
    message = f'{kind.qualified} "{name}" is forbidden: {text}'
    raise ApiError(403, "Forbidden", message, details).with_warnings(warnings)


class _Failing:
    """Turns what a hook does wrong into an answer that names it."""

    def __init__(self, hook: Placed, doing: str) -> None:
        self._hook = hook
        self._doing = doing

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, DeniedError):
            raise ApiError(**error.status) from error
        if isinstance(error, WebhookError):
            raise internal(str(error)) from error
        if isinstance(error, TrundleError):
            version = self._hook.served.version
            what = (
                f"{self._hook.reviewer.name} at {self._doing} of {self._hook.kind.kind} {version}"
            )
            raise internal(f"the admission hook {what} failed: {error}") from error


def _document(given: Any) -> dict[str, Any]:
    """The object that a hook leaves, as JSON values of its own.

    Raises:
        AdmissionHookError: it is no JSON object.
    """
    try:
        _require_finite(given)
        return object_of(text_of(given))
    except RecursionError:
        raise AdmissionHookError("it left an object that is nested too deeply") from None
    except (TypeError, ValueError, OverflowError, msgspec.MsgspecError) as error:
        raise AdmissionHookError(f"it left what is no JSON: {error}") from None
    except ApiError as error:
        raise AdmissionHookError(f"it left no object: {error}") from None


def _require_finite(value: Any) -> None:
    if isinstance(value, float | Decimal) and not math.isfinite(value):
        raise AdmissionHookError(f"it left the number {value}, which JSON does not have")
    for each in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        _require_finite(each)


def _require_held(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Raises where a hook makes another object of the one that it was asked about.

    Raises:
        AdmissionHookError: it does.
    """
    was, found = metadata_of(before), metadata_of(after)
    pairs = {each: (before.get(each), after.get(each)) for each in ("apiVersion", "kind")}
    pairs |= {f"metadata.{each}": (was.get(each), found.get(each)) for each in _HELD}
    if changed := [name for name, (one, other) in pairs.items() if one != other]:
        raise AdmissionHookError(f"it changed {listed(changed)}")
