"""Hooks of packages in conversions of models: static methods that are called, on the way up, down, and over the bag."""

import json

import pytest
from engines import package
from hooked_people import BEGIN, NAMES, PERSON1, RETURN, people, ruled

from trundle.engine import Limits
from trundle.models import ModelCode, ModelError, convert_model, targets
from trundle.packages import Package
from trundle.project.package_evolution import PackageEvolutions

EVOLUTIONS = PackageEvolutions(people())


def carried(model, wanted, evolutions=EVOLUTIONS):
    return convert_model(evolutions, model, targets(evolutions, [wanted])).model


def person(version="1.0.0", **properties):
    return {"?": {"type": f"p.Person/{version}@p", "id": "d"}, **properties}


def shown(model):
    return {name: each for name, each in model.items() if name != "?"}


DONALD = person(first="Donald", last="Duck", size="large", limits={"cpu": 2, "ram": 8})


def test_hooks_convert_over_a_major_version_and_nothing_is_lost_on_the_way_back():
    there = carried(DONALD, "p@2")
    assert shown(there) == {"full": "Donald Duck", "size": 10, "limits": {"ram": 8}, "cores": 4}
    assert carried(there, "p@1") == DONALD


def test_hooks_make_what_a_new_object_lacks_in_the_earlier_version():
    made = person("2.0.0", full="Daisy Duck", size=7, cores=6, limits={"ram": 1})
    back = carried(made, "p@1")
    assert shown(back) == {
        "first": "Daisy",
        "last": "Duck",
        "size": "7",
        "limits": {"cpu": 3, "ram": 1},
    }
    assert carried(back, "p@2") == made


def test_a_stored_value_beats_a_hook_until_the_other_side_changes():
    written = person(first="Mary Ann", last="Lee", size="007")
    there = carried(written, "p@2")
    assert shown(there) == {"full": "Mary Ann Lee", "size": 7}
    assert carried(there, "p@1") == written  # `split` would say that the last name is Ann
    edited = carried({**there, "full": "Ann Lee"}, "p@1")
    assert shown(edited) == {"first": "Ann", "last": "Lee", "size": "007"}
    renewed = carried({**there, "size": 8}, "p@1")
    assert (renewed["first"], renewed["size"]) == ("Mary Ann", "8")


def test_a_hook_is_not_called_where_all_that_it_reads_is_absent():
    failing = NAMES.replace(BEGIN, "- Throw: called\n        Message: called")
    evolutions = PackageEvolutions(people(failing))
    assert shown(carried(person(size="small"), "p@2", evolutions)) == {"size": 1}
    with pytest.raises(ModelError, match="called"):
        carried(person(first="Donald"), "p@2", evolutions)


def test_null_stays_null_without_a_call():
    assert shown(carried(person(size=None), "p@2")) == {"size": None}


def test_an_absent_argument_has_its_default():
    assert carried(person(last="Duck"), "p@2")["full"] == " Duck"


def test_equal_models_give_equal_bytes():
    texts = {json.dumps(carried(DONALD, "p@2", PackageEvolutions(people()))) for _ in range(2)}
    assert len(texts | {json.dumps(carried(DONALD, "p@2"))}) == 1


def test_nothing_stays_of_a_call():
    counting = NAMES.replace(
        BEGIN, "- type('p.Names').calls: type('p.Names').calls + 1\n      " + BEGIN
    ).replace(RETURN, "      - Return: {cores: type('p.Names').calls}\n", 1)
    evolutions = PackageEvolutions(people(counting))
    found = [carried(person(first="a"), "p@2", evolutions)["cores"] for _ in range(3)]
    assert found == [1, 1, 1]


def test_objects_that_a_hook_makes_have_the_same_ids_each_time():
    naming = NAMES.replace("full: $first + ' ' + $last", "full: id(new('p.Names'))")
    evolutions = PackageEvolutions(people(naming))
    found = [carried(person(first="a"), "p@2", evolutions)["full"] for _ in range(3)]
    assert len(set(found)) == 1


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("$x: randomName()", "`randomName` gives another name each time"),
        ("$x: sleep(0.01)", "`sleep` waits"),
        ("$x: new('io.trundle.File', path => 'a', text => 'b').deploy()", "act on the world"),
        ("$x: call(randomName, [], {})", "`randomName` gives another name each time"),
    ],
)
def test_a_hook_only_computes(code, message):
    names = NAMES.replace(BEGIN, f"- {code}\n      " + BEGIN)
    one, two = people(names)
    files = {name: two.file(name) for name in two.files}
    files["manifest.yaml"] += b"\nRequire: {io.trundle: '1'}\n"
    evolutions = PackageEvolutions([one, Package.from_files(files)])
    with pytest.raises(ModelError, match=message):
        carried(DONALD, "p@2", evolutions)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("While: $first != null\n        Do: [{$x: 1}]", "more than 2000 steps"),
        ("$x: type('p.Names').join(first => a)", "more than 250 calls are nested"),
    ],
)
def test_the_limits_of_runs_hold_for_hooks(code, message):
    names = NAMES.replace(BEGIN, f"- {code}\n      " + BEGIN)
    evolutions = PackageEvolutions(people(names), Limits(steps=2000))
    with pytest.raises(ModelError, match=message):
        carried(DONALD, "p@2", evolutions)


def test_an_error_names_object_path_versions_and_methods():
    names = NAMES.replace("Default: [{Return: int($value)}]", "Default: [{Return: $.deep($value)}]")
    names += """
  deep:
    Usage: Static
    Arguments: [{value: {Contract: $.string()}}]
    Body:
      Throw: NoSuchSize
      Message: $value + ' is no size'
"""
    evolutions = PackageEvolutions(people("Namespaces: {=: p}\nName: Names" + names))
    model = {"Objects": person(first="a", size="huge"), "Attributes": [], "ObjectsCopy": None}
    with pytest.raises(ModelError) as raised:
        convert_model(evolutions, model, targets(evolutions, ["p@2"]))
    (found,) = raised.value.findings
    assert found.code is ModelCode.HOOK
    assert found.place.path == "$.Objects.size"
    for part in (
        "p.Person/1.0.0@p to 2.0.0",
        "p.Names.toNumber between 1.0.0 and 2.0.0 failed: huge is no size",
        "called p.Names.deep (p/2.0.0, Classes/class1.yaml:",
        ", in p.Names.toNumber (p/2.0.0,",
    ):
        assert part in str(found)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("[1]", "expected a map of the properties that it writes, found list"),
        ("null", "expected a map of the properties that it writes, found nothing"),
        ("{other: 1}", r"expected what it declares in `writes` \(cores, full\), found 'other'"),
        ("{cores: x}", "wrote 'cores' of a wrong type: Expected `int | null`, got `str`"),
        ("{cores: new('p.Names')}", "objects"),
    ],
)
def test_what_a_hook_returns_is_checked(returned, message):
    names = NAMES.replace(RETURN, f"      - Return: {returned}\n", 1)
    with pytest.raises(ModelError, match=message):
        carried(DONALD, "p@2", PackageEvolutions(people(names)))


def test_what_a_hook_leaves_out_is_absent():
    names = NAMES.replace(RETURN, "      - Return: {cores: 1}\n", 1)
    found = carried(DONALD, "p@2", PackageEvolutions(people(names)))
    assert shown(found) == {"size": 10, "limits": {"ram": 8}, "cores": 1}


def test_hooks_of_each_pair_are_called_on_a_way_over_several_versions():
    first = package("p", "1.0.0", classes={"p.A": "Properties: {a: {Contract: $.string()}}"})
    texts = ["Properties: {b: {Contract: $.string()}}", "Properties: {c: {Contract: $.string()}}"]
    step = """
Methods:
  up: {Usage: Static, Scope: Public, Arguments: [{%s: {Contract: $}}], Body: [{Return: {%s: $%s + %s}}]}
  down: {Usage: Static, Scope: Public, Arguments: [{%s: {Contract: $}}], Body: [{Return: {%s: $%s + '-'}}]}
"""
    hooks = "hooks: {%s: {p.A: {assign_to: {use: up, writes: [%s]}, assign_from: {use: down, writes: [%s]}}}}"
    releases = [
        ruled(
            package(
                "p", version, classes={"p.A": text + step % (old, new, old, new, new, old, new)}
            ),
            hooks % (before, new, old),
        )
        for version, before, text, old, new in (
            ("2.0.0", "1.0.0", texts[0], "a", "b"),
            ("3.0.0", "2.0.0", texts[1], "b", "c"),
        )
    ]
    evolutions = PackageEvolutions([first, *releases])
    model = {"?": {"type": "p.A/1.0.0@p", "id": "x"}, "a": "v"}
    straight = carried(model, "p@3", evolutions)
    assert shown(straight) == {"c": "vbc"}
    assert carried(carried(model, "p@2", evolutions), "p@3", evolutions) == straight
    assert shown(carried(straight, "p@1", evolutions)) == {"a": "v"}
    edited = {**straight, "c": "w"}
    assert shown(carried(edited, "p@1", evolutions)) == {"a": "w--"}
    assert shown(carried(edited, "p@2", evolutions)) == {"b": "w-"}


def test_a_child_in_another_package_has_the_hooks_of_its_parent():
    def child(version, lib):
        text = "Extends: p.Person\nProperties: {own: {Contract: $.int()}}"
        return package("c", version, {"p": lib}, {"c.Child": text})

    evolutions = PackageEvolutions([*people(), child("1.0.0", "1"), child("2.0.0", "2")])
    model = {"?": {"type": "c.Child/1.0.0@c", "id": "x"}, "first": "Huey", "last": "Duck", "own": 1}
    there = carried(model, "c@2", evolutions)
    assert shown(there) == {"full": "Huey Duck", "own": 1}
    assert carried(there, "c@1", evolutions) == model


def test_hooks_go_on_to_a_release_that_came_between():
    late = package("p", "1.0.1", classes={"p.Person": PERSON1})
    evolutions = PackageEvolutions([*people(), late])
    there = carried(DONALD, "p@2", evolutions)
    assert there["full"] == "Donald Duck"
    assert carried(there, "p@1.0.0", evolutions) == DONALD


LISTED = "Properties: {nodes: {Contract: [{name: $.string().notNull(), cpu: $.%s()}]}}"
NUMBERS = """
Methods:
  toInt: {Usage: Static, Scope: Public, Arguments: [{x: {Contract: $.string()}}], Body: [{Return: int($x)}]}
  toText: {Usage: Static, Scope: Public, Arguments: [{x: {Contract: $.int()}}], Body: [{Return: str($x)}]}
"""
IN_LISTS = """
hooks:
  1.0.0:
    p.A.nodes: {convert_string_to_integer: p.A.toInt, convert_integer_to_string: toText}
"""


@pytest.mark.parametrize("versions", [["2.0.0"], ["2.0.0-rc.1"], ["2.0.0-rc.1", "2.0.0"]])
def test_hooks_convert_maps_in_lists_also_in_pre_releases(versions):
    one = package("p", "1.0.0", classes={"p.A": LISTED % "string"})
    later = [
        ruled(package("p", each, classes={"p.A": LISTED % "int" + NUMBERS}), IN_LISTS)
        for each in versions
    ]
    evolutions = PackageEvolutions([one, *later])
    assert evolutions.of("p").findings == ()
    nodes = [{"name": "a", "cpu": "007"}, {"name": "b"}, {"name": "c", "cpu": "5"}]
    model = {"?": {"type": "p.A/1.0.0@p", "id": "x"}, "nodes": nodes}
    for version in versions:
        there = carried(model, f"p@{version}", evolutions)
        assert [each.get("cpu") for each in there["nodes"]] == [7, None, 5]
        assert carried(there, "p@1", evolutions) == model
        moved = {**there, "nodes": there["nodes"][::-1]}
        assert carried(moved, "p@1", evolutions)["nodes"] == nodes[::-1]


def test_a_failing_hook_names_the_element_of_a_list():
    one = package("p", "1.0.0", classes={"p.A": LISTED % "string"})
    two = ruled(package("p", "2.0.0", classes={"p.A": LISTED % "int" + NUMBERS}), IN_LISTS)
    model = {"?": {"type": "p.A/1.0.0@p"}, "nodes": [{"name": "a"}, {"name": "b", "cpu": "x"}]}
    with pytest.raises(ModelError) as raised:
        carried(model, "p@2", PackageEvolutions([one, two]))
    (found,) = raised.value.findings
    assert found.place.path == "$.nodes[1].cpu"
