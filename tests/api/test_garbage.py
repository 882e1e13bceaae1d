"""What becomes of objects whose owners are deleted: in the background, in the foreground, and released."""

import pytest
from apis import GROUP, NEW, Client, serving_clubs

MERGE = "application/merge-patch+json"


def reference(owner, **more):
    metadata = owner["metadata"]
    known = {"name": metadata["name"], "uid": metadata["uid"], **more}
    return {"apiVersion": owner["apiVersion"], "kind": owner["kind"], **known}


def make(client, name, *owners, **metadata):
    metadata = {"name": name, "ownerReferences": list(owners), **metadata}
    body = {"metadata": metadata, "group": "red"}
    code, found = client.call("POST", client.at(NEW), body)
    assert code == 201, found
    return found


def delete(client, name, policy=None):
    body = {"propagationPolicy": policy} if policy else None
    code, found = client.call("DELETE", client.at(NEW, name), body)
    assert code == 200, found
    return found


def names(client):
    return [x["metadata"]["name"] for x in client.call("GET", client.at(NEW))[1]["items"]]


def family(client, **more):
    """`a` owns `b`, which owns `c`."""
    a = make(client, "a")
    b = make(client, "b", reference(a, **more))
    make(client, "c", reference(b, **more))


@pytest.mark.parametrize("policy", [None, "Background"])
def test_in_the_background_owners_go_first(client, api, policy):
    family(client)
    assert delete(client, "a", policy)["status"] == "Success"
    assert names(client) == ["b", "c"]
    api.controllers.settle()
    assert names(client) == []


def test_in_the_foreground_owners_wait_for_what_blocks_them(client, api):
    family(client, blockOwnerDeletion=True)
    client.patch(NEW, "c", {"metadata": {"finalizers": ["x.org/f"]}})
    found = delete(client, "a", "Foreground")
    assert found["metadata"]["finalizers"] == ["foregroundDeletion"]
    api.controllers.settle()
    assert names(client) == ["a", "b", "c"]
    client.patch(NEW, "c", {"metadata": {"finalizers": None}})
    api.controllers.settle()
    assert names(client) == []


def test_in_the_foreground_owners_do_not_wait_for_what_does_not_block_them(client, api):
    family(client)
    client.patch(NEW, "b", {"metadata": {"finalizers": ["x.org/f"]}})
    delete(client, "a", "Foreground")
    api.controllers.settle()
    assert names(client) == ["b"]


def test_orphans_stay_and_name_no_owner(client, api):
    family(client)
    found = delete(client, "a", "Orphan")
    assert found["metadata"]["finalizers"] == ["orphan"]
    api.controllers.settle()
    assert names(client) == ["b", "c"]
    assert "ownerReferences" not in client.get(NEW, "b")["metadata"]
    assert client.get(NEW, "c")["metadata"]["ownerReferences"]


@pytest.mark.parametrize(("orphans", "left"), [(True, ["b", "c"]), (False, [])])
def test_the_older_option_means_the_same(client, api, orphans, left):
    family(client)
    client.call("DELETE", client.at(NEW, "a"), {"orphanDependents": orphans})
    api.controllers.settle()
    assert names(client) == left


def test_an_object_with_another_owner_stays_and_forgets_the_one_that_is_gone(client, api):
    one, other = make(client, "one"), make(client, "other")
    make(client, "both", reference(one), reference(other))
    delete(client, "one")
    api.controllers.settle()
    owners = client.get(NEW, "both")["metadata"]["ownerReferences"]
    assert [each["name"] for each in owners] == ["other"]
    delete(client, "other")
    api.controllers.settle()
    assert names(client) == []


def test_an_owner_that_was_made_anew_is_another(client, api):
    old = make(client, "a")
    make(client, "b", reference(old))
    delete(client, "a")
    make(client, "a")
    api.controllers.settle()
    assert names(client) == ["a"]


def test_an_owner_of_an_unknown_type_may_be_there(client, api):
    unknown = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x", "uid": "u"}
    one = make(client, "one")
    make(client, "both", unknown, reference(one))
    delete(client, "one")
    api.controllers.settle()
    assert names(client) == ["both"]


def test_an_owner_is_found_at_whichever_version_it_is_named(client, api):
    a = make(client, "a")
    make(client, "b", {**reference(a), "apiVersion": f"{GROUP}/v1"})
    api.controllers.settle()
    assert names(client) == ["a", "b"]
    delete(client, "a")
    api.controllers.settle()
    assert names(client) == []


def test_what_a_server_left_is_collected_by_the_next(installed, tmp_path):
    with serving_clubs(installed, tmp_path / "store.db") as (api, _):
        family(Client(api))
        delete(Client(api), "a")
    with serving_clubs(installed, tmp_path / "store.db") as (api, _):
        api.controllers.settle()
        assert names(Client(api)) == []


def test_owners_in_a_circle_go_together(client, api):
    a = make(client, "a")
    b = make(client, "b", reference(a, blockOwnerDeletion=True))
    owners = [reference(b, blockOwnerDeletion=True)]
    client.patch(NEW, "a", {"metadata": {"ownerReferences": owners}})
    delete(client, "a", "Foreground")
    api.controllers.settle()
    assert names(client) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"propagationPolicy": "Sideways"},
            'Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
        ),
        (
            {"propagationPolicy": "Orphan", "orphanDependents": True},
            "cannot be both set",
        ),
    ],
)
def test_policies_that_make_no_sense_are_refused(client, options, message):
    make(client, "a")
    code, found = client.call("DELETE", client.at(NEW, "a"), options)
    assert (code, found["reason"]) == (422, "Invalid")
    assert message in found["message"]
    assert names(client) == ["a"]


def test_all_of_a_collection_go_as_asked(client, api):
    family(client)
    code, _ = client.call(
        "DELETE", client.at(NEW), {"propagationPolicy": "Orphan"}, fieldSelector="metadata.name=a"
    )
    assert code == 200
    api.controllers.settle()
    assert names(client) == ["b", "c"]
