"""Access to the page of `trundle serve`: tokens, sessions, other sites, users whom rules keep out."""

import shutil

import asgi
import browsers
import pytest
import serving
from access import TOKENS, written
from apis import CONFIG, SCHEMAS
from playwright.sync_api import expect
from projects import Installer
from served import Served
from starlette.applications import Starlette

from trundle.api.access import Access, Guard
from trundle.dashboard import Dashboard, Sessions, ShownProject, SignedIn, page_application
from trundle.dashboard._frame import VERSIONS, Frame

OWN = {"origin": "http://localhost:8001"}


class Hours:
    """A timer that is set by hand."""

    now = 0.0

    def seconds(self):
        return self.now * 3600


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return Installer(tmp_path_factory.mktemp("clubs"))(SCHEMAS, config=CONFIG).project


@pytest.fixture
def guarded(project, tmp_path):
    """The page behind the guard of a server with tokens and rules, its timer and its tokens."""
    (tmp_path / "tokens.csv").write_text(TOKENS)
    (tmp_path / "rules.yaml").write_text(
        "apiVersion: rbac.authorization.k8s.io/v1\n"
        "kind: ClusterRoleBinding\n"
        "metadata: {name: 'trundle:page'}\n"
        "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: 'trundle:page'}\n"
        "subjects: [{kind: Group, name: staff}]\n"
    )
    access = Access(tmp_path / "tokens.csv", tmp_path / "rules.yaml")
    timer = Hours()
    sessions = Sessions(timer)
    frame = Frame([VERSIONS])
    routes = Dashboard({"": ShownProject(project.evolution)}, access, sessions, frame).routes
    return SignedIn(Guard(Starlette(routes=routes), access), sessions, frame), timer


def signed_in(application, token, following="/ui/versions?q=x"):
    """The answer to a token, and the cookie in it."""
    form = {"token": token, "next": following}
    answer = asgi.call(application, "POST", "/ui/sign-in", form=form, headers=OWN)
    return answer, {"cookie": answer.headers.get("set-cookie", "").partition(";")[0]}


def test_a_session_lasts_for_hours(guarded):
    application, timer = guarded
    answer, cookie = signed_in(application, "ben-token")
    assert (answer.status, answer.headers["location"]) == (303, "/ui/versions?q=x")
    assert answer.headers["set-cookie"].partition("; ")[2] == "HttpOnly; Path=/ui; SameSite=strict"
    assert "ben-token" not in str(answer)
    assert asgi.call(application, "GET", "/ui/versions", headers=cookie).status == 200
    timer.now = 8.1
    answer = asgi.call(application, "GET", "/ui/versions", headers=cookie, q="a b")
    assert answer.headers["location"] == "/ui/sign-in?next=%2Fui%2Fversions%3Fq%3Da%2Bb"
    part = asgi.call(application, "GET", "/ui/versions", headers={**cookie, "hx-request": "true"})
    assert part.headers["hx-redirect"] == "/ui/sign-in?next=%2Fui%2Fversions"


@pytest.mark.parametrize(
    ("said", "is_secure"),
    [("https", True), ("https, http", True), ("HTTPS,http", True), ("http", False), ("", False)],
)
def test_a_session_stays_within_tls_where_a_proxy_speaks_it(guarded, said, is_secure):
    form, behind = {"token": "ben-token", "next": "/ui"}, {"x-forwarded-proto": said}
    answer = asgi.call(guarded[0], "POST", "/ui/sign-in", form=form, headers={**OWN, **behind})
    assert ("; Secure" in answer.headers["set-cookie"]) is is_secure


def test_a_user_without_the_right_to_the_page_reads_why(guarded):
    application, _ = guarded
    _, cookie = signed_in(application, "ann-token")
    answer = asgi.call(application, "GET", "/ui/versions", headers=cookie)
    assert answer.status == 403
    assert "User &#34;ann&#34; cannot get path &#34;/ui/versions&#34;" in answer.text


def test_signing_out_ends_the_session(guarded):
    application, _ = guarded
    _, cookie = signed_in(application, "ben-token")
    asgi.call(application, "POST", "/ui/sign-out", headers={**cookie, **OWN})
    answer = asgi.call(application, "GET", "/ui/versions", headers=cookie)
    assert answer.headers["location"].startswith("/ui/sign-in")


def test_what_is_sent_after_a_session_ended_is_kept_to_be_sent_again(guarded):
    application, timer = guarded
    _, cookie = signed_in(application, "ben-token")
    timer.now = 8.1
    headers, form = {**cookie, **OWN}, {"do": "save", "document": "\n<b>&"}
    answer = asgi.call(application, "POST", "/ui/objects/edit", headers=headers, form=form)
    assert (answer.status, "You are signed out" in answer.text) == (401, True)
    assert '<form method="post" action="/ui/objects/edit">' in answer.text
    assert '<textarea name="document" hidden>\n\n&lt;b&gt;&amp;</textarea>' in answer.text
    place = {"package": "acme/crm", "look": "1"}
    answer = asgi.call(
        application, "POST", "/ui/installed/one", headers=headers, form=form, **place
    )
    again = '<form method="post" action="/ui/installed/one?package=acme%2Fcrm&amp;look=1">'
    assert again in answer.text
    foreign = {**cookie, "origin": "https://evil.example"}
    answer = asgi.call(application, "POST", "/ui/objects/edit", headers=foreign, form=form)
    assert (answer.status, "<textarea" in answer.text) == (403, False)
    form = {"document": "x" * 2_000_000}
    answer = asgi.call(application, "POST", "/ui/objects/edit", headers=headers, form=form)
    assert answer.headers["location"] == "/ui/sign-in"
    answer = asgi.call(application, "POST", "/ui/sign-out", headers=headers)
    assert answer.headers["location"] == "/ui/sign-in"


def test_a_user_whose_token_was_withdrawn_signs_in_with_a_new_one(guarded, tmp_path):
    application, _ = guarded
    _, cookie = signed_in(application, "ben-token")
    (tmp_path / "tokens.csv").write_text(TOKENS.replace("ben-token", "bens-new-token"))
    answer = asgi.call(application, "GET", "/ui/versions", headers=cookie)
    assert answer.headers["location"] == "/ui/sign-in?next=%2Fui%2Fversions"
    answer = asgi.call(application, "GET", "/ui/sign-in", headers=cookie, next="/ui/versions")
    assert (answer.status, "Token" in answer.text) == (200, True)
    assert asgi.call(application, "GET", "/ui/assets/page.css", headers=cookie).status == 200
    form = {"token": "bens-new-token", "next": "/ui/versions"}
    headers = {**cookie, **OWN}
    answer = asgi.call(application, "POST", "/ui/sign-in", headers=headers, form=form)
    assert (answer.status, answer.headers["location"]) == (303, "/ui/versions")


def test_signing_out_with_a_token_that_was_withdrawn_ends_the_session(guarded, tmp_path):
    application, _ = guarded
    _, cookie = signed_in(application, "ben-token")
    tokens = tmp_path / "tokens.csv"
    tokens.write_text(TOKENS.replace("ben-token", "bens-new-token"))
    answer = asgi.call(application, "POST", "/ui/sign-out", headers={**cookie, **OWN}, form={})
    assert (answer.status, "set-cookie" in answer.headers) == (303, True)
    tokens.write_text(TOKENS)
    assert asgi.call(application, "GET", "/ui/versions", headers=cookie).status == 303


def test_a_form_to_sign_in_that_rules_keep_from_a_user_leads_nowhere(guarded, tmp_path):
    rules = tmp_path / "rules.yaml"
    rules.write_text(rules.read_text().replace("trundle:page", "trundle:sign-in"))
    answer = asgi.call(guarded[0], "GET", "/ui/sign-in")
    assert (answer.status, "cannot get path" in answer.text) == (403, True)


@pytest.mark.parametrize(
    "following", ["https://evil.example/", "//evil.example", "/ui/\\evil", "/api", ""]
)
def test_signing_in_leads_to_the_page_alone(guarded, following):
    answer, _ = signed_in(guarded[0], "ben-token", following)
    assert answer.headers["location"] == "/ui/"


@pytest.mark.parametrize("origin", [{}, {"origin": "https://evil.example"}, {"origin": "null"}])
def test_other_sites_change_nothing(guarded, origin):
    application, _ = guarded
    _, cookie = signed_in(application, "ben-token")
    answer = asgi.call(application, "POST", "/ui/sign-out", headers={**cookie, **origin})
    assert answer.status == 403
    assert asgi.call(application, "GET", "/ui/versions", headers=cookie).status == 200


def test_a_page_without_users_answers_this_machine_alone(project):
    application = page_application({"": ShownProject(project.evolution)})
    assert asgi.call(application, "GET", "/ui/versions").status == 200
    answer = asgi.call(application, "GET", "/ui/versions", headers={"host": "evil.example"})
    assert (answer.status, "this machine" in answer.text) == (403, True)


def test_the_address_without_a_path_leads_to_the_page(project):
    """It was not found, where there is no API."""
    application = page_application({"": ShownProject(project.evolution)})
    answer = asgi.call(application, "GET", "/")
    assert (answer.status, answer.headers["location"]) == (303, "/ui/")


def test_a_page_says_what_browsers_may_do_with_it(project):
    application = page_application({"": ShownProject(project.evolution)})
    for path in ("/ui/versions", "/ui/versions/type", "/ui/nothing", "/ui/assets/page.js"):
        headers = asgi.call(application, "GET", path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.full
def test_a_server_keeps_users_apart_and_its_restart_ends_sessions(project, tmp_path, browser):
    folder = shutil.copytree(project.folder, tmp_path / "project")
    options = *written(folder), "--port", str(serving.free_port())
    server = Served(folder, *options)
    try:
        with (
            browsers.tab(browser, server.url, browsers.OFFLINE) as ben,
            browsers.tab(browser, server.url) as root,
        ):
            for page, token in ((ben, "ben-token"), (root, "root-token")):
                page.goto("/ui/versions?q=member")
                page.get_by_label("Token").fill("wrong")
                page.get_by_role("button", name="Sign in").click()
                expect(page.get_by_role("alert")).to_contain_text("does not know this token")
                assert browsers.flaws(page) == []
                page.get_by_label("Token").fill(token)
                page.get_by_role("button", name="Sign in").click()
                expect(page.get_by_role("link", name="Member").first).to_be_visible()
                expect(page).to_have_url(f"{server.url}/ui/versions?q=member")
            root.get_by_role("button", name="Sign out root").click()
            expect(root.get_by_role("heading", name="Sign in")).to_be_visible()
            ben.reload()
            expect(ben.get_by_role("button", name="Sign out ben")).to_be_visible()
            server.stop()
            ben.get_by_role("searchbox").fill("club")
            expect(ben.locator("#said")).to_have_text("The server does not answer.")
            server = Served(folder, *options)
            ben.get_by_role("searchbox").fill("")
            expect(ben.get_by_role("heading", name="Sign in")).to_be_visible()
    finally:
        server.kill()
