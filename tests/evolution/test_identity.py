from evolving import evolution, parse_schema
from hypothesis import given
from hypothesis import strategies as st

from trundle.evolution import partition
from trundle.evolution._identity import identities
from trundle.version import ApiVersion

v = ApiVersion.parse


def test_items_are_alike_where_they_and_all_their_parts_are():
    assert partition(
        ["one", "two", "three"],
        {"one": "list", "two": "list", "three": "list"},
        {"one": (), "two": (), "three": ("one",)},
    ) == {"one": 0, "two": 0, "three": 1}


def test_items_that_differ_by_themselves_are_not_alike():
    assert partition("ab", {"a": 1, "b": 2}, {"a": (), "b": ()}) == {"a": 0, "b": 1}


def test_a_difference_deep_below_distinguishes_two():
    parts = {"a1": ("a2",), "a2": ("a3",), "a3": (), "b1": ("b2",), "b2": ("b3",), "b3": ()}
    own = {**dict.fromkeys(parts, "node"), "b3": "leaf"}
    found = partition(parts, own, parts)
    assert len(set(found.values())) == 6


def test_circles_that_look_alike_are_alike_whatever_their_length():
    parts = {"a": ("a",), "b": ("c",), "c": ("b",)}
    found = partition(parts, dict.fromkeys(parts, "node"), parts)
    assert set(found.values()) == {0}


def test_circles_with_one_other_member_are_not_alike():
    parts = {"a": ("b",), "b": ("a",), "c": ("d",), "d": ("c",)}
    found = partition(parts, {"a": "x", "b": "y", "c": "x", "d": "z"}, parts)
    assert len(set(found.values())) == 4


def test_the_order_of_parts_counts():
    found = partition(
        "xyab",
        {"x": 1, "y": 2, "a": 0, "b": 0},
        {"x": (), "y": (), "a": ("x", "y"), "b": ("y", "x")},
    )
    assert found["a"] != found["b"]


GRAPHS = st.integers(1, 8).flatmap(
    lambda count: st.lists(
        st.tuples(st.integers(0, 1), st.lists(st.integers(0, count - 1), max_size=2).map(tuple)),
        min_size=count,
        max_size=count,
    )
)


@given(GRAPHS)
def test_the_same_number_means_alike_all_the_way_down_and_nothing_else_does(graph):
    own = dict(enumerate(kind for kind, _ in graph))
    parts = dict(enumerate(below for _, below in graph))
    found = partition(range(len(graph)), own, parts)
    for one in own:
        for other in own:
            assert (found[one] == found[other]) == unfold(one, other, own, parts)


def unfold(one, other, own, parts):
    """Whether two items unfold to the same tree, as deep as any difference can lie."""
    met, waiting = set(), [(one, other)]
    while waiting:
        pair = waiting.pop()
        if pair in met:
            continue
        met.add(pair)
        ours, theirs = pair
        if own[ours] != own[theirs] or len(parts[ours]) != len(parts[theirs]):
            return False
        waiting.extend(zip(parts[ours], parts[theirs], strict=True))
    return True


def test_definitions_of_two_versions_are_the_same_though_they_refer_to_themselves():
    tree = {"Thing": {"tree": "Node"}, "Node": {"nodes": "[Node]"}}
    other = {"Thing": {"tree": "Node"}, "Node": {"nodes": "[Node]", "leaf": "string"}}
    schemas = [parse_schema("v1", tree), parse_schema("v2", tree), parse_schema("v3", other)]
    found = identities(schemas)
    assert found[v("v1"), "Node"] == found[v("v2"), "Node"] != found[v("v3"), "Node"]
    assert found[v("v2"), "Thing"] != found[v("v3"), "Thing"]


def test_what_is_required_counts_and_so_does_the_kind_of_an_enum_value():
    def number(definitions):
        return identities([parse_schema("v1", {"Thing": {}}), parse_schema("v2", definitions)])

    assert number({"Thing": {}})[v("v2"), "Thing"] == 0
    assert number({"Thing": {"a!": "string"}})[v("v2"), "Thing"] != 0
    levels = identities(
        [parse_schema("v1", {"Level": [1, 2]}), parse_schema("v2", {"Level": [True, 2]})]
    )
    assert levels[v("v1"), "Level"] != levels[v("v2"), "Level"]


def test_reordering_a_union_or_an_enum_changes_nothing():
    shapes = {"A": {"kind!": "AKind"}, "B": {"kind!": "BKind"}, "AKind": ["a"], "BKind": ["b"]}
    colours = {"Colour": ["red", "green"]}
    made = evolution(
        {
            "v1": {"Thing": {"it": "[A|B]", "or": "Colour|integer"}, **shapes, **colours},
            "v2": {
                "Thing": {"it": "[B|A]", "or": "integer|Colour"},
                **shapes,
                "Colour": ["green", "red"],
            },
        }
    )
    assert made.identities[v("v1"), "Thing"] == made.identities[v("v2"), "Thing"]
