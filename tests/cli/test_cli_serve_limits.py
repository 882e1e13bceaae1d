"""What clients of `trundle serve` cannot do: send or read too slowly, too much, too often; and what operators see."""

import json
import re
import shutil
import socket
import time

import pytest
from access import written
from apis import CONFIG, GROUP, SCHEMAS
from projects import Installer
from served import Served

MEMBERS = f"/apis/{GROUP}/v2/namespaces/default/members"
IMPATIENT = """
import sys
from trundle.api import _connections
_connections.Connection.patience = _connections.Patience(headers=1, body=1, reading=1, refused=5)
from trundle.__main__ import main
sys.argv = ["trundle", *sys.argv[1:]]
main()
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clubs")
    return Installer(folder)(SCHEMAS, config=CONFIG).project.folder


@pytest.fixture(scope="module")
def served(project, tmp_path_factory):
    folder = shutil.copytree(project, tmp_path_factory.mktemp("limited") / "project")
    server = Served(
        folder, *written(folder), "--most-watches", "2", "--audit", folder / "audit.jsonl"
    )  # fmt: skip
    yield server
    server.kill()


@pytest.fixture(scope="module")
def impatient(project, tmp_path_factory):
    """A server that waits for a second only."""
    folder = shutil.copytree(project, tmp_path_factory.mktemp("impatient") / "project")
    (folder / "impatient.py").write_text(IMPATIENT)
    server = Served(folder, program=folder / "impatient.py")
    yield server
    server.kill()


def bearing(token):
    return {"authorization": f"Bearer {token}"}


def answer_to(port, data, *, seconds=60):
    """Everything that a server sends on a connection on which a client sends something, and then waits."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as client:
        client.sendall(data)
        found = b""
        while part := client.recv(65536):
            found += part
        return found


@pytest.mark.full
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", b"408"),
        (b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-", b"408"),
        (
            b"POST "
            + MEMBERS.encode()
            + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
            b"408",
        ),
        (b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 1_100_000, b"431"),
        (b"nonsense\r\n\r\n", b"400"),
    ],
)
def test_clients_that_send_too_slowly_or_nonsense_are_cut_off(impatient, data, said):
    began = time.monotonic()
    found = answer_to(impatient.port, data)
    assert found.startswith(b"HTTP/1.1 " + said), found[:200]
    if said == b"408":
        assert b'"reason":"Timeout"' in found
        assert time.monotonic() - began > 0.9
    assert impatient.ask("GET", MEMBERS).status == 200


@pytest.mark.full
@pytest.mark.parametrize(
    ("start", "said"),
    [
        (b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 1_100_000, b"431"),
        (b"nonsense\r\n\r\n", b"400"),
    ],
)
def test_a_client_that_is_refused_while_it_sends_reads_the_answer(impatient, start, said):
    with socket.create_connection(("127.0.0.1", impatient.port), timeout=60) as client:
        client.sendall(start)
        for _ in range(4):
            time.sleep(0.05)
            client.sendall(b"x" * 500_000)
        found = b""
        while part := client.recv(65536):
            found += part
    assert found.startswith(b"HTTP/1.1 " + said), found[:200]
    assert json.loads(found.partition(b"\r\n\r\n")[2])["kind"] == "Status"


@pytest.mark.full
def test_a_client_that_goes_on_to_send_after_it_was_refused_is_cut_off(impatient):
    def send_on(client):
        for _ in range(6000):
            client.sendall(b"nonsense\r\n\r\n" * 100)
            time.sleep(0.01)

    began = time.monotonic()
    with (
        socket.create_connection(("127.0.0.1", impatient.port), timeout=60) as client,
        pytest.raises(ConnectionError),
    ):
        send_on(client)
    assert time.monotonic() - began < 45


@pytest.mark.full
def test_a_watcher_that_does_not_read_is_ended_with_a_status(impatient):
    with socket.create_connection(("127.0.0.1", impatient.port), timeout=60) as slow:
        slow.sendall(f"GET {MEMBERS}?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert slow.recv(15) == b"HTTP/1.1 200 OK"
        for number in range(20):
            large = {
                "metadata": {"name": f"large{number}"},
                "group": "a",
                "free": {"x": "x" * 700_000},
            }
            assert impatient.ask("POST", MEMBERS, large).status == 201
        deadline = time.monotonic() + 60
        while "watch=1 200" not in impatient.messages:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        found = b""
        while part := slow.recv(1 << 20):
            found += part
        assert b'"type":"ERROR"' in found[-1000:]
        assert b"the client reads too slowly" in found[-1000:]
    for number in range(20):
        assert impatient.ask("DELETE", f"{MEMBERS}/large{number}").status == 200


@pytest.mark.full
def test_a_user_who_asks_too_often_waits_and_others_do_not(project, tmp_path):
    folder = shutil.copytree(project, tmp_path / "project")
    server = Served(folder, *written(folder), "--most-requests", "1")
    try:
        asked = (server.ask("GET", MEMBERS, headers=bearing("ben-token")) for _ in range(200))
        refused = next(each for each in asked if each.status != 200)
        assert (refused.status, refused.body["reason"]) == (429, "TooManyRequests")
        seconds = int(refused.headers["retry-after"])
        assert refused.body["details"] == {"retryAfterSeconds": seconds}
        assert server.ask("GET", MEMBERS, headers=bearing("root-token")).status == 200
        time.sleep(seconds)
        assert server.ask("GET", MEMBERS, headers=bearing("ben-token")).status == 200
    finally:
        server.kill()


@pytest.mark.full
def test_a_user_has_so_many_watches_and_no_more(served):
    connections = [served.connect() for _ in range(3)]
    answers = []
    for each in connections:
        each.request("GET", f"{MEMBERS}?watch=true", headers=bearing("root-token"))
        answers.append(each.getresponse())
    assert [each.status for each in answers] == [200, 200, 429]
    answers[0].close()
    connections[0].close()
    deadline = time.monotonic() + 60
    path = f"{MEMBERS}?watch=true&timeoutSeconds=1"
    while served.ask("GET", path, headers=bearing("root-token")).status != 200:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    for each, answer in zip(connections, answers, strict=True):
        each.close()
        answer.close()


@pytest.mark.full
def test_large_and_deep_bodies_are_refused(served):
    def post(body):
        return served.ask("POST", MEMBERS, body, headers=bearing("root-token"))

    large = post(b'{"metadata":{"name":"x"},"group":"' + b"x" * (3 << 20) + b'"}')
    assert (large.status, large.body["reason"]) == (413, "RequestEntityTooLarge")
    assert post(b'{"a":' * 100_000 + b"1" + b"}" * 100_000).status == 400
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    for body, code in (
        (b" " * 100_000, 400),
        (b" " * (3 << 20) + b" ", 413),
        (b"[" * 60_000, 400),
        (b"k8s\x00\xff", 400),
        (b"[]", 400),
    ):
        assert served.ask("POST", path, body, headers=bearing("root-token")).status == code
    kubernetes = "application/vnd.kubernetes.protobuf"
    for body in (
        b"",
        b"k8s\x00",
        b"k8s\x00\x0a\xff",
        b"k8s\x00" + b"\xff" * 20,
        b"k8s\x00\x12\x7f",
    ):
        found = served.ask("POST", path, body, headers=bearing("root-token"), media_type=kubernetes)
        assert (found.status, found.body["reason"]) == (400, "BadRequest")


def test_metrics_count_requests_watches_conversions_and_objects(served):
    root = bearing("root-token")
    body = {"metadata": {"name": "counted"}, "group": "red"}
    assert served.ask("POST", MEMBERS, body, headers=root).status == 201
    old = MEMBERS.replace("v2", "v1")
    assert served.ask("GET", f"{old}/counted", headers=root).status == 200
    assert served.ask("GET", "/made/up/path", headers=root).status == 404
    assert served.ask("GET", "/apis/made.up/v1/things", headers=root).status == 404
    watch = served.connect()
    watch.request("GET", f"{old}?watch=1", headers=root)
    opened = watch.getresponse()
    found = served.ask("GET", "/metrics", headers=root).ok()
    watch.close()
    opened.close()
    about = f'group="{GROUP}",resource="members",subresource="",verb="GET",version="v1"'
    assert re.search(rf'^apiserver_request_total{{code="200",{about}}} \d', found, re.MULTILINE)
    assert f"apiserver_request_duration_seconds_count{{{about}}}" in found
    watching = about.replace("GET", "WATCH")
    assert f"apiserver_longrunning_requests{{{watching}}} 1.0" in found
    conversions = f'trundle_conversions_total{{group="{GROUP}",resource="members",result="done",version="v1"}}'
    assert conversions in found
    stored = re.search(
        r'^trundle_store_objects\{.*resource="Member",storage_version="v2"\} (\d+)',
        found,
        re.MULTILINE,
    )
    assert int(stored[1]) >= 1
    assert "made.up" not in found
    assert 'verb="other"' in found
    assert served.ask("GET", "/metrics").status == 403


@pytest.mark.full
def test_health_is_said_in_detail(served):
    root = bearing("root-token")
    assert served.ask("GET", "/livez").body == "ok"
    assert served.ask("GET", "/readyz", verbose="").body == (
        "[+]ping ok\n[+]store ok\n[+]shutdown ok\nreadyz check passed\n"
    )
    assert "[+]store excluded: ok" in served.ask("GET", "/readyz", verbose="", exclude="store").body
    assert served.ask("GET", "/readyz/store", headers=root).body == "ok"
    assert served.ask("GET", "/readyz/store").status == 403
    assert served.ask("GET", "/readyz/other", headers=root).status == 404


@pytest.mark.full
def test_the_audit_says_who_did_what_and_how_it_ended(served):
    root = {**bearing("root-token"), "impersonate-user": "ann", "user-agent": "auditor/1"}
    root |= {"x-forwarded-for": "203.0.113.9, unknown , 2001:DB8::1"}  # What a client can make up.
    refused = served.ask("DELETE", f"{MEMBERS}/bob", headers=root)
    served.ask("GET", MEMBERS, headers=bearing("wrong"))
    watched = served.ask(
        "GET", MEMBERS, headers=bearing("root-token"), watch="1", timeoutSeconds="1"
    )
    deadline = time.monotonic() + 60
    while True:  # The answer is out before it is written down.
        whole = (served.folder / "audit.jsonl").read_text().rpartition("\n")[0]
        events = [json.loads(each) for each in whole.splitlines()]
        if sum(each["auditID"] == watched.headers["audit-id"] for each in events) == 2:
            break
        assert time.monotonic() < deadline
        time.sleep(0.02)
    (event,) = [each for each in events if each["auditID"] == refused.headers["audit-id"]]
    times = {event.pop("requestReceivedTimestamp"), event.pop("stageTimestamp")}
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", each) for each in times)
    assert event == {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": refused.headers["audit-id"],
        "stage": "ResponseComplete",
        "requestURI": f"{MEMBERS}/bob",
        "verb": "delete",
        "user": {"username": "root", "uid": "u0", "groups": ["system:masters", "system:authenticated"]},
        "impersonatedUser": {"username": "ann", "groups": ["system:authenticated"]},
        "sourceIPs": ["203.0.113.9", "2001:db8::1", "127.0.0.1"],
        "userAgent": "auditor/1",
        "objectRef": {
            "resource": "members", "namespace": "default", "name": "bob", "apiGroup": GROUP, "apiVersion": "v2",
        },
        "responseStatus": {"metadata": {}, "status": "Failure", "reason": "Forbidden", "code": 403},
        "annotations": {"authorization.k8s.io/decision": "forbid", "authorization.k8s.io/reason": ""},
    }  # fmt: skip
    unknown = [each for each in events if each["responseStatus"]["code"] == 401]
    assert unknown
    assert unknown[-1]["user"] == {}
    mine = [each for each in events if each["auditID"] == watched.headers["audit-id"]]
    assert [each["stage"] for each in mine] == [
        "ResponseStarted",
        "ResponseComplete",
    ]
    assert "root-token" not in (served.folder / "audit.jsonl").read_text()
    assert re.search(rf"Z ann DELETE {MEMBERS}/bob 403 \d+ B \d+\.\d ms", served.messages)
