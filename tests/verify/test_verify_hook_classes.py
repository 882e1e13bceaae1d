"""The class of a hook, as the law of what hooks return finds it."""

import sys
from types import ModuleType

import pytest

from trundle.verify._oracle_laws import hook_class


class Outer:
    class Names:
        pass


@pytest.mark.parametrize("module", ["hooks_to_find", "moved.hooks_to_find"])
@pytest.mark.parametrize(("path", "expected"), [("Outer", Outer), ("Outer.Names", Outer.Names)])
def test_a_class_is_found_where_it_was_imported_from(monkeypatch, module, path, expected):
    made = ModuleType(module)
    made.Outer = Outer
    monkeypatch.setitem(sys.modules, module, made)
    assert hook_class(f"hooks_to_find:{path}") is expected


def test_a_class_that_is_gone_is_not_found(monkeypatch):
    monkeypatch.setitem(sys.modules, "hooks_to_find", ModuleType("hooks_to_find"))
    assert hook_class("hooks_to_find:Outer.Names") is None
    assert hook_class("hooks_that_are_nowhere:Outer") is None
