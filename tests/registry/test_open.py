import subprocess
import sys

import pytest

from trundle.registry import (
    DirectoryRegistry,
    InvalidReferenceError,
    Reference,
    open_registry,
    open_repository,
)


def test_a_folder_is_opened_without_being_made(tmp_path):
    registry = open_registry(f"oci:{tmp_path / 'packages'}")
    assert isinstance(registry, DirectoryRegistry)
    assert registry.location == f"oci:{tmp_path / 'packages'}"
    assert registry.repository("acme/crm").tags() == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["oci:packages//acme/crm", "registry.example.com/acme/crm"])
def test_a_repository_is_opened_by_its_reference(text):
    assert open_repository(text).location == text
    assert open_repository(Reference.parse(f"{text}:1.0.0")).location == text


def test_what_is_no_reference_is_not_opened():
    with pytest.raises(InvalidReferenceError):
        open_repository("acme/crm")


@pytest.mark.full
def test_without_the_extra_folders_work_and_the_rest_says_what_to_install(tmp_path):
    script = """
import sys
sys.modules["httpx2"] = None
from trundle.registry import MissingExtraError, open_registry
print(open_registry("oci:" + sys.argv[1]).repository("acme/crm").tags())
try:
    open_registry("registry.example.com")
except MissingExtraError as error:
    print(error.advice)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\nrun: pip install 'trundle[registry]'\n"
