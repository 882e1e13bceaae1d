import pytest
from evolving import rules
from lineages import root, spelt

from trundle.evolution import ChangeError

FLAT = {"Thing": {"street": "string"}}
NESTED = {"Thing": {"address": "Address"}, "Address": {"street": "string", "zip": "string"}}


def moved(versions, **changes):
    return [
        (
            f"{' '.join(map(spelt, each.inputs))} > {spelt(each.output)}",
            each.how.member,
            each.how.into,
        )
        for each in root(versions, rules("v1", **changes)).moves
    ]


def test_a_property_moves_into_a_nested_object_and_out_again():
    assert moved({"v1": FLAT, "v2": NESTED}, move={"street": "address.street"}) == [
        ("street@v1 > address@v2", "street", True),
        ("address@v2 > street@v1", "street", False),
    ]


def test_a_member_moves_out_of_a_nested_object_and_in_again():
    assert moved({"v1": NESTED, "v2": FLAT}, move={"address.street": "street"}) == [
        ("street@v2 > address@v1", "street", True),
        ("address@v1 > street@v2", "street", False),
    ]


def test_a_nested_object_on_both_sides_takes_part():
    older = {"Thing": {"street": "string", "address": "Address"}, "Address": {"zip": "string"}}
    assert moved({"v1": older, "v2": NESTED}, move={"street": "address.street"})[0] == (
        "street@v1 address@v1 > address@v2",
        "street",
        True,
    )


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ({"street": "road"}, "expected a property on one side and a member of one nested object"),
        ({"street": "address.home.street"}, "expected a property on one side"),
        ({"a.street": "b.street"}, "expected a property on one side"),
        ({"road": "address.street"}, "no neighbour after v1 has both sides; check the spelling"),
        ({"street": "address.road"}, "no neighbour after v1 has both sides"),
        ({"street": "home.street"}, "no neighbour after v1 has both sides"),
    ],
)
def test_a_path_that_leads_nowhere_is_an_error(move, reason):
    with pytest.raises(ChangeError, match=reason) as raised:
        moved({"v1": FLAT, "v2": NESTED}, move=move, where={"move": "trundle.yaml:9"})
    assert raised.value.where == "trundle.yaml:9"


def test_a_move_that_changes_the_type_is_an_error():
    older = {"Thing": {"street": "integer"}}
    with pytest.raises(ChangeError, match="its type changes on the way, or holds objects"):
        moved({"v1": older, "v2": NESTED}, move={"street": "address.street"})
