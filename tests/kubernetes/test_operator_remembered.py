"""What the operator remembers of a namespace outlasts its folder, however that is lost."""

import json
import shutil
from pathlib import Path

import httpx2
import lightkube
import pytest
import sites
from lightkube.config.kubeconfig import KubeConfig

from trundle.database import DatabaseError
from trundle.installation import Install, Installation, install
from trundle.kubernetes._cluster import Cluster
from trundle.kubernetes.operator._remembered import Keeper

CRM = "acme/crm"
CLUSTER = {
    "clusters": [{"name": "test", "cluster": {"server": "https://cluster.test"}}],
    "contexts": [{"name": "test", "context": {"cluster": "test", "user": "me"}}],
    "users": [{"name": "me", "user": {"token": "t"}}],
    "current-context": "test",
}


class Maps:
    """Answers as an API server that keeps one ConfigMap."""

    def __init__(self):
        self.map = None
        self.version = 0

    def __call__(self, request):
        if request.method == "GET":
            if self.map is None:
                status = {"kind": "Status", "status": "Failure", "code": 404, "message": "none"}
                return httpx2.Response(404, json=status)
            return httpx2.Response(200, json=self.map)
        self.version += 1
        self.map = json.loads(request.content)
        self.map["metadata"]["resourceVersion"] = str(self.version)
        return httpx2.Response(200, json=self.map)


@pytest.fixture
def maps():
    return Maps()


@pytest.fixture
def made(maps, tmp_path):
    """Makes what keeps the state of a namespace in a folder."""
    config = KubeConfig.from_dict(CLUSTER).get()
    with lightkube.Client(config, transport=httpx2.MockTransport(maps)) as client:
        yield lambda folder: Keeper(Cluster(client), "home", "shop", tmp_path / folder)


@pytest.fixture
def opened(tmp_path):
    return lambda folder: Installation(tmp_path / folder, clock=sites.Clock())


def names(installation):
    return [each.name for each in installation.packages()]


@pytest.fixture
def keeper(made, opened, tmp_path):
    """One that has kept an installed package, whose folder is `here`."""
    site = sites.Site(tmp_path)
    site.publish("1.0.0")
    keeper = made("here")
    keeper.load()
    with opened("here") as installation:
        install(installation, Install(reference=site.reference(CRM), unsigned=True))
        keeper.save()
    return keeper


def test_a_folder_that_is_gone_is_restored(keeper, made, opened, maps, tmp_path):
    shutil.rmtree(tmp_path / "here")
    keeper.load()
    with opened("here") as installation:
        assert names(installation) == [CRM]
        keeper.save()
    other = made("there")
    other.load()
    with opened("there") as installation:
        assert names(installation) == [CRM]


def test_nothing_is_read_again_where_the_folder_is_as_it_was(keeper, opened, maps, tmp_path):
    (tmp_path / "here" / "note").touch()
    keeper.load()
    assert (tmp_path / "here" / "note").exists()


def test_what_is_kept_stays_where_the_folder_goes_before_it_is_saved(keeper, maps, tmp_path):
    before = maps.map
    keeper.load()
    (tmp_path / "here" / "state.db").unlink()
    with pytest.raises(DatabaseError):
        keeper.save()
    assert maps.map == before
    assert not (tmp_path / "here" / "state.db").exists()


def test_a_disk_that_is_full_while_it_is_restored_is_no_state(
    keeper, opened, monkeypatch, tmp_path
):
    shutil.rmtree(tmp_path / "here")

    def full(path, _content):
        path.touch()
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        keeper.load()
    monkeypatch.undo()
    keeper.load()
    with opened("here") as installation:
        assert names(installation) == [CRM]
