"""The page Storage of a real server that is killed while it checks or rolls, and started again."""

import html
import http.client
import re
import sqlite3
import time
import urllib.parse

import browsers
import pytest
from apis import CONFIG, GROUP, OLD, SCHEMAS, member
from playwright.sync_api import expect
from projects import Installer
from served import Served

NUMBER = 20_000
PATH = f"/apis/{GROUP}/{OLD}/namespaces/default/members"


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
    with sqlite3.connect(path) as connection:
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


@pytest.mark.full
def test_a_check_that_was_killed_is_interrupted_and_its_findings_stay(browser, folder, store):
    server = Served(folder, "--store", store)
    asked(server, "POST", do="check")
    until(server, lambda page: "n00001" in page and " running " in page)
    server.kill()
    again = Served(folder, "--store", store)
    try:
        seen = asked(again)
        assert "Check interrupted with findings" in seen
        assert re.search(rf"ended before it was done, at \d+ of {NUMBER + 1} of \w", seen)
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
