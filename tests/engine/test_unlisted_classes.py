"""Classes that stand in a class file beside those that the manifest lists."""

import pytest

from trundle.engine import Engine, EngineError
from trundle.packages import Package

MANIFEST = (
    "Format: 1.4\nType: Library\nFullName: {name}\nVersion: {version}\nClasses: {{{classes}}}\n"
)
FILE = """\
Namespaces: {=: a}
---
Name: Helper
Properties: {n: {Contract: $.int(), Default: 1}}
---
Name: Main
Properties: {helper: {Contract: $.class(Helper), Default: {}, Usage: InOut}}
Methods:
  make:
    Body:
      Return: new(Helper, n => 5)
"""


def package(name="a", version="1.0.0", classes="a.Main: main.yaml", file=FILE, more=""):
    manifest = MANIFEST.format(name=name, version=version, classes=classes) + more
    return Package.from_files({"manifest.yaml": manifest, "Classes/main.yaml": file})


def test_the_code_of_the_package_uses_them_and_models_keep_them():
    engine = Engine([package()])
    with engine.session() as session:
        root = session.load({"?": {"type": "a.Main"}})
        assert root.get("helper").get("n") == 1
        assert session.call(root, "make", internal=True).get("n") == 5
        root.set("helper", {"n": 7})
        model = session.dump(root)
    assert model["Objects"]["helper"]["?"]["type"] == "a.Helper/1.0.0@a"
    with engine.session() as session:
        assert session.load(model).get("helper").get("n") == 7


def test_other_packages_do_not_see_them():
    other = package(
        "b",
        classes="b.B: main.yaml",
        file="Name: b.B\nExtends: a.Helper\n",
        more="Require: {a: 1}\n",
    )
    with Engine([package(), other]).session() as session:
        with pytest.raises(EngineError) as caught:
            session.type("b.B")
        assert caught.value.code == "no-class"
        with pytest.raises(EngineError):
            session.type("a.Helper")
        assert session.type("a.Helper", package="a").label == "a.Helper/1.0.0@a"


def test_each_version_has_its_own():
    newer = package(version="1.1.0", file=FILE.replace("Helper", "Other"))
    with Engine([package(), newer]).session() as session:
        assert session.type("a.Helper", package="a").label == "a.Helper/1.0.0@a"
        assert session.type("a.Other", package="a").label == "a.Other/1.1.0@a"
        with pytest.raises(EngineError, match=r"only 1\.0\.0"):
            session.type("a.Helper", ">=1.1", "a")


def test_a_requirement_that_lists_a_class_comes_first():
    lib = Package.from_files(
        {
            "manifest.yaml": MANIFEST.format(
                name="lib", version="1.0.0", classes="a.Helper: h.yaml"
            ),
            "Classes/h.yaml": "Name: a.Helper\nProperties: {lib: {Contract: $}}\n",
        }
    )
    with Engine([package(more="Require: {lib: 1}\n"), lib]).session() as session:
        main = session.type("a.Main")
        assert session.resolve("a.Helper", main).package == "lib"


def test_a_file_that_cannot_be_read_hides_none_of_the_others():
    files = {
        "manifest.yaml": MANIFEST.format(
            name="a", version="1.0.0", classes="a.Bad: bad.yaml, a.Main: main.yaml"
        ),
        "Classes/bad.yaml": "Name: [",
        "Classes/main.yaml": FILE,
    }
    with Engine([Package.from_files(files)]).session() as session:
        assert session.load({"?": {"type": "a.Main"}}).get("helper").get("n") == 1
