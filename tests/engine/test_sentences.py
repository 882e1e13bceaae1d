"""The table of sentences about versions of packages names tests and decisions that there are."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DECISIONS = ROOT / "docs/decisions"
TABLE = DECISIONS / "0216-sentences-about-versions-of-packages.md"
ROWS = [
    line
    for line in TABLE.read_text().splitlines()
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


def test_the_table_has_rows():
    assert len(ROWS) > 30
