"""The single value of the first version is the first element of the second one's list, which lacks what the third one's has besides.

The model is the list of the third version. The second one shows the elements that it can have, the first one the first of these, and an edit
of that changes this element alone: in its place, with what only the third version knows of it. The third version is stored.
"""

import itertools
from typing import Any

import pytest
from cases import V1, V2, V3
from evolving import Store, evolve, rules

KINDS = {"KA": ["a"], "KB": ["b"], "B": {"kind!": "KB", "b": "string"}}
VARIANT = {"kind!": "KA", "name": "string"}
TEXTS: tuple[Any, ...] = ("x", "y", None)
NAMED: tuple[Any, ...] = ({"name": "x", "more": "1"}, {"name": "y", "more": "2"}, None)
VARIANTS: tuple[Any, ...] = (
    *({"kind": "a", **each} for each in NAMED if each),
    {"kind": "b", "b": "1"},
)


def among(single: str, other: str, elements: tuple[Any, ...], **types: Any) -> Any:
    """A single value, a list of it, and a list that has others besides; with all types of the last one."""
    earlier = {name: {**each} for name, each in types.items() if isinstance(each, dict)}
    for each in earlier.values():
        each.pop("more", None)
    earlier |= {name: each for name, each in types.items() if isinstance(each, list)}
    versions = {
        V1: {"Thing": {"a": single}, **earlier},
        V2: {"Thing": {"a": f"[{single}]"}, **earlier},
        V3: {"Thing": {"a": f"[{other}]"}, **types},
    }
    return versions, elements


CASES = {
    "texts": among("string", "string?", TEXTS),
    "objects": among("A", "A?", NAMED, A={"name": "string", "more": "string"}),
    "variants": among("A", "A|B", VARIANTS, A={**VARIANT, "more": "string"}, **KINDS),
}


def shown(element: Any) -> Any:
    """What the earlier versions show of an element; None where they cannot have it."""
    if not isinstance(element, dict):
        return element
    kept = {name: each for name, each in element.items() if name != "more"}
    return None if "b" in kept else kept


def renamed(element: Any) -> Any:
    return {**element, "name": "new"} if isinstance(element, dict) else "new"


@pytest.mark.parametrize("case", CASES)
def test_an_edit_of_the_first_element_leaves_the_rest_of_it_and_all_others(
    forgetting: Any, case: str
) -> None:
    versions, elements = CASES[case]
    scheme = forgetting(evolve(versions, rules(V1, wrap={"a": "a"}), hub=V3))
    for value in itertools.chain(*(itertools.permutations(elements, size) for size in (1, 2, 3))):
        first = next((at for at, each in enumerate(value) if shown(each) is not None), None)
        if first is None:
            continue
        store = Store(scheme).put(V3, a=[*value])
        assert store.read(V1) == {"a": shown(value[first])}
        store.edit(V1, a=renamed(shown(value[first])))
        expected = [*value]
        expected[first] = renamed(value[first])
        seen = [each for each in map(shown, expected) if each is not None]
        found = [store.read(each)["a"] for each in (V1, V2, V3)]
        assert found == [seen[0], seen, expected], value
