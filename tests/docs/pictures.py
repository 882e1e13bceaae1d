"""Takes the pictures of the page that guides show: `make pictures` writes them into `docs/images`."""

import datetime as dt
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import browsers
from playwright.sync_api import Browser, Locator, Page, expect
from served import Served
from sites import Clock, Site

from trundle.catalog import Catalog
from trundle.channels import Exclusion, Policy, UpgradeAction, Window
from trundle.channels.reading import Subscription
from trundle.installation import upgrade
from trundle.packages import Package
from trundle.project import generate, load_config

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
WIDTH = 1000
PEOPLE = "/apis/crm.example.com/v20160606/namespaces/default/people"
PERSON = {
    "metadata": {"name": "donald"},
    "id": "6f1d5c1e-0b54-4a53-9d0c-000000000002",
    "legalName": "Donald Fauntleroy Duck",
    "familyName": "Duck",
    "knownAs": "Donald",
    "sortKey": "Duck, Donald",
    "mailingAddress": {"street": "1313 Webfoot Walk", "city": "Duckburg"},
}
SHOP = "/v2/tenants/default/environments/shop"
APPLICATION = {
    "?": {"id": "web"},
    "name": "shop",
    "greeting": "Good morning",
    "db": {"?": {"id": "db", "name": "orders"}, "name": "orders", "password": "{{secret:db}}"},
}
NIGHT = Window(start="0 3 * * TUE,THU", duration=dt.timedelta(hours=2), timezone="Europe/Berlin")


def take(page: Page, file: Path, last: Locator, first: Locator | None = None) -> None:
    """Takes a picture down to the lower edge of something, from the top or from something else; and one in dark colours beside it."""
    expect(last).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    below = last.bounding_box()
    above = {"x": 0, "y": 0, "width": WIDTH} if first is None else first.bounding_box()
    assert below is not None
    assert above is not None
    edge = 8 if first is None else 0
    height = below["y"] + below["height"] + edge - above["y"]
    clip = {"x": above["x"], "y": above["y"], "width": above["width"], "height": height}
    for scheme, path in ("dark", file.with_stem(f"{file.stem}-dark")), ("light", file):
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=path, full_page=True, clip=clip)


def changes(page: Page, home: str, file: Path) -> None:
    """Two versions of the example, and what changed between them."""
    page.goto(f"{home}/ui/versions/type?of=&type=Person&v=2017-07-07&v=2018-08-08")
    take(page, file, page.locator("section.type").last)


def edit(page: Page, server: Served, file: Path) -> None:
    """A street that a client of an old version changes, and what newer versions will see of it."""
    server.ask("POST", PEOPLE, PERSON).ok()
    of = "of=crm.example.com&type=people&namespace=default&name=donald"
    page.goto(f"{server.url}/ui/objects/edit?{of}&v=v20160606&as=form")
    page.get_by_label("street").fill("15 Webfoot Walk")
    page.get_by_role("button", name="Show what changes").click()
    take(page, file, page.get_by_role("button", name="Save"))


def deploy(page: Page, server: Served, file: Path) -> None:
    """A draft that scales an application that is deployed."""
    server.ask("POST", SHOP.rpartition("/")[0], {"name": "shop", "place": "test"}).ok()
    server.ask("PUT", f"{SHOP}/secrets/db", {"secret": "tea-4-two"}).ok()
    added = {"package": "acme.Web", "class": "acme.Web", "name": "web", "properties": APPLICATION}
    server.ask("POST", f"{SHOP}/drafts/first/applications", added).ok()
    page.goto(f"{server.url}/ui/environments/draft?tenant=default&name=shop&draft=first")
    page.get_by_role("button", name="See what deploying would do").click()
    page.get_by_role("button", name="Do it").click()
    expect(page.get_by_text("succeeded")).to_be_visible()
    model = server.ask("GET", f"{SHOP}/model").ok()
    (application,) = model["applications"]
    application |= {"replicas": 3, "greeting": "Good evening"}
    server.ask("PUT", f"{SHOP}/drafts/evening", {"model": model, "tag": ""}).ok()
    page.goto(f"{server.url}/ui/environments/draft?tenant=default&name=shop&draft=evening")
    page.get_by_role("button", name="See what deploying would do").click()
    take(page, file, page.get_by_role("button", name="Do it"))


def installed(page: Page, home: str, file: Path) -> None:
    """Versions that wait for a window and for an approval, a calendar with an exclusion, and a channel with a bad release."""
    page.goto(f"{home}/ui/installed/one?package=acme/crm")
    first = page.locator("section.type", has=page.get_by_role("heading", name="What comes next"))
    timeline = page.locator("section.type", has=page.get_by_role("heading", name="Timeline"))
    expect(timeline).to_be_visible()
    take(page, file, timeline, first)


def channel(page: Page, server: Served, file: Path) -> None:
    """A signed channel that a catalog follows: one release was unpublished."""
    page.goto(f"{server.url}/ui/packages/channel?tenant=default&package=acme/crm&channel=stable")
    take(page, file, page.locator("main section").last)


def followed(folder: Path) -> Site:
    """An installation that follows a channel since two weeks."""
    now = dt.datetime.now(dt.UTC)
    midnight = now.replace(hour=23, minute=0, second=0, microsecond=0)
    site = Site(folder, signed=True, clock=Clock(now - dt.timedelta(days=12)))
    site.publish("1.0.0", changes="[The first release.]")
    sale = Exclusion(
        start=midnight + dt.timedelta(days=4), end=midnight + dt.timedelta(days=6), reason="sale"
    )
    policy = Policy(
        minor=UpgradeAction.WINDOW,
        major=UpgradeAction.APPROVAL,
        windows=(NIGHT,),
        exclusions=(sale,),
    )
    site.install(policy=policy)
    site.clock.go(days=4)
    site.publish("1.0.1", changes="[Imports long names.]")
    site.clock.go(days=3)
    site.publish("1.0.2", changes="[Keeps middle names.]")
    site.unpublish("1.0.1", "loses middle names")
    with site.installation() as installation:
        upgrade(installation)
    site.clock.go(days=4)
    site.publish("1.1.0", changes="[Households., Faster lists.]")
    site.publish("2.0.0", changes="[Names have one part for each word.]")
    return site


@contextmanager
def served(folder: Path, *options: str | Path, command: str) -> Iterator[Served]:
    """A server while it is looked at."""
    server = Served(folder, *options, command=command)
    try:
        yield server
    finally:
        server.kill()


def take_all(browser: Browser, images: Path, folder: Path) -> None:
    """Takes all pictures.

    Args:
        browser: looks at the pages.
        images: where to write them.
        folder: for what the pages show.
    """
    project = folder / "crm"
    shutil.copytree(browsers.CRM, project, ignore=shutil.ignore_patterns("crm", "__pycache__"))
    generate(load_config(project / "trundle.yaml"))
    packages = [Package.from_folder(ROOT / "examples/shop/packages" / n) for n in ("db", "web")]
    site = followed(folder / "site")
    with Catalog(folder / "catalog.db") as catalog:
        catalog.upload(packages, tenant="default")
        place = Subscription(repository=site.reference(), channel="stable")
        catalog.channels.follow(place, site.root, tenant="default")
    (folder / "programs.yaml").write_text(f"programs: {{wc: {shutil.which('wc')}}}\n")
    (folder / "places.yaml").write_text(
        "places: {test: {folder: deployed, programs: programs.yaml}}\n"
    )
    kept = "--store", folder / "store.db", "--catalog", folder / "catalog.db"
    places = "--places", folder / "places.yaml"
    page = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="light")
    with served(folder, project, command="ui") as server:
        changes(page, server.url, images / "page-changes.png")
    with served(project, *kept, *places, command="serve") as server:
        edit(page, server, images / "page-edit.png")
        deploy(page, server, images / "page-deploy.png")
        channel(page, server, images / "page-channel.png")
    with served(folder, "--installed", "--state", site.state, command="ui") as server:
        installed(page, server.url, images / "page-installed.png")
    page.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, browsers.chromium() as browser:
        take_all(browser, IMAGES, Path(folder))
    sys.stdout.write(f"wrote {IMAGES}\n")
