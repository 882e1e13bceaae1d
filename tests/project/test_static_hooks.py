"""Hooks of schema projects that are static methods of classes in the package: what is found, generated and called."""

import contextlib
import importlib
import json
import re
import sys
import threading
from pathlib import Path

import pytest
from endless import LIMIT_REACHED
from projects import installer

from trundle.project import CarriedProjects
from trundle.project._method_errors import StaticMethodError
from trundle.project._methods_here import MethodsHere
from trundle.project.generating import generate
from trundle.project.release_changes import changes_between
from trundle.project.static_methods import APART
from trundle.runtime import HookError

STRING = "{type: string}"
MANIFEST = """\
    Format: 1.4
    FullName: acme.Crm
    Version: 1.2.3
    Type: Library
    Require: {acme.Missing: 1}
    Classes: {acme.Names: Names.yaml, acme.Base: Base.yaml, acme.Far: Far.yaml}
"""
BASE = """\
    Namespaces: {=: acme}
    Name: Base
    Methods:
      convert_integer_to_string:
        Usage: Static
        Scope: Public
        Arguments:
          - value: {Contract: $.int().notNull()}
        Body:
          Return: str($value)
"""
NAMES = """\
    Namespaces: {=: acme}
    Name: Names
    Extends: Base
    Methods:
      assign_to:
        Usage: Static
        Scope: Public
        Arguments:
          - firstName: {Contract: $.string()}
          - lastName: {Contract: $.string()}
        Body:
          - $names: [$firstName, $lastName]
          - Return:
              fullName: $names.where($).join(' ')
      assign_from:
        Usage: Static
        Scope: Public
        Arguments:
          - fullName: {Contract: $.string()}
        Body:
          Return:
            firstName: $fullName
      helper:
        Usage: Static
        Body:
          Return: 1
"""
FAR = """\
    Name: acme.Far
    Extends: other.Class
"""
HOOK = "{{type: Person, between: [2011-01-01, 2013-03-03], use: {use}, writes: {writes}}}"
WRITES = "{assign_to: [fullName], assign_from: [firstName]}"


@pytest.fixture
def people(project):
    project.schema(
        "2011-01-01", f"{{firstName: {STRING}, lastName: {STRING}, n: {{type: integer}}}}"
    )
    project.schema("2013-03-03", f"{{fullName: {STRING}, n: {STRING}}}")
    project.write("manifest.yaml", MANIFEST)
    project.write("Classes/Base.yaml", BASE)
    project.write("Classes/Far.yaml", FAR)
    return project


def hooked(project, text=NAMES, *, use="acme.Names", writes=WRITES):
    project.write("Classes/Names.yaml", text)
    project.configure(f"hooks:\n  - {HOOK.format(use=use, writes=writes)}\n")
    return project.problems()


def test_a_hook_declares_its_arguments_and_what_it_writes(people):
    assert hooked(people) == []
    (declared,) = people.load().hooks
    assert declared.reference.use == "acme.Names"
    assert declared.assign["assign_to"].reads == ("firstName", "lastName")
    assert declared.assign["assign_to"].writes == ("fullName",)
    assert declared.assign["assign_from"].writes == ("firstName",)
    assert declared.converters == ("convert_integer_to_string",)


@pytest.mark.parametrize(
    ("change", "given", "reason"),
    [
        ({}, {"use": "acme.Name"}, "found none in acme.Crm; did you mean acme.Names?"),
        ({}, {"use": "acme.Far"}, "hooks use classes of their own package and of the core library"),
        ({"firstName:": "firstNam:"}, {}, "has the argument firstNam, which Person of 2011-01-01"),
        ({"Usage: Static\n        Scope: Public\n        Arguments:\n          - firstName": "Scope: Public\n        Arguments:\n          - firstName"}, {}, "acme.Names.assign_to to be static"),
        ({"        Scope: Public\n        Arguments:\n          - firstName": "        Arguments:\n          - firstName"}, {}, "acme.Names.assign_to to be public"),
        ({}, {"writes": "{assign_to: [fullName]}"}, "acme.Names.assign_from writes nothing"),
        ({}, {"writes": "{assign_to: [fullNam], assign_from: [firstName]}"}, "writes fullNam, which Person"),
        ({}, {"writes": "{assign_to: [metadata], assign_from: [firstName]}"}, "writes metadata"),
        ({"assign_to:": "assign_too:"}, {}, "acme.Names.assign_too is called by no conversion; did you mean assign_to?"),
        ({"assign_to:": "assign_too:"}, {}, "`writes` has assign_to, a method that acme.Names does not have"),
        ({"helper:": "convert_string_to_number:"}, {}, "call it one of"),
        ({"Body:\n          Return: 1": "Body: {"}, {}, "expected valid YAML"),
    ],
)  # fmt: skip
def test_what_fits_nothing_is_found_with_its_place(people, change, given, reason):
    text = NAMES
    for before, after in change.items():
        assert before in text
        text = text.replace(before, after)
    problems = hooked(people, text, **given)
    assert any(reason in each for each in problems), problems
    assert all(each.startswith("trundle.yaml:4: ") for each in problems)


def test_types_that_have_one_name_in_python_have_no_static_methods(people):
    named = "{firstName: {type: string}, lastName: {type: string}, fullName: {type: string}}"
    for version in ("2011-01-01", "2013-03-03"):
        people.write(
            f"schemas/{version}.yaml",
            "title: Person\ntype: object\n"
            "properties: {a: {$ref: '#/$defs/tag'}, b: {$ref: '#/$defs/Tag'}}\n"
            f"$defs:\n  tag: {{type: object, properties: {named}}}\n"
            f"  Tag: {{type: object, properties: {named}}}\n",
        )
    people.write("Classes/Names.yaml", NAMES.replace("    Extends: Base\n", ""))
    hook = HOOK.format(use="acme.Names", writes=WRITES)
    hooks = "".join(f"  - {hook.replace('Person', each)}\n" for each in ("Tag", "tag"))
    people.configure(f"hooks:\n{hooks}")
    name = "Tag_v2011_01_01_to_v2013_03_03"
    advice = "rename one of the types, or write the hook in Python"
    assert [each for each in people.problems() if name in each] == [
        f"trundle.yaml:{line}: expected a name of its own in Python for the hook of {one}, "
        f"found {name}, which is for {other}, too; {advice}"
        for line, one, other in ((4, "Tag", "tag"), (5, "tag", "Tag"))
    ]


def test_a_package_without_a_manifest_says_where_it_was_looked_for(people):
    (people.folder / "manifest.yaml").unlink()
    (problem,) = hooked(people)
    assert "no manifest.yaml in" in problem
    assert "or name a Python class as package.module:Class" in problem


def test_what_python_methods_declare_stands_in_no_file(people):
    (people.folder / "names.py").write_text("class Names:\n    pass\n")
    people.configure(f"hooks:\n  - {HOOK.format(use='names:Names', writes=WRITES)}\n")
    with pytest.raises(Exception, match="methods in Python declare what they write with `@hook`"):
        people.load()


def test_a_version_between_names_the_pair_that_the_hook_belongs_to(people):
    people.schema(
        "2012-02-02", f"{{firstName: {STRING}, lastName: {STRING}, n: {{type: integer}}}}"
    )
    (problem,) = hooked(people)
    assert "2012-02-02 came between" in problem


def test_code_is_stale_when_a_class_changes_and_not_when_the_version_does(people):
    assert hooked(people) == []
    config = people.config()
    generate(config, jobs=1)
    assert not generate(config, check=True, jobs=1).stale
    people.write("manifest.yaml", MANIFEST.replace("1.2.3", "1.2.4"))
    assert not generate(config, check=True, jobs=1).stale
    people.write("Classes/Names.yaml", NAMES.replace("join(' ')", "join('-')"))
    assert generate(config, check=True, jobs=1).stale


def test_what_changed_about_a_hook_is_read_off_its_class(people, tmp_path_factory):
    before = tmp_path_factory.mktemp("before")
    assert hooked(people) == []
    for each in people.folder.rglob("*.yaml"):
        copy = before / each.relative_to(people.folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(each.read_text())

    def changes():
        found = changes_between(before / "trundle.yaml", people.folder / "trundle.yaml")
        return [(str(each.level), each.code, each.text) for each in found]

    assert changes() == []
    people.write("Classes/Names.yaml", NAMES.replace("join(' ')", "join('-')"))
    assert [code for _, code, _ in changes()] == ["hook-changed"]
    people.write("Classes/Names.yaml", NAMES.replace("assign_from", "assigned"))
    people.configure(
        f"hooks:\n  - {HOOK.format(use='acme.Names', writes='{assign_to: [fullName]}')}\n"
    )
    assert ("hook-removed", "its method assign_from is removed") in [each[1:] for each in changes()]


OLD, NEW = "2011-01-01", "2013-03-03"
NESTED = {
    f"{OLD}.yaml": {
        "title": "Person",
        "type": "object",
        "properties": {
            "street": {"type": "string"},
            "size": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
    },
    f"{NEW}.yaml": {
        "title": "Person",
        "type": "object",
        "properties": {
            "address": {
                "type": "object",
                "title": "Address",
                "properties": {
                    "line": {"type": "string"},
                    "zip": {"type": ["string", "null"]},
                    "floor": {"type": "integer"},
                },
            },
            "size": {"type": "integer"},
            "owner": {"type": "string"},
            "first": {"type": ["string", "null"]},
        },
    },
    "../manifest.yaml": {
        "Format": "1.4",
        "FullName": "acme.Places",
        "Version": "1.0.0",
        "Classes": {"acme.Places": "Places.yaml"},
    },
    "../Classes/Places.yaml": """\
        Namespaces: {=: acme}
        Name: Places
        Methods:
          assign_to:
            Usage: Static
            Scope: Public
            Arguments:
              - street: {Contract: $.string()}
              - tags: {Contract: [$.string()]}
              - metadata: {Contract: {}}
            Body:
              - Return:
                  address: {line: $street, zip: null, floor: null}
                  owner: $metadata.get(labels, {}).get(owner)
                  first: $tags.first(null)
          assign_from:
            Usage: Static
            Scope: Public
            Arguments:
              - address: {Contract: {}}
            Body:
              - Return: {street: $address.get(line)}
          convert_string_to_integer:
            Usage: Static
            Scope: Public
            Arguments:
              - size: {Contract: $.string().notNull()}
            Body:
              - If: $size = for_ever
                Then:
                  - $x: 1
                  - While: $x > 0
                    Do:
                      - $x: $x + 1
              - If: $size = memory
                Then:
                  - $all: []
                  - While: $all.len() >= 0
                    Do:
                      - $all: $all + [str($all.len()) * 1000000]
              - If: $size = object
                Then:
                  - Return: new(Places)
              - If: $size = text
                Then:
                  - Return: $size
              - Return: int($size)
    """,
}
PLACES = {
    "hooks": [
        {
            "type": "Person",
            "between": [OLD, NEW],
            "use": "acme.Places",
            "writes": {"assign_to": ["address", "owner", "first"], "assign_from": ["street"]},
        }
    ]
}


def person(**properties):
    return {"apiVersion": OLD, "kind": "Person", **properties}


@pytest.fixture(scope="module", params=["here", "apart"])
def places(request, tmp_path_factory):
    """A package with hooks, which run in this process, or in processes of their own."""
    with installer(tmp_path_factory.mktemp("places")) as install:
        if request.param == "apart":
            APART.update(f"installed_{number}" for number in range(1000))
        yield install(NESTED, config=PLACES)
        APART.clear()


@pytest.mark.full
def test_nested_objects_lists_and_metadata_are_plain_values(places):
    labels = {"labels": {"owner": "ann"}}
    old = person(street="Main", tags=["a", "b"], metadata=labels)
    new = places.convert(old, NEW)
    assert new == {
        "apiVersion": NEW,
        "kind": "Person",
        "metadata": labels,
        "address": {"line": "Main", "zip": None},
        "owner": "ann",
        "first": "a",
    }
    assert places.read(places.put(old), OLD) == old
    assert places.convert(new, OLD)["street"] == "Main"


def test_null_is_absent_where_the_property_does_not_take_it(places):
    new = places.convert(person(street="Main", metadata={"name": "x"}), NEW)
    assert "owner" not in new
    assert new["first"] is None
    assert "street" not in places.convert({"apiVersion": NEW, "kind": "Person", "address": {}}, OLD)


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        ("for_ever", LIMIT_REACHED),
        ("object", "returned what is no plain value"),
        ("text", "Expected `int"),
        ("ten", "invalid literal for int"),
    ],
)
def test_a_method_that_fails_is_one_error_of_that_object_alone(places, size, reason):
    with pytest.raises(HookError, match=r"acme\.Places\.convert_string_to_integer") as failed:
        places.convert(person(size=size), NEW)
    assert re.search(reason, str(failed.value))
    assert "$.size" in str(failed.value)
    assert places.convert(person(size="12"), NEW)["size"] == 12


@pytest.mark.full
def test_several_threads_convert_at_once(places):
    found, wrong = {}, []

    def convert(number):
        try:
            for turn in range(20):
                text = f"{number}.{turn}"
                made = places.convert(person(street=text), NEW)
                found[text] = made["address"]["line"]
        except Exception as error:  # noqa: BLE001 - shown below
            wrong.append(error)

    threads = [threading.Thread(target=convert, args=[each]) for each in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong
    assert len(found) == 160
    assert all(key == value for key, value in found.items())


def test_what_a_method_returns_may_not_be_infinite():
    text = "Name: a.B\nMethods:\n  m:\n    Usage: Static\n    Scope: Public\n    Body:\n      Return: float(inf)\n"
    manifest = {"Format": "1.4", "FullName": "a", "Version": "0.0.0", "Classes": {"a.B": "B.yaml"}}
    methods = MethodsHere({"manifest.yaml": json.dumps(manifest), "Classes/B.yaml": text})
    with pytest.raises(StaticMethodError, match="no plain value"):
        methods.compute("a.B", "m", {})


def test_python_hooks_of_a_carried_project_are_refused_with_what_to_write_instead(people, tmp_path):
    (people.folder / "names.py").write_text("class Names:\n    pass\n")
    people.configure(
        "hooks:\n  - {type: Person, between: [2011-01-01, 2013-03-03], use: 'names:Names'}\n"
    )
    with CarriedProjects(tmp_path / "generated", "carried_static_hooks") as projects:
        with pytest.raises(
            Exception, match="write hooks as static methods of classes in the package"
        ) as refused:
            projects.load(people.folder)
        assert "the hook names:Names" in str(refused.value)


def test_classes_of_a_carried_project_come_from_its_own_package(people, tmp_path):
    """A manifest above the folder of the package is none of it."""
    assert hooked(people) == []
    inner = people.folder / "package"
    inner.mkdir()
    (people.folder / "trundle.yaml").rename(inner / "trundle.yaml")
    (people.folder / "schemas").rename(inner / "schemas")
    with (
        CarriedProjects(tmp_path / "generated", "carried_static_outside") as projects,
        pytest.raises(Exception, match="a manifest with the classes of hooks"),
    ):
        projects.load(inner)


def test_a_body_that_cannot_run_is_found_before_it_does(people):
    text = NAMES.replace("Body:\n", "Body:\n          - While: true\n", 1)
    assert text != NAMES
    (found,) = hooked(people, text)
    assert "While" in found
    assert "Names.yaml" in found


@pytest.mark.full
def test_processes_of_a_release_end_when_it_is_forgotten(people, tmp_path):
    assert hooked(people) == []
    with CarriedProjects(tmp_path / "generated", "carried_forgotten") as projects:
        (loaded,) = projects.load(people.folder)
        (member,) = loaded.members
        module = importlib.import_module(f"carried_forgotten.{member}.hooks.static_methods")
        methods = module._methods
        with contextlib.suppress(StaticMethodError):
            methods._computing.compute("acme.Names", "nothing", {})
        children = [Path(f"/proc/{each._process.pid}") for each in methods._apart._idle]
        assert children
        projects.forget(member)
        assert not [each for each in children if each.exists()]
        assert not hasattr(sys.modules["carried_forgotten"], member)
