"""Contracts that no value satisfies are found by reading them: what is found so takes none of many values."""

import pytest
from amounts import amount
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scenes import Thing, Type, World
from test_glances import CONDITIONS, VALUES, compiled

from trundle.engine import EngineError, check
from trundle.engine.contracts import Where, compile_contract
from trundle.engine.contracts._impossible import impossible, refused
from trundle.engine.expressions import Format, FrozenDict, freeze, read_code
from trundle.packages import Package

BASE = Type("a.Base")
THIS = Thing(BASE, "this")
OBJECTS = (Thing(BASE, "base"), Thing(BASE, "owned", THIS))
METHODS = st.sampled_from(
    ["int()", "string()", "bool()", "notNull()", "class(Base)", "owned()", "notOwned()"]
) | CONDITIONS.map("check({})".format)
CONTRACTS = st.lists(METHODS, min_size=1, max_size=5).map(lambda each: "$." + ".".join(each))
SAMPLES = (
    *OBJECTS, None, True, False, 0, 1, -1, 2, 3, 5, 65536, 1.5, -0.5, 1.0, "", "1", "a", "a b", "small",
    "large", "true", "null", "base", "owned", (), (1, 2), FrozenDict({}), FrozenDict({"a": 1, "b": 2}),
)  # fmt: skip


def taken(contract, value):
    world = World(THIS, {"Base": BASE}, {each.id: each for each in OBJECTS})
    try:
        contract.transform(freeze(value), world)
    except EngineError:
        return False
    return True


@settings(max_examples=amount(400))
@example("$.bool().check($ = 1)", 0)
@example("$.int().check($ = 1.0)", 0)
@example("$.check($ = 1).string().check($ = '1')", 0)
@example("$.check($ > 0).string()", 0)
@example("$.class(Base).string().class(Base).owned()", 0)
@example("$.check(len($) > 1)", 0)
@example("$.check((0 < $) and ($ in [true]))", 0)
@given(CONTRACTS, VALUES)
def test_a_contract_that_is_found_takes_no_value(text, value):
    contract = compiled(text)
    for found in impossible(contract):
        for each in (*SAMPLES, value):
            if each is not None or not found.takes_null:
                assert not taken(contract, each), (text, each)


@pytest.mark.parametrize(
    ("text", "nulls"),
    [
        ("$.int().check($ > 3 and $ < 2)", [False]),
        ("$.int().check($ > 3 and $ < 4)", [False]),
        ("$.check($ >= 3).check(3 > $)", [False]),
        ("$.string().check(false)", [False]),
        ("$.string().check($ > 3)", [False]),
        ("$.string().check(len($) < 0)", [False]),
        ("$.int().check(len($) > 3)", [False]),
        ("$.string().check($ in list(a, b)).check($ = c)", [False]),
        ("$.string().check($ in list(1, 2))", [False]),
        ("$.check($ in list())", [False]),
        ("$.notNull().check($ = null)", [False]),
        ("$.class(Base).check($ = 3)", [False]),
        ("$.int().class(Base)", [True]),
        ("$.class(Base).int()", [True]),
        ("$.owned().notOwned()", [True]),
        ("$.string().owned()", [True]),
        ("[$.int().check(false), 2, 3]", [False]),
        ("{a: $.int().check(false), $.int().check(false): $.int().class(Base)}", [False] * 2 + [True]),
        ("$.int().check($ > 3 and $ < 5)", []),
        ("$.check($ > 3 and $ < 4)", []),
        ("$.int().check($ = 1.0)", []),
        ("$.bool().check($ = 1)", []),
        ("$.check($ = 1).string().check($ = '1')", []),
        ("$.class(Base).string()", []),
        ("$.check(len($) > 2)", []),
        ("$.check(false) or 3", []),
    ],
)  # fmt: skip
def test_which_contracts_are_found(text, nulls):
    (code,) = read_code(text, "A.yaml")
    contract = compile_contract(code, format_=Format(1, 4), where=Where("a.App", "p"))
    assert [each.takes_null for each in impossible(contract)] == nulls


def test_a_check_of_a_package_warns_of_them():
    text = """\
Namespaces: {=: a}
Name: A
Properties:
  size: {Contract: $.int().check($ > 3 and $ < 2)}
  sizes:
    Contract:
      - $.int().class(A)
Methods:
  run:
    Arguments:
      - given: {Contract: $.string().check(false)}
    Body: {Return: $given}
"""
    manifest = "Format: 1.4\nType: Library\nFullName: a\nVersion: 1.0.0\nClasses: {a.A: A.yaml}\n"
    package = Package.from_files({"manifest.yaml": manifest, "Classes/A.yaml": text})
    found = check([package])
    assert [(each.severity, each.place.line) for each in found] == [
        ("warning", 4),
        ("warning", 7),
        ("warning", 11),
    ]
    assert "found `$.int().check($ > 3 and $ < 2)`, which no value satisfies; correct" in str(
        found[0]
    )
    assert "`$.int().class(A)`, which nothing but null satisfies" in str(found[1])


@settings(max_examples=amount(400))
@example("$.bool()", "$.int()", True)
@example("$.int()", "$.check($ = 1)", True)
@example("1", "$.check($ = 1.0)", 1)
@given(CONTRACTS, CONTRACTS, VALUES)
def test_what_an_ancestor_is_found_to_refuse_it_refuses(text, inherited, value):
    own, other = compiled(text), compiled(inherited)
    takes_null = refused(own, other)
    if takes_null is None:
        return
    world = World(THIS, {"Base": BASE}, {each.id: each for each in OBJECTS})
    for each in (*SAMPLES, value):
        try:
            made = own.transform(freeze(each), world)
        except EngineError:
            continue
        if made is not None or not takes_null:
            with pytest.raises(EngineError):
                other.validate(made, world)


@pytest.mark.parametrize(
    ("text", "inherited", "takes_null"),
    [
        ("$.string()", "$.int()", True),
        ("$.string().notNull()", "$.int()", False),
        ("$.bool()", "$.int()", True),
        ("$.class(Base)", "$.string()", True),
        ("$.int().check($ > 5)", "$.int().check($ < 3)", False),
        ("$.int().check($ < 3)", "$.check($ > 1).int().check($ = 7)", False),
        ("$.class(Base).owned()", "$.class(Base).notOwned()", True),
        ("$.class(Base)", "$.int().owned()", True),
        ("[$.int()]", "$.int()", False),
        ("{a: $.int()}", "[$.int()]", False),
        ("[$.int()]", "{}", False),
        ("'a'", "$.int()", False),
        ("5", "$.int().check($ > 9)", False),
        ("true", "$.int()", False),
        ("'a'", "'b'", False),
        ("[$.int()]", "$.check($ = 3)", False),
        ("5", "$.check($ > 4)", None),
        ("1.5", "$.check($ > 1)", None),
        ("$.string()", "$", None),
        ("$", "$.string()", None),
        ("$.int().string()", "$.string()", None),
        ("$.template(Base)", "{}", None),
        ("$.template(Base)", "$.class(Base)", None),
        ("[$.int()]", "[$.string()]", None),
        ("$.int() or 3", "$.string()", None),
        ("$.int().check($ > 1)", "$.check($ < 9)", None),
    ],
)
def test_which_contracts_an_ancestor_refuses(text, inherited, takes_null):
    own, other = (
        compile_contract(code, format_=Format(1, 4), where=Where("a.App", "p"))
        for each in (text, inherited)
        for code in read_code(each, "A.yaml")
    )
    assert refused(own, other) is takes_null


def test_a_check_of_a_package_warns_of_what_an_ancestor_refuses():
    text = """\
Namespaces: {=: a}
Name: A
Properties:
  n: {Contract: $.int()}
  s: {Contract: $.int(), Usage: Static}
  fits: {Contract: $.string()}
---
Name: B
Extends: A
---
Name: C
Extends: B
Properties:
  n: {Contract: $.string()}
  s: {Contract: $.string(), Usage: Static}
  fits: {Contract: $.string().notNull()}
"""
    manifest = "Format: 1.4\nType: Library\nFullName: a\nVersion: 1.0.0\nClasses: {a.A: A.yaml, a.B: A.yaml, a.C: A.yaml}\n"
    (found,) = check([Package.from_files({"manifest.yaml": manifest, "Classes/A.yaml": text})])
    assert (found.severity, found.place.line) == ("warning", 14)
    assert (
        "expected a contract that fits that of n in a.A/1.0.0@a, at Classes/A.yaml:4, found one of which it takes nothing but null; make both contracts take the same values"
        in str(found)
    )
