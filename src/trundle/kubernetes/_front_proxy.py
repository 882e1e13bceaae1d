"""The front proxy of a cluster: its API server, which passes requests on and says in headers who asks.

The rules are those of "Configure the Aggregation Layer" in Kubernetes' documentation: https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/
"""

import contextlib
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from lightkube.resources.core_v1 import ConfigMap

from trundle.api.access import User, user_of
from trundle.kubernetes._cluster import Cluster, ClusterError, RequestError, asked, plain

_NAMESPACE, _NAME = "kube-system", "extension-apiserver-authentication"
_WHERE = f"ConfigMap {_NAMESPACE}/{_NAME}"
_AGAIN = 60.0
"""After how many seconds it is read again."""

_Header = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class FrontProxy:
    """How a cluster's API server shows who it is, and says who asks. Names of headers are in lower case.

    Attributes:
        authorities: the certificates of the authorities that sign the proxy's, in PEM.
        names: the common names that its certificate may have; none means any.
        users: the headers that name the user; the first that is there counts.
        groups: the headers that name groups, each of them one or more times.
        uids: the headers that have the user's uid.
        extras: how the names of headers begin that have what else is known of the user.
    """

    authorities: str
    names: tuple[str, ...] = ()
    users: tuple[str, ...] = ("x-remote-user",)
    groups: tuple[str, ...] = ("x-remote-group",)
    uids: tuple[str, ...] = ("x-remote-uid",)
    extras: tuple[str, ...] = ("x-remote-extra-",)

    def is_shown_by(self, peer: tuple[Mapping[str, Any], bytes]) -> bool:
        """Whether a client is the proxy, by its certificate, which one of the authorities has signed."""
        found = user_of(*peer)
        return found is not None and (not self.names or found.name in self.names)

    def is_claimed(self, headers: Iterable[_Header]) -> bool:
        """Whether a request has a header that only the proxy may send."""
        exact = (*self.users, *self.groups, *self.uids)
        named = [key.decode("latin-1") for key, _ in headers]
        return any(each in exact or each.startswith(self.extras) for each in named)

    def user(self, headers: Iterable[_Header]) -> User | None:
        """The user that the proxy names; None where it names none."""
        found: dict[str, list[str]] = {}
        for key, value in headers:
            found.setdefault(key.decode("latin-1"), []).append(value.decode("utf-8", "replace"))
        name = _first(found, self.users)
        if not name:
            return None
        groups = [each for header in self.groups for each in found.get(header, ())]
        extra: dict[str, tuple[str, ...]] = {}
        for header, values in found.items():
            for prefix in filter(header.startswith, self.extras):
                called = unquote(header.removeprefix(prefix))
                extra[called] = (*extra.get(called, ()), *values)
        return User(name, _first(found, self.uids), tuple(groups), extra)


def _first(found: Mapping[str, list[str]], names: Iterable[str]) -> str:
    return next((found[each][0] for each in names if found.get(each) and found[each][0]), "")


def front_proxy_of(cluster: Cluster) -> FrontProxy:
    """The front proxy of a cluster, as its API server says in a ConfigMap.

    Raises:
        ClusterError: it cannot be read, or says nothing of a proxy.
    """
    try:
        with asked(_WHERE):
            found = plain(cluster.client.get(ConfigMap, _NAME, namespace=_NAMESPACE))
    except RequestError as error:
        advice = f"bind the role {_NAME}-reader of {_NAMESPACE} to the server's account, or give --proxy-ca"
        raise ClusterError(_WHERE, "how the cluster's proxy shows who it is", error.found, advice) from None  # fmt: skip
    data: Mapping[str, str] = found.get("data") or {}
    authorities = data.get("requestheader-client-ca-file", "")
    users = _listed(data, "requestheader-username-headers")
    if not authorities or not users:
        expected = "requestheader-client-ca-file and requestheader-username-headers"
        advice = "start the cluster's API server with the options of the aggregation layer"
        raise ClusterError(_WHERE, expected, ", ".join(sorted(data)) or "nothing", advice)
    return FrontProxy(
        authorities,
        _listed(data, "requestheader-allowed-names"),
        _lower(users),
        _lower(_listed(data, "requestheader-group-headers")),
        _lower(_listed(data, "requestheader-uid-headers")),
        _lower(_listed(data, "requestheader-extra-headers-prefix")),
    )


def _listed(data: Mapping[str, str], key: str) -> tuple[str, ...]:
    try:
        found = json.loads(data.get(key) or "[]")
    except ValueError:
        found = None
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise ClusterError(f"{_WHERE}: {key}", "a list of texts in JSON", repr(data[key]), "")
    return tuple(found)


def _lower(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(each.lower() for each in names)


class FollowedProxy:
    """The front proxy of a cluster, as it is now: its authorities are renewed while servers run.

    Args:
        cluster: the cluster.
        complain: is given what goes wrong when it is read again; what was read before goes on to count.

    Raises:
        ClusterError: it cannot be read at first.
    """

    def __init__(self, cluster: Cluster, complain: Callable[[str], None]) -> None:
        self._cluster = cluster
        self._complain = complain
        self._value = front_proxy_of(cluster)

    def __call__(self) -> FrontProxy:
        """The front proxy."""
        return self._value

    def read_again(self) -> None:
        """Reads what the cluster says now."""
        try:
            self._value = front_proxy_of(self._cluster)
        except ClusterError as error:
            self._complain(f"{error}; what was read before still counts")

    @contextlib.contextmanager
    def following(self) -> Iterator[None]:
        """Reads it again every minute, within."""
        ended = threading.Event()

        def follow() -> None:
            while not ended.wait(_AGAIN):
                self.read_again()

        thread = threading.Thread(target=follow, name="front-proxy", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
