"""The error tree: one root, kinds that faces map, errors that cross processes, and the words of findings."""

import ast
import functools
import importlib
import inspect
import pickle
import pkgutil
import re
from pathlib import Path

import pytest

import trundle
from trundle.cli._failures import EXIT_CODES
from trundle.errors import (
    Code,
    Finding,
    Kind,
    Place,
    TrundleError,
    did_you_mean,
    errors_among,
    expectation,
    listed,
    meant,
)
from trundle.registry import NotFoundError
from trundle.runtime import BagError, DocumentError

_ASSERTIONS = {"LawBroken"}
"""What tests of laws raise, which is an assertion for those who run them."""


@functools.cache
def _exceptions():
    return frozenset(_found())


def _found():
    for module in pkgutil.walk_packages(trundle.__path__, "trundle."):
        if module.name.endswith("__main__"):
            continue
        for _, found in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(found, Exception) and found.__module__ == module.name:
                yield found


def test_all_errors_have_one_root():
    apart = {
        each.__name__
        for each in _exceptions()
        if not issubclass(each, TrundleError) and not each.__name__.startswith("_")
    }
    assert apart == _ASSERTIONS


def test_the_command_line_maps_every_kind_to_an_exit_code_of_its_own():
    assert set(EXIT_CODES) == set(Kind)
    assert len(set(EXIT_CODES.values())) == len(EXIT_CODES)
    assert all(each.kind in Kind for each in _exceptions() if issubclass(each, TrundleError))


@pytest.mark.parametrize(
    "error",
    [
        NotFoundError("here", "a tag", "none", "push it"),
        BagError("unreadable", "holder"),
        DocumentError("Person 1", []),
    ],
)
def test_errors_cross_processes_as_they_are(error):
    error.path = "$.a"
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (str(copy), copy.__dict__, copy.messages) == (
        str(error),
        error.__dict__,
        error.messages,
    )


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (Place("a.yaml"), "a.yaml"),
        (Place("a.yaml", 3), "a.yaml:3"),
        (Place("a.yaml", 3, path="$.b"), "a.yaml:3: $.b"),
        (Place("a.yaml", path="#/b"), "a.yaml#/b"),
        (Place(object="acme/db", path="$.b"), "acme/db: $.b"),
        (Place(), ""),
    ],
)
def test_a_place_reads_from_the_whole_to_the_part(place, text):
    assert str(place) == text


class ExampleCode(Code):
    KEY = "unknown-key"
    NOTE = "note"


def test_a_finding_says_where_what_and_what_to_do():
    found = Finding(
        "unknown-key", Place("a.yaml", 3), "a known key", "'nmae'", "did you mean name?"
    )
    text = "a.yaml:3: expected a known key, found 'nmae'; did you mean name?"
    assert (str(found), found.coded) == (text, f"{text} [unknown-key]")
    assert found.to_plain() == {
        "code": "unknown-key",
        "severity": "error",
        "place": {"file": "a.yaml", "line": 3},
        "expected": "a known key",
        "found": "'nmae'",
        "advice": "did you mean name?",
    }
    note = Finding(ExampleCode.NOTE, Place(), "", "a default is shown", severity="note")
    assert str(note) == "a default is shown"
    assert errors_among([found, note]) == (found,)


def test_expectations_leave_out_what_is_empty():
    assert expectation("a", "b") == "expected a, found b"
    assert expectation("", "b", "do c") == "b; do c"


@pytest.mark.parametrize(
    ("name", "known", "otherwise", "advice"),
    [
        ("Nmae", ["name", "size"], "", "did you mean name?"),
        ("zzz", ["name", "size"], "", "write one of name, size"),
        ("zzz", ["name", "size"], "leave it out", "leave it out"),
        ("zzz", [], "", "remove it"),
    ],
)
def test_advice_names_what_was_probably_meant(name, known, otherwise, advice):
    assert did_you_mean(name, known, otherwise) == advice


def test_names_that_may_have_been_meant_are_a_question():
    assert meant(()) == ""
    assert meant(["a"]) == "did you mean a?"
    assert meant(["a", "b", "c"]) == "did you mean a, b or c?"
    assert meant(["a", "b"], "and") == "did you mean a and b?"


def test_of_many_names_the_first_are_listed():
    assert listed(map(str, range(9, 0, -1)), most=3) == "1, 2, 3, and 6 more"


def test_one_place_formats_what_was_expected_and_found():
    """No other module writes `expected ..., found ...` into a text that is no docstring; one has it in Kubernetes' words."""
    root = Path(trundle.__file__).parent
    found = set()
    for path in root.rglob("*.py"):
        source = path.read_text()
        joined = re.sub(r"[\"']\s*[rf]*[\"']", "", source)  # Literals side by side are one.
        if ", found " not in joined:
            continue
        tree = ast.parse(source)
        prose = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
        for node in ast.walk(tree):
            text = node.value if isinstance(node, ast.Constant) else None
            if not isinstance(text, str) or id(node) in prose:
                continue
            if ", found " in text and ", found new finalizers " not in text:
                found.add(path.relative_to(root).as_posix())
    assert found == {"errors/_wording.py"}
