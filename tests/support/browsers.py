"""A real Chromium for tests of the page, and what all of them look at in it."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import serving
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

CRM = Path(__file__).parents[2] / "examples" / "crm"
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SERIOUS = frozenset({"serious", "critical"})
_LONGEST = 60_000
"""Milliseconds that a page has for what is expected of it."""

expect.set_options(timeout=_LONGEST)
OFFLINE = "htmx:afterRequest, [object HTMLElement]", "htmx:sendError, [object HTMLElement]"
"""What htmx writes where a server does not answer."""


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium; where it cannot be had the test is skipped, but fails where CI has to have it."""
    binary = serving.program("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=binary, args=[*_FLAGS])
        try:
            yield browser
        finally:
            browser.close()


class Seen:
    """What a browser says about pages: errors of scripts, refusals by the content security policy, requests to other hosts."""

    def __init__(self, page: Page, home: str) -> None:
        self.wrong: list[str] = []
        self._home = home
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("request", lambda request: self._asked(request.url))

    def _note(self, kind: str, text: str) -> None:
        if kind == "error" and "Failed to load resource" not in text:
            self.wrong.append(text)

    def _asked(self, url: str) -> None:
        if not url.startswith((self._home, "data:")):
            self.wrong.append(f"asks {url}")


@contextlib.contextmanager
def tab(
    browser: Browser, home: str, tolerated: tuple[str, ...] = (), **options: Any
) -> Iterator[Page]:
    """A tab of a user of its own; fails at the end if the browser found something wrong."""
    context = browser.new_context(base_url=home, **options)
    context.set_default_timeout(_LONGEST)
    page = context.new_page()
    seen = Seen(page, home)
    try:
        yield page
        found = [each for each in seen.wrong if each not in tolerated]
        assert found == [], found
    finally:
        context.close()


def flaws(page: Page) -> list[str]:
    """What axe-core finds serious about a page as it is shown now, and what is wider than the window."""
    found = Axe().run(page).response["violations"]
    serious = [
        f"{each['id']}: {node['html']}"
        for each in found
        if each["impact"] in SERIOUS
        for node in each["nodes"]
    ]
    return [*serious, *too_wide(page)]


def too_wide(page: Page) -> list[str]:
    """How much wider than the window a page is."""
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    return [f"{wide} pixels too wide"] if wide > 0 else []
