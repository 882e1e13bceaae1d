"""Whole models over versions of packages and back; the engine, which knows nothing of plans, says what a model means."""

import copy
import json

import pytest
from engines import package
from hypothesis import given
from hypothesis import strategies as st

from trundle.engine import Engine, EngineError
from trundle.models import ModelCode, ModelError, convert_model, targets
from trundle.packages import Package
from trundle.project.package_evolution import PackageEvolutions

SHOP1 = """
Namespaces: {=: s}
Properties:
  port: {Contract: $.int(), Default: 80}
  motto: {Contract: $.string()}
  db: {Contract: $.class(Db)}
  spare: {Contract: $.class(Db)}
  nodes: {Contract: [$.class(Node)]}
  limits: {Contract: {cpu: $.int(), ram: $.int()}}
  labels: {Contract: {$.string().notNull(): $.string()}}
  any: {Contract: $}
"""
SHOP2 = """
Namespaces: {=: s}
Properties:
  ports: {Contract: [$.int()], Default: [80]}
  db: {Contract: $.class(Store)}
  nodes: {Contract: {$.string().notNull(): $.class(Node)}}
  limits: {Contract: {cpu: $.int(), disk: $.int()}}
  labels: {Contract: {$.string().notNull(): $.string()}}
  any: {Contract: $}
  zone: {Contract: $.string()}
"""
DB1 = "Namespaces: {=: s}\nProperties: {size: {Contract: $.int()}, peer: {Contract: $.class(Db)}}"
DB2 = "Namespaces: {=: s}\nProperties: {size: {Contract: $.string()}, peer: {Contract: $.class(Store)}}"
NODE1 = "Namespaces: {=: s}\nExtends: l.Host\nProperties: {rank: {Contract: $.int()}}"
NODE2 = "Namespaces: {=: s}\nExtends: l.Host\nProperties: {weight: {Contract: $.int()}}"
RULES = """\
changes:
  1.0.0:
    s.Shop:
      wrap: {port: ports}
    s.Db:
      renameType: s.Store
      convert: {size: integer-to-string}
"""
HOST1 = "Properties: {address: {Contract: $.string()}, os: {Contract: $.string()}}"
HOST2 = "Properties: {ip: {Contract: $.string()}}"
HOST_RULES = "changes: {1.0.0: {l.Host: {rename: {address: ip}}}}"


def ruled(found, rules):
    files = {name: found.file(name) for name in found.files}
    return Package.from_files({**files, "evolution.yaml": rules})


def packages(rules=RULES):
    shop1 = {
        "s.Shop": SHOP1,
        "s.Db": DB1,
        "s.Node": NODE1,
        "s.Old": "Properties: {x: {Contract: $}}",
    }
    shop2 = {"s.Shop": SHOP2, "s.Store": DB2, "s.Node": NODE2}
    return [
        package("shop", "1.0.0", {"lib": "1"}, shop1),
        ruled(package("shop", "2.0.0", {"lib": "2"}, shop2), rules),
        package("lib", "1.0.0", classes={"l.Host": HOST1}),
        ruled(package("lib", "2.0.0", classes={"l.Host": HOST2}), HOST_RULES),
    ]


PACKAGES = packages()
EVOLUTIONS = PackageEvolutions(PACKAGES)


def carried(model, *wanted, evolutions=EVOLUTIONS):
    return convert_model(evolutions, model, targets(evolutions, wanted))


def meaning(model):
    """What a model is once the engine has loaded it, without bags; objects without ids get some."""
    with Engine(PACKAGES).session() as session:
        found = session.dump(session.load(model), whole=False)
    return without_bags(found)


def without_bags(value):
    if isinstance(value, list):
        return [without_bags(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {name: without_bags(each) for name, each in value.items() if name != "_bag"}


def thing(type_, id_, **properties):
    return {"?": {"type": f"s.{type_}", "classVersion": "1.0.0", "id": id_}, **properties}


def shop(**properties):
    return thing("Shop", "shop", **properties)


def test_a_model_goes_over_a_major_version_and_back():
    db = thing("Db", "db", size=10)
    model = shop(port=8080, motto="open", db=db, labels={"a": "b"}, any={"?": {"type": "x"}})
    there = carried(model, "shop@2").model
    assert without_bags(there) == {
        "?": {"type": "s.Shop/2.0.0@shop", "id": "shop"},
        "ports": [8080],
        "db": {"?": {"type": "s.Store/2.0.0@shop", "id": "db"}, "size": "10"},
        "labels": {"a": "b"},
        "any": {"?": {"type": "x"}},
    }
    assert there["?"]["_bag"]["motto"] == {"1.0.0": {"value": "open"}}
    assert meaning(carried(there, "shop@1").model) == meaning(model)


def test_what_is_edited_on_the_other_side_is_edited_and_the_rest_as_it_was():
    there = carried(shop(port=8080, motto="open"), "shop@2").model
    there["ports"] = [1, 2]
    there["zone"] = "north"
    back = carried(there, "shop@1").model
    assert without_bags(back) == {
        "?": {"type": "s.Shop/1.0.0@shop", "id": "shop"},
        "port": 1,
        "motto": "open",
    }
    again = carried(back, "shop@2").model
    assert again["ports"] == [1, 2]
    assert again["zone"] == "north"


def test_references_stay_references_and_owners_stay_owners():
    one, two = thing("Db", "one", peer="two"), thing("Db", "two", peer="one")
    model = shop(db=one, nodes=[], spare=two)
    there = carried(model, "shop@2").model
    assert there["db"]["peer"] == "two"
    back = carried(there, "shop@1").model
    assert back["db"]["peer"] == "two"
    assert meaning(back) == meaning(model)


def test_an_object_without_a_place_rides_in_the_bag_of_its_owner_in_full():
    spare = thing("Db", "spare", size=4, peer=thing("Db", "inner", size=5))
    there = carried(shop(spare=spare), "shop@2").model
    assert "spare" not in there
    mark = there["?"]["_bag"]["spare"]["1.0.0"]["value"]
    assert mark["object"]["peer"]["size"] == 5
    assert meaning(carried(there, "shop@1").model) == meaning(shop(spare=spare))


def test_lists_of_objects_that_become_maps_come_back():
    nodes = [thing("Node", "a", rank=1, address="::1"), thing("Node", "b", os="linux")]
    there = carried(shop(nodes=nodes), "shop@2").model
    assert "nodes" not in there
    assert meaning(carried(there, "shop@1").model) == meaning(shop(nodes=nodes))


def test_the_rules_of_an_ancestor_hold_for_its_child_classes():
    node = thing("Node", "a", rank=1, address="::1", os="linux")
    there = carried(node, "shop@2").model
    assert there["ip"] == "::1"
    assert set(there["?"]["_bag"]) == {"os", "rank"}
    assert meaning(carried(there, "shop@1").model) == meaning(node)


def test_maps_with_named_keys_keep_their_rest_in_the_header():
    model = shop(limits={"cpu": 1, "ram": 2})
    there = carried(model, "shop@2").model
    assert there["limits"] == {"cpu": 1}
    assert meaning(there)["limits"] == {"cpu": 1, "disk": None}
    back = carried(there, "shop@1").model
    assert back["limits"] == {"cpu": 1, "ram": 2}


def test_the_other_packages_of_a_model_stay_and_what_is_in_them_does_not():
    host = {"?": {"type": "l.Host", "classVersion": "1.0.0", "id": "h"}, "address": "::1"}
    app = package(
        "app",
        "1.0.0",
        {"shop": "*"},
        {"b.App": "Properties: {s: {Contract: $}, h: {Contract: $.class(s.Shop)}}"},
    )
    evolutions = PackageEvolutions([*PACKAGES, app])
    model = {"?": {"type": "b.App", "id": "app"}, "h": shop(port=1), "s": [1]}
    there = carried(model, "shop@2", evolutions=evolutions).model
    assert there["?"] == {"type": "b.App/1.0.0@app", "id": "app"}
    assert there["s"] == [1]
    assert there["h"]["?"]["type"] == "s.Shop/2.0.0@shop"
    assert carried(host, "shop@2").model["?"]["type"] == "l.Host/1.0.0@lib"
    both = {"Objects": shop(nodes=[thing("Node", "n")]), "Attributes": [["n", "s.Node", "k", 1]]}
    assert carried(both, "shop@2", "lib@2").model["Attributes"] == both["Attributes"]


def test_objects_of_classes_that_the_version_does_not_have_stay_with_a_finding():
    old = thing("Old", "old", x=5)
    found = carried({"Objects": old, "Attributes": [], "ObjectsCopy": None}, "shop@2")
    assert found.model["Objects"]["?"]["type"] == "s.Old/1.0.0@shop"
    assert found.model["Objects"]["x"] == 5
    (finding,) = found.findings
    assert (finding.code, finding.severity) == (ModelCode.NOT_THERE, "warning")
    assert finding.place.path == "$.Objects"


def test_objects_of_classes_that_no_package_has_stay_with_a_finding():
    model = shop(db={"?": {"type": "gone.Db", "id": "g"}, "size": 5})
    found = carried(model, "shop@2")
    assert found.model["db"] == model["db"]
    assert [(each.code, each.place.path) for each in found.findings] == [
        (ModelCode.NO_CLASS, "$.db")
    ]


def test_objects_without_a_header_are_of_the_class_that_the_contract_names():
    there = carried(shop(db={"size": 7}), "shop@2").model
    assert there["db"]["?"]["type"] == "s.Store/2.0.0@shop"
    assert there["db"]["size"] == "7"
    assert there == carried(shop(db={"size": 7}), "shop@2").model, "ids are the same each time"


def test_the_copy_of_the_last_run_is_carried_as_well():
    model = {"Objects": None, "Attributes": [], "ObjectsCopy": shop(port=5)}
    assert carried(model, "shop@2").model["ObjectsCopy"]["ports"] == [5]


def test_what_no_class_knows_stays_with_its_object():
    there = carried(shop(odd={"deep": [1]}, limits={"cpu": 1, "odd": 2}), "shop@2").model
    assert there["odd"] == {"deep": [1]}
    assert carried(there, "shop@1").model["limits"] == {"cpu": 1, "odd": 2}


def test_a_version_of_the_line_is_enough_and_the_same_version_changes_nothing():
    model = shop(port=5)
    found = carried(model, "shop@1").model
    assert meaning(found) == meaning(model)
    assert carried(found, "shop@1.0.0").model == found


def test_the_model_that_is_given_is_left_alone():
    model = shop(port="5", db={"size": 1}, nodes=thing("Node", "n"))
    before = copy.deepcopy(model)
    carried(model, "shop@2")
    assert model == before


@pytest.mark.parametrize(
    ("properties", "path"),
    [
        ({"port": "x"}, "$.port"),
        ({"motto": 1.5}, "$.motto"),
        ({"db": 5}, "$.db"),
        ({"limits": 5}, "$.limits"),
        ({"limits": {"cpu": []}}, "$.limits.cpu"),
        ({"db": {"?": {"type": "s.Db"}, "size": "x"}}, "$.db.size"),
    ],
)
def test_a_value_that_does_not_load_is_an_error_with_its_place(properties, path):
    with pytest.raises(ModelError) as raised:
        carried(shop(**properties), "shop@2")
    assert path in [each.place.path for each in raised.value.findings]
    with Engine(PACKAGES).session() as session, pytest.raises(EngineError):
        session.load(shop(**properties))


@pytest.mark.parametrize(
    ("bag", "path", "found"),
    [
        ([1], "$['?']._bag", "expected a map of entries"),
        ({"$within": 5}, "$['?']._bag['$within']", "expected a map of entries"),
        ({"zone": {"2.0.0": {"value": [1]}}}, "$", "the entry 'zone' of version 2.0.0"),
        ({"zone": {"2.0.0": 5}}, "$", "an object of s.Shop/1.0.0@shop"),
    ],
)
def test_a_bag_that_cannot_be_read_is_an_error_with_the_object_and_both_versions(bag, path, found):
    model = shop(port=1)
    model["?"]["_bag"] = bag
    with pytest.raises(ModelError) as raised:
        carried(model, "shop@2")
    (error,) = raised.value.findings
    assert error.place.path == path
    assert found in str(error)


@pytest.mark.parametrize("wanted", ["shop", "@2", "shop@", ""])
def test_a_target_names_a_package_and_a_version(wanted):
    with pytest.raises(Exception, match="expected NAME@VERSION"):
        carried(shop(), wanted)


def test_a_target_that_is_not_there_is_an_error():
    with pytest.raises(EngineError, match=r"only 1\.0\.0, 2\.0\.0"):
        carried(shop(), "shop@3")


def test_what_a_release_requires_gets_what_its_rules_say():
    one = package("p", "1.0.0", classes={"p.A": "Properties: {a: {Contract: $.int()}}"})
    text = "Properties: {b: {Contract: $.string().notNull()}}"
    two = ruled(package("p", "2.0.0", classes={"p.A": text}), "2.0.0: {p.A: {default: {b: none}}}")
    evolutions = PackageEvolutions([one, two])
    model = {"?": {"type": "p.A/1.0.0@p"}, "a": 1}
    there = carried(model, "p@2", evolutions=evolutions).model
    assert there["b"] == "none"
    back = carried(there, "p@1", evolutions=evolutions).model
    assert back["a"] == 1
    assert carried(back, "p@2", evolutions=evolutions).model == there


def test_rules_that_fit_nothing_are_errors_with_file_and_line():
    evolutions = PackageEvolutions(packages(RULES.replace("port: ports", "prt: ports")))
    with pytest.raises(ModelError, match=r"^shop/2.0.0/evolution.yaml:4: `wrap` names prt"):
        carried(shop(), "shop@2", evolutions=evolutions)
    assert carried(shop(), "shop@1", evolutions=evolutions).findings == ()


def test_hop_by_hop_is_as_straight_and_what_a_gap_lacked_returns():
    contracts = ("{a: {Contract: $.int()}, m: {Contract: $.string()}}", "{b: {Contract: $.int()}}")
    texts = [*contracts, "{b: {Contract: $.string()}, m: {Contract: $.string()}}"]
    one, two, three = (
        package("w", f"{at}.0.0", classes={"w.A": f"Properties: {text}"})
        for at, text in enumerate(texts, start=1)
    )
    two = ruled(two, "1.0.0: {w.A: {rename: {a: b}}}")
    three = ruled(three, "2.0.0: {w.A: {convert: {b: integer-to-string}}}")
    evolutions = PackageEvolutions([one, two, three])

    def over(model, *versions):
        for each in versions:
            model = carried(model, f"w@{each}", evolutions=evolutions).model
        return model

    model = {"?": {"type": "w.A/1.0.0@w", "id": "x"}, "a": 5, "m": "hello"}
    assert over(model, 3) == {"?": {"type": "w.A/3.0.0@w", "id": "x"}, "b": "5", "m": "hello"}
    assert over(model, 2, 3) == over(model, 3)
    assert over(model, 3, 1) == over(model, 2, 3, 1) == over(model, 3, 2, 1) == model


def test_a_model_may_be_deep():
    model = thing("Db", "d0", size=0)
    for at in range(1, 400):
        model = thing("Db", f"d{at}", size=at, peer=model)
    there = carried(model, "shop@2").model
    for at in reversed(range(400)):
        assert there["size"] == str(at)
        there = there.get("peer", {})


# All models

TEXTS = st.sampled_from(["", "x", "5"])
NUMBERS = st.one_of(st.none(), st.integers(-3, 2**70))


def objects(type_, **properties):
    """Objects with any of some properties."""
    return st.fixed_dictionaries({}, optional=properties).map(
        lambda found: {"?": {"type": f"s.{type_}/1.0.0@shop"}, **found}
    )


DBS = st.recursive(
    objects("Db", size=NUMBERS),
    lambda inner: objects("Db", size=NUMBERS, peer=st.one_of(st.none(), inner, st.just("root"))),
    max_leaves=3,
)
NODES = objects("Node", rank=NUMBERS, address=TEXTS, os=st.one_of(st.none(), TEXTS))
SHOPS = objects(
    "Shop",
    port=NUMBERS,
    motto=st.one_of(st.none(), TEXTS),
    spare=st.one_of(st.none(), DBS),
    db=st.one_of(st.none(), objects("Db", size=NUMBERS)),
    nodes=st.lists(NODES, max_size=3),
    limits=st.fixed_dictionaries({}, optional={"cpu": NUMBERS, "ram": NUMBERS}),
    labels=st.dictionaries(TEXTS, TEXTS, max_size=2),
    any=st.recursive(TEXTS, lambda inner: st.lists(inner, max_size=2), max_leaves=3),
)


def numbered(value, count):
    """A model whose objects have ids; the first is the root."""
    if isinstance(value, list):
        return [numbered(each, count) for each in value]
    if not isinstance(value, dict):
        return value
    found = dict(value)
    if "?" in value:
        count.append(0)
        found["?"] = {**value["?"], "id": "root" if len(count) == 1 else f"o{len(count)}"}
    return {name: each if name == "?" else numbered(each, count) for name, each in found.items()}


@pytest.mark.full
@given(SHOPS)
def test_every_model_comes_back_over_a_major_version_as_it_was(drawn):
    model = numbered(drawn, [])
    before = meaning_with_any_reference(model)
    there = carried(model, "shop@2", "lib@2").model
    back = carried(there, "shop@1", "lib@1").model
    assert meaning_with_any_reference(back) == before
    assert json.loads(json.dumps(carried(back, "shop@2", "lib@2").model)) == there


def meaning_with_any_reference(model):
    """References to the root are to an object of another class, which no contract takes."""
    plain = json.loads(json.dumps(model).replace('"peer": "root"', '"peer": null'))
    return meaning(plain), json.dumps(model).count('"peer": "root"')
