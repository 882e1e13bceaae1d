"""The README and the guides show what really happens."""

import os
import re
from pathlib import Path

import pytest
from guides import GUIDES, ROOT, Command, fits, print_of, read_guide, run_guide

_LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")
_HEADING = re.compile(r"^#+ (?P<title>.+)$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_SHOWN = re.compile(r"^```text\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)

README = (ROOT / "README.md").read_text(encoding="utf-8")
CORPUS = os.environ.get("CORPUS")

RUNNING = [path for path in GUIDES if any(read_guide(path.read_text(encoding="utf-8")))]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", RUNNING, ids=name_of)
def test_commands_print_what_the_guide_shows(path: Path, tmp_path: Path):
    for command, real in run_guide(path.read_text(encoding="utf-8"), tmp_path.resolve()):
        shown = command.output.rstrip()
        assert fits(command.output, real), f"$ {command.line}\n{real}\n  is shown as\n{shown}"


@pytest.mark.parametrize("path", GUIDES, ids=name_of)
def test_links_lead_somewhere(path: Path):
    text = _FENCED.sub("", path.read_text(encoding="utf-8"))
    for link in _LINK.finditer(text):
        target, anchor = link["target"], link["anchor"]
        if "://" in target:
            continue
        page = (path.parent / target).resolve() if target else path
        assert page.exists(), f"{link[0]} leads nowhere"
        if anchor:
            assert anchor in anchors(page), f"{link[0]} leads to no heading"


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    titles = (match["title"].lower() for match in _HEADING.finditer(text))
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def test_readme_links_every_guide():
    missing = [p.name for p in (ROOT / "docs").glob("*.md") if f"docs/{p.name}" not in README]
    assert missing == []


def shown_in_readme(beginning: str) -> str:
    """The text in the README that begins in some way."""
    blocks = (match["text"] for match in _SHOWN.finditer(README))
    return next(text for text in blocks if text.lstrip().startswith(beginning))


def test_the_demo_tells_what_the_readme_shows(tmp_path: Path):
    told, _ = print_of(f"python {ROOT / 'examples/crm/demo.py'}", tmp_path)
    assert shown_in_readme("5. ") in told


def test_the_picture_is_what_the_command_draws():
    drawn, _ = print_of("trundle -C examples/crm map Person -o svg", ROOT)
    assert drawn == (ROOT / "docs/images/crm-map.svg").read_text(encoding="utf-8")


@pytest.mark.skipif(not CORPUS, reason="CORPUS names no folder with Azure's published schemas")
def test_the_readme_shows_the_table_of_service_fabric():
    command, _, table = shown_in_readme("$ trundle diff").partition("\n")
    printed, _ = print_of(command.removeprefix("$ "), Path(str(CORPUS)))
    assert printed == table


def test_an_elision_stands_for_any_lines():
    assert fits("a\n ...\nd\n", "a\nb\nc\nd\n")
    assert fits("a\n ...\n", "a\n")
    assert not fits("a\n ...\nd\n", "a\nb\n")


def test_commands_are_told_from_what_they_print():
    text = "```console\n$ one\nprinted\n$ two\n```\n"
    assert [(each.line, each.output) for each in read_guide(text) if isinstance(each, Command)] == [
        ("one", "printed\n"),
        ("two", ""),
    ]
