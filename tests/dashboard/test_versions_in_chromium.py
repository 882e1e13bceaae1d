"""The page Versions in a real Chromium: maps, schemas, change tables, histories, search, by mouse and by keyboard."""

import json
import re

import browsers
import pytest
from playwright.sync_api import expect
from typer.testing import CliRunner

from trundle.cli._app import app

TYPE = "/ui/versions/type?of=&type=Person"
PAGES = {
    "list": "/ui/versions",
    "nothing found": "/ui/versions?q=zebra",
    "map": TYPE,
    "schema": f"{TYPE}&v=2018-08-08",
    "changes": f"{TYPE}&v=2014-04-04&v=2018-08-08",
    "history": "/ui/versions/property?of=&type=Person&name=Person.sortKey",
    "unknown": "/ui/versions/type?of=&type=Persom",
}


def chip(page, version):
    return page.locator(".chip", has=page.get_by_text(version, exact=True))


def rows(page):
    """The cells of the change tables that are shown."""
    found = page.locator("main section.type > .scroll tbody tr").all()
    return [[cell.inner_text().strip() for cell in row.locator("th, td").all()] for row in found]


@pytest.mark.full
def test_a_person_looks_at_versions(browser, crm):
    with browsers.tab(browser, crm) as page:
        page.goto("/ui/")
        page.get_by_role("link", name="Person").click()
        expect(page.locator(".chip")).to_have_count(10)
        chip(page, "2018-08-08").click()
        expect(page.get_by_role("main").get_by_text("The schema of 2018-08-08")).to_be_visible()
        shown = page.locator("main").inner_text()
        written = re.findall(
            r"description: (.+)", (browsers.CRM / "schemas/2018-08-08.yaml").read_text()
        )
        assert len(written) > 5
        assert [each for each in written if each not in shown] == []
        chip(page, "2014-04-04").click()
        expect(
            page.get_by_role("main").get_by_text("What changed from 2014-04-04 to 2018-08-08")
        ).to_be_visible()
        expect(page).to_have_url(re.compile("type=Person&v=2018-08-08&v=2014-04-04$"))
        page.get_by_role("link", name="sortKey").click()
        expect(page.get_by_role("heading", name="Person.sortKey")).to_be_visible()
        assert "alphaKey" in page.locator(".life").inner_text()
        page.go_back()
        expect(page.get_by_role("main").get_by_text("What changed from 2014-04-04")).to_be_visible()


@pytest.mark.full
def test_the_change_table_is_that_of_the_command(browser, crm):
    pair = "2013-03-03", "2014-04-04"
    found = CliRunner().invoke(app, ["-C", str(browsers.CRM), "diff", *pair, "-o", "json"])
    told = json.loads(found.stdout)
    changed = [x for one in told["types"] for x in one["properties"] if x["change"] != "None"]
    with browsers.tab(browser, crm) as page:
        page.goto(f"{TYPE}&v={pair[0]}&v={pair[1]}")
        shown = {(name.split()[0], change, handler) for name, _, _, change, handler in rows(page)}
    wanted = {(x["name"].rpartition(" -> ")[2], x["change"], x["handler"]) for x in changed}
    assert shown == wanted


@pytest.mark.full
def test_what_is_searched_for_is_found_while_it_is_typed(browser, crm):
    with browsers.tab(browser, crm) as page:
        page.goto("/ui/versions")
        page.keyboard.press("/")
        expect(page.get_by_role("searchbox")).to_be_focused()
        page.keyboard.type("alphak")
        expect(page.get_by_role("link", name="Person.alphaKey")).to_be_visible()
        expect(page.locator("#said")).to_have_text(re.compile("1 resource type with “alphak”"))
        expect(page).to_have_url(re.compile("q=alphak$"))
        page.keyboard.type("zz")
        expect(page.locator(".empty")).to_contain_text("No resource type has “alphakzz”")


@pytest.mark.full
def test_everything_is_reached_by_keyboard(browser, crm):
    with browsers.tab(browser, crm) as page:
        page.goto(TYPE)
        page.keyboard.press("Tab")
        expect(page.get_by_text("Skip to the content")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.get_by_role("main").get_by_role("link", name="Versions")).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.locator("#v-1")).to_be_focused()
        outline = page.locator("#v-1").evaluate("each => getComputedStyle(each).outlineStyle")
        assert outline == "solid"
        page.keyboard.press("Enter")
        expect(page.get_by_role("main").get_by_text("The schema of 2011-01-01")).to_be_visible()
        expect(page.locator("#v-1")).to_be_focused()
        expect(page.locator("#v-1")).to_have_attribute("aria-current", "true")
        page.keyboard.press("Enter")
        expect(
            page.get_by_role("main").get_by_text("Choose a version to read its schema")
        ).to_be_visible()


@pytest.mark.full
def test_the_theme_is_kept(browser, crm):
    with browsers.tab(browser, crm, color_scheme="light") as page:
        page.goto("/ui/versions")
        ground = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(ground)
        page.get_by_role("button", name="Theme: auto").click()
        page.get_by_role("button", name="Theme: light").click()
        dark = page.evaluate(ground)
        assert dark != light
        page.reload()
        expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
        assert page.evaluate(ground) == dark
    with browsers.tab(browser, crm, color_scheme="dark") as page:
        page.goto("/ui/versions")
        assert page.evaluate(ground) == dark


@pytest.mark.full
def test_it_works_without_scripts(browser, crm):
    with browsers.tab(browser, crm, java_script_enabled=False) as page:
        page.goto("/ui/versions")
        page.get_by_role("searchbox").fill("legalName")
        page.keyboard.press("Enter")
        page.get_by_role("link", name="Person", exact=True).click()
        chip(page, "2011-01-01").click()
        chip(page, "2012-02-02").click()
        expect(
            page.get_by_role("main").get_by_text("What changed from 2011-01-01 to 2012-02-02")
        ).to_be_visible()


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_is_wrong_at_any_width(browser, crm, scheme):
    with browsers.tab(browser, crm, color_scheme=scheme) as page:
        for name, path in PAGES.items():
            page.goto(path)
            for width in (400, 900, 1400):
                page.set_viewport_size({"width": width, "height": 900})
                assert (name, width, browsers.flaws(page)) == (name, width, [])
