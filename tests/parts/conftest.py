import pytest
from typer.testing import CliRunner

from trundle.cli._app import app
from trundle.project import load_config, ship

SCHEMAS = {
    "2014-04-04": "alphaKey: {type: string}\n  level: {type: string}",
    "2015-05-05": "sortKey: {type: string}\n  level: {type: integer}",
}
CONFIG = """\
package: crm_in_parts
sources: [schemas]
changes:
  2014-04-04:
    Person:
      rename: {alphaKey: sortKey}
"""


@pytest.fixture(scope="session")
def package(tmp_path_factory):
    """A generated package with two versions, as it is sent to processes."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "schemas").mkdir()
    for version, properties in SCHEMAS.items():
        (folder / f"schemas/{version}.yaml").write_text(
            "title: Person\ntype: object\nrequired: [id]\n"
            f"properties:\n  id: {{type: string}}\n  {properties}\n"
        )
    (folder / "trundle.yaml").write_text(CONFIG)
    result = CliRunner().invoke(app, ["-C", str(folder), "generate"])
    assert result.exit_code == 0, result.output
    return ship(load_config(folder / "trundle.yaml"))
