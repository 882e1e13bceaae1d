"""A cluster, as `trundle kube` reads and changes it: CRDs, their objects, and migrations of the cluster's own."""

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import lightkube
from lightkube.config.kubeconfig import KubeConfig
from lightkube.core.exceptions import ApiError, ConfigError
from lightkube.generic_resource import create_global_resource, create_namespaced_resource
from lightkube.types import PatchType

from trundle._server_transport import transport_of
from trundle.api import ServedKind
from trundle.errors import ExpectationError, Kind
from trundle.kubernetes._definitions import API_VERSION
from trundle.kubernetes._definitions import KIND as DEFINITION
from trundle.kubernetes._errors import KubernetesCode

MANAGER = "trundle-migrate"
_MIGRATIONS = "storagemigration.k8s.io"
_MIGRATION_VERSIONS = ("v1", "v1beta1")
_TRIES, _MOST_CHANGES = 6, 8
_FIRST_WAIT = 0.1
_TIMEOUT = 60.0
CONFLICT, _GONE, MISSING = 409, 410, 404
BUSY = frozenset({429, 503, 504})
_ADVICE = {
    401: "log in to the cluster again, or name another context",
    403: "ask for a role that permits it, or name another context",
}


_UNREACHED = "start the webhook that the CRD names, or correct its address there, and try again"


class ClusterError(ExpectationError):
    """A cluster that cannot be asked, or refuses."""

    kind = Kind.UNREACHABLE
    code = KubernetesCode.CLUSTER


class RequestError(ClusterError):
    """A request that the cluster has answered with an error.

    Attributes:
        status: the status of the answer.
    """

    def __init__(self, where: str, status: int, message: str) -> None:
        advice = _ADVICE.get(status, _UNREACHED if _is_unreached(message) else "")
        super().__init__(where, "an answer", f"{status}: {message}", advice)
        self.status = status


def _is_unreached(message: str) -> bool:
    """Whether an API server says that it did not reach a conversion webhook; what the webhook itself refuses, it gives in its words."""
    return message.startswith("conversion webhook for ") and ' failed: Post "' in message


class _MissingError(RequestError):
    """There is no such thing."""


def connect(
    kubeconfig: Path | None = None, context: str | None = None, timeout: float = _TIMEOUT
) -> "Cluster":
    """A cluster by a kubeconfig; that of the environment by default, or of the pod that this runs in.

    Args:
        kubeconfig: the file; None for the default.
        context: the context in it; None for the current one.
        timeout: how many seconds a request may take as a whole; watches have none.

    Raises:
        ClusterError: there is none.
    """
    try:
        found = KubeConfig.from_file(kubeconfig) if kubeconfig else KubeConfig.from_env()
        config = found.get(context)
        if config is None:
            raise ConfigError("no current context")  # noqa: TRY301 - as all others
        client = lightkube.Client(
            config,
            field_manager=MANAGER,
            timeout=httpx2.Timeout(timeout),
            transport=transport_of(config),
        )
    except Exception as error:  # noqa: BLE001 - lightkube lets through what it meets in a kubeconfig
        where = str(kubeconfig or "the kubeconfig")
        advice = "name one with --kubeconfig and --context, or set KUBECONFIG"
        raise ClusterError(where, "how to reach a cluster", str(error), advice) from None
    return Cluster(client)


class Cluster:
    """A cluster.

    Args:
        client: what asks it.
        sleep: waits between tries.
    """

    def __init__(
        self, client: lightkube.Client, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.client = client
        self._sleep = sleep
        group, _, version = API_VERSION.partition("/")
        plural = "customresourcedefinitions"
        self._definition: Any = create_global_resource(group, version, DEFINITION, plural)

    def definition(self, name: str) -> dict[str, Any] | None:
        """A CRD; None where there is none."""
        with contextlib.suppress(_MissingError), asked(f"CRD {name}"):
            return plain(self.client.get(self._definition, name))
        return None

    def definitions(self) -> list[dict[str, Any]]:
        """All CRDs."""
        with asked("CRDs"):
            return [plain(each) for each in self.client.list(self._definition)]

    def change_definition(self, name: str, patch: dict[str, Any], *, status: bool = False) -> None:
        """Merges a patch into a CRD, or into its status.

        Raises:
            RequestError: it was refused; with the status 409 where it names another resource version.
        """
        resource = self._definition.Status if status else self._definition
        with asked(f"CRD {name}"):
            self.client.patch(resource, name, patch, patch_type=PatchType.MERGE)

    def shows_storage(self, kind: ServedKind, label: str) -> bool:
        """Whether the API server that answers stores the objects of a resource type at a version that it serves: only such a one is in its discovery.

        Args:
            kind: the resource type.
            label: a version that is served.
        """
        path = f"/apis/{kind.group}/{label}"
        with asked(path):
            answer = self.client._client._client.get(path)  # noqa: SLF001 - it has no method for that
            answer.raise_for_status()
        resources = answer.json().get("resources") or []
        return any(
            each["name"] == kind.plural and each.get("storageVersionHash") for each in resources
        )

    def objects(
        self, kind: ServedKind, label: str, page: int, after: str = ""
    ) -> Iterator[dict[str, Any]]:
        """The objects of a resource type at a version, in the order of their keys.

        Args:
            kind: the resource type.
            label: the version.
            page: how many are asked for at once.
            after: the key to begin after.
        """
        while True:
            try:
                for each in self._listed(kind, label, page):
                    if key_of(each) > after:
                        after = key_of(each)
                        yield each
            except RequestError as error:
                if error.status != _GONE:  # The list was compacted away meanwhile.
                    raise
            else:
                return

    def _listed(self, kind: ServedKind, label: str, page: int) -> Iterator[dict[str, Any]]:
        where = f"{kind.qualified} at {label}"
        everywhere: Any = {"namespace": "*"} if kind.namespaced else {}
        try:
            with asked(where):
                for each in self.client.list(_resource(kind, label), chunk_size=page, **everywhere):
                    yield plain(each)
        except _MissingError:
            raise RequestError(where, MISSING, "the cluster does not serve it") from None

    def object(self, kind: ServedKind, label: str, like: dict[str, Any]) -> dict[str, Any] | None:
        """An object as it is now; None where it is gone."""
        metadata = like["metadata"]
        with contextlib.suppress(_MissingError), asked(called(kind, like)):
            return plain(
                self.client.get(
                    _resource(kind, label), metadata["name"], **_namespaced(kind, metadata)
                )
            )
        return None

    def merge(
        self, kind: ServedKind, label: str, like: dict[str, Any], patch: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Merges a patch into an object, and tries again where the cluster is busy; None where the object is gone.

        Raises:
            RequestError: it was refused; with the status 409 where the patch names another resource version.
        """
        wait = _FIRST_WAIT
        for last in [False] * (_TRIES - 1) + [True]:
            try:
                return self._merged(kind, label, like, patch)
            except RequestError as error:
                names_version = "resourceVersion" in patch.get("metadata", {})
                stale = error.status == CONFLICT and not names_version
                if last or not (stale or error.status in BUSY):
                    raise
            self._sleep(wait)
            wait *= 2
        raise AssertionError

    def _merged(
        self, kind: ServedKind, label: str, like: dict[str, Any], patch: dict[str, Any]
    ) -> dict[str, Any] | None:
        metadata, resource = like["metadata"], _resource(kind, label)
        where: Any = _namespaced(kind, metadata)
        with contextlib.suppress(_MissingError), asked(called(kind, like)):
            made = self.client.patch(
                resource, metadata["name"], patch, patch_type=PatchType.MERGE, **where
            )
            return plain(made)
        return None

    def replace(self, kind: ServedKind, label: str, document: dict[str, Any]) -> dict[str, Any]:
        """Replaces an object.

        Raises:
            RequestError: it was refused; with the status 409 where it is another one by now.
        """
        where: Any = _namespaced(kind, document["metadata"])
        resource = _resource(kind, label)
        with asked(called(kind, document)):
            made = self.client.replace(resource(document), document["metadata"]["name"], **where)
        return plain(made)

    def migrations(self) -> "ClusterMigrations | None":
        """The migrations of the cluster's own; None where it serves none."""
        for version in _MIGRATION_VERSIONS:
            kind, plural = "StorageVersionMigration", "storageversionmigrations"
            resource = create_global_resource(_MIGRATIONS, version, kind, plural)
            with contextlib.suppress(_MissingError), asked(plural):
                list(self.client.list(resource))
                return ClusterMigrations(self.client, resource)
        return None


def existing_definition(cluster: Cluster, name: str) -> dict[str, Any]:
    """A CRD that was there before.

    Raises:
        RequestError: it was deleted, or the cluster cannot be asked.
    """
    crd = cluster.definition(name)
    if crd is None:
        raise RequestError(f"CRD {name}", MISSING, "it was deleted meanwhile")
    return crd


def change_as_read(
    cluster: Cluster,
    name: str,
    change: Callable[[dict[str, Any]], dict[str, Any] | None],
    *,
    status: bool = False,
) -> None:
    """Changes a CRD, or its status, as it is now; and again where another client was quicker.

    Args:
        cluster: the cluster.
        name: the name of the CRD.
        change: makes a patch of the CRD as it was read; None where nothing is to be changed.
        status: whether its status is changed.

    Raises:
        RequestError: it was deleted, other clients were quicker each time, or the cluster refuses the patch.
    """
    for last in [False] * (_MOST_CHANGES - 1) + [True]:
        crd = existing_definition(cluster, name)
        patch = change(crd)
        if patch is None:
            return
        version = crd["metadata"]["resourceVersion"]
        metadata = {**patch.get("metadata", {}), "resourceVersion": version}
        try:
            cluster.change_definition(name, {**patch, "metadata": metadata}, status=status)
        except RequestError as error:
            if last or error.status != CONFLICT:
                raise
        else:
            return


class ClusterMigrations:
    """What a cluster rewrites by itself.

    Args:
        client: what asks it.
        resource: the resource type.
    """

    def __init__(self, client: lightkube.Client, resource: Any) -> None:
        self.client = client
        self._resource = resource

    def begin(self, kind: ServedKind) -> None:
        """Begins to rewrite all objects of a resource type."""
        head = {"apiVersion": self._resource._api_info.resource.api_version}  # noqa: SLF001 - there is no other way to it
        spec = {"resource": {"group": kind.group, "resource": kind.plural}}
        made = {
            **head,
            "kind": "StorageVersionMigration",
            "metadata": {"name": _called(kind.qualified)},
        }
        with asked(f"StorageVersionMigration {_called(kind.qualified)}"):
            self.client.create(self._resource({**made, "spec": spec}))

    def condition(self, kind: ServedKind) -> tuple[str, str] | None:
        """What has become of it: `Running`, `Succeeded` or `Failed`, and a message; None where there is none."""
        with (
            contextlib.suppress(_MissingError),
            asked(f"StorageVersionMigration {_called(kind.qualified)}"),
        ):
            found = plain(self.client.get(self._resource, _called(kind.qualified)))
            conditions = (found.get("status") or {}).get("conditions") or []
            true = {each["type"]: each for each in conditions if each.get("status") == "True"}
            for name in ("Succeeded", "Failed"):
                if name in true:
                    return name, true[name].get("message", "")
            return "Running", ""
        return None

    def remove(self, definition: str) -> None:
        """Removes that of a CRD; the objects stay as they are."""
        name = _called(definition)
        with contextlib.suppress(_MissingError), asked(f"StorageVersionMigration {name}"):
            self.client.delete(self._resource, name)


def key_of(found: dict[str, Any]) -> str:
    """What an object is sorted by in a list."""
    metadata = found["metadata"]
    return "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))


def called(kind: ServedKind, found: dict[str, Any]) -> str:
    """An object for people."""
    return f"{kind.kind} {key_of(found)}"


def plain(found: Any) -> dict[str, Any]:
    """An object as values."""
    made: dict[str, Any] = found.to_dict()
    return made


def _called(definition: str) -> str:
    return f"trundle-{definition}"


def _resource(kind: ServedKind, label: str) -> Any:
    make = create_namespaced_resource if kind.namespaced else create_global_resource
    return make(kind.group, label, kind.kind, kind.plural)


def _namespaced(kind: ServedKind, metadata: dict[str, Any]) -> dict[str, Any]:
    return {"namespace": metadata["namespace"]} if kind.namespaced else {}


@contextlib.contextmanager
def asked(where: str) -> Iterator[None]:
    """Turns what goes wrong with a request into errors.

    Raises:
        ClusterError: something does.
    """
    try:
        yield
    except ApiError as error:
        code = error.status.code or 0
        failure = _MissingError if code == MISSING else RequestError
        raise failure(where, code, str(error.status.message)) from None
    except httpx2.HTTPStatusError as error:  # In plain text, as where a CRD is gone.
        code = error.response.status_code
        failure = _MissingError if code == MISSING else RequestError
        found = "the cluster does not serve it" if code == MISSING else error.response.reason_phrase
        raise failure(where, code, found) from None
    except (httpx2.HTTPError, OSError) as error:
        advice = "check that the cluster of your kubeconfig runs, and that you may use it"
        found = str(error) or type(error).__name__
        raise ClusterError(where, "an answer of the cluster", found, advice) from None


@contextlib.contextmanager
def at_home(namespace: str) -> Iterator[None]:
    """Says that the namespace of the operator is missing, where something cannot be written in it for that reason.

    Raises:
        ClusterError: it is.
    """
    try:
        yield
    except RequestError as error:
        if error.status != MISSING or f'namespaces "{namespace}"' not in error.found:
            raise
        where, expected = (
            f"namespace {namespace}",
            "one that exists, for what the operator remembers",
        )
        advice = f"create it: kubectl create namespace {namespace}; or name another one with --home"
        raise ClusterError(where, expected, "none", advice) from None
