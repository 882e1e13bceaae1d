"""What hooks take and return is checked: wrong types and misspelt attributes fail `mypy --strict`."""

import re
import textwrap

import pytest
from strictness import mypy

from trundle.project import load_config
from trundle.project.generating import generate

HOOKS = """
from typing import TYPE_CHECKING

from trundle.runtime import ABSENT, hook

if TYPE_CHECKING:
    from crm.hooks.v2024_01_01_to_v2025_01_01 import PersonNewerOutputs, PersonOlder


class Moves:
    @hook(reads=("street", "past"), writes=("address", "all"))
    def assign_to(self, source: "PersonOlder", /) -> "PersonNewerOutputs":
        if source.street is ABSENT or source.past is ABSENT:
            return {}
        return {
            "address": {"street": source.street, "zip_code": 1, "inner": {"a": "x"}},
            "all": [{"street": each} for each in source.past],
        }
"""
SCHEMAS = {
    "2024-01-01": """
        title: Person
        type: object
        properties:
          street: {type: string}
          past: {type: array, items: {type: string}}
          home: {$ref: "#/$defs/Address"}
        $defs:
          Address:
            type: object
            required: [street]
            properties: {street: {type: string}}
        """,
    "2025-01-01": """
        title: Person
        type: object
        properties:
          address: {$ref: "#/$defs/Address"}
          all: {type: array, items: {$ref: "#/$defs/Address"}}
        $defs:
          Address:
            type: object
            required: [street]
            properties:
              street: {type: string}
              zipCode: {type: integer}
              inner: {type: object, title: Inner, properties: {a: {type: string}}}
        """,
}


pytestmark = pytest.mark.full

RIGHT = ("", "", "")
WRONG = [
    ('"zip_code": 1', '"zip_code": "1"', "{0}_hooks.py"),
    ('"zip_code": 1', '"zipCode": 1', "{0}_hooks.py"),
    ('{"a": "x"}', '{"b": "x"}', "{0}_hooks.py"),
    ('"all": [', '"every": [', "{0}_hooks.py"),
    ('{"street": each}', '{"streets": each}', "{0}_hooks.py"),
    ('"street": source.street, ', "", "{0}_hooks.py"),
    ("source.street,", "source.road,", "{0}_hooks.py"),
    (
        '{"street": source.street, "zip_code": 1, "inner": {"a": "x"}}',
        "source.home",
        "{0}_hooks.py",
    ),
    ('-> "PersonNewerOutputs"', "-> dict[str, object]", "{0}/conversions/"),
    ('source: "PersonOlder"', "source: int", "{0}/conversions/"),
]


def write(folder, package, hooks):
    """A package, and hooks that are called from it."""
    (folder / f"{package}_hooks.py").write_text(hooks.replace("crm", package))
    (folder / "trundle.yaml").write_text(
        f"package: {package}\nsources: [schemas]\nhooks:\n"
        f"  - {{type: Person, between: [2024-01-01, 2025-01-01], use: {package}_hooks:Moves}}\n"
    )
    generate(load_config(folder / "trundle.yaml"), jobs=1)


@pytest.fixture(scope="module")
def errors(tmp_path_factory):
    """The errors that mypy finds in one package for each case, all of them checked in one run."""
    folder = tmp_path_factory.mktemp("checked")
    (folder / "schemas").mkdir()
    for version, text in SCHEMAS.items():
        (folder / "schemas" / f"{version}.yaml").write_text(textwrap.dedent(text))
    packages = [f"crm{number}" for number in range(len(WRONG) + 1)]
    for package, (right, wrong, _) in zip(packages, [RIGHT, *WRONG], strict=True):
        assert right in HOOKS
        write(folder, package, HOOKS.replace(right, wrong) if right else HOOKS)
    done = mypy(folder, *packages, *(f"{each}_hooks.py" for each in packages))
    assert re.search(r"checked \d+ source files", done.stdout), done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if " error: " in line]


def test_what_a_hook_returns_for_nested_objects_is_checked(errors):
    assert [line for line in errors if line.startswith(("crm0/", "crm0_hooks.py"))] == []


@pytest.mark.parametrize("number", range(1, len(WRONG) + 1))
def test_a_hook_that_reads_or_returns_what_is_not_there_fails(errors, number):
    where = WRONG[number - 1][2].format(f"crm{number}")
    assert any(line.startswith(where) for line in errors), errors
