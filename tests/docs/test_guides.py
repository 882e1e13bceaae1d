"""The README and the guides show what really happens."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer
from guides import GUIDES, ROOT, Command, fits, print_of, read_guide, run_guide

from trundle.cli._app import app

_LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")
_HEADING = re.compile(r"^#+ (?P<title>.+)$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_SHOWN = re.compile(r"^```text\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)

README = (ROOT / "README.md").read_text(encoding="utf-8")

RUNNING = [path for path in GUIDES if any(read_guide(path.read_text(encoding="utf-8")))]
OFTEN = {"README.md", "docs/start-a-project.md"}
"""The guides that `make test` runs, too; the others take long."""


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=() if name_of(path) in OFTEN else pytest.mark.full)
        for path in RUNNING
    ],
    ids=name_of,
)
def test_commands_print_what_the_guide_shows(path: Path, tmp_path: Path):
    text = path.read_text(encoding="utf-8")
    if "$ kubectl " in text and shutil.which("kubectl") is None:
        pytest.skip("needs kubectl")
    for command, real in run_guide(text, tmp_path.resolve()):
        shown = command.output.rstrip()
        assert fits(command.output, real), f"$ {command.line}\n{real}\n  is shown as\n{shown}"


@pytest.mark.parametrize("path", RUNNING, ids=name_of)
def test_commands_leave_their_reader_in_the_folder_of_the_guide(path: Path):
    lines = [
        each.line
        for each in read_guide(path.read_text(encoding="utf-8"))
        if isinstance(each, Command)
    ]
    assert [line for line in lines if line.startswith("cd ")] == []


@pytest.mark.parametrize("path", RUNNING, ids=name_of)
def test_a_guide_that_uses_the_examples_says_where_they_are(path: Path):
    text = path.read_text(encoding="utf-8")
    uses = re.search(r"^\$ .*\bexamples/", text, re.MULTILINE)
    assert not uses or "repository" in text or path.name == "README.md"


def test_every_option_is_in_the_list_of_commands():
    def options(command):
        if isinstance(command, typer.core.TyperGroup):
            for each in command.commands.values():
                yield from options(each)
        for each in command.params:
            yield from (name for name in each.opts if name.startswith("--"))

    listed = set(re.findall(r"--[a-z][a-z-]*", (ROOT / "docs/commands.md").read_text()))
    assert set(options(typer.main.get_command(app))) - listed == set()


def test_the_readme_names_every_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    unnamed = [e for e in project["optional-dependencies"] if f"`trundle[{e}]`" not in README]
    assert unnamed == []


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


@pytest.mark.parametrize("path", GUIDES, ids=name_of)
def test_every_row_is_in_a_table_with_a_head(path: Path):
    text = _FENCED.sub("", path.read_text(encoding="utf-8"))
    blocks = [each.splitlines() for each in text.split("\n\n")]
    for rows in (each for each in blocks if each and each[0].startswith("|")):
        assert re.fullmatch(r"[|:\- ]+", rows[1:2][0] if rows[1:] else ""), rows[0]


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


@pytest.mark.full
def test_the_demo_prints_what_the_readme_shows(tmp_path: Path):
    told, _ = print_of(f"python {ROOT / 'examples/crm/demo.py'}", tmp_path)
    assert shown_in_readme("5. ") in told


def test_the_story_in_the_readme_is_that_of_the_guide():
    """Its commands are some of those of the guide, in their order, with what they print there; tests run the guide."""
    _, _, story = README.partition("\n## The whole story\n")
    shown = story.partition("\n## ")[0].replace("```text\n", "```console\n")
    guide = (ROOT / "docs/roll-a-package-forward.md").read_text(encoding="utf-8")
    rest = (each for each in read_guide(guide) if isinstance(each, Command))
    commands = [each for each in read_guide(shown) if isinstance(each, Command)]
    assert len(commands) > 10  # The story has them.
    for each in commands:
        printed = each.output.replace(" ...\n", "").rstrip()
        assert (each.line, printed) in ((x.line, x.output.rstrip()) for x in rest)


def test_the_picture_is_what_the_command_draws():
    drawn, _ = print_of("trundle -C examples/crm map Person -o svg", ROOT)
    assert drawn == (ROOT / "docs/images/crm-map.svg").read_text(encoding="utf-8")


def test_the_first_page_shows_what_happens_to_an_owner(tmp_path: Path):
    """Each line of the README's first block is made again, by the generated package and by hand."""
    block = shown_in_readme('{"storageGB": 100')
    stored, read, written, by_hand, by_trundle = (
        json.loads(line[: line.index("}") + 1]) for line in block.splitlines()
    )
    schemas = {"2024-01-01": "sizeGB", "2025-06-01": "storageGB"}
    (tmp_path / "schemas").mkdir()
    for version, name in schemas.items():
        properties = {name: {"type": "integer"}}
        if version == "2025-06-01":
            properties["owner"] = {"type": "string"}
        schema = {"title": "Database", "type": "object", "properties": properties}
        (tmp_path / f"schemas/{version}.json").write_text(json.dumps(schema))
    (tmp_path / "trundle.yaml").write_text(
        "package: owners\nsources: [schemas]\n"
        "changes: {2024-01-01: {Database: {rename: {sizeGB: storageGB}}}}\n"
    )
    print_of("trundle generate", tmp_path)
    code = (
        "import json, sys; from owners import scheme\n"
        "old, new = ({'apiVersion': v, 'kind': 'Database'} for v in ('2024-01-01', '2025-06-01'))\n"
        "stored, written = map(json.loads, sys.argv[1:])\n"
        "base = scheme.to_storage(scheme.decode(new | stored))\n"
        "print(scheme.encode(scheme.from_storage(base, '2024-01-01')).decode())\n"
        "edited = scheme.to_storage(scheme.decode(old | written), base=base)\n"
        "print(scheme.encode(scheme.from_storage(edited, '2025-06-01')).decode())\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, json.dumps(stored), json.dumps(written)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    seen, kept = (json.loads(line) for line in result.stdout.splitlines())
    assert seen == {"apiVersion": "2024-01-01", "kind": "Database"} | read
    assert kept == {"apiVersion": "2025-06-01", "kind": "Database"} | by_trundle
    assert by_hand == {"storageGB": written["sizeGB"]}


def test_the_page_for_a_package_index_stands_alone():
    """A package index shows it without the repository, so that relative links lead nowhere."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / project["readme"]).read_text(encoding="utf-8")
    assert all(url.startswith("https://") for url in re.findall(r"\]\(([^)]*)\)", page))


def test_an_elision_stands_for_any_lines():
    assert fits("a\n ...\nd\n", "a\nb\nc\nd\n")
    assert fits("a\n ...\n", "a\n")
    assert not fits("a\n ...\nd\n", "a\nb\n")


def test_commands_are_distinguished_from_what_they_print():
    text = "```console\n$ one\nprinted\n$ two\n```\n"
    assert [(each.line, each.output) for each in read_guide(text) if isinstance(each, Command)] == [
        ("one", "printed\n"),
        ("two", ""),
    ]
