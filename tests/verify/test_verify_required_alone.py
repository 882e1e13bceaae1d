"""What an object requires counts as written where an edit leaves nothing else in it, and nowhere else."""

import json
from collections.abc import Iterator
from typing import Any, cast

import pytest
from cases import V1, V2
from evolving import Store, evolution, forget, load, thing

from trundle import verify
from trundle.runtime import Scheme
from trundle.verify._oracle_laws import law8_of_edits
from trundle.verify._parts import part_of, world_of
from trundle.verify.oracle import World

STALE = r"laws 4 and 8.* at \$\.o\.d\n  expected: nothing\n"
VERSIONS = {
    V1: {"Thing": {"o": "O"}, "O": {"d!": "string", "e!": "string", "b": "string", "c": "string"}},
    V2: {"Thing": {"o": "O"}, "O": {"d": "string", "e": "string", "b": "string", "c": "string"}},
}


@pytest.fixture(scope="module")
def known() -> Iterator[tuple[Scheme, World]]:
    made = evolution(VERSIONS, hub=V2)
    scheme = load(made)
    yield scheme, world_of(part_of(made, made.resources[0]), V2)
    forget(scheme)


class Writing:
    """A scheme that writes what an object requires with each edit."""

    def __init__(self, scheme: Scheme) -> None:
        self._scheme = scheme

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scheme, name)

    def to_storage(self, value: Any, base: Any = None) -> Any:
        tree = json.loads(self._scheme.encode(self._scheme.to_storage(value, base)))
        tree.setdefault("o", {}).setdefault("d", "")
        return self._scheme.decode(json.dumps(tree).encode())


def stored(scheme: Scheme, **members: Any) -> Any:
    return scheme.decode(Store(scheme).put(V2, o=members).stored)


def test_what_is_required_is_written_where_an_edit_leaves_nothing_else(
    known: tuple[Scheme, World],
) -> None:
    scheme, world = known
    edited = scheme.decode(thing(V1, o={"d": "", "e": ""}))
    law8_of_edits(scheme, world, stored(scheme, b="x"), edited)
    written = scheme.to_storage(edited, stored(scheme, b="x"))
    assert json.loads(scheme.encode(written))["o"] == {"d": "", "e": ""}


@pytest.mark.parametrize("left", [{"c": "y"}, {"b": "z"}])
def test_it_is_not_where_the_edit_leaves_more(known: tuple[Scheme, World], left: Any) -> None:
    scheme, world = known
    before = stored(scheme, b="x", **{name: each for name, each in left.items() if name != "b"})
    edited = scheme.decode(thing(V1, o={"d": "", "e": "", **left}))
    law8_of_edits(scheme, world, before, edited)
    with pytest.raises(verify.LawBroken, match=STALE):
        law8_of_edits(cast("Any", Writing(scheme)), world, before, edited)


def test_it_is_not_where_the_edit_takes_nothing(known: tuple[Scheme, World]) -> None:
    scheme, world = known
    edited = scheme.decode(thing(V1, o={"d": "", "e": "", "b": "x", "c": "x"}))
    writing = cast("Any", Writing(scheme))
    with pytest.raises(verify.LawBroken, match=STALE):
        law8_of_edits(writing, world, stored(scheme, c="x"), edited)


def test_it_is_not_where_some_of_it_is_stored(known: tuple[Scheme, World]) -> None:
    scheme, world = known
    edited = scheme.decode(thing(V1, o={"d": "", "e": "y"}))
    law8_of_edits(scheme, world, stored(scheme, e="y", b="x"), edited)
    with pytest.raises(verify.LawBroken, match=STALE):
        law8_of_edits(cast("Any", Writing(scheme)), world, stored(scheme, e="y", b="x"), edited)
