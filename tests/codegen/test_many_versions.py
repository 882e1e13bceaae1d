"""Packages of many versions, whose conversions call each other through all of them."""

import importlib
import inspect
import sys

import pytest
from evolving import evolution

from trundle.codegen import generate_package

COUNT = 40


def a_chain():
    """Versions of which each has objects as the one before it first had them, so that each shares functions with its neighbours."""
    versions = {}
    for number in range(COUNT):
        types = {"Thing": {"name": "string"}}
        for age in range(min(number + 1, 3)):
            kind = f"P{number - age}"
            types["Thing"][kind.lower()] = kind
            types[kind] = {"a": "string" if age < 2 else "integer"}
        versions[f"{2000 + number}-01-01"] = types
    return evolution(versions)


@pytest.mark.full
def test_conversions_are_not_imported_within_each_other(tmp_path, monkeypatch):
    """As many modules as there are versions, within each other, would not fit into what is left of the limit."""
    for path, data in generate_package(a_chain(), package="a_chain_of_versions").items():
        target = tmp_path / "a_chain_of_versions" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    monkeypatch.syspath_prepend(str(tmp_path))
    scheme = importlib.import_module("a_chain_of_versions").scheme
    for path in sorted(tmp_path.glob("a_chain_of_versions/storage/*.py"), reverse=True):
        importlib.import_module(f"a_chain_of_versions.storage.{path.stem}")
    limit = sys.getrecursionlimit()
    try:
        for number in range(COUNT):
            version = f"{2000 + number}-01-01"
            document = {"apiVersion": version, "kind": "Thing", f"p{number}": {"a": "x"}}
            sys.setrecursionlimit(len(inspect.stack(0)) + 150)
            stored = scheme.put(None, document)
            assert scheme.convert(stored, version) == document
            sys.setrecursionlimit(limit)
            for name in [each for each in sys.modules if ".conversions." in each]:
                del sys.modules[name]
    finally:
        sys.setrecursionlimit(limit)
        for name in [each for each in sys.modules if each.startswith("a_chain_of_versions")]:
            del sys.modules[name]
