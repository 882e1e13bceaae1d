"""The pages about objects, without a browser: lists, versions beside each other, the bag, the editor, and who may do what."""

import asyncio
import html
import json
import re
from urllib.parse import parse_qs

import asgi
import pytest
from access import RULES, TOKENS
from apis import CONFIG, GROUP, NEW, OLD, SCHEMAS, Client, member
from objects_pages import page_of, post
from projects import Installer
from sqlalchemy import text as sql
from starlette.requests import Request

from trundle.api.access import Access
from trundle.dashboard._api_client import ApiClient
from trundle.store import Store

OF = {"of": GROUP, "type": "members"}
ADA = {**OF, "namespace": "default", "name": "ada"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return Installer(tmp_path_factory.mktemp("clubs"))(SCHEMAS, config=CONFIG)


@pytest.fixture
def store(installed, tmp_path):
    with Store(tmp_path / "store.sqlite", installed.scheme) as opened:
        yield opened


@pytest.fixture
def served(installed, store):
    """The page, and a client of its API."""
    application, api = page_of(installed, store, Access())
    return application, Client(api)


@pytest.fixture
def guarded(installed, store, tmp_path):
    """The page with users, and a client that may do everything."""
    (tmp_path / "tokens.csv").write_text(TOKENS)
    (tmp_path / "rules.yaml").write_text(RULES)
    access = Access(tmp_path / "tokens.csv", tmp_path / "rules.yaml")
    application, api = page_of(installed, store, access)
    return application, Client(api)


def bearer(name):
    return {"authorization": f"Bearer {name}-token"}


def get(application, page, headers=None, **query):
    return asgi.call(application, "GET", f"/ui/objects{page}", headers=headers, **query)


def document(answer):
    """The text in the editor, as a browser has it."""
    found = re.search(r"<textarea[^>]*>\n?(.*?)</textarea>", answer.text, re.DOTALL)
    return html.unescape(found[1])


def seen(answer):
    return dict(re.findall(r'name="(seen)" value="(\w+)"', answer.text))


def cells(answer):
    """The rows of the tables of a page, as texts."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", answer.text, re.DOTALL)
    found = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", each, re.DOTALL) for each in rows]
    plain = [[html.unescape(re.sub(r"<[^>]+>", " ", x)).split() for x in each] for each in found]
    return [[" ".join(x) for x in each] for each in plain]


def test_types_lead_to_lists(served):
    answer = get(served[0], "")
    assert f"/ui/objects/list?of={GROUP}&amp;type=members" in answer.text


def test_a_list_has_the_columns_of_kubectl(served):
    application, client = served
    client.create(OLD, "ada", team="red", level="high")
    client.create(NEW, "bob", group="blue")
    rows = cells(get(application, "/list", **OF, v=NEW))
    assert [each[:2] for each in rows] == [
        ["Namespace", "Name"],
        ["default", "ada"],
        ["default", "bob"],
    ]
    assert [each[2] for each in rows] == ["Level", "high", "low"]


def test_filters_choose(served):
    application, client = served
    for name, tier in (("ada", "gold"), ("bob", "tin")):
        body = member(name, team="red")
        body["metadata"]["labels"] = {"tier": tier}
        assert client.call("POST", client.at(OLD), body)[0] == 201
    assert [x[1] for x in cells(get(application, "/list", **OF, labels="tier=tin"))[1:]] == ["bob"]
    assert [x[1] for x in cells(get(application, "/list", **OF, called="ada"))[1:]] == ["ada"]
    assert cells(get(application, "/list", **OF, namespace="other")) == []
    answer = get(application, "/list", **OF, labels="tier in")
    assert (answer.status, 'role="alert"' in answer.text) == (400, True)


@pytest.mark.full
def test_a_list_without_objects_says_whether_filters_are_why(served):
    application, _ = served
    assert "There is no object yet." in get(application, "/list", **OF).text
    assert "that the filters choose" in get(application, "/list", **OF, called="x").text


def test_long_lists_have_pages(served):
    application, client = served
    for number in range(120):
        client.create(OLD, f"m{number:03}", team="red")
    found, said, where = [], [], "/ui/objects/list"
    query = dict(OF)
    while where:
        answer = asgi.call(application, "GET", where, **query)
        found += [each[1] for each in cells(answer)[1:]]
        said += re.findall(r"data-say>(.*?)(?: <|<)", answer.text)
        after = re.search(r'href="([^"]+)">Next page', answer.text)
        where, _, text = html.unescape(after[1]).partition("?") if after else ("", "", "")
        query = {k: v[0] for k, v in parse_qs(text).items()}
    assert found == [f"m{number:03}" for number in range(120)]
    assert said == ["50 objects of 120", "50 objects, and 20 more", "20 objects"]
    assert ", and more" in get(application, "/list", **OF, labels="!none").text


def test_long_values_are_folded(served):
    application, client = served
    long = {"notes.example.com/all": "{" + "x" * 500 + "}"}
    document = {"metadata": {"name": "ada", "annotations": long}, "team": "red"}
    assert client.call("POST", client.at(OLD), document)[0] == 201
    shown = get(application, "/one", **ADA, v=OLD).text
    assert re.search(r"<details><summary>&#34;\{x+…</summary>&#34;\{x{500}\}&#34;</details>", shown)
    assert shown.count("<details><summary>&#34;") == 1


def test_versions_stand_beside_each_other(served):
    application, client = served
    client.create(OLD, "ada", team="red", age=36)
    rows = cells(get(application, "/one", **ADA, v=[OLD, NEW]))
    assert ["age differs", "36", "—"] in rows
    assert ["team", '"red"', '"red" group'] in rows
    assert ["level", '"low"', '"low"'] in rows


def test_the_bag_says_what_is_shown_and_what_is_stale(served, store):
    application, client = served
    client.create(OLD, "ada", team="red", age=36)
    rows = cells(get(application, "/one", **ADA, v=NEW))
    assert ["age", OLD, "36", "shown"] in rows


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'{"apiVersion": "v1", "kind', "What is stored is no JSON"),
        (b'{"apiVersion": "\xff"}', "What is stored is no JSON"),
        (b'{"apiVersion": 7, "$propertyBag": {"age": 3}}', "It is empty"),
        (b'{"apiVersion": 7, "$propertyBag": {"age": {"no version": {}}}}', "not known"),
    ],
)
def test_what_is_damaged_in_storage_is_shown_with_the_reason(served, store, data, says):
    application, client = served
    client.create(OLD, "ada", team="red", age=36)
    with store.database.writing() as connection:
        statement = sql("UPDATE store_revisions SET data = :data WHERE name = 'ada'")
        connection.execute(statement, {"data": data})
    answer = get(application, "/one", **ADA, v=[OLD, NEW])
    assert answer.status == 200, answer.text
    assert f"{OLD} cannot show it" in answer.text
    assert "It has no values" not in answer.text
    assert "None of these versions can show its values" in answer.text
    assert says in answer.text
    uid = dict(re.findall(r'name="(uid)" value="([^"]*)"', answer.text))
    assert post(application, "/ui/objects/delete", **ADA, v=OLD, **uid).status == 303
    assert client.call("GET", client.at(OLD, "ada"))[0] == 404


def test_an_edit_is_shown_for_every_version_before_it_is_saved(served):
    application, client = served
    client.create(OLD, "ada", team="red", age=36)
    text = document(get(application, "/edit", **ADA, v=NEW))
    assert "managedFields" not in text
    changed = text.replace("group: red", "group: blue\nnote: new here")
    assert changed != text
    shown = post(application, "/ui/objects/edit", **ADA, v=NEW, document=changed, do="preview")
    rows = cells(shown)
    assert ["team", '"red"', '"blue"'] in rows
    assert ["group", '"red"', '"blue"'] in rows
    assert ["note", "—", '"new here"'] in rows
    assert client.get(OLD, "ada")["team"] == "red"
    saved = post(
        application, "/ui/objects/edit", **ADA, v=NEW, document=changed, do="save", **seen(shown)
    )
    assert saved.status == 303
    now = client.get(OLD, "ada")
    assert (now["team"], now["age"]) == ("blue", 36)


def test_what_was_not_shown_is_not_saved(served):
    application, client = served
    client.create(OLD, "ada", team="red")
    text = document(get(application, "/edit", **ADA, v=OLD))
    blue, green = (text.replace("red", each) for each in ("blue", "green"))
    shown = post(application, "/ui/objects/edit", **ADA, v=OLD, document=blue, do="preview")
    for given in ({}, seen(shown)):
        answer = post(
            application, "/ui/objects/edit", **ADA, v=OLD, document=green, do="save", **given
        )
        assert (answer.status, ["team", '"red"', '"green"'] in cells(answer)) == (200, True)
    assert client.get(OLD, "ada")["team"] == "red"


def test_browsers_end_lines_in_their_own_way(served):
    application, client = served
    client.create(OLD, "ada", team="red")
    text = document(get(application, "/edit", **ADA, v=OLD)).replace("red", "blue")
    text = text.replace("\n", "\r\n")
    shown = post(application, "/ui/objects/edit", **ADA, v=OLD, document=text, do="preview")
    done = post(
        application, "/ui/objects/edit", **ADA, v=OLD, document=text, do="save", **seen(shown)
    )
    assert (done.status, client.get(OLD, "ada")["team"]) == (303, "blue")


def test_two_users_at_once(served):
    application, client = served
    client.create(OLD, "ada", team="red")
    text = document(get(application, "/edit", **ADA, v=OLD))
    mine, theirs = text.replace("red", "blue"), text.replace("red", "green")
    shown = post(application, "/ui/objects/edit", **ADA, v=OLD, document=mine, do="preview")
    others = post(application, "/ui/objects/edit", **ADA, v=OLD, document=theirs, do="preview")
    first = {**ADA, "v": OLD, "do": "save"}
    assert (
        post(application, "/ui/objects/edit", **first, document=theirs, **seen(others)).status
        == 303
    )
    answer = post(application, "/ui/objects/edit", **first, document=mine, **seen(shown))
    assert answer.status == 409
    assert ["team", '"green"', '"blue"'] in cells(answer)
    assert document(answer).strip() == mine.strip()
    assert client.get(OLD, "ada")["team"] == "green"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("team: red", "team: 3"), "team"),
        (lambda text: text + "teem: red\n", "teem"),
        (lambda text: text + "\nteam: [", "document"),
        (lambda text: text.replace("team: red", "team: RED"), "team"),
        (lambda _: "", "document"),
    ],
)
def test_what_is_wrong_is_said_and_the_text_is_kept(served, change, said):
    application, client = served
    client.create(OLD, "ada", team="red")
    text = change(document(get(application, "/edit", **ADA, v=OLD)))
    answer = post(application, "/ui/objects/edit", **ADA, v=OLD, document=text, do="preview")
    alert = re.search(r'role="alert">(.*?)</div>', answer.text, re.DOTALL)[1]
    assert (answer.status in {400, 422}, said in alert) == (True, True), alert
    assert document(answer).strip() == text.strip()


def test_each_cause_is_said_once_above_the_form(served):
    application, client = served
    client.create(OLD, "ada", team="red")
    text = document(get(application, "/edit", **ADA, v=OLD)).replace("team: red", "team: RED")
    answer = post(application, "/ui/objects/edit", **ADA, v=OLD, document=text, do="preview")
    alert = re.search(r'role="alert">(.*?)</div>', answer.text, re.DOTALL)[1]
    assert html.unescape(re.findall(r"<p>(.*?)</p>", alert)[0]) == (
        'Member.clubs.example.com "ada" is invalid'
    )
    assert alert.count("Invalid value") == 1


def test_an_object_is_created(served):
    application, client = served
    text = document(get(application, "/edit", **OF, v=NEW))
    text = text.replace('name: ""', "name: eve") + "group: red\n"
    given = {**OF, "v": NEW, "document": text}
    shown = post(application, "/ui/objects/edit", **given, do="preview")
    assert ["team", "—", '"red"'] in cells(shown)
    assert client.call("GET", client.at(NEW, "eve"))[0] == 404
    done = post(application, "/ui/objects/edit", **given, do="save", **seen(shown))
    assert (done.status, "name=eve" in done.headers["location"]) == (303, True)
    assert client.get(OLD, "eve")["team"] == "red"


def test_numbers_keep_their_digits(served):
    application, client = served
    body = (
        b'{"apiVersion":"clubs.example.com/v2","kind":"Member","metadata":{"name":"ada"},"group":"red",'
        b'"free":{"a":1.10,"b":12345678901234567890123}}'
    )
    assert client.call("POST", client.at(NEW), body)[0] == 201
    text = document(get(application, "/edit", **ADA, v=NEW))
    assert "1.10" in text
    assert "12345678901234567890123" in text


def test_an_object_is_deleted_once(served):
    application, client = served
    old = client.create(OLD, "ada", team="red")["metadata"]["uid"]
    client.call("DELETE", client.at(OLD, "ada"))
    new = client.create(OLD, "ada", team="blue")["metadata"]["uid"]
    assert post(application, "/ui/objects/delete", **ADA, v=OLD, uid=old).status == 409
    assert client.get(OLD, "ada")["team"] == "blue"
    assert post(application, "/ui/objects/delete", **ADA, v=OLD, uid=new).status == 303
    assert client.call("GET", client.at(OLD, "ada"))[0] == 404


@pytest.mark.parametrize(
    ("page", "query", "code"),
    [
        ("/list", {"of": "x", "type": "members"}, 404),
        ("/list", {**OF, "v": "v7"}, 404),
        ("/one", {**OF, "namespace": "default", "name": "zoe"}, 404),
        ("/one", {**OF, "namespace": "default/members", "name": "ada"}, 400),
        ("/edit", {**OF, "namespace": "default", "name": ".."}, 400),
        ("/edit", {**OF, "namespace": "default", "name": "zoe"}, 404),
    ],
)
def test_what_is_not_there_is_said(served, page, query, code):
    assert get(served[0], page, **query).status == code


def test_the_rules_of_the_api_decide(guarded):
    application, _ = guarded
    root, ben, ann = bearer("root"), bearer("ben"), bearer("ann")
    text = (
        document(get(application, "/edit", root, **OF, v=OLD)).replace('""', "ada") + "team: red\n"
    )
    given = {**OF, "v": OLD, "document": text}
    refused = post(application, "/ui/objects/edit", ann, **given, do="preview")
    assert (refused.status, "cannot create" in refused.text) == (403, True)
    shown = post(application, "/ui/objects/edit", root, **given, do="preview")
    assert (
        post(application, "/ui/objects/edit", root, **given, do="save", **seen(shown)).status == 303
    )
    for page, query in (("/list", OF), ("/one", ADA), ("/edit", ADA)):
        codes = [get(application, page, each, **query).status for each in (root, ben, ann)]
        assert codes == [200, 200, 403], page
        assert "red" not in get(application, page, ann, **query).text
    assert get(application, "/list", None, **OF).status == 303


def test_another_site_changes_nothing(served):
    application, client = served
    client.create(OLD, "ada", team="red")
    uid = client.get(OLD, "ada")["metadata"]["uid"]
    for origin in ({"origin": "https://evil.example"}, {"origin": "null"}):
        form = {**ADA, "v": OLD, "uid": uid}
        answer = asgi.call(application, "POST", "/ui/objects/delete", headers=origin, form=form)
        assert answer.status == 403
    assert client.get(OLD, "ada")["team"] == "red"


def test_opening_the_address_of_a_form_does_nothing_and_leads_to_the_pages_around_it(served):
    application, client = served
    client.create(OLD, "ada", team="red")
    uid = client.get(OLD, "ada")["metadata"]["uid"]
    for method in ("GET", "HEAD"):
        answer = asgi.call(application, method, "/ui/objects/delete", **ADA, v=OLD, uid=uid)
        assert (answer.status, answer.headers["allow"]) == (405, "POST")
    answer = get(application, "/delete")
    assert "/ui/objects/delete takes what a form of another page sends" in answer.text
    assert re.findall(r'<a class="button" href="([^"]*)">([^<]*)<', answer.text) == [
        ("/ui/objects", "Go to Objects")
    ]
    assert client.get(OLD, "ada")["team"] == "red"
    out = asgi.call(application, "GET", "/ui/sign-out")
    assert (out.status, 'class="button" href="/ui/"' in out.text) == (405, True)


@pytest.mark.parametrize("page", ["/edit", "/one", "/list", "/nowhere"])
def test_a_refused_page_leads_to_the_pages_around_it(served, page):
    answer = get(served[0], page, of="", type="none")
    assert answer.status == 404
    assert 'class="button" href="/ui/objects">Go to Objects' in answer.text


def test_a_form_that_is_too_long_says_so(served):
    answer = post(served[0], "/ui/objects/edit", **ADA, v=OLD, document="x" * (5 * 1024 * 1024))
    assert (answer.status, "longer than" in answer.text) == (413, True)
    answer = post(served[0], "/ui/sign-in", token="x" * 100_000)
    assert answer.status == 413


def test_a_watch_ends_with_the_page_that_follows_it():
    """However much of the answer waits to be read."""
    ended = []

    async def application(_, __, send):
        try:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            while True:
                await send({"type": "http.response.body", "body": b"{}\n", "more_body": True})
        finally:
            ended.append(True)

    async def follow():
        page = Request({"type": "http", "headers": []})
        lines = ApiClient(application).lines(page, "/apis", {})
        assert await anext(lines) == b"{}"
        await asyncio.sleep(0)
        await lines.aclose()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.wait_for(asyncio.gather(*others, return_exceptions=True), 10)

    asyncio.run(follow())
    assert ended


def test_values_are_text_and_no_markup(served):
    application, client = served
    client.create(NEW, "ada", group="red", note="<b>x</b></textarea>")
    for page in ("/one", "/edit"):
        text = get(application, page, **ADA, v=NEW).text
        assert "<b>x" not in text
        assert "&lt;b&gt;x" in text


def test_marks_of_direction_are_seen_and_turn_no_text(served):
    application, client = served
    client.create(NEW, "ada", group="red", note="\u202ecba\u2066\u0085 \u00e9")
    shown = get(application, "/one", **ADA, v=NEW).text
    assert "&#34;\\u202ecba\\u2066\\u0085 \u00e9&#34;" in shown


def test_an_answer_shows_an_object_at_several_versions(served):
    _, client = served
    client.create(OLD, "ada", team="red", age=36)
    code, found = client.call("GET", client.at(OLD, "ada"), versions=f"{NEW},{OLD}")
    assert (code, found["kind"]) == (200, "List")
    assert found["items"] == [client.get(NEW, "ada"), client.get(OLD, "ada")]
    changed = {**client.get(NEW, "ada"), "group": "blue"}
    query = {"dryRun": "All", "versions": f"{OLD},{NEW}"}
    code, found = client.call("PUT", client.at(NEW, "ada"), changed, **query)
    assert [each.get("team", each.get("group")) for each in found["items"]] == ["blue", "blue"]
    assert found["items"][0]["age"] == 36
    assert client.get(OLD, "ada")["team"] == "red"
    code, found = client.call("GET", client.at(OLD, "ada"), versions="v7")
    assert (code, "v7" in found["message"]) == (400, True)
    assert json.dumps(found)


def test_an_entry_that_another_version_overtook_is_not_shown(tmp_path):
    schema = "title: Box\ntype: object\nproperties: {{size: {{type: {}}}}}\n"
    schemas = {"v1.yaml": schema.format("string"), "v2.yaml": schema.format("integer")}
    config = {"kubernetes": {"group": GROUP}}
    found = Installer(tmp_path / "boxes")(schemas, config=config)
    with Store(tmp_path / "store.sqlite", found.scheme) as store:
        application, api = page_of(found, store, Access())
        client = Client(api)
        path = f"/apis/{GROUP}/{{}}/namespaces/default/boxes"
        body = {"metadata": {"name": "b"}, "size": "small"}
        assert client.call("POST", path.format("v1"), body)[0] == 201
        one = {"of": GROUP, "type": "boxes", "namespace": "default", "name": "b"}
        assert ["size", "v1", '"small"', "shown"] in cells(get(application, "/one", **one))
        change, merge = {"size": 5}, "application/merge-patch+json"
        assert client.call("PATCH", path.format("v2") + "/b", change, media_type=merge)[0] == 200
        assert client.call("GET", path.format("v1") + "/b")[1].get("size") != "small"
        assert ["size", "v1", '"small"', "not shown"] in cells(get(application, "/one", **one))
