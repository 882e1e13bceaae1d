"""The scenario of channels runs as a user runs it: in a folder and against the real registry, and prints what is shown."""

import re
from pathlib import Path

import pytest
import serving
from guides import ROOT, fits, print_of

SCENARIO = ROOT / "examples/releases/scenario.sh"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
_SHOWN = re.compile(
    r"^```text\n\$ bash \S*scenario\.sh (\S+)\n(.+?)^```$", re.DOTALL | re.MULTILINE
)


def shown_in(page: str) -> tuple[str, str]:
    """The repository that a page gives the scenario, and what that prints, without times."""
    match = _SHOWN.search((ROOT / page).read_text(encoding="utf-8"))
    assert match
    return match[1], without_times(match[2])


def without_times(text: str) -> str:
    return _TIME.sub("TIME", text)


@pytest.fixture
def registry(tmp_path: Path):
    with serving.registry(tmp_path / "registry") as address:
        yield address


def run(repository: str, folder: Path) -> str:
    folder.mkdir()
    printed, status = print_of(f"bash {SCENARIO} {repository}", folder)
    assert status == 0, printed
    return without_times(printed.lstrip("\n"))


@pytest.mark.full
def test_the_scenario_runs_in_a_folder_as_the_readme_shows(tmp_path: Path):
    repository, shown = shown_in("README.md")
    printed = run(repository, tmp_path / "here")
    assert fits(shown, printed), printed


@pytest.mark.full
def test_the_scenario_runs_against_the_real_registry_as_the_example_shows(
    tmp_path: Path, registry: str
):
    repository, shown = shown_in("examples/releases/README.md")
    address = repository.partition("/")[0]
    printed = run(repository.replace(address, registry), tmp_path / "here")
    assert fits(shown, printed.replace(registry, address)), printed


def test_without_a_repository_it_says_what_is_missing(tmp_path: Path):
    printed, status = print_of(f"bash {SCENARIO}", tmp_path)
    assert status != 0
    assert "expected the repository to publish to" in printed
    assert not any(tmp_path.iterdir())
