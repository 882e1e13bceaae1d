"""Runs pytest; a few tests that fail run once more, each alone, and only what fails twice fails the run.

For tests that start real servers and clusters: many processes on two processors may take longer than a test waits. More than `_FEW`
failures are a fault, not a moment, and are not tried again. What failed once is named at the end, so that its test can be mended.

What cannot be found again fails the run, too.

Usage: python confirmed.py [PYTEST_OPTIONS...] -- TESTS...
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

_FEW = 3
_TESTS_FAILED = 1


def main(arguments: list[str]) -> int:
    split = arguments.index("--")
    options, tests = arguments[:split], arguments[split + 1 :]
    with tempfile.TemporaryDirectory() as cache:
        code = _pytest(cache, [*options, *tests])
        failed = _failed(cache)
        if code != _TESTS_FAILED or not 0 < len(failed) <= _FEW:
            return code
        _say("Once more, alone", failed)
        code = _pytest(cache, [*options, "-v", "--numprocesses", "0", *failed])
        _say("Failed once, beside others", sorted(set(failed) - set(_failed(cache))))
        return code


def _pytest(cache: str, arguments: list[str]) -> int:
    command = [sys.executable, "-m", "pytest", "-o", f"cache_dir={cache}", *arguments]
    return subprocess.run(command, check=False).returncode


def _failed(cache: str) -> list[str]:
    """The names of the tests that failed last."""
    kept = Path(cache, "v", "cache", "lastfailed")
    return sorted(json.loads(kept.read_text())) if kept.exists() else []


def _say(what: str, tests: list[str]) -> None:
    for each in tests:
        print(f"{what}: {each}", flush=True)  # noqa: T201 - this is a command


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
