"""Drawn schemas in which values move between objects: clients read what the model says."""

from typing import Any

import pytest
from amounts import amount
from drawn_moves import Drawn, Elements, put, read
from evolving import forget


@pytest.mark.parametrize("seed", range(amount(800)))
def test_every_client_sees_what_the_model_says(seed: int) -> None:
    drawn = Drawn(seed)
    scheme = drawn.scheme()
    try:
        for _ in range(12):
            stored: Any = None
            before: list[Elements] = []
            as_json = drawn.random.random() < 0.5
            for _ in range(3):
                writer = drawn.random.choice(drawn.versions)
                wrote = drawn.elements(writer, before[writer] if before else None)
                stored = put(scheme, writer, drawn.wrapped(wrote), stored, as_json=as_json)
                seen = [read(scheme, each, stored) for each in drawn.versions]
                after = [drawn.unwrapped(each) for each in seen]
                drawn.expect(writer, wrote, before, after)
                for version, each in enumerate(seen):
                    assert put(scheme, version, each, stored, as_json=as_json) == stored
                before = after
    finally:
        forget(scheme)
