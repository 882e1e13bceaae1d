"""The index of decisions and the changelog, which branches add lines to: merging keeps both lines, in any order, or one line twice."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_index_has_each_decision_once_and_in_order():
    folder = ROOT / "docs/decisions"
    rows = re.findall(r"^\| \[(\d+)\]\(([^)]+)\)", (folder / "README.md").read_text(), re.MULTILINE)
    files = sorted(each.name for each in folder.glob("[0-9]*.md"))
    assert rows == [(each[:4], each) for each in files]


def test_the_changelog_has_each_entry_once():
    lines = (ROOT / "CHANGELOG.md").read_text().splitlines()
    entries = [each for each in lines if each.startswith("- ")]
    assert sorted(entries) == sorted(set(entries))
