"""A property is tried with the same examples in every run, whichever tests ran before."""

import sys

import amounts
import pytest
from hypothesis import core, given
from hypothesis import strategies as st

from trundle import verify

pytestmark = pytest.mark.skipif(amounts.FRESH, reason="DRAWS=fresh draws others")


def drawn(test=lambda test: test):
    found = []

    @test
    @given(st.lists(st.tuples(st.integers(), st.text())))
    def draw(example):
        found.append(example)

    draw()
    return found


@pytest.mark.parametrize("test", [lambda test: test, verify.some_examples(100)])
def test_examples_are_the_same_when_other_modules_are_loaded(test, tmp_path, monkeypatch):
    before = drawn(test)
    assert drawn(test) == before
    constants = [f"a constant {number}" for number in range(500)]
    (tmp_path / "full_of_constants.py").write_text(f"A = {constants}\nB = {[*range(7000, 7500)]}")
    monkeypatch.syspath_prepend(tmp_path)
    import full_of_constants

    assert drawn(test) == before
    del sys.modules[full_of_constants.__name__]


@pytest.mark.parametrize("test", [lambda test: test, verify.some_examples(100)])
def test_a_number_draws_others_which_are_the_same_each_time(test, monkeypatch):
    before = drawn(test)
    monkeypatch.setattr(core, "function_digest", amounts.digest_with("7"))
    others = drawn(test)
    assert drawn(test) == others != before
