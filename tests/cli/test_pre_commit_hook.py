"""The hook for pre-commit runs where a commit touches what `trundle check` looks at."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]


def patterns():
    (published,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    guide = (ROOT / "docs" / "check-and-lock.md").read_text()
    block = re.search(
        r"# file: \.pre-commit-config\.yaml\n(.+?)^```", guide, re.DOTALL | re.MULTILINE
    )
    (repository,) = yaml.safe_load(block[1])["repos"]
    return [published["files"], repository["hooks"][0]["files"]]


@pytest.mark.parametrize(
    ("name", "touched"),
    [
        ("trundle.yaml", True),
        ("services/crm/trundle.lock", True),
        ("schemas/2016-06-06.yaml", True),
        ("schemas/common/address", True),
        ("crd.yml", True),
        ("api/openapi.json", True),
        ("crm_hooks/person.py", True),
        ("models/person.py", True),
        ("README.md", False),
        ("src/main.rs", False),
        ("yaml", False),
    ],
)
def test_a_commit_that_touches_what_is_checked_runs_the_hook(name, touched):
    """pre-commit searches for the pattern in the path of each file."""
    assert [re.search(each, name) is not None for each in patterns()] == [touched] * 2
