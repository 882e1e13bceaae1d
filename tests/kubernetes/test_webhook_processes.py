"""`trundle kube webhook --workers`: processes that share a port, die, are replaced and end, as the installed command runs them."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import apis
import pytest
import urllib3
import warm
import yaml
from apis import GROUP, NEW, OLD
from authorities import Authority
from webhooks import Webhook

from trundle._tls import verifying
from trundle.project import generate, load_config

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="it looks at processes")
NUMBER = 2
TEXT = {"type": "string"}
NOT_READ = "what was read before still counts"
CLUBS = {OLD: ("team", "group"), NEW: ("name", "group")}
"""The properties of a second resource type, whose `team` becomes something else than that of members."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("processes")
    (made / "schemas").mkdir()
    for name, text in apis.SCHEMAS.items():
        (made / "schemas" / name).write_text(text)
    for version, properties in CLUBS.items():
        schema = {"title": "Club", "type": "object", "properties": dict.fromkeys(properties, TEXT)}
        (made / "schemas" / version).mkdir()
        (made / "schemas" / version / "club.yaml").write_text(yaml.safe_dump(schema))
    changes = {OLD: {**apis.CONFIG["changes"][OLD], "Club": {"rename": {"team": "name"}}}}
    config = {"package": "clubs", "sources": ["schemas"], **apis.CONFIG, "changes": changes}
    (made / "trundle.yaml").write_text(yaml.safe_dump(config))
    generate(load_config(made / "trundle.yaml"))
    return made


@pytest.fixture
def webhook(folder, tmp_path):
    started = Webhook(folder, Authority(tmp_path), "--workers", str(NUMBER))
    try:
        until(lambda: is_serving(started))
        yield started
    finally:
        started.stop(signal.SIGKILL)


def processes(webhook):
    """The processes that answer."""
    parent = webhook.process.pid
    try:
        text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    except FileNotFoundError:
        return set()
    return set(map(int, text.split()))


def is_there(process):
    """Whether a process runs, as a zombie does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(0.02)


def opened(process, kind):
    """How many files of a kind a process has open."""
    found = 0
    for each in Path(f"/proc/{process}/fd").glob("*"):
        with contextlib.suppress(FileNotFoundError):  # It was closed just now.
            found += str(each.readlink()).startswith(kind)
    return found


def is_serving(webhook):
    """Whether all processes are there, each with its event loop."""
    running = processes(webhook)
    return len(running) == NUMBER and all(opened(e, "anon_inode:[eventpoll]") for e in running)


def rotate(webhook):
    """Puts a certificate of another authority in the place of the webhook's, by a link, as Kubernetes does where a Secret is mounted."""
    folder = webhook.certificate.parent / "other"
    folder.mkdir()
    other = Authority(folder)
    link = folder / "link"
    link.symlink_to(other.server("webhook"))
    link.replace(webhook.certificate)
    webhook.authority = other.certificate


def sockets(process):
    return opened(process, "socket:")


def document(kind, version, named, **properties):
    head = {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": {"name": named}}
    return head | properties


def review(number, first=0):
    names = [f"m{each}" for each in range(first, first + number)]
    return review_of(NEW, *(document("Member", OLD, each, team="red") for each in names))


def review_of(version, *objects):
    request = {"uid": "42", "desiredAPIVersion": f"{GROUP}/{version}", "objects": objects}
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview"}
    return json.dumps({**head, "request": request}).encode()


def connections(webhook):
    """A client that keeps its connection."""
    return urllib3.PoolManager(ca_certs=str(webhook.authority), retries=False)


def converted(webhook, body, pool=None):
    """What a review is answered with."""
    with contextlib.ExitStack() as stack:
        pool = pool or stack.enter_context(connections(webhook))
        answer = pool.request("POST", f"{webhook.url}/convert", body=body)
    assert answer.status == 200
    response = answer.json()["response"]
    assert response["result"] == {"status": "Success"}
    return response["convertedObjects"]


def asked(webhook, body, pool=None):
    """The names of what a review is answered with."""
    return [each["metadata"]["name"] for each in converted(webhook, body, pool)]


@contextlib.contextmanager
def connected(webhook):
    """Clients with a connection each, so many that every process answers some; each was answered."""
    idle = {each: sockets(each) for each in processes(webhook)}
    assert len(idle) == NUMBER
    with contextlib.ExitStack() as stack:
        pools = []
        deadline = time.monotonic() + 60
        while not all(sockets(each) > before for each, before in idle.items()):
            assert time.monotonic() < deadline, "one process takes all connections"
            pools.append(stack.enter_context(connections(webhook)))
            assert asked(webhook, review(1, len(pools)), pools[-1]) == [f"m{len(pools)}"]
        yield pools


def counted(webhook, name):
    lines = webhook.get("/metrics")[1].splitlines()
    return sum(float(each.split()[-1]) for each in lines if each.startswith(name))


@pytest.mark.full
def test_all_processes_answer_and_show_what_all_have_counted(webhook):
    assert webhook.get("/readyz") == (200, "ok")
    with connected(webhook) as pools:
        shown = {counted(webhook, "trundle_webhook_conversions_total") for _ in range(10)}
        assert shown == {len(pools)}


@pytest.mark.full
def test_all_processes_take_a_certificate_that_was_rotated(webhook):
    """Also one that takes the place of another; connections that there are go on."""
    with connected(webhook) as before:
        former = webhook.authority
        rotate(webhook)
        with connected(webhook):
            for number, each in enumerate(before):
                assert asked(webhook, review(1, number), each) == [f"m{number}"]
        with urllib3.PoolManager(ca_certs=str(former), retries=False) as pool:
            for _ in range(10):
                with pytest.raises(urllib3.exceptions.SSLError):
                    pool.request("GET", f"{webhook.url}/readyz")
    victim = min(processes(webhook))
    os.kill(victim, signal.SIGKILL)
    until(lambda: victim not in processes(webhook) and is_serving(webhook))
    with connected(webhook):
        pass
    assert NOT_READ not in webhook.messages


@pytest.mark.full
def test_a_damaged_certificate_is_reported_and_changes_nothing_in_any_process(webhook):
    webhook.certificate.write_text("damaged")
    with connected(webhook):
        assert webhook.messages.count(NOT_READ) == NUMBER
    rotate(webhook)
    with connected(webhook):
        pass


@pytest.mark.full
def test_two_resource_types_of_a_group_alternate_on_one_connection(webhook):
    """What is asked of one is never answered as if it were the other, also where both have the same properties."""
    plain = {"team": "red", "group": "one"}
    with connected(webhook) as pools:
        for pool in pools:
            for number in range(3):
                name = f"x{number // 2}"  # The second review is answered by what is kept.
                old = document("Club", OLD, name, **plain)
                club = converted(webhook, review_of(NEW, old), pool)
                assert club == [document("Club", NEW, name, name="red", group="one")]
                member = document("Member", OLD, name, team="red")
                found = converted(webhook, review_of(NEW, member), pool)
                assert found == [document("Member", NEW, name, group="red")]
                assert converted(webhook, review_of(OLD, *club), pool) == [old]
                assert converted(webhook, review_of(OLD, *found), pool) == [member]
                mixed = review_of(OLD, *club, *found, *club)
                assert converted(webhook, mixed, pool) == [old, member, old]


@pytest.mark.full
def test_a_process_that_is_killed_is_replaced_while_others_answer(webhook):
    stop, answers, broken = threading.Event(), [], []

    def ask():
        while not stop.is_set():
            try:
                answers.append(asked(webhook, review(3)))
            except urllib3.exceptions.HTTPError as error:
                broken.append(error)  # The process died that had the connection.

    asking = [threading.Thread(target=ask) for _ in range(3)]
    for each in asking:
        each.start()
    killed = set()
    try:
        for _ in range(2):
            running = processes(webhook)
            victim = min(running)
            killed.add(victim)
            os.kill(victim, signal.SIGKILL)
            until(lambda gone=victim: gone not in processes(webhook))
            before, lost = len(answers), len(broken)
            until(lambda seen=before: len(answers) > seen + 20)
            assert len(broken) <= lost + len(asking)  # What has just been found out.
            until(lambda: len(processes(webhook)) == NUMBER)
    finally:
        stop.set()
        for each in asking:
            each.join()
    assert all(each == ["m0", "m1", "m2"] for each in answers)
    lines = re.findall(r"process (\d+) ended by signal SIGKILL; another one", webhook.messages)
    assert set(map(int, lines)) == killed
    assert counted(webhook, "trundle_webhook_") > 0
    assert webhook.stop() == 0


def begun(webhook, body):
    """A connection with a request that the webhook reads; half of its body is still to come."""
    parts = urlsplit(webhook.url)
    raw = socket.create_connection((parts.hostname, parts.port), timeout=60)
    client = verifying(webhook.authority).wrap_socket(raw, server_hostname=parts.hostname)
    head = f"POST /convert HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Length: {len(body)}\r\n"
    client.sendall(f"{head}Expect: 100-continue\r\n\r\n".encode())
    assert client.recv(1000).startswith(b"HTTP/1.1 100 ")
    client.sendall(body[: len(body) // 2])
    return client


def refuses(webhook):
    """Whether no process takes connections any more."""
    parts = urlsplit(webhook.url)
    try:
        socket.create_connection((parts.hostname, parts.port), timeout=60).close()
    except ConnectionRefusedError:
        return True
    return False


@pytest.mark.full
def test_sigterm_lets_all_processes_finish_what_they_began(webhook):
    running, body, clients = processes(webhook), review(1000), []
    idle = {each: sockets(each) for each in running}
    while not all(sockets(each) > before for each, before in idle.items()):
        assert len(clients) < 1000, "one process takes all connections"
        clients.append(begun(webhook, body))
    webhook.process.send_signal(signal.SIGTERM)
    until(lambda: refuses(webhook))
    assert all(map(is_there, running))
    for client in clients:
        client.sendall(body[len(body) // 2 :])
        answer = http.client.HTTPResponse(client)
        answer.begin()
        assert len(json.load(answer)["response"]["convertedObjects"]) == 1000
        client.close()
    assert webhook.process.wait(60) == 0
    assert not any(map(is_there, running))
    assert "ended by" not in webhook.messages


@pytest.mark.full
def test_sigterm_to_one_process_alone_is_no_end(webhook):
    victim = min(processes(webhook))
    os.kill(victim, signal.SIGTERM)
    until(lambda: victim not in processes(webhook))
    until(lambda: len(processes(webhook)) == NUMBER)
    assert asked(webhook, review(1)) == ["m0"]
    assert f"process {victim} ended by exit code 0" in webhook.messages


@pytest.mark.full
def test_a_port_that_another_webhook_has_is_refused(webhook):
    port = webhook.url.rpartition(":")[2]
    command = [warm.TRUNDLE, "kube", "webhook", "--host", "127.0.0.1", "--port", port]
    given = ["--tls-cert", webhook.certificate, "--tls-key", webhook.certificate]
    for number in ("1", "2"):
        found = subprocess.run(
            [*command, *given, "--workers", number],
            cwd=webhook.folder, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert found.returncode == 1
        assert (
            f"127.0.0.1:{port}: expected an address to listen on, found Address already in use"
            in found.stderr
        )


@pytest.mark.full
def test_no_process_outlives_a_parent_that_is_killed(webhook):
    running = processes(webhook)
    assert asked(webhook, review(1)) == ["m0"]
    maps = "".join(Path(f"/proc/{each}/maps").read_text() for each in running)
    folders = set(re.findall(r"\S*/trundle-webhook-[^/\s]+", maps))
    assert len(folders) == 1
    webhook.process.kill()
    webhook.process.wait()
    until(lambda: not any(map(is_there, running)))
    assert not Path(folders.pop()).exists()


@pytest.mark.full
def test_a_signal_while_a_process_is_replaced_ends_all(webhook):
    running = processes(webhook)
    os.kill(min(running), signal.SIGKILL)
    until(lambda: "another one takes its place" in webhook.messages)
    assert webhook.stop() == 0
    assert not any(map(is_there, running))
