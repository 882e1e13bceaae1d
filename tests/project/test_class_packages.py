"""Python classes for packages of classes: a type checker judges their types, the engine the models built with them."""

import importlib
import json
import sys
import textwrap

import pytest
from engines import package
from mypy import api as mypy

from trundle.engine import Engine, core_packages
from trundle.packages import Package
from trundle.project import FindingsError
from trundle.project.class_packages import class_files
from trundle.runtime.model_objects import ModelHeader, ModelObject, OtherObject

NET = package(
    "acme.Net",
    "1.1.0",
    classes={
        "acme.Net": "Properties:\n  cidr: {Contract: $.string().notNull()}\n",
        "acme.Fast": "Extends: acme.Net\nProperties:\n  speed: {Contract: $.int(), Default: 10}\n",
    },
)
NET_2 = package("acme.Net", "1.2.0", classes={"acme.Net": "Properties:\n  cidr: {Contract: $}\n"})
NET_3 = package("acme.Net", "2.0.0", classes={"acme.Net": "Properties:\n  cidr: {Contract: $}\n"})
SHOP = package(
    "acme.Shop",
    "1.0.0",
    {"acme.Net": "1"},
    {
        "acme.Base": (
            "Properties:\n  net: {Contract: $.class(acme.Net)}\n  size: {Contract: $.int()}\n"
            "  note: {Contract: $.string()}\n"
        ),
        "acme.Shop": """\
Extends: acme.Base
Properties:
  size: {Contract: $.int().notNull()}
  note: {Contract: $.int()}
  inner: {Contract: $.class(acme.Shop)}
  camelCase: {Contract: $.bool(), Default: true}
  class: {Contract: $.string(), Default: c}
  header: {Contract: $.string(), Default: h}
  nets: {Contract: [$.class(acme.Net).notNull()]}
  byName: {Contract: {$.string().notNull(): $.class(acme.Net)}}
  parts: {Contract: {main: $.class(acme.Net).notNull(), label: $.string()}, Default: {main: {cidr: m}}}
  any: {Contract: $}
  seen: {Contract: $.class(acme.Net).notOwned()}
  plan: {Contract: $.template(acme.Net)}
  made: {Contract: $.int(), Usage: Out}
  hidden: {Contract: $.int(), Usage: Runtime}
Methods:
  act: {Scope: Public}
""",
    },
)


@pytest.fixture
def generated(tmp_path, monkeypatch):
    """Writes the Python package of some packages and imports it; gives its modules by name."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(*packages, name="shopping"):
        for path, content in class_files(packages, name).items():
            file = tmp_path / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        importlib.invalidate_caches()
        for each in [each for each in sys.modules if each.partition(".")[0] == name]:
            del sys.modules[each]
        return lambda module="": importlib.import_module(f"{name}.{module}".rstrip("."))

    return write


def complaints(tmp_path, code):
    """What mypy has against code that uses the generated package, in its strict mode."""
    (tmp_path / "author.py").write_text(textwrap.dedent(code))
    deepest = sys.getrecursionlimit()
    try:
        out, _, _ = mypy.run(
            ["--strict", "--cache-dir", str(tmp_path / "cache"), "-p", "shopping", "-m", "author"]
        )
    finally:
        sys.setrecursionlimit(deepest)  # mypy raises it for the process
    return [line.partition("author.py:")[2] for line in out.splitlines() if "error:" in line]


@pytest.fixture
def checked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda code: complaints(tmp_path, code)


def test_a_model_that_is_built_loads_and_its_dump_gives_the_same_bytes(generated):
    modules = generated(NET, NET_2, SHOP)
    net, shop = modules("acme_net.v1_1_0"), modules("acme_shop.v1_0_0")
    shared = net.Fast(header=ModelHeader(id="fast", name="Fast one"), cidr="10.0.0.0/8")
    built = shop.Shop(
        header=ModelHeader(id="shop", kept={"_note": [1]}),
        net=shared,
        size=3,
        header_2="text",
        nets=[shared, net.Net(header=ModelHeader(id="own"), cidr="x")],
        by_name={"a": net.Net(header=ModelHeader(id="named"), cidr="y"), "b": None, "c": "own"},
        inner=shop.Shop(header=ModelHeader(id="inner"), size=4, seen=shared),
        plan={"?": {"type": "acme.Net"}, "cidr": "z"},
    )
    with Engine([NET, NET_2, SHOP]).session() as session:
        root = session.load(built.to_model())
        dumped = session.dump(root)["Objects"]
        assert set(session.objects) >= {"fast", "inner", "named", "own", "shop"}
        assert root.get("net").type.label == "acme.Fast/1.1.0@acme.Net"
        assert (root.get("header"), root.get("camelCase")) == ("text", True)
        again = modules().read(dumped, shop.Shop)
        assert json.dumps(again.to_model()) == json.dumps(dumped)
        fast = again.nets[0]
        assert (type(fast), fast.speed, fast.header.name) == (net.Fast, 10, "Fast one")
        assert (again.net, again.inner.seen) == ("fast", "fast")
        assert again.header.kept["_actions"]
    with Engine([NET, NET_2, SHOP]).session() as session:
        assert json.dumps(session.dump(session.load(again.to_model()))["Objects"]) == json.dumps(
            dumped
        )


@pytest.mark.full
def test_types_are_those_of_the_contracts(generated, checked):
    generated(NET, NET_2, NET_3, SHOP)
    head = """\
        from shopping import read
        from shopping.acme_net import v1_1_0, v1_2_0, v2_0_0
        from shopping.acme_shop.v1_0_0 import Base, Shop
        net = v1_1_0.Net(cidr="x")
        """
    assert (
        checked(
            f"""{head}
        shop = Shop(size=1, net=net, nets=[net, v1_2_0.Net(cidr=1), "id"], camel_case=False)
        base: Base = shop
        fast = Base(net=v1_1_0.Fast(cidr="x", speed=None))
        number: int = shop.size
        found: Shop = read({{}}, Shop)
        """
        )
        == []
    )
    wrong = [
        "Shop()",
        "Shop(size='1')",
        "Shop(size=None)",
        "Shop(size=1, net=v2_0_0.Net(cidr='x'))",
        "Shop(size=1, net=Base())",
        "Shop(size=1, nets=[None])",
        "Shop(size=1, by_name={'a': 1})",
        "Shop(size=1, camel_case=1)",
        "Shop(size=1, hidden=1)",
        "v1_1_0.Net(cidr=None)",
        "Base(net=v1_1_0.Fast(cidr='x', speed='1'))",
    ]
    found = checked(head + "".join(f"\n        {each}" for each in wrong))
    assert [int(each.partition(":")[0]) for each in found] == list(range(6, 6 + len(wrong)))


@pytest.mark.full
def test_the_core_library_passes_the_type_checker(generated, checked):
    generated(*core_packages())
    assert checked("import shopping") == []


@pytest.mark.full
def test_classes_that_python_could_not_order_by_their_parents_are_classes(generated, checked):
    texts = {
        "a.P": "", "a.Q": "", "a.X": "", "a.Y": "",
        "a.Px": "Extends: [a.P, a.X]", "a.Qy": "Extends: [a.Q, a.Y]",
        "a.Ry": "Extends: [a.Q, a.Y, a.X]", "a.Sx": "Extends: [a.X, a.P]",
        "a.One": "Extends: [a.Px, a.Qy]", "a.Two": "Extends: [a.Ry, a.Sx]",
        "a.All": "Extends: [a.One, a.Two, a.Sx, a.Px]",
    }  # fmt: skip
    module = generated(package("a", classes=texts))
    found = module("a.v1_0_0")
    for name in ("P", "Q", "X", "Y", "Px", "Sx", "One", "Two"):
        assert issubclass(found.All, getattr(found, name))
    assert checked("from shopping.a.v1_0_0 import All, Sx\nx: Sx = All()\n") == []


def test_classes_of_one_name_are_told_apart(generated):
    found = generated(package("a", classes={"a.b.Db": "", "a.c.Db": "", "a.Class": ""}))
    module = found("a.v1_0_0")
    assert {module.ABDb.MODEL_CLASS, module.ACDb.MODEL_CLASS} == {
        "a.b.Db/1.0.0@a",
        "a.c.Db/1.0.0@a",
    }
    assert set(found().CLASSES) >= {"a.Class/1.0.0@a"}


def test_packages_whose_names_python_does_not_take_as_modules_are_modules(generated):
    digit = package("3scale", classes={"3scale.9Node": ""})
    modules = generated(digit, package("class", classes={"class.A": ""}))
    assert modules("package_3scale.v1_0_0").Type9Node.MODEL_CLASS == "3scale.9Node/1.0.0@3scale"
    assert modules("package_class.v1_0_0").A().to_model()["?"]["type"] == "class.A/1.0.0@class"


def test_what_cannot_be_a_model_is_refused(generated):
    modules = generated(NET, SHOP)
    net, shop = modules("acme_net.v1_1_0"), modules("acme_shop.v1_0_0")
    alone = net.Net(header=ModelHeader(id="alone"), cidr="x")
    with pytest.raises(ValueError, match=r"acme.Shop/1.0.0@acme.Shop.seen: .* found alone, which"):
        shop.Shop(size=1, seen=alone).to_model()
    other = net.Net(header=ModelHeader(id="alone"), cidr="x")
    with pytest.raises(ValueError, match="two with 'alone'"):
        shop.Shop(size=1, nets=[alone, other]).to_model()
    for model, message in (
        ({"size": 1}, r"\$: expected the class of an object"),
        ({"?": {"type": "acme.Shop"}}, "found 'acme.Shop'; dump the model"),
        ({"?": {"type": "acme.Shop/1.0.0@acme.Shop"}, "sise": 1}, "did you mean size"),
        ({"?": {"type": "acme.Shop/1.0.0@acme.Shop"}}, r"\$: .*'size'"),
        ({"?": {"type": "acme.Net/1.1.0@acme.Net"}, "cidr": ""}, "expected an object of acme.Shop"),
    ):
        with pytest.raises(ValueError, match=message):
            modules().read(model, shop.Shop)


def test_objects_of_classes_that_are_not_generated_stay_as_they_are(generated):
    modules = generated(NET, NET_2, SHOP)
    model = {
        "?": {"type": "acme.Shop/1.0.0@acme.Shop", "id": "s"},
        "size": 1,
        "net": {"?": {"type": "b.Net/1.0.0@b", "id": "n"}, "x": [{"?": 1}]},
    }
    found = modules().read(model, ModelObject)
    assert isinstance(found.net, OtherObject)
    assert json.dumps(found.to_model()) == json.dumps(model)


def test_objects_are_as_deep_as_they_like(generated):
    chain = package("a", classes={"a.Link": "Properties:\n  next: {Contract: $.class(a.Link)}\n"})
    modules = generated(chain)
    link = None
    for at in range(20_000):
        link = modules("a.v1_0_0").Link(header=ModelHeader(id=str(at)), next_=link)
    link.next_.next_.next_ = link  # In full where it is met first.
    model = modules().read(link.to_model(), ModelObject).to_model()
    assert model["next"]["next"]["next"] == "19999"


def test_packages_that_extend_each_other_in_a_circle_are_refused():
    one = package("a", "1.0.0", {"b": "1"}, {"a.X": "Extends: b.Y", "a.Z": ""})
    two = package("b", "1.0.0", {"a": "1"}, {"b.Y": "", "b.W": "Extends: a.Z"})
    with pytest.raises(FindingsError, match=r"found (a/1.0.0 -> b/1.0.0|b/1.0.0 -> a/1.0.0)"):
        class_files([one, two], "shopping")


def test_packages_that_refer_to_each_other_are_generated(generated):
    refers = "Properties:\n  x: {{Contract: $.class({})}}\n"
    one = package("a", "1.0.0", {"b": "1"}, {"a.X": refers.format("b.Y")})
    two = package("b", "1.0.0", {"a": "1"}, {"b.Y": refers.format("a.X")})
    modules = generated(one, two)
    made = modules("a.v1_0_0").X(x=modules("b.v1_0_0").Y(x="id"))
    assert made.to_model()["x"]["x"] == "id"


def test_the_files_are_the_same_whatever_the_order_of_packages():
    assert class_files([NET, NET_2, SHOP], "p") == class_files([SHOP, NET_2, NET], "p")
    assert isinstance(NET, Package)


MAPS = package(
    "acme.Maps",
    "1.0.0",
    {"acme.Net": "1"},
    {
        "acme.Maps": """\
Properties:
  parts: {Contract: {main: $.class(acme.Net).notNull(), label: $.string()}, Default: {main: {cidr: m}}}
  sizes: {Contract: {$.string().notNull(): $.int().notNull()}}
  ports: {Contract: {$.int().notNull(): $.string()}}
  odd: {Contract: {size: $.int().notNull(), class: $.string()}, Default: {size: 1}}
  deep: {Contract: {list: [{name: $.string().notNull()}], more: {flag: $.bool()}}}
  mixed: {Contract: {first: $.int(), $.string(): $.string()}}
  free: {Contract: {}}
""",
        "acme.Heir": "Extends: acme.Maps\nProperties:\n  own: {Contract: {label: $.string()}}\n",
    },
)


@pytest.mark.full
def test_maps_are_typed_as_the_contracts_say(generated, checked):
    generated(NET, MAPS)
    head = """\
        from shopping.acme_net.v1_1_0 import Net
        from shopping.acme_maps.v1_0_0 import Heir, Maps, MapsParts
        net = Net(cidr="x")
        parts: MapsParts = {"main": net}
        """
    right = [
        "Maps(parts=parts, sizes={'a': 1}, ports={80: 'http', 443: None})",
        "Maps(parts={'main': 'id', 'label': None}, odd={'size': 1, 'class': 'c'})",
        "Maps(deep={'list': [{'name': 'n'}], 'more': {'flag': True}}, mixed={'first': 1, 'b': 'c'})",
        "Heir(own={'label': 'l'}, parts=parts, free={'any': [1]})",
    ]
    assert checked(head + "".join(f"\n        {each}" for each in right)) == []
    wrong = [
        "Maps(parts={'label': 'l'})",
        "Maps(parts={'main': net, 'labl': 'l'})",
        "Maps(sizes={'a': 'b'})",
        "Maps(sizes={1: 1})",
        "Maps(ports={'80': 'http'})",
        "Maps(odd={'class': 'c'})",
        "Maps(odd={'size': 'large'})",
        "Maps(deep={'list': [{}]})",
        "Maps(deep={'more': {'flag': 1}})",
        "Heir(own={'name': 'l'})",
        "Heir(parts={'label': 'l'})",
    ]
    found = checked(head + "".join(f"\n        {each}" for each in wrong))
    assert [int(each.partition(":")[0]) for each in found] == list(range(6, 6 + len(wrong)))


def test_models_with_typed_maps_load(generated):
    generated(NET, MAPS)
    maps = importlib.import_module("shopping.acme_maps.v1_0_0")
    net = importlib.import_module("shopping.acme_net.v1_1_0")
    made = maps.Heir(
        parts={"main": net.Net(cidr="x")},
        sizes={"a": 1},
        ports={80: "http"},
        odd={"size": 2},
        deep={"list": [{"name": "n"}], "more": {"flag": True}},
        own={"label": "l"},
    )
    with Engine([NET, MAPS]).session() as session:
        loaded = session.load(made.to_model())
        assert loaded.get("parts")["main"].get("cidr") == "x"
        assert loaded.get("parts")["label"] is None
        assert loaded.get("odd") == {"size": 2, "class": None}
        dumped = session.dump(loaded)["Objects"]
    read = importlib.import_module("shopping").read(dumped, maps.Heir)
    assert read.parts["main"].cidr == "x"
    assert json.dumps(read.to_model()) == json.dumps(dumped)
