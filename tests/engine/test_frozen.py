"""Models as the engine keeps them: the same whether they are copied at once or gone through with care."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trundle.engine import EngineError, Limits
from trundle.engine._frozen import frozen
from trundle.engine.expressions import FrozenDict

SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.floats()
KEYS = st.text(max_size=2) | st.sampled_from(["?", "type", "id"]) | st.integers(0, 2)
MODELS = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEYS, inner, max_size=3)
        | st.tuples(inner, inner)
        | st.just({"?": {"type": "a.A"}, "x": [1, {"y": []}]})
    ),
    max_leaves=12,
)
CAREFUL = Limits(depth=29)
"""Too few levels for a copy by recursion; more than these models have."""


def shape(value):
    """A value with the types of all that is in it."""
    if isinstance(value, (dict, FrozenDict)):
        return type(value), [(key, shape(plain(key, each))) for key, each in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), [shape(each) for each in value]
    return type(value), repr(value)


def plain(key, value):
    """A header may be a dictionary of its own."""
    return FrozenDict(value) if key == "?" and isinstance(value, dict) else value


def attempt(model, limits):
    try:
        return shape(frozen(model, limits))
    except EngineError as error:
        return str(error.code), error.message


@given(MODELS)
def test_both_ways_give_the_same(model):
    assert attempt(model, Limits()) == attempt(model, CAREFUL)


def test_a_copy_shares_nothing_that_can_change():
    inner = {"?": {"type": "a.A"}, "tags": ["a"]}
    model = {"?": {"type": "a.A", "kept": {"x": 1}}, "list": [inner, inner], "map": {"k": "v"}}
    found = frozen(model, Limits())
    assert found["list"][0] is not found["list"][1]  # Two objects, as the model has two maps.
    inner["tags"].append("b")
    model["map"]["k"] = "w"
    model["?"]["kept"]["x"] = 2
    inner["?"]["type"] = "b.B"
    assert found["list"][0]["?"]["type"] == "a.A"
    assert found["list"][0]["tags"] == ("a",)
    assert (found["map"]["k"], found["?"]["kept"]["x"]) == ("v", 1)


@pytest.mark.parametrize("limits", [Limits(values=50), Limits(values=50, depth=29)])
def test_a_model_has_so_many_values_at_most(limits):
    assert len(frozen([[1] * 20, [1] * 20], limits)) == 2
    with pytest.raises(EngineError, match="at most 50 values"):
        frozen([[1] * 30, [1] * 30, []], limits)


def test_models_may_be_deeper_than_python_recurses():
    model = None
    for _ in range(5000):
        model = {"?": {"type": "a.A"}, "next": model}
    found = frozen(model, Limits())
    for _ in range(5000):
        found = found["next"]
    assert found is None
