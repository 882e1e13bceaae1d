"""Objects of a server that runs as a process of its own."""

import contextlib
import json
from dataclasses import replace

import httpx2
import pytest
from apis import CONFIG, GROUP, SCHEMAS
from dying_deploys import PACKAGE
from projects import Installer
from served import Served

from trundle.engine import Engine, EngineError
from trundle.engine.effects import MemoryJournal, Record
from trundle.providers.api import ApiProvider, client_of_kubeconfig, client_of_server

MEMBERS = f"/apis/{GROUP}/{{}}/namespaces/{{}}/members"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clubs")
    project = Installer(folder)(SCHEMAS, config=CONFIG).project.folder
    started = Served(project)
    for name in ("other", "red", "blue", "green"):
        started.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name}}).ok()
    yield started
    started.kill()


@pytest.fixture(autouse=True)
def empty(server):
    yield
    for each in server.ask("GET", f"/apis/{GROUP}/v2/members").ok()["items"]:
        at = MEMBERS.format("v2", each["metadata"]["namespace"])
        if each["metadata"].get("finalizers"):
            patch = {"metadata": {"finalizers": None}}
            kind = "application/merge-patch+json"
            server.ask("PATCH", f"{at}/{each['metadata']['name']}", patch, media_type=kind)
        server.ask("DELETE", f"{at}/{each['metadata']['name']}")


@pytest.fixture
def journal():
    return MemoryJournal()


def member(name, version="v2", namespace=None, **more):
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    team = {"team": "red"} if version == "v1" else {"group": "red"}
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "Member",
        "metadata": metadata,
        **team,
        **more,
    }


def deploy(server, journal, *contents, dry_run=False, secrets=None, client=None, **options):
    options = {"sleep": lambda _: None, "seconds": 2} | options
    documents = {f"{at}": each for at, each in enumerate(contents)}
    with contextlib.ExitStack() as left:
        client = left.enter_context(client or client_of_server(server.url))
        engine = Engine([PACKAGE], providers={"store": ApiProvider(client, **options)})
        session = left.enter_context(
            engine.session(journal=journal, dry_run=dry_run, secrets=secrets)
        )
        root = session.load({"?": {"type": "a.Deploying"}, "documents": documents})
        session.call(root, "deploy")
        session.settle()
        return [each.action for each in session.changes]


def there(server, version="v2"):
    """What the server has: namespace and name with the data."""
    items = server.ask("GET", f"/apis/{GROUP}/{version}/members").ok()["items"]
    left_out = ("apiVersion", "kind", "metadata")
    return {
        f"{each['metadata']['namespace']}/{each['metadata']['name']}": {
            key: value for key, value in each.items() if key not in left_out
        }
        for each in items
    }


def test_objects_are_applied_changed_and_deleted(server, journal):
    both = [member("a", note="x"), member("b", version="v1", age=3, namespace="other")]
    assert deploy(server, journal, *both, dry_run=True) == ["create", "create"]
    assert there(server) == {}
    assert deploy(server, journal, *both) == ["create", "create"]
    assert there(server)["default/a"] == {"group": "red", "level": "low", "note": "x"}
    assert there(server, "v1")["other/b"] == {"team": "red", "level": "low", "age": 3}
    before = server.ask("GET", f"{MEMBERS.format('v2', 'default')}/a").ok()["metadata"]
    assert deploy(server, journal, *both) == ["unchanged", "unchanged"]
    now = server.ask("GET", f"{MEMBERS.format('v2', 'default')}/a").ok()["metadata"]
    assert now == before
    assert now["managedFields"][0]["manager"] == "trundle-deploy"
    assert deploy(server, journal, member("a"), both[1]) == ["change", "unchanged"]
    assert there(server)["default/a"] == {"group": "red", "level": "low"}
    assert deploy(server, journal) == ["remove", "remove"]
    assert there(server) == {}
    assert journal.records() == ()


def test_fields_of_others_stay_and_those_that_they_took_are_a_conflict(server, journal):
    deploy(server, journal, member("a"))
    at = f"{MEMBERS.format('v2', 'default')}/a"
    patch = {"note": "mine", "group": "blue"}
    server.ask(
        "PATCH", at, patch, media_type="application/merge-patch+json", fieldManager="me"
    ).ok()
    deploy(server, journal, member("a", free={"x": 1}), force=True)
    assert there(server)["default/a"]["note"] == "mine"
    server.ask(
        "PATCH", at, patch, media_type="application/merge-patch+json", fieldManager="me"
    ).ok()
    with pytest.raises(EngineError) as caught:
        deploy(server, journal, member("a", free={"x": 2}))
    assert caught.value.kind == "conflict"
    assert "me" in str(caught.value)
    assert there(server)["default/a"]["free"] == {"x": 1}
    deploy(server, journal, member("a", free={"x": 2}), force=True)
    assert there(server)["default/a"] == {
        "group": "red", "level": "low", "free": {"x": 2}, "note": "mine",
    }  # fmt: skip


def test_an_object_that_no_run_made_stays(server, journal):
    at = MEMBERS.format("v2", "default")
    server.ask("POST", at, member("a", note="mine")).ok()
    for dry_run in (True, False):
        with pytest.raises(
            EngineError, match="expected no such object, found one that no run made"
        ):
            deploy(server, journal, member("a"), dry_run=dry_run)
    assert journal.records() == ()
    assert there(server)["default/a"]["note"] == "mine"


def test_one_that_others_made_anew_stays_when_ours_would_go(server, journal):
    deploy(server, journal, member("a"))
    at = MEMBERS.format("v2", "default")
    server.ask("DELETE", f"{at}/a").ok()
    server.ask("POST", at, member("a", note="mine")).ok()
    deploy(server, journal)
    assert journal.records() == ()
    assert there(server)["default/a"]["note"] == "mine"


def test_one_that_others_made_anew_is_not_changed(server, journal):
    deploy(server, journal, member("a"))
    at = MEMBERS.format("v2", "default")
    server.ask("DELETE", f"{at}/a").ok()
    server.ask("POST", at, member("a", note="mine")).ok()
    assert deploy(server, journal, member("a")) == ["unchanged"]
    for dry_run in (True, False):
        with pytest.raises(EngineError, match="the object of the run before, found another one"):
            deploy(server, journal, member("a", free={"x": 1}), dry_run=dry_run)
    assert there(server)["default/a"] == {"group": "red", "level": "low", "note": "mine"}
    server.ask("DELETE", f"{at}/a").ok()
    assert deploy(server, journal, member("a", free={"x": 1})) == ["change"]
    assert deploy(server, journal) == ["remove"]
    assert there(server) == {}


def made_anew(server, content):
    """Others delete an object, if it is there, and make one of its name."""
    at = MEMBERS.format("v2", "default")
    server.ask("DELETE", f"{at}/{content['metadata']['name']}")
    server.ask("POST", at, content).ok()


ANOTHER = "the object of the run before, found another one"


def test_one_that_others_made_anew_gets_no_changed_secret(server, journal):
    content = member("a", note="{{secret:pw}}")
    deploy(server, journal, content, secrets={"pw": "one"})
    made_anew(server, member("a", free={"x": 1}))
    assert deploy(server, journal, content, secrets={"pw": "one"}) == ["unchanged"]
    for dry_run in (True, False):
        with pytest.raises(EngineError, match=ANOTHER):
            deploy(server, journal, content, secrets={"pw": "two"}, dry_run=dry_run)
    deploy(server, journal)
    assert there(server)["default/a"] == {"group": "red", "level": "low", "free": {"x": 1}}


def test_one_that_others_made_after_a_run_failed_stays(server, journal):
    deploy(server, journal, member("a"))
    at = f"{MEMBERS.format('v2', 'default')}/a"
    patch = {"note": "theirs"}
    server.ask("PATCH", at, patch, media_type="application/merge-patch+json").ok()
    with pytest.raises(EngineError, match="expected no conflict"):
        deploy(server, journal, member("a", note="ours"))
    made_anew(server, member("a", free={"x": 1}))
    with pytest.raises(EngineError, match=ANOTHER):
        deploy(server, journal, member("a", note="ours"))
    deploy(server, journal)
    assert there(server)["default/a"] == {"group": "red", "level": "low", "free": {"x": 1}}


def test_one_that_others_made_after_the_first_run_failed_stays(server, journal):
    with pytest.raises(EngineError, match="found 422"):
        deploy(server, journal, member("a", level="none"))
    made_anew(server, member("a", free={"x": 1}))
    with pytest.raises(EngineError, match=ANOTHER):
        deploy(server, journal, member("a", note="ours"))
    deploy(server, journal)
    assert journal.records() == ()
    assert there(server)["default/a"] == {"group": "red", "level": "low", "free": {"x": 1}}


def test_what_a_run_applied_and_could_not_write_down_is_its_own(server, journal):
    deploy(server, journal, member("a"))
    (record,) = journal.records()
    for wanted in ([member("a", note="x")], []):
        journal.write(replace(record, state="intended", outcome=None))
        deploy(server, journal, *wanted)
        assert [each["note"] for each in there(server).values()] == ["x"] * len(wanted)


def test_an_object_of_another_environment_stays(server, journal):
    deploy(server, journal, member("a"))
    server.ask("DELETE", f"{MEMBERS.format('v2', 'default')}/a").ok()
    other = MemoryJournal()
    deploy(server, other, member("a", note="other"))
    with pytest.raises(EngineError, match=ANOTHER):
        deploy(server, journal, member("a", free={"x": 1}))
    deploy(server, journal)
    assert there(server)["default/a"] == {"group": "red", "level": "low", "note": "other"}
    assert deploy(server, other) == ["remove"]


def owners(server, name="a"):
    """Who owns the data of an object, by the names and operations of managers."""
    found = server.ask("GET", f"{MEMBERS.format('v2', 'default')}/{name}").ok()["metadata"]
    return {
        (each["manager"], each["operation"]): {
            key.removeprefix("f:") for key in each["fieldsV1"] if key != "f:metadata"
        }
        for each in found["managedFields"]
    }


def test_what_another_environment_made_after_a_run_failed_stays(server, journal):
    with pytest.raises(EngineError, match="found 422"):
        deploy(server, journal, member("a", level="none"), manager="trundle-deploy/one")
    other = MemoryJournal()
    deploy(server, other, member("a", note="other"), manager="trundle-deploy/other")
    with pytest.raises(EngineError, match=ANOTHER):
        deploy(server, journal, member("a", note="ours"), manager="trundle-deploy/one")
    deploy(server, journal, manager="trundle-deploy/one")
    assert there(server)["default/a"] == {"group": "red", "level": "low", "note": "other"}
    assert owners(server) == {("trundle-deploy/other", "Apply"): {"group", "note"}}


class Overtaken(httpx2.HTTPTransport):
    """Lets another environment act before an object is applied, and perhaps dies after that."""

    def __init__(self, act, *, dies=False):
        super().__init__()
        self.act, self.dies, self.applied = act, dies, 0

    def handle_request(self, request):
        if "apply-patch" not in request.headers.get("content-type", ""):
            return super().handle_request(request)
        self.applied += 1
        if self.applied == 1:
            self.act()
        if self.applied == 2 and self.dies:
            raise httpx2.ConnectError("gone")
        return super().handle_request(request)


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("dies", [False, True])
def test_of_two_environments_that_make_an_object_at_once_one_has_it(server, journal, dies, force):
    first = MemoryJournal()
    one, other = {"manager": "trundle-deploy/one/1"}, {"manager": "trundle-deploy/other/2"}

    def act():
        deploy(server, first, member("a"), **one)

    transport = Overtaken(act, dies=dies)
    client = httpx2.Client(base_url=server.url, transport=transport)
    with pytest.raises(EngineError) as caught:
        deploy(server, journal, member("a", note="x"), client=client, force=force, **other)
    message = "gone" if dies else "found one that another environment made at the same time"
    assert message in str(caught.value)
    expected = {("trundle-deploy/one/1", "Apply"): {"group"}}
    if not dies:
        assert owners(server) == expected
        assert there(server)["default/a"] == {"group": "red", "level": "low"}
    with pytest.raises(EngineError, match=ANOTHER):
        deploy(server, journal, member("a", note="y"), **other)
    assert deploy(server, journal, **other) == ["remove"]
    assert journal.records() == ()
    assert deploy(server, first, member("a"), **one) == ["unchanged"]
    assert there(server)["default/a"]["group"] == "red"
    assert deploy(server, first, **one) == ["remove"]
    assert there(server) == {}


def test_an_object_that_is_gone_is_not_made_by_giving_it_up(server, journal):
    first = MemoryJournal()
    one, other = {"manager": "trundle-deploy/one/1"}, {"manager": "trundle-deploy/other/2"}

    def act():
        if transport.applied == 1:
            deploy(server, first, member("a"), **one)

    class Gone(Overtaken):
        def handle_request(self, request):
            if self.applied == 1 and "apply-patch" in request.headers.get("content-type", ""):
                deploy(server, first, **one)
            return super().handle_request(request)

    transport = Gone(act)
    client = httpx2.Client(base_url=server.url, transport=transport)
    with pytest.raises(EngineError, match="made at the same time"):
        deploy(server, journal, member("a"), client=client, **other)
    assert there(server) == {}


def test_what_an_earlier_release_applied_goes_to_the_manager_of_its_environment(server, journal):
    deploy(server, journal, member("a", note="x", free={"x": 1}))
    assert owners(server) == {("trundle-deploy", "Apply"): {"group", "note", "free"}}
    own = {"manager": "trundle-deploy/one"}
    assert deploy(server, journal, member("a", note="x", free={"x": 1}), **own) == ["unchanged"]
    assert deploy(server, journal, member("a", note="y"), **own) == ["change"]
    assert there(server)["default/a"] == {"group": "red", "level": "low", "note": "y"}
    assert owners(server) == {("trundle-deploy/one", "Apply"): {"group", "note"}}
    assert deploy(server, journal, **own) == ["remove"]
    assert there(server) == {}


def test_what_others_took_from_an_earlier_release_is_a_conflict(server, journal):
    deploy(server, journal, member("a", note="x"))
    at = f"{MEMBERS.format('v2', 'default')}/a"
    merge = "application/merge-patch+json"
    server.ask("PATCH", at, {"note": "mine"}, media_type=merge, fieldManager="me").ok()
    with pytest.raises(EngineError, match='"me"'):
        deploy(server, journal, member("a", note="y"), manager="trundle-deploy/one")
    assert there(server)["default/a"]["note"] == "mine"
    expected = {("trundle-deploy/one", "Apply"): {"group"}, ("me", "Update"): {"note"}}
    assert owners(server) == expected


def test_what_an_earlier_release_could_not_write_down_is_its_own(server, journal):
    own = {"manager": "trundle-deploy/one"}
    for wanted in ([member("a", note="x")], []):
        deploy(server, journal, member("a"))
        (record,) = journal.records()
        journal.write(replace(record, state="intended", outcome=None))
        deploy(server, journal, *wanted, **own)
        assert [each["note"] for each in there(server).values()] == ["x"] * len(wanted)
        deploy(server, journal, **own)


def test_what_changes_while_its_fields_go_to_another_manager(server, journal):
    deploy(server, journal, member("a"))
    at = f"{MEMBERS.format('v2', 'default')}/a"
    changed = []

    class Meddling(httpx2.HTTPTransport):
        def handle_request(self, request):
            is_patch = "json-patch" in request.headers.get("content-type", "")
            if is_patch and len(changed) < 2:
                body = {"level": ["high", "low"][len(changed)]}
                changed.append(body)
                merge = "application/merge-patch+json"
                server.ask("PATCH", at, body, media_type=merge, fieldManager="me").ok()
            return super().handle_request(request)

    client = httpx2.Client(base_url=server.url, transport=Meddling())
    deploy(server, journal, member("a", note="x"), client=client, manager="trundle-deploy/one")
    assert len(changed) == 2
    expected = {("trundle-deploy/one", "Apply"): {"group", "note"}, ("me", "Update"): {"level"}}
    assert owners(server) == expected


def test_one_made_anew_while_ours_is_removed_stays(server, journal):
    deploy(server, journal, member("a"))
    (record,) = journal.records()
    journal.removing(record)
    made_anew(server, member("a", free={"x": 1}))
    with pytest.raises(EngineError, match=ANOTHER):
        deploy(server, journal, member("a"))
    assert there(server)["default/a"] == {"group": "red", "level": "low", "free": {"x": 1}}


@pytest.mark.full
def test_one_object_in_two_versions_is_one_thing(server, journal):
    deploy(server, journal, member("a", version="v1", age=5))
    assert deploy(server, journal, member("a", note="x")) == ["change"]
    assert there(server, "v1")["default/a"]["age"] == 5  # v2 cannot show it, and gives up nothing
    with pytest.raises(EngineError, match="one thing that a run wants there"):
        deploy(server, journal, member("a", version="v1"), member("a"))
    with pytest.raises(EngineError, match="one thing that a run wants there"):
        deploy(server, journal, member("a"), member("a", namespace="default", note="x"))


def test_what_was_made_in_another_namespace_is_deleted_there(server, journal):
    deploy(server, journal, member("a"), namespace="red")
    deploy(server, journal, member("a"), namespace="blue")
    assert list(there(server)) == ["blue/a"]
    deploy(server, journal, namespace="green")
    assert there(server) == {}


def test_a_version_that_is_no_longer_served_is_deleted_by_another(server, journal):
    deploy(server, journal, member("a"))
    (record,) = journal.records()
    data = json.loads(json.dumps(record.to_plain()).replace(f"{GROUP}/v2", f"{GROUP}/v0"))
    deploy(server, MemoryJournal([Record.from_plain(data)]))
    assert there(server) == {}


def test_a_kind_that_is_gone_has_no_objects(server, journal):
    key = "store/gone.example.com/Thing/default/a"
    wanted = {
        "content": {"apiVersion": "gone.example.com/v1", "kind": "Thing", "metadata": {"name": "a"}}
    }
    journal.write(Record(key, "store", "document", wanted, "done", None))
    deploy(server, journal)
    assert journal.records() == ()


def test_a_kind_that_the_server_does_not_have(server, journal):
    content = member("a") | {"kind": "Guest"}
    with pytest.raises(
        EngineError, match=r"expected a kind Guest in .*, found none that the server"
    ):
        deploy(server, journal, content)
    assert [each.state for each in journal.records()] == ["intended"]
    deploy(server, journal)
    assert journal.records() == ()


@pytest.mark.full
def test_a_deletion_that_takes_long_goes_on_in_the_next_run(server, journal):
    content = member("a")
    content["metadata"]["finalizers"] = ["example.com/wait"]
    deploy(server, journal, content)
    looks = []
    with pytest.raises(EngineError, match="expected the end of its deletion"):
        deploy(server, journal, sleep=looks.append)
    assert len(looks) == 9
    with pytest.raises(EngineError, match="one that is being deleted"):
        deploy(server, journal, member("a", note="again"))
    at = f"{MEMBERS.format('v2', 'default')}/a"
    patch = {"metadata": {"finalizers": None}}
    server.ask("PATCH", at, patch, media_type="application/merge-patch+json")
    deploy(server, journal)
    assert there(server) == {}
    assert journal.records() == ()


def test_secrets_reach_the_server_and_not_its_refusals(server, journal):
    deploy(server, journal, member("a", note="{{secret:pw}}"), secrets={"pw": "hush"})
    assert there(server)["default/a"]["note"] == "hush"
    with pytest.raises(EngineError) as caught:
        deploy(server, journal, member("a", level="{{secret:pw}}"), secrets={"pw": "hush"})
    assert "hush" not in caught.value.format()
    assert "{{secret:pw}}" in str(caught.value)
    assert caught.value.kind == "refused"


@pytest.mark.parametrize("text", ['hush"hush', "hush\nhush", "hush\\hush", "hush<hush"])
def test_a_secret_that_a_refusal_quotes_is_not_shown(server, journal, text):
    with pytest.raises(EngineError) as caught:
        deploy(server, journal, member("a", level="{{secret:pw}}"), secrets={"pw": text})
    assert "{{secret:pw}}" in str(caught.value)
    assert "hush" not in caught.value.format()


CLUSTER_WIDE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mine"}}


@pytest.mark.full
def test_a_provider_that_is_confined_reaches_one_namespace(server, journal):
    confined = {"namespace": "other", "elsewhere": False, "cluster_wide": False}
    hers, own = member("a", namespace="red"), member("a", namespace="other")
    secrets = {"kind": "Namespace", "where": "blue"}
    for content, message in (
        (hers, "in the namespace other, which alone may be reached, found red; leave"),
        (member("a", namespace="{{secret:where}}"), "in the namespace other"),
        (CLUSTER_WIDE, "whose objects are in none; let those who run the server apply it"),
        (CLUSTER_WIDE | {"kind": "{{secret:kind}}"}, "whose objects are in none"),
    ):
        with pytest.raises(EngineError, match=message) as caught:
            deploy(server, MemoryJournal(), content, secrets=secrets, **confined)
        assert caught.value.kind == "refused"
    assert there(server) == {}
    assert server.ask("GET", "/api/v1/namespaces/mine").status == 404
    for content in (hers, CLUSTER_WIDE):
        with pytest.raises(EngineError, match="alone may be reached"):
            deploy(server, journal, content, dry_run=True, **confined)
    assert deploy(server, journal, own, member("b"), **confined) == ["create", "create"]
    assert set(there(server)) == {"other/a", "other/b"}


def test_what_is_not_confined_reaches_all_that_its_user_may(server, journal):
    deploy(server, journal, member("a", namespace="red"), CLUSTER_WIDE)
    assert set(there(server)) == {"red/a"}
    assert server.ask("GET", "/api/v1/namespaces/mine").ok()


@pytest.mark.parametrize(
    "content",
    [
        "text",
        None,
        [],
        {},
        {"apiVersion": "v1", "kind": "A", "metadata": []},
        {"apiVersion": "v1", "kind": "A", "metadata": {}},
        {"apiVersion": "v1", "kind": "A", "metadata": {"generateName": "a"}},
        *(
            {"apiVersion": "v1", "kind": "A", "metadata": {"name": each}}
            for each in ("", ".", "..", "a/b", "../a", "a?b", "a#b", "a%2fb", "a b", "a\nb", 1)
        ),
        *(
            {"apiVersion": "v1", "kind": "A", "metadata": {"name": "a", "namespace": each}}
            for each in ("", "..", "a/../b", None)
        ),
        *(
            {"apiVersion": each, "kind": "A", "metadata": {"name": "a"}}
            for each in ("", "a/b/c", "../v1", "/v1", "V1", "./v1", 1)
        ),
        {"apiVersion": "v1", "kind": "A/B", "metadata": {"name": "a"}},
        {"apiVersion": "v1", "kind": "", "metadata": {"name": "a"}},
    ],
)
def test_what_is_no_object_is_refused_and_nothing_is_asked(content, journal):
    asked = []
    transport = httpx2.MockTransport(asked.append)
    client = httpx2.Client(base_url="http://x", transport=transport)
    with pytest.raises(EngineError, match="an object of Kubernetes, with apiVersion, kind"):
        deploy(None, journal, content, client=client)
    assert asked == []


def test_a_server_that_is_gone(server, journal):
    deploy(server, journal, member("a"))
    with pytest.raises(EngineError, match="expected an answer of the server") as caught:
        deploy(server, journal, client=client_of_server("http://127.0.0.1:9"))
    assert caught.value.kind == "unreachable"
    deploy(server, journal)
    assert there(server) == {}


@pytest.mark.parametrize(
    ("status", "body", "kind", "message"),
    [
        (403, {"message": "no"}, "unreachable", "expected to be let in, found 403: no"),
        (401, None, "unreachable", "found 401"),
        (500, {"message": "oh"}, "unreachable", "found 500: oh"),
        (422, [], "refused", "found 422"),
        (502, "no json", "unreachable", "found 502"),
        (200, "no json", "unreachable", "expected an answer of the server"),
    ],
)
def test_answers_that_are_none(journal, status, body, kind, message):
    def answer(_):
        return (
            httpx2.Response(status, text=body)
            if isinstance(body, str)
            else httpx2.Response(status, json=body)
        )

    client = httpx2.Client(base_url="http://x", transport=httpx2.MockTransport(answer))
    with pytest.raises(EngineError, match=message) as caught:
        deploy(None, journal, member("a"), client=client)
    assert caught.value.kind == kind


def test_a_token_and_an_authority(tmp_path):
    with client_of_server("http://x", token="t") as client:
        assert client.headers["Authorization"] == "Bearer t"
    with pytest.raises(FileNotFoundError):
        client_of_server("https://x", authority=tmp_path / "missing")


def test_a_kubeconfig(server, journal, tmp_path):
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "clusters": [{"name": "a", "cluster": {"server": server.url}}],
        "users": [{"name": "a", "user": {}}],
    }
    (tmp_path / "config").write_text(json.dumps(config))
    deploy(server, journal, member("a"), client=client_of_kubeconfig(tmp_path / "config"))
    assert list(there(server)) == ["default/a"]
    for name, context, said in (
        ("config", "b", "config: expected the context b, found a; name one"),
        ("none", None, "none: expected how to reach a cluster"),
    ):
        with pytest.raises(Exception, match=said) as caught:
            client_of_kubeconfig(tmp_path / name, context)
        assert caught.value.kind == "unreachable"
    (tmp_path / "config").write_text(json.dumps(config | {"current-context": ""}))
    with pytest.raises(Exception, match="found no current context"):
        client_of_kubeconfig(tmp_path / "config")


class Death(BaseException):
    """The end of a run."""


class Dying(httpx2.BaseTransport):
    """Dies before or after the n-th request."""

    def __init__(self, at, *, after):
        self.left, self.after = at, after
        self.below = httpx2.HTTPTransport()

    def handle_request(self, request):
        if self.left == 0 and not self.after:
            raise Death
        answer = self.below.handle_request(request)
        answer.read()
        if self.left == 0:
            raise Death
        self.left -= 1
        return answer

    def close(self):
        self.below.close()


@pytest.mark.full
def test_a_run_that_dies_at_a_request_goes_on_in_the_next(server, journal):
    models = [
        [member("a", note="x"), member("b"), member("c", namespace="red")],
        [member("d"), member("a", note="y"), member("c", namespace="red")],
        [],
    ]
    deaths = 0
    for before, model in zip([[], *models], models, strict=False):
        for after in (False, True):
            at, died = 0, True
            while died:
                deploy(server, journal, *before)
                died, deaths = False, deaths + 1
                transport = Dying(at, after=after)
                try:
                    client = httpx2.Client(base_url=server.url, transport=transport)
                    deploy(server, journal, *model, client=client)
                except Death:
                    died, at = True, at + 1
                actions = deploy(server, journal, *model)
                assert set(actions) | {"unchanged"} == {"unchanged"} or died
                assert there(server) == {
                    f"{each['metadata'].get('namespace', 'default')}/{each['metadata']['name']}": {
                        "group": "red", "level": "low", **({"note": each["note"]} if "note" in each else {}),
                    }
                    for each in model
                }  # fmt: skip
                assert set(deploy(server, journal, *model)) <= {"unchanged"}
    assert deaths > 50
