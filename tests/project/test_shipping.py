"""A generated package is sent with its hooks, and imported from memory, whatever else has its name."""

import pickle
import shutil
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from trundle.cli._app import app
from trundle.project import load_config, ship, shipped_scheme

NAME = "shipped_people"


def project(folder, name):
    (folder / "schemas").mkdir(parents=True)
    for version, kind in {"2014-04-04": "string", "2015-05-05": "integer"}.items():
        (folder / f"schemas/{version}.yaml").write_text(
            f"title: {name}\ntype: object\nproperties: {{level: {{type: {kind}}}}}\n"
        )
    (folder / "trundle.yaml").write_text(f"package: {NAME}\nsources: [schemas]\n")
    result = CliRunner().invoke(app, ["-C", str(folder), "generate"])
    assert result.exit_code == 0, result.output
    return load_config(folder / "trundle.yaml")


@pytest.fixture
def config(tmp_path):
    return project(tmp_path / "one", "Person")


def test_a_package_converts_where_its_files_are_gone(config):
    shipped = pickle.loads(pickle.dumps(ship(config)))
    for path in config.output.rglob(f"{NAME}/**/*.py"):
        path.unlink()
    with shipped_scheme(shipped) as scheme:
        assert list(scheme.resources) == ["Person"]
        document = {"apiVersion": "2014-04-04", "kind": "Person"}
        assert scheme.convert(document, "2015-05-05")["apiVersion"] == "2015-05-05"
    assert not any(each.partition(".")[0] == NAME for each in sys.modules)


def test_packages_of_one_name_never_meet(config, tmp_path):
    first, second = ship(config), ship(project(tmp_path / "two", "Robot"))
    assert first.digest != second.digest
    for shipped, expected in ((first, "Person"), (second, "Robot"), (first, "Person")):
        with shipped_scheme(shipped) as scheme:
            assert list(scheme.resources) == [expected]


def test_equal_packages_have_the_same_digest(config):
    assert ship(config).digest == ship(config).digest


@pytest.mark.full
def test_the_hooks_of_the_example_and_what_they_import_are_sent(example_config):
    shipped = ship(example_config)
    assert "crm_hooks/names.py" in shipped.files
    document = {
        "apiVersion": "2013-03-03",
        "kind": "Person",
        "id": "6f1d5c1e-0b54-4a53-9d0c-000000000003",
        "firstName": "Donald",
        "middleName": "Fauntleroy",
        "lastName": "Duck",
    }
    with shipped_scheme(shipped) as scheme:
        assert scheme.convert(document, "2014-04-04")["legalName"] == "Donald Fauntleroy Duck"


@pytest.fixture
def example_config(tmp_path):
    source = Path(__file__).parents[2] / "examples/crm"
    shutil.copytree(source, tmp_path / "crm", ignore=shutil.ignore_patterns("__pycache__"))
    result = CliRunner().invoke(app, ["-C", str(tmp_path / "crm"), "generate"])
    assert result.exit_code == 0, result.output
    return load_config(tmp_path / "crm/trundle.yaml")
