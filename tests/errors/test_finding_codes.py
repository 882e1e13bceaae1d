"""The page of findings lists every code, with what it means and what to do."""

import importlib
import pkgutil
import re
from pathlib import Path

import trundle
from trundle.errors import Code

PAGE = Path(__file__).parents[2] / "docs" / "findings.md"


def codes():
    """Every code that a room declares; the room's enum by code."""
    for module in pkgutil.walk_packages(trundle.__path__, "trundle."):
        if not module.name.endswith("__main__") and "alembic_scripts" not in module.name:
            importlib.import_module(module.name)
    return [
        each
        for kind in Code.__subclasses__()
        if kind.__module__.startswith("trundle.")
        for each in kind
    ]


def explained():
    rows = re.findall(r"^\| `([^`]+)` \| (.+?) \| (.+?) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    return {code: (meaning, advice) for code, meaning, advice in rows}


def test_every_code_is_explained_and_no_other():
    assert {str(each) for each in codes()} == set(explained())


def test_a_code_means_one_thing():
    names = [str(each) for each in codes()]
    twice = {each for each in names if names.count(each) > 1}
    assert twice == {
        "lock"
    }  # What a lock records is not there: that of a project, and that of a model
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", each) for each in names)
