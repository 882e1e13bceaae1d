"""The options of requests, the forms of answers and old paths of changes, as Kubernetes' clients know them.

`tests/cluster/test_requests_like_kubernetes.py` holds the same to the real API server.
"""

import json

import pytest
import yaml
from amounts import full
from apis import GROUP, NEW, member

MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"
META = "v=v1;g=meta.k8s.io"


@pytest.mark.parametrize("query", [{"timeout": "x"}, {"timeout": "1"}, {"limit": "x"}], ids=str)
def test_what_is_no_duration_or_number_is_refused(client, query):
    code, said = client.call("GET", client.at(NEW), **{"resourceVersion": "0", **query})
    assert (code, said["reason"]) == (400, "BadRequest")
    assert client.call("GET", client.at(NEW), timeout="1m30s")[0] == 200


def test_an_object_is_not_exported(client):
    client.create(NEW, "ada", group="red")
    code, said = client.call("GET", client.at(NEW, "ada"), export="true")
    assert (code, said["reason"]) == (400, "BadRequest")
    assert client.call("GET", client.at(NEW, "ada"), export="false")[0] == 200


def test_paths_of_what_is_served(client):
    found = client.call("GET", "/")[1]["paths"]
    assert {"/api", "/api/v1", f"/apis/{GROUP}", f"/apis/{GROUP}/{NEW}", "/readyz"} <= {*found}
    assert {client.http.get(each).status_code for each in found} <= {200, 405}


@pytest.mark.parametrize(
    ("selector", "limit", "pages"),
    [
        ("metadata.name!=a", "1", [["b"], ["c"]]),
        ("metadata.name!=b", "2", [["a", "c"]]),
        ("metadata.name!=a,metadata.name!=c", "1", [["b"]]),
        ("metadata.name=a,metadata.name=b", "1", [[]]),
    ],
)
def test_pages_are_full_whatever_fields_choose(client, selector, limit, pages):
    for name in ("a", "b", "c"):
        client.create(NEW, name, group="red")
    query, found = {"fieldSelector": selector, "limit": limit}, []
    while True:
        page = client.call("GET", client.at(NEW), **query)[1]
        found.append([each["metadata"]["name"] for each in page["items"]])
        query["continue"] = page["metadata"]["continue"]
        if not query["continue"]:
            break
    assert found == pages


def test_a_deletion_says_which_precondition_failed(client):
    client.create(NEW, "ada", group="red")
    for condition in ({"uid": "x"}, {"resourceVersion": "1"}, {"resourceVersion": "9" * 5000}):
        code, said = client.call("DELETE", client.at(NEW, "ada"), {"preconditions": condition})
        ((what, wanted),) = condition.items()
        what = "UID" if what == "uid" else "ResourceVersion"
        assert code == 409
        assert f"the {what} in the precondition ({wanted}) does not match" in said["message"]
        assert said["details"]["kind"] == "Member"


def test_a_deletion_that_makes_no_sense_is_refused_where_nothing_is_there(client):
    code, said = client.call("DELETE", client.at(NEW), {"propagationPolicy": "x"})
    assert (code, said["reason"]) == (422, "Invalid")


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({"dryRun": ""}, ["dryRun"]),
        ({"dryRun": "all"}, ["dryRun"]),
        ({"fieldValidation": "strict"}, ["fieldValidation"]),
        ({"fieldManager": "ü" * 65}, ["fieldManager"]),
        ({"fieldManager": "a\nb", "dryRun": "x"}, ["fieldManager", "dryRun"]),
    ],
    ids=str,
)
def test_a_write_with_options_that_mean_nothing_is_refused(client, options, fields):
    made = client.create(NEW, "ada", group="red")
    changed = made | {"group": "blue"}
    for method, at, body, kind in (
        ("POST", client.at(NEW), member("eve", group="red"), ""),
        ("PUT", client.at(NEW, "ada"), changed, ""),
        ("PATCH", client.at(NEW, "ada"), {"group": "blue"}, MERGE),
    ):
        code, found = client.call(method, at, body, media_type=kind, **options)
        assert (code, found["reason"]) == (422, "Invalid"), method
        assert [each["field"] for each in found["details"]["causes"]] == fields
    assert client.get(NEW, "ada") == made
    assert client.call("GET", client.at(NEW, "eve"))[0] == 404


def test_only_what_is_applied_has_force(client):
    client.create(NEW, "ada", group="red")
    code, found = client.patch(NEW, "ada", {"group": "blue"}, force="true")
    assert (code, found["details"]["causes"][0]["field"]) == (422, "force")


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"uid": "another"}, 409),
        ({"resourceVersion": "999999"}, 409),
        ({"resourceVersion": "0"}, 409),
        ({"dryRun": ""}, 422),
        ({"propagationPolicy": ""}, 422),
    ],
    ids=str,
)
def test_a_query_says_what_may_be_deleted(client, query, code):
    """A client may write its preconditions into the query."""
    made = client.create(NEW, "ada", group="red")
    assert client.call("DELETE", client.at(NEW, "ada"), **query)[0] == code
    assert client.get(NEW, "ada") == made
    mine = {key: made["metadata"][key] for key in ("uid", "resourceVersion")}
    assert client.call("DELETE", client.at(NEW, "ada"), **mine)[0] == 200


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"resourceVersionMatch": "Exact"}, 422),
        ({"resourceVersionMatch": "Never", "resourceVersion": "1"}, 422),
        ({"resourceVersionMatch": "Exact", "resourceVersion": "0"}, 422),
        ({"sendInitialEvents": "true"}, 422),
        ({"watch": "1", "sendInitialEvents": "true"}, 422),
        ({"watch": "1", "resourceVersionMatch": "NotOlderThan"}, 422),
        ({"watch": "1", "resourceVersion": "x"}, 400),
        ({"timeoutSeconds": "x"}, 400),
        ({"limit": "-1", "timeoutSeconds": "-1"}, 200),
    ],
    ids=str,
)
def test_lists_and_watches_with_options_that_mean_nothing_are_refused(client, query, code):
    assert client.call("GET", client.at(NEW), **{"timeoutSeconds": "1", **query})[0] == code


def test_a_patch_takes_no_state_away(client):
    """As with a replacement, it has to say which state of the object it goes over."""
    client.create(NEW, "ada", group="red")
    for none in (None, ""):
        code, found = client.patch(NEW, "ada", {"metadata": {"resourceVersion": none}})
        assert (code, found["details"]["causes"][0]["field"]) == (422, "metadata.resourceVersion")


@pytest.mark.parametrize(("base", "code"), [("a-", 201), ("a.", 422), ("Ab-", 422)])
def test_what_names_are_made_of_could_be_one(client, base, code):
    made = {"metadata": {"generateName": base}, "group": "red"}
    found, said = client.call("POST", client.at(NEW), made)
    assert found == code
    if code != 201:
        assert said["details"]["causes"][0]["field"] == "metadata.generateName"


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("metadata.name=a\\,b", []),
        ("metadata.name!=a\\,b", ["ada"]),
        (",metadata.name=ada,", ["ada"]),
        ("metadata.name= ada", []),
        ("metadata.name =ada", None),
        ("metadata.name=a=b", None),
        ("metadata.name=a\\b", None),
        ("metadata.name!=ada\\", None),
        (" ", None),
    ],
)
def test_field_selectors_are_read_to_the_letter(client, selector, names):
    client.create(NEW, "ada", group="red")
    code, found = client.call("GET", client.at(NEW), fieldSelector=selector)
    assert code == (400 if names is None else 200)
    if names is not None:
        assert [each["metadata"]["name"] for each in found["items"]] == names


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", "json"),
        ("*/*", "json"),
        ("application/*", "json"),
        ("application/json;charset=utf-8", "json"),
        ("application/vnd.kubernetes.protobuf,application/json", "json"),
        ("text/html,application/xhtml+xml,*/*;q=0.8", "json"),
        ("application/yaml", "yaml"),
        ("application/json;q=0.5, application/yaml;q=0.9", "yaml"),
        ("application/yaml;q=0.5, application/json", "json"),
        (f"application/json;as=Table;{META};q=0.1,application/json;q=0.9", "json"),
    ],
)
def test_an_answer_has_the_type_that_a_client_likes_best(client, accept, kind):
    made = client.create(NEW, "ada", group="red")
    read = json.loads if kind == "json" else yaml.safe_load
    headers = {"accept": accept}
    for path, code in ((client.at(NEW, "ada"), 200), (client.at(NEW), 200)):
        answer = client.http.get(path, headers=headers)
        assert (answer.status_code, answer.headers["content-type"]) == (code, f"application/{kind}")
        found = read(answer.text)
        found = found["items"][0] if "items" in found else found
        times = [found["metadata"].pop(x) for x in ("creationTimestamp", "managedFields")]
        assert all(times)
        assert found == {
            **made,
            "metadata": {
                key: each
                for key, each in made["metadata"].items()
                if key not in {"creationTimestamp", "managedFields"}
            },
        }
    answer = client.http.get(client.at(NEW, "none"), headers=headers)
    assert answer.headers["content-type"] == f"application/{kind}"
    assert read(answer.text)["code"] == 404


@pytest.mark.parametrize(
    "accept",
    [
        "text/html",
        "application/xml",
        "application/vnd.kubernetes.protobuf",
        f"application/json;as=Other;{META}",
        "application/json;as=Table;v=v9;g=meta.k8s.io",
        "application/json;as=Table;v=v1;g=other.io",
        "garbage",
    ],
)
def test_nothing_is_done_for_a_client_that_could_not_read_the_answer(client, accept):
    made = client.create(NEW, "ada", group="red")
    headers = {"accept": accept, "content-type": MERGE}
    for method, body in (("GET", None), ("PATCH", {"group": "blue"}), ("DELETE", None)):
        content = None if body is None else json.dumps(body)
        at = client.at(NEW, "ada")
        answer = client.http.request(method, at, content=content, headers=headers)
        assert (answer.status_code, answer.json()["reason"]) == (406, "NotAcceptable")
    assert client.get(NEW, "ada") == made


def test_changes_are_json_alone(client):
    query = {"watch": "1", "timeoutSeconds": "1"}
    answer = client.http.get(client.at(NEW), params=query, headers={"accept": "application/yaml"})
    assert (answer.status_code, yaml.safe_load(answer.text)["reason"]) == (406, "NotAcceptable")


def test_changes_are_given_at_the_paths_of_old_clients(client, brief_watches):
    for name in ("ada", "eve"):
        client.create(NEW, name, group="red", labels={})
    base = f"/apis/{GROUP}/{NEW}/watch"

    def names(path, **query):
        answer = client.http.get(path, params=query)
        assert answer.status_code == 200, answer.text
        lines = map(json.loads, answer.text.splitlines())
        return [(each["type"], each["object"]["metadata"]["name"]) for each in lines]

    both = [("ADDED", "ada"), ("ADDED", "eve")]
    assert names(f"{base}/members") == names(f"{base}/namespaces/default/members") == both
    assert names(f"{base}/namespaces/default/members/eve") == both[1:]
    assert names(f"{base}/namespaces/default/members", watch="false") == both
    assert names(f"{base}/namespaces/default/members/none") == []
    assert client.call("DELETE", f"{base}/namespaces/default/members")[0] == 405
    assert client.call("GET", f"{base}/namespaces/default/members/eve/status")[0] == 405


def test_who_wants_bookmarks_and_begins_anywhere_is_shown_where_changes_begin(
    client, brief_watches
):
    client.create(NEW, "ada", group="red")
    query = {"watch": "1", "allowWatchBookmarks": "true"}
    for more in ({}, {"resourceVersion": "0"}):
        lines = client.http.get(client.at(NEW), params={**query, **more}).text.splitlines()
        assert [json.loads(each)["type"] for each in lines] == ["ADDED", "BOOKMARK"]
    begun = json.loads(lines[-1])["object"]["metadata"]
    assert begun["annotations"] == {"k8s.io/initial-events-end": "true"}
    lines = client.http.get(
        client.at(NEW), params={**query, "resourceVersion": begun["resourceVersion"]}
    ).text
    assert lines == ""


@pytest.mark.parametrize(
    "path", ["/api", "/apis", "/version", f"/apis/{GROUP}", f"/apis/{GROUP}/{NEW}"]
)
def test_discovery_is_kept_by_no_cache_and_may_have_a_slash_at_its_end(client, path):
    answers = [client.http.get(each, follow_redirects=False) for each in (path, f"{path}/")]
    assert answers[0].json() == answers[1].json()
    for each in answers:
        assert (each.status_code, each.headers["cache-control"]) == (200, "no-cache, private")


def test_a_method_that_is_not_allowed_names_the_resource(client):
    code, found = client.call("PUT", client.at(NEW), {})
    assert (code, found["details"]) == (405, {"group": GROUP, "kind": "members"})


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({}, 422),
        ({"resourceVersion": "0"}, 422),
        full({"resourceVersion": "1"}, 200),
        ({"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}, 422),
    ],
    ids=str,
)
def test_a_watch_from_a_version_passes_over_the_token_of_a_page(client, query, code):
    """API servers take a watch without a version for one that begins with what is there, which goes on from no page."""
    given = {"watch": "1", "timeoutSeconds": "1", "continue": "x", **query}
    assert client.http.get(client.at(NEW), params=given).status_code == code
