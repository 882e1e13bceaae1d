"""`trundle serve --aggregated` behind a real API server, which passes on what clients ask for."""

import json
import threading

import aggregated
import pytest
from authorities import Authority
from carried import MERGE, Members, project
from clusters import PROXY, until

GROUP = "aggregated.example.com"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return project(tmp_path_factory.mktemp("aggregated"), GROUP, "v1", "v2")


@pytest.fixture(scope="module")
def server(cluster, folder):
    with aggregated.behind(cluster, folder, GROUP) as started:
        yield started


@pytest.fixture
def members(cluster, server):
    found = Members(cluster, GROUP)
    yield found
    cluster.kubectl("delete", f"members.{GROUP}", "--all")


def shown(cluster, *arguments):
    return json.loads(cluster.kubectl(*arguments, "-o", "json").stdout)


def test_discovery(cluster, server):
    resources = cluster.kubectl("api-resources", f"--api-group={GROUP}", "-o", "name").stdout
    assert resources == f"members.{GROUP}\n"
    group = cluster.request("GET", f"/apis/{GROUP}").ok()
    assert group["preferredVersion"]["version"] == "v2"
    assert [each["version"] for each in group["versions"]] == ["v2", "v1"]


def test_an_old_client_loses_nothing(cluster, members):
    members.create("v1", "ada", team="red", age=7)
    members.merge("v2", "ada", {"note": "n"}).ok()
    whole = members.at("v1", "ada")
    assert (whole["team"], whole["age"]) == ("red", 7)
    whole["team"] = "blue"
    cluster.request("PUT", members.path("v1", "ada"), whole).ok()
    newer = members.at("v2", "ada")
    assert (newer["group"], newer["note"]) == ("blue", "n")
    assert "annotations" not in newer["metadata"]
    replaced = members.member("v2", "ada", group="green")
    replaced["metadata"]["resourceVersion"] = newer["metadata"]["resourceVersion"]
    cluster.request("PUT", members.path("v2", "ada"), replaced).ok()
    assert members.at("v1", "ada")["age"] == 7


def test_kubectl(cluster, members, tmp_path):
    older = f"apiVersion: {GROUP}/v1\nkind: Member\nmetadata: {{name: ben}}\nteam: red\nage: 30\n"
    for word in ("created", "unchanged"):
        assert cluster.kubectl("apply", "-f", "-", text=older).stdout.endswith(f" {word}\n")
    newer = f"apiVersion: {GROUP}/v2\nkind: Member\nmetadata: {{name: ben}}\nnote: fine\n"
    cluster.kubectl("apply", "--server-side", "--field-manager=new", "-f", "-", text=newer)
    taken = newer.replace("note: fine", "note: other")
    refused = cluster.kubectl("apply", "--server-side", "--field-manager=x", "-f", "-", text=taken, check=False)  # fmt: skip
    assert "conflict" in refused.stderr
    cluster.kubectl("patch", f"members.v2.{GROUP}", "ben", "--type=json", "-p", '[{"op": "add", "path": "/level", "value": "high"}]')  # fmt: skip
    cluster.kubectl("label", f"members.v1.{GROUP}", "ben", "kind=old")
    editor = tmp_path / "edit"
    editor.write_text('#!/bin/sh\nsed -i "s/team: red/team: blue/" "$1"\n')
    editor.chmod(0o700)
    cluster.kubectl("edit", f"members.v1.{GROUP}", "ben", editor=str(editor))
    first = shown(cluster, "get", f"members.v1.{GROUP}", "ben")
    (second,) = shown(cluster, "get", f"members.v2.{GROUP}", "-l", "kind=old")["items"]
    assert (first["team"], first["age"]) == ("blue", 30)
    assert (second["group"], second["note"], second["level"]) == ("blue", "fine", "high")
    assert "NAME" in cluster.kubectl("get", f"members.{GROUP}").stdout
    cluster.kubectl("delete", f"members.{GROUP}", "ben")
    assert cluster.request("GET", members.path("v1", "ben")).status == 404


def test_explain(cluster, server):
    older = ("explain", "members", "--api-version", f"{GROUP}/v1")
    until(lambda: cluster.kubectl(*older, check=False).returncode == 0)
    said = cluster.kubectl(*older).stdout
    assert "age\t<integer>" in said
    assert "note" not in said
    until(lambda: f"/apis/{GROUP}/v2/namespaces/{{namespace}}/members" in cluster.request("GET", "/openapi/v2").ok()["paths"])  # fmt: skip


def test_watch(cluster, members):
    begun = members.cluster.request("GET", members.path("v1")).ok()["metadata"]["resourceVersion"]
    seen = []

    def watch():
        answer = cluster.pool.request(
            "GET", f"{cluster.url}{members.path('v1')}?watch=1&resourceVersion={begun}&timeoutSeconds=120",
            preload_content=False, headers={"Accept": "application/json"},
        )  # fmt: skip
        for line in answer:
            seen.append(json.loads(line))
            if seen[-1]["type"] == "DELETED":
                answer.close()
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    members.create("v2", "eve", group="red", note="n")
    members.merge("v2", "eve", {"group": "blue"}).ok()
    members.delete("eve")
    thread.join(120)
    assert [(each["type"], each["object"]["team"]) for each in seen] == [("ADDED", "red"), ("MODIFIED", "blue"), ("DELETED", "blue")]  # fmt: skip


def test_the_cluster_says_who_may_do_what(cluster, members):
    refused = cluster.kubectl("get", f"members.{GROUP}", user="ann", check=False)
    assert f'User "ann" cannot list resource "members" in API group "{GROUP}"' in refused.stderr
    role = ["--verb=get,list", f"--resource=members.{GROUP}"]
    cluster.kubectl("create", "role", "reads-members", *role)
    cluster.kubectl("create", "rolebinding", "reads-members", "--role=reads-members", "--user=ann")
    try:
        until(lambda: cluster.kubectl("get", f"members.{GROUP}", user="ann", check=False).returncode == 0)  # fmt: skip
        assert "annot" in cluster.kubectl("delete", f"members.{GROUP}", "x", user="ann", check=False).stderr  # fmt: skip
        assert "cannot list" in cluster.kubectl("get", f"members.{GROUP}", "-A", user="ann", check=False).stderr  # fmt: skip
        assert "cannot list" in cluster.kubectl("get", f"members.{GROUP}", user="ben", check=False).stderr  # fmt: skip
        acting = ["--as", "ann", "get", f"members.{GROUP}"]
        assert cluster.kubectl(*acting).returncode == 0
    finally:
        cluster.kubectl("delete", "role,rolebinding", "reads-members")


def test_only_the_proxy_says_who_asks(cluster, server, members, tmp_path):
    path = members.path("v1")
    forged = {
        "X_Remote_User": "admin",
        "X_Remote_Group": ["system:masters", "system:authenticated"],
    }
    assert server.directly("GET", path, **forged).status == 401
    assert server.directly("GET", path, X_Remote_Group="system:masters").status == 401
    assert server.directly("GET", path, X_Remote_Extra_Scopes="all").status == 401
    another = cluster.proxies.client("someone-else", group="system:masters")
    assert server.directly("GET", path, None, another, **forged).status == 401
    assert server.directly("GET", path, None, another).status == 401
    (tmp_path / "other").mkdir()
    stranger = Authority(tmp_path / "other").client(PROXY, group="system:masters")
    with pytest.raises(Exception, match=r"(?i)ssl|reset|certificate|connection"):
        server.directly("GET", path, None, stranger, **forged)
    with pytest.raises(Exception, match=r"(?i)ssl|reset|certificate|connection"):
        server.directly("GET", path, None, cluster.certificate)  # The cluster's administrator.
    token = f"Bearer {cluster.tokens['ann']}"
    assert server.directly("GET", path, Authorization=token, **forged).status == 401
    proxy = cluster.proxies.client(PROXY, group="proxies")
    assert server.directly("GET", path, None, proxy, **forged).status == 200
    unprivileged = server.directly("GET", path, None, proxy, X_Remote_User="ben")
    assert unprivileged.status == 403
    assert server.directly("GET", path, None, proxy).status == 401
    through = cluster.pool.request("GET", cluster.url + path, headers={"X-Remote-User": "ben"})
    assert through.status == 200, "the API server passes on no such header of a client"


def test_direct_clients(cluster, server, members):
    path = members.path("v1")
    assert server.directly("GET", "/readyz").status == 200
    assert server.directly("GET", path).status == 403
    assert server.directly("GET", path, Authorization="Bearer wrong").status == 401
    known = server.directly("GET", path, Authorization=f"Bearer {cluster.tokens['ann']}")
    assert 'User \\"ann\\" cannot list' in known.data.decode()
    assert server.directly("GET", "/apis/authorization.k8s.io").status == 403


def test_the_namespaces_are_those_of_the_cluster(cluster, server, members):
    there = f"/apis/{GROUP}/v1/namespaces/elsewhere/members"
    body = members.member("v1", "zoe", team="red")
    refused = cluster.request("POST", there, body)
    assert (refused.status, refused.body["message"]) == (404, 'namespaces "elsewhere" not found')
    cluster.kubectl("create", "namespace", "elsewhere")
    cluster.request("POST", there, body).ok()
    held = {"metadata": {"finalizers": ["example.com/held"]}}
    cluster.request("PATCH", f"{there}/zoe", held, kind=MERGE).ok()
    cluster.kubectl("delete", "namespace", "elsewhere", "--wait=false")
    ended = members.member("v1", "new", team="red")
    until(lambda: cluster.request("GET", f"{there}/zoe").ok()["metadata"].get("deletionTimestamp"))
    refused = cluster.request("POST", there, ended)
    assert (refused.status, refused.body["details"]["causes"][0]["reason"]) == (403, "NamespaceTerminating")  # fmt: skip
    cluster.request("PATCH", f"{there}/zoe", {"metadata": {"finalizers": None}}, kind=MERGE).ok()
    cluster.kubectl("wait", "--for=delete", "namespace/elsewhere", "--timeout=180s")
    assert cluster.request("GET", f"{there}/zoe").status == 404
    assert server.directly("GET", "/api/v1/namespaces").status in {403, 404}


def test_the_cluster_collects_what_has_no_owner(cluster, members):
    cluster.kubectl("create", "configmap", "owner")
    owner = shown(cluster, "get", "configmap", "owner")
    members.create("v1", "owned", team="red")
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}  # fmt: skip
    members.merge("v1", "owned", {"metadata": {"ownerReferences": [reference]}}).ok()
    cluster.kubectl("delete", "configmap", "owner")
    until(lambda: cluster.request("GET", members.path("v1", "owned")).status == 404)
