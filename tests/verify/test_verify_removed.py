"""The third law lets go what is stored in an object that a client removes, and nothing else."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from evolving import evolve, forget, rules, thing

from trundle import verify
from trundle.runtime import ABSENT, Scheme

V1, V2 = "2020-01-01", "2021-01-01"


@pytest.fixture(scope="module")
def scheme() -> Iterator[Scheme]:
    """The older version has beside the object what the newer one, to which it is not null, has in it."""
    made = evolve(
        {
            V1: {"Thing": {"a": "string?", "n": "string", "o": "O"}, "O": {"c": "string"}},
            V2: {"Thing": {"o": "O", "e": "E"}, "O": {"a": "string", "b": "string"}, "E": {}},
        },
        rules(V1, move={"a": "o.a"}),
    )
    yield made
    forget(made)


class Losing:
    """A scheme whose writes lose something, too."""

    def __init__(self, scheme: Scheme, lose: Callable[[Any], None]) -> None:
        self._scheme = scheme
        self._lose = lose

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scheme, name)

    def to_storage(self, value: Any, base: Any = None) -> Any:
        found = self._scheme.to_storage(value, base)
        if base is not None:
            found = self._scheme.decode(self._scheme.encode(found))
            self._lose(found)
        return found


def edit(scheme: Scheme, change: Callable[[Any], None], *writes: dict[str, Any]) -> tuple[Any, Any]:
    """What is stored after some writes, and the newer version's view of it with a change."""
    stored: Any = None
    for each in writes:
        stored = scheme.put(each["apiVersion"], each, stored)
    found = scheme.decode(scheme.encode(stored))
    edited = scheme.from_storage(found, V2)
    change(edited)
    return found, edited


def without_o(thing: Any) -> None:
    thing.o = ABSENT


def test_what_is_hidden_in_a_removed_object_goes_with_it(scheme: Scheme) -> None:
    stored, edited = edit(scheme, without_o, thing(V1, a=None, n="1"))
    assert stored.o.a is None
    assert scheme.from_storage(scheme.to_storage(edited, stored), V1).a is ABSENT
    verify.law3(scheme, stored, edited)


def test_what_is_stored_beside_a_removed_object_must_stay(scheme: Scheme) -> None:
    def lose(stored: Any) -> None:
        stored.property_bag = ABSENT

    stored, edited = edit(scheme, without_o, thing(V1, a=None, n="1"))
    losing: Any = Losing(scheme, lose)
    with pytest.raises(verify.LawBroken, match=r"law 3, .* at \$\.n"):
        verify.law3(losing, stored, edited)


def test_what_is_hidden_in_an_object_that_stays_must_stay(scheme: Scheme) -> None:
    def change(thing: Any) -> None:
        thing.o.b = "2"

    def lose(stored: Any) -> None:
        stored.o.a = ABSENT

    stored, edited = edit(scheme, change, thing(V1, a=None))
    verify.law3(scheme, stored, edited)
    losing: Any = Losing(scheme, lose)
    with pytest.raises(verify.LawBroken, match=r"law 3, .* at \$\.a"):
        verify.law3(losing, stored, edited)


def test_an_object_that_the_writer_does_not_see_must_stay(scheme: Scheme) -> None:
    def lose(stored: Any) -> None:
        stored.e = ABSENT

    stored = scheme.to_storage(scheme.decode(scheme.encode(thing(V2, e={}, o={}))))
    edited = scheme.from_storage(stored, V1)
    edited.o = ABSENT
    verify.law3(scheme, stored, edited)
    losing: Any = Losing(scheme, lose)
    with pytest.raises(verify.LawBroken, match=r"law 3, .* at \$\.e"):
        verify.law3(losing, stored, edited)
