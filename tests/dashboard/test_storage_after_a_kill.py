"""The page Storage of a real server that is killed while it checks or rolls, and started again."""

import contextlib
import html
import http.client
import json
import re
import socket
import sqlite3
import time
import urllib.parse

import browsers
import pytest
from apis import CONFIG, GROUP, NEW, OLD, SCHEMAS, member, whole
from playwright.sync_api import expect
from projects import Installer
from served import Served

NUMBER = 20_000
PATH = f"/apis/{GROUP}/{OLD}/namespaces/default/members"

ROLLED = 550
"""How many objects are rolled: several parts, of more than one batch each."""
FIRST = {
    "v1.yaml": """
        title: Member
        type: object
        properties:
          team: {type: string}
          age: {type: integer}
          rank: {type: string}
        """
}
BOTH = {
    **FIRST,
    "v2.yaml": """
        title: Member
        type: object
        properties:
          group: {type: string}
          note: {type: string}
          rank: {type: integer}
        """,
}
RENAMES = {"changes": {OLD: {"Member": {"rename": {"team": "group"}}}}}
USE = {"hooks": [{"type": "Member", "between": [OLD, NEW], "use": "HOOKS:Ranks"}]}
HELD = """
import time
from pathlib import Path

HOLD = Path(__file__).with_name("hold")


class Ranks:
    def convert_string_to_integer(self, rank):
        while HOLD.exists() and HOLD.read_text() == rank:
            time.sleep(0.02)
        return int(rank)

    def convert_integer_to_string(self, rank):
        return str(rank)
"""
"""A hook that waits at the rank that the file `hold` names, as long as it does."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return Installer(tmp_path_factory.mktemp("clubs"))(SCHEMAS, config=CONFIG).project.folder


@pytest.fixture
def store(folder, tmp_path):
    """The file of a store with many objects, of which the first is damaged."""
    path = tmp_path / "store.sqlite"
    server = Served(folder, "--store", path)
    assert server.ask("POST", PATH, member("n", team="red")).status == 201
    server.stop()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(store_revisions)")]
        changed = {"resource_version": "resource_version + at", "uid": "'u' || at"}
        changed["name"] = "printf('n%05d', at)"
        values = ", ".join(changed.get(each, each) for each in columns)
        connection.execute(
            "WITH RECURSIVE counted(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM counted WHERE at < ?) "
            f"INSERT INTO store_revisions SELECT {values} FROM store_revisions, counted WHERE name = 'n'",
            (NUMBER,),
        )
        connection.execute(
            "UPDATE store_resources SET resource_version = (SELECT max(resource_version) FROM store_revisions)"
        )
        connection.execute(
            "UPDATE store_revisions SET data = ? WHERE name = 'n00001'", (b'{"apiVersion": 7}',)
        )
    connection.close()
    return path


def asked(server, method="GET", **form):
    """The page, as text and as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    headers = {"origin": server.url, "content-type": "application/x-www-form-urlencoded"}
    connection.request(method, "/ui/storage", urllib.parse.urlencode(form), headers)
    answer = connection.getresponse()
    page = answer.read().decode()
    connection.close()
    assert answer.status in {200, 303}, page
    text = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    return text.partition("Lease until")[0]


def until(server, test):
    deadline = time.monotonic() + 60
    while not test(page := asked(server)):
        assert time.monotonic() < deadline, page
        time.sleep(0.02)
    return page


def kill(server):
    """Kills a server, and waits until it listens no more: then it is gone, and does nothing more to the store."""
    server.kill()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", server.port), timeout=60).close()
        except ConnectionRefusedError:
            return
        except OSError:  # It goes at this moment.
            continue
    pytest.fail("it was killed, and goes on to listen")


@pytest.mark.full
def test_a_check_that_was_killed_is_interrupted_and_its_findings_stay(browser, folder, store):
    server = Served(folder, "--store", store)
    asked(server, "POST", do="check")
    until(server, lambda page: "n00001" in page and " running " in page)
    kill(server)
    again = Served(folder, "--store", store)
    try:
        seen = asked(again)
        assert "Check interrupted with findings" in seen
        assert re.search(rf"ended before it was done, at [\d,]+ of {NUMBER + 1:,} of \w", seen)
        with browsers.tab(browser, again.url) as page:
            page.goto("/ui/storage")
            expect(page.locator("#work")).to_contain_text("interrupted")
            expect(page.get_by_text("default/n00001")).to_be_visible()
            assert browsers.flaws(page) == []
            page.get_by_role("button", name="Check", exact=True).click()
            expect(page.locator("#work")).to_contain_text("ended with findings", timeout=60_000)
        ended = asked(again)
    finally:
        again.kill()
    once_more = Served(folder, "--store", store)
    try:
        assert asked(once_more) == ended
        assert "1 finding" in ended
    finally:
        once_more.kill()


@pytest.fixture
def releases(tmp_path):
    """The folder of a release with two versions, beside a store in which the release before it stored many objects."""
    install = Installer(tmp_path)
    about = {"kubernetes": {"group": GROUP}}
    before = install(FIRST, config=about)
    now = install(BOTH, config={**about, **RENAMES, **USE}, code=HELD, released=before)
    store = tmp_path / "store.sqlite"
    server = Served(before.project.folder, "--store", store)
    connection = server.connect()
    for at in range(ROLLED):
        body = json.dumps(whole(OLD, f"n{at:03}", team=f"t{at}", age=at % 9, rank=str(at)))
        connection.request("POST", PATH, body, {"content-type": "application/json"})
        answer = connection.getresponse()
        assert answer.status == 201, answer.read()
        answer.read()
    connection.close()
    server.stop()
    return now.project.folder, store


def objects(server):
    """Every object as each version shows it."""
    paths = {each: f"/apis/{GROUP}/{each}/members" for each in (OLD, NEW)}
    return {each: server.ask("GET", path).ok()["items"] for each, path in paths.items()}


def stored(page):
    """How many objects are stored in each version, as the page says."""
    return {each: int(number) for each, number in re.findall(r"Member (v\d) (\d+) … ", page)}


@pytest.mark.full
def test_a_roll_that_was_killed_is_interrupted_and_the_next_one_goes_on(releases):
    folder, store = releases
    hold = folder / "hold"
    server = Served(folder, "--store", store)
    try:
        before = objects(server)
        assert [len(each) for each in before.values()] == [ROLLED, ROLLED]
        # Held before anything is rolled, in the second batch of the third part, and in the last one.
        for rank, shown, rolled, place in (
            (0, "It begins.", 0, r"done\."),
            (325, "Member: 320 of 550", 320, r"done, at (220|320) of 550 of Member\."),
            (549, "Member: 215 of 230", 535, r"done, at (115|215) of 230 of Member\."),
        ):
            hold.write_text(str(rank))
            asked(server, "POST", do="roll")
            until(server, lambda page, shown=shown: "Roll running" in page and shown in page)
            kill(server)
            hold.unlink()
            server = Served(folder, "--store", store)
            page = asked(server)
            assert "Roll interrupted" in page
            assert re.search(rf"ended before it was {place} The next one goes on\.", page), page
            left = {OLD: ROLLED - rolled, NEW: rolled}
            assert stored(page) == {each: number for each, number in left.items() if number}
            assert objects(server) == before
        asked(server, "POST", do="roll")
        page = until(server, lambda page: "Roll ended" in page)
        assert "Everything is in the current version." in page
        assert f"Member: 15 from {OLD} to {NEW}" in page
        assert stored(page) == {NEW: ROLLED}
        assert objects(server) == before
    finally:
        server.kill()
