"""How a client's document is read, and what errors about it become."""

from collections.abc import Callable, Mapping
from typing import Any

from trundle.api._duplicates import duplicate_fields
from trundle.api._metadata_types import repeated_owners, unknown_members
from trundle.api._patches import APPLY, JSON, PATCHES
from trundle.api._requests import Request, Target
from trundle.api._status import ApiError, Cause, answer_to, bad_request, field_of, invalid
from trundle.errors import TrundleError
from trundle.runtime import DocumentError, Lenience, Tolerated, ValueCode

_READ_OTHERWISE = frozenset({JSON, APPLY})
"""Bodies that are no object of JSON; of a configuration, YAML's own reader refuses what stands again."""


class Reading:
    """How a document is read, and what was tolerated about it.

    Attributes:
        lenience: what is tolerated: nulls are dropped, defaults filled in, unknown fields as the client asks for.
    """

    def __init__(self, request: Request, name: str, *, applying: bool = False) -> None:
        self._name = name
        self._applying = applying
        self._patching = request.media_type in PATCHES
        # What is not there has no owner.
        self._strict = applying or request.field_validation == "Strict"
        self._warns = request.field_validation == "Warn"
        self._tolerated: list[Tolerated] = []
        self._metadata: list[str] = []
        self._owners: list[str] = []
        self._duplicates: list[str] = []
        if (self._strict or self._warns) and request.media_type not in _READ_OTHERWISE:
            self._duplicates = duplicate_fields(request.body)
        self._namespace = ""
        self.lenience = Lenience(
            nulls=True,
            defaults=True,
            unknown="error" if self._strict else "prune",
            report=self._tolerated.append,
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the client shows its user."""
        owners = _of_owners(self._owners, patched=self._patching)
        if not self._warns:
            return owners
        unknown = (each for each in self._tolerated if each.expected == "a known property")
        found = {*self._metadata, *(field_of(each.path) for each in unknown)}
        return (
            *owners,
            *(f'duplicate field "{each}"' for each in self._duplicates),
            *(f'unknown field "{each}"' for each in sorted(found)),
        )

    def note_metadata(self, document: Mapping[str, Any]) -> None:
        """Notes the namespace that a document names, and the unknown members of its metadata."""
        metadata = document.get("metadata")
        found = metadata if isinstance(metadata, Mapping) else {}
        self._metadata = unknown_members(found)
        self._owners = repeated_owners(found.get("ownerReferences"))
        self._namespace = found.get("namespace") or ""

    def require_strict(self, target: Target) -> None:
        """Raises where members stand in the document again, or unknown ones of the metadata were noted, and the client wants none.

        Raises:
            ApiError: there are some.
        """
        if self._strict and (self._metadata or self._duplicates):
            raise self._refused(self._metadata, target)

    def explained(self, target: Target) -> "Explained":
        """Turns errors within into answers."""
        return Explained(lambda error: self.answer_to(error, target))

    def answer_to(self, error: TrundleError, target: Target) -> ApiError:
        """What the client is answered for an error."""
        if self._strict and isinstance(error, DocumentError):
            unknown = [
                field_of(each.place.path)
                for each in error.findings
                if each.code is ValueCode.UNKNOWN
            ]
            if unknown:
                return self._refused([*unknown, *self._metadata], target)
        return answer_to(error, target.kind, self._name)

    def _refused(self, fields: list[str], target: Target) -> ApiError:
        """The answer to unknown fields. After a patch they are invalid: `kubectl edit` opens its editor again."""
        said = self._unknown(sorted(fields), target)
        if not self._patching:
            return bad_request(said)
        cause = Cause("FieldValueInvalid", "patch", f"Invalid value: {said}")
        return invalid(target.kind, self._name, [cause])

    def _unknown(self, fields: list[str], target: Target) -> str:
        """What is said of unknown fields."""
        kind, version = target.kind.kind, target.kind.api_version(target.served)
        if self._applying:
            what = f"{self._namespace}/{self._name}; {version}, Kind={kind}"
            lines = [f".{each}: field not declared in schema" for each in fields]
            listed = lines[0] if len(lines) == 1 else "errors:\n  " + "\n  ".join(lines)
            return f"failed to create typed patch object ({what}): {listed}"
        listed = ", ".join(
            [
                *(f'duplicate field "{each}"' for each in self._duplicates),
                *(f'unknown field "{each}"' for each in fields),
            ]
        )
        strictly = f"strict decoding error: {listed}"
        if self._patching:
            return strictly
        return (
            f'{kind} in version "{target.served.label}" cannot be handled as a {kind}: {strictly}'
        )


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
