"""The pages about objects in a real Chromium, of a real server: looked at and changed by two users at once."""

import re

import browsers
import pytest
import serving
from access import TOKENS
from apis import CONFIG, GROUP, NEW, OLD, SCHEMAS, member
from playwright.sync_api import expect
from projects import Installer
from served import Served

OF = f"of={GROUP}&type=members"
ADA = f"{OF}&namespace=default&name=ada"
PATH = f"/apis/{GROUP}/{OLD}/namespaces/default/members"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return Installer(tmp_path_factory.mktemp("clubs"))(SCHEMAS, config=CONFIG).project.folder


@pytest.fixture
def server(folder, tmp_path):
    found = Served(folder, "--store", tmp_path / "store.sqlite")
    yield found
    found.kill()


def create(server, name, **properties):
    answer = server.ask("POST", PATH, member(name, **properties))
    assert answer.status == 201, answer


@pytest.mark.full
def test_a_list_follows_changes_and_an_edit_is_shown_before_it_is_saved(browser, server):
    create(server, "ada", team="red", age=36)
    with browsers.tab(browser, server.url) as page:
        page.goto("/ui/")
        page.get_by_role("link", name="Objects").click()
        page.get_by_role("link", name="Member").click()
        expect(page.locator("tbody tr")).to_have_count(1)
        expect(page.locator("#live")).to_be_visible()
        create(server, "bob", team="blue")
        expect(page.get_by_role("link", name="bob")).to_be_visible()
        server.ask("DELETE", f"{PATH}/bob")
        expect(page.locator("tbody tr")).to_have_count(1)
        page.get_by_role("link", name="ada").click()
        page.locator(".chip", has_text=OLD).click()
        expect(page.get_by_role("row", name="group")).to_contain_text('"red" team')
        expect(page.get_by_role("region", name="Property bag")).to_contain_text("36")
        page.get_by_role("link", name=f"Edit at {NEW}").click()
        page.get_by_label("group").fill("green")
        page.get_by_role("button", name="Show what changes").click()
        expect(page.get_by_role("row", name='team "red" "green"')).to_be_visible()
        assert server.ask("GET", f"{PATH}/ada").body["team"] == "red"
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", name="ada")).to_be_visible()
    found = server.ask("GET", f"{PATH}/ada").body
    assert (found["team"], found["age"]) == ("green", 36)


@pytest.mark.full
def test_save_stands_behind_what_each_version_will_see(browser, server):
    """However long the form is: by keyboard, only what is seen stands before it."""
    create(server, "ada", team="red", age=36)
    with browsers.tab(browser, server.url, viewport={"width": 400, "height": 800}) as page:
        page.goto(f"/ui/objects/edit?{ADA}&v={OLD}&as=form")
        page.get_by_label("team").fill("blue")
        page.get_by_role("button", name="Show what changes").click()
        seen = page.get_by_role("region", name="What each version will see")
        expect(seen.get_by_role("status")).to_be_focused()
        page.get_by_label("team").press("Enter")  # It shows again, and saves nothing.
        expect(seen.get_by_role("status")).to_be_focused()
        for _ in range(3):
            page.keyboard.press("Tab")
        expect(seen.get_by_role("button", name="Save")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile("/ui/objects/one"))
    assert server.ask("GET", f"{PATH}/ada").body["team"] == "blue"


@pytest.mark.full
def test_two_users_change_one_object(browser, server):
    create(server, "ada", team="red")
    with browsers.tab(browser, server.url) as one, browsers.tab(browser, server.url) as other:
        for page, team in ((one, "blue"), (other, "green")):
            page.goto(f"/ui/objects/edit?{ADA}&v={OLD}")
            text = page.get_by_label("Document in YAML")
            text.fill(text.input_value().replace("team: red", f"team: {team}"))
            page.get_by_role("button", name="Show what changes").click()
            expect(page.get_by_role("button", name="Save")).to_be_visible()
        one.get_by_role("button", name="Save").click()
        expect(one.get_by_role("heading", name="ada")).to_be_visible()
        other.get_by_role("button", name="Save").click()
        expect(other.get_by_role("alert")).to_contain_text("has been modified")
        expect(other.get_by_role("row", name='team "blue" "green"')).to_be_visible()
        assert browsers.flaws(other) == []
        other.get_by_role("button", name="Put my text over it").click()
        expect(other.locator("[data-say]")).to_contain_text("Nothing is saved yet")
        expect(other.get_by_role("row", name='team "blue" "green"')).to_be_visible()
        assert server.ask("GET", f"{PATH}/ada").body["team"] == "blue"
        one.goto(f"/ui/objects/edit?{ADA}&v={OLD}&as=form")
        one.get_by_label("team").fill("black")
        one.get_by_role("button", name="Show what changes").click()
        one.get_by_role("button", name="Save").click()
        expect(one).to_have_url(re.compile("/ui/objects/one"))
        other.get_by_role("button", name="Save").click()
        other.get_by_role("button", name="Put my text over it").click()
        other.get_by_role("button", name="Save").click()
        expect(other).to_have_url(re.compile("/ui/objects/one"))
        assert server.ask("GET", f"{PATH}/ada").body["team"] == "green"
        other.goto(f"/ui/objects/edit?{ADA}&v={OLD}")
        text = other.get_by_label("Document in YAML")
        text.fill(text.input_value().replace("team: green", "team: white"))
        other.get_by_role("button", name="Show what changes").click()
        expect(other.get_by_role("button", name="Save")).to_be_visible()
        one.goto(f"/ui/objects/edit?{ADA}&v={OLD}&as=form")
        one.get_by_label("team").fill("blue")
        one.get_by_role("button", name="Show what changes").click()
        one.get_by_role("button", name="Save").click()
        expect(one).to_have_url(re.compile("/ui/objects/one"))
        other.get_by_role("button", name="Save").click()
        other.get_by_role("link", name="Start from what is stored now").click()
        expect(other.get_by_label("Document in YAML")).to_have_value(re.compile("team: blue"))


@pytest.mark.full
def test_one_goes_back_from_what_was_saved_to_the_form_and_the_list(browser, server):
    with browsers.tab(browser, server.url) as page:
        page.goto(f"/ui/objects/list?{OF}")
        page.get_by_role("link", name="New").click()
        page.wait_for_url("**/ui/objects/edit**")
        show = page.get_by_role("button", name="Show what changes")
        page.set_viewport_size({"width": 800, "height": 300})
        show.click()
        expect(page.get_by_role("alert")).to_be_in_viewport()
        page.get_by_label("name").first.fill("eve")
        page.get_by_label("group").fill("red")
        page.get_by_role("button", name="YAML").click()
        expect(page.get_by_label("Document in YAML")).to_have_value(re.compile("name: eve"))
        page.get_by_role("button", name="Form", exact=True).click()
        page.get_by_label("name").first.press("Enter")
        expect(page.locator("[data-say]")).to_be_in_viewport()
        page.get_by_role("button", name="Create").click()
        expect(page.get_by_role("heading", name="eve")).to_be_visible()
        page.go_back()
        expect(page.get_by_role("heading", name="New Member")).to_be_visible()
        page.go_back()
        expect(page.get_by_role("link", name="eve")).to_be_visible()


@pytest.mark.full
def test_a_form_that_just_came_is_sent_by_the_page_as_well(browser, server):
    at_once = """() => {
        let shown = 0;
        document.addEventListener("htmx:afterSwap", () => {
            shown += 1;
            if (shown === 2) document.body.dataset.twice = "yes";
            else setTimeout(() => document.querySelector("button[value=preview]").click());
        });
    }"""
    with browsers.tab(browser, server.url) as page:
        page.goto(f"/ui/objects/edit?{OF}&as=form")
        page.evaluate(at_once)
        page.get_by_role("button", name="Show what changes").click()
        expect(page.locator("body[data-twice]")).to_be_visible()


@pytest.mark.full
def test_an_object_is_created_and_deleted_without_scripts(browser, server):
    with browsers.tab(browser, server.url, java_script_enabled=False) as page:
        page.goto(f"/ui/objects/list?{OF}")
        page.get_by_role("link", name="New").click()
        page.get_by_role("button", name="YAML").click()
        text = page.get_by_label("Document in YAML")
        text.fill(text.input_value().replace('name: ""', "name: eve") + "group: red\n")
        page.get_by_role("button", name="Show what changes").click()
        page.get_by_role("button", name="Create").click()
        expect(page.get_by_role("heading", name="eve")).to_be_visible()
        page.get_by_text("Delete", exact=True).click()
        page.get_by_role("button", name="Delete eve").click()
        expect(page.get_by_text("There is no object")).to_be_visible()
    assert server.ask("GET", f"{PATH}/eve").status == 404


@pytest.mark.full
def test_a_list_goes_on_after_a_restart_of_its_server(browser, folder, tmp_path):
    options = "--store", tmp_path / "store.sqlite", "--port", str(serving.free_port())
    server = Served(folder, *options)
    try:
        create(server, "ada", team="red")
        with browsers.tab(browser, server.url, browsers.OFFLINE) as page:
            page.goto(f"/ui/objects/list?{OF}")
            expect(page.locator("#live")).to_be_visible()
            server.stop()
            expect(page.locator("#live")).to_be_hidden()
            server = Served(folder, *options)
            create(server, "bob", team="red")
            expect(page.get_by_role("link", name="bob")).to_be_visible()
    finally:
        server.kill()


def away(route):
    """What a proxy answers while its server is away."""
    route.fulfill(status=502, content_type="text/html", body="<h1>502 Bad Gateway</h1>")


@pytest.mark.full
def test_what_is_shown_and_typed_stays_where_something_else_answers(browser, server):
    create(server, "ada", team="red", age=36)
    with browsers.tab(browser, server.url) as page:
        page.goto(f"/ui/objects/edit?{ADA}&v={OLD}&as=form")
        page.get_by_label("team").fill("blue")
        page.route("**/ui/objects/edit", away)
        page.get_by_role("button", name="Show what changes").click()
        expect(page.locator("#said")).to_have_text("The server does not answer.")
        expect(page.get_by_label("team")).to_have_value("blue")
        page.unroute("**/ui/objects/edit")
        page.get_by_role("button", name="Show what changes").click()
        page.get_by_role("button", name="Save").click()
        expect(page).to_have_url(re.compile("/ui/objects/one"))
        page.goto(f"/ui/objects/list?{OF}")
        expect(page.locator("#live")).to_be_visible()
        with page.expect_response(lambda answer: answer.status == 502):
            page.route("**/ui/objects/list*", away)
            create(server, "bob", team="red")
        expect(page.get_by_role("link", name="ada")).to_be_visible()
        page.unroute("**/ui/objects/list*")
        expect(page.get_by_role("link", name="bob")).to_be_visible()


@pytest.mark.full
def test_what_was_typed_stays_below_an_answer_that_is_no_editor(browser, server):
    """As where a release took the version away meanwhile."""
    create(server, "ada", team="red", age=36)
    with browsers.tab(browser, server.url) as page:
        page.goto(f"/ui/objects/edit?{ADA}&v={OLD}&as=form")
        page.get_by_label("team").fill("blue")
        version = page.locator("#edit [name=v]")
        version.evaluate("each => { each.value = 'v0' }")
        page.get_by_role("button", name="Show what changes").click()
        page.get_by_role("button", name="Show what changes").click()
        expect(page.get_by_role("alert")).to_contain_text("has no version 'v0'")
        expect(page.get_by_label("team")).to_have_value("blue")
        version.evaluate(f"each => {{ each.value = '{OLD}' }}")
        page.get_by_role("button", name="Show what changes").click()
        expect(page.locator("[data-say]")).to_contain_text("Nothing is saved yet")
        expect(page.get_by_role("alert")).to_have_count(0)


LEFT_OF_LINES = """cell => {
  const text = document.createRange();
  text.selectNodeContents(cell);
  return [...text.getClientRects()].map(line => Math.round(line.left));
}"""


ABOVE_TEXT = """cell => {
  const text = document.createRange();
  text.selectNodeContents(cell.querySelector("summary") ?? cell);
  return text.getClientRects()[0].top - cell.getBoundingClientRect().top;
}"""


@pytest.mark.full
def test_on_a_narrow_page_names_come_first_and_lines_begin_below_each_other(browser, server):
    create(server, "ada", team="red" * 30)
    with browsers.tab(browser, server.url, viewport={"width": 400, "height": 900}) as page:
        page.goto(f"/ui/objects/list?{OF}")
        name = page.get_by_role("link", name="ada").bounding_box()
        assert name["y"] < page.locator("td[data-label=Namespace]").bounding_box()["y"]
        page.goto(f"/ui/objects/one?{ADA}&v={OLD}&v={NEW}")
        lines = page.locator(f"td[data-label={OLD}]", has_text="redred").evaluate(LEFT_OF_LINES)
        assert len(lines) > 2
        assert len({*lines}) == 1
        assert page.locator(f"td[data-label={OLD}]", has_text="redred").evaluate(ABOVE_TEXT) < 8
        create(server, "folded", team="red" * 200)
        page.goto(f"/ui/objects/one?{ADA.replace('ada', 'folded')}&v={NEW}")
        assert page.locator("td:has(details)").first.evaluate(ABOVE_TEXT) < 8


def sign_in(page, token="root-token"):
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()


def sign_in_elsewhere(page):
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Sign in").click()
    sign_in(opened.value)
    expect(opened.value.get_by_role("button", name="Sign out root")).to_be_visible()
    opened.value.close()


@pytest.mark.full
def test_what_was_typed_stays_where_the_session_ended(browser, folder, tmp_path):
    options = "--store", tmp_path / "store.sqlite", "--port", str(serving.free_port())
    (tmp_path / "tokens.csv").write_text(TOKENS)
    options = *options, "--tokens", tmp_path / "tokens.csv"
    server = Served(folder, *options)
    try:
        server.headers = {"authorization": "Bearer root-token"}
        create(server, "ada", team="red", age=36)
        with browsers.tab(browser, server.url) as page:
            page.goto(f"/ui/objects/edit?{ADA}&v={OLD}&as=form")
            sign_in(page)
            page.get_by_label("team").fill("green")
            server.stop()
            server = Served(folder, *options)
            server.headers = {"authorization": "Bearer root-token"}
            page.get_by_role("button", name="Show what changes").click()
            expect(page.get_by_role("heading", name="You are signed out")).to_be_visible()
            expect(page.get_by_role("button", name="Sign out")).to_have_count(0)
            for width in (400, 1400):
                page.set_viewport_size({"width": width, "height": 900})
                assert browsers.flaws(page) == []
            sign_in_elsewhere(page)
            page.get_by_role("button", name="Send it again").click()
            expect(page.get_by_role("row", name='group "red" "green"')).to_be_visible()
            page.context.clear_cookies()
            page.get_by_role("button", name="Save").click()
            sign_in_elsewhere(page)
            page.get_by_role("button", name="Send it again").click()
            expect(page.get_by_role("heading", name="ada")).to_be_visible()
        assert server.ask("GET", f"{PATH}/ada").body["team"] == "green"
    finally:
        server.kill()


@pytest.mark.full
def test_storage_is_checked_while_the_page_looks_on(browser, server):
    create(server, "ada", team="red", age=36)
    with browsers.tab(browser, server.url) as page:
        page.goto("/ui/versions")
        page.get_by_role("link", name="Storage").click()
        row = page.get_by_role("row", name="Member")
        expect(row).to_contain_text("current")
        expect(row).not_to_contain_text("…")
        page.get_by_role("button", name="Check").click()
        expect(
            page.get_by_role("main").get_by_text("Every object can be shown at every version.")
        ).to_be_visible()
        for width in (400, 900, 1400):
            page.set_viewport_size({"width": width, "height": 900})
            assert (width, browsers.flaws(page)) == (width, [])


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_is_wrong_with_objects_at_any_width(browser, server, scheme):
    create(server, "ada", team="red", age=36, labels={"a-long-key": "a long value " * 9})
    pages = {
        "types": "/ui/objects",
        "list": f"/ui/objects/list?{OF}",
        "nothing": f"/ui/objects/list?{OF}&called=zoe",
        "wrong": f"/ui/objects/list?{OF}&labels=a in",
        "object": f"/ui/objects/one?{ADA}&v={OLD}&v={NEW}",
        "editor": f"/ui/objects/edit?{ADA}&v={OLD}",
        "unknown": f"/ui/objects/one?{OF}&namespace=default&name=zoe",
    }
    with browsers.tab(browser, server.url, color_scheme=scheme) as page:
        for name, path in pages.items():
            page.goto(path)
            if name == "editor":
                text = page.get_by_label("Document in YAML")
                text.fill(text.input_value().replace("team: red", "team: blue"))
                page.get_by_role("button", name="Show what changes").click()
                expect(page.get_by_role("button", name="Save")).to_be_visible()
            for width in (400, 900, 1400):
                page.set_viewport_size({"width": width, "height": 900})
                assert (name, width, browsers.flaws(page)) == (name, width, [])


@pytest.mark.full
def test_values_are_in_sight_beside_a_long_path(browser, server):
    value = "bottom"
    for _ in range(60):
        value = {"inner": value}
    path = PATH.replace(f"/{OLD}/", f"/{NEW}/")
    answer = server.ask("POST", path, {"metadata": {"name": "ada"}, "group": "red", "free": value})
    assert answer.status == 201, answer
    with browsers.tab(browser, server.url, viewport={"width": 1400, "height": 900}) as page:
        page.goto(f"/ui/objects/one?{ADA}&v={OLD}&v={NEW}")
        box = page.locator(f"td[data-label={NEW}]").last.bounding_box()
        assert box["x"] + box["width"] <= 1400
