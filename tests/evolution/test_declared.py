"""What schemas, rules and hooks declare, looked up without any lineage."""

from evolving import evolution, rules
from lineages import v

V1 = {"Thing": {"a": "In", "b": "Other"}, "In": {"deep": "Deep"}, "Deep": {"x": "string"}}
V1 = {**V1, "Other": {"y": "string"}}


def test_what_is_made_once_is_made_for_each_function_and_each_argument():
    made = evolution({"v1": V1})
    calls = []

    def double(number: int) -> int:
        calls.append(number)
        return 2 * number

    def halve(number: int) -> float:
        calls.append(number)
        return number / 2

    assert [made.once(double, 4), made.once(double, 4), made.once(double, 6)] == [8, 8, 12]
    assert [made.once(halve, 4), made.once(halve, 4)] == [2, 2]
    assert calls == [4, 6, 4]


def test_what_another_evolution_made_is_not_known():
    one, other = (evolution({"v1": V1}) for _ in range(2))
    assert one.once(object) is one.once(object)
    assert one.once(object) is not other.once(object)


def test_a_type_is_ruled_where_a_rule_names_anything_that_it_reaches():
    made = evolution({"v1": V1, "v2": V1}, rules("v1", "Deep", keep=("x",)))

    def ruled(name: str) -> bool:
        return made.ruled({v("v1"): name, v("v2"): name})

    assert [name for name in V1 if ruled(name)] == ["Thing", "In", "Deep"]


def test_versions_that_are_said_to_be_stored_are_hubs_and_those_that_were_kept():
    versions = dict.fromkeys(("v1", "v2", "v3", "v4"), V1)
    assert evolution(versions).said_stored == ()
    assert evolution(versions, hub="v2", kept=["v3", "v1"]).said_stored == tuple(
        map(v, ("v3", "v2", "v1"))
    )
