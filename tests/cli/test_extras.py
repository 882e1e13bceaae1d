"""What each extra is good for: commands in a process that sees no packages but those of some extras."""

import importlib.metadata
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from amounts import full

from trundle.cli._failures import EXTRAS

MODULES = {
    "Jinja2": "jinja2",
    "PyYAML": "yaml",
    "SQLAlchemy": "sqlalchemy",
    "cel-expr-python": "cel_expr_python",
    "jsonschema-rs": "jsonschema_rs",
    "prometheus-client": "prometheus_client",
    "protobuf": "google",
    "python-jsonpath": "jsonpath",
}

ONLY = """
import importlib.abc, sys

class Only(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {unseen!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Only())
"""

RUN = """
import sys
sys.argv = ["trundle", *{arguments!r}]
from trundle.__main__ import main
main()
"""


def requirements(extra):
    """The modules of packages that an extra brings, those of other extras of Trundle included."""
    found = set()
    for line in importlib.metadata.requires("trundle"):
        text, _, marker = line.partition(";")
        if f"extra == '{extra}'" in marker.replace('"', "'"):
            name = text.split(">")[0].split("[")[0].strip()
            if name == "trundle":
                for each in text[text.index("[") + 1 : text.index("]")].split(","):
                    found |= requirements(each)
            else:
                found.add(MODULES.get(name, name))
    return found


def run(code, *extras, folder=None):
    """Runs code where only these extras are installed."""
    seen = set().union(*map(requirements, extras))
    unseen = sorted(requirements("all") - seen)
    assert unseen
    return subprocess.run(
        [sys.executable, "-c", ONLY.format(unseen=unseen) + code],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )


def command(*arguments):
    return RUN.format(arguments=arguments)


@pytest.fixture
def project(tmp_path):
    schemas = tmp_path / "schemas"
    schemas.mkdir()
    for version, name in (("2024-01-01", "sizeGB"), ("2025-06-01", "storageGB")):
        text = f"title: Database\ntype: object\nproperties:\n  {name}: {{type: integer}}\n"
        (schemas / f"{version}.yaml").write_text(text)
    (tmp_path / "trundle.yaml").write_text(
        "package: databases\nsources: [schemas]\n"
        "changes: {2024-01-01: {Database: {rename: {sizeGB: storageGB}}}}\n"
    )
    return tmp_path


@pytest.mark.full
def test_a_service_that_only_converts_needs_no_extra(project):
    assert run(command("generate"), "cli", folder=project).returncode == 0
    convert = (
        "from databases import scheme\n"
        "document = {'apiVersion': '2024-01-01', 'kind': 'Database', 'sizeGB': 5}\n"
        "stored = scheme.to_storage(scheme.decode(document))\n"
        "print(scheme.from_storage(stored, '2025-06-01').storage_gb)\n"
        "print(scheme.convert(document, to='2025-06-01')['storageGB'])\n"
    )
    result = run(convert, folder=project)
    assert (result.stdout, result.stderr) == ("5\n5\n", "")


@pytest.mark.full
def test_the_engine_and_its_providers_need_one_extra(tmp_path):
    code = (
        "from pathlib import Path\n"
        "from trundle.engine import Engine\n"
        "from trundle.providers import FileJournal, FolderProvider\n"
        "engine = Engine([], providers={'folder': FolderProvider(Path('out'))})\n"
        "with FileJournal(Path('journal')) as journal, engine.session(journal=journal) as session:\n"
        "    model = {'?': {'type': 'io.trundle.Document'}, 'name': 'a', 'content': [1]}\n"
        "    session.call(session.load(model), 'deploy')\n"
        "print(Path('out/a.yaml').read_text())\n"
    )
    result = run(code, "engine", folder=tmp_path)
    assert (result.stdout, result.stderr) == ("- 1\n\n", "")


def test_the_command_without_its_extra_says_what_to_install(tmp_path):
    result = run(command("--help"), folder=tmp_path)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.endswith("run: python -m pip install 'trundle[cli]'\n")


@pytest.mark.full
@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (("status",), "channels"),
        (("serve", "--port", "0"), "api"),
        (("kube", "migrate"), "kube"),
        full(("kube", "operator"), "kube"),
        full(("ui", "--port", "0"), "ui"),
        full(("catalog", "list"), "catalog"),
        full(("verify",), "verify"),
        full(("keys", "--help"), None),
    ],
)
def test_a_command_says_which_extra_it_needs(project, arguments, extra):
    assert run(command("generate"), "cli", folder=project).returncode == 0
    result = run(command(*arguments), "cli", folder=project)
    if extra:
        assert result.returncode == 1
        assert f"pip install 'trundle[{extra}]'" in result.stderr  # Quoted, as zsh needs it.
        assert "bug" not in result.stderr
    else:
        assert result.returncode == 0


@pytest.mark.full
def test_a_catalog_needs_its_extra_alone(tmp_path):
    (tmp_path / "db").mkdir()
    (tmp_path / "db" / "manifest.yaml").write_text("FullName: a.Db\n")
    place = ("--catalog", "c.db")
    result = run(command("catalog", "upload", "db", *place), "catalog", folder=tmp_path)
    assert (result.returncode, result.stdout[:18]) == (0, "stored a.Db 0.0.0 "), result.stderr
    result = run(command("catalog", "channels", *place), "catalog", folder=tmp_path)
    assert (result.returncode, result.stderr[:16]) == (0, "c.db: no channel"), result.stderr
    (tmp_path / "root.json").write_text("{}")
    channel = ("--channel", "db", "--root", "root.json")
    result = run(command("catalog", "follow", *channel, *place), "catalog", folder=tmp_path)
    assert result.returncode == 1
    assert "trundle[channels]" in result.stderr
    result = run(command("catalog", "list", *place), "cli", folder=tmp_path)
    assert result.returncode == 1
    assert "trundle[catalog]" in result.stderr


def test_every_package_of_an_extra_is_known():
    beside_the_command = requirements("all") | requirements("postgres") | requirements("pydantic")
    assert set(EXTRAS) == beside_the_command - requirements("cli")
    for module, extra in EXTRAS.items():
        assert module in requirements(extra)


@pytest.mark.full
@pytest.mark.parametrize("extras", [("ui",), full(("api", "channels", "ui", "verify"))], ids=str)
def test_the_page_needs_no_more_than_its_extra(extras):
    result = run("import trundle.dashboard\n", *extras)
    assert (result.returncode, result.stderr) == (0, "")


def test_the_source_distribution_has_all_that_is_kept():
    """Tests run in it, and they read the hook for pre-commit."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        pytest.skip("no checkout")
    listed = subprocess.run(
        ["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    kept = {each.split("/")[0] for each in listed if each}
    tables = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    included = {*tables["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]}
    assert kept - included == {".gitignore", "pyproject.toml"}  # Hatch adds these.
