"""What a CRD was before it was adopted, kept in an annotation of it, so that it can be given back."""

import base64
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trundle.kubernetes._definitions import STORAGE
from trundle.kubernetes._errors import DefinitionError

_INJECTING = tuple(
    f"cert-manager.io/inject-{each}" for each in ("apiserver-ca", "ca-from", "ca-from-secret")
)
"""Annotations by which cert-manager writes an authority into the conversion; it would write that of the former webhook."""


@dataclass(frozen=True, slots=True)
class Former:
    """A CRD as it was.

    Attributes:
        spec: its `spec`.
        annotations: what it said about the authority of its webhook.
    """

    spec: Mapping[str, Any]
    annotations: Mapping[str, str]

    @property
    def storage(self) -> str:
        """The version that objects were stored at."""
        return next(str(each["name"]) for each in self.spec["versions"] if each.get("storage"))

    @property
    def text(self) -> str:
        """As an annotation has it: compressed, since the schemas of some CRDs have half a megabyte."""
        plain = {"spec": self.spec, "annotations": self.annotations}
        packed = gzip.compress(json.dumps(plain, separators=(",", ":")).encode(), mtime=0)
        return base64.b64encode(packed).decode()


def former_name(group: str) -> str:
    """The annotation of an adopted CRD."""
    return f"{group}/adopted"


def former_of(crd: Mapping[str, Any]) -> Former | None:
    """What an adopted CRD was; None for one that was not adopted.

    Raises:
        DefinitionError: the annotation was changed, and cannot be read.
    """
    annotations = crd["metadata"].get("annotations") or {}
    name = former_name(crd["spec"]["group"])
    if name not in annotations:
        return None
    try:
        found = json.loads(gzip.decompress(base64.b64decode(annotations[name], validate=True)))
        return Former(found["spec"], found["annotations"])
    except (OSError, EOFError, ValueError, LookupError, TypeError) as error:
        where = f"CRD {crd['metadata']['name']}: {name}"
        advice = "put the annotation back as it was, or the CRD by hand"
        raise DefinitionError(where, "what the CRD was", str(error), advice) from None


def as_it_is(crd: Mapping[str, Any]) -> Former:
    """A CRD that is about to be adopted."""
    annotations = crd["metadata"].get("annotations") or {}
    return Former(
        crd["spec"], {each: annotations[each] for each in _INJECTING if each in annotations}
    )


def without_injection() -> dict[str, None]:
    """A patch of annotations, after which nothing writes the authority of the former webhook."""
    return dict.fromkeys(_INJECTING)


def storing(versions: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Versions of a CRD, one of which is stored."""
    return [{**each, "storage": each["name"] == name} for each in versions]


def stored_version(crd: Mapping[str, Any]) -> str:
    """The version that objects are stored at."""
    return next(str(each["name"]) for each in crd["spec"]["versions"] if each.get("storage"))


def served_versions(crd: Mapping[str, Any]) -> set[str]:
    """The versions that clients can use."""
    return {str(each["name"]) for each in crd["spec"]["versions"] if each.get("served")}


def has_storage(crd: Mapping[str, Any]) -> bool:
    """Whether a CRD has the version at which Trundle stores."""
    return any(each["name"] == STORAGE for each in crd["spec"]["versions"])


def replacing(before: Any, after: Any) -> Any:
    """The merge patch that makes one value out of another."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return after
    gone = {each: None for each in before if each not in after}
    changed = {
        key: replacing(before.get(key), value)
        for key, value in after.items()
        if before.get(key) != value
    }
    return {**gone, **changed}
