"""A generated package works under any name, and under several at once."""

import re
import shutil
import subprocess
import sys

import pytest

from trundle.project import load_config
from trundle.project.generating import generate

SCHEMAS = {
    "v1.yaml": """
        title: Person
        type: object
        properties:
          fullName: {type: string}
          tag: {type: string}
          home: {$ref: "#/$defs/Address"}
        $defs:
          Address: {type: object, properties: {street: {type: string}, line: {type: string}}}
    """,
    "v2.yaml": """
        title: Person
        type: object
        properties:
          first: {type: string}
          last: {type: string}
          home: {$ref: "#/$defs/Address"}
        $defs:
          Address: {type: object, properties: {street: {type: string}}}
    """,
}
HOOKS = """
from trundle.runtime import hook


class Names:
    @hook(reads=("full_name",), writes=("first", "last"))
    def assign_to(self, source):
        first, _, last = source.full_name.partition(" ")
        return {"first": first, "last": last}

    @hook(reads=("first", "last"), writes=("full_name",))
    def assign_from(self, source):
        return {"full_name": f"{source.first} {source.last}"}
"""
CONFIG = """
package: {package}
sources: [schemas]
horizon: {{ga: 1}}
hooks:
  - type: Person
    between: [v1, v2]
    use: {use}
"""
USE = """
import importlib, json, sys

schemes, modules = [], []
for name in {names!r}:
    package = importlib.import_module(name)
    module = importlib.import_module(f"{{name}}.compat.v1")
    schemes.append(package.scheme)
    modules.append(module)
    assert package.scheme.package == name
document = {{"apiVersion": "v1", "kind": "Person", "fullName": "Ada Lovelace", "tag": "t",
            "home": {{"street": "s", "line": "l"}}}}
kept = [scheme.convert(document) for scheme in schemes]
assert all(each == kept[0] for each in kept)
assert (kept[0]["first"], kept[0]["last"]) == ("Ada", "Lovelace")
for scheme, module in zip(schemes, modules):
    person = scheme.decode(json.dumps(document).encode())
    assert type(person) is module.Person
    stored = person.home.convert_to_storage()
    assert type(stored).__module__.startswith(scheme.package + ".storage")
    assert module.Address.convert_from_storage(stored) == person.home
assert modules[0].Person is not modules[1].Person
print(*sorted(name for name in sys.modules if "hooks_of" in name))
"""


def project(folder, package, use, home):
    for name, text in SCHEMAS.items():
        (folder / "schemas").mkdir(exist_ok=True)
        (folder / "schemas" / name).write_text(text.replace("\n        ", "\n"))
    (folder / "trundle.yaml").write_text(CONFIG.format(package=package, use=use))
    (folder / home).mkdir(parents=True, exist_ok=True)
    (folder / home / "hooks_of_people.py").write_text(HOOKS)
    return generate(load_config(folder / "trundle.yaml"), jobs=1).root


def python(folder, *arguments):
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.full
def test_a_package_runs_in_two_places_at_once(tmp_path):
    root = project(tmp_path, "acme.crm", "..hooks_of_people:Names", "acme")
    for release in ("release_1", "release_2"):
        shutil.copytree(root.parent, tmp_path / "vendor" / release)
    shutil.rmtree(root.parent)
    names = ["vendor.release_1.crm", "vendor.release_2.crm"]
    hooks = python(tmp_path, "-c", USE.format(names=names)).split()
    assert hooks == [f"vendor.{release}.hooks_of_people" for release in ("release_1", "release_2")]


@pytest.mark.full
def test_hooks_that_are_named_in_full_are_shared_by_all_copies(tmp_path):
    root = project(tmp_path, "crm", "hooks_of_people:Names", ".")
    shutil.copytree(root, tmp_path / "vendor" / "other")
    names = ["crm", "vendor.other"]
    assert python(tmp_path, "-c", USE.format(names=names)).split() == ["hooks_of_people"]


def test_no_module_names_its_own_package(tmp_path):
    root = project(tmp_path, "acme.crm", "..hooks_of_people:Names", "acme")
    for path in root.rglob("*.py"):
        text = path.read_text()
        assert not re.search(r"^\s*(from|import) acme", text, re.MULTILINE), path
        assert '"acme.crm"' not in text, path


@pytest.mark.full
def test_the_tests_of_a_package_move_with_it(tmp_path):
    root = project(tmp_path, "acme.crm", "..hooks_of_people:Names", "acme")
    moved = tmp_path / "vendor" / "release_1"
    shutil.copytree(root.parent, moved)
    shutil.rmtree(root.parent)
    found = ("-o", "consider_namespace_packages=true", str(moved / "crm"))
    out = python(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", *found)
    assert re.search(r"\d+ passed", out)


def test_a_package_of_groups_moves_as_a_whole(tmp_path):
    for name in ("one", "two"):
        schema = (
            f"title: Box\nx-group: {name}\ntype: object\nproperties: {{{name}: {{type: string}}}}\n"
        )
        (tmp_path / name).mkdir()
        (tmp_path / name / "v1.yaml").write_text(schema)
    (tmp_path / "trundle.yaml").write_text(
        "package: all\ngroups: {one: one.org, two: two.org}\nsources:\n"
        "  - {path: one, group: one.org}\n  - {path: two, group: two.org}\n"
    )
    root = generate(load_config(tmp_path / "trundle.yaml"), jobs=1).root
    for place in ("first", "second"):
        shutil.copytree(root, tmp_path / "vendor" / place)
    shutil.rmtree(root)
    code = """
import importlib, json
for name in ("vendor.first", "vendor.second"):
    scheme = importlib.import_module(name).scheme
    document = {"apiVersion": "two.org/v1", "kind": "Box", "two": "x"}
    box = scheme.decode(json.dumps(document).encode())
    assert type(box).__module__.startswith(f"{name}.two."), type(box)
    assert scheme.convert(scheme.convert(document), "v1") == document
    assert type(scheme.to_storage(box)).__module__.startswith(f"{name}.two.storage")
"""
    python(tmp_path, "-c", code)


@pytest.mark.parametrize("use", ["..hooks_of_people:Names", "...hooks_of_people:Names"])
def test_a_hook_beside_a_package_that_stands_alone_is_a_finding(tmp_path, use):
    from trundle.project import ConfigError

    with pytest.raises(ConfigError, match="which leads out of crm"):
        project(tmp_path, "crm", use, ".")
