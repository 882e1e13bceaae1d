"""Runs the demo of the customer service."""

import os
import subprocess
from pathlib import Path

import warm

DEMO = Path(__file__).parents[2] / "examples" / "crm" / "demo.py"


def run(*python: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Runs the demo, with standard output not a terminal."""
    kept = {name: value for name, value in os.environ.items() if name not in {"CORPUS", "COLUMNS"}}
    return subprocess.run(
        [*python, str(DEMO)] if python else warm.script(DEMO),
        env={**kept, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def require_outcome(chapter: str) -> None:
    """What the last chapter shows, whichever clients there are: what a watcher sees, and what is kept."""
    seen, _, kept = chapter.partition("The store keeps one object")
    header = next(each.split() for each in seen.splitlines() if "ADDED" in each)
    assert header == ["ADDED", "MODIFIED"]
    rows = {each.split()[0]: each for each in seen.splitlines() if each.endswith("◀ changed")}
    assert rows.keys() == {"knownAs", "fullAddress"}
    assert "1 Killmotor Hill, Duckburg" in rows["fullAddress"]
    assert 'conflicts with "clerk" using crm.example.com/v20160606:\n  - .knownAs\n' in seen
    assert "in its bag: street" in kept
