"""The pages about environments, without a browser: trees, drafts, forms of packages, and runs that are tried before they are done."""

import html
import re
import time
from concurrent.futures import ThreadPoolExecutor

import asgi
import pytest
import submitting
from access import TOKENS
from environment_pages import SIZES, UI, asking_package, form_package, served, upgraded
from kept import PACKAGE
from objects_pages import OWN, post

from trundle.api._status import ApiError
from trundle.api.access import Access
from trundle.api.environments import Runner

SHOP = {"tenant": "acme", "name": "shop"}
ONE = "/ui/environments/one"


@pytest.fixture
def page(tmp_path):
    packages = PACKAGE, upgraded(), form_package()
    with served(tmp_path, packages=packages) as found:
        yield found


def get(application, page, headers=None, **query):
    return asgi.call(application, "GET", f"/ui/environments{page}", headers=headers, **query)


def words(answer):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def followed(application, answer):
    """The page that an answer leads to."""
    assert answer.status == 303, answer.text
    return asgi.call(application, "GET", answer.headers["location"])


def ended(application, answer):
    """The page of an action, when it has ended."""
    until = time.monotonic() + 60
    while 'hx-trigger="every 1s"' in (shown := followed(application, answer)).text:
        assert time.monotonic() < until
        time.sleep(0.1)
    return shown


def confirmed(application, shown):
    """What comes of doing what was tried."""
    number = re.search(r'name="number" value="(\d+)"', shown.text)[1]
    return post(application, ONE, **SHOP, do="confirm", number=number)


def deployed(application, client, documents):
    client.create()
    client.add("web", documents)
    tried = ended(application, post(application, ONE, **SHOP, do="deploy", draft="me"))
    return ended(application, confirmed(application, tried))


@pytest.mark.full
def test_an_environment_is_made_and_an_application_added(page):
    application, client = page
    assert "The tenant acme has no environment." in words(get(application, "", tenant="acme"))
    unnamed = post(application, "/ui/environments", tenant="acme", name="", place="here")
    assert "expected a name without `/`, found none; write one" in words(unnamed)
    made = post(application, "/ui/environments", tenant="acme", name="shop", place="here")
    assert "There is no draft." in words(followed(application, made))
    again = post(application, "/ui/environments", tenant="acme", name="shop", place="here")
    assert (again.status, 'role="alert"' in again.text) == (409, True)
    assert "package=a" in get(application, "/add", **SHOP).text
    given, _ = submitting.form_in(get(application, "/add", **SHOP, package="a").text)
    assert given["version"] == "1.1.0"
    given |= {"called": "web", "/properties": "documents: {one: 1.50}"}
    shown = followed(application, post(application, "/ui/environments/add", **given))
    assert "web a.App 1.1.0" in words(shown)
    assert '{"one":1.5}' in words(shown)
    assert client.get("environments", "shop")["drafts"] == ["page"]
    assert client.files() == {}


@pytest.mark.full
def test_a_draft_is_deployed_after_its_effects_were_seen(page):
    application, client = page
    client.create()
    client.add("web", {"one": 1})
    tried = ended(application, post(application, ONE, **SHOP, do="deploy", draft="me"))
    assert "Nothing is done yet. This is what it would do." in words(tried)
    assert "create folder/one.yaml" in words(tried)
    assert re.findall("<(?:ins|del)>.*</(?:ins|del)>", tried.text) == ["<ins>+1</ins>"]
    assert client.files() == {}
    done = ended(application, confirmed(application, tried))
    assert client.files() == {"one.yaml": "1\n"}
    assert "1 effect. Effects create" in words(done)
    assert "created folder/one.yaml" in words(done)
    assert confirmed(application, tried).status == 409
    shown = words(get(application, "/one", **SHOP))
    assert "shop of acme deployed" in shown
    assert "web a.App 1.1.0" in shown


@pytest.mark.full
def test_a_draft_that_changed_is_not_deployed_unseen(page):
    application, client = page
    client.create()
    client.add("web", {"one": 1})
    tried = ended(application, post(application, ONE, **SHOP, do="deploy", draft="me"))
    client.add("other", {"two": 2})
    refused = words(ended(application, confirmed(application, tried)))
    assert "expected the draft me as it was read" in refused
    assert client.files() == {}


@pytest.mark.full
def test_what_was_tried_is_done_once_however_often_it_is_asked_for(page):
    application, client = page
    deployed(application, client, {"one": 1})
    asked = {"object": "web", "method": "put", "arguments": "{name: two, content: 1.50}"}
    tried = ended(application, post(application, ONE, **SHOP, do="call", **asked))
    assert '{"name":"two","content":1.50}' in words(tried)
    with ThreadPoolExecutor(4) as together:
        found = [together.submit(confirmed, application, tried) for _ in range(4)]
    assert sorted(each.result().status for each in found) == [303, 409, 409, 409]
    actions = client.get("environments", "shop", "actions")["actions"]
    assert [x["action"] for x in actions if not x["dryRun"]] == ["call web.put", "deploy"]
    number = next(x["number"] for x in actions if x["dryRun"])
    shown = words(get(application, "/action", **SHOP, number=str(number)))
    assert "This was tried alone." in shown
    assert "Nothing is done yet" not in shown
    client.ended(actions[0]["number"])


@pytest.mark.full
def test_what_was_tried_can_be_done_after_it_was_refused(page, monkeypatch):
    application, client = page
    client.create()
    client.add("web", {"one": 1})
    tried = ended(application, post(application, ONE, **SHOP, do="deploy", draft="me"))

    def refuse(*_, **__):
        raise ApiError(503, "ServiceUnavailable", "not now")

    with monkeypatch.context() as now:
        now.setattr(Runner, "begin", refuse)
        assert confirmed(application, tried).status == 503
    ended(application, confirmed(application, tried))
    assert client.files() == {"one.yaml": "1\n"}


@pytest.mark.full
def test_what_was_tried_of_an_environment_is_not_done_with_a_later_one(page):
    application, client = page
    client.create()
    ended(application, post(application, ONE, **SHOP, do="delete"))
    client.ended(client.ok(client.ask("DELETE", "environments", "shop"))["number"])
    client.ok(client.ask("DELETE", "environments", "shop", purge="true"))
    client.create()
    client.add("web", {"one": 1})
    assert client.run("deploy", dry=True, draft="me")["number"] == 1
    shown = words(get(application, "/action", **SHOP, number="1"))
    assert "create folder/one.yaml" in shown
    assert "Do it" not in shown
    assert post(application, ONE, **SHOP, do="confirm", number="1").status == 409
    assert client.get("environments", "shop")["state"] == "new"


@pytest.mark.full
def test_a_restart_forgets_what_was_tried_and_says_so(page, tmp_path):
    application, client = page
    client.create()
    client.add("web", {"one": 1})
    tried = ended(application, post(application, ONE, **SHOP, do="deploy", draft="me"))
    number = re.search(r'name="number" value="(\d+)"', tried.text)[1]
    again = served(tmp_path, packages=())
    with again as (restarted, _):
        shown = words(get(restarted, "/action", **SHOP, number=number))
        assert "create folder/one.yaml" in shown
        assert "Try it again to do it" in shown
        refused = post(restarted, ONE, **SHOP, do="confirm", number=number)
        assert (refused.status, "Try it again" in words(refused)) == (409, True)
    assert client.files() == {}


@pytest.mark.full
def test_history_calls_and_going_back(page):
    application, client = page
    deployed(application, client, {"one": 1})
    shown = get(application, "/one", **SHOP)
    assert '<option value="web">' in shown.text
    asked = {"object": "web", "method": "put", "arguments": "{name: two, content: 2}"}
    tried = ended(application, post(application, ONE, **SHOP, do="call", **asked))
    assert "create folder/two.yaml" in words(tried)
    done = ended(application, confirmed(application, tried))
    assert '{"one":1,"two":2}' in html.unescape(done.text)
    assert client.files() == {"one.yaml": "1\n", "two.yaml": "2\n"}
    assert '{"one":1}' in words(get(application, "/deployment", **SHOP, number="1"))
    back = ended(application, post(application, ONE, **SHOP, do="rollback", deployment="1"))
    assert "folder/two.yaml" in words(back)
    ended(application, confirmed(application, back))
    assert client.files() == {"one.yaml": "1\n"}
    gone = ended(application, post(application, ONE, **SHOP, do="delete"))
    assert client.files() == {"one.yaml": "1\n"}
    ended(application, confirmed(application, gone))
    assert client.files() == {}


@pytest.mark.full
def test_packages_are_upgraded_after_it_was_tried(page):
    application, client = page
    client.create()
    properties = {"?": {"name": "web"}, "documents": {"one": 1}}
    where = "environments", "shop", "drafts", "me", "applications"
    client.post(*where, package="a", version="==1.0.0", properties=properties)
    client.run("deploy", draft="me")
    tried = ended(application, post(application, ONE, **SHOP, do="upgrade"))
    assert "a from 1.0.0 to 1.1.0" in words(tried)
    assert "web a.App 1.0.0" in words(get(application, "/one", **SHOP))
    done = ended(application, confirmed(application, tried))
    assert "a from 1.0.0 to 1.1.0" in words(done)
    assert "web a.App 1.1.0" in words(get(application, "/one", **SHOP))
    assert "web a.App 1.0.0" in words(get(application, "/deployment", **SHOP, number="1"))


@pytest.mark.full
def test_what_fails_says_why(page):
    application, client = page
    deployed(application, client, {"one": 1})
    failed = ended(
        application, post(application, ONE, **SHOP, do="call", object="web", method="fail")
    )
    assert "it broke" in words(failed)
    assert "Do it" not in words(failed)
    for asked in (
        {"do": "call", "object": "web", "method": "put", "arguments": "["},
        {"do": "call", "object": "web", "method": "put", "arguments": "1"},
        {"do": "nothing"},
        {"do": "rollback", "deployment": "x"},
        {"do": "rollback", "deployment": "9" * 5000},
        {"do": "deploy", "draft": "none"},
    ):
        answer = post(application, ONE, **SHOP, **asked)
        assert (answer.status in {400, 404}, 'role="alert"' in answer.text) == (True, True), asked


AGAIN = "again /shop/admin"


@pytest.mark.full
def test_a_form_of_a_package_is_filled_in(page):
    application, client = page
    client.create()
    shown = get(application, "/add", **SHOP, package="f")
    assert 'placeholder="web-#"' in shown.text
    given, _ = submitting.form_in(shown.text)
    assert (given["/shop/size"], given["/nodes/public"]) == ("", "")
    wrong = {
        "/nodes/count": "9",
        "/nodes/pattern": "Web",
        "/shop/admin": "short",
        "again /shop/admin": "short",
        "/workflowManagement/application_name": "mine",
    }
    answer = post(application, "/ui/environments/add", **{**given, **wrong})
    assert answer.status == 422, answer.text
    said = {
        html.unescape(x): y for x, y in re.findall(r'id="([^"]+)-wrong">(.*?)</p>', answer.text)
    }
    assert set(said) == {"/nodes/count", "/nodes/pattern", "/shop/admin", "/shop/size"}
    assert "small letters" in said["/nodes/pattern"]
    assert "short" not in answer.text.replace("shorter", "")
    kept, _ = submitting.form_in(answer.text)
    assert (kept["/nodes/count"], kept["/nodes/pattern"], kept["/shop/admin"]) == ("9", "Web", "")
    right = {"/nodes/count": "4", "/nodes/pattern": "", "/shop/size": '"s"'}
    rule = post(application, "/ui/environments/add", **{**kept, **right})
    assert (rule.status, "a small shop has three nodes" in words(rule)) == (422, True)
    right |= {"/shop/size": '"l"', "/shop/admin": "Secret.1234"}
    twice = post(application, "/ui/environments/add", **{**kept, **right, AGAIN: "Secret.1235"})
    assert (twice.status, "The two are not equal" in words(twice)) == (422, True)
    assert 'id="/shop/admin-wrong"' in twice.text
    right[AGAIN] = "Secret.1234"
    done = followed(application, post(application, "/ui/environments/add", **{**kept, **right}))
    assert "mine f.App 1.0.0" in words(done)
    assert "Secret.1234" not in done.text
    made = client.get("environments", "shop", "drafts", "page")["model"]["applications"][0]
    assert (made["documents"]["size"], made["documents"]["count"]) == ("l", 4)
    assert len(client.get("environments", "shop")["secrets"]) == 1


@pytest.mark.full
def test_a_form_whose_choices_a_method_gives_is_filled_in(tmp_path):
    with served(tmp_path, packages=[asking_package()]) as (application, client):
        client.create()
        shown = get(application, "/add", **SHOP, package="g")
        assert re.findall(r'<option value="&#34;(.)&#34;', shown.text) == ["s", "l", "x"]
        given, _ = submitting.form_in(shown.text)
        wrong = post(application, "/ui/environments/add", **{**given, "/shop/size": '"m"'})
        assert (wrong.status, "is not one of the values" in words(wrong)) == (422, True)
        assert 'id="/shop/size-wrong"' in wrong.text
        answers = {"/shop/size": '"x"', "/shop/admin": "Secret.1234", AGAIN: "Secret.1234"}
        done = followed(application, post(application, "/ui/environments/add", **given | answers))
        assert "g.App 1.0.0" in words(done)
        made = client.get("environments", "shop", "drafts", "page")["model"]["applications"][0]
        assert made["documents"]["size"] == "x"


def test_parameters_that_a_method_gives_go_over_those_of_the_form_on_the_page_too(tmp_path):
    ui = UI.replace(
        "Version: 2.4", "Version: 2.4\nParametersSource: sizes\nParameters: {sizes: [[q, Q]]}"
    )
    ui = ui.replace("[[s, Small], [l, Large]]", "$sizes").replace("f.App", "g.App")
    with served(tmp_path, packages=[form_package(ui, "g", SIZES)]) as (application, client):
        client.create()
        shown = get(application, "/add", **SHOP, package="g")
        assert re.findall(r'<option value="&#34;(.)&#34;', shown.text) == ["s", "l", "x"]


@pytest.mark.parametrize(("typed", "kept"), [("2", 2), ("l", "l")])
def test_choices_that_follow_from_other_answers_may_be_numbers(tmp_path, typed, kept):
    field = "{name: parts, type: choice, choices: !yaql '[[l, All], [$.shop.size.len() + 1, Two]]'}"
    ui = UI.replace("        - {name: count", f"        - {field}\n        - {{name: count")
    ui = ui.replace("count: $.nodes.count", "count: $.nodes.parts")
    with served(tmp_path, packages=[form_package(ui)]) as (application, client):
        client.create()
        given, _ = submitting.form_in(get(application, "/add", **SHOP, package="f").text)
        answers = {**given, "/shop/size": '"s"', "/nodes/parts": typed}
        followed(application, post(application, "/ui/environments/add", **answers))
        made = client.get("environments", "shop", "drafts", "page")["model"]["applications"][0]
        assert made["documents"]["count"] == kept


def test_a_form_whose_method_fails_is_answered_in_yaml(tmp_path):
    failing = SIZES.replace("- Return: {", "- Throw: Broken\n        Message: no sizes today\n#")
    with served(tmp_path, packages=[asking_package(sizes=failing)]) as (application, client):
        client.create()
        shown = get(application, "/add", **SHOP, package="g")
        assert "its questions need code of the package to run" in words(shown)
        assert "no sizes today" in words(shown)
        assert 'name="/answers"' in shown.text


@pytest.mark.full
def test_an_application_is_removed_and_a_draft_discarded(page):
    application, client = page
    client.create()
    client.add("web", {"one": 1})
    client.add("other", {})
    form = {**SHOP, "do": "remove", "draft": "me", "application": "web"}
    shown = followed(application, asgi.call(application, "POST", ONE, headers=OWN, form=form))
    assert "other a.App" in words(shown)
    assert "web a.App" not in words(shown)
    done = post(application, ONE, **SHOP, do="discard", draft="me")
    assert "There is no draft." in words(followed(application, done))


def test_the_rules_of_the_api_decide(tmp_path):
    (tmp_path / "tokens.csv").write_text(TOKENS)
    (tmp_path / "rules.yaml").write_text(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n"
        "metadata: {name: looks, namespace: acme}\n"
        "rules: [{apiGroups: [catalog.trundle.dev], resources: [environments, places], verbs: [list]}]\n"
        "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\n"
        "metadata: {name: looks, namespace: acme}\n"
        "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: looks}\n"
        "subjects: [{kind: User, name: ben, apiGroup: rbac.authorization.k8s.io}]\n"
    )
    access = Access(tmp_path / "tokens.csv", tmp_path / "rules.yaml")
    with served(tmp_path, access) as (application, client):
        client.create()
        codes = {}
        for name in ("root", "ben", "ann"):
            bearer = {"authorization": f"Bearer {name}-token"}
            form = {**SHOP, "name": f"of-{name}", "place": "here"}
            made = asgi.call(
                application, "POST", "/ui/environments", headers={**OWN, **bearer}, form=form
            )
            pages = "", "/one"
            codes[name] = [get(application, x, bearer, **SHOP).status for x in pages], made.status
        assert codes == {
            "root": ([200, 200], 303),
            "ben": ([200, 403], 403),
            "ann": ([403, 403], 403),
        }
        assert get(application, "", None, tenant="acme").status == 303


@pytest.mark.parametrize("page_", ["/one", "/draft", "/action", "/deployment", "/add"])
def test_names_are_no_paths(page, page_):
    application, _ = page
    for name in ("..", "a/b", "", "none"):
        answer = get(application, page_, tenant="acme", name=name, draft="x", number="1")
        assert answer.status in {400, 404}, (name, answer.text)
