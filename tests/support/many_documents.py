import json

import pytest

from trundle.project import generate, load_config

OLD = """\
title: Person
type: object
required: [id]
properties:
  id: {type: string}
  alphaKey: {type: string}
  level: {type: string}
  extra: {}
"""
NEW = """\
title: Person
type: object
required: [id]
properties:
  id: {type: string}
  sortKey: {type: string}
  level: {type: integer}
  extra: {}
"""
CONFIG = """\
package: crm
sources: [schemas]
hooks:
  - type: Person
    between: [2014-04-04, 2015-05-05]
    use: crm_hooks:Levels
changes:
  2014-04-04:
    Person:
      rename: {alphaKey: sortKey}
"""
HOOKS = """\
import time

from crm_words import LEVELS


class Levels:
    def convert_string_to_integer(self, value: str, /) -> int:
        if value == "slow":
            time.sleep(0.008)
        return LEVELS[value]

    def convert_integer_to_string(self, value: int, /) -> str:
        return next(name for name, number in LEVELS.items() if number == value)
"""
WORDS = 'LEVELS = {"bronze": 1, "gold": 3, "slow": 9}\n'


def person(number, **more):
    """A line with a person of the older version."""
    found = {
        "apiVersion": "2014-04-04",
        "kind": "Person",
        "id": f"p-{number}",
        "alphaKey": f"k{number}",
    }
    return json.dumps(found | more).encode()


@pytest.fixture(scope="session")
def crm(tmp_path_factory):
    """The folder of a generated project with a hook that imports a module of its own; not to be changed."""
    folder = tmp_path_factory.mktemp("crm")
    (folder / "schemas").mkdir()
    for name, text in {
        "schemas/2014-04-04.yaml": OLD,
        "schemas/2015-05-05.yaml": NEW,
        "trundle.yaml": CONFIG,
        "crm_hooks.py": HOOKS,
        "crm_words.py": WORDS,
    }.items():
        (folder / name).write_text(text)
    generate(load_config(folder / "trundle.yaml"))
    return folder


def files_below(folder):
    """The content of all files in a folder, by their paths."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
