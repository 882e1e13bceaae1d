"""What the proxy of a cluster says, and who may say it."""

import asyncio
import threading

import httpx2
import lightkube
import pytest
from lightkube.config.kubeconfig import KubeConfig
from lightkube.config.models import Cluster as ServerConfig
from lightkube.config.models import User as UserConfig
from lightkube.resources.core_v1 import ConfigMap

from trundle.api.access import PEER, Guard, User
from trundle.api.access import Attributes as Asked
from trundle.errors import TrundleError
from trundle.kubernetes._delegation import Delegation
from trundle.kubernetes._front_proxy import FollowedProxy, FrontProxy, front_proxy_of
from trundle.kubernetes.migration import ClusterError, RequestError

SAID = {
    "client-ca-file": "not this one",
    "requestheader-allowed-names": '["front-proxy", "other"]',
    "requestheader-client-ca-file": "CA",
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
    "requestheader-group-headers": '["X-Remote-Group", "X-More"]',
    "requestheader-uid-headers": "[]",
    "requestheader-username-headers": '["X-Remote-User", "X-Second"]',
}
LIST = Asked("list", "", True, "clubs.example.com", "v1", "members", namespace="red")


class Client:
    """Answers in place of a cluster, and notes what it was asked."""

    def __init__(self, data=None, *, allowed=True, users=None):
        self.data, self.allowed, self.users = data, allowed, users or {}
        self.asked = []
        self.is_away = False

    def get(self, resource, name, namespace=None):
        self._note(name)
        assert (resource, namespace) == (ConfigMap, "kube-system")
        return ConfigMap.from_dict({"metadata": {"name": name}, "data": self.data})

    def create(self, review):
        found = review.to_dict()
        self._note(found["kind"])
        if found["kind"] == "TokenReview":
            user = self.users.get(found["spec"]["token"])
            found["status"] = {"authenticated": user is not None, "user": user or {}}
        else:
            found["status"] = {"allowed": self.allowed, "reason": "so it is"}
        return type(review).from_dict(found)

    def _note(self, what):
        self.asked.append(what)
        if self.is_away:
            raise ConnectionRefusedError("refused")


class Cluster:
    def __init__(self, client):
        self.client = client


def peer(*names):
    return {"subject": tuple((("commonName", each),) for each in names)}, b"der"


def headers(**given):
    return [
        (key.replace("_", "-").lower().encode(), each.encode())
        for key, values in given.items()
        for each in ([values] if isinstance(values, str) else values)
    ]


def scope(sent=(), shown=None):
    return {"type": "http", "headers": list(sent), "extensions": {PEER: shown} if shown else {}}


def delegation(client, proxy=None, time=lambda: 0.0):
    given = proxy or FrontProxy("CA", ("front-proxy",))
    return Delegation(Cluster(client), lambda: given, time)


def test_what_the_config_map_says_counts():
    found = front_proxy_of(Cluster(Client(SAID)))
    assert (found.authorities, found.names) == ("CA", ("front-proxy", "other"))
    assert found.users == ("x-remote-user", "x-second")
    assert (found.groups, found.uids) == (("x-remote-group", "x-more"), ())
    sent = headers(X_Second="ann", X_Remote_Group=["a", "b"], X_More="c", X_Remote_Extra_Scopes=["1", "2"])  # fmt: skip
    assert found.user(sent) == User("ann", "", ("a", "b", "c"), {"scopes": ("1", "2")})


def test_names_of_extras_are_decoded():
    sent = [(b"x-remote-user", "Zoë".encode()), (b"x-remote-uid", b"7"), (b"x-remote-extra-a.io%2fb", b"c")]  # fmt: skip
    assert FrontProxy("CA").user(sent) == User("Zoë", "7", (), {"a.io/b": ("c",)})


@pytest.mark.parametrize("change", [
    {"requestheader-client-ca-file": ""},
    {"requestheader-username-headers": "[]"},
    {"requestheader-allowed-names": "front-proxy"},
    {"requestheader-allowed-names": "[1]"},
])  # fmt: skip
def test_a_config_map_that_says_nothing_of_use(change):
    with pytest.raises(ClusterError, match="extension-apiserver-authentication"):
        front_proxy_of(Cluster(Client({**SAID, **change})))


def test_it_is_read_again_and_what_was_read_counts_while_it_cannot_be():
    client, said = Client(dict(SAID)), []
    followed = FollowedProxy(Cluster(client), said.append)
    client.data["requestheader-client-ca-file"] = "new CA"
    followed.read_again()
    assert followed().authorities == "new CA"
    client.is_away = True
    followed.read_again()
    assert followed().authorities == "new CA"
    assert "what was read before still counts" in said[0]


@pytest.mark.parametrize(
    ("shown", "sent"),
    [
        (None, headers(X_Remote_User="root")),
        (None, headers(X_Remote_Group="system:masters")),
        (None, headers(X_Remote_Uid="0")),
        (None, headers(X_Remote_Extra_Scopes="all")),
        (None, [*headers(X_Remote_User="root"), (b"authorization", b"Bearer ann-token")]),
        (peer("stranger"), headers(X_Remote_User="root")),
        (peer("front-proxy", "stranger"), headers(X_Remote_User="root")),
        (peer(), headers(X_Remote_User="root")),
        (peer("stranger"), [(b"authorization", b"Bearer ann-token")]),
        (peer("front-proxy"), []),
        (peer("front-proxy"), headers(X_Remote_User="", X_Remote_Group="system:masters")),
        (None, [(b"authorization", b"Bearer wrong")]),
    ],
)
def test_whoever_is_not_the_proxy_is_refused(shown, sent):
    client = Client(users={"ann-token": {"username": "ann"}})
    with pytest.raises(TrundleError, match="Unauthorized"):
        delegation(client).user(scope(sent, shown))


def test_users_of_the_proxy_and_of_tokens():
    client = Client(
        users={"ann-token": {"username": "ann", "groups": ["a"], "extra": {"k": ["v"]}}}
    )
    asks = delegation(client)
    found = asks.user(scope(headers(X_Remote_User="ben", X_Remote_Group="b"), peer("front-proxy")))
    assert (found.name, found.groups) == ("ben", ("b", "system:authenticated"))
    token = [(b"authorization", b"Bearer ann-token")]
    for _ in range(2):
        found = asks.user(scope(token))
        assert (found.name, found.groups) == ("ann", ("a", "system:authenticated"))
        assert found.extra == {"k": ("v",)}
    assert client.asked == ["TokenReview"]
    assert asks.user(scope()).name == "system:anonymous"


def test_any_name_where_none_is_given():
    asks = delegation(Client(), FrontProxy("CA"))
    assert asks.user(scope(headers(X_Remote_User="ben"), peer("any"))).name == "ben"


def test_answers_count_for_some_seconds():
    now, client = [0.0], Client()
    asks = delegation(client, time=lambda: now[0])
    ann, ben = User("ann"), User("ann", "", ("b",))
    assert asks.decide(ann, LIST).allowed
    assert asks.decide(ann, LIST).reason == "so it is"
    assert len(client.asked) == 1
    asks.decide(ben, LIST)
    assert len(client.asked) == 2, "other groups are another user"
    client.allowed, now[0] = False, 9.9
    assert asks.decide(ann, LIST).allowed
    now[0] = 10.0
    assert not asks.decide(ann, LIST).allowed
    client.allowed, now[0] = True, 11.9
    assert not asks.decide(ann, LIST).allowed
    now[0] = 12.0
    assert asks.decide(ann, LIST).allowed


def test_without_the_cluster_only_what_it_said_counts():
    now, client = [0.0], Client(users={"ann-token": {"username": "ann"}})
    asks = delegation(client, time=lambda: now[0])
    assert asks.decide(User("ann"), LIST).allowed
    client.is_away, now[0] = True, 9.0
    assert asks.decide(User("ann"), LIST).allowed
    now[0] = 10.0
    for ask in (
        lambda: asks.decide(User("ann"), LIST),
        lambda: asks.user(scope([(b"authorization", b"Bearer ann-token")])),
        lambda: asks.namespace("red"),
    ):
        with pytest.raises(ClusterError, match="refused") as caught:
            ask()
        assert not isinstance(caught.value, RequestError)
    assert asks.decide(User("x"), Asked("get", "/readyz")).allowed
    assert not _is_let_through(asks, "/readyzz")


def _is_let_through(asks, path):
    try:
        return asks.decide(User("x"), Asked("get", path)).allowed
    except ClusterError:
        return False


class SlowClient(Client):
    """Answers reviews only while `answers` is set."""

    def __init__(self, **more):
        super().__init__(**more)
        self.answers = threading.Event()
        self.answers.set()

    def create(self, review):
        self.answers.wait(300)
        return super().create(review)


async def _application(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})


async def _status(guard, path, token=None):
    """The status of the answer to a GET."""
    sent = []

    async def send(message):
        sent.append(message)

    given = [(b"authorization", f"Bearer {token}".encode())] if token else []
    request = {"method": "GET", "path": path, "query_string": b"", "server": ("127.0.0.1", 1)}
    await guard({**scope(given), **request}, None, send)
    return sent[0]["status"]


def test_probes_and_what_the_cluster_has_said_do_not_wait_for_it():
    members = "/apis/clubs.example.com/v1/members"
    client = SlowClient(users={"ann-token": {"username": "ann"}})
    guard = Guard(_application, delegation(client))

    async def story():
        assert await _status(guard, members, "ann-token") == 200
        assert await _status(guard, members, "wrong") == 401
        client.answers.clear()
        # More than there are threads that wait for the cluster.
        waiting = [asyncio.create_task(_status(guard, members, f"new{each}")) for each in range(64)]
        await asyncio.sleep(0.1)
        try:
            for path, token, status in [
                ("/livez", None, 200),
                ("/readyz/store", None, 200),
                ("/livez", "ann-token", 200),
                (members, "ann-token", 200),
                (members, "wrong", 401),
            ]:
                assert await asyncio.wait_for(_status(guard, path, token), 30) == status
            assert not any(each.done() for each in waiting)
        finally:
            client.answers.set()
        assert set(await asyncio.gather(*waiting)) == {401}

    asyncio.run(story())


@pytest.mark.parametrize("name", ["..", ".", "default?a=1", "default#x", "default?", "default/status", "%2e%2e", "é"])  # fmt: skip
def test_only_the_name_of_a_namespace_is_one(name):
    def answer(request):
        if request.url.path == "/api/v1/namespaces/default":
            found = {"kind": "Namespace", "metadata": {"name": "default"}}
        elif request.url.path.startswith("/api/v1/namespaces/default/"):
            found = {"kind": "Namespace", "metadata": {"name": "default"}, "status": {}}
        elif request.url.path in {"/api/v1", "/api/v1/namespaces"}:
            found = {"kind": "APIResourceList", "groupVersion": "v1", "resources": []}
        else:
            return httpx2.Response(404, json={"kind": "Status", "code": 404, "message": "none"})
        return httpx2.Response(200, json={"apiVersion": "v1", **found})

    server, user = ServerConfig(server="https://cluster.test"), UserConfig(token="t")
    config = KubeConfig.from_one(cluster=server, user=user).get()
    with lightkube.Client(config, transport=httpx2.MockTransport(answer)) as client:
        asks = delegation(client)
        assert asks.namespace("default")["metadata"]["name"] == "default"
        assert asks.namespace(name) is None
