"""What is read off two contracts agrees with what they make of values: an oracle that tries each contract with many values."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenes import Thing, Type, World

from trundle.engine import EngineError
from trundle.engine.contracts import Where, compile_contract, differences, takes_null
from trundle.engine.expressions import Format, FrozenDict, freeze, read_code

BASE = Type("a.Base")
DERIVED = Type("a.Derived", "1.2.0", [BASE])
OTHER = Type("a.Other")
THIS = Thing(OTHER, "this")
OBJECTS = [
    Thing(BASE, "base"),
    Thing(DERIVED, "derived", THIS),
    Thing(OTHER, "other"),
    Thing(DERIVED, "free"),
    Thing(BASE, "kept", THIS),
]
TYPES = {"Base": BASE, "Derived": DERIVED, "Other": OTHER}

CONTRACTS = """
$
$.notNull()
$.check($ != null)
$.string()
$.string().notNull()
$.string().check(len($) > 1)
$.string().check($.len() >= 2 and len($) < 4)
$.string().check($ in list(ab, abc))
$.string().check($ = ab or $ in [abc, x])
$.string().check($ != ab)
$.string().check(not $ in list(ab, x))
$.string().check($ =~ '^a')
$.string().check($ =~ '^a' and len($) > 1)
$.int()
$.notNull().int()
$.int().notNull()
$.int().check($ > 0)
$.int().check($ >= 1)
$.int().check(0 < $)
$.int().check($ > 0).check($ <= 2)
$.int().check($ in [1, 2])
$.int().check($ != 0)
$.int().check($ in list(1, 5, null))
$.int() or 7
$.bool()
$.bool().notNull()
$.class(Base)
$.class(Base).notNull()
$.class(Derived)
$.class(Other)
$.class(Base).owned()
$.class(Base).notOwned()
$.template(Base)
[]
[$]
[$.int()]
[$.int(), 1]
[$.int(), 1, 2]
[$.int(), 0, 1]
[$.int().notNull()]
[$.string()]
[$.int(), $.string()]
[$.int(), $.bool()]
[[$.int()]]
{}
"{a: $.int()}"
"{a: $.int().notNull()}"
"{a: $.string()}"
"{a: $.int(), b: $.string()}"
"{a: $.int(), b: $.string().notNull()}"
"{a: $.int(), $.string(): $}"
"{$.string(): $.int()}"
"{$.string(): $}"
"{$: $}"
"{$.string().notNull(): $.int().notNull()}"
5
'''x'''
"""
TEXTS = [each.strip().strip('"') for each in CONTRACTS.strip().splitlines()]
TEXTS = ["'x'" if each == "'''x'''" else each for each in TEXTS]

SCALARS = [
    None,
    True,
    False,
    0,
    1,
    2,
    5,
    -3,
    1.5,
    "",
    "1",
    "x",
    "a",
    "xyz",
    "ab",
    "abc",
    "abcde",
    "base",
    *OBJECTS,
]
VALUES = [
    *SCALARS,
    [],
    *([each] for each in SCALARS),
    [1, 2],
    [1, "x"],
    [1, 5, 5],
    [None, 1],
    [[1]],
    [["x"]],
    {},
    *({"a": each} for each in SCALARS),
    *({"b": each} for each in (None, 1, "x")),
    {"a": 1, "b": "x"},
    {"a": 1, "b": []},
    {5: 1},
    {None: 1},
    {1.5: 1},
    {"a": []},
]
REFUSED = object()


class Known:
    """Classes by name."""

    def before(self, name):
        return f"a.{name}"

    now = before

    def descends(self, child, parent):
        return (child, parent) == ("a.Derived", "a.Base") or child == parent

    def covers(self, versions, others):
        return None


def compiled(text):
    (code,) = read_code(text, "Classes/App.yaml")
    return compile_contract(code, format_=Format(1, 4), where=Where("a.App", "p"))


def tried(contract, value):
    """What a contract makes of a value; what objects are made of maps is their class."""
    scene = World(THIS, TYPES, {each.id: each for each in OBJECTS})
    try:
        found = contract.transform(value, scene)
    except EngineError:
        return REFUSED
    return known(found)


def known(value):
    """A value in which objects that were made of maps are equal if their classes are."""
    if isinstance(value, FrozenDict):
        return FrozenDict({key: known(each) for key, each in value.items()})
    if isinstance(value, tuple):
        return tuple(map(known, value))
    is_made = isinstance(value, Thing) and all(value is not each for each in OBJECTS)
    return value.type.name if is_made else value


def is_dropped(value, made):
    """Whether a contract drops keys of a map."""
    return isinstance(value, FrozenDict) and isinstance(made, FrozenDict) and set(value) - set(made)


def is_unlike(one, other):
    return type(one) is not type(other) or one != other


@pytest.fixture(scope="module")
def read_off(outcomes):
    """What is read off each pair of contracts."""
    contracts, _, _ = outcomes
    return {
        (ours, theirs): differences(contracts[ours], contracts[theirs], Known())
        for ours, theirs in itertools.product(TEXTS, TEXTS)
    }


@pytest.fixture(scope="module")
def outcomes():
    contracts = {text: compiled(text) for text in TEXTS}
    values = [freeze(each) for each in VALUES]
    return (
        contracts,
        values,
        {text: [tried(each, value) for value in values] for text, each in contracts.items()},
    )


@pytest.mark.full
def test_what_is_read_off_contracts_is_what_they_do(outcomes, read_off):
    _, values, made = outcomes
    wrong = []
    for (ours, theirs), found in read_off.items():
        effects = {each.effect for each in found}
        cases = list(zip(values, made[ours], made[theirs], strict=True))
        refused = [
            value
            for value, old, new in cases
            if old is not REFUSED and new is REFUSED and not is_dropped(value, old)
        ]
        others = [value for value, old, new in cases if new is not REFUSED and is_unlike(old, new)]
        if refused and not effects & {"refused", "turned", "unclear"}:
            wrong.append(("accepted before and refused now, unseen", ours, theirs, refused[0]))
        if others and not found:
            wrong.append(("another outcome, unseen", ours, theirs, others[0]))
        if "refused" in effects and not refused:
            wrong.append(("said to be refused, and is not", ours, theirs, found))
        if effects == {"admitted"} and not others:
            wrong.append(("said to be accepted, and is not", ours, theirs, found))
        if "turned" in effects and not (others or refused):
            wrong.append(("said to become another, and does not", ours, theirs, found))
    assert wrong == []


def test_what_cannot_be_read_off_is_the_exception(read_off):
    unclear = [
        pair for pair, found in read_off.items() if any(each.effect == "unclear" for each in found)
    ]
    strange = (
        "$.string().check($ =~ '^a' and len($) > 1)",
        "$.string().check($ =~ '^a')",
        "$.int() or 7",
        "5",
        "'x'",
    )
    assert [pair for pair in unclear if not set(pair) & set(strange)] == []


def test_null_is_accepted_where_the_structure_says_so(outcomes):
    contracts, _, made = outcomes
    for text, contract in contracts.items():
        said = takes_null(contract, lambda name: f"a.{name}")
        assert said is None or said == (made[text][0] is not REFUSED), text
    unknown = [text for text, each in contracts.items() if takes_null(each, str) is None]
    assert unknown == ["$.string().check($ =~ '^a')"]


ATOMS = st.sampled_from(
    [
        "$",
        "$.notNull()",
        "$.int()",
        "$.int().notNull()",
        "$.string()",
        "$.bool()",
        "$.int().check($ > 0)",
        "$.int().check($ = 1 or $ = 2)",
        "$.class(Base)",
        "$.class(Derived)",
    ]
)
NESTED = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds(
            lambda items, rest: f"[{', '.join([*items, *rest])}]",
            st.lists(inner, min_size=1, max_size=2),
            st.sampled_from([[], ["1"], ["0", "2"]]),
        ),
        st.builds(lambda a: f"{{a: {a}}}", inner),
        st.builds(lambda a, b: f"{{a: {a}, b: {b}}}", inner, inner),
        st.builds(lambda a, b: f"{{a: {a}, $.string(): {b}}}", inner, inner),
        st.builds(lambda a: f"{{$.string(): {a}}}", inner),
    ),
    max_leaves=4,
)
PLAIN = st.sampled_from([None, True, 0, 1, 5, "1", "x", {}, [], 1.5, OBJECTS[0], OBJECTS[1]])
DEEP = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=6,
)


def keeps(value, made):
    """Whether a contract kept all keys of all maps in a value."""
    if isinstance(value, FrozenDict):
        if not isinstance(made, FrozenDict):
            return True
        return set(value) <= set(made) and all(keeps(value[key], made[key]) for key in value)
    if isinstance(value, tuple) and isinstance(made, tuple):
        return all(map(keeps, value, made))
    if isinstance(made, tuple) and len(made) == 1:
        return keeps(value, made[0])
    return True


@given(before=NESTED, now=NESTED, values=st.lists(DEEP, min_size=5, max_size=40))
def test_what_nested_contracts_refuse_is_seen(before, now, values):
    one, other = compiled(before), compiled(now)
    effects = {each.effect for each in differences(one, other, Known())}
    assert "unclear" not in effects
    for value in map(freeze, values):
        old, new = tried(one, value), tried(other, value)
        if old is not REFUSED and new is REFUSED and keeps(value, old):
            assert effects & {"refused", "turned"}, (before, now, value)
        if new is not REFUSED and is_unlike(old, new):
            assert effects, (before, now, value)


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ("$.int()", "$.int().check($ > 0)", ["refused null", "refused values that fail `$ > 0`"]),
        (
            "$.class(Base)",
            "$.class(Derived)",
            ["refused objects of a.Base that are none of a.Derived"],
        ),
        ("$.class(Derived)", "$.class(Base)", ["admitted objects of a.Base"]),
        (
            "[$.int()]",
            "[$.int(), 1, 3]",
            ["refused empty lists", "refused lists of more than 3 items"],
        ),
        (
            "{a: [$]}",
            "{a: [$.int()]}",
            ["refused values that are no integers in the list under the key 'a'"],
        ),
        (
            "[$.int()]",
            "[$.class(Base)]",
            ["turned values in the list become objects, not integers"],
        ),
        (
            "{k: {a: $}}",
            "{k: {b: $}}",
            [
                "turned the key 'a' under the key 'k' is dropped",
                "admitted the key 'b', which is always there under the key 'k'",
            ],
        ),
        ("[$, 0, 2]", "[$, 0, 1]", ["refused lists of more than one item"]),
        ("{a: $, b: $}", "{a: $}", ["turned the key 'b' is dropped"]),
        ("{a: $}", "{a: $, b: $}", ["admitted the key 'b', which is always there"]),
        ("$.int()", "$.string()", ["turned values become text, not integers"]),
        ("$.int() or 5", "$.int() or 6", ["unclear what empty values become: 6"]),
        (
            "$.int().check($ > 1)",
            "$.int().check($ > $this.x)",
            ["unclear whether null is accepted", "unclear what the checks accept"],
        ),
        (
            "$.class(Base, versionSpec => '1')",
            "$.class(Base)",
            ["unclear which versions of a.Base are accepted"],
        ),
        ("$.string( )", "$.string()", []),
    ],
)
def test_differences_are_in_words(before, now, expected):
    found = differences(compiled(before), compiled(now), Known())
    assert [f"{effect} {text}" for effect, text in found] == expected
