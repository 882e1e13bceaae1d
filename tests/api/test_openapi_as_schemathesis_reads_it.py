"""schemathesis makes requests out of the OpenAPI documents, and none of them makes the server fail."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from apis import CONFIG, GROUP, SCHEMAS
from projects import Installer
from served import Served

pytestmark = pytest.mark.full

PROGRAM = Path(sys.executable).with_name("schemathesis")
DOCUMENTS = {
    "old": f"/openapi/v3/apis/{GROUP}/v1",
    "new": f"/openapi/v3/apis/{GROUP}/v2",
    "core": "/openapi/v3/api/v1",
    "packages-v1": "/v1/openapi.json",
    "packages-v2": "/v2/openapi.json",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clubs")
    project = Installer(folder)(SCHEMAS, config=CONFIG).project.folder
    places = folder / "places.yaml"
    places.write_text("places: {here: {folder: 'deployed/{tenant}/{environment}'}}")
    catalog = ("--catalog", folder / "catalog.db", "--places", places)
    served = Served(project, *catalog, "--quiet")
    yield served
    served.kill()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_request_makes_the_server_fail(server, tmp_path, name):
    document = server.ask("GET", DOCUMENTS[name]).ok()
    for path in document["paths"].values():  # A watch would last for an hour.
        if "parameters" in path.get("get", {}):
            kept = [each for each in path["get"]["parameters"] if each.get("name") != "watch"]
            path["get"]["parameters"] = kept
    file = tmp_path / "openapi.json"
    file.write_text(json.dumps(document))
    options = [
        "--checks",
        "not_a_server_error",
        "--max-examples",
        "10",
        "--seed",
        "1",
        "--no-color",
    ]
    phases = ["--phases", "examples,coverage,fuzzing", "--request-timeout", "30"]
    command = [PROGRAM, "run", file, "--url", server.url, *options, *phases]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert server.ask("GET", "/readyz").status == 200
