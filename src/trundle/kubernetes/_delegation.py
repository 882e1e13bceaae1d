"""What a server leaves to the cluster that it is a part of: who asks, what they may do, and which namespaces there are."""

import hashlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from lightkube.generic_resource import create_global_resource
from lightkube.resources.core_v1 import Namespace
from starlette.datastructures import Headers

from trundle.api.access import (
    ANONYMOUS,
    MASTERS,
    PEER,
    Attributes,
    Decision,
    Scope,
    UnaskedError,
    User,
    unauthorized,
    with_default_group,
)
from trundle.kubernetes._cluster import MISSING, Cluster, RequestError, asked, plain
from trundle.kubernetes._front_proxy import FrontProxy

_GOOD, _BAD = 10.0, 2.0
"""For how many seconds a yes and a no of the cluster count; a no counts shorter, so that what is granted works soon."""

_MOST = 4096
_PROBES = ("/healthz", "/livez", "/readyz")
"""What everybody may ask for; a cluster's node asks without credentials."""

_T = TypeVar("_T")


class _Remembered:
    """Who sends requests and what they may do, as a cluster has said it; without that, as far as nothing has to be asked.

    Args:
        proxy: gives the cluster's front proxy, as it is now.
        users: whose tokens it knows.
        decisions: what it has decided.
    """

    def __init__(
        self,
        proxy: Callable[[], FrontProxy],
        users: "_Memory[User | None]",
        decisions: "_Memory[Decision]",
    ) -> None:
        self._proxy = proxy
        self._users = users
        self._decisions = decisions

    @property
    def at_once(self) -> "_Remembered":
        """The same without asking."""
        return self

    def user(self, scope: Scope) -> User:
        """Who sends a request.

        Raises:
            ApiError: the proxy's headers or certificate are used by another client, or a token is not known.
            ClusterError: the cluster cannot be asked.
        """
        proxy, headers = self._proxy(), scope["headers"]
        peer = scope.get("extensions", {}).get(PEER)
        if peer is not None:
            found = proxy.user(headers) if proxy.is_shown_by(peer) else None
            if found is None:
                raise unauthorized()
            return with_default_group(found)
        if proxy.is_claimed(headers):
            raise unauthorized()
        scheme, _, token = Headers(scope=scope).get("authorization", "").strip().partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return ANONYMOUS
        known = self._by_token(token.strip())
        if known is None:
            raise unauthorized()
        return known

    def _by_token(self, token: str) -> User | None:
        key = hashlib.sha256(token.encode()).digest()
        if (known := self._users.found(key)) is not None:
            return known[0]
        status = self._review("authentication.k8s.io", "TokenReview", {"token": token})
        user = _user(status.get("user") or {}) if status.get("authenticated") else None
        return self._users.keep(key, user, _BAD if user is None else _GOOD)

    def decide(self, user: User, asked_for: Attributes) -> Decision:
        """Whether a user may do something.

        Raises:
            ClusterError: the cluster cannot be asked.
        """
        if MASTERS in user.groups or _is_probe(asked_for):
            return Decision(allowed=True)
        spec = _access_spec(user, asked_for)
        key = json.dumps(spec, sort_keys=True)
        if (known := self._decisions.found(key)) is not None:
            return known[0]
        status = self._review("authorization.k8s.io", "SubjectAccessReview", spec)
        allowed = status.get("allowed") is True and not status.get("denied")
        reason = status.get("reason") or status.get("evaluationError") or ""
        decision = Decision(allowed, reason)
        return self._decisions.keep(key, decision, _GOOD if allowed else _BAD)

    def _review(self, _group: str, _kind: str, _spec: Mapping[str, Any]) -> Mapping[str, Any]:
        """The status of a review.

        Raises:
            UnaskedError: the cluster would have to answer it.
        """
        raise UnaskedError


class Delegation(_Remembered):
    """Asks a cluster who sends requests, what they may do, and which namespaces there are.

    Users are those that the cluster's proxy names, or those of bearer tokens. The headers of the proxy are refused from anyone else. Where the cluster
    cannot be asked, requests are refused; its answers count for some seconds.

    Args:
        cluster: the cluster.
        proxy: gives its front proxy, as it is now.
        timer: measures seconds.
    """

    def __init__(
        self,
        cluster: Cluster,
        proxy: Callable[[], FrontProxy],
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(proxy, _Memory(timer), _Memory(timer))
        self._client = cluster.client
        self._remembered = _Remembered(proxy, self._users, self._decisions)

    @property
    def at_once(self) -> _Remembered:
        """The same without asking, by what the cluster has said."""
        return self._remembered

    def namespace(self, name: str) -> Mapping[str, Any] | None:
        """A namespace as it is now; None where there is none.

        Raises:
            ClusterError: the cluster cannot be asked.
        """
        try:
            with asked(f"Namespace {name}"):
                found = plain(self._client.get(Namespace, quote(name, safe="")))
        except RequestError as error:
            if error.status == MISSING:
                return None
            raise
        # A name such as `..` leads to a document of another kind.
        is_this = (found.get("metadata") or {}).get("name") == name
        return found if is_this else None

    def _review(self, group: str, kind: str, spec: Mapping[str, Any]) -> Mapping[str, Any]:
        """The status of a review that the cluster answers."""
        resource: Any = create_global_resource(group, "v1", kind, f"{kind.lower()}s")
        document = {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {}, "spec": spec}
        with asked(kind):
            found: Mapping[str, Any] = plain(self._client.create(resource(document)))
        return found.get("status") or {}


class _Memory(Generic[_T]):
    """What the cluster has answered, each for some seconds; the oldest goes first where there is too much."""

    def __init__(self, timer: Callable[[], float]) -> None:
        self._timer = timer
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[float, _T]] = OrderedDict()

    def found(self, key: Hashable) -> tuple[_T] | None:
        """What is kept; None where it is nothing, or too old."""
        with self._lock:
            kept = self._kept.get(key)
        return None if kept is None or kept[0] <= self._timer() else kept[1:]

    def keep(self, key: Hashable, value: _T, seconds: float) -> _T:
        """Keeps what was answered; that."""
        with self._lock:
            self._kept[key] = self._timer() + seconds, value
            self._kept.move_to_end(key)
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)
        return value


def _is_probe(asked_for: Attributes) -> bool:
    path = asked_for.path
    return not asked_for.is_resource and any(
        path == each or path.startswith(f"{each}/") for each in _PROBES
    )


def _user(found: Mapping[str, Any]) -> User:
    """A user, as a review names it."""
    extra = {key: tuple(values) for key, values in (found.get("extra") or {}).items()}
    groups = tuple(found.get("groups") or ())
    return with_default_group(User(found.get("username", ""), found.get("uid", ""), groups, extra))


def _access_spec(user: User, asked_for: Attributes) -> dict[str, Any]:
    """What a review asks about."""
    spec: dict[str, Any] = {
        "user": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {key: list(values) for key, values in user.extra.items()},
    }
    if not asked_for.is_resource:
        return {**spec, "nonResourceAttributes": {"path": asked_for.path, "verb": asked_for.verb}}
    names = ("verb", "group", "version", "resource", "subresource", "namespace", "name")
    about = {each: getattr(asked_for, each) for each in names}
    return {**spec, "resourceAttributes": {key: value for key, value in about.items() if value}}
