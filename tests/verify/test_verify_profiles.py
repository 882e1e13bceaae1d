"""Generated tests draw the same values in every process, whatever that has loaded."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trundle import verify

DRAWN = """
import sys
from hypothesis import given
from hypothesis import strategies as st
from trundle import verify

@verify.some_examples(100)
@given(st.lists(st.tuples(st.integers(), st.text(), st.floats())))
def draw(example):
    sys.stdout.write(ascii(example))

draw()
"""


@pytest.mark.full
def test_values_are_the_same_in_a_process_that_has_loaded_other_modules(tmp_path: Path) -> None:
    """Hypothesis takes constants out of modules that are not installed."""
    (tmp_path / "draws.py").write_text(DRAWN)
    constants = [f"a constant {number}" for number in range(500)]
    (tmp_path / "constants.py").write_text(f"A = {constants}\nB = {[*range(7000, 7500)]}")
    processes = [
        subprocess.Popen(
            [sys.executable, "-B", "-c", first + "import draws"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
        )
        for first in ("", "import constants\n")
    ]
    plain, loaded = (process.communicate(timeout=120)[0] for process in processes)
    assert len(plain) > 1000
    assert loaded == plain


def test_what_fails_is_shrunk() -> None:
    found = []

    @verify.examples
    @given(st.lists(st.integers()))
    def fails(example: list[int]) -> None:
        found.append(example)
        assert not any(each > 1000 for each in example)

    with pytest.raises(AssertionError):
        fails()
    assert found[-1] == [1001]
