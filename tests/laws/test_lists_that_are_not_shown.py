"""What a client adds to a list or map of which its version is shown nothing, whichever version is stored.

Each value of the list is known to a hook of the first version, to the second version alone, or to the third as well, which has
integers only. The model is one list of numbers, or one map of them, and knows no entries.
"""

import itertools
from typing import Any

import pytest
from cases import V1, V2, V3
from evolving import Store, evolve, hooked

from trundle.runtime import ABSENT

KNOWN = {"list": [5, 5.5, 6], "map": {"y": 5, "x": 5.5, "z": 6}}
"""What only the other versions show."""


class FirstLarge:
    """The first number above 100 of a list."""

    def assign_to(self, source: Any) -> dict[str, Any]:
        return {} if source.n is ABSENT else {"a": [source.n]}

    def assign_from(self, source: Any) -> dict[str, Any]:
        found = [each for each in source.a if each > 100]
        return {"n": found[0]} if found else {}


class NamedK:
    """The member `k` of a map."""

    def assign_to(self, source: Any) -> dict[str, Any]:
        return {} if source.n is ABSENT else {"a": {"k": source.n}}

    def assign_from(self, source: Any) -> dict[str, Any]:
        return {"n": source.a["k"]} if "k" in source.a else {}


def parts(known: Any) -> list[Any]:
    """Every part of a list or map that has something in it."""
    if isinstance(known, dict):
        return [dict(each) for each in parts([*known.items()])]
    sizes = range(1, len(known) + 1)
    return [[*each] for size in sizes for each in itertools.combinations(known, size)]


def integers(value: Any) -> Any:
    """What the third version shows of the value."""
    if isinstance(value, dict):
        return {name: each for name, each in value.items() if isinstance(each, int)}
    return [each for each in value if isinstance(each, int)]


def added(value: Any, number: float) -> Any:
    return {**value, "k": number} if isinstance(value, dict) else [number, *value]


@pytest.mark.parametrize("hub", [V1, V2, V3])
@pytest.mark.parametrize(("kind", "hook"), [("list", FirstLarge), ("map", NamedK)])
def test_all_versions_show_what_is_added_beside_what_was_there(
    forgetting: Any, kind: str, hook: type[Any], hub: str
) -> None:
    number, integer = ("{number}", "{integer}") if kind == "map" else ("[number]", "[integer]")
    scheme = forgetting(
        evolve(
            {
                V1: {"Thing": {"n": "number"}},
                V2: {"Thing": {"a": number}},
                V3: {"Thing": {"a": integer}},
            },
            hooked(V1, V2, hook, to=(("n",), ("a",)), back=(("a",), ("n",))),
            hub=hub,
        )
    )
    for writer, value, new in itertools.product((V2, V3), parts(KNOWN[kind]), (107, 107.5)):
        if writer == V3 and integers(value) != value:
            continue
        store = Store(scheme).put(writer, a=value).put(V1, n=new)
        expected = added(value, new)
        shown = [store.read(each) for each in (V1, V2, V3)]
        assert shown == [{"n": new}, {"a": expected}, {"a": integers(expected)}], (writer, value)
