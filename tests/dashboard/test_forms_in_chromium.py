"""The editor's form in a real Chromium: by keyboard, with scripts and without, at each width."""

import json
import re

import browsers
import pytest
from apis import GROUP
from playwright.sync_api import expect
from projects import Installer
from served import Served
from test_object_forms import SCHEMA

PATH = f"/apis/{GROUP}/v1/namespaces/default/sites"
ODD = "  <b>\t'\"&\r\n\r x\x85\u2028\x0c\x00\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    config = {"kubernetes": {"group": GROUP}}
    installed = Installer(tmp_path_factory.mktemp("sites"))({"v1.yaml": SCHEMA}, config=config)
    return installed.project.folder


@pytest.fixture
def server(folder, tmp_path):
    found = Served(folder, "--store", tmp_path / "store.sqlite")
    yield found
    found.kill()


def create(server, **properties):
    body = {"metadata": {"name": "one"}, "host": "a.b", "level": "low", "frame": {"color": "red"}}
    answer = server.ask("POST", PATH, {**body, **properties})
    assert answer.status == 201, answer


def address(name="one"):
    return f"/ui/objects/edit?of={GROUP}&type=sites&namespace=default&name={name}&v=v1&as=form"


@pytest.mark.full
def test_a_form_is_filled_in_by_keyboard(browser, server):
    odd = {"frame": {"color": ODD}, "tags": {f"a b/%20~{ODD.strip()}": ODD, "": "\nx"}}
    create(server, ports=[{"number": 1}], free={"x": [1.0, ODD]}, **odd)
    before = server.ask("GET", f"{PATH}/one").body
    with browsers.tab(browser, server.url) as page:
        page.goto(address())
        page.get_by_role("button", name="Show what changes").last.click()
        expect(page.get_by_role("main").get_by_text("No version sees a change.")).to_be_visible()
        page.locator("fieldset", has=page.get_by_text("ports", exact=True)).get_by_role(
            "button", name="Add to ports"
        ).press("Enter")
        expect(page.locator('[id="/ports/1/number"]')).to_be_focused()
        page.keyboard.type("2x")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("ports[1].number")
        page.get_by_role("alert").get_by_role("link").click()
        field = page.locator('[id="/ports/1/number"]')
        expect(field).to_have_attribute("aria-invalid", "true")
        field.fill("2")
        field.press("Enter")
        expect(page.get_by_role("row", name="ports[1].number — 2")).to_be_visible()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", name="one")).to_be_visible()
    saved = server.ask("GET", f"{PATH}/one").body
    assert saved["ports"] == [{"number": 1}, {"number": 2}]
    for name in before.keys() - {"ports", "metadata"}:
        assert json.dumps(saved[name]) == json.dumps(before[name]), name


@pytest.mark.full
def test_a_form_works_without_scripts(browser, server):
    create(server)
    with browsers.tab(browser, server.url, java_script_enabled=False) as page:
        page.goto(address())
        page.get_by_role("button", name="Add ports").click()
        page.locator('[id="/ports/0/number"]').fill("7")
        page.get_by_role("button", name="YAML").click()
        text = page.get_by_label("Document in YAML")
        expect(text).to_have_value(re.compile("number: 7"))
        text.fill(text.input_value().replace("number: 7", "number: 8"))
        page.get_by_role("button", name="Form").click()
        page.get_by_role("button", name="Show what changes").last.click()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", name="one")).to_be_visible()
    assert server.ask("GET", f"{PATH}/one").body["ports"] == [{"number": 8}]


@pytest.mark.full
@pytest.mark.parametrize("scripts", [True, False])
def test_keys_of_maps_are_changed(browser, server, scripts):
    create(server, tags={"a": "1", "b": "2"}, zones={"x": {"size": 1}})
    with browsers.tab(browser, server.url, java_script_enabled=scripts) as page:
        page.goto(address())
        page.get_by_label("Key of tags.a", exact=True).fill("b")
        page.get_by_role("button", name="Show what changes").last.click()
        expect(page.locator(".wrong")).to_have_text(
            "There is 'b' already. Each key stands once in a map."
        )
        for width in (400, 800, 1100):
            page.set_viewport_size({"width": width, "height": 900})
            if scripts:
                assert (width, browsers.flaws(page)) == (width, [])
        page.get_by_label("Key of tags.a", exact=True).fill("c")
        page.get_by_label("Key of zones.x", exact=True).fill("z")
        page.get_by_role("button", name="Add to tags").click()
        expect(page.get_by_label("Key of tags.c", exact=True)).to_be_visible()
        page.get_by_label("New key in tags").fill("a")
        page.get_by_role("button", name="Add to tags").click()
        page.locator('[id="/tags/a"]').fill("3")
        page.get_by_role("button", name="Show what changes").last.click()
        expect(page.get_by_role("row", name='tags.c — "1"')).to_be_visible()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", name="one")).to_be_visible()
    saved = server.ask("GET", f"{PATH}/one").body
    assert saved["tags"] == {"c": "1", "b": "2", "a": "3"}
    assert saved["zones"] == {"z": {"size": 1}}


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_is_wrong_with_a_form_at_any_width(browser, server, scheme):
    ports = [{"number": 1, "name": "web"}, {"number": 2}]
    create(
        server, ports=ports, tags={"a-long-key" * 4: "x" * 90}, shape={"kind": "box"}, free={"a": 1}
    )
    with browsers.tab(browser, server.url, color_scheme=scheme) as page:
        page.goto(address())
        page.locator('[id="/shape/kind"]').select_option("circle")
        expect(page.locator('[id="/shape/radius"]')).to_be_visible()
        page.get_by_label("host").fill("A B")
        page.get_by_role("button", name="Show what changes").last.click()
        expect(page.get_by_role("alert")).to_be_visible()
        for width in (400, 800, 1400):
            page.set_viewport_size({"width": width, "height": 900})
            assert (width, browsers.flaws(page)) == (width, [])
