"""Objects of any kind in a cluster, by what they are written as."""

from collections.abc import Callable
from typing import Any

from lightkube.core.exceptions import LoadResourceError
from lightkube.core.resource import NamespacedResource
from lightkube.core.resource_registry import resource_registry
from lightkube.generic_resource import create_global_resource, create_namespaced_resource
from lightkube.types import PatchType

from trundle.errors import Kind
from trundle.kubernetes._cluster import (
    CONFLICT,
    MISSING,
    Cluster,
    ClusterError,
    RequestError,
    asked,
    plain,
)
from trundle.kubernetes._errors import DefinitionError
from trundle.kubernetes.operator._ordering import DEFINITION, Part

MANAGER = "trundle-apply"


class OwnedError(ClusterError):
    """Fields of an object that another manager owns."""

    kind = Kind.CONFLICT


class Objects:
    """The objects of a cluster.

    Args:
        cluster: the cluster.
        namespace: that of objects which name none.
        check: is called before each write, and raises an error where nothing may be written any more.
    """

    def __init__(
        self,
        cluster: Cluster,
        namespace: str = "default",
        check: Callable[[], object] = lambda: None,
    ) -> None:
        self._check = check
        self._cluster = cluster
        self._client = cluster.client
        self.namespace = namespace

    def get(self, part: Part) -> dict[str, Any] | None:
        """An object as it is; None where there is none."""
        resource = self._resource(part)
        try:
            with asked(str(part)):
                return plain(self._client.get(resource, part.name, **self._where(resource, part)))
        except RequestError as error:
            if error.status != MISSING:
                raise
            return None

    def exists(self, part: Part) -> bool:
        """Whether an object is there; none is whose CRD is gone."""
        try:
            return self.get(part) is not None
        except DefinitionError:
            return False

    def check(self) -> None:
        """Raises an error where nothing may be written any more."""
        self._check()

    def apply(self, part: Part, *, force: bool) -> dict[str, Any]:
        """Applies an object, on the server's side; the object as it is then.

        Raises:
            OwnedError: others own fields of it.
            ClusterError: the cluster refuses it.
        """
        self._check()
        return self._applied(part, force=force, dry_run=False)

    def apply_late(self, part: Part) -> None:
        """Applies an object though nothing may be written any more: one that says what was written too late.

        Raises:
            OwnedError: others own fields of it, or have changed it meanwhile.
            ClusterError: the cluster refuses it.
        """
        self._applied(part, force=True, dry_run=False)

    def attempt(self, part: Part, *, force: bool) -> dict[str, Any]:
        """Has the server apply an object without keeping it; the object as it would be then.

        Raises:
            OwnedError: others own fields of it.
            ClusterError: the cluster refuses it.
            DefinitionError: the cluster has no such resource type.
        """
        return self._applied(part, force=force, dry_run=True)

    def _applied(self, part: Part, *, force: bool, dry_run: bool) -> dict[str, Any]:
        resource = self._resource(part)
        where = self._where(resource, part)
        manner: Any = {"field_manager": MANAGER, "force": force, "patch_type": PatchType.APPLY}
        manner["dry_run"] = dry_run
        try:
            with asked(str(part)):
                return plain(
                    self._client.patch(resource, part.name, part.document, **manner, **where)
                )
        except RequestError as error:
            if error.status != CONFLICT:
                raise
            advice = "give the fields up there, or take them over with --force"
            raise OwnedError(str(part), "fields that no other owns", error.found, advice) from None

    def delete(self, part: Part) -> None:
        """Deletes an object; one that is gone already stays gone."""
        self._check()
        try:
            resource = self._resource(part)
            with asked(str(part)):
                self._client.delete(resource, part.name, **self._where(resource, part))
        except DefinitionError:
            return  # Its CRD is gone, and it with it.
        except RequestError as error:
            if error.status != MISSING:
                raise

    def has_objects(self, definition: Part) -> bool:
        """Whether a CRD has any."""
        found = self._cluster.definition(definition.name)
        served = (
            [each["name"] for each in found["spec"]["versions"] if each["served"]] if found else []
        )
        if found is None or not served:
            return found is not None
        resource = _of_definition(found, served[0])
        everywhere: Any = {"namespace": "*"} if issubclass(resource, NamespacedResource) else {}
        with asked(str(definition)):
            return any(True for _ in self._client.list(resource, chunk_size=1, **everywhere))

    def _resource(self, part: Part) -> Any:
        """The resource type of an object.

        Raises:
            DefinitionError: the cluster has none.
        """
        try:
            return resource_registry.load(part.api_version, part.kind)
        except LoadResourceError:
            pass
        version = part.api_version.rpartition("/")[2]
        for each in self._cluster.definitions():
            spec = each["spec"]
            if (spec["group"], spec["names"]["kind"]) == (part.group, part.kind):
                return _of_definition(each, version)
        expected = f"a kind of Kubernetes, or a CRD of {part.kind} in {part.group or 'the core'}"
        advice = f"put the {DEFINITION} beside it; kinds of other API servers are not applied"
        raise DefinitionError(str(part), expected, "none", advice)

    def _where(self, resource: Any, part: Part) -> Any:
        if not issubclass(resource, NamespacedResource):
            return {}
        return {"namespace": part.namespace or self.namespace}


def _of_definition(definition: dict[str, Any], version: str) -> Any:
    spec = definition["spec"]
    namespaced = spec["scope"] == "Namespaced"
    make = create_namespaced_resource if namespaced else create_global_resource
    return make(spec["group"], version, spec["names"]["kind"], spec["names"]["plural"])
