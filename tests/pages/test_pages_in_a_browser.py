"""Pages in a real browser: their scripts run under their content policy, search finds, and pages of earlier versions know of later ones.

Chromium loads each page in a frame of a page of ours, which types, and dumps what is then shown.
"""

import json
import re
import shutil
import subprocess

import pytest
from site_pages import HOSTILE, made, to_folder

from trundle.pages import describe, write_site

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]

HARNESS = """<!doctype html><meta charset="utf-8"><iframe id="frame" src="{page}" width="{width}" height="900"></iframe>
<script>
frame.onload = () => {{
  const page = frame.contentDocument;
  const input = page.getElementById("search");
  input.value = {typed};
  input.dispatchEvent(new Event("input"));
  const shown = {{
    found: [...page.querySelectorAll("#found a")].map((each) => [each.textContent, each.getAttribute("href")]),
    hidden: page.getElementById("found").hidden,
    newer: page.getElementById("newer")?.hidden === false ? page.getElementById("newer").textContent : "",
    versions: [...page.querySelectorAll("#versions a")].map((each) => each.textContent),
    markup: page.querySelectorAll("#found script, #found img, main script, main img").length,
    overflow: page.documentElement.scrollWidth - frame.contentWindow.innerWidth,
    font: frame.contentWindow.getComputedStyle(page.body).lineHeight,
  }};
  const out = document.createElement("pre");
  out.id = "out";
  out.textContent = encodeURIComponent(JSON.stringify(shown));
  document.body.append(out);
}};
</script>
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    text = f"Properties:\n  port: {{Contract: $}}\n  {json.dumps(HOSTILE)}: {{Contract: $}}\nMethods: {{deploy: }}\n"
    for version in ("1.0.0", "1.1.0"):
        package = to_folder(made(text, version=version), folder / version)
        write_site(folder / "site", [describe(package)])
    return folder / "site"


def browse(site, page, typed="", width=1200):
    harness = site.parent / "harness.html"
    harness.write_text(HARNESS.format(page=f"site/{page}", typed=json.dumps(typed), width=width))
    done = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--virtual-time-budget=3000",
            f"--user-data-dir={site.parent / 'profile'}", "--dump-dom", harness.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    from urllib.parse import unquote

    return json.loads(unquote(re.search(r'<pre id="out">([^<]*)</pre>', done.stdout)[1]))


def test_search_finds_members_and_leads_to_them(site):
    shown = browse(site, "a/1.0.0/index.html", "port")
    assert shown["found"][0] == ["portproperty · App", "./classes/a.App.html#property-port"]
    assert shown["hidden"] is False
    assert shown["font"] != "normal"  # The style sheet is there.
    shown = browse(site, "a/1.0.0/classes/a.App.html", "APP dep")
    assert shown["found"] == [["deploymethod · App", "../classes/a.App.html#method-deploy"]]


def test_what_is_found_is_text(site):
    shown = browse(site, "a/1.0.0/index.html", "alert")
    assert HOSTILE in shown["found"][0][0]
    assert shown["markup"] == 0


def test_a_page_of_an_earlier_version_names_the_newest(site):
    shown = browse(site, "a/1.0.0/classes/a.App.html")
    assert shown["newer"] == "There is a newer version: 1.1.0"
    assert shown["versions"] == ["1.1.0", "1.0.0", "All versions"]
    assert browse(site, "a/1.1.0/index.html")["newer"] == ""


@pytest.mark.parametrize(
    "page", ["index.html", "a/index.html", "a/1.0.0/index.html", "a/1.0.0/classes/a.App.html"]
)
def test_no_page_is_wider_than_a_narrow_screen(site, page):
    assert browse(site, page, width=360)["overflow"] <= 0
