"""Applies objects on the server's side, and deletes them."""

import re
import time
from collections.abc import Callable

import httpx2

from trundle.engine.effects import Effect, Plain, Provider, ProviderError, Record
from trundle.errors import Kind, expectation, listed
from trundle.providers.api._server import CONFLICT, MISSING, ObjectKey, Resource, Server

_MANAGER = "trundle-deploy"
"""The manager of all environments in earlier releases; those of single environments begin so, and have more behind a slash."""
_APPLY = "application/apply-patch+yaml"
_MOST_TRIES = 8
_DEFINITION = "CustomResourceDefinition"
_API_VERSION = re.compile(r"(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?/)?[a-z0-9]+")
_NAME = re.compile(r"(?!\.{1,2}$)[^/%?#\\\x00-\x20]+")
_STEP = 0.2


class ApiProvider(Provider):
    """Applies objects on the server's side, and deletes them.

    Fields that another manager owns are a conflict. An object that is there and that the journal does not know is refused. A deletion has ended when the object is gone; one that takes longer goes on in the
    next run. An object of the same name that others made meanwhile stays.

    Args:
        client: what asks the server.
        namespace: that of objects which name none.
        elsewhere: whether objects may name another namespace.
        cluster_wide: whether there may be objects that are in no namespace.
        manager: the name of the manager that owns what is applied; each environment has its own. What it applied as `trundle-deploy` is given to it when it changes.
        force: whether to take over fields that others own.
        seconds: how long to wait for the end of a deletion, and for a CRD to be served.
        sleep: waits between two looks.
    """

    kinds = ("document",)

    def __init__(
        self,
        client: httpx2.Client,
        *,
        namespace: str = "default",
        elsewhere: bool = True,
        cluster_wide: bool = True,
        manager: str = _MANAGER,
        force: bool = False,
        seconds: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._server = Server(client)
        self._namespace = namespace
        self._elsewhere, self._cluster_wide = elsewhere, cluster_wide
        self._manager = manager
        self._force = force
        self._looks = max(1, int(seconds / _STEP))
        self._sleep = sleep

    def place(self, kind: str, wanted: Plain) -> str:
        del kind
        content = wanted.get("content")
        metadata = content.get("metadata") if isinstance(content, dict) else None
        if not isinstance(content, dict) or not isinstance(metadata, dict):
            raise _no_object("something else")
        version, namespace = content.get("apiVersion"), metadata.get("namespace", self._namespace)
        if not isinstance(version, str) or not _API_VERSION.fullmatch(version):
            raise _no_object(f"the apiVersion {version!r}")
        for each in (content.get("kind"), namespace, metadata.get("name")):
            if not isinstance(each, str) or not _NAME.fullmatch(each):
                raise _no_object(f"{each!r} among these")
        if namespace != self._namespace and not self._elsewhere:
            expected = f"an object in the namespace {self._namespace}, which alone may be reached"
            advice = "leave metadata.namespace out"
            raise ProviderError(expectation(expected, namespace, advice), Kind.REFUSED)
        group = version.rpartition("/")[0] or "core"
        return str(ObjectKey(group, content["kind"], namespace, metadata["name"]))

    def check(self, effect: Effect, now: Record | None) -> None:
        content = effect.wanted["content"]
        resource = self._server.resource(content["apiVersion"], content["kind"])
        if resource is None:
            return  # Its CRD may be among what comes before it.
        self._check_scope(resource, content["kind"])
        if not resource.namespaced and "namespace" in content["metadata"]:
            found = "a namespace in its metadata"
            raise ProviderError(
                expectation("an object that is in no namespace", found, "remove it"), Kind.REFUSED
            )
        found = self._server.get(resource.of(_object_of(effect)))
        if found is not None and not self._is_ours(found["metadata"], now):
            expected, what = "no such object", "one that no run made"
            if now is not None:
                expected, what = "the object of the run before", "another one that has its name"
            message = expectation(expected, what, "delete it, or choose another name")
            raise ProviderError(message, Kind.CONFLICT)

    def _is_ours(self, metadata: Plain, now: Record | None) -> bool:
        """Whether an object is the one of a record: by its uid, or as one that a run applied and could not write down."""
        if now is None:
            return False
        is_known = (now.outcome or {}).get("uid") == metadata["uid"]
        return is_known or (now.state == "intended" and self._is_applied(metadata))

    def _is_applied(self, metadata: Plain) -> bool:
        """Whether an object is one that a run applied, whichever run of the environment that was."""
        mine = _applied_by(metadata, self._manager) or _applied_by(metadata, _MANAGER)
        return bool(mine) and not self._is_of_another(metadata)

    def _is_of_another(self, metadata: Plain) -> bool:
        """Whether another environment has applied an object."""
        managers = {
            each.get("manager", "")
            for each in metadata.get("managedFields") or ()
            if each.get("operation") == "Apply"
        }
        return any(x.startswith(f"{_MANAGER}/") for x in managers - {self._manager})

    def foresee(self, effect: Effect) -> Plain:
        return _outcome(effect, None)

    def apply(self, effect: Effect, before: Record | None) -> Plain:
        content = effect.revealed()["content"]
        resource = self._server.resource(content["apiVersion"], content["kind"])
        if resource is None:
            found = "none that the server has"
            expected = f"a kind {content['kind']} in {content['apiVersion']}"
            raise ProviderError(
                expectation(expected, found, "serve it, or deploy its CRD before"), Kind.REFUSED
            )
        self._check_scope(resource, content["kind"])  # It may have been a secret before.
        path = resource.of(_object_of(effect))
        if before is not None and self._manager != _MANAGER:
            self._take_over(path)
        # Where nothing was there, there is nothing to take over.
        made = self._applied(path, content, force=self._force and before is not None)
        known = None if before is None else (before.outcome or {}).get("uid")
        if made["metadata"].get("uid") != known and self._is_of_another(made["metadata"]):
            raise self._given_up(path, content, made["metadata"])
        if made["metadata"].get("deletionTimestamp"):
            message = expectation("an object that stays", "one that is being deleted", "run again")
            raise ProviderError(message, Kind.CONFLICT)
        if content["kind"] == _DEFINITION:
            self._await_served(made["spec"])
        return _outcome(effect, made["metadata"].get("uid"))

    def _applied(
        self, path: str, content: Plain, *, force: bool = False, good: tuple[int, ...] = ()
    ) -> Plain:
        params = {"fieldManager": self._manager, "force": "true" if force else "false"}
        return self._server.ask(
            "PATCH", path, body=content, params=params, content_type=_APPLY, good=good
        )

    def _given_up(self, path: str, content: Plain, made: Plain) -> ProviderError:
        """Gives up an object that another environment made in the moment in which this one did; what to raise of it."""
        names = {key: made[key] for key in ("name", "namespace", "uid") if key in made}
        nothing = {**{key: content[key] for key in ("apiVersion", "kind")}, "metadata": names}
        self._applied(path, nothing, good=(MISSING, CONFLICT))
        expected, what = "no such object", "one that another environment made at the same time"
        message = expectation(expected, what, "delete it there, or choose another name")
        return ProviderError(message, Kind.CONFLICT)

    def _take_over(self, path: str) -> None:
        """Gives the fields of an object that an earlier release applied to the own manager; nothing where there are none."""
        for _ in range(_MOST_TRIES):
            metadata = (self._server.get(path) or {}).get("metadata", {})
            earlier = _applied_by(metadata, _MANAGER)
            if not earlier or _applied_by(metadata, self._manager):
                return
            renamed = [
                {"op": "replace", "path": f"/metadata/managedFields/{at}/manager", "value": self._manager}
                for at in earlier
            ]  # fmt: skip
            version = metadata["resourceVersion"]  # One that has changed meanwhile is a conflict.
            same = {"op": "replace", "path": "/metadata/resourceVersion", "value": version}
            media_type = "application/json-patch+json"
            body = [*renamed, same]
            if self._server.ask(
                "PATCH", path, body=body, content_type=media_type, good=(CONFLICT,)
            ):
                return

    def remove(self, effect: Effect, outcome: Plain) -> None:
        content = effect.wanted["content"]
        resource = self._server.resource(content["apiVersion"], content["kind"], any_version=True)
        if resource is None:
            return  # The kind is gone, and its objects with it.
        path = resource.of(_object_of(effect))
        uid = outcome["uid"] if outcome else None
        for _ in range(self._looks):
            found = self._server.get(path)
            if found is None or uid not in (None, found["metadata"]["uid"]):
                return
            if uid is None and not self._is_applied(found["metadata"]):
                return
            uid = found["metadata"]["uid"]
            if not found["metadata"].get("deletionTimestamp"):
                self._delete(path, uid)
                continue
            self._sleep(_STEP)
        message = expectation("the end of its deletion", "finalizers of others", "run again")
        raise ProviderError(message, Kind.CONFLICT)

    def _check_scope(self, resource: Resource, kind: str) -> None:
        """Makes sure that objects of a kind may be applied.

        Raises:
            ProviderError: they are in no namespace, and only one may be reached.
        """
        if not resource.namespaced and not self._cluster_wide:
            expected = f"an object in the namespace {self._namespace}, which alone may be reached"
            advice = "let those who run the server apply it"
            found = f"the kind {kind}, whose objects are in none"
            raise ProviderError(expectation(expected, found, advice), Kind.REFUSED)

    def _delete(self, path: str, uid: str) -> None:
        body = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": uid},
            "propagationPolicy": "Background",
        }
        self._server.ask("DELETE", path, body=body, good=(MISSING, CONFLICT))

    def _await_served(self, definition: Plain) -> None:
        """Waits until a server has the kind of a CRD, in all versions that it serves."""
        kind, group = definition["names"]["kind"], definition["group"]
        left = [f"{group}/{each['name']}" for each in definition["versions"] if each["served"]]
        for _ in range(self._looks):
            left = [each for each in left if self._server.resource(each, kind) is None]
            if not left:
                return
            self._sleep(_STEP)
        found = f"none in {listed(left)} yet"
        raise ProviderError(expectation(f"the kind {kind}", found, "run again"))


def _object_of(effect: Effect) -> ObjectKey:
    """Which object an effect is about: as its key says, whatever the provider's own namespace is by now."""
    return ObjectKey(*effect.key.split("/")[1:])


def _applied_by(metadata: Plain, manager: str) -> list[int]:
    """Where in the managed fields of an object those stand that a manager has applied."""
    return [
        at
        for at, each in enumerate(metadata.get("managedFields") or ())
        if (each.get("manager"), each.get("operation")) == (manager, "Apply")
    ]


def _outcome(effect: Effect, uid: str | None) -> Plain:
    found = _object_of(effect)
    content = effect.wanted["content"]
    return {
        "apiVersion": content["apiVersion"],
        "kind": found.kind,
        "namespace": found.namespace,
        "name": found.name,
        "uid": uid,
    }


def _no_object(found: str) -> ProviderError:
    expected = "an object of Kubernetes, with apiVersion, kind and metadata.name"
    return ProviderError(expectation(expected, found, "correct the content"), Kind.REFUSED)
