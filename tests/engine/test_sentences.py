"""The tables of sentences about packages and classes name tests and decisions that there are."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DECISIONS = ROOT / "docs/decisions"
TABLES = (
    DECISIONS / "0216-sentences-about-versions-of-packages.md",
    DECISIONS / "0219-where-the-interface-of-classes-is-held.md",
)
ROWS = [
    line
    for table in TABLES
    for line in table.read_text().splitlines()
    if line.startswith("| ") and "Held by" not in line
]


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_a_sentence_is_held_by_what_there_is(row):
    held = row.rstrip(" |").rpartition(" | ")[2]
    tests = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", held)
    assert tests
    for path, name in tests:
        assert re.search(rf"^ *def {name}\(", (ROOT / path).read_text(), re.MULTILINE), name
    for decision in re.findall(r"\(([\w-]+\.md)\)", held):
        assert (DECISIONS / decision).is_file()


def test_the_tables_have_rows():
    assert len(ROWS) > 60
