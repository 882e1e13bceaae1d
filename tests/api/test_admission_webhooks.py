"""Webhooks that are asked before objects are written; `tests/cluster` holds the answers against Kubernetes' own."""

import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
import reviewers
from apis import CONFIG, GROUP, NEW, OLD, SCHEMAS, Client, member
from authorities import Authority
from projects import Installer
from served import Served

from trundle.api import Api, served_kinds
from trundle.project import AdmissionHook, AdmissionRule, AdmissionWebhook
from trundle.store import Key, Store
from trundle.version import ApiVersion

NAME = "limits.clubs.example.com"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def asked(authority):
    with reviewers.running(authority.server("webhook")) as found:
        yield found


@pytest.fixture
def asking(installed, tmp_path):
    """A client of an API that asks a webhook; `client.complaints` has what the operator reads."""

    @contextmanager
    def make(authorities, **settings):
        webhook = AdmissionWebhook(name=NAME, **settings)
        version = ApiVersion.parse(NEW)
        rule = AdmissionRule(
            type="Member", version=version, webhook=webhook, where="trundle.yaml:9"
        )
        complaints = []
        with Store(tmp_path / "store.db", installed.scheme) as store:
            kinds = served_kinds([installed.project], installed.scheme)
            hooks = [AdmissionHook(rule, authorities=authorities)]
            api = Api(store, kinds, "0.0.0", admission=hooks, complain=complaints.append)
            client = Client(api)
            client.store, client.complaints = store, complaints
            yield client

    return make


def stored(client, name="ada"):
    return client.store.find(Key("Member", "default", name))


def test_a_webhook_sees_objects_at_its_version_whatever_the_client_uses(asking, asked, authority):
    with asking(authority.certificate, url=asked.url) as client:
        client.create(OLD, "ada", team="red", age=36)
        client.patch(OLD, "ada", {"team": "blue"})
        client.call("DELETE", client.at(OLD, "ada"))
    created, updated, deleted = asked.requests
    assert [each["operation"] for each in asked.requests] == ["CREATE", "UPDATE", "DELETE"]
    assert created["kind"] == {"group": GROUP, "version": "v2", "kind": "Member"}
    assert created["requestResource"] == {"group": GROUP, "version": "v1", "resource": "members"}
    assert (created["object"]["apiVersion"], created["object"]["group"]) == (f"{GROUP}/v2", "red")
    assert (updated["oldObject"]["group"], updated["object"]["group"]) == ("red", "blue")
    assert (deleted["object"], deleted["oldObject"]["group"]) == (None, "blue")
    assert created["userInfo"]["username"] == "system:unsecured"
    assert set(asked.paths) == {"/review?timeout=10s"}


def test_what_a_webhook_adds_is_stored_also_where_the_client_cannot_see_it(
    asking, asked, authority
):
    asked.behaviour = lambda _: reviewers.patching(
        reviewers.put("/note", "by the webhook"), reviewers.put("/free", {"a": 0.10})
    )
    with asking(authority.certificate, url=asked.url) as client:
        made = client.create(OLD, "ada", team="red", age=36)
        assert (made["age"], "note" in made) == (36, False)
        found = client.get(NEW, "ada")
        assert (found["note"], found["free"]) == ("by the webhook", {"a": 0.1})
        assert client.get(OLD, "ada")["age"] == 36


def test_only_the_operations_that_it_wants_are_asked_about(asking, asked, authority):
    asked.behaviour = reviewers.BEHAVIOURS["refuses"]
    with asking(authority.certificate, url=asked.url, operations=("delete",)) as client:
        client.create(OLD, "ada", team="red")
        assert client.patch(OLD, "ada", {"team": "blue"})[0] == 200
        code, found = client.call("DELETE", client.at(OLD, "ada"))
        assert (code, found["reason"]) == (403, "Forbidden")
        assert found["message"] == f'admission webhook "{NAME}" denied the request: not today'
        assert stored(client) is not None


BROKEN = sorted(
    set(reviewers.BEHAVIOURS)
    - {"allows", "refuses", "warns", "nulls", "patches", "patches-parts", "as-text", "hangs"}
    - {each for each in reviewers.BEHAVIOURS if each.startswith(("refuses", "warns"))}
    - {"patches-nothing", "patches-null", "trickles", "drips"}
)


@pytest.mark.parametrize("name", BROKEN)
def test_an_answer_that_is_none_stores_nothing(asking, asked, authority, name):
    asked.behaviour = reviewers.BEHAVIOURS[name]
    with asking(authority.certificate, url=asked.url) as client:
        code, found = client.call("POST", client.at(OLD), member("ada", team="red"))
        assert (code, found["reason"]) == (500, "InternalError")
        assert NAME in found["message"]
        assert stored(client) is None


UNANSWERED = ["wrong-uid", "no-response", "half-json", "breaks", "patches-without-type"]


@pytest.mark.parametrize("name", UNANSWERED)
def test_a_write_passes_where_the_policy_says_so_and_the_operator_reads_why(
    asking, asked, authority, name
):
    asked.behaviour = reviewers.BEHAVIOURS[name]
    with asking(authority.certificate, url=asked.url, failure_policy="Ignore") as client:
        client.create(OLD, "ada", team="red")
        (complaint,) = client.complaints
    assert complaint.startswith(f'failed calling webhook "{NAME}": ')
    assert complaint.endswith("; the write passes, as `failurePolicy` says")


@pytest.mark.parametrize("wrong", ["nobody listens", "another authority", "the machine's"])
def test_a_webhook_that_cannot_be_trusted_or_reached_is_not_asked(
    asking, asked, authority, tmp_path, wrong
):
    other = Authority(_made(tmp_path / "other")).certificate
    trusted = {"another authority": other, "the machine's": None}.get(wrong, authority.certificate)
    url = "https://127.0.0.1:1/review" if wrong == "nobody listens" else asked.url
    with asking(trusted, url=url) as client:
        code, found = client.call("POST", client.at(OLD), member("ada", team="red"))
        assert (code, found["reason"]) == (500, "InternalError")
        said = "refused" if wrong == "nobody listens" else "certificate verify failed"
        assert said in found["message"]
        assert "Connection" not in found["message"].replace("Connection refused", "")
        assert stored(client) is None
    assert asked.requests == []


def test_authorities_are_read_again_when_they_change(asking, asked, authority, tmp_path):
    path = tmp_path / "ca.pem"
    shutil.copy(Authority(_made(tmp_path / "other")).certificate, path)
    with asking(path, url=asked.url) as client:
        assert client.call("POST", client.at(OLD), member("ada", team="red"))[0] == 500
        shutil.copy(authority.certificate, path)
        client.create(OLD, "ada", team="red")
        path.write_text("nonsense")
        client.create(OLD, "eve", team="red")
        assert "what was read before still counts" in client.complaints[0]


@pytest.mark.full
@pytest.mark.parametrize("name", ["hangs", "trickles", "drips"])
def test_a_slow_webhook_has_its_time_and_no_more(asking, asked, authority, name):
    asked.behaviour = reviewers.BEHAVIOURS[name]
    with asking(authority.certificate, url=asked.url, timeout_seconds=1) as client:
        begun = time.monotonic()
        code, found = client.call("POST", client.at(OLD), member("ada", team="red"))
        assert time.monotonic() - begun < 15
        assert (code, "context deadline exceeded" in found["message"]) == (500, True)
        assert stored(client) is None


def test_a_webhook_that_was_restarted_is_asked_again(asking, authority):
    certificate = authority.server("webhook")
    with reviewers.running(certificate) as first:
        url, port = first.url, int(first.url.split(":")[2].split("/")[0])
        with asking(authority.certificate, url=url) as client:
            client.create(OLD, "ada", team="red")
            first.stop()
            with reviewers.running(certificate, port) as second:
                client.create(OLD, "eve", team="red")
                assert len(second.requests) == 1


@pytest.mark.full
def test_slow_webhooks_hold_neither_readers_nor_other_writers(authority, tmp_path):
    """More writes wait for a webhook than the server has threads for everything else."""
    release = threading.Event()
    with reviewers.running(authority.server("webhook")) as asked:
        webhook = {"name": NAME, "url": asked.url, "ca": str(authority.certificate)}
        webhook["timeoutSeconds"] = 30
        config = {**CONFIG, "admission": [{"type": "Member", "version": "v2", "webhook": webhook}]}
        project = Installer(tmp_path)(SCHEMAS, config=config).project.folder

        def wait(_):
            release.wait(120)
            return {"allowed": True}

        asked.behaviour = wait
        served = Served(project)
        path = f"/apis/{GROUP}/v1/namespaces/default/members"
        try:
            with ThreadPoolExecutor(20) as threads:
                bodies = [
                    {"apiVersion": f"{GROUP}/v1", "kind": "Member", **member(f"m{i}", team="red")}
                    for i in range(20)
                ]
                made = [threads.submit(served.ask, "POST", path, each) for each in bodies]
                while len(asked.requests) < 20:
                    time.sleep(0.01)
                begun = time.monotonic()
                assert served.ask("GET", path).ok()["items"] == []
                space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}}
                assert served.ask("POST", "/api/v1/namespaces", space).status == 201
                assert time.monotonic() - begun < 20
                release.set()
                assert {each.result().status for each in made} == {201}
        finally:
            release.set()
            served.kill()


def _made(folder):
    folder.mkdir()
    return folder
