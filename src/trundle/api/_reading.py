"""How a client's document is read, and what errors about it become."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from trundle.api._documents import text_of
from trundle.api._metadata_types import repeated_owners, unknown_members
from trundle.api._patches import APPLY, JSON, PATCHES, unknown_of_operations
from trundle.api._requests import Request, Target
from trundle.api._status import ApiError, Cause, answer_to, bad_request, field_of, invalid
from trundle.documents import repeated_places
from trundle.errors import TrundleError
from trundle.runtime import DocumentError, Lenience, Tolerated, ValueCode


class Reading:
    """How a document is read, and what was tolerated about it.

    Args:
        request: the request.
        document: the document in its body, where it was read already.
        applying: whether it is a configuration that is applied.

    Attributes:
        lenience: what is tolerated: nulls are dropped, defaults filled in, unknown fields as the client asks for.
    """

    def __init__(
        self,
        request: Request,
        document: Mapping[str, Any] | None = None,
        *,
        applying: bool = False,
    ) -> None:
        self._spelt: tuple[Mapping[str, Any] | None, bytes] = None, b""
        self._applying = applying
        self._patching = request.media_type in PATCHES
        # What is not there has no owner.
        self._strict = applying or request.field_validation == "Strict"
        self._warns = request.field_validation == "Warn"
        self._tolerated: list[Tolerated] = []
        self._noted: Mapping[str, Any] | None = None
        self._metadata: list[str] = []
        self._owners: list[str] = []
        self._unknown: list[str] = []
        self._of_body: list[str] = []
        """What stands again in the body, and what is unknown in operations, as it is said."""
        # Of a configuration, YAML's own reader refuses what stands again.
        if (self._strict or self._warns) and request.media_type != APPLY:
            text = None if document is None else self.text(document)
            self._of_body = _of_body(request, text)
        self._broken: Sequence[str] = ()
        self._namespace = ""
        self._is_heard = False
        self.lenience = Lenience(
            nulls=True,
            defaults=True,
            unknown="error" if self._strict else "prune",
            report=self._tolerated.append,
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the client shows its user."""
        always = (*_of_owners(self._owners, patched=self._patching), *self._broken)
        if not self._warns:
            return always
        unknown = (each for each in self._tolerated if each.expected == "a known property")
        found = {*self._metadata, *self._unknown, *(field_of(each.path) for each in unknown)}
        return (*always, *self._of_body, *_unknown_fields(found))

    def text(self, document: Mapping[str, Any]) -> bytes:
        """A document of the client as JSON; the last one is known, and does not change any more."""
        known, text = self._spelt
        if known is not document:
            text = text_of(document)
            self._spelt = document, text
        return text

    def note_metadata(self, document: Mapping[str, Any]) -> None:
        """Notes the namespace that a document names, and the unknown members of its metadata."""
        if document is self._noted:
            return
        self._noted = document
        metadata = document.get("metadata")
        found = metadata if isinstance(metadata, Mapping) else {}
        self._metadata = unknown_members(found)
        self._owners = repeated_owners(found.get("ownerReferences"))
        self._namespace = found.get("namespace") or ""

    def note_broken(self, warnings: Sequence[str]) -> None:
        """Notes what rules of the schema have against what stays as it was."""
        self._broken = warnings

    def require_strict(self, target: Target) -> None:
        """Raises where members stand in the document again, or unknown ones of the metadata were noted, and the client wants none.

        Raises:
            ApiError: there are some.
        """
        if self._strict and (self._metadata or self._of_body):
            raise self._refused((), target)

    def note_left_out(self, target: Target, unknown: Callable[[], Sequence[str]]) -> None:
        """Notes the unknown fields of a document of which a part is not written, so that nothing else finds those in it.

        Raises:
            ApiError: there are some, and the client wants none.
        """
        if self._strict or self._warns:
            self._unknown += unknown()
            if self._strict and self._unknown:
                raise self._refused((), target)

    @contextlib.contextmanager
    def heard(self, target: Target, unknown: Callable[[], Sequence[str]] = tuple) -> Iterator[None]:
        """Says with an error that is raised within what the document has besides; fields that a strict client does not want come before it.

        Args:
            target: what the request is about.
            unknown: the unknown fields of the document, as far as they are not noted.

        Raises:
            ApiError: the answer.
        """
        try:
            yield
        except ApiError as error:
            if self._is_heard:
                raise
            self._is_heard = True
            if self._strict or self._warns:
                self._unknown += unknown()
            if self._strict and (self._unknown or self._metadata or self._of_body):
                raise self._refused((), target) from error
            error.with_warnings(dict.fromkeys((*self.warnings, *error.warnings)))
            raise

    def explained(self, target: Target) -> "Explained":
        """Turns errors within into answers."""
        return Explained(lambda error: self.answer_to(error, target))

    def answer_to(self, error: TrundleError, target: Target) -> ApiError:
        """What the client is answered for an error."""
        if self._strict and isinstance(error, DocumentError) and (found := unknown_of(error)):
            return self._refused(found, target)
        return answer_to(error, target.kind, target.name)

    def _refused(self, unknown: Sequence[str], target: Target) -> ApiError:
        """The answer to unknown and repeated fields. After a patch they are invalid: `kubectl edit` opens its editor again."""
        fields = sorted({*unknown, *self._unknown, *self._metadata})
        said = self._said(fields, target)
        if not self._patching:
            return bad_request(said)
        cause = Cause("FieldValueInvalid", "patch", f"Invalid value: {said}")
        return invalid(target.kind, target.name, [cause])

    def _said(self, fields: list[str], target: Target) -> str:
        """What is said of unknown and repeated fields."""
        kind, version = target.kind.kind, target.kind.api_version(target.served)
        if self._applying:
            what = f"{self._namespace}/{target.name}; {version}, Kind={kind}"
            lines = [f".{each}: field not declared in schema" for each in fields]
            listed = lines[0] if len(lines) == 1 else "errors:\n  " + "\n  ".join(lines)
            return f"failed to create typed patch object ({what}): {listed}"
        strictly = f"strict decoding error: {', '.join([*self._of_body, *_unknown_fields(fields)])}"
        if self._patching:
            return strictly
        return (
            f'{kind} in version "{target.served.label}" cannot be handled as a {kind}: {strictly}'
        )


def unknown_of(error: DocumentError) -> list[str]:
    """The unknown fields that a document is refused for, among other things."""
    found = (each for each in error.findings if each.code is ValueCode.UNKNOWN)
    return [field_of(each.place.path) for each in found]


def _unknown_fields(fields: Iterable[str]) -> list[str]:
    return [f'unknown field "{each}"' for each in sorted(fields)]


def _of_body(request: Request, text: bytes | None) -> list[str]:
    """What stands again in the text of a request, and what is unknown in the operations of a JSON patch.

    Args:
        request: the request.
        text: the document in its body as JSON, where that was read already.
    """
    repeated = repeated_places(request.body, text)
    if request.media_type != JSON:
        return [f'duplicate field "{each}"' for each in repeated]
    unknown = unknown_of_operations(request.body)
    return [
        *(f'json patch duplicate field "{each}"' for each in repeated if each not in unknown),
        *(f'json patch unknown field "{each}"' for each in unknown),
    ]


def _of_owners(repeated: list[str], *, patched: bool) -> tuple[str, ...]:
    """What is said of owner references that stand again, in an API server's words."""
    if not repeated:
        return ()
    text = (
        f".metadata.ownerReferences contains duplicate entries{' after mutating admission happens' if patched else ''}; "
        "API server dedups owner references in 1.20+, and may reject such "
        f"requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {', '.join(repeated)}"
    )
    return (text,)


class Explained:
    """Turns errors of Trundle into answers."""

    def __init__(self, answer: Callable[[TrundleError], ApiError]) -> None:
        self._answer = answer

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, TrundleError):
            raise self._answer(error) from error


def explained(target: Target) -> Explained:
    return Explained(lambda error: answer_to(error, target.kind, target.name))
