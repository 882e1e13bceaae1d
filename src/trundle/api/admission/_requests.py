"""The question that a hook is asked about a write."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from trundle.api.access import User
from trundle.project import AdmissionOperation


class Names(NamedTuple):
    """What clients call a resource type at a version.

    Attributes:
        group: the API group.
        version: the version.
        kind: its name in documents.
        plural: its name in URLs.
    """

    group: str
    version: str
    kind: str
    plural: str


_NONE = Names("", "", "", "")


class Refusal(NamedTuple):
    """Why a write is refused.

    Attributes:
        message: what the client's user reads.
        field: the place in the object, e.g. `spec.parts[0].name`; empty where it is about none.
    """

    message: str
    field: str = ""


@dataclass(slots=True)
class AdmissionRequest:
    """A write that is about to be stored: a hook lets it through, refuses it, warns about it, or changes the object.

    Objects are plain JSON values in the shape of the version that the configuration names, whatever version the client uses: with
    `apiVersion`, `kind` and `metadata`, without `managedFields`. A number with a fraction is a `decimal.Decimal`, so that it keeps its digits.

    Attributes:
        operation: `create`, `update` or `delete`.
        object: the object as it would be stored. It is the hook's own: what the hook changes in it is stored. None where it is deleted.
        old: the object as it is; changes to it count for nothing. None where it is created.
        user: who asks.
        namespace: the object's namespace; may be empty.
        name: the object's name.
        subresource: the part of the object that is written: `status`, or empty for all but that. What is changed beside it is dropped.
        dry_run: whether nothing will be stored; a hook that acts on the world must not do so then.
        shown_as: what the resource type is called at the version of `object` and `old`.
        requested_as: what it is called at the version that the client uses.
        options: the client's options, such as `fieldManager`, as Kubernetes' API has them.
        refusals: why it is refused; see `refuse`.
        warnings: what the client shows its user; see `warn`.
    """

    operation: AdmissionOperation
    object: Any
    old: Any
    user: User
    namespace: str
    name: str
    subresource: str = ""
    dry_run: bool = False
    shown_as: Names = _NONE
    requested_as: Names = _NONE
    options: Mapping[str, Any] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def refuse(self, message: str, field: str = "") -> None:
        """Refuses the write. The hook goes on, so that it can say all that is wrong; nothing is stored.

        Args:
            message: what the client's user reads.
            field: the place in the object, e.g. `spec.parts[0].name`, at the version that the hook sees.
        """
        self.refusals.append(Refusal(message, field))

    def warn(self, message: str) -> None:
        """Lets the client show a warning to its user, whatever becomes of the write."""
        self.warnings.append(message)
