import pytest
from hypothesis import given
from hypothesis import strategies as st

from trundle.evolution import EACH, PathError, join_path, plain_path, split_path


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a", ("a",)),
        ("a.b-c.d", ("a", "b-c", "d")),
        ('a["x.y/z"].b', ("a", "x.y/z", "b")),
        ("rules[].backend.name", ("rules", EACH, "backend", "name")),
    ],
)
def test_a_path_is_its_names(text, parts):
    assert split_path(text) == parts
    assert join_path(parts) == text


@pytest.mark.parametrize(
    "text", ["", ".a", "a.", "a..b", "a[", "a]b", "a[]", "[].a", 'a."b"', "a[b]"]
)
def test_anything_else_is_no_path(text):
    with pytest.raises(PathError):
        split_path(text)


def test_a_path_has_one_spelling():
    assert plain_path('a["b"].c') == "a.b.c"
    assert plain_path('["a.b"]') == "a.b"
    assert plain_path('o["a.b"]') == 'o["a.b"]'


@given(st.lists(st.text(min_size=1), min_size=1).map(tuple))
def test_every_name_may_stand_in_a_path(parts):
    if EACH not in parts:
        assert split_path(join_path(parts)) == parts
