"""Which scalars of a class file are expressions, and what the others are."""

import pytest

from trundle.documents import UnreadableError
from trundle.engine import EngineError
from trundle.engine.expressions import Expression, Listing, Mapped, Scalar, read_code


def read(text):
    (document,) = read_code(text, "Classes/a.yaml")
    return document


@pytest.mark.parametrize(
    "text",
    ["$.x", "foo-bar", "$.string().notNull()", "a => b", '!yaql "$.x"', "!yaql nova", "list(a, b)"],
)
def test_is_an_expression(text):
    if text == "a => b":  # Only in calls and maps
        assert read(text) == Scalar(text, 1)
    else:
        assert isinstance(read(text), Expression)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("nova", "nova"),
        ("io.murano.Object", "io.murano.Object"),
        ("two words", "two words"),
        ("'$.x'", "$.x"),
        ('"$.x"', "$.x"),
        ("hello, world", "hello, world"),
        ("http://x", "http://x"),
        ("2014-04-04", "2014-04-04"),
        ("12:30", "12:30"),
        ("1e400", "1e400"),
        ("5", 5),
        ("-5", -5),
        ("0755", 493),
        ("1.5", 1.5),
        ("true", True),
        ("no", False),
        ("null", None),
        ("!!str 5", "5"),
    ],
)
def test_is_no_expression(text, value):
    found = read(text)
    assert found == Scalar(value, 1)
    assert type(found.value) is type(value)


def test_keys_are_read_alike_but_words_of_switches_stay_text():
    found = read("{$.x: 1, on: yes, '$.y': 2}")
    assert [key for key, _ in found.entries] == [
        Expression("$.x"),
        Scalar("on", 1),
        Scalar("$.y", 1),
    ]
    assert found.get("on") == Scalar(value=True, line=1)
    assert found.get("$.x") is None


def test_everything_has_its_line():
    found = read("a:\n  - $.x\n  - 5\n")
    listing = found.get("a")
    assert isinstance(found, Mapped)
    assert isinstance(listing, Listing)
    assert [listing.items[0].place.line, listing.items[1].line] == [2, 3]
    assert listing.items[0].place.file == "Classes/a.yaml"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\na: 1\na: 2", ("a.yaml:3", "'a' a second time")),
        ("a: 1\n$.x: 1\n$.x: 2", ("a.yaml:3", "`$.x` a second time")),
        ("a: 1.0e+400", ("a.yaml:1", "finite number")),
        ("a: .inf", ("finite number", "quote")),
        ("a: !!int foo", ("tag", "remove")),
        ("a: !other foo", ("tag", "remove")),
        ("[a]: 1", ("scalar as key",)),
        ("<<: {a: 1}", ("merge key",)),
        ("a: " + "9" * 5000, ("finite number",)),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_line(text, words):
    with pytest.raises(UnreadableError) as caught:
        read(text)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("$.", "syntax", ("unexpected end", "quotes")),
        ("'\\N{no such}'", "syntax", ()),
        ("(" * 900 + "1" + ")" * 900, "limit", ("250 levels", "split")),
        ("1" + "+1" * 400, "limit", ("split",)),
        ("9" * 200_000 + "a + 1", "limit", ("400 digits",)),
        ("'" + "\\N{" * 100_000 + "'", "limit", ("by name",)),
        ("'" + "x" * 600_000 + "'", "limit", ("524288", "split")),
    ],
)
def test_what_is_no_expression_says_where_and_why(text, code, words):
    (expression,) = read_code("!yaql |-\n  " + text, "Classes/a.yaml")
    with pytest.raises(EngineError) as caught:
        _ = expression.tree
    assert caught.value.code == code
    assert (caught.value.file, caught.value.line) == ("Classes/a.yaml", 1)
    for word in words:
        assert word in str(caught.value)
