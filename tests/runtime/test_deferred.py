"""Modules that are imported when one of their names is used."""

import importlib
import sys
import threading

import pytest

from trundle.runtime import DeferredModule


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "deferred_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "one.py").write_text(
        "from trundle.runtime import DeferredModule\n"
        "two = DeferredModule('.two', __package__)\n"
        "def answer():\n    return two.NUMBER + 1\n"
        "NUMBER = 1\n"
    )
    (folder / "two.py").write_text(
        "import time\n"
        "from trundle.runtime import DeferredModule\n"
        "one = DeferredModule('.one', __package__)\n"
        "time.sleep(0.05)\n"
        "NUMBER = 41\n"
        "def answer():\n    return one.NUMBER\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "deferred_package"
    for name in [each for each in sys.modules if each.startswith("deferred_package")]:
        del sys.modules[name]


def test_a_module_is_imported_when_a_name_is_used(package):
    one = importlib.import_module(f"{package}.one")
    assert f"{package}.two" not in sys.modules
    assert one.answer() == 42
    assert sys.modules[f"{package}.two"].answer() == 1


def test_a_name_is_looked_up_once(package):
    two = DeferredModule(".two", package)
    assert two.NUMBER == 41
    assert vars(two)["NUMBER"] == 41


def test_many_threads_use_a_module_first(package):
    one = importlib.import_module(f"{package}.one")
    found = []
    threads = [threading.Thread(target=lambda: found.append(one.answer())) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [42] * 8


def test_a_name_that_is_not_there_and_a_module_that_is_not_there(package):
    with pytest.raises(AttributeError, match="no_such_name"):
        DeferredModule(".two", package).no_such_name  # noqa: B018
    with pytest.raises(ModuleNotFoundError, match=r"deferred_package\.three"):
        DeferredModule(".three", package).name  # noqa: B018


def test_tools_that_ask_for_what_modules_have_import_nothing(package):
    assert not hasattr(DeferredModule(".two", package), "__file__")
    assert f"{package}.two" not in sys.modules
