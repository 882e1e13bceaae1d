import pkgutil
import sys
import types

from trundle.project._importing import importable


def test_modules_are_importable_within_and_forgotten_afterwards(tmp_path):
    (tmp_path / "lively.py").write_text("VALUE = 1\n")
    with importable([tmp_path], ["lively"]):
        import lively

        assert lively.VALUE == 1
    assert "lively" not in sys.modules
    assert str(tmp_path) not in sys.path


def test_a_module_of_the_same_name_comes_back(tmp_path, monkeypatch):
    elsewhere = types.ModuleType("lively")
    monkeypatch.setitem(sys.modules, "lively", elsewhere)
    (tmp_path / "lively.py").write_text("VALUE = 1\n")
    with importable([tmp_path], ["lively.inner"]):
        import lively

        assert lively.VALUE == 1
    assert sys.modules["lively"] is elsewhere


def test_what_stays_outside_the_folders_stays_imported(tmp_path):
    (tmp_path / "lively.py").write_text("import colorsys\n")
    sys.modules.pop("colorsys", None)
    with importable([tmp_path], ["lively"]):
        import lively  # noqa: F401
    assert "colorsys" in sys.modules


def test_an_error_within_restores_everything(tmp_path):
    before = list(sys.path), sys.dont_write_bytecode
    try:
        with importable([tmp_path], ["trundle"]):
            raise ValueError
    except ValueError:
        pass
    assert (list(sys.path), sys.dont_write_bytecode) == before
    assert "trundle" in sys.modules


def test_nothing_is_remembered_of_the_folders(tmp_path):
    folder, beside = tmp_path / "a", tmp_path / "ab"
    for each in (folder, beside):
        (each / "inner").mkdir(parents=True)
        (each / "inner" / "__init__.py").write_text("")
    pkgutil.get_importer(str(beside))
    with importable([folder], ["inner"]):
        import inner  # noqa: F401

        assert str(folder) in sys.path_importer_cache
    left = [each for each in sys.path_importer_cache if each.startswith(str(tmp_path))]
    assert left == [str(beside)]
