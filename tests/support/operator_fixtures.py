"""The fixtures with an operator and a publisher; the `conftest.py` of a folder imports them where its tests use them."""

import operators
import pytest
from serving import registry


@pytest.fixture(scope="module")
def publisher(tmp_path_factory):
    folder = tmp_path_factory.mktemp("publisher")
    with registry(folder / "registry") as host:
        yield operators.Publisher(folder, host)


@pytest.fixture(scope="module")
def operator(cluster, publisher, tmp_path_factory):
    running = operators.Operator(cluster, tmp_path_factory.mktemp("operator"))
    try:
        running.start()
        running.define()
        yield running
    finally:
        running.end()


@pytest.fixture(scope="module")
def converter(cluster, tmp_path_factory):
    """An operator that converts installations, and follows none of these tests."""
    running = operators.Operator(
        cluster, tmp_path_factory.mktemp("converter"), "--namespace", "kube-public"
    )
    try:
        running.start()
        running.define()
        yield running
    finally:
        running.stop(9)


@pytest.fixture
def space(cluster, publisher, request):
    """A namespace with the publisher's root."""
    name = request.node.name.replace("_", "-")[5:45].strip("-")
    return operators.space_called(cluster, publisher, name)
