"""Drawn schemas in which values move between objects: what is read does not depend on the storage version.

One thing does: after an edit of another version, whether a version has an object in which it sees no value. What such an object
was to it may be known only to a stored object that has it.
"""

from collections.abc import Sequence
from typing import Any

import pytest
from amounts import amount
from drawn_moves import Document, Drawn, Elements, put, read
from evolving import forget


def without_empty(document: Document) -> Document:
    """A document without objects in which there is no value."""
    found = {
        name: without_empty(each) if isinstance(each, dict) else each
        for name, each in document.items()
    }
    return {name: each for name, each in found.items() if each != {}}


def values(views: Sequence[Elements]) -> list[Elements]:
    return [{name: without_empty(each) for name, each in view.items()} for view in views]


@pytest.mark.parametrize("seed", range(amount(200)))
def test_every_client_reads_the_same_whatever_version_is_stored(seed: int) -> None:
    drawn = Drawn(seed)
    schemes = [drawn.scheme(hub) for hub in drawn.versions]
    try:
        for _ in range(12):
            stored: list[Any] = [None for _ in schemes]
            before: list[Elements] = []
            as_json = drawn.random.random() < 0.5
            for _ in range(3):
                writer = drawn.random.choice(drawn.versions)
                wrote = drawn.elements(writer, before[writer] if before else None)
                document = drawn.wrapped(wrote)
                stored = [
                    put(scheme, writer, document, base, as_json=as_json)
                    for scheme, base in zip(schemes, stored, strict=True)
                ]
                views = [
                    [drawn.unwrapped(read(scheme, each, base)) for each in drawn.versions]
                    for scheme, base in zip(schemes, stored, strict=True)
                ]
                for each in views[1:]:
                    assert values(each) == values(views[0])
                    assert each[writer] == views[0][writer] == wrote
                    assert before or each == views[0]
                if any(each != views[0] for each in views[1:]):
                    break  # a client would go on from something else
                before = views[0]
    finally:
        for scheme in schemes:
            forget(scheme)
