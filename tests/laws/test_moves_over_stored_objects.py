"""What is written over a stored object keeps the objects that hold nothing but what stands beside them elsewhere."""

import itertools

import pytest
from amounts import some_of
from evolving import Store, evolve, forget, rules, thing

from trundle.evolution import NamedConversion

SECONDS = NamedConversion(name="duration-to-seconds")
V1, V2, V3 = "2020-01-01", "2021-01-01", "2022-01-01"


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


EMPTY_BESIDE = [
    ({"d": {"p": "1"}, "o": {}}, {"o": {}}),
    ({"d": {"p": "1"}, "o": {"s": {}}}, {}),
    ({"d": {"p": "1", "q": "2"}, "o": {}}, {"d": {"q": "2"}, "o": {}}),
    ({"d": {}, "o": {"s": {"x": "1"}}}, {"d": {}}),
]


@pytest.mark.parametrize(("stored", "left"), EMPTY_BESIDE, ids=str)
def test_an_object_that_was_written_empty_stays_when_what_it_could_hold_is_removed(
    forgetting, stored, left
):
    made = forgetting(
        evolve(
            {
                V1: {"Thing": {"s": "S"}, "S": {"x": "string", "p": "string"}},
                V2: {
                    "Thing": {"o": "O", "d": "D"},
                    "O": {"s": "S"},
                    "S": {"x": "string"},
                    "D": {"p": "string", "q": "string"},
                },
            },
            rules(V1, move={"s": "o.s", "s.p": "d.p"}),
        )
    )
    before = made.put(V2, thing(V2, **stored))
    assert "s" in made.read(V1, before)
    after = made.put(V1, thing(V1), before)
    assert made.read(V1, after) == thing(V1)
    assert made.read(V2, after) == thing(V2, **left)


def test_what_is_hidden_in_an_object_goes_with_it_although_another_version_has_it_elsewhere(
    forgetting,
):
    made = forgetting(
        evolve(
            {
                V1: {"Thing": {"a": "string?", "n": "string"}},
                V2: {"Thing": {"o": "O"}, "O": {"a": "string", "b": "string"}},
            },
            rules(V1, move={"a": "o.a"}),
        )
    )
    before = made.put(V1, thing(V1, a=None, n="1"))
    assert made.read(V2, before) == thing(V2, o={})
    kept = made.put(V2, thing(V2, o={"b": "2"}), before)
    assert made.read(V1, kept) == thing(V1, a=None, n="1")
    after = made.put(V2, thing(V2), before)
    assert made.read(V2, after) == thing(V2)
    assert made.read(V1, after) == thing(V1, n="1")


@pytest.mark.parametrize("path", [("o",), ("o", "q")], ids=".".join)
def test_what_a_rule_keeps_of_an_object_goes_with_it(forgetting, path):
    *outer, last = path

    def hold(held):
        for name in reversed(path):
            held = {name: held}
        return held

    def version(kind, other):
        inner = {"b": kind, other: "string"}
        outer_type = {"O": {last: "I", "k": "string"}} if outer else {}
        return {"Thing": {"o": "O" if outer else "I", "n": "string"}, **outer_type, "I": inner}

    made = forgetting(
        evolve(
            {V1: version("string", "c"), V2: version("integer", "d")},
            rules(V1, convert={".".join((*path, "b")): "duration-to-seconds"}),
        )
    )
    before = made.put(V1, thing(V1, n="1", **hold({"b": "", "c": ""})))
    shown = made.read(V2, before)
    assert shown == thing(V2, n="1", **hold({}))
    kept = made.put(V2, thing(V2, n="2", **hold({"d": "3"})), before)
    assert made.read(V1, kept) == thing(V1, n="2", **hold({"b": "", "c": ""}))
    for removed in (thing(V2, n="1"), thing(V2)):
        after = made.put(V2, removed, before)
        assert made.read(V2, after) == removed
        assert made.read(V1, after) == {**removed, "apiVersion": V1}
        assert "$propertyBag" not in after


def test_an_object_that_a_client_empties_stays_where_a_rule_moves_within_it(forgetting):
    scheme = forgetting(
        evolve(
            {
                V1: {"Thing": {"o": "O"}, "O": {"a": "string", "b": "string"}},
                V2: {"Thing": {"o": "O"}, "O": {"q": "Q", "b": "string"}, "Q": {"a": "string"}},
            },
            rules(V1, move={"o.a": "o.q.a"}),
        )
    )
    stored = scheme.put(V2, thing(V2, o={"b": "x", "q": {}}))
    written = scheme.put(V1, thing(V1, o={}), stored)
    assert scheme.read(V1, written) == thing(V1, o={})


def test_an_empty_object_within_another_shows_the_other_where_its_content_moves(forgetting):
    scheme = forgetting(
        evolve(
            {
                V1: {
                    "Thing": {"st": "St"},
                    "St": {"ru": "Ru", "k": "string"},
                    "Ru": {"s": "string"},
                },
                V2: {"Thing": {"s": "string", "st": "St"}, "St": {"z": "string"}},
            },
            rules(V1, move={"st.ru.s": "s"}),
        )
    )
    for st in ({}, {"k": "x"}, {"ru": {}}):
        assert scheme.convert(thing(V1, st=st), to=V2) == thing(V2, st={})


def of_free(inside, own):
    """An object that was free-form data, in another one or not, under a name of its own, and into which a rule moves something."""
    old, new, newer = {own: "any"}, {"o": "Other"}, {"a": "string", "b": "string", "d": "string"}
    renames = {} if own == "o" else {own: "o"}
    types = {"Other": {"a": "string", "b": "string"}}
    if inside:
        versions = {
            V1: {"Thing": {"q": "Holder", "x": "string"}, "Holder": old},
            V2: {"Thing": {"q": "Holder"}, "Holder": new, **types},
            V3: {"Thing": {"q": "Holder"}, "Holder": new, "Other": newer},
        }
        return evolve(
            versions,
            rules(V1, move={"x": "q.o.a"}),
            *([rules(V1, "Holder", rename=renames)] if renames else []),
        )
    versions = {
        V1: {"Thing": {**old, "x": "string"}},
        V2: {"Thing": new, **types},
        V3: {"Thing": new, "Other": newer},
    }
    return evolve(versions, rules(V1, rename=renames, move={"x": "o.a"}))


@pytest.fixture(
    scope="module",
    params=itertools.product([False, True], ["o", "p"]),
    ids=["outside", "outside, renamed", "inside", "inside, renamed"],
)
def free(request):
    inside, own = request.param
    made = of_free(inside, own)

    def document(version, **properties):
        called = own if version == V1 else "o"
        held = {called: properties.pop("o")} if "o" in properties else {}
        return thing(version, **({"q": held} if inside else held), **properties)

    yield made, document
    forget(made)


@pytest.mark.parametrize("beside", [{}, {"b": "B"}], ids=str)
@pytest.mark.parametrize(
    "written", [{"z": 1}, {"a": 1.5}, {"b": {"c": []}}, {"b": "B", "z": None}], ids=str
)
def test_an_object_that_others_cannot_express_removes_nothing_that_its_writer_does_not_see(
    free, beside, written
):
    scheme, document = free
    stored = scheme.put(V3, document(V3, o={"a": "A", "d": "D", **beside}))
    assert scheme.read(V1, stored) == document(V1, o=beside, x="A")
    after = scheme.put(V1, document(V1, o=written, x="A"), stored)
    assert scheme.read(V1, after) == document(V1, o=written, x="A")
    assert scheme.read(V3, after) == document(V3, o={"a": "A", "d": "D"})
    edited = scheme.put(V3, document(V3, o={"a": "A", "d": "other"}), after)
    assert scheme.read(V1, edited) == document(V1, o=written, x="A")
    back = scheme.put(V1, document(V1, o={"b": "new"}, x="A"), edited)
    assert scheme.read(V3, back) == document(V3, o={"a": "A", "b": "new", "d": "other"})


@pytest.mark.parametrize("written", [{}, {"o": None}, {"o": 5}, {"o": [{"d": 1}]}], ids=str)
def test_what_is_no_object_removes_the_stored_one(free, written):
    scheme, document = free
    stored = scheme.put(V3, document(V3, o={"a": "A", "b": "B", "d": "D"}))
    after = scheme.put(V1, document(V1, **written, x="A"), stored)
    assert scheme.read(V1, after) == document(V1, **written, x="A")
    assert scheme.read(V3, after) == document(V3, o={"a": "A"})


@pytest.mark.parametrize(
    ("older", "newer", "said", "written", "shown"),
    [
        (["Gold"], ["au"], {"values": {"k": {"Gold": "au"}}}, "Gold", "au"),
        ("string", "integer", {"convert": {"k": SECONDS}}, "PT1M", 60),
        ("string", "string", {}, "as it is", "as it is"),
    ],
    ids=["values", "seconds", "text"],
)
def test_what_moves_into_an_object_stays_where_its_writer_removes_the_object(
    store, older, newer, said, written, shown
):
    """The writer has it outside of the object, perhaps as another value."""
    enums = {name: each for name, each in (("L", older), ("M", newer)) if isinstance(each, list)}
    one, other = "L" if "L" in enums else older, "M" if "M" in enums else newer
    x = store(
        {
            V1: {"Thing": {"k": one, "p": "P"}, "P": {"r": "string"}, **enums},
            V2: {"Thing": {"p": "P"}, "P": {"k": other, "r": "string"}, **enums},
        },
        rules(V1, move={"k": "p.k"}, **said),
    )
    assert x.put(V2, p={"r": "1"}).put(V1, k=written).read(V2) == {"p": {"k": shown}}
    assert x.put(V2, p={"k": shown, "r": "1"}).put(V1, k=written).read(V2) == {"p": {"k": shown}}
    assert x.put(V1).read(V2) == {}


EMPTIED = {
    "beside what another version has outside": (
        {
            V1: {"Thing": {"q": "Q", "o": "O"}, "O": {"s": "S"}, "S": {}, "Q": {"l": "string"}},
            V2: {"Thing": {"o": "O"}, "O": {"s": "S"}, "S": {"k": "string", "l": "string"}},
        },
        (rules(V1, move={"q.l": "o.s.l"}),),
        V2,
        [(V2, {"o": {"s": {"k": "a", "l": "z"}}}), (V1, {"o": {}, "q": {"l": "y"}})],
    ),
    "beside what a later version has outside": (
        {
            V1: {"Thing": {"q": "Q"}, "W": {}, "Q": {"w": "W"}},
            V2: {"Thing": {"q": "Q"}, "W": {}, "Q": {"w": "W", "l": "string"}},
            V3: {"Thing": {"o": "O"}, "O": {"l": "string"}},
        },
        (rules(V2, move={"q.l": "o.l"}),),
        V2,
        [(V2, {"q": {"w": {}, "l": "x"}}), (V1, {"q": {}})],
    ),
    "of what versions between do not have": (
        {
            V1: {"Thing": {"p": "P"}, "U": {}, "P": {"u": "U", "s": "S"}, "S": {"l": "string"}},
            V2: {"Thing": {"p": "P"}, "P": {"l": "string"}},
            V3: {"Thing": {"p": "P"}, "U": {}, "P": {"u": "U"}},
        },
        (rules(V1, move={"p.s.l": "p.l"}),),
        V1,
        [(V1, {"p": {"s": {"l": "y"}, "u": {}}}), (V3, {"p": {}})],
    ),
    "and something else moves within": (
        {
            V1: {"Thing": {"o": "O"}, "T": {"k": "string", "l": "string"}, "O": {"t": "T"}},
            V2: {"Thing": {"o": "O", "l": "string"}, "O": {"k": "string"}},
        },
        (rules(V1, move={"o.t.k": "o.k", "o.t.l": "l"}),),
        V1,
        [(V1, {"o": {"t": {"k": "z"}}}), (V2, {"l": "x", "o": {}})],
    ),
    "of what the bag keeps": (
        {
            V1: {"Thing": {"q": "Q", "o": "O"}, "O": {"k": "string"}, "Q": {"l": "string"}},
            V2: {
                "Thing": {"o": "O", "q": "Q"},
                "O": {"l": "string"},
                "Q": {"w": "W"},
                "W": {"k": "string"},
            },
        },
        (rules(V1, move={"o.k": "q.w.k", "q.l": "o.l"}),),
        V1,
        [(V2, {"q": {"w": {}}}), (V1, {"q": {"l": "y"}}), (V2, {"o": {"l": "y"}, "q": {}})],
    ),
}


@pytest.mark.parametrize("case", EMPTIED.values(), ids=EMPTIED)
def test_an_object_that_its_writer_empties_is_there_to_it(store, case):
    versions, changes, hub, writes = case
    x = store(versions, *changes, hub=hub)
    for version, written in writes:
        assert x.put(version, **written).read(version) == written


def test_what_others_have_within_an_object_goes_with_it_although_its_writer_does_not_see_that(
    store,
):
    x = store(
        {
            V1: {"Thing": {"o": "O"}, "O": {"s": "S"}, "S": {"l": "string"}},
            V2: {"Thing": {"o": "O", "l": "string"}, "O": {}},
            V3: {"Thing": {"o": "O"}, "O": {"s": "S", "l": "string"}, "S": {}},
        },
        rules(V1, move={"o.s.l": "l"}),
        rules(V2, move={"l": "o.l"}),
    )
    assert x.put(V1, o={"s": {}}).put(V2, l="x").read(V2) == {"l": "x"}
    assert x.read(V3) == {"o": {"l": "x"}}
    assert x.read(V1) == {"o": {"s": {"l": "x"}}}


REMOVED = {
    "a later version has it outside": (
        {
            V1: {"Thing": {"p": "P"}, "P": {"k": "string"}},
            V2: {"Thing": {"p": "P"}, "P": {"l": "string", "k": "string"}},
            V3: {"Thing": {"l": "string", "k": "string"}},
        },
        (rules(V2, move={"p.l": "l", "p.k": "k"}),),
        [(V3, {"l": "x", "k": "z"}), (V1, {})],
        [{}, {"p": {"l": "x"}}, {"l": "x"}],
    ),
    "a version between has it in another object": (
        {
            V1: {"Thing": {"o": "O"}, "O": {"s": "S"}, "S": {"l": "string"}},
            V2: {"Thing": {"p": "P"}, "P": {"l": "string"}},
            V3: {"Thing": {"o": "O"}, "O": {}},
        },
        (rules(V1, move={"o.s.l": "p.l"}),),
        [(V3, {"o": {}}), (V2, {"p": {"l": "y"}}), (V3, {})],
        [{"o": {"s": {"l": "y"}}}, {"p": {"l": "y"}}, {}],
    ),
    "another version has it beside the object": (
        {
            V1: {"Thing": {"o": "O"}, "O": {"s": "S"}, "S": {"z": "Z"}, "Z": {"l": "string"}},
            V2: {"Thing": {"o": "O"}, "O": {"s": "S", "l": "string"}, "S": {}},
            V3: {"Thing": {"o": "O"}, "O": {"s": "S"}, "S": {}},
        },
        (rules(V1, move={"o.s.z.l": "o.l"}),),
        [(V2, {"o": {"s": {}, "l": "y"}}), (V3, {"o": {}})],
        [{"o": {"s": {"z": {"l": "y"}}}}, {"o": {"l": "y"}}, {"o": {}}],
    ),
    "the client has something else in the object around it": (
        {
            V1: {
                "Thing": {"k": "string", "p": "P", "q": "Q"},
                "P": {"l": "string"},
                "Q": {"w": "W"},
                "W": {},
            },
            V2: {"Thing": {"k": "string", "q": "Q"}, "Q": {"w": "W"}, "W": {"l": "string"}},
            V3: {"Thing": {"q": "Q"}, "Q": {"w": "W", "k": "string"}, "W": {}},
        },
        (rules(V1, move={"p.l": "q.w.l"}), rules(V2, move={"k": "q.k"})),
        [(V1, {"p": {"l": "z"}, "q": {"w": {}}}), (V3, {"q": {"k": "y"}})],
        [{"k": "y", "p": {"l": "z"}}, {"k": "y", "q": {"w": {"l": "z"}}}, {"q": {"k": "y"}}],
    ),
    "the client has something else of the object elsewhere": (
        {
            V1: {
                "Thing": {"o": "O"},
                "O": {"s": "S", "t": "T"},
                "S": {"z": "Z"},
                "T": {"m": "string"},
                "Z": {"l": "string"},
            },
            V2: {"Thing": {"p": "P"}, "P": {"l": "string", "m": "string", "n": "string"}},
            V3: {
                "Thing": {"o": "O", "p": "P"},
                "O": {"s": "S"},
                "S": {"n": "string"},
                "P": {"m": "string"},
            },
        },
        (
            rules(V1, move={"o.s.z.l": "p.l", "o.t.m": "p.m"}),
            rules(V2, move={"p.n": "o.s.n"}),
        ),
        [(V2, {"p": {"l": "x", "m": "0", "n": "y"}}), (V3, {"p": {"m": "0"}})],
        [
            {"o": {"s": {"z": {"l": "x"}}, "t": {"m": "0"}}},
            {"p": {"l": "x", "m": "0"}},
            {"p": {"m": "0"}},
        ],
    ),
    "a version between does not have the object": (
        {
            V1: {"Thing": {"o": "O"}, "O": {}},
            V2: {"Thing": {"m": "string"}},
            V3: {"Thing": {"o": "O"}, "O": {"s": "S"}, "S": {"l": "string", "m": "string"}},
        },
        (rules(V2, move={"m": "o.s.m"}),),
        [(V3, {"o": {"s": {"l": "x"}}}), (V1, {})],
        [{}, {}, {}],
    ),
    "a value moves within the object": (
        {
            V1: {"Thing": {"o": "O"}, "O": {"s": "S"}, "S": {"l": "string"}},
            V2: {"Thing": {"o": "O"}, "O": {"l": "string"}},
            V3: {"Thing": {"o": "O"}, "O": {}},
        },
        (rules(V1, move={"o.s.l": "o.l"}),),
        [(V1, {"o": {"s": {"l": "x"}}}), (V3, {})],
        [{}, {}, {}],
    ),
    "no version has it outside": (
        {
            V1: {"Thing": {"o": "O"}, "O": {}},
            V2: {"Thing": {"o": "O"}, "O": {"s": "S"}, "S": {"l": "string"}},
            V3: {"Thing": {"o": "O"}, "O": {"l": "string"}},
        },
        (rules(V2, move={"o.s.l": "o.l"}),),
        [(V3, {"o": {"l": "y"}}), (V1, {})],
        [{}, {}, {}],
    ),
}


@pytest.mark.parametrize("hub", some_of([V1, V2, V3], 3, 1))
@pytest.mark.parametrize("case", REMOVED.values(), ids=REMOVED)
def test_what_stays_of_an_object_that_a_client_removes_does_not_depend_on_what_is_stored(
    store, case, hub
):
    """The client does not see it."""
    versions, changes, writes, left = case
    x = store(versions, *changes, hub=hub)
    for version, written in writes:
        x.put(version, **written)
    assert [x.read(each) for each in versions] == left


def test_a_value_that_a_rule_keeps_of_an_object_stays_where_its_writer_adds_to_the_object(store):
    x = store(
        {
            V1: {"Thing": {"p": "P"}, "P": {"s": "S"}, "S": {"l": "L"}, "L": ["Gold"]},
            V2: {
                "Thing": {"p": "P"},
                "P": {"s": "S", "u": "U"},
                "U": {},
                "S": {"l": "M"},
                "M": ["au"],
            },
            V3: {"Thing": {"p": "P"}, "P": {"s": "S", "u": "U"}, "S": {}, "U": {}},
        },
        rules(V1, values={"p.s.l": {"Gold": "au"}}),
    )
    x.put(V1, p={"s": {"l": "Gold"}}).put(V2, p={"u": {}, "s": {"l": "au"}})
    assert x.read(V2) == {"p": {"u": {}, "s": {"l": "au"}}}
    assert x.read(V1) == {"p": {"s": {"l": "Gold"}}}


def test_an_object_that_an_edit_adds_to_a_list_is_stored_like_a_new_one(store):
    """What it says of its objects accompanies the object as it is stored."""
    x = store(
        {
            V1: {
                "Thing": {"l": "[I;id]"},
                "I": {"id!": "string", "q": "Q", "o": "O", "e": "E"},
                "Q": {},
                "O": {"s": "S"},
                "S": {"l": "string"},
                "E": ["a", "b"],
            },
            V2: {
                "Thing": {"l": "[I;id]"},
                "I": {"id!": "string", "q": "Q", "e": "F"},
                "Q": {"l": "string"},
                "F": ["c", "d"],
            },
            V3: {"Thing": {"l": "[I;id]"}, "I": {"id!": "string", "q": "Q"}, "Q": {"l": "string"}},
        },
        rules(V1, "I", move={"o.s.l": "q.l"}, values={"e": {"a": "c", "b": "d"}}),
    )
    written = [{"id": "a", "o": {"s": {"l": "z"}}, "q": {}}]
    new = x.put(V1, l=written).stored
    x.stored = None
    assert x.put(V2).put(V1, l=written).read(V1) == {"l": written}
    assert x.stored == new


@pytest.mark.parametrize("hub", [V1, V2, V3])
def test_an_object_of_which_a_rule_changes_a_value_in_its_place_is_there_without_the_value(
    store, hub
):
    x = store(
        {
            V1: {"Thing": {"p": "P"}, "P": {"s": "S"}, "S": {"l": "L"}, "L": ["Gold"]},
            V2: {"Thing": {"p": "P"}, "P": {"s": "S"}, "S": {"l": "M"}, "M": ["au"]},
            V3: {"Thing": {"p": "P"}, "P": {"s": "S"}, "S": {}},
        },
        rules(V1, values={"p.s.l": {"Gold": "au"}}),
        hub=hub,
    )
    x.put(V2, p={"s": {"l": "au"}})
    assert x.read(V3) == {"p": {"s": {}}}
    assert x.read(V1) == {"p": {"s": {"l": "Gold"}}}
    assert x.put(V3).read(V2) == {}


@pytest.mark.parametrize("hub", [V1, V2, V3])
def test_an_object_in_which_a_value_moves_is_there_to_a_version_that_lacks_the_value(store, hub):
    versions, changes, *_ = REMOVED["a value moves within the object"]
    x = store(versions, *changes, hub=hub)
    x.put(V1, o={"s": {"l": "x"}})
    assert x.read(V3) == {"o": {}}


@pytest.mark.parametrize("hub", ["2020-01-01", "2021-01-01"])
@pytest.mark.parametrize("around", ["O", "[O]"])
def test_a_required_value_that_a_writer_is_only_shown_is_no_part_of_an_object_that_it_makes(
    forgetting, around, hub
):
    """The older version requires `f`, which a rule moves into `h`, and is shown empty text where nobody has written one."""
    older, newer = "2020-01-01", "2021-01-01"
    item = {"name": "string", "h": "H"}
    versions = {
        older: {"Thing": {"o": around}, "O": {**item, "f!": "string"}, "H": {"x": "string"}},
        newer: {
            "Thing": {"o": around},
            "O": item,
            "H": {"x": "string", "g": "string"},
        },
    }
    scheme = forgetting(evolve(versions, rules(older, "O", move={"f": "h.g"}), hub=hub))

    def shaped(**properties):
        return [{"name": "c", **properties}] if around == "[O]" else {"name": "c", **properties}

    store = Store(scheme).put(newer, o=shaped())
    assert store.read(older) == {"o": shaped(f="")}
    store.put(older, o=shaped(f="", h={"x": "1"}))
    assert store.read(newer) == {"o": shaped(h={"x": "1"})}
    assert store.put(older, o=shaped(f="y", h={"x": "1"})).read(newer) == {
        "o": shaped(h={"x": "1", "g": "y"})
    }


@pytest.mark.parametrize("hub", ["2020-01-01", "2022-01-01", "2023-01-01"])
def test_what_moves_into_a_required_object_stands_before_what_is_shown_for_requiring_it(
    forgetting, hub
):
    """A rule moves the whole object, and a rule of a later pair its members: their values were shown as an empty object."""
    v3, v4 = "2022-01-01", "2023-01-01"
    held = {"Thing": {"t": "T"}, "T": {"r!": "R"}, "R": {"k": "string", "n": "string"}}
    scheme = forgetting(
        evolve(
            {
                V1: {"Thing": {"r": "R"}, "R": held["R"]},
                V2: held,
                v3: held,
                v4: {"Thing": {"t": "T"}, "T": {"s": "S"}, "S": {"r": "R"}, "R": held["R"]},
            },
            rules(V1, move={"r": "t.r"}),
            rules(v3, "T", move={"r.k": "s.r.k", "r.n": "s.r.n"}),
            hub=hub,
        )
    )
    store = Store(scheme).put(v4, t={"s": {"r": {"k": "a", "n": "b"}}})
    for version in (V2, v3):
        assert store.read(version) == {"t": {"r": {"k": "a", "n": "b"}}}
    assert store.read(V1) == {"r": {"k": "a", "n": "b"}}
    assert Store(scheme).put(v4, t={}).read(v3) == {"t": {"r": {}}}
