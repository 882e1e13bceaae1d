"""The page Storage: what is stored, checks, rolls that are tried, run and stopped, and who may do that."""

import html
import re
import threading
import time

import asgi
import pytest
from access import TOKENS
from objects_pages import OWN, post
from sqlalchemy import text
from starlette.applications import Starlette
from storing import V1, V2, document, key, people, people_before

from trundle.api.access import Access, Guard
from trundle.dashboard import ServerPage
from trundle.dashboard._work import BusyStoreError, Work
from trundle.store import Store, status

NUMBER = 20


@pytest.fixture(scope="module")
def schemes():
    return people_before(), people()


@pytest.fixture
def store(schemes, tmp_path):
    """A store of the newer release, in which the one before stored objects."""
    before, now = schemes
    with Store(tmp_path / "store.sqlite", before) as old:
        for at in range(NUMBER):
            old.create(key(f"n{at:02}"), document(V1, team="red", age=at))
    with Store(tmp_path / "store.sqlite", now) as opened:
        yield opened


def page_over(store, access):
    page = ServerPage(access)
    return page.around(Guard(Starlette(routes=page.routes((), store)), access))


def versions(store):
    (found,) = status(store).resources
    return {each.version: each.objects for each in found.versions}


def shown(application):
    answer = asgi.call(application, "GET", "/ui/storage")
    assert answer.status == 200
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def done(application, task):
    """What the page shows when something has ended."""
    assert post(application, "/ui/storage", do=task).status == 303
    deadline = time.monotonic() + 60
    while 'value="stop"' in asgi.call(application, "GET", "/ui/storage").text:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return shown(application)


def test_what_is_stored_is_tried_rolled_and_checked(store):
    application = page_over(store, Access())
    assert f"Thing {V1} {NUMBER} 0" in shown(application)
    tried = done(application, "try")
    assert f"Thing would be stored in {V2} from now on; it was {V1}" in tried
    assert f"Thing: {NUMBER} from {V1} to {V2}" in tried
    assert versions(store) == {V1: NUMBER}
    assert f"to be {V2}" not in shown(application)
    rolled = done(application, "roll")
    assert f"Thing is stored in {V2} from now on; it was {V1}" in rolled
    assert versions(store) == {V2: NUMBER}
    assert "Every object can be shown at every version." in done(application, "check")


def test_what_cannot_be_converted_is_named_with_its_reason(store):
    with store.database.writing() as connection:
        statement = text("UPDATE store_revisions SET data = :data WHERE name = 'n07'")
        connection.execute(statement, {"data": b'{"apiVersion": 7}'})
    application = page_over(store, Access())
    for task in ("check", "roll"):
        assert "Nothing was checked" in shown(application) or task == "roll"
        found = done(application, task)
        assert "ended with findings 1 finding" in found
        assert "default/n07" in found
        assert "Nothing was checked" not in found
    restarted = shown(page_over(store, Access()))
    assert "n07" not in restarted
    assert "Nothing was checked or rolled here since this server started" in restarted
    assert "after a restart, Check finds again" in restarted
    assert versions(store) == {V1: 1, V2: NUMBER - 1}
    assert f"to be {V2}" in shown(application)


class Held(Work):
    """Work that waits at its first step."""

    def __init__(self, store):
        super().__init__(store)
        self.reached, self.goes_on = threading.Event(), threading.Event()

    def _step(self, *step):
        self.reached.set()
        assert self.goes_on.wait(60)
        super()._step(*step)


def test_one_thing_at_a_time_and_it_stops_when_asked(store, monkeypatch):
    monkeypatch.setattr("trundle.store._rolling._BATCH", 5)
    work = Held(store)
    work.start("roll")
    assert work.reached.wait(60)
    with pytest.raises(BusyStoreError, match="Wait, or stop it"):
        work.start("check")
    work.stop()
    work.goes_on.set()
    deadline = time.monotonic() + 60
    while work.progress.state == "running":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert work.progress.state == "stopped"
    assert versions(store) == {V1: NUMBER - 5, V2: 5}
    application = page_over(store, Access())
    done(application, "roll")
    assert versions(store) == {V2: NUMBER}


def test_only_who_is_let_sees_storage_and_changes_it(store, tmp_path):
    (tmp_path / "tokens.csv").write_text(TOKENS)
    (tmp_path / "rules.yaml").write_text(
        "apiVersion: rbac.authorization.k8s.io/v1\n"
        "kind: ClusterRoleBinding\n"
        "metadata: {name: keepers}\n"
        "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: 'trundle:storage'}\n"
        "subjects: [{kind: User, name: ben, apiGroup: rbac.authorization.k8s.io}]\n"
    )
    application = page_over(store, Access(tmp_path / "tokens.csv", tmp_path / "rules.yaml"))
    codes = {}
    for name in ("root", "ben", "ann"):
        bearer = {"authorization": f"Bearer {name}-token"}
        looks = asgi.call(application, "GET", "/ui/storage", headers=bearer).status
        form = {"do": "stop"}
        acts = asgi.call(application, "POST", "/ui/storage", headers={**OWN, **bearer}, form=form)
        codes[name] = looks, acts.status
    assert codes == {"root": (200, 303), "ben": (200, 303), "ann": (403, 403)}
    assert asgi.call(application, "GET", "/ui/storage").status == 303


@pytest.mark.parametrize("wanted", ["", "drop"])
def test_what_is_asked_for_has_to_be_known(store, wanted):
    answer = post(page_over(store, Access()), "/ui/storage", do=wanted)
    assert (answer.status, "check, try, roll, stop" in answer.text) == (400, True)
