"""Lists whose variants only two properties together distinguish: their elements stay JSON, and are found again all the same."""

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


SUBS = {"Sub": ["1", "2"], "KindA": ["a"]}


@pytest.fixture(scope="module", params=["l", "o.l"])
def loose(request):
    """What distinguishes variants in the older version is an optional property in the newer one, and keeps nothing apart."""
    path = request.param
    outer = {"l": "{}"} if path == "l" else {"o": "O"}

    def version(list_, **types):
        holder = {} if path == "l" else {"O": {"l": list_}}
        return {
            "Thing": {name: each.format(list_) for name, each in outer.items()},
            **holder,
            **types,
        }

    made = evolve(
        {
            V1: version(
                "[A|A2]",
                A={"kind!": "KindA", "sub!": "One", "name": "string", "x": "string"},
                A2=A2,
                **KINDS,
            ),
            V2: version(
                "[A]", A={"kind!": "KindA", "sub": "Sub", "name": "string", "y": "string"}, **SUBS
            ),
        }
    )
    yield made, (lambda items: {"l": items} if path == "l" else {"o": {"l": items}})
    forget(made)


def shown(sub, name, **more):
    return {"kind": "a", "sub": sub, **({} if name is None else {"name": name}), **more}


@pytest.mark.parametrize("name", [None, "", "p"])
@pytest.mark.parametrize("subs", ["12", "21", "1122", "212", "2112"])
def test_elements_that_look_alike_are_those_that_the_writer_sees(loose, name, subs):
    scheme, hold = loose
    elements = [shown(sub, name, y=str(place)) for place, sub in enumerate(subs)]
    stored = scheme.put(V2, thing(V2, **hold(elements)))
    seen = [shown("1", name)] * subs.count("1")
    assert scheme.read(V1, stored) == thing(V1, **hold(seen))
    hidden = [each for each in elements if each["sub"] == "2"]
    emptied = scheme.put(V1, thing(V1, **hold([])), stored)
    assert scheme.read(V1, emptied) == thing(V1, **hold([]))
    assert scheme.read(V2, emptied) == thing(V2, **hold(hidden))
    edited = [*seen[:-1], {**seen[-1], "x": "1"}]
    written = scheme.put(V1, thing(V1, **hold(edited)), stored)
    assert scheme.read(V1, written) == thing(V1, **hold(edited))
    assert scheme.read(V2, written) == thing(V2, **hold(elements))
    assert scheme.put(V1, thing(V1, **hold(seen)), stored) == stored
