"""Hooks whose classes, or whose types, have one name in Python: each converts what it is for."""

import json
import re
import subprocess
import sys

import pytest
from strictness import mypy

from trundle.project import load_config
from trundle.project.generating import generate

CONFIG = """
package: crm
sources: [schemas]
hooks:
  - {type: Person, between: [v1, v2], use: "hooks.first:Names"}
  - {type: Person, between: [v2, v3], use: "hooks.second:Names"}
  - {type: Pet, between: [v1, v2], use: "hooks.pets:Names"}
  - {type: tag, between: [v1, v2], use: "hooks.tags:Lower.Tag"}
  - {type: Tag, between: [v1, v2], use: "hooks.tags:Upper.Tag"}
  - {type: House, between: [v1, v2], use: "hooks.houses:HTTPHouse"}
  - {type: House, between: [v2, v3], use: "hooks.houses:HttpHouse"}
  - {type: Car, between: [v1, v2], use: "hooks.cars:Absent"}
  - {type: Car, between: [v2, v3], use: "hooks.cars:call_hook"}
"""
"""Each hook appends a text of its own, and takes it away on the way back."""
PROPERTIES = {"Person": "person", "Pet": "pet", "tag": "low", "Tag": "up"}
PROPERTIES |= {"House": "house", "Car": "car"}
OLD = {
    "apiVersion": "v1",
    "kind": "Person",
    "a": "x",
    "pet": {"a": "x"},
    "low": {"a": "x"},
    "up": {"a": "x"},
    "house": {"a": "x"},
    "car": {"a": "x"},
}
NEW = {
    "apiVersion": "v3",
    "kind": "Person",
    "c": "x12",
    "pet": {"b": "xp"},
    "low": {"b": "xt"},
    "up": {"b": "xT"},
    "house": {"c": "xhi"},
    "car": {"c": "xcd"},
}
"""What the document of v1 is in v3: `x`, and what the hooks of each type append."""


def schema(letters):
    """A version in which objects have one property, by the letter that is given for their type."""
    inner = {name: letters.get(name, letters[""]) for name in PROPERTIES if name != "Person"}
    own = "".join(f"  {PROPERTIES[name]}: {{$ref: '#/$defs/{name}'}}\n" for name in inner)
    rest = "".join(
        f"  {name}: {{type: object, properties: {{{letter}: {{type: string}}}}}}\n"
        for name, letter in inner.items()
    )
    return (
        "title: Person\ntype: object\nproperties:\n"
        f"  {letters['']}: {{type: string}}\n{own}$defs:\n{rest}"
    )


def methods(class_, record, pair, before, after, end, indent=""):
    """A hook that moves a text from a property to another one and appends something."""
    side = f"crm.hooks.{pair}"
    text = f"""
class {class_}:
    @hook(reads=("{before}",), writes=("{after}",))
    def assign_to(self, source: "{side}.{record}Older", /) -> "{side}.{record}NewerOutputs":
        if source.{before} is ABSENT:
            return {{}}
        return {{"{after}": source.{before} + "{end}"}}

    @hook(reads=("{after}",), writes=("{before}",))
    def assign_from(self, source: "{side}.{record}Newer", /) -> "{side}.{record}OlderOutputs":
        if source.{after} is ABSENT:
            return {{}}
        return {{"{before}": source.{after}.removesuffix("{end}")}}
"""
    return text.replace("\n", f"\n{indent}") + "\n"


def imports(*modules):
    checked = "".join(f"    import crm.hooks.{each}\n" for each in modules)
    return (
        "from typing import TYPE_CHECKING\n\nfrom trundle.runtime import ABSENT, hook\n\n"
        f"if TYPE_CHECKING:\n{checked}\n"
    )


ONE, TWO = "v1_to_v2", "v2_to_v3"
HOOKS = {
    "first": imports(ONE) + methods("Names", "Person", ONE, "a", "b", "1"),
    "second": imports(TWO) + methods("Names", "Person", TWO, "b", "c", "2"),
    "pets": imports(ONE) + methods("Names", "Pet", ONE, "a", "b", "p"),
    "tags": imports(ONE, f"{ONE}_part2")
    + "class Lower:"
    + methods("Tag", "Tag", f"{ONE}_part2", "a", "b", "t", "    ")
    + "\n\nclass Upper:"
    + methods("Tag", "Tag", ONE, "a", "b", "T", "    "),
    "houses": imports(ONE, TWO)
    + methods("HTTPHouse", "House", ONE, "a", "b", "h")
    + methods("HttpHouse", "House", TWO, "b", "c", "i"),
    "cars": imports(ONE, TWO)
    + methods("Absent", "Car", ONE, "a", "b", "c")
    + methods("call_hook", "Car", TWO, "b", "c", "d"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A project whose hooks have names in common."""
    made = tmp_path_factory.mktemp("named")
    for name, texts in {"schemas": {}, "hooks": HOOKS}.items():
        (made / name).mkdir()
        for module, text in texts.items():
            (made / name / f"{module}.py").write_text(text)
    (made / "hooks" / "__init__.py").write_text("")
    for version, letters in {
        "v1": {"": "a"},
        "v2": {"": "b"},
        "v3": {"": "c", "Pet": "b", "tag": "b", "Tag": "b"},
    }.items():
        (made / "schemas" / f"{version}.yaml").write_text(schema(letters))
    (made / "trundle.yaml").write_text(CONFIG)
    generate(load_config(made / "trundle.yaml"), jobs=1)
    return made


def texts(folder):
    return [path.read_text() for path in sorted((folder / "crm" / "conversions").glob("*.py"))]


@pytest.mark.parametrize(("document", "expected"), [(OLD, NEW), (NEW, OLD)])
def test_each_hook_converts_what_it_is_for(folder, document, expected):
    code = (
        "import json, sys\nfrom crm import scheme\n"
        "document, to = json.loads(sys.argv[1])\n"
        "direct = scheme.convert(document, to=to)\n"
        "stored = scheme.convert(scheme.convert(document), to=to)\n"
        "print(json.dumps([direct, stored]))\n"
    )
    given = json.dumps([document, expected["apiVersion"]])
    done = subprocess.run(
        [sys.executable, "-c", code, given], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [expected, expected]


def test_hooks_of_one_name_are_called_by_their_modules_too(folder):
    shared = [text for text in texts(folder) if "hooks.first" in text and "hooks.second" in text]
    assert shared
    for text in shared:
        assert "\nfrom hooks.first import Names\n" in text
        assert "\nfrom hooks.second import Names as SecondNames\n" in text
        assert "\n_names_hook = Names()\n" in text
        assert "\n_second_names_hook = SecondNames()\n" in text
        for module, instance in (("first", "_names_hook"), ("second", "_second_names_hook")):
            called = re.findall(rf'"hooks\.{module}:Names\.assign_\w+",\s+(\w+)\.assign', text)
            assert called
            assert set(called) == {instance}


def test_no_name_in_conversions_is_numbered_or_given_twice(folder):
    for text in texts(folder):
        defined = re.findall(r"^(?:def |class )?(\w+)(?:\(| = |: )", text, re.MULTILINE)
        imported = re.findall(r"^from hooks\.\w+ import (?:\w+ as )?(\w+)$", text, re.MULTILINE)
        names = [each for each in (*defined, *imported) if each not in {"if", "else"}]
        assert len(names) == len(set(names))
        assert [each for each in names if "_hook" in each and re.search(r"\d", each)] == []


@pytest.mark.full
def test_the_package_and_its_hooks_are_strictly_typed_and_clean(folder):
    found = mypy(folder, "crm", "hooks")
    assert found.returncode == 0, found.stdout + found.stderr
    for arguments in (
        ("format", "--check", "--isolated", "--line-length", "100"),
        ("check", "--isolated", "--select", "E,F", "--line-length", "100"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *arguments, "--no-cache", "crm"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
