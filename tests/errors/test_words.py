"""Code and documents say things in the words of the field."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BESIDE = {
    "docs/decisions/0121-terms-of-the-field.md",  # has the words that others took the place of
    "src/trundle/runtime/__init__.py",  # has the former name of a function
}
AVOIDED = re.compile(r"\b(tell|tells|telling|told|whoever|nobody|somebody|deeds?)\b", re.IGNORECASE)


@pytest.mark.parametrize("place", ["src", "docs", "examples", "benchmarks", "."])
def test_words_that_are_avoided(place):
    folder = ROOT / place
    search = folder.glob if place == "." else folder.rglob
    paths = [path for end in ("py", "md") for path in search(f"*.{end}")]
    assert len(paths) > 2
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in paths
        if str(path.relative_to(ROOT)) not in BESIDE
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if AVOIDED.search(line)
    ]
    assert found == [], (
        "write `derive`, `report`, `a user`, `no client`; docs/decisions/0121 has the words"
    )
