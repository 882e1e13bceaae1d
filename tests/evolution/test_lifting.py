import pytest
from evolving import hooked, rules
from lineages import links, place, planned, root, spelt, threads, v

from trundle.evolution import ChangeError
from trundle.evolution.steps import Assign, Read, Solid

FLAT = {"Thing": {"a": "string", "b": "integer"}}
NESTED = {"Thing": {"o": "O"}, "O": {"a": "string", "b": "integer", "c": "string"}}


def assigned(lineage, source, target, name):
    """What a property of the target becomes."""
    found = planned(lineage, source, target).steps
    return next(each.value for each in found if isinstance(each, Assign) and each.property == name)


def test_several_properties_move_into_one_object():
    lineage = root({"v1": FLAT, "v2": NESTED}, rules("v1", move={"a": "o.a", "b": "o.b"}))
    assert threads(lineage) == ["a@v1 o.a@v2", "b@v1 o.b@v2", "o@v2"]
    assert lineage.child(place("o@v2"), "O").names(v("v2")) == ("c",)
    assert assigned(lineage, "api v1", "storage v2", "o.b") == Read("b")
    assert assigned(lineage, "storage v2", "api v1", "b") == Read("o.b")


def test_a_property_moves_out_of_an_object_that_becomes_free_form_data():
    older = {"Thing": {"o": "O"}, "O": {"a": "string", "c": "string"}}
    lineage = root(
        {"v1": older, "v2": {"Thing": {"a": "string", "o": "any"}}}, rules("v1", move={"o.a": "a"})
    )
    assert "o.a@v1 a@v2" in threads(lineage)


def test_they_move_out_again():
    lineage = root({"v1": NESTED, "v2": FLAT}, rules("v1", move={"o.a": "a", "o.b": "b"}))
    assert threads(lineage) == ["o@v1", "o.a@v1 a@v2", "o.b@v1 b@v2"]


def test_the_objects_on_the_way_are_followed_by_the_same_type():
    versions = {
        "v1": {"Thing": {"m": "integer", "t": "T"}, "T": {"s": "S"}, "S": {"x": "string"}},
        "v2": {"Thing": {"t": "T"}, "T": {"s": "S"}, "S": {"x": "string", "m": "integer"}},
    }
    lineage = root(versions, rules("v1", move={"m": "t.s.m"}))
    assert threads(lineage) == ["m@v1 t.s.m@v2", "t@v1 t@v2", "t.s@v1 t.s@v2"]
    assert isinstance(assigned(lineage, "api v2", "api v1", "t"), Solid)


def test_a_property_is_lifted_in_every_version_that_has_it():
    versions = {
        "v1": {"Thing": {"o": "O"}, "O": {"old": "string", "k": "integer"}},
        "v2": {"Thing": {"p": "O"}, "O": {"a": "string", "k": "integer"}},
        "v3": {"Thing": {"a": "string", "p": "O"}, "O": {"k": "integer"}},
    }
    lineage = root(
        versions,
        rules("v1", rename={"o": "p"}),
        rules("v1", "O", rename={"old": "a"}),
        rules("v2", move={"p.a": "a"}),
    )
    assert threads(lineage) == ["o@v1 p@v2 p@v3", "o.old@v1 p.a@v2 a@v3"]


def test_the_name_that_a_property_leaves_may_have_another_meaning():
    versions = {
        "v1": {"Thing": {"r": "integer", "n": "S"}, "S": {"r": "integer"}},
        "v2": {"Thing": {"r": "integer", "old": "S"}, "S": {"r": "integer"}},
    }
    lineage = root(versions, rules("v1", move={"r": "old.r", "n.r": "r"}))
    assert set(threads(lineage)) == {"n@v1", "n.r@v1 r@v2", "old@v2", "r@v1 old.r@v2"}


def test_a_moved_property_converts_by_the_rules_that_name_its_older_path():
    older = {"Thing": {"o": "O"}, "O": {"t": "string"}}
    lineage = root(
        {"v1": older, "v2": {"Thing": {"seconds": "integer"}}},
        rules("v1", move={"o.t": "seconds"}, convert={"o.t": "duration-to-seconds"}),
    )
    (link,) = [each for each in lineage.links if spelt(each.older) == "o.t@v1"]
    assert (spelt(link.newer), link.conversion.name) == ("seconds@v2", "duration-to-seconds")


def test_a_rule_for_the_nested_type_still_converts_what_is_lifted_from_it():
    versions = {
        "v1": {"Thing": {"o": "O"}, "O": {"t": "string"}},
        "v2": {"Thing": {"o": "O"}, "O": {"t": "integer"}},
        "v3": {"Thing": {"t": "integer"}},
    }
    lineage = root(
        versions,
        rules("v1", "O", convert={"t": "string-to-integer"}),
        rules("v2", move={"o.t": "t"}),
    )
    assert "o.t@v1 o.t@v2" in links(lineage)
    assert "o.t@v2 t@v3" in threads(lineage)


@pytest.mark.parametrize("name", ["Thing", "T"])
def test_what_rules_take_out_of_an_object_goes_along_when_it_moves(name):
    object_ = {"a": "string", "k": "string"}
    versions = {
        "v1": {"Thing": {"r": "R"}, "R": object_},
        "v2": {"Thing": {"t": "T"}, "T": {"r": "R"}, "R": object_},
        "v3": {"Thing": {"t": "T"}, "T": {"g": "string"}},
    }
    path = "t." if name == "Thing" else ""
    later = rules("v2", name, move={f"{path}r.a": f"{path}g"})
    lineage = root(versions, rules("v1", move={"r": "t.r"}), later)
    assert "r.a@v1 t.r.a@v2 t.g@v3" in threads(lineage)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("l.a", r"l of Thing is a list \(write the rule under the type of its elements\)"),
        ("l[].a", "stands in elements of a list, which it cannot leave"),
        ("m.a", "m of Thing is a map"),
        ("u.a", "u of Thing is a union"),
        ("f.a", "f of Thing is free-form data"),
        ("a.a", "a of Thing is a single value"),
    ],
)
def test_a_path_through_anything_but_objects_is_an_error(path, reason):
    older = {
        "Thing": {"a": "string", "l": "[O]", "m": "{O}", "u": "O|string", "f": "any"},
        "O": {"a": "string"},
    }
    where = {f"move.{path}": "trundle.yaml:9"}
    with pytest.raises(ChangeError, match=reason) as raised:
        threads(root({"v1": older, "v2": FLAT}, rules("v1", move={path: "a"}, where=where)))
    assert raised.value.where == "trundle.yaml:9"
    assert f"cannot follow {path} of Thing in v1" in raised.value.reason


def test_two_moves_to_one_place_contradict_each_other():
    with pytest.raises(ChangeError, match=r"moving 'b' to 'o\.a' contradicts another rule"):
        threads(root({"v1": FLAT, "v2": NESTED}, rules("v1", move={"a": "o.a", "b": "o.a"})))


class Whole:
    def assign_to(self, source): ...


def test_a_hook_cannot_have_an_object_out_of_which_rules_take_something():
    hook = hooked("v1", "v2", Whole, to=(("o",), ("b",)))
    lineage = root({"v1": NESTED, "v2": FLAT}, rules("v1", move={"o.a": "a"}), hook)
    with pytest.raises(
        ChangeError, match=r"declares 'o', out of which rules of Thing take a; move"
    ):
        threads(lineage)
