"""kubectl sees the same on Trundle's server as on the real API server; what differs on purpose is in a list."""

import difflib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import judging
import pytest
import trundle_servers
import widgets
from projects import Installer

FOLDER = Path(__file__).parent / "stories"
STORIES = judging.stories(FOLDER)
WANTED = judging.differences(Path(__file__).parent / "wanted_differences.yaml")
LISTS = [
    f"/apis/{widgets.GROUP}/{version}/namespaces/{{namespace}}/widgets"
    for version in widgets.VERSIONS
]


@pytest.fixture(scope="module")
def real(cluster, tmp_path_factory):
    cluster.define(widgets.CRD)
    folder = tmp_path_factory.mktemp("real")
    (folder / "kubeconfig").write_text(cluster.kubeconfig.read_text())
    return judging.Server(
        "real", cluster.programs / "kubectl", folder, lambda path: cluster.request("GET", path).ok()
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("widgets")
    return Installer(folder)({"crd.json": widgets.CRD}, config=widgets.project()).project.folder


@pytest.fixture(scope="module")
def database(server):
    import psycopg

    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE stories")
    return f"{server}/stories"


@pytest.fixture(scope="module")
def trundle(cluster, project, database, tmp_path_factory):
    """Trundle's servers over SQLite and PostgreSQL."""
    with (
        trundle_servers.running(project) as embedded,
        trundle_servers.running(project, "--store", database) as shared,
    ):
        found = []
        for name, served in (("SQLite", embedded), ("PostgreSQL", shared)):
            folder = tmp_path_factory.mktemp(name)
            (folder / "kubeconfig").write_text(json.dumps(kubeconfig(served.url)))
            found.append(
                judging.Server(
                    name,
                    cluster.programs / "kubectl",
                    folder,
                    lambda path, served=served: served.request("GET", path)[1],
                )
            )
        yield found


def kubeconfig(url):
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "trundle", "cluster": {"server": url}}],
        "users": [{"name": "trundle", "user": {}}],
        "contexts": [{"name": "trundle", "context": {"cluster": "trundle", "user": "trundle"}}],
        "current-context": "trundle",
    }


@pytest.mark.parametrize("story", STORIES, ids=[each.namespace for each in STORIES])
def test_kubectl_shows_the_same(real, trundle, story):
    with ThreadPoolExecutor() as threads:
        told = list(
            threads.map(lambda each: judging.Telling(each, story).run(LISTS), [real, *trundle])
        )
    listed = [each for each in WANTED if story.name in each.stories]
    for server, shown in zip(trundle, told[1:], strict=True):
        wrong = found_differences(told[0], shown, listed)
        assert not wrong, f"{server.name}:\n{wrong}"
        for each in listed:
            others = [one for one in listed if one is not each]
            assert found_differences(told[0], shown, others), f"{server.name} shows no more: {each}"


def found_differences(real, trundle, listed):
    """How two outcomes of a story differ, apart from what is listed."""
    found = []
    for (step, expected), (_, shown) in zip(real, trundle, strict=True):
        for each in listed:
            expected, shown = each.without(step, expected, shown)  # noqa: PLW2901
        if expected != shown:
            lines = expected.splitlines(), shown.splitlines()
            found += [
                f"$ kubectl {step}",
                *difflib.unified_diff(*lines, "real", "trundle", "", "", 2, ""),
                "",
            ]
    return "\n".join(found)
