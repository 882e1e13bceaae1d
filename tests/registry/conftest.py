import itertools
from pathlib import Path

import pytest
import serving
from artifacts import QUICK

from trundle.registry import DirectoryRegistry, open_registry

_numbers = itertools.count()


@pytest.fixture(autouse=True)
def no_docker_configuration(tmp_path, monkeypatch):
    """Keeps the configuration of the user out of the tests."""
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
    for name in (
        "http_proxy",
        "https_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The address of a real registry."""
    with serving.registry(tmp_path_factory.mktemp("registry")) as address:
        yield address


@pytest.fixture
def remote(server):
    """A repository of a real registry that no other test uses."""
    return open_registry(server, settings=QUICK).repository(f"acme/crm-{next(_numbers)}")


@pytest.fixture
def layout(tmp_path: Path):
    """A repository in a folder."""
    return DirectoryRegistry(tmp_path / "packages").repository("acme/crm")


@pytest.fixture(params=["directory", "http"])
def repository(request):
    """A repository of either kind."""
    return request.getfixturevalue("layout" if request.param == "directory" else "remote")
