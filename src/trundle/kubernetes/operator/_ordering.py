"""In which order the objects of a release are applied, and which of them a new release no longer has."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from trundle.kubernetes._errors import DefinitionError

DEFINITION = "CustomResourceDefinition"
_FIRST = (
    "Namespace",
    DEFINITION,
    "PriorityClass",
    "StorageClass",
    "ServiceAccount",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
    "Secret",
    "ConfigMap",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Service",
)
_LAST = (
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
    "APIService",
)


@dataclass(frozen=True, order=True)
class Part:
    """An object that a release carries.

    Attributes:
        api_version: its group and version.
        kind: its kind.
        namespace: its namespace as it is written; empty where none is.
        name: its name.
        document: the object.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    document: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def group(self) -> str:
        """Its group; empty for the core."""
        return self.api_version.rpartition("/")[0]

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What it is, whatever version it is written in."""
        return self.group, self.kind, self.namespace, self.name

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace + '/' if self.namespace else ''}{self.name}"


def parts_of(documents: Iterable[dict[str, Any]], where: str) -> list[Part]:
    """The objects of some documents; those of a `List` one by one.

    Raises:
        DefinitionError: a document is no object, or an object is there twice.
    """
    found: dict[tuple[str, str, str, str], Part] = {}
    for each in _flat(documents):
        part = _part(each, where)
        if part.identity in found:
            raise DefinitionError(where, f"{part} once", "twice", "leave one of them out")
        found[part.identity] = part
    return list(found.values())


def ordered(parts: Iterable[Part]) -> list[Part]:
    """The order to apply in: namespaces, CRDs, what others refer to, the rest, and admission last."""
    return sorted(parts, key=lambda each: (_rank(each.kind), each))


def leaving(earlier: Iterable[Part], wanted: Iterable[Part]) -> list[Part]:
    """What was applied earlier and is no longer wanted, in the order to delete in."""
    stays = {each.identity for each in wanted}
    return ordered(each for each in earlier if each.identity not in stays)[::-1]


def together(earlier: Iterable[Part], wanted: Iterable[Part]) -> list[Part]:
    """What was applied earlier or is wanted, each once."""
    return ordered({each.identity: each for each in [*earlier, *wanted]}.values())


def _rank(kind: str) -> int:
    if kind in _FIRST:
        return _FIRST.index(kind)
    return len(_FIRST) + (_LAST.index(kind) + 1 if kind in _LAST else 0)


def _flat(documents: Iterable[Any]) -> Iterable[Any]:
    for each in documents:
        if isinstance(each, dict) and each.get("kind") == "List":
            yield from _flat(each.get("items") or [])
        else:
            yield each


def _part(document: Any, where: str) -> Part:
    metadata = document.get("metadata") if isinstance(document, dict) else None
    metadata = metadata if isinstance(metadata, dict) else {}
    texts: Sequence[Any] = (
        [document.get("apiVersion"), document.get("kind"), metadata.get("name")]
        if isinstance(document, dict)
        else [None]
    )
    if not all(isinstance(each, str) and each for each in texts):
        found = "one without" if isinstance(document, dict) else type(document).__name__
        expected = "objects with apiVersion, kind and metadata.name"
        raise DefinitionError(where, expected, found, "write them into each document")
    namespace = metadata.get("namespace") or ""
    return Part(texts[0], texts[1], str(namespace), texts[2], document)
