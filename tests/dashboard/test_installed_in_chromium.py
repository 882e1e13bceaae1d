"""The pages about what is installed in a real Chromium: a version is approved, a package held, and taken back."""

import datetime as dt

import browsers
import pytest
import serving
from playwright.sync_api import expect
from served import Served
from sites import Clock, Site

from trundle.channels import Policy, UpgradeAction, Window
from trundle.installation import upgrade
from trundle.version import SemVer

CRM = "acme/crm"
WINDOW = Window(start="0 2 * * 6", duration=dt.timedelta(hours=3), timezone="Europe/Berlin")


@pytest.fixture
def site(tmp_path):
    """A package that was upgraded to 1.0.1, and of which there is a further major version."""
    now = dt.datetime.now(dt.UTC)
    site = Site(tmp_path, clock=Clock(now - dt.timedelta(days=3)))
    site.publish("1.0.0")
    site.install(policy=Policy(major=UpgradeAction.APPROVAL, windows=(WINDOW,)))
    site.clock.go(days=1)
    site.publish("1.0.1")
    with site.installation() as installation:
        upgrade(installation)
    site.publish("2.0.0", changes="[Households.]")
    return site


def served(site):
    options = "--installed", "--state", site.state, "--port", str(site.port)
    return Served(site.folder, *options, command="ui")


@pytest.fixture
def server(site):
    site.port = serving.free_port()
    found = served(site)
    yield found
    found.kill()


@pytest.mark.full
def test_a_version_is_approved_a_package_held_and_taken_back(browser, server, site):
    with browsers.tab(browser, server.url) as page:
        page.goto("/ui/")
        page.get_by_role("link", name="Installed").click()
        page.get_by_role("link", name=CRM).click()
        expect(page.get_by_role("heading", name="Calendar")).to_be_visible()
        page.set_viewport_size({"width": 1000, "height": 800})
        approve = page.get_by_role("button", name="Approve 2.0.0")
        assert approve.bounding_box()["height"] < 50  # It has one line, and its word is whole.
        approve.click()
        expect(page.locator("#outlook")).to_contain_text("2.0.0 is due now")
        page.get_by_role("button", name="Withdraw the approval of 2.0.0").click()
        approve.click()
        expect(page.get_by_role("row", name="2.0.0 sha256:")).to_contain_text("Withdraw")
        page.locator("summary", has_text="Hold it").click()
        page.get_by_label("Reason").fill("the audit")
        page.get_by_role("button", name="Hold", exact=True).click()
        expect(page.get_by_role("row", name="everything the audit")).to_be_visible()
        expect(page.locator("#outlook")).to_contain_text("Nothing is due")
        page.get_by_role("link", name="Go back to the version before").click()
        expect(page.get_by_role("main")).to_contain_text("everything is held: the audit")
        page.go_back()
        page.get_by_role("button", name="End the hold on everything").click()
        expect(page.get_by_text("Nothing is held.")).to_be_visible()
        page.get_by_role("link", name="Go back to the version before").click()
        page.get_by_role("button", name="Go back to 1.0.0").click()
        expect(page.get_by_role("row", name="1.0.1 rolled back to 1.0.0")).to_be_visible()
    assert site.text() == "acme/crm 1.0.0"


@pytest.mark.full
@pytest.mark.parametrize("width", [400, 800, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wrong_with_the_pages_at_any_width(browser, server, site, width, scheme):
    with site.installation() as installation:
        installation.approve(CRM, SemVer.parse("2.0.0"), by="ann")
    size = {"width": width, "height": 900}
    with browsers.tab(browser, server.url, viewport=size, color_scheme=scheme) as page:
        for path in ("/ui/installed", "/ui/installed/back?package=acme/crm"):
            page.goto(path)
            assert browsers.flaws(page) == []
        page.goto(f"/ui/installed/one?package={CRM}")
        expect(page.get_by_role("heading", name="Calendar")).to_be_visible()
        page.locator("summary", has_text="Hold it").click()
        page.locator("summary", has_text="Conditions").click()
        assert browsers.flaws(page) == []
        page.get_by_role("link", name="Later").click()
        expect(page.locator("[aria-current=date]")).to_have_count(0)
        page.get_by_role("link", name="Earlier").click()
        expect(page.locator("[aria-current=date]")).to_have_count(1)


@pytest.mark.full
def test_without_scripts_a_link_leads_to_what_comes_next(browser, server):
    with browsers.tab(browser, server.url, java_script_enabled=False) as page:
        page.goto(f"/ui/installed/one?package={CRM}")
        page.get_by_role("link", name="Look at it now").click()
        expect(page.get_by_role("button", name="Approve 2.0.0")).to_be_visible()


@pytest.mark.full
def test_two_users_at_once_and_a_server_that_restarts(browser, server, site):
    offline = browsers.OFFLINE  # What comes next may be asked for when the server stops.
    with (
        browsers.tab(browser, server.url, offline) as one,
        browsers.tab(browser, server.url, offline) as other,
    ):
        for page in (one, other):
            page.goto(f"/ui/installed/back?package={CRM}")
        one.get_by_role("button", name="Go back to 1.0.0").click()
        expect(one.get_by_role("row", name="1.0.1 rolled back to 1.0.0")).to_be_visible()
        other.get_by_role("button", name="Go back to 1.0.0").click()
        expect(other.get_by_role("main")).to_contain_text("expected a version")
        server.stop()
        again = served(site)
        try:
            one.reload()
            expect(one.get_by_role("row", name="1.0.1 rolled back to 1.0.0")).to_be_visible()
        finally:
            again.kill()
    assert site.text() == "acme/crm 1.0.0"
