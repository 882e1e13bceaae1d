"""Tests of the longer targets that fail run once more, alone: `support/confirmed.py`."""

import os
import subprocess
import sys
from pathlib import Path

import confirmed
import pytest

PLUGINS = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""Each start of pytest reads no plugins but the one that is named."""
TESTS = """
from pathlib import Path

def test_passes(): pass
def test_fails_beside_others():
    met = Path("met")
    if not met.exists():
        met.touch()
        raise AssertionError
"""
NAMED_ANEW = """
import os
from pathlib import Path
import pytest

def test_counts():
    with Path("runs").open("a") as file: file.write("x")
@pytest.mark.parametrize("name", [os.getpid()])
def test_fails(name): raise AssertionError
"""
FAILS = """
def test_{}(): raise AssertionError
"""


@pytest.fixture
def run(tmp_path):
    """Runs tests; the exit code and what is printed."""

    def run(text):
        (tmp_path / "test_some.py").write_text(text)
        command = [
            sys.executable,
            Path(confirmed.__file__),
            "-p",
            "xdist.plugin",
            "--",
            tmp_path,
        ]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=PLUGINS,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout

    return run


def test_what_passes_alone_fails_nothing_and_is_named(run):
    code, printed = run(TESTS)
    assert code == 0
    name = "test_some.py::test_fails_beside_others"
    assert f"Once more, alone: {name}\n" in printed
    assert printed.endswith(f"Failed once, beside others: {name}\n")


def test_what_fails_twice_fails_the_run(run):
    code, printed = run(TESTS + FAILS.format("fails"))
    assert code == 1
    assert "Once more, alone: test_some.py::test_fails\n" in printed
    assert "others: test_some.py::test_fails\n" not in printed


def test_what_cannot_be_found_again_fails_the_run_and_runs_nothing_else(run, tmp_path):
    code, printed = run(NAMED_ANEW)
    assert code not in {0, 5}
    assert "Once more, alone: test_some.py::test_fails[" in printed
    assert "others: test_some.py::test_fails" not in printed
    assert (tmp_path / "runs").read_text() == "x"


def test_many_failures_are_not_tried_again(run):
    code, printed = run("".join(map(FAILS.format, "abcd")))
    assert code == 1
    assert "Once more" not in printed


def test_errors_of_collection_are_not_tried_again(run):
    code, printed = run("import nothing_of_this_name")
    assert code == 2
    assert "Once more" not in printed
