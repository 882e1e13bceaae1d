"""The page Storage: what is stored, checks, rolls that are tried, run and stopped, and who may do that."""

import html
import re
import threading
import time
from pathlib import Path

import asgi
import pytest
from access import TOKENS
from database_fixtures import in_file, on_server, server, template, url  # noqa: F401 - fixtures
from objects_pages import OWN, post
from sqlalchemy import event, text
from sqlalchemy.engine import Engine
from starlette.applications import Starlette
from storing import V1, V2, document, key, people, people_before

from trundle.api.access import Access, Guard
from trundle.dashboard import ServerPage
from trundle.dashboard._work import MOST_FINDINGS, Work
from trundle.store import BusyStoreError, Store, WorkLog, status

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


@pytest.fixture
def either_store(url, schemes):  # noqa: F811 - the fixture
    """A new store, in a file and on a server."""
    with Store(url, schemes[1]) as opened:
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
    assert f"Thing {V1} {NUMBER} … …" in shown(application)
    tried = done(application, "try")
    assert f"Thing would be stored in {V2} from now on; it was {V1}" in tried
    assert f"Thing: {NUMBER} from {V1} to {V2}" in tried
    assert versions(store) == {V1: NUMBER}
    assert f"to be {V2}" not in shown(application)
    rolled = done(application, "roll")
    assert f"Thing is stored in {V2} from now on; it was {V1}" in rolled
    assert versions(store) == {V2: NUMBER}
    assert "Every object can be shown at every version." in done(application, "check")


def test_the_page_reads_all_that_is_stored_only_when_it_is_asked_for_sizes(store):
    application = page_over(store, Access())
    statements = []

    def note(_, cursor, statement, *further):
        statements.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        assert f"Thing {V1} {NUMBER} … …" in shown(application)
        assert not [each for each in statements if "data" in each]
        (size,) = {each.size for of in status(store).resources for each in of.versions}
        answer = asgi.call(application, "GET", "/ui/storage?sizes=1")
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    cells = re.findall(r'<td data-label="(Earlier states|Bytes)">([^<]*)</td>', answer.text)
    assert cells == [("Earlier states", "0"), ("Bytes", f"{size:,}")]


def spoil(store, names):
    """Damages what is stored of some objects."""
    with store.database.writing() as connection:
        statement = text("UPDATE store_revisions SET data = :data WHERE name = :name")
        for name in names:
            connection.execute(statement, {"data": b'{"apiVersion": 7}', "name": name})


def test_what_cannot_be_converted_is_named_with_its_reason_after_a_restart_too(store):
    spoil(store, ["n07"])
    application = page_over(store, Access())
    assert "Nothing was checked or rolled here yet." in shown(application)
    for task in ("check", "roll"):
        for found in (done(application, task), shown(page_over(store, Access()))):
            assert "ended with findings 1 finding" in found
            assert "default/n07" in found
            assert "Nothing was checked" not in found
    assert versions(store) == {V1: 1, V2: NUMBER - 1}
    assert f"Thing: {NUMBER - 1} from {V1} to {V2}" in shown(page_over(store, Access()))
    assert f"to be {V2}" in shown(application)


def test_so_many_findings_are_kept_and_all_are_counted(store):
    names = [f"m{at:03}" for at in range(MOST_FINDINGS + 7)]
    for each in names:
        store.create(key(each), document(V2, group="red"))
    spoil(store, names)
    for found in (done(page_over(store, Access()), "check"), shown(page_over(store, Access()))):
        assert f"{MOST_FINDINGS + 7} findings" in found
        assert "and 7 more" in found
        assert "default/m099" in found
        assert "default/m100" not in found
    with store.database.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM store_work")).scalar() == 1


class Held(Work):
    """Work that waits at its first step."""

    def __init__(self, store):
        super().__init__(store)
        self.reached, self.goes_on = threading.Event(), threading.Event()

    def _step(self, *step):
        self.reached.set()
        assert self.goes_on.wait(60)
        super()._step(*step)


def ended(work):
    """How work ended."""
    deadline = time.monotonic() + 60
    while work.progress.state == "running":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return work.progress


def test_one_thing_at_a_time_and_it_stops_when_asked(store, monkeypatch):
    monkeypatch.setattr("trundle.store._rolling._BATCH", 5)
    work = Held(store)
    work.start("roll")
    assert work.reached.wait(60)
    with pytest.raises(BusyStoreError, match="Wait, or stop it"):
        work.start("check")
    work.stop()
    work.goes_on.set()
    assert ended(work).state == "stopped"
    assert versions(store) == {V1: NUMBER - 5, V2: 5}
    application = page_over(store, Access())
    assert f"It was stopped, at 5 of {NUMBER} of Thing. The next one goes on." in shown(application)
    done(application, "roll")
    assert versions(store) == {V2: NUMBER}


def test_another_server_of_the_store_sees_what_is_done_and_stops_it(store, schemes, monkeypatch):
    monkeypatch.setattr("trundle.dashboard._work._PAUSE", 0.0)
    work = Held(store)
    work.start("check")
    assert work.reached.wait(60)
    with Store(Path(store.database.where), schemes[1]) as other:
        beside = Work(other)
        assert (beside.progress.task, beside.progress.state) == ("check", "running")
        with pytest.raises(BusyStoreError):
            beside.start("roll")
        beside.stop()
        work.goes_on.set()
        assert ended(beside).state == "stopped"
        beside.start("check")
        assert ended(beside).state == "ended"
        assert work.progress == beside.progress


def test_work_that_ended_with_its_process_is_interrupted_and_keeps_what_was_found(store):
    log = WorkLog(store)
    found = {"resource": "Thing", "done": 7, "total": 20, "found": 1}
    found["findings"] = [{"place": "Thing default/n03", "message": "it is broken"}]
    with log.working():
        number = log.begin("check")
        assert log.note(number, found, is_running=True)
        assert " running" in shown(page_over(store, Access()))
    seen = shown(page_over(store, Access()))
    assert "Check interrupted with findings" in seen
    assert "ended before it was done, at 7 of 20 of Thing. The next one begins again." in seen
    assert "What was found until then: Thing default/n03 it is broken" in seen
    assert 'value="stop"' not in seen
    # What is noted late, by who lost the lock, changes nothing.
    assert log.begin("roll") == number + 1
    assert not log.note(number, {}, is_running=False)
    assert log.last().task == "roll"


def test_texts_that_a_database_cannot_keep_are_kept_as_far_as_it_can(either_store):
    class Failing(Work):
        def _check(self):
            raise ValueError("nul \0 and a half \ud800" + "x" * 5000)

    work = Failing(either_store)
    work.start("check")
    assert ended(work).state == "failed"
    kept = Work(either_store).progress
    assert kept.error == work.progress.error
    assert kept.error.startswith("nul \ufffd and a half ?xxx")


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
