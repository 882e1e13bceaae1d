"""Members that stand in an object several times are found, and nothing else is."""

import json

import pytest
from amounts import amount
from hypothesis import given, settings
from hypothesis import strategies as st

from trundle.documents import has_repeated_member
from trundle.parts._exact import repeated_members


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":2}',
        '{"a":1,"a":1}',
        '{"a":1e400,"a":2}',  # A number that free-form data may have, and Python has not.
        f'{{"a":1,"a":2,"b":{"9" * 5000}}}',  # More digits than Python reads.
        '{"a" :1,"b":{"c":[{"d":1,"d" : 2}]}}',
        '{"a":1,"\\u0061":2}',
        '[{"x":{},"x":{}}]',
        '{"ä":1,"ä":2}',
        '{"a":1,"a":2,"b":"\\u0022:"}',  # As many ends of names as when it is written anew.
        '{"a":1,"a":2,"b":"\\"\\u003a"}',
        '{"a":1,"a":2,"b":"\\"\\u003A"}',
        '{"a":1,"a":2,"b"\t:1}',
        '{"a":1,"a":2,"b"\r\n :1}',
        '{"a":1,"a":2,"b":"\\u003a"}',  # As many colons as when it is written anew.
        '{"a":1,"a":2,"\\u003a":1}',
    ],
)
def test_a_member_that_stands_several_times_is_found(text):
    assert has_repeated_member(text.encode())
    assert repeated_members(text.encode())


@pytest.mark.parametrize(
    "text",
    ['{"a":1,"b":{"a":2}}', '{"a":"\\":"}', '{"a" : 1}', "[]", "1", "", "{", '{"a":"b:"}', "\xff"],
)
def test_nothing_is_found_where_there_is_none(text):
    assert not has_repeated_member(text.encode("latin-1"))


_SPACES = st.sampled_from(["", "", " ", "\t", "\n", "\r\n  "])
_TEXTS = st.lists(
    st.sampled_from(
        [
            "a",
            "b",
            "a",
            ":",
            '\\"',
            "\\u003a",
            "\\u003A",
            "\\u0022:",
            "\\u0061",
            "\\\\",
            "\\/",
            " :",
            "ä",
            "{",
            ",",
        ]
    ),
    max_size=3,
).map(lambda pieces: f'"{"".join(pieces)}"')
_SCALARS = st.one_of(
    _TEXTS,
    st.sampled_from(["null", "true", "0", "-0", "1.10", "1e5", "1E-7", str(1 << 80), "1e400"]),
)


@st.composite
def _objects(draw, values):
    def spaced(text):
        return f"{draw(_SPACES)}{text}{draw(_SPACES)}"

    members = draw(st.lists(st.tuples(_TEXTS, values), max_size=4))
    return f"{{{','.join(f'{spaced(name)}:{spaced(value)}' for name, value in members)}}}"


_JSON = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        _objects(inner), st.lists(inner, max_size=3).map(lambda each: f"[{', '.join(each)}]")
    ),
    max_leaves=12,
)


@settings(max_examples=amount(3000), deadline=None)
@given(_JSON)
def test_it_agrees_with_the_parser_of_python(text):
    found = []
    json.loads(
        text, object_pairs_hook=lambda p: found.append(len(p) != len({name for name, _ in p}))
    )
    assert has_repeated_member(text.encode()) == any(found)


@settings(max_examples=amount(1000), deadline=None)
@given(_JSON, st.data())
def test_a_member_is_found_that_is_written_once_more(text, data):
    """Whatever is around it, and whatever stands for its second value."""
    name, other = data.draw(_TEXTS), data.draw(_SCALARS)
    twice = f'[{{{name}:{text},"z":{{}},{name} : {other}}},{text}]'
    assert has_repeated_member(twice.encode())
