"""Lists whose variants only two properties together tell apart: their elements stay JSON, and are found again all the same."""

import pytest
from evolving import evolve, forget, thing

V1, V2 = "2020-01-01", "2021-01-01"
KINDS = {"KindA": ["a"], "KindB": ["b"], "One": ["1"], "Two": ["2"]}
A = {"kind!": "KindA", "sub!": "One", "name": "string", "n": "number"}
A2 = {"kind!": "KindA", "sub!": "Two", "name": "string"}
B = {"kind!": "KindB", "name": "string"}


@pytest.fixture(scope="module")
def scheme():
    """The older version lacks a variant, which it must not see, nor lose."""
    made = evolve(
        {
            V1: {"Thing": {"l": "[A|A2]"}, "A": {**A, "x": "string"}, "A2": A2, **KINDS},
            V2: {"Thing": {"l": "[A|A2|B]"}, "A": {**A, "y": "string"}, "A2": A2, "B": B, **KINDS},
        }
    )
    yield made
    forget(made)


def element(name, **more):
    return {"kind": "a", "sub": "1", "name": name, **more}


HIDDEN = {"kind": "b", "name": "h"}
EDITS = [
    ([element("p"), HIDDEN], [], [HIDDEN]),
    ([element(""), {"kind": "b", "name": ""}], [], [{"kind": "b", "name": ""}]),
    ([HIDDEN, element("p", n=1.5)], [element("p", n=2)], [HIDDEN, element("p", n=2)]),
    ([element("p"), HIDDEN, element("q")], [element("q")], [element("q"), HIDDEN]),
    ([element("", n=1), HIDDEN, element("", n=2)], [element("", n=2)], [element("", n=2), HIDDEN]),
]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("before", "edited", "after"), EDITS, ids=lambda each: str(each)[:60])
def test_an_edit_reaches_what_its_writer_sees_and_nothing_else(
    scheme, before, edited, after, turned
):
    order = -1 if turned else 1
    before, edited = (
        [dict([*each.items()][::order]) for each in elements] for elements in (before, edited)
    )
    stored = scheme.put(V2, thing(V2, l=before))
    written = scheme.put(V1, thing(V1, l=edited), stored)
    assert scheme.read(V1, written) == thing(V1, l=edited)
    assert scheme.read(V2, written) == thing(V2, l=after)
    seen = scheme.read(V1, stored)
    assert scheme.put(V1, seen, stored) == stored
