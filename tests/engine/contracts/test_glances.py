"""What is certain at a glance, against the expressions themselves, which yaql's functions compute."""

from dataclasses import replace

import pytest
from amounts import amount
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scenes import World

from trundle.engine import EngineError
from trundle.engine.contracts import Where, compile_contract
from trundle.engine.contracts._contract import Contract
from trundle.engine.expressions import Expression, Format
from trundle.errors import Place

NUMBERS = st.sampled_from(["0", "1", "-1", "2", "65536", "1.5", "-0.5"])
WORDS = st.sampled_from(["small", "large", "'a b'", "''", "'1'", "true", "null"])
CONSTANTS = NUMBERS | WORDS
SUBJECTS = st.sampled_from(["$", "len($)", "$.len()"])
COMPARISONS = st.builds(
    "{} {} {}".format, SUBJECTS, st.sampled_from(["<", "<=", ">", ">=", "=", "!="]), CONSTANTS
) | st.builds("{} {} $".format, CONSTANTS, st.sampled_from(["<", "<=", ">", ">=", "=", "!="]))
MEMBERS = st.builds(
    lambda items, form: f"$ in {form.format(', '.join(items))}",
    st.lists(CONSTANTS, min_size=1, max_size=3),
    st.sampled_from(["[{}]", "list({})"]),
)
CONDITIONS = st.recursive(
    COMPARISONS | MEMBERS,
    lambda inner: (
        st.builds("({}) and ({})".format, inner, inner)
        | st.builds("({}) or ({})".format, inner, inner)
        | st.builds("not ({})".format, inner)
    ),
    max_leaves=3,
)
METHODS = st.sampled_from(["int()", "string()", "bool()", "notNull()"])
CONTRACTS = st.builds(
    lambda before, checks, after: "$." + ".".join(
        [*before, *(f"check({each})" for each in checks), *after]
    ),
    st.lists(METHODS, max_size=2),
    st.lists(CONDITIONS, min_size=1, max_size=2),
    st.lists(METHODS, max_size=1),
)  # fmt: skip
VALUES = (
    st.integers(-3, 3)
    | st.sampled_from([65535, 65536, 65537, 10**30])
    | st.booleans()
    | st.none()
    | st.sampled_from(["", "a", "small", "large", "a b", "1", "7", "abc"])
    | st.sampled_from([0.0, 1.0, 1.5, -0.5])
)


def outcome(contract, value):
    try:
        found = contract.transform(value, World())
    except EngineError as error:
        return str(error)
    return (type(found), found)


NEWEST = Format(1, 4)


def compiled(text, format_=NEWEST):
    code = Expression(text, Place(line=1))
    return compile_contract(code, format_=format_, where=Where("a.App", "p"))


@settings(max_examples=amount(300))
@example("$.int().notNull().check($ > 0 and $ < 65536)", 65535, NEWEST)
@example("$.int().check($ != true)", 1, NEWEST)
@example("$.int().check($ in list(true, 2))", 1, NEWEST)
@example("$.string().check(len($) < 2)", "ab", NEWEST)
@given(CONTRACTS, VALUES, st.sampled_from([Format(1, 0), Format(1, 4)]))
def test_what_is_taken_at_a_glance_is_what_the_expression_gives(text, value, format_):
    contract = compiled(text, format_)
    plain = Contract(replace(contract.part, glances={}, kept=frozenset()), contract.where)
    assert outcome(contract, value) == outcome(plain, value)
    if contract.keeps(value):
        assert outcome(plain, value) == (type(value), value)


@pytest.mark.parametrize(
    ("text", "value", "is_taken"),
    [
        ("$.int().notNull().check($ > 0 and $ < 65536)", 8080, True),
        ("$.int().notNull().check($ > 0 and $ < 65536)", 0, False),
        ("$.string().check($ in list(small, large))", "large", True),
        ("$.string().check($ in list(small, large))", "larger", False),
        ("$.string().check(len($) <= 3)", "abc", True),
        ("$.string().check($ = a or $ = b)", "b", True),
        ("$.int().check($ != 0)", 5, True),
        ("$.int().check($ > 0)", True, False),
        ("$.int().check($ mod 2 = 0)", 2, False),
        ("$.string().check($ =~ 'a+')", "a", False),
    ],
)
def test_what_most_checks_ask_is_known_at_a_glance(text, value, is_taken):
    assert compiled(text).keeps(value) is is_taken
