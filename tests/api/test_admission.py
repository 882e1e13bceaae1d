"""Hooks that are asked before objects are written: they refuse, warn and change, at the version that they know."""

import json
from contextlib import contextmanager

import pytest
from apis import GROUP, NEW, OLD, Client, member, whole

from trundle.api import AdmissionConfigError, AdmissionRequest, Api, served_kinds
from trundle.project import AdmissionHook, AdmissionRule
from trundle.store import Key, Store
from trundle.version import ApiVersion

APPLY = "application/apply-patch+yaml"


class Asked:
    """Keeps what it is asked; `then` is what it does about it."""

    def __init__(self, then=lambda _: None):
        self.requests: list[AdmissionRequest] = []
        self.then = then

    def create(self, request):
        self.requests.append(request)
        self.then(request)

    update = delete = create


@pytest.fixture
def asking(installed, tmp_path):
    """A client of an API with some hooks, each as a version and an object."""

    @contextmanager
    def make(*hooks, type_="Member"):
        found = [
            AdmissionHook(
                AdmissionRule(
                    type=type_, version=ApiVersion.parse(version), use=f"rules:{type(hook).__name__}",
                    where="trundle.yaml:9",
                ),
                hook,
            )
            for version, hook in hooks
        ]  # fmt: skip
        with Store(tmp_path / "store.db", installed.scheme) as store:
            kinds = served_kinds([installed.project], installed.scheme)
            client = Client(Api(store, kinds, "0.0.0", admission=found))
            client.store = store
            yield client

    return make


def stored(client, name="ada"):
    return client.store.find(Key("Member", "default", name))


def refusing(message, field=""):
    return Asked(lambda request: request.refuse(message, field))


def changing(**members):
    return Asked(lambda request: request.object.update(members))


@pytest.mark.full
def test_a_hook_sees_objects_at_its_version_whatever_the_client_uses(asking):
    hook = Asked()
    with asking((NEW, hook)) as client:
        client.create(OLD, "ada", team="red", age=36)
        client.patch(OLD, "ada", {"team": "blue"})
        client.call("DELETE", client.at(OLD, "ada"))
    created, updated, deleted = hook.requests
    assert [each.operation for each in hook.requests] == ["create", "update", "delete"]
    assert (created.object["apiVersion"], created.object["group"]) == (f"{GROUP}/v2", "red")
    assert (created.object["kind"], created.old) == ("Member", None)
    assert (created.namespace, created.name) == ("default", "ada")
    assert not {"uid", "resourceVersion", "managedFields"} & created.object["metadata"].keys()
    assert (updated.old["group"], updated.object["group"]) == ("red", "blue")
    assert "managedFields" not in updated.object["metadata"] | updated.old["metadata"]
    assert updated.old["metadata"]["resourceVersion"] == "2"
    assert (deleted.object, deleted.old["group"]) == (None, "blue")
    assert {each.user.name for each in hook.requests} == {"system:unsecured"}


def test_what_is_refused_is_not_stored(asking):
    with asking((NEW, refusing("no more members"))) as client:
        code, found = client.call("POST", client.at(OLD), member("ada", team="red"))
        assert (code, found["reason"]) == (403, "Forbidden")
        assert found["message"] == f'members.{GROUP} "ada" is forbidden: no more members'
        assert found["details"] == {"name": "ada", "group": GROUP, "kind": "members"}
        assert stored(client) is None


def test_all_that_is_wrong_is_named_by_its_field(asking):
    def then(request):
        request.refuse("is taken", "group")
        request.refuse("is too short", "note")

    with asking((NEW, Asked(then))) as client:
        code, found = client.call("POST", client.at(NEW), member("ada", group="red"))
    assert (code, found["reason"]) == (422, "Invalid")
    assert found["details"]["causes"] == [
        {"reason": "FieldValueForbidden", "field": "group", "message": "Forbidden: is taken"},
        {"reason": "FieldValueForbidden", "field": "note", "message": "Forbidden: is too short"},
    ]
    assert found["message"] == (
        f'Member.{GROUP} "ada" is invalid: [group: Forbidden: is taken, note: Forbidden: is too short]'
    )


def test_every_way_to_write_is_refused(asking):
    hook = Asked()
    with asking((NEW, hook)) as client:
        made = client.create(NEW, "ada", group="red", note="kept")
        before = stored(client)
        hook.then = lambda request: request.refuse("it is frozen")
        at, status = client.at(NEW, "ada"), client.at(NEW, "ada", part="status")
        config = member("ada", group="blue") | {"apiVersion": f"{GROUP}/v2", "kind": "Member"}
        operations = [{"op": "replace", "path": "/group", "value": "blue"}]
        for method, path, body, kind in [
            ("PUT", at, made | {"group": "blue"}, ""),
            ("PUT", status, made | {"status": {"phase": "done"}}, ""),
            ("PATCH", at, {"group": "blue"}, "application/merge-patch+json"),
            ("PATCH", at, operations, "application/json-patch+json"),
            ("PATCH", at, config, APPLY),
            ("PATCH", client.at(NEW, "eve"), {**config, "metadata": {"name": "eve"}}, APPLY),
            ("DELETE", at, None, ""),
            ("DELETE", client.at(NEW), None, ""),
        ]:
            force = {"force": "true"} if kind == APPLY else {}
            code, found = client.call(
                method, path, body, media_type=kind, fieldManager="m", **force
            )
            assert (code, found["message"].partition(": ")[2]) == (403, "it is frozen"), (
                method,
                path,
            )
        assert stored(client) == before
        assert stored(client, "eve") is None
    assert [each.subresource for each in hook.requests if each.subresource] == ["status"]


def test_a_client_of_a_version_that_lacks_what_is_changed_gets_it_stored(asking):
    with asking((NEW, changing(note="by the hook"))) as client:
        made = client.create(OLD, "ada", team="red", age=36)
        assert (made["team"], made["age"], "note" in made) == ("red", 36, False)
        assert client.get(NEW, "ada")["note"] == "by the hook"
        client.patch(OLD, "ada", {"team": "blue"})
        assert client.get(OLD, "ada")["age"] == 36
        assert client.get(NEW, "ada") | {"group": "blue", "note": "by the hook"} == client.get(
            NEW, "ada"
        )


def test_what_a_hook_sees_is_what_the_client_may_not_see(asking):
    """A client of an old version writes, and a hook at the new one sees what the old one lacks."""
    hook = Asked()
    with asking((NEW, hook)) as client:
        client.create(NEW, "ada", group="red", note="unseen", free={"a": 1.50})
        client.patch(OLD, "ada", {"team": "blue"})
        assert hook.requests[-1].object["note"] == "unseen"
        assert str(hook.requests[-1].object["free"]["a"]) == "1.5"


def test_hooks_are_asked_in_the_order_of_the_file_at_versions_of_their_own(asking):
    newer, older = changing(note="first"), Asked(lambda request: request.object.update(age=7))
    last = Asked()
    with asking((NEW, newer), (OLD, older), (NEW, last)) as client:
        client.create(OLD, "ada", team="red")
        assert (client.get(NEW, "ada")["note"], client.get(OLD, "ada")["age"]) == ("first", 7)
    assert older.requests[0].object["team"] == "red"
    assert last.requests[0].object["note"] == "first"


def test_a_change_at_one_version_is_no_further_revision(asking):
    with asking((NEW, changing(note="n"))) as client:
        made = client.create(OLD, "ada", team="red")
        found = client.patch(OLD, "ada", {"team": "blue"})[1]
        assert (
            int(found["metadata"]["resourceVersion"])
            == int(made["metadata"]["resourceVersion"]) + 1
        )
        assert found["metadata"]["generation"] == 2
        again = client.patch(OLD, "ada", {"team": "blue"})[1]
        assert again["metadata"]["resourceVersion"] == found["metadata"]["resourceVersion"]


def test_a_hook_changes_labels(asking):
    hook = Asked(lambda request: request.object["metadata"].setdefault("labels", {}).update(a="b"))
    with asking((NEW, hook)) as client:
        assert client.create(OLD, "ada", team="red")["metadata"]["labels"] == {"a": "b"}
        listed = client.call("GET", client.at(NEW), labelSelector="a=b")[1]["items"]
        assert [each["metadata"]["name"] for each in listed] == ["ada"]


def test_the_client_owns_what_it_wrote_and_keeps_it(asking):
    """Applying the same again is no conflict, and what the hook added stays."""
    with asking((NEW, changing(note="by the hook"))) as client:
        config = member("ada", team="red") | {"apiVersion": f"{GROUP}/v1", "kind": "Member"}
        query = {"fieldManager": "m"}
        at = client.at(OLD, "ada")
        assert client.call("PATCH", at, config, media_type=APPLY, **query)[0] == 201
        code, found = client.call("PATCH", at, config, media_type=APPLY, **query)
        assert code == 200
        assert [each["manager"] for each in found["metadata"]["managedFields"]] == ["m"]
        assert client.get(NEW, "ada")["note"] == "by the hook"


def test_a_hook_in_a_status_changes_the_status_alone(asking):
    def then(request):
        if request.subresource == "status":
            request.object["status"]["phase"] = "by the hook"
            request.object["group"] = "stolen"

    with asking((NEW, Asked(then))) as client:
        made = client.create(NEW, "ada", group="red")
        body = made | {"status": {"phase": "done"}}
        code, found = client.call("PUT", client.at(NEW, "ada", part="status"), body)
        assert (code, found["status"], found["group"]) == (200, {"phase": "by the hook"}, "red")
        assert found["metadata"]["generation"] == 1


def test_warnings_reach_the_client_also_with_a_refusal(asking):
    def then(request):
        request.warn('the group "red" is\nleaving')
        if request.operation == "delete":
            request.refuse("no")

    with asking((NEW, Asked(then))) as client:
        made = client.http.post(client.at(NEW), json=whole(NEW, "ada", group="red"))
        assert made.headers.get_list("warning") == ['299 - "the group \\"red\\" is leaving"']
        gone = client.http.delete(client.at(NEW, "ada"))
        assert gone.status_code == 403
        assert gone.headers.get_list("warning") == ['299 - "the group \\"red\\" is leaving"']


def test_a_dry_run_is_asked_about_as_one_and_stores_nothing(asking):
    hook = changing(note="n")
    with asking((NEW, hook)) as client:
        code, found = client.call("POST", client.at(NEW), member("ada", group="red"), dryRun="All")
        assert (code, found["note"]) == (201, "n")
        assert stored(client) is None
        client.create(NEW, "ada", group="red")
        hook.then = lambda request: None
        client.call("DELETE", client.at(NEW, "ada"), dryRun="All")
        assert stored(client) is not None
    assert [each.dry_run for each in hook.requests] == [True, False, True]


class Broken(Asked):
    pass


def test_a_hook_that_fails_is_named_and_nothing_is_stored(asking):
    def divide(request):
        request.object["note"] = str(1 / 0)

    with asking((NEW, Broken(divide))) as client:
        code, found = client.call("POST", client.at(OLD), member("ada", team="red"))
        assert (code, found["reason"]) == (500, "InternalError")
        assert found["message"].startswith(
            "Internal error occurred: the admission hook rules:Broken at create of Member v2 failed: "
            "ZeroDivisionError: division by zero at test_admission.py:"
        )
        assert stored(client) is None


class Loop(list):
    pass


def deep():
    found = value = {}
    for _ in range(100_000):
        value["a"] = value = {}
    return found


@pytest.mark.parametrize(
    ("then", "found"),
    [
        (lambda request: request.object.update(group=7), "group: Invalid value"),
        (lambda request: request.object.update(group="NOT SMALL"), "group: Invalid value"),
        (lambda request: request.object.update(unknown=1), "unknown"),
        (lambda request: request.object.pop("group"), "group: Required value"),
        (lambda request: request.object.update(note={1, 2}.__iter__()), "it left what is no JSON"),
        (lambda request: request.object.update(free={"a": float("nan")}), "the number nan"),
        (lambda request: request.object.update(free=deep()), "nested too deeply"),
        (lambda request: request.object["metadata"].update(name="eve"), "it changed metadata.name"),
        (lambda request: request.object.update(kind="Other"), "it changed kind"),
        (lambda request: request.object.pop("metadata"), "it changed metadata.name"),
        (lambda request: request.object["metadata"].update(labels={"a": 1}), "metadata.labels"),
        (lambda request: setattr(request, "object", []), "it left no object"),
        (lambda request: (_ for _ in ()).throw(SystemExit(3)), "SystemExit: 3"),
    ],
)  # fmt: skip
def test_what_a_hook_may_not_do_is_its_own_error(asking, then, found):
    with asking((NEW, Asked(then))) as client:
        code, answer = client.call("POST", client.at(OLD), member("ada", team="red"))
        assert (code, answer["reason"]) == (500, "InternalError")
        assert "the admission hook rules:Asked at create of Member v2 failed" in answer["message"]
        assert found in answer["message"]
        assert stored(client) is None


def test_a_hook_that_returns_something_is_an_error(asking):
    class Returning:
        def create(self, request):
            return request.object

    with asking((NEW, Returning())) as client:
        code, found = client.call("POST", client.at(NEW), member("ada", group="red"))
        assert (code, "change request.object instead" in found["message"]) == (500, True)
        client.store.create(
            Key("Member", "default", "ada"), b'{"apiVersion":"v2","kind":"Member","group":"red"}'
        )
        assert client.patch(NEW, "ada", {"note": "x"})[0] == 200


def test_a_write_that_fails_anyway_is_not_asked_about(asking):
    hook = Asked()
    with asking((NEW, hook)) as client:
        assert client.call("POST", client.at(NEW), member("ada", group=1))[0] == 422
        assert (
            client.call("POST", client.at(NEW, namespace="none"), member("ada", group="a"))[0]
            == 404
        )
        client.create(NEW, "ada", group="red")
        assert client.call("POST", client.at(NEW), member("ada", group="red"))[0] == 409
        assert client.call("DELETE", client.at(NEW, "eve"))[0] == 404
        wrong = {"preconditions": {"resourceVersion": "1"}}
        assert client.call("DELETE", client.at(NEW, "ada"), wrong)[0] == 409
    assert [each.operation for each in hook.requests] == ["create"]


def test_what_comes_in_between_is_asked_about_again(asking):
    """A hook that was asked about one state never lets another one through."""
    with asking() as plain:
        plain.create(NEW, "ada", group="red")

        def then(request):
            if len(hook.requests) == 1:
                plain.patch(NEW, "ada", {"note": "meanwhile"})
            if request.old.get("note") == "meanwhile":
                request.refuse("too late")

        hook = Asked(then)
        for method in ("PATCH", "DELETE"):
            hook.requests.clear()
            plain.patch(NEW, "ada", {"note": "before"})
            with asking((NEW, hook)) as client:
                body = {"group": "blue"} if method == "PATCH" else None
                kind = "application/merge-patch+json" if body else ""
                code, found = client.call(method, client.at(NEW, "ada"), body, media_type=kind)
                assert (code, found["message"][-8:]) == (403, "too late")
                assert len(hook.requests) == 2
        assert plain.get(NEW, "ada")["group"] == "red"


@pytest.mark.parametrize(
    ("version", "type_", "message"),
    [
        ("v3", "Member", "expected a version of Member that is served, found v3; write one of v1, v2"),
        ("v2", "Team", "expected one resource type that is served, found 0 called Team"),
    ],
)  # fmt: skip
def test_a_hook_that_would_never_be_asked_is_refused(asking, version, type_, message):
    with pytest.raises(AdmissionConfigError) as error, asking((version, Asked()), type_=type_):
        pass
    assert str(error.value).startswith("trundle.yaml:9: ")
    assert message in str(error.value)


def test_what_is_written_is_what_the_hook_answered_for(asking):
    """The store keeps the same bytes as if a client had written both, one after the other."""
    hook = changing(note="n", level="high")
    with asking((NEW, hook)) as client:
        client.create(OLD, "ada", team="red", age=36, labels={"b": "2", "a": "1"})
        data = json.loads(stored(client).data)
        hook.then = lambda _: None
        client.call("DELETE", client.at(NEW, "ada"))
    with asking() as client:
        client.create(OLD, "ada", team="red", age=36, labels={"b": "2", "a": "1"})
        client.patch(NEW, "ada", {"note": "n", "level": "high"})
        other = json.loads(stored(client).data)
    for each in (data, other):
        del each["metadata"]
    assert data == other
