"""Hooks of packages that put objects elsewhere: they see ids, and each object is carried by its own class."""

import pytest
from engines import package
from hooked_people import ruled

from trundle.engine import Engine
from trundle.models import convert_model, targets
from trundle.project import ProofOptions, prove_classes
from trundle.project.package_evolution import PackageEvolutions

DB1 = "Properties: {size: {Contract: $.int()}}"
DB2 = "Properties: {gb: {Contract: $.int()}}"
SHOP1 = """
Properties:
  primary: {Contract: $.class(p.Db)}
  spare: {Contract: $.class(p.Db)}
  one: {Contract: $.class(p.Db)}
"""
SHOP2 = """
Properties:
  all: {Contract: [$.class(p.Db)]}
  one: {Contract: [$.class(p.Db)]}
Methods:
  join:
    Usage: Static
    Scope: Public
    Arguments: [{primary: {Contract: $.string()}}, {spare: {Contract: $.string()}}]
    Body:
      - $all: list($primary, $spare).where($ != null)
      - Return: {all: $all}
  split:
    Usage: Static
    Scope: Public
    Arguments: [{all: {Contract: [$.string()]}}]
    Body:
      - $rest: $all.skip(1)
      - Return: {primary: $all.first(null), spare: $rest.first(null)}
  toList:
    Usage: Static
    Scope: Public
    Arguments: [{value: {Contract: $.string()}}]
    Body:
      Return: list($value).where($ != null)
  toOne:
    Usage: Static
    Scope: Public
    Arguments: [{value: {Contract: [$.string()]}}]
    Body:
      Return: $value.first(null)
"""
RULES = """
changes: {1.0.0: {p.Db: {rename: {size: gb}}}}
hooks:
  1.0.0:
    p.Shop:
      assign_to: {use: join, writes: [all]}
      assign_from: {use: split, writes: [primary, spare]}
      convert_reference_to_p_db_to_reference_to_p_db_list: toList
      convert_reference_to_p_db_list_to_reference_to_p_db: toOne
"""


def packages(shop=SHOP2, rules=RULES):
    one = package("p", "1.0.0", classes={"p.Db": DB1, "p.Shop": SHOP1})
    two = package("p", "2.0.0", classes={"p.Db": DB2, "p.Shop": shop}, Format="'1.4'")
    return [one, ruled(two, rules)]


EVOLUTIONS = PackageEvolutions(packages())


def db(name, size=1, version="1.0.0"):
    key = "size" if version == "1.0.0" else "gb"
    return {"?": {"type": f"p.Db/{version}@p", "id": name}, key: size}


def shop(version="1.0.0", **properties):
    return {"?": {"type": f"p.Shop/{version}@p", "id": "s"}, **properties}


def carried(model, wanted, evolutions=EVOLUTIONS):
    return convert_model(evolutions, model, targets(evolutions, [wanted])).model


def shown(model):
    return {name: each for name, each in model.items() if name != "?"}


def test_a_hook_puts_objects_into_a_list_and_back():
    model = shop(primary=db("a", 1), spare=db("b", 2), one=db("c", 3))
    there = carried(model, "p@2")
    assert shown(there) == {
        "all": [db("a", 1, "2.0.0"), db("b", 2, "2.0.0")],
        "one": [db("c", 3, "2.0.0")],
    }
    assert carried(there, "p@1") == model


def test_what_was_made_in_the_newer_version_is_split():
    made = shop("2.0.0", all=[db("x", 1, "2.0.0"), db("y", 2, "2.0.0"), db("z", 3, "2.0.0")])
    back = carried(made, "p@1")
    assert shown(back)["primary"] == db("x", 1)
    assert shown(back)["spare"] == db("y", 2)
    assert carried(back, "p@2") == made


def test_ids_of_objects_elsewhere_stay_ids():
    model = shop(primary=db("a"), spare="a", one="elsewhere")
    there = carried(model, "p@2")
    assert shown(there) == {"all": [db("a", version="2.0.0"), "a"], "one": ["elsewhere"]}
    assert carried(there, "p@1") == model


def test_an_object_that_a_hook_gives_twice_stands_once():
    twice = SHOP2.replace("list($primary, $spare)", "list($primary, $primary)")
    found = carried(shop(primary=db("a")), "p@2", PackageEvolutions(packages(twice)))
    assert shown(found)["all"] == [db("a", version="2.0.0"), "a"]


def test_an_object_that_a_hook_gives_nowhere_is_in_the_bag():
    evolutions = PackageEvolutions(
        packages(SHOP2.replace("list($primary, $spare)", "list($spare)"))
    )
    model = shop(primary=db("a", 5), spare=db("b"))
    there = carried(model, "p@2", evolutions)
    assert shown(there)["all"] == [db("b", version="2.0.0")]
    assert carried(there, "p@1", evolutions) == model


def test_a_converted_model_loads():
    there = carried(shop(primary=db("a"), spare="a"), "p@2")
    with Engine(packages()).session() as session:
        loaded = session.load(there)
        assert [each.id for each in loaded.get("all")] == ["a", "a"]


@pytest.mark.parametrize("name", ["db__size", "primary__id"])
def test_what_is_in_another_object_is_not_read(name):
    shop_ = SHOP2.replace("{primary: {Contract", f"{{{name}: {{Contract")
    found = PackageEvolutions(packages(shop_)).of("p").findings
    assert f"p.Shop.join has the argument {name}, which p.Shop of 1.0.0 does not have" in str(
        found[0]
    )


MOVED = """
Properties: {held: {Contract: {db: $.class(p.Db)}}}
Methods:
  into:
    Usage: Static
    Scope: Public
    Arguments: [{primary: {Contract: $.string()}}]
    Body: [{Return: {held__db: $primary}}]
  out:
    Usage: Static
    Scope: Public
    Arguments: [{held__db: {Contract: $.string()}}]
    Body: [{Return: {primary: $held__db}}]
"""
MOVING = """
hooks:
  1.0.0:
    p.Shop:
      assign_to: {use: into, writes: [held.db]}
      assign_from: {use: out, writes: [primary]}
"""


def test_a_hook_moves_an_object_into_a_map():
    evolutions = PackageEvolutions(packages(MOVED, MOVING))
    model = shop(primary=db("a", 1), spare=db("b"))
    there = carried(model, "p@2", evolutions)
    assert shown(there)["held"]["db"]["?"]["id"] == "a"
    assert carried(there, "p@1", evolutions) == model


@pytest.mark.full
def test_hooks_about_objects_keep_the_laws():
    evolutions = PackageEvolutions(packages(MOVED, MOVING))
    options = ProofOptions(seed=1, examples=3, resources=("p.Shop",))
    run = prove_classes(evolutions, "p", options, on_total=lambda _: None, on_step=lambda _: None)
    assert [each for proof in run.proofs for each in proof.findings] == []
