"""Drawn evolutions with rules of all kinds: a client reads what it wrote, and what is written back as it was read changes nothing."""

import os

import pytest
from amounts import amount
from drawn_evolutions import try_evolution

FIRST, _, LAST = os.environ.get("EVOLUTIONS", "").partition("-")
SEEDS = range(int(FIRST), int(LAST)) if FIRST else range(amount(400))
SEQUENCES = 40 if FIRST else 10


@pytest.mark.parametrize("seed", SEEDS)
def test_every_write_of_a_drawn_evolution_is_read_back(seed: int) -> None:
    assert "\n".join(try_evolution(seed, SEQUENCES)) == ""
