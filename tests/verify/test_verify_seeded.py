"""Examples of a seed: the same ones each time, and an end of the process in one of them ends them all."""

import pytest
from hypothesis import strategies as st

from trundle.verify._seeded import each_example


def test_a_seed_gives_the_same_examples_each_time():
    drawn = []
    for seed in ("a", "a", "b"):
        found = []
        each_example(seed, 5, lambda data, found=found: found.append(data.draw(st.text())))
        drawn.append(found)
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("end", [SystemExit(143), KeyboardInterrupt()], ids=repr)
def test_what_ends_the_process_in_an_example_ends_them_all(end):
    """A handler of a signal raises it wherever the process is."""
    tried = []

    def example(data):
        tried.append(data.draw(st.integers()))
        if len(tried) == 3:
            raise end

    with pytest.raises(type(end)) as raised:
        each_example("a", 10, example)
    assert (raised.value, len(tried)) == (end, 3)
