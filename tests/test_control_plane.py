import subprocess
import sys
from pathlib import Path

import control_plane
import judging
import pytest


@pytest.fixture
def without_go(tmp_path, monkeypatch):
    monkeypatch.setenv("TRUNDLE_TEST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)
    return monkeypatch


def run():
    return subprocess.run(
        [sys.executable, control_plane.__file__], capture_output=True, text=True, check=False
    )


def test_without_go_nothing_is_built(without_go):
    assert control_plane.programs() is None
    done = run()
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"Tests against a real cluster are left out: {control_plane.MISSING}\n"


def test_ci_has_to_have_go(without_go):
    without_go.setenv("CI", "true")
    assert run().returncode == 1


def test_programs_that_are_built_need_no_go(without_go):
    built = control_plane.folder()
    built.mkdir(parents=True)
    assert control_plane.programs() == built
    assert run().returncode == 0


def test_the_module_has_one_version_of_all_parts_of_kubernetes():
    lines = (control_plane.MODULE / "go.mod").read_text().splitlines()
    replaced = [each.split()[-1] for each in lines if each.startswith("\tk8s.io/") and "=>" in each]
    patch = control_plane.VERSION.partition(".")[2]
    assert len(replaced) == 31
    assert set(replaced) == {f"v0.{patch}"}
    assert any(f"k8s.io/kubernetes v{control_plane.VERSION}" in each for each in lines)


def test_wanted_differences_name_stories():
    folder = Path(__file__).with_name("cluster")
    names = {each.name for each in judging.stories(folder / "stories")}
    wanted = judging.differences(folder / "wanted_differences.yaml")
    assert {name for each in wanted for name in each.stories} <= names
