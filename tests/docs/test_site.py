"""The documentation site: built without a warning, without a broken link or another host, found by its search, looked at in a browser."""

import fcntl
import functools
import http.server
import importlib
import itertools
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import threading
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import browsers
import pictures
import pytest
from playwright.sync_api import expect

import trundle

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.full


class Page(HTMLParser):
    """What a page links to, what it loads, and what can be linked to in it."""

    def __init__(self, file):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()
        self.feed(file.read_text())

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors |= {given[each] for each in ("id", "name") if given.get(each)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in {"script", "img", "iframe", "source"} and given.get("src"):
            self.loaded.append(given["src"])
        if tag == "link" and given.get("rel") in {"stylesheet", "icon", "preload", "preconnect"}:
            self.loaded.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder with the site of this version, built once for all processes of the run."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / "site"
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            build(shared / "building")
            (shared / "building").rename(folder)
    return folder


def build(folder):
    """Builds the site beside what an earlier version left."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "0.0.1").mkdir(parents=True)
    (folder / "0.0.1" / "index.html").write_text("<title>An earlier version</title>")
    command = [sys.executable, str(ROOT / "docs" / "site" / "build.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def pages(site):
    return {each: Page(each) for each in (site / trundle.__version__).rglob("*.html")}


@pytest.fixture(scope="module")
def url(site):
    handler = functools.partial(Quiet, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_no_link_is_broken_and_nothing_comes_from_another_host(site, pages):
    broken, foreign = [], []
    for file, page in pages.items():
        foreign += [each for each in page.loaded if urlsplit(each).netloc]
        for each in page.links:
            where = urlsplit(each)
            if where.scheme or where.netloc or each == "#":
                continue
            target = (file.parent / unquote(where.path)).resolve() if where.path else file
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                broken.append((file.name, each))
            anchors = pages[target].anchors if target in pages else ()
            if anchors and where.fragment and unquote(where.fragment) not in anchors:
                broken.append((file.name, each))
    assert (broken, foreign) == ([], [])
    styles = (site / trundle.__version__ / "_static").rglob("*.css")
    assert [
        each.name for each in styles if re.search(r"url\(['\"]?(https?:)?//", each.read_text())
    ] == []


def test_every_guide_decision_and_public_name_is_there(site, pages):
    folder = site / trundle.__version__
    for each in (*ROOT.glob("docs/*.md"), *ROOT.glob("docs/decisions/*.md")):
        assert (folder / each.relative_to(ROOT / "docs").with_suffix(".html")) in pages, each
    for each in pkgutil.iter_modules(trundle.__path__):
        page = folder / "site" / "made" / "python" / f"{each.name}.html"
        module = importlib.import_module(f"trundle.{each.name}") if each.ispkg else None
        if page not in pages:
            continue
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, type) and value.__module__.startswith(module.__name__):
                wanted = {f"{module.__name__}.{name}", f"{value.__module__}.{value.__qualname__}"}
                assert wanted & pages[page].anchors, (each.name, name)


def test_a_protocol_has_no_arguments(site):
    """Python gives all of them the same signature."""
    pages = (site / trundle.__version__ / "site" / "made" / "python").glob("*.html")
    signatures = [
        re.sub("<[^>]+>", "", found)
        for page in pages
        for found in re.findall(r'<dt class="sig .*?</dt>', page.read_text(), re.DOTALL)
    ]
    assert any("AnyScheme" in each for each in signatures)
    assert [each for each in signatures if "class" in each and "*args, **kwargs" in each] == []


def test_the_newest_version_is_where_the_site_begins(browser, url):
    with browsers.tab(browser, url) as page:
        page.goto("/")
        expect(page).to_have_url(f"{url}/{trundle.__version__}/index.html")
        expect(page.get_by_role("heading", name="Trundle", exact=False).first).to_be_visible()
        chooser = page.get_by_label("Version of Trundle")
        expect(chooser.locator("option")).to_have_text([trundle.__version__, "0.0.1"])
        page.goto(f"/{trundle.__version__}/site/made/python/store.html")
        page.get_by_label("Version of Trundle").select_option("0.0.1")
        expect(page).to_have_title("An earlier version")


def test_a_word_is_found(browser, url):
    with browsers.tab(browser, url) as page:
        page.goto(f"/{trundle.__version__}/index.html")
        page.get_by_role("textbox", name="Search").fill("carrier")
        page.keyboard.press("Enter")
        found = page.locator("#search-results li a").filter(has_text="Put it into a cluster")
        expect(found.first).to_be_visible()


@pytest.mark.parametrize(
    ("words", "guide"),
    [
        ("hook", "Write hooks"),
        ("install", "Install and upgrade"),
        ("property bag", "The property bag"),
        ("lock", "Check and lock"),
    ],
)
def test_guides_are_found_before_decisions_and_names_in_python(browser, url, words, guide):
    with browsers.tab(browser, url) as page:
        page.goto(f"/{trundle.__version__}/search.html?q={words.replace(' ', '+')}")
        expect(page.locator(".search-summary").first).to_contain_text("finished")
        found = page.locator("#search-results ul.search > li > a")
        assert guide in found.all_inner_texts()[:4]


LOOKED_AT = "index", "concepts", "commands", "site/made/configuration", "site/made/python/store"
LOOKS = ("light", 400), ("dark", 1400)
"""What is around the text of a page is the same on all of them; the first page is looked at in each way."""


def test_nothing_is_wrong_with_pages_at_any_width(browser, url):
    with browsers.tab(browser, url) as page:
        for name in LOOKED_AT:
            page.goto(f"/{trundle.__version__}/{name}.html")
            for width in (400, 800, 1400):
                page.set_viewport_size({"width": width, "height": 900})
                assert browsers.too_wide(page) == [], (name, width)
            for scheme, width in (
                itertools.product(("light", "dark"), (400, 1400)) if name == "index" else LOOKS
            ):
                page.emulate_media(color_scheme=scheme)
                page.set_viewport_size({"width": width, "height": 900})
                assert browsers.flaws(page) == [], (name, scheme, width)


@pytest.mark.parametrize(("name", "hidden"), [("keep-a-catalog", False), ("convert-models", True)])
def test_messages_wrap_as_in_a_terminal_and_tables_do_not(browser, url, name, hidden):
    with browsers.tab(browser, url, viewport={"width": 1400, "height": 900}) as page:
        page.goto(f"/{trundle.__version__}/{name}.html")
        scrolled = page.locator("article pre").evaluate_all(
            "all => all.filter(each => each.scrollWidth > each.clientWidth).map(each => each.innerText)"
        )
        assert bool(scrolled) is hidden
        assert all("\n| " in each for each in scrolled)


def test_pictures_have_the_colours_of_the_site(browser, url):
    with browsers.tab(browser, url) as page:
        page.goto(f"/{trundle.__version__}/look-at-it.html")
        for scheme, kind in (("light", ""), ("dark", "-dark")):
            page.emulate_media(color_scheme=scheme)
            shown = page.locator("article img:visible").evaluate_all(
                "all => all.map(each => [each.getAttribute('src').split('/').pop(), each.complete, each.alt !== ''])"
            )
            names = ("changes", "edit", "channel", "deploy", "installed")
            assert shown == [[f"page-{name}{kind}.png", True, True] for name in names]


def test_the_pictures_are_of_pages_as_they_are(browser, tmp_path):
    """`make pictures` finds what it shows."""
    pictures.take_all(browser, tmp_path, tmp_path)
    taken = {each.name for each in tmp_path.glob("*.png")}
    assert taken == {each.name for each in pictures.IMAGES.glob("*.png")}
