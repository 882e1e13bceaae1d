"""The rules of the house: what a room may import, no circles, no private modules of others."""

import importlib
import inspect
import re
from collections import Counter, defaultdict

import house
import pytest

ALLOWED = {
    "cli": {
        "api",
        "catalog",
        "channels",
        "dashboard",
        "documents",
        "engine",
        "environments",
        "errors",
        "evolution",
        "forms",
        "installation",
        "kubernetes",
        "models",
        "packages",
        "pages",
        "parts",
        "project",
        "providers",
        "registry",
        "report",
        "runtime",
        "schema",
        "store",
        "testing",
        "verify",
        "version",
        "workers",
    },
    "dashboard": {
        "api",
        "channels",
        "documents",
        "drawing",
        "errors",
        "evolution",
        "forms",
        "installation",
        "packages",
        "pages",
        "project",
        "registry",
        "report",
        "runtime",
        "schema",
        "store",
        "version",
    },
    "testing": {"engine", "errors", "packages", "project", "providers", "version", "workers"},
    "providers": {"engine", "errors", "project"},
    "environments": {
        "catalog",
        "database",
        "engine",
        "errors",
        "forms",
        "models",
        "packages",
        "project",
        "version",
    },
    "kubernetes": {
        "api",
        "channels",
        "documents",
        "errors",
        "installation",
        "project",
        "registry",
        "runtime",
        "version",
    },
    "pages": {"engine", "errors", "packages", "project", "report", "schema", "version"},
    "installation": {
        "channels",
        "database",
        "errors",
        "packages",
        "registry",
        "store",
        "version",
    },
    "models": {"engine", "errors", "evolution", "project", "runtime", "schema", "version"},
    "parts": {"documents", "errors", "project", "runtime", "workers"},
    "project": {
        "cel",
        "codegen",
        "documents",
        "engine",
        "errors",
        "evolution",
        "forms",
        "packages",
        "report",
        "runtime",
        "schema",
        "verify",
        "version",
        "workers",
    },
    "api": {
        "catalog",
        "cel",
        "database",
        "documents",
        "engine",
        "environments",
        "errors",
        "evolution",
        "forms",
        "packages",
        "project",
        "runtime",
        "schema",
        "store",
        "version",
        "workers",
    },
    "verify": {"codegen", "errors", "evolution", "runtime", "schema", "version"},
    "channels": {"documents", "errors", "packages", "registry", "version"},
    "registry": {"errors"},
    "store": {"database", "errors", "runtime", "version"},
    "catalog": {
        "channels",
        "database",
        "engine",
        "errors",
        "forms",
        "packages",
        "project",
        "registry",
        "version",
    },
    "forms": {"documents", "engine", "errors", "packages"},
    "drawing": set(),
    "engine": {"documents", "drawing", "errors", "packages", "schema", "version"},
    "packages": {"documents", "errors", "version"},
    "codegen": {"errors", "evolution", "runtime", "schema", "version"},
    "report": {"errors", "evolution", "schema", "version"},
    "evolution": {"errors", "schema", "version"},
    "schema": {"documents", "errors", "version"},
    "cel": {"runtime", "version"},
    "runtime": {"errors", "version"},
    "database": {"errors"},
    "documents": {"errors"},
    "workers": {"errors"},
    "version": {"errors"},
    "errors": set(),
}
"""The rooms that each room may import."""


@pytest.fixture(scope="module")
def found():
    return house.graph()


def test_every_folder_is_a_room():
    folders = {each.parent.name for each in (house.ROOT / "src" / "trundle").glob("*/__init__.py")}
    assert folders == set(house.ROOMS) == set(ALLOWED)


def test_a_room_imports_only_rooms_below_it(found):
    pairs = house.between_rooms(found)
    assert {each for each in pairs if each[1] not in ALLOWED[each[0]]} == set()
    place = {room: at for at, room in enumerate(house.ROOMS)}
    rules = {(room, below) for room, rooms in ALLOWED.items() for below in rooms}
    assert {each for each in rules if place[each[0]] >= place[each[1]]} == set()


def test_no_room_imports_a_private_module_of_another(found):
    assert house.private_imports(found) == set()


def test_modules_do_not_import_each_other_in_circles(found):
    assert house.circles(found) == set()


def test_the_picture_of_the_house_is_that_of_the_code(found):
    drawn = house.picture(house.between_rooms(found))
    assert house.PICTURE.read_text("utf-8") == drawn, "run `make house`"


def test_yaml_is_read_in_one_room():
    source = house.ROOT / "src" / "trundle"
    imports = re.compile(r"^\s*(import yaml\b|from yaml\b)", re.MULTILINE)
    found = {each for each in source.rglob("*.py") if imports.search(each.read_text("utf-8"))}
    assert {each.relative_to(source).parts[0] for each in found} == {"documents"}


SAME_IN_SEVERAL_ROOMS = {
    "BusyError": "another process holds what is needed",
    "ConflictError": "another process changed what was about to be changed",
    "FreeForm": "any JSON, as a schema has it and as it is at run time",
    "NoSuchObjectError": "there is no object of that name",
    "Place": "where a finding is; where a property is",
    "Property": "what a type has, in schemas and in classes of packages",
    "UnknownVersionError": "there is no such version",
    "UnreachableError": "a server does not answer",
}
"""The classes that the faces of several rooms have under one name, and why a reader will not confuse them."""


def test_a_name_means_one_class_in_all_faces():
    found = defaultdict(set)
    for room in house.ROOMS:
        face = importlib.import_module(f"trundle.{room}")
        for name in getattr(face, "__all__", ()):
            if inspect.isclass(value := getattr(face, name)):
                found[name].add(value)
    assert {name for name, classes in found.items() if len(classes) > 1} == {*SAME_IN_SEVERAL_ROOMS}


def test_test_modules_have_names_of_their_own():
    names = Counter(each.name for each in (house.ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
