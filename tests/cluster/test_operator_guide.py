"""The commands of docs/follow-channels-in-a-cluster.md, run on a real cluster."""

import os
import re
import subprocess
import sys
from pathlib import Path

import operators
import pytest
import warm
from serving import registry

GUIDE = Path(__file__).parents[2] / "docs" / "follow-channels-in-a-cluster.md"
BLOCK = re.compile(r"^```(?P<kind>sh|yaml)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture
def operator(cluster, tmp_path):
    running = operators.Operator(cluster, tmp_path / "operator", "--namespace", "shop")
    try:
        running.start()
        running.define()
        yield running
    finally:
        running.stop(9)


def test_the_commands_of_the_guide_do_what_it_says(cluster, operator, tmp_path):
    folder = tmp_path / "guide"
    folder.mkdir()
    plugin = folder / "kubectl-trundle"
    call = "from trundle.__main__ import kubectl_trundle as run; run()"
    plugin.write_text(f"#!{sys.executable}\n{call}\n")
    plugin.chmod(0o755)
    path = [str(folder), str(cluster.programs), str(Path(warm.TRUNDLE).parent), os.environ["PATH"]]
    with registry(tmp_path / "registry") as host:
        environment = {
            **os.environ, "PATH": ":".join(path), "KUBECONFIG": str(cluster.kubeconfig),
            "HOME": str(folder), "REGISTRY": f"http://{host}",
        }  # fmt: skip
        for block in BLOCK.finditer(GUIDE.read_text(encoding="utf-8")):
            text = block["text"]
            if block["kind"] == "yaml":
                place = folder / re.match(r"# file: (\S+)\n", text)[1]
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text)
                continue
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=environment,
                capture_output=True, text=True, check=False, timeout=300,
            )  # fmt: skip
            assert done.returncode == 0, (text, done.stdout, done.stderr, operator.messages)
    cluster.undefine("members.clubs.example.com")
    found = cluster.kubectl("get", "configmap", "-n", "shop", "-o", "name").stdout
    assert "db-settings" not in found
