"""What is written over a stored object keeps the objects that hold nothing but what stands beside them elsewhere."""

import itertools

import pytest
from evolving import evolve, forget, rules, thing

V1, V2 = "2020-01-01", "2021-01-01"


@pytest.fixture(scope="module")
def scheme():
    made = evolve(
        {
            V1: {"Thing": {"a": "string", "b": "string", "o": "Other"}, "Other": {"x": "string"}},
            V2: {"Thing": {"o": "Other"}, "Other": {"a": "string", "b": "string", "y": "string"}},
        },
        rules(V1, move={"a": "o.a", "b": "o.b"}),
    )
    yield made
    forget(made)


STORED = [{}, {"o": {}}, {"o": {"y": "1"}}, {"o": {"a": "z"}}, {"o": {"a": "z", "y": "1"}}]
WRITTEN = [
    {**top, **held}
    for top, held in itertools.product(
        [{}, {"a": ""}, {"a": "q", "b": "r"}], [{}, {"o": {}}, {"o": {"x": ""}}]
    )
]


@pytest.mark.parametrize("stored", STORED, ids=str)
@pytest.mark.parametrize("document", WRITTEN, ids=str)
def test_what_is_written_is_read_and_the_other_version_keeps_its_own(scheme, stored, document):
    before = scheme.put(V2, thing(V2, **stored))
    after = scheme.put(V1, thing(V1, **document), before)
    assert scheme.read(V1, after) == thing(V1, **document)
    held = scheme.read(V2, after).get("o", {})
    assert held.get("a") == document.get("a")
    assert held.get("b") == document.get("b")
    if "o" in document or "o" not in scheme.read(V1, before):
        assert held.get("y") == stored.get("o", {}).get("y")
