"""The pages about environments in a real Chromium, of a real server: a form is filled in, and its effects are seen before they are done."""

import re

import browsers
import pytest
from apis import CONFIG, SCHEMAS
from environment_pages import asking_package, form_package
from playwright.sync_api import expect
from projects import Installer
from served import Served

from trundle.catalog import Catalog


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("served")
    (found / "clubs").mkdir()
    Installer(found / "clubs")(SCHEMAS, config=CONFIG)
    with Catalog(found / "catalog.db") as catalog:
        assert not catalog.upload([form_package(), asking_package()], tenant="default").refused
    places = "places: {here: {folder: 'deployed/{tenant}/{environment}'}}\n"
    (found / "places.yaml").write_text(places)
    return found


@pytest.fixture(scope="module")
def server(folder):
    project = next((folder / "clubs").glob("*/trundle.yaml")).parent
    options = "--store", folder / "store.sqlite", "--catalog", folder / "catalog.db"
    found = Served(project, *options, "--places", folder / "places.yaml")
    yield found
    found.kill()


def added(page, name, package="f"):
    """Makes an environment and adds an application by the form of its package."""
    page.goto("/ui/environments")
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Create").click()
    page.get_by_role("link", name="Add an application").click()
    page.get_by_role("link", name=package, exact=True).click()


@pytest.mark.full
def test_an_application_is_asked_for_tried_and_deployed(browser, server, folder):
    where = folder / "deployed" / "default" / "shop"
    with browsers.tab(browser, server.url) as page:
        added(page, "shop")
        page.get_by_label("Number of nodes").fill("9")
        page.get_by_role("button", name="Add to the draft").click()
        wrong = page.get_by_label("Number of nodes")
        expect(wrong).to_have_attribute("aria-invalid", "true")
        wrong.fill("3")
        page.get_by_label("Size").select_option("Large")
        page.get_by_label("Application Name").fill("mine")
        page.get_by_role("button", name="Add to the draft").click()
        expect(page.get_by_text("mine", exact=True)).to_be_visible()
        page.get_by_role("button", name="See what deploying would do").click()
        do = page.get_by_role("button", name="Do it: deploy")
        expect(do).to_be_visible()
        assert [*where.rglob("*.yaml")] == []
        do.click()
        log = page.get_by_role("region", name="Log")
        expect(log).to_contain_text("created")
        expect(page.get_by_role("heading", name=re.compile("succeeded"))).to_be_visible()
        assert all(log.locator("pre").inner_text().splitlines())
        page.get_by_role("link", name="shop").click()
        expect(page.get_by_role("heading", name=re.compile("deployed"))).to_be_visible()
    assert (where / "size.yaml").read_text() == "l"


@pytest.mark.full
def test_questions_that_a_method_of_the_package_computes_are_asked(browser, server):
    with browsers.tab(browser, server.url) as page:
        added(page, "computed", "g")
        page.get_by_label("Size").select_option("Huge")
        page.get_by_label("Application Name").fill("vast")
        page.get_by_role("button", name="Add to the draft").click()
        expect(page.get_by_text("vast", exact=True)).to_be_visible()
    drafts = "/v2/tenants/default/environments/computed/drafts/page"
    made = server.ask("GET", drafts).ok()["model"]["applications"][0]
    assert made["documents"]["size"] == "x"


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_is_wrong_with_environments_at_any_width(browser, server, scheme):
    with browsers.tab(browser, server.url, color_scheme=scheme) as page:
        added(page, f"at-{scheme}")
        pages = {"form": page.url}
        page.get_by_label("Number of nodes").fill("9")
        page.get_by_role("button", name="Add to the draft").click()
        expect(page.get_by_role("alert")).to_be_visible()
        sizes = (400, 800, 1400)
        looked = {}

        def look(name):
            for width in sizes:
                page.set_viewport_size({"width": width, "height": 900})
                looked[name, width] = browsers.flaws(page)

        look("refused")
        page.get_by_label("Number of nodes").fill("1")
        page.get_by_label("Size").select_option("Small")
        page.get_by_role("button", name="Add to the draft").click()
        expect(page.get_by_role("button", name="See what deploying would do")).to_be_visible()
        look("draft")
        page.get_by_role("button", name="See what deploying would do").click()
        expect(page.get_by_role("button", name="Do it: deploy")).to_be_visible()
        look("tried")
        page.get_by_role("button", name="Do it: deploy").click()
        expect(page.get_by_role("heading", name=re.compile("succeeded"))).to_be_visible()
        look("done")
        page.get_by_role("link", name=f"at-{scheme}").click()
        expect(page.get_by_role("heading", name=re.compile("deployed"))).to_be_visible()
        look("environment")
        page.goto(pages["form"])
        look("form")
        page.goto("/ui/environments")
        look("list")
        assert {key: each for key, each in looked.items() if each} == {}
