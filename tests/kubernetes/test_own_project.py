"""`Installation` is a project of Trundle itself."""

import subprocess
from pathlib import Path

import warm

import trundle.kubernetes._own as own

FOLDER = Path(own.__file__).parent


def test_its_generated_package_is_what_trundle_generates():
    command = [*warm.script(always=True), "generate", "--check"]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_older_version_calls_the_registry_source():
    document = {
        "apiVersion": "trundle.dev/v1alpha1",
        "kind": "Installation",
        "metadata": {"name": "db"},
        "spec": {"source": "registry.example.com", "package": "acme/db:1.0.0"},
    }
    found = own.scheme.convert(document, to="v1")
    assert found["spec"] == {"registry": "registry.example.com", "package": "acme/db:1.0.0"}
