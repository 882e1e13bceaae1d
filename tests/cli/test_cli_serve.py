"""`trundle serve` as a process: requests, watches, signals, kubectl."""

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest
import warm
from amounts import full
from apis import CONFIG, GROUP, SCHEMAS
from projects import Installer
from said import saying

MEMBERS = f"/apis/{GROUP}/v2/namespaces/default/members"


class Served:
    """A server of a project in a process of its own.

    Attributes:
        folder: the project's folder.
        process: the process.
        url: where it listens.
    """

    def __init__(self, folder, *options):
        self.folder = folder
        command = [*warm.script(), "serve", "--port", "0", *options]
        with (folder / "errors.txt").open("wb") as errors:
            self.process = subprocess.Popen(command, cwd=folder, stderr=errors)
        deadline = time.monotonic() + 60
        while not (found := re.search(r"^serving on (\S+)\n", self.messages, re.MULTILINE)):
            assert self.process.poll() is None, self.messages
            assert time.monotonic() < deadline, self.messages
            time.sleep(0.02)
        self.url = found[1]

    @property
    def messages(self):
        """What the server wrote to standard error."""
        return (self.folder / "errors.txt").read_text()

    @property
    def port(self):
        return int(self.url.rpartition(":")[2])

    def call(self, method, path, body=None, media_type="application/json"):
        """The body of an answer."""
        body = saying(method, path, body, media_type)
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": media_type}
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def create(self, name, **properties):
        body = {"metadata": {"name": name}, "group": "red", **properties}
        return self.call("POST", MEMBERS, body)

    def stop(self, number=signal.SIGTERM):
        """Stops the server; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(60)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clubs")
    installed = Installer(folder)(SCHEMAS, config=CONFIG)
    return installed.project.folder


@pytest.fixture
def folder(project, tmp_path):
    return shutil.copytree(project, tmp_path / "project")


@pytest.fixture
def served(folder):
    server = Served(folder)
    yield server
    server.process.kill()
    server.process.wait()


class Watched(threading.Thread):
    """Reads a watch until it ends.

    Attributes:
        events: the events so far.
    """

    def __init__(self, server, path):
        super().__init__(daemon=True)
        self.events = []
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("GET", path)
        self._connection, self._answer = connection, connection.getresponse()
        self.start()

    def run(self):
        with contextlib.closing(self._connection), self._answer:
            for line in self._answer:
                self.events.append(json.loads(line))

    def names(self):
        return [(x["type"], x["object"]["metadata"]["name"]) for x in self.events]

    def wait_for(self, count):
        deadline = time.monotonic() + 60
        while len(self.events) < count and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(self.events) >= count, self.events


def test_a_watch_at_one_version_shows_what_another_wrote(served):
    served.create("ada")
    old = MEMBERS.replace("v2", "v1")
    watched = Watched(served, f"{old}?watch=true")
    watched.wait_for(1)
    patch = {"group": "blue"}
    served.call("PATCH", f"{MEMBERS}/ada", patch, "application/merge-patch+json")
    served.create("bob")
    served.call("DELETE", f"{MEMBERS}/ada")
    watched.wait_for(4)
    assert watched.names() == [
        ("ADDED", "ada"),
        ("MODIFIED", "ada"),
        ("ADDED", "bob"),
        ("DELETED", "ada"),
    ]
    assert [each["object"]["team"] for each in watched.events] == ["red", "blue", "red", "blue"]
    versions = [int(each["object"]["metadata"]["resourceVersion"]) for each in watched.events]
    assert versions == sorted(set(versions))
    later = Watched(served, f"{MEMBERS}?watch=true&resourceVersion={versions[1]}")
    later.wait_for(2)
    assert later.events[0]["object"]["metadata"]["resourceVersion"] == str(versions[2])


@pytest.mark.full
def test_many_watchers_see_each_change_of_many_writers_once(served):
    first = [
        Watched(served, f"{MEMBERS.replace('v2', version)}?watch=1") for version in ("v1", "v2") * 4
    ]

    def write(number):
        for each in range(10):
            served.create(f"m{number}-{each}")

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    listed = served.call("GET", MEMBERS)
    wanted = {each["metadata"]["name"] for each in listed["items"]}
    assert len(wanted) == 40
    for each in first:
        each.wait_for(40)
        versions = [int(x["object"]["metadata"]["resourceVersion"]) for x in each.events]
        assert versions == sorted(set(versions))
        assert {name for _, name in each.names()} == wanted


@pytest.mark.parametrize("number", [signal.SIGTERM, full(signal.SIGINT)])
def test_a_signal_ends_watches_and_the_server(served, number):
    watched = Watched(served, f"{MEMBERS}?watch=true")
    served.create("ada")
    watched.wait_for(1)
    assert served.stop(number) == 0
    watched.join(60)
    assert not watched.is_alive()
    assert "Traceback" not in served.messages


@pytest.mark.full
def test_what_was_answered_is_there_after_a_kill(served):
    served.create("ada")
    served.stop(signal.SIGKILL)
    again = Served(served.folder)
    with contextlib.ExitStack() as stack:
        stack.callback(again.process.wait)
        stack.callback(again.process.kill)
        assert again.call("GET", f"{MEMBERS}/ada")["group"] == "red"


def test_what_follows_from_a_deletion_is_done(served):
    owner = served.create("ada")
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": "ada"}
    owned = {"name": "bob", "ownerReferences": [{**reference, "uid": owner["metadata"]["uid"]}]}
    served.call("POST", MEMBERS, {"metadata": owned, "group": "red"})
    watched = Watched(served, f"{MEMBERS}?watch=true")
    watched.wait_for(2)
    served.call("DELETE", f"{MEMBERS}/ada")
    watched.wait_for(4)
    assert watched.names()[2:] == [("DELETED", "ada"), ("DELETED", "bob")]


@pytest.mark.full
def test_a_second_server_of_a_file_is_refused(served):
    command = [warm.TRUNDLE, "serve", "--port", "0"]
    found = subprocess.run(
        command, cwd=served.folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert found.returncode == 8
    assert "found one that is being served; stop the other server" in found.stderr


@pytest.mark.full
def test_a_port_that_is_taken_is_named(served, tmp_path):
    other = tmp_path / "other.db"
    command = [warm.TRUNDLE, "serve", "--port", str(served.port), "--store", str(other)]
    found = subprocess.run(
        command, cwd=served.folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert found.returncode == 1
    assert found.stderr == (
        f"error: 127.0.0.1:{served.port}: expected an address to listen on, found Address already in use;"
        " stop what listens there, or choose another --port\n"
    )


@pytest.mark.full
def test_where_a_server_listens_is_printed_for_programs(folder, capfd):
    server = Served(folder, "-o", "json")
    assert server.stop() == 0
    assert json.loads(capfd.readouterr().out) == {"serving": server.url}


@pytest.mark.full
@pytest.mark.parametrize("form", ["text", "json"])
def test_requests_are_logged_as_text_and_as_json(served, form):
    served.stop()
    again = Served(served.folder, "--log", form)
    again.create("ada")
    with pytest.raises(urllib.error.HTTPError):
        again.call("GET", f"{MEMBERS}/none")
    again.stop()
    lines = again.messages.splitlines()[1:]
    if form == "json":
        found = [(x["method"], str(x["status"])) for x in map(json.loads, lines)]
    else:
        found = [(x.split()[2], x.split()[4]) for x in lines]
    assert found == [("POST", "201"), ("GET", "404")]


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")
def test_kubectl_creates_edits_and_explains(served, tmp_path):
    command = [warm.TRUNDLE, "kubeconfig", "--port", str(served.port)]
    config = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (tmp_path / "config").write_text(config)
    environment = {**os.environ, "KUBECONFIG": str(tmp_path / "config"), "HOME": str(tmp_path)}

    def tried(*arguments, given=None):
        return subprocess.run(
            ["kubectl", *arguments],
            input=given,
            capture_output=True,
            text=True,
            timeout=60,
            env=environment,
            check=False,
        )

    def kubectl(*arguments, given=None):
        done = tried(*arguments, given=given)
        assert done.returncode == 0, done.stderr
        return done.stdout

    document = {"apiVersion": f"{GROUP}/v2", "kind": "Member", "metadata": {"name": "ada"}}
    written = json.dumps({**document, "group": "red", "note": "n"})
    assert kubectl("apply", "-f", "-", given=written) == "member.clubs.example.com/ada created\n"
    assert kubectl("apply", "-f", "-", given=written) == "member.clubs.example.com/ada unchanged\n"
    old = json.loads(kubectl("get", f"members.v1.{GROUP}", "ada", "-o", "json"))
    assert old["team"] == "red"
    edited = json.dumps({**old, "team": "blue"})
    kubectl("replace", "-f", "-", given=edited)
    assert kubectl("get", "mem", "ada", "-o", "jsonpath={.group} {.note}") == "blue n"
    assert "Who the member is with." in kubectl("explain", "member.group")
    assert kubectl("get", "members").splitlines()[0].split() == ["NAME", "LEVEL", "AGE"]
    assert kubectl("delete", "member", "ada").startswith('member.clubs.example.com "ada" deleted')
    misspelt = tried("apply", "-f", "-", given=json.dumps({**document, "kind": "Membr"}))
    assert f'no matches for kind "Membr" in version "{GROUP}/v2"' in misspelt.stderr


def test_a_schema_that_changed_since_the_package_was_generated_is_a_warning(folder):
    """`kubectl explain` shows what it says, and writes are refused by what was generated."""
    schema = folder / "schemas" / "v2.yaml"
    schema.write_text(schema.read_text().replace("note:", "remark:"))
    server = Served(folder)
    server.stop()
    assert " ".join(server.messages.split()).startswith(
        "warning: schemas/v2.yaml changed since the package was generated, by which objects are read and written; "
        "run `trundle generate`"
    )


def test_a_port_that_is_in_use_leaves_no_store(folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [*warm.script(), "serve", "--port", port]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Address already in use" in done.stderr
    assert not list(folder.glob("store.db*"))


def test_a_project_that_is_refused_leaves_no_store(folder):
    with (folder / "trundle.yaml").open("a") as config:
        config.write("\nadmission: [{type: Member, version: v2, use: 'json:Nothing'}]\n")
    command = [*warm.script(), "serve", "--port", "0"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert "expected the class Nothing in json" in done.stderr
    assert not list(folder.glob("store.db*"))
