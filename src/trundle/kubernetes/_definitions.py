"""CustomResourceDefinitions: each resource type with all served versions, and one more that is stored."""

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import msgspec

from trundle.api import ServedKind, ServedVersion
from trundle.kubernetes._errors import DefinitionError
from trundle.kubernetes._structural import structural

STORAGE = "storage"
"""The version that is stored and not served."""

STORED = "stored"
"""The member of an object at that version which has what the runtime stores of it."""

API_VERSION, KIND = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
_LARGEST = 256 * 1024
"""How large a CRD may be for `kubectl apply`, which keeps it in an annotation."""

_LARGEST_STORED = 1024 * 1024
"""How large a CRD may be with its descriptions where `kubectl apply` does not keep it in any case; etcd takes half as much more."""

_MOST_LEVELS = 16
"""How many levels of properties inside of one another the descriptions of a CRD are cut and not left out."""

_LONGEST_WARNING = 256
_APPROVED = "api-approved.kubernetes.io"
_CONVERT = "/convert"
_BEFORE_CONVERT = re.compile(r"(?P<before>.*?)/convert(/.*)?")
_NOT_IN_URLS = re.compile(r"[?#\s\x00-\x1f\x7f]|%(?![0-9A-Fa-f]{2})")
_LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_NAMED = re.compile(rf"(?P<namespace>{_LABEL})/(?P<name>{_LABEL})(:(?P<port>[0-9]{{1,5}}))?")
_LARGEST_PORT = 65535
_STORED_SCHEMA = {
    "type": "object",
    "description": "What is stored, whatever version it was written with. It is read through the other versions.",
    "properties": {
        STORED: {
            "type": "string",
            "description": "The object as Trundle stores it, as JSON; which version's shape it has stands inside.",
        }
    },
    "x-kubernetes-preserve-unknown-fields": True,
}


@dataclass(frozen=True, slots=True)
class WebhookAddress:
    """Where a cluster finds the webhook.

    Attributes:
        url: where it converts, where it is no service of the cluster; else empty.
        service: the service of the cluster, as a CRD has it.
        authority: the certificate of the authority that signs its own, in PEM; empty where something else, such as cert-manager, adds it.
    """

    url: str = ""
    service: Mapping[str, Any] | None = None
    authority: bytes = b""

    def to_plain(self) -> dict[str, Any]:
        """The stanza of a CRD."""
        webhook = {"clientConfig": self.client(), "conversionReviewVersions": ["v1"]}
        return {"strategy": "Webhook", "webhook": webhook}

    def client(self) -> dict[str, Any]:
        """How the API server reaches it."""
        client: dict[str, Any] = {"url": self.url} if self.url else {"service": self.service or {}}
        if self.authority:
            client["caBundle"] = base64.b64encode(self.authority).decode()
        return client

    def at(self, path: str) -> "WebhookAddress":
        """The same webhook at another path.

        Args:
            path: the path that the webhook knows. What stands before `/convert` in a URL stays, as that of a proxy.
        """
        if not self.url:
            return replace(self, service={**(self.service or {}), "path": path})
        url = urlsplit(self.url)
        before = _BEFORE_CONVERT.fullmatch(url.path)
        return replace(
            self, url=url._replace(path=(before["before"] if before else "") + path).geturl()
        )


def url_named(text: str) -> str:
    """The URL where a webhook converts: at `/convert` where none of its paths is named.

    Args:
        text: a URL as API servers take them for webhooks.

    Raises:
        DefinitionError: the text is no such URL.
    """
    expected = "https://HOST[:PORT][/PATH], as a cluster calls a webhook"
    try:
        url = urlsplit(text)
        wrong = url.scheme != "https" or not url.hostname or (url.port == 0)
    except ValueError:  # It is no address, or no port.
        wrong = True
    if wrong or "@" in url.netloc or _NOT_IN_URLS.search(text):
        advice = f"name where `trundle kube webhook` answers: https://hooks.example.com{_CONVERT}"
        raise DefinitionError("the URL of the webhook", expected, repr(text), advice)
    return url._replace(path=_CONVERT).geturl() if url.path in {"", "/"} else text


def service_named(text: str) -> dict[str, Any]:
    """A service of a cluster.

    Args:
        text: `NAMESPACE/NAME` or `NAMESPACE/NAME:PORT`; the port is 443 where none is given.

    Raises:
        DefinitionError: the text is no such thing.
    """
    found = _NAMED.fullmatch(text)
    port = int((found and found["port"]) or 443)
    if found is None or not 0 < port <= _LARGEST_PORT:
        advice = "write it as crm/crm-webhook"
        raise DefinitionError(
            "the service", "NAMESPACE/NAME or NAMESPACE/NAME:PORT", repr(text), advice
        )
    return {
        "namespace": found["namespace"],
        "name": found["name"],
        "path": _CONVERT,
        "port": port,
    }


def definitions(
    kinds: Iterable[ServedKind], webhook: WebhookAddress, note: Callable[[str], object]
) -> list[dict[str, Any]]:
    """The CRDs of resource types.

    Args:
        kinds: the resource types, with the versions that are served.
        webhook: where the conversion webhook is.
        note: is called with what a CRD cannot say, or leaves out.

    Raises:
        DefinitionError: a cluster could not keep one of them.
    """
    return [_definition(each, webhook, note) for each in kinds]


def _definition(
    kind: ServedKind, webhook: WebhookAddress, note: Callable[[str], object]
) -> dict[str, Any]:
    names: dict[str, Any] = {
        "kind": kind.kind,
        "listKind": kind.list_kind,
        "plural": kind.plural,
        "singular": kind.singular,
    }
    if kind.short_names:
        names["shortNames"] = list(kind.short_names)
    if kind.categories:
        names["categories"] = list(kind.categories)
    metadata: dict[str, Any] = {"name": kind.qualified}
    if kind.group.endswith((".k8s.io", ".kubernetes.io")):
        metadata["annotations"] = {_APPROVED: "unapproved, written by Trundle"}
    versions = [_version(kind, each, note) for each in kind.versions.values()]
    stored = {
        "name": STORAGE,
        "served": False,
        "storage": True,
        "schema": {"openAPIV3Schema": _STORED_SCHEMA},
    }
    made = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": metadata,
        "spec": {
            "group": kind.group,
            "names": names,
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "conversion": webhook.to_plain(),
            "versions": [*versions, stored],
        },
    }
    return _fitting(made, note)


def _version(
    kind: ServedKind, served: ServedVersion, note: Callable[[str], object]
) -> dict[str, Any]:
    def noted(path: str, what: str) -> None:
        note(f"{kind.qualified} {served.label}: {path or '.'}: a CRD does not say {what}")

    found: dict[str, Any] = {"name": served.label, "served": True, "storage": False}
    if served.deprecated:
        found["deprecated"] = True
        found["deprecationWarning"] = " ".join(served.deprecated.split())[:_LONGEST_WARNING]
    found["schema"] = {"openAPIV3Schema": structural(served, noted)}
    subresources = _subresources(served)
    if subresources:
        found["subresources"] = subresources
    if served.selectable:
        found["selectableFields"] = [{"jsonPath": f".{each}"} for each in served.selectable]
    found["additionalPrinterColumns"] = [
        {
            "name": each.name,
            "type": each.type,
            **({"format": each.format} if each.format else {}),
            "jsonPath": each.path,
            **({"description": each.description} if each.description else {}),
            **({"priority": each.priority} if each.priority else {}),
        }
        for each in kind.columns_at(served)
    ]
    return found


def _subresources(served: ServedVersion) -> dict[str, Any]:
    """The subresources of a version."""
    found: dict[str, Any] = {"status": {}} if served.has_status else {}
    scaling = served.resource.scaling
    if scaling is not None:
        found["scale"] = {
            "specReplicasPath": scaling.wanted,
            "statusReplicasPath": scaling.there,
            **({"labelSelectorPath": scaling.selector} if scaling.selector else {}),
        }
    return found


def _fitting(made: dict[str, Any], note: Callable[[str], object]) -> dict[str, Any]:
    """A CRD that `kubectl apply` can keep where there is a way: with shorter descriptions, or without those that are deepest inside."""
    name, whole = made["metadata"]["name"], _size(made)
    if whole <= _LARGEST:
        return made
    limit = f"the CRD has {whole // 1024} KiB; `kubectl apply` takes {_LARGEST // 1024}"
    for levels in range(_MOST_LEVELS, -1, -1):
        found = _with_descriptions(made, levels)
        if _size(found) <= _LARGEST:
            inside = f"are cut, and left out more than {levels} levels inside, as are examples"
            said = "are cut" if levels == _MOST_LEVELS else inside
            note(
                f"{name}: descriptions {said if levels else 'are left out, and examples'}, since {limit}"
            )
            return found
    kept = "use `kubectl apply --server-side` or `kubectl create`"
    if whole > _LARGEST_STORED:
        made = _with_descriptions(made, 0)
        limit = f"has {_size(made) // 1024} KiB without descriptions, which are left out"
        note(f"{name}: {limit}; {kept}")
    else:
        note(f"{name}: {limit}, and it has more without descriptions; {kept}")
    return made


def _size(made: dict[str, Any]) -> int:
    return len(msgspec.json.encode(made))


def _with_descriptions(made: dict[str, Any], levels: int) -> dict[str, Any]:
    """A CRD with the first sentences of descriptions, as many levels inside as are given, and no examples further inside."""
    versions = [
        {
            **each,
            "schema": {"openAPIV3Schema": _trimmed(each["schema"]["openAPIV3Schema"], levels)},
        }
        for each in made["spec"]["versions"]
    ]
    return {**made, "spec": {**made["spec"], "versions": versions}}


def _first_sentence(text: str) -> str:
    """The first sentence of a description."""
    return re.split(r"(?<=[.!?])\s|\n\n", text, maxsplit=1)[0]


def _trimmed(schema: Any, levels: int) -> Any:
    """A schema with the first sentences of descriptions, down to some levels of properties."""
    if not isinstance(schema, dict):
        return schema
    found = {key: _trimmed_member(key, value, levels) for key, value in schema.items()}
    text = found.pop("description", "")
    if levels < 0:
        found.pop("example", None)
    elif isinstance(text, str) and text:
        found["description"] = _first_sentence(text)
    return found


def _trimmed_member(key: str, value: Any, levels: int) -> Any:
    if key == "properties":
        return {name: _trimmed(each, levels - 1) for name, each in value.items()}
    return _trimmed(value, levels) if key in {"items", "additionalProperties"} else value


def read_definitions(documents: Iterable[Any], where: str) -> dict[str, dict[str, Any]]:
    """The CRDs among some documents, by name; lists of objects are looked into.

    Args:
        documents: the documents as values.
        where: the file that they stand in.

    Raises:
        DefinitionError: a document is no object of Kubernetes, or a CRD of another version.
    """
    found = {}
    for each in _objects(documents):
        if not isinstance(each, dict) or not isinstance(each.get("kind"), str):
            raise DefinitionError(
                where, "objects of Kubernetes", "something else", "name a file with CRDs"
            )
        if each["kind"] != KIND:
            continue
        name = (each.get("metadata") or {}).get("name")
        if (
            each.get("apiVersion") != API_VERSION
            or not isinstance(each.get("spec"), dict)
            or not name
        ):
            advice = "write it with `trundle kube crds`"
            raise DefinitionError(
                f"{where}: {name}",
                f"a {KIND} of {API_VERSION} with name and spec",
                f"one of {each.get('apiVersion')}",
                advice,
            )
        found[name] = each
    return found


def _objects(documents: Iterable[Any]) -> Iterator[Any]:
    for each in documents:
        if (
            isinstance(each, dict)
            and str(each.get("kind", "")).endswith("List")
            and isinstance(each.get("items"), list)
        ):
            yield from each["items"]
        else:
            yield each
