import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trundle.codegen._text import docstring, text_literal, tuple_literal

QUOTING = st.text(
    "ab \"'\\\n\t\x00\x7f\u2028\u200b\N{LATIN SMALL LETTER U WITH DIAERESIS}", max_size=40
)


def read(source):
    """What a docstring says, as Python reads it."""
    module = ast.parse(source)
    assert len(module.body) == 1
    return ast.get_docstring(module)


@pytest.mark.parametrize(
    "text",
    [
        "Plain.",
        'Ends with a "quote"',
        '"Begins" with one',
        'Has """ three',
        'Ends with three """',
        '""""',
        "Ends with a backslash \\",
        "C:\\new\\table \\N{no} \\x \\u12",
        "word" * 60,
        '"' * 50,
        "\\" * 51,
        'mixed \\" \\""" \\',
    ],
)
def test_a_docstring_says_what_the_schema_says(text):
    assert read(docstring(text)).strip() == text.strip()


def test_control_characters_become_spaces():
    assert read(docstring("a\x00b\x07c\rd\u2028e\x1bf")) == "a b c d e f"


def test_paragraphs_stay_and_lines_are_filled():
    text = "First line\nsecond line.\n\n\nAnother paragraph."
    assert read(docstring(text)) == "First line second line.\n\nAnother paragraph."
    assert max(map(len, docstring("word " * 100, "    ").splitlines())) <= 100


def test_nothing_to_say_is_no_docstring():
    assert docstring("") == docstring(" \n\n ") == docstring("", attributes={"a": ""}) == ""


def test_attributes_are_listed_under_their_heading():
    assert docstring("A thing.", "    ", {"name": "what it is called", "empty": ""}) == (
        '    """A thing.\n\n    Attributes:\n        name: what it is called\n    """\n'
    )


@given(QUOTING, st.dictionaries(st.sampled_from(["a", "b"]), QUOTING))
def test_no_text_breaks_a_docstring(text, attributes):
    source = docstring(text, "    ", attributes)
    if not source:
        assert not text.strip() or not text.strip().isprintable()
        return
    body = ast.parse(f"class A:\n{source}\n    a = 1\n").body[0].body
    assert len(body) == 2
    assert isinstance(body[0].value.value, str)


@given(st.text())
def test_a_literal_reads_back(text):
    assert ast.literal_eval(text_literal(text)) == text


@pytest.mark.parametrize(
    ("text", "literal"),
    [("plain", '"plain"'), ("it's", '"it\'s"'), ('say "x"', "'say \"x\"'"), ("a\nb", "'a\\nb'")],
)
def test_a_literal_has_double_quotes_where_it_can(text, literal):
    assert text_literal(text) == literal


@pytest.mark.parametrize(
    ("parts", "literal"), [([], "()"), (["a"], "(a,)"), (["a", "b"], "(a, b)")]
)
def test_a_tuple_of_any_length(parts, literal):
    assert tuple_literal(parts) == literal
