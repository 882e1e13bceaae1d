"""`trundle serve --installed`: what is installed is served, while packages come, are upgraded and go."""

import contextlib
import datetime as dt
import json
import re
import sqlite3
import threading
import time
from pathlib import Path

import amounts
import prompt_server
import pytest
from endless import LIMIT_REACHED
from published_releases import Releases
from served import Served
from sqlalchemy import make_url

V1 = """
title: Member
type: object
required: [team]
properties:
  team: {type: string}
  age: {type: integer}
"""
V2 = """
title: Member
type: object
required: [group]
properties:
  group: {type: string}
  note: {type: string}
"""
PROMPT = Path(prompt_server.__file__)
MERGE = "application/merge-patch+json"
GROUP = "clubs.example.com"
KUBERNETES = {"kubernetes": {"group": GROUP}}
RENAMED = {**KUBERNETES, "changes": {"v1": {"Member": {"rename": {"team": "group"}}}}}


def members(version, name=""):
    return f"/apis/{GROUP}/{version}/namespaces/default/members" + (name and f"/{name}")


def person(**properties):
    return {"metadata": {"name": "ada"}, **properties}


@pytest.fixture
def releases(tmp_path):
    return Releases(tmp_path)


@pytest.fixture
def serve(tmp_path):
    servers = []

    def start(*options):
        asked = ("--installed", "--state", "state", *options)
        servers.append(Served(tmp_path, *asked, program=None if amounts.ALL else PROMPT))
        return servers[-1]

    yield start
    for each in servers:
        each.kill()


def until(found, seconds=120):
    deadline = time.monotonic() + seconds
    while not (result := found()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return result


def serves(server, path):
    return lambda: server.ask("GET", path).status == 200


@pytest.mark.full
def test_a_release_is_served_when_it_arrives_and_reads_what_the_one_before_stored(releases, serve):
    server = serve()
    assert server.ask("GET", members("v1")).status == 404
    releases.release("1.0.0", {"v1.yaml": V1}, config=KUBERNETES)
    releases.install()
    until(serves(server, members("v1")))
    server.ask("POST", members("v1"), person(team="red", age=36)).ok()

    releases.release("1.1.0", {"v1.yaml": V1, "v2.yaml": V2}, config=RENAMED)
    releases.upgrade("--now")
    until(serves(server, members("v2")))
    assert server.ask("GET", members("v2", "ada")).ok()["group"] == "red"
    assert "2 versions, the newest v2" in server.ask("GET", "/ui/versions").ok()
    changed = server.ask(
        "PATCH",
        members("v2", "ada"),
        {"group": "blue"},
        media_type="application/merge-patch+json",
    ).ok()
    assert changed["group"] == "blue"
    old = server.ask("GET", members("v1", "ada")).ok()
    assert (old["team"], old["age"]) == ("blue", 36)
    assert server.process.poll() is None
    assert server.stop() == 0


@pytest.mark.full
def test_what_a_package_left_behind_is_served_again_when_it_comes_back(releases, serve):
    releases.release("1.0.0", {"v1.yaml": V1}, config=KUBERNETES)
    releases.install()
    server = serve()
    server.ask("POST", members("v1"), person(team="red", age=36)).ok()
    releases.trundle("uninstall", releases.name, "--state", "state")
    until(lambda: server.ask("GET", members("v1")).status == 404)
    assert server.ask("GET", "/api/v1/namespaces/default").ok()
    releases.install()
    until(serves(server, members("v1")))
    assert server.ask("GET", members("v1", "ada")).ok()["team"] == "red"


@pytest.mark.full
def test_a_client_that_watches_goes_on_from_where_it_was_when_a_release_arrives(releases, serve):
    releases.release("1.0.0", {"v1.yaml": V1}, config=KUBERNETES)
    releases.install()
    server = serve()
    first = server.ask("GET", members("v1")).ok()["metadata"]["resourceVersion"]
    seen, newest, ends, stop = [], first, 0, threading.Event()

    def watch():
        nonlocal newest, ends
        while not stop.is_set():
            connection = server.connect()
            query = f"watch=true&resourceVersion={newest}"
            connection.request("GET", f"{members('v1')}?{query}")
            for line in connection.getresponse():
                event = json.loads(line)
                assert event["type"] == "ADDED", event
                seen.append(event["object"]["metadata"]["name"])
                newest = event["object"]["metadata"]["resourceVersion"]
            connection.close()
            ends += 1

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    written = []

    def write(number):
        for _ in range(number):
            name = f"member-{len(written)}"
            body = {"metadata": {"name": name}, "team": "red"}
            server.ask("POST", members("v1"), body).ok()
            written.append(name)

    write(50)
    releases.release("1.1.0", {"v1.yaml": V1, "v2.yaml": V2}, config=RENAMED)
    upgrading = threading.Thread(target=lambda: releases.upgrade("--now"))
    upgrading.start()
    while server.ask("GET", members("v2")).status != 200:
        write(1)
        time.sleep(0.05)
    upgrading.join()
    write(50)
    until(lambda: ends and len(seen) >= len(written))
    stop.set()
    assert seen == written
    server.stop()


def crd(group):
    """A CRD of accounts."""
    return f"""
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: accounts.{group}}}
spec:
  group: {group}
  names: {{kind: Account, plural: accounts}}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {{type: object, properties: {{of: {{type: string}}}}}}
"""


@pytest.mark.full
def test_packages_with_resource_types_of_one_name_are_served_side_by_side(tmp_path, serve):
    """In groups of one package, in another package with one part, and none of them disturbs the others."""
    pair = Releases(tmp_path, "acme/pair")
    groups = {"package": "apis", "groups": {"mail": "mail.example", "bank": "bank.example"}}
    schemas = {"mail.yaml": crd("mail.example"), "bank.yaml": crd("bank.example")}
    pair.release("1.0.0", schemas, config=groups)
    pair.install()
    alone = Releases(tmp_path, "acme/alone")
    alone.release("1.0.0", {"shop.yaml": crd("shop.example")}, config={"package": "apis"})
    server = serve()
    names = ["mail.example", "bank.example"]
    for group in names:
        path = f"/apis/{group}/v1/namespaces/default/accounts"
        server.ask("POST", path, {**person(), "spec": {"of": group}}).ok()
    alone.install()
    path = "/apis/shop.example/v1/namespaces/default/accounts"
    until(serves(server, path))
    server.ask("POST", path, {**person(), "spec": {"of": "shop.example"}}).ok()
    for group in (*names, "shop.example"):
        path = f"/apis/{group}/v1/namespaces/default/accounts/ada"
        found = server.ask("GET", path).ok()
        assert (found["apiVersion"], found["spec"]) == (f"{group}/v1", {"of": group})
    found = releases_status(alone)
    assert found == {f"{group}/Account": 1 for group in (*names, "shop.example")}


def releases_status(releases):
    """How many objects are stored of each resource type, but for those of the server itself."""
    done = releases.trundle("store", "status", "--installed", "--state", "state", "-o", "json")
    return {
        f"{each['group']}/{each['resource']}": sum(x["objects"] for x in each["versions"])
        for each in json.loads(done.stdout)["resources"]
        if each["group"] != "core.trundle.dev"
    }


@pytest.mark.full
def test_a_package_that_brings_what_another_one_has_is_left_out(tmp_path, releases, serve):
    releases.release("1.0.0", {"v1.yaml": V1}, config=KUBERNETES)
    releases.install()
    server = serve()
    server.ask("POST", members("v1"), person(team="red")).ok()
    other = Releases(tmp_path, "acme/zoo")
    other.release("1.0.0", {"v1.yaml": V2, "v2.yaml": V2}, config=KUBERNETES)
    other.install()
    until(lambda: "acme/zoo is not served" in server.messages)
    assert "expected resource types that no other package brings" in server.messages
    assert server.ask("GET", members("v1", "ada")).ok()["team"] == "red"
    releases.trundle("uninstall", releases.name, "--state", "state")
    until(serves(server, members("v2")))


HOOK = """
from pathlib import Path

Path("ran.txt").write_text("ran")


class Hooks:
    def upgrade(self, source, target):
        return target
"""


@pytest.mark.full
def test_nothing_of_a_package_is_run(releases, serve):
    """Neither what it names as a hook, nor what it packs as its generated code."""
    releases.release("1.0.0", {"v1.yaml": V1}, config=KUBERNETES)
    for path in releases.package.rglob("*.py"):
        path.write_text(f"{HOOK}\n")
    (releases.package / "app.yaml").write_text('{"name": "acme/clubs", "version": "1.0.1"}')
    published = ("--to", releases.reference, "--channel", "stable", "--override", "a test")
    releases.trundle("publish", releases.package, *published)
    releases.install()
    server = serve()
    assert server.ask("POST", members("v1"), person(team="red")).ok()["team"] == "red"
    server.stop()
    assert not list(releases.folder.rglob("ran.txt"))


@pytest.mark.full
def test_a_package_with_hooks_is_not_served_and_blocks_no_other(tmp_path, releases, serve):
    releases.release("1.0.0", {"v1.yaml": V1, "v2.yaml": V2}, config=RENAMED)
    releases.install()
    hooked = Releases(tmp_path, "acme/hooked")
    hooked.package.mkdir()
    (hooked.package / "hooks.py").write_text(ADMITS)
    admission = [{"use": "hooks:Guard", "type": "Account", "version": "v1"}]
    config = {"package": "apis", "admission": admission}
    hooked.release("1.0.0", {"shop.yaml": crd("shop.example")}, config=config)
    hooked.install()
    server = serve()
    assert "acme/hooked is not served: " in server.messages
    assert "since nothing of installed packages is run or called" in server.messages
    assert server.ask("GET", "/apis/shop.example/v1/accounts").status == 404
    assert server.ask("GET", members("v2")).status == 200


ADMITS = """
class Guard:
    def create(self, request):
        pass
"""


@pytest.mark.full
def test_a_release_that_cannot_read_what_is_stored_waits_until_the_store_is_rolled(releases, serve):
    """Also where a server of another release wrote it, and where its own server does not run."""
    releases.release("1.0.0", {"v1.yaml": V1}, config=KUBERNETES)
    releases.install()
    server = serve()
    server.ask("POST", members("v1"), person(team="red", age=36)).ok()
    releases.release("1.1.0", {"v1.yaml": V1, "v2.yaml": V2}, config=RENAMED)
    releases.upgrade("--now")
    until(serves(server, members("v2")))

    releases.release("2.0.0", {"v2.yaml": V2}, config=KUBERNETES, override="a test")
    asked = ("--to", "2.0.0", "--now")
    for command in ("plan", "upgrade"):
        done = releases.trundle(command, releases.name, *asked, "--state", "state", code=None)
        said = done.stdout + done.stderr
        assert "expected Member to be stored in v2, found 1 object in v1" in said, said
        assert "run `trundle store roll --installed` first" in said
        assert done.returncode == (0 if command == "plan" else 3)
    plain = releases.trundle("plan", "--to", "2.0.0", "--state", "state", "-o", "json").stdout
    (blocked,) = json.loads(plain)[0]["blocked"]
    assert (blocked["version"], blocked["reason"]) == ("2.0.0", "still-stored")
    assert server.ask("GET", members("v1", "ada")).ok()["team"] == "red"

    releases.trundle("store", "roll", "--installed", "--state", "state")
    releases.upgrade(releases.name, *asked)
    until(lambda: server.ask("GET", members("v1")).status == 404)
    assert server.ask("GET", members("v2", "ada")).ok()["group"] == "red"

    server.ask("POST", members("v2"), {"metadata": {"name": "bob"}, "group": "blue"}).ok()
    back = releases.trundle("rollback", releases.name, "--state", "state")
    assert "1.1.0" in back.stdout
    until(serves(server, members("v1")))
    assert server.ask("GET", members("v1", "bob")).ok()["team"] == "blue"
    done = releases.trundle("rollback", releases.name, "--state", "state", code=3)
    assert "[still-stored]" in done.stderr
    assert server.ask("GET", members("v2", "bob")).ok()["group"] == "blue"


@pytest.mark.full
def test_a_store_that_is_not_there_blocks_upgrades_until_it_is_forgotten(releases, serve):
    releases.release("1.0.0", {"v1.yaml": V1}, config=KUBERNETES)
    releases.install()
    serve().stop()
    (releases.folder / "state" / "store.db").unlink()
    releases.release("1.1.0", {"v1.yaml": V1, "v2.yaml": V2}, config=RENAMED)
    done = releases.upgrade("--now")
    assert "blocked acme/clubs 1.1.0: " in done.stderr
    assert "found no such file" in done.stderr
    assert not (releases.folder / "state" / "store.db").exists()
    releases.trundle("forget", "store", "nowhere.db", "--state", "state", code=5)
    releases.trundle("forget", "store", "state/store.db", "--state", "state")
    assert "upgraded acme/clubs 1.0.0 -> 1.1.0" in releases.upgrade("--now").stdout


@pytest.mark.full
def test_the_agent_says_what_is_blocked_and_goes_on_after_the_roll(releases, serve):
    releases.release("1.0.0", {"v1.yaml": V1}, config=KUBERNETES)
    (releases.folder / "policy.yaml").write_text(
        "upgrade: {patch: immediate, minor: immediate, major: immediate, minAge: PT0S}\n"
    )
    policy = ("--policy", "policy.yaml")
    releases.trundle("install", releases.reference, "--unsigned", "--state", "state", *policy)
    server = serve()
    server.ask("POST", members("v1"), person(team="red", age=36)).ok()
    releases.release("1.1.0", {"v1.yaml": V1, "v2.yaml": V2}, config=RENAMED)
    once = ("agent", "--once", "--state", "state")
    assert "upgrade" in releases.trundle(*once).stdout
    until(serves(server, members("v2")))
    releases.release("2.0.0", {"v2.yaml": V2}, config=KUBERNETES, override="a test")
    said = releases.trundle(*once).stdout
    assert "blocked acme/clubs 2.0.0" in said
    assert "1 object in v1" in said
    releases.trundle("store", "roll", "--installed", "--state", "state")
    assert "upgrade acme/clubs 2.0.0" in releases.trundle(*once).stdout
    until(lambda: server.ask("GET", members("v1")).status == 404)
    assert server.ask("GET", members("v2", "ada")).ok()["group"] == "red"


@pytest.mark.full
def test_a_server_does_not_take_a_release_that_cannot_read_its_store(releases, serve):
    """It came in past the check, as the store was forgotten: the release before is served on, and nothing is lost."""
    releases.release("1.0.0", {"v1.yaml": V1}, config=KUBERNETES)
    releases.install()
    server = serve()
    server.ask("POST", members("v1"), person(team="red", age=36)).ok()
    releases.release("2.0.0", {"v2.yaml": V2}, config=KUBERNETES, override="a test")
    releases.trundle("forget", "store", "state/store.db", "--state", "state")
    releases.upgrade(releases.name, "--to", "2.0.0", "--now")
    until(lambda: "acme/clubs is served as before: " in server.messages)
    assert "expected Member to be stored in v2, found 1 object in v1" in server.messages
    server.ask("PATCH", members("v1", "ada"), {"age": 37}, media_type=MERGE).ok()
    assert server.ask("GET", members("v2")).status == 404
    server.stop()

    again = serve()
    assert "acme/clubs is not served: " in again.messages
    assert again.ask("GET", members("v1")).status == again.ask("GET", members("v2")).status == 404
    releases.trundle("rollback", releases.name, "--state", "state")
    until(serves(again, members("v1")))
    found = again.ask("GET", members("v1", "ada")).ok()
    assert (found["team"], found["age"]) == ("red", 37)


@pytest.mark.full
@contextlib.contextmanager
def another_server(store):
    """Renews a lease for a server that reads what the one reads that has a lease now."""
    ended = threading.Event()
    with contextlib.closing(sqlite3.connect(store)) as database:
        (reads,) = database.execute("SELECT reads FROM store_leases").fetchone()

    def renew():
        with contextlib.closing(
            sqlite3.connect(store, isolation_level=None, timeout=30)
        ) as database:
            while True:
                later = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=50)
                row = ("other", reads, f"{later:%Y-%m-%dT%H:%M:%S.%fZ}")
                database.execute("INSERT OR REPLACE INTO store_leases VALUES (?, ?, ?)", row)
                begun.set()
                if ended.wait(5):
                    database.execute("DELETE FROM store_leases")
                    return

    begun = threading.Event()
    thread = threading.Thread(target=renew)
    thread.start()
    assert begun.wait(30)
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_a_server_does_not_take_a_release_whose_objects_another_server_could_not_read(
    releases, serve, tmp_path
):
    """Nothing is stored yet. It took the release all the same, was refused its lease, so that it could write nothing, and tried that anew all the time."""
    releases.release("1.0.0", {"v1.yaml": V1}, config=KUBERNETES)
    releases.install()
    server = serve()
    store = tmp_path / "state" / "store.db"
    with another_server(store):
        releases.release("2.0.0", {"v2.yaml": V2}, config=KUBERNETES, override="a test")
        releases.upgrade(releases.name, "--to", "2.0.0", "--now")
        until(lambda: "acme/clubs is served as before: " in server.messages)
        assert "end these servers first, which cannot read v2: other" in server.messages
        server.ask("POST", members("v1"), person(team="red", age=36)).ok()
        assert server.ask("GET", members("v2")).status == 404
        server.ask("DELETE", members("v1", "ada")).ok()
        assert server.stop() == 0
        releases.trundle("store", "compact", "--most", "0", "--installed", "--state", "state")

        again = serve()
        assert "acme/clubs is not served: " in again.messages
        again.stop()
    last = serve()
    assert last.ask("POST", members("v2"), person(group="blue")).ok()["group"] == "blue"


@pytest.mark.full
def test_metrics_count_watches_where_they_began(releases, serve):
    releases.release("1.0.0", {"v1.yaml": V1}, config=KUBERNETES)
    releases.install()
    server = serve()
    connection = server.connect()
    connection.request("GET", f"{members('v1')}?watch=true")
    answer = connection.getresponse()
    open_watches = r'apiserver_longrunning_requests\{[^}]*resource="members"[^}]*\} (\S+)'
    until(lambda: re.search(open_watches, server.ask("GET", "/metrics").body))
    releases.release("1.1.0", {"v1.yaml": V1, "v2.yaml": V2}, config=RENAMED)
    releases.upgrade("--now")
    until(serves(server, members("v2")))
    assert answer.read() == b""
    connection.close()

    def counted():
        numbers = re.findall(open_watches, server.ask("GET", "/metrics").body)
        return [float(each) for each in numbers if float(each)]

    until(lambda: counted() == [])


@pytest.mark.full
def test_what_is_installed_is_served_from_postgresql_by_two_servers(releases, serve, on_server):
    """Both follow what is installed; the store is asked with a password that only the environment has."""
    releases.release("1.0.0", {"v1.yaml": V1}, config=KUBERNETES)
    releases.install()
    first, second = serve("--store", on_server), serve("--store", on_server)
    first.ask("POST", members("v1"), person(team="red", age=36)).ok()
    assert second.ask("GET", members("v1", "ada")).ok()["team"] == "red"
    assert "the password of the store is not kept for upgrades" in first.messages
    kept = (releases.folder / "state" / "state.db").read_bytes()
    password = make_url(on_server).password
    assert password
    assert password.encode() not in kept
    releases.release("1.1.0", {"v1.yaml": V1, "v2.yaml": V2}, config=RENAMED)
    releases.upgrade("--now", environment={"PGPASSWORD": password})
    for each in (first, second):
        until(serves(each, members("v2")))
    first.ask("PATCH", members("v2", "ada"), {"note": "new"}, media_type=MERGE).ok()
    assert second.ask("GET", members("v2", "ada")).ok()["note"] == "new"
    releases.release("2.0.0", {"v2.yaml": V2}, config=KUBERNETES, override="a test")
    asked = (releases.name, "--to", "2.0.0", "--now")
    done = releases.upgrade(*asked, code=3, environment={"PGPASSWORD": "wrong"})
    assert "to see in the store" in done.stderr
    done = releases.upgrade(*asked, code=3, environment={"PGPASSWORD": password})
    # The patch was stored in v1, too, where one of the servers had not yet said that it reads v2.
    assert re.search("found (1 object and )?1 earlier state in v1", done.stderr)
    assert password not in done.stderr


HOOKED_V2 = """
title: Member
type: object
properties:
  crew: {type: string}
  age: {type: string}
"""
CREWS = """
Name: acme.Crews
Methods:
  assign_to:
    Usage: Static
    Scope: Public
    Arguments:
      - team: {Contract: $.string()}
    Body:
      - While: $team = loop
        Do:
          - $x: 1
      - Return: {crew: $team.toUpper()}
  assign_from:
    Usage: Static
    Scope: Public
    Arguments:
      - crew: {Contract: $.string()}
    Body:
      Return: {team: $crew.toLower()}
  convert_integer_to_string:
    Usage: Static
    Scope: Public
    Arguments:
      - age: {Contract: $.int().notNull()}
    Body:
      Return: str($age)
"""
STATIC = {
    **KUBERNETES,
    "hooks": [
        {
            "type": "Member",
            "between": ["v1", "v2"],
            "use": "acme.Crews",
            "writes": {"assign_to": ["crew"], "assign_from": ["team"]},
        }
    ],
}


@pytest.mark.full
def test_a_release_with_static_methods_as_hooks_converts_by_them(releases, serve):
    server = serve()
    releases.release("1.0.0", {"v1.yaml": V1}, config=KUBERNETES)
    releases.install()
    until(serves(server, members("v1")))
    server.ask("POST", members("v1"), person(team="red", age=36)).ok()
    loop = {"metadata": {"name": "loop"}, "team": "loop"}
    server.ask("POST", members("v1"), loop).ok()

    (releases.package / "Classes").mkdir()
    (releases.package / "Classes" / "Crews.yaml").write_text(CREWS)
    releases.classes = {"acme.Crews": "Crews.yaml"}
    releases.release("2.0.0", {"v1.yaml": V1, "v2.yaml": HOOKED_V2}, config=STATIC)
    releases.upgrade(releases.name, "--to", "2.0.0", "--now")
    until(serves(server, members("v2", "ada")))
    new = server.ask("GET", members("v2", "ada")).ok()
    assert (new["crew"], new["age"]) == ("RED", "36")
    server.ask("PATCH", members("v2", "ada"), {"crew": "BLUE"}, media_type=MERGE).ok()
    old = server.ask("GET", members("v1", "ada")).ok()
    assert (old["team"], old["age"]) == ("blue", 36)

    for _ in range(3):
        failed = server.ask("GET", members("v2", "loop"))
        assert failed.status == 500
        assert "acme.Crews.assign_to" in failed.body["message"]
        assert re.search(LIMIT_REACHED, failed.body["message"])
        assert server.ask("GET", members("v2", "ada")).ok()["crew"] == "BLUE"
    server.ask("PATCH", members("v2", "ada"), {"crew": "RED"}, media_type=MERGE).ok()
    assert server.ask("GET", members("v1", "ada")).ok()["team"] == "red"


@pytest.mark.full
def test_a_release_with_hooks_in_python_is_refused_with_what_to_write_instead(releases, serve):
    server = serve()
    (releases.package).mkdir()
    (releases.package / "crews.py").write_text(
        "class Crews:\n    def convert_integer_to_string(self, age, /):\n        return str(age)\n"
    )
    hook = {"type": "Member", "between": ["v1", "v2"], "use": "crews:Crews"}
    config = {**KUBERNETES, "hooks": [hook]}
    releases.release("1.0.0", {"v1.yaml": V1, "v2.yaml": HOOKED_V2}, config=config)
    releases.install()
    until(lambda: "the hook crews:Crews" in server.messages)
    assert "write hooks as static methods of classes in the package" in server.messages
