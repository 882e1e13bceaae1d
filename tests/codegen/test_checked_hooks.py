"""What hooks take and return is checked: wrong types and misspelt attributes fail `mypy --strict`."""

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


def checked(folder, hooks):
    """What mypy says of the package and hooks that are called from it."""
    (folder / "schemas").mkdir()
    for version, text in SCHEMAS.items():
        (folder / "schemas" / f"{version}.yaml").write_text(textwrap.dedent(text))
    (folder / "crm_hooks.py").write_text(hooks)
    (folder / "trundle.yaml").write_text(
        "package: crm\nsources: [schemas]\nhooks:\n"
        "  - {type: Person, between: [2024-01-01, 2025-01-01], use: crm_hooks:Moves}\n"
    )
    generate(load_config(folder / "trundle.yaml"), jobs=1)
    done = mypy(folder, "crm", "crm_hooks.py")
    return done.stdout + done.stderr


def test_what_a_hook_returns_for_nested_objects_is_checked(tmp_path):
    assert "no issues found" in checked(tmp_path, HOOKS)


@pytest.mark.parametrize(
    ("right", "wrong", "where"),
    [
        ('"zip_code": 1', '"zip_code": "1"', "crm_hooks.py"),
        ('"zip_code": 1', '"zipCode": 1', "crm_hooks.py"),
        ('{"a": "x"}', '{"b": "x"}', "crm_hooks.py"),
        ('"all": [', '"every": [', "crm_hooks.py"),
        ('{"street": each}', '{"streets": each}', "crm_hooks.py"),
        ('"street": source.street, ', "", "crm_hooks.py"),
        ("source.street,", "source.road,", "crm_hooks.py"),
        ('-> "PersonNewerOutputs"', "-> dict[str, object]", "crm/conversions/"),
        ('source: "PersonOlder"', "source: int", "crm/conversions/"),
    ],
)
def test_a_hook_that_reads_or_returns_what_is_not_there_fails(tmp_path, right, wrong, where):
    assert right in HOOKS
    said = checked(tmp_path, HOOKS.replace(right, wrong)).splitlines()
    assert any(line.startswith(where) and " error: " in line for line in said), said
