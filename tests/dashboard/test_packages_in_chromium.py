"""The pages about a catalog in a real Chromium, of a real server."""

import re

import browsers
import pytest
from apis import CONFIG, SCHEMAS
from bundles import bundle
from playwright.sync_api import expect
from projects import Installer
from served import Served

from trundle.catalog import Catalog

TOWER = "Name: com.acme.App.Tower\nExtends: com.acme.App.Main\nProperties:\n  size: {Contract: $.int()}\n"
APP = "Name: com.acme.App.Main\nMethods:\n  deploy: {Scope: Public, Body: []}\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    (folder / "clubs").mkdir()
    project = Installer(folder / "clubs")(SCHEMAS, config=CONFIG).project.folder
    with Catalog(folder / "catalog.db") as catalog:
        first = bundle("com.acme.App", needs={"com.acme.Db": "1"}, Main=APP)
        second = bundle(
            "com.acme.App",
            "1.1.0",
            {"com.acme.Db": "1", "com.acme.Net": "2"},
            Main=APP,
            Tower=TOWER,
        )
        libraries = [
            bundle("com.acme.Db", "1.2.0", {"com.acme.Net": "2"}),
            bundle("com.acme.Net", "2.0.0"),
        ]
        done = catalog.upload([first, second, *libraries], tenant="default")
        assert not done.refused
    where = folder / "catalog.db"
    found = Served(project, "--store", folder / "store.sqlite", "--catalog", where)
    yield found
    found.kill()


@pytest.mark.full
def test_from_the_list_to_a_class_and_by_the_graph_to_another_package(browser, server):
    with browsers.tab(browser, server.url) as page:
        page.goto("/ui/")
        page.get_by_role("link", name="Packages").click()
        page.get_by_label("Name").fill("app")
        page.get_by_role("button", name="Filter").click()
        expect(page.locator(".card")).to_have_count(1)
        page.get_by_role("link", name="com.acme.App", exact=True).click()
        expect(page.get_by_role("heading", name="Changes since 1.0.0")).to_be_visible()
        page.get_by_role("link", name="com.acme.App.Tower").click()
        expect(page.get_by_role("heading", name="Inherited")).to_be_visible()
        page.go_back()
        page.locator(".map").get_by_role("link", name="1.0.0").click()
        expect(page.locator("#inside", has_text="There is no version before")).to_be_visible()
        page.locator(".graph").get_by_role("link", name=re.compile("com.acme.Net")).click()
        expect(page.get_by_role("heading", name="com.acme.Net 2.0.0")).to_be_visible()


@pytest.mark.full
@pytest.mark.parametrize("width", [400, 800, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wrong_with_the_pages_at_any_width(browser, server, width, scheme):
    size = {"width": width, "height": 900}
    with browsers.tab(browser, server.url, viewport=size, color_scheme=scheme) as page:
        page.goto("/ui/packages")
        assert browsers.flaws(page) == []
        page.goto("/ui/packages/one?name=com.acme.App")
        expect(page.get_by_role("heading", name="Classes")).to_be_visible()
        assert browsers.flaws(page) == []
        page.goto("/ui/packages/class?name=com.acme.App&class=com.acme.App.Tower")
        assert browsers.flaws(page) == []


@pytest.mark.full
def test_without_scripts_a_link_reads_the_package(browser, server):
    with browsers.tab(browser, server.url, java_script_enabled=False) as page:
        page.goto("/ui/packages/one?name=com.acme.App")
        page.get_by_role("link", name="Read it now").click()
        expect(page.get_by_role("heading", name="Classes")).to_be_visible()
