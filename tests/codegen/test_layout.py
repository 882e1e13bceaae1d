import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trundle.codegen._layout import lay_out, split_top

LONG = 100

TEXTS = st.text("abc \"'\\([{,#x}])", max_size=30).map(repr)
ATOMS = st.one_of(
    TEXTS,
    st.integers(0, 10**9).map(str),
    st.sampled_from(["source.a_rather_long_attribute", "ABSENT", "lambda each: each.value"]),
)
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds(
            lambda name, parts: f"{name}({', '.join(parts)})",
            st.sampled_from(["stash", "through", "a.rather.long.function_name"]),
            st.lists(inner, max_size=4),
        ),
        st.lists(inner, max_size=4).map(lambda parts: f"[{', '.join(parts)}]"),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({', '.join(parts)},)"),
        st.tuples(inner, inner).map(lambda pair: f"{{'key': f({pair[1]})}}"),
        inner.map(lambda each: f"[f(item, {each}) for item in items]"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]} if a is ABSENT else {pair[1]})"),
    ),
    max_leaves=12,
)


def too_long(text):
    return [line for line in text.splitlines() if len(line) > LONG]


def test_what_fits_stays():
    source = 'def f(a: int) -> int:\n    """Says."""\n    return g(a, [1, 2])\n'
    assert lay_out(source) == source


def test_a_long_call_is_broken_at_its_brackets():
    argument = "argument_" * 2 + "xx"
    line = f"    target = make(first={argument}1, second={argument}2, third={argument}3)\n"
    assert lay_out(line) == (
        "    target = make(\n"
        f"        first={argument}1, second={argument}2, third={argument}3\n"
        "    )\n"
    )


def test_parts_that_do_not_fit_on_a_line_stand_on_lines_of_their_own():
    arguments = [f"argument_{n}_with_a_rather_long_name={n}" for n in range(4)]
    laid = lay_out(f"make({', '.join(arguments)})\n")
    assert laid == "make(\n" + "".join(f"    {each},\n" for each in arguments) + ")\n"


def test_a_long_conditional_expression_is_put_in_brackets():
    name = "a_very_long_name_of_something" * 2
    laid = lay_out(f"    value = {name} if condition is ABSENT else {name}\n")
    assert laid == (
        "    value = (\n"
        f"        {name}\n"
        "        if condition is ABSENT\n"
        f"        else {name}\n"
        "    )\n"
    )


def test_docstrings_and_comments_stay_however_long():
    source = f'"""{"word " * 40}"""\n# {"word " * 40}\n'
    assert lay_out(source) == source
    source = f'"""Says.\n\n{"call(a, b) " * 20}\n"""\n'
    assert lay_out(source) == source


def test_a_text_with_three_quotes_is_no_docstring():
    argument = "argument_" * 6
    source = f'name = \'a"""b\'\nmake({argument}, {argument})\n'
    assert not too_long(lay_out(source))


def test_a_text_is_never_broken():
    line = f"    value = {'a, (b)' * 30!r}\n"
    assert lay_out(line) == line


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a, b", ["a", " b"]),
        ("f(a, b), c", ["f(a, b)", " c"]),
        ("'a, b', c", ["'a, b'", " c"]),
        (r"'it\'s, b', c", [r"'it\'s, b'", " c"]),
        ("a,", ["a"]),
        ("", []),
    ],
)
def test_text_is_split_outside_brackets_and_strings(text, parts):
    assert list(split_top(text, ",")) == parts


@given(
    st.builds(
        lambda head, expression: head + expression,
        st.sampled_from(["value = ", "return_value: Any = ", ""]),
        EXPRESSIONS,
    )
)
def test_laying_out_changes_no_meaning_and_is_done_at_once(source):
    laid = lay_out(f"{source}\n")
    assert ast.dump(ast.parse(laid)) == ast.dump(ast.parse(source))
    assert lay_out(laid) == laid


@given(EXPRESSIONS)
def test_a_line_that_is_too_long_has_nothing_left_to_break(expression):
    for line in too_long(lay_out(f"value = call({expression})\n")):
        inner = line.strip().rstrip(",")
        assert not inner.endswith((")", "]", "}")) or len(inner.lstrip("([{")) < len(inner)
