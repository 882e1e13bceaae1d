"""Ten thousand writes that conflict, and one with ten thousand conflicts: each is refused, and nothing else comes of them."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import trundle_servers
import widgets
from acknowledged import path
from projects import Installer

APPLY = "application/apply-patch+yaml"
CONFLICTS = 10_000
MOST = 50_000_000
"""How many bytes a server may need more than before; it would be more if each refused write kept what it had read."""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("conflicting")
    return Installer(folder)({"crd.json": widgets.CRD}, config=widgets.project()).project.folder


def widget(title, **spec):
    return {
        "apiVersion": f"{widgets.GROUP}/v1",
        "kind": "Widget",
        "metadata": {"name": "wanted"},
        "spec": {"title": title, **spec},
    }


def limits(value):
    return {f"limit-{number}": value for number in range(CONFLICTS)}


def memory(served):
    """How many bytes of memory a server has."""
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


@pytest.mark.full
def test_each_of_many_writes_that_conflict_is_refused(project, url):
    with trundle_servers.running(project, "--store", url) as served:
        status, first = served.request("POST", path("v1"), widget("First"))
        assert status == 201
        mine = widget("Mine", weight=1)
        status, owned = served.request(
            "PATCH", path("v1", "wanted"), mine, kind=APPLY, fieldManager="mine", force="true"
        )
        assert status == 200
        stale = widget("Stale")
        stale["metadata"]["resourceVersion"] = first["metadata"]["resourceVersion"]
        theirs = widget("Theirs", weight=2)

        def write(number):
            version = widgets.VERSIONS[number // 2 % 2]
            at = {"apiVersion": f"{widgets.GROUP}/{version}"}
            if number % 2:
                return served.request("PUT", path(version, "wanted"), {**stale, **at})
            return served.request(
                "PATCH", path(version, "wanted"), {**theirs, **at}, kind=APPLY, fieldManager="they"
            )

        with ThreadPoolExecutor(16) as threads:
            refused = [*threads.map(write, range(200))]
            before = memory(served)
            refused += threads.map(write, range(200, CONFLICTS))
        assert {(code, body["reason"]) for code, body in refused} == {(409, "Conflict")}
        assert {len(body["details"].get("causes", ())) for _, body in refused[::2]} == {2}
        assert {body["details"]["name"] for _, body in refused[1::2]} == {"wanted"}
        assert memory(served) - before < MOST
        assert served.request("GET", path("v1", "wanted")) == (200, owned)
        owned["spec"]["title"] = "Next"
        status, written = served.request("PUT", path("v1", "wanted"), owned)
        assert (status, written["spec"]["title"]) == (200, "Next")
        version = int(owned["metadata"]["resourceVersion"])
        assert int(written["metadata"]["resourceVersion"]) == version + 1, "no write between"


def conflicting(request):
    """Has a server refuse an apply for as many conflicts as it has fields, and take it by force; its refusal."""
    where = path("v1", "wanted")

    def apply(value, **query):
        return request("PATCH", where, widget("Ann", limits=limits(value)), kind=APPLY, **query)

    try:
        status, owned = apply("1", fieldManager="mine")
        assert status == 201
        status, refusal = apply("2", fieldManager="they")
        assert status == 409
        assert request("GET", where) == (200, owned)
        status, forced = apply("2", fieldManager="they", force="true")
        assert (status, forced["spec"]["limits"]) == (200, limits("2"))
    finally:
        request("DELETE", where)
    return refusal


@pytest.mark.full
def test_an_apply_names_all_of_its_conflicts(project, url):
    with trundle_servers.running(project, "--store", url) as served:
        conflicting(served.request)  # Once for all that a server keeps.
        before = memory(served)
        for _ in range(3):
            refusal = conflicting(served.request)
        assert memory(served) - before < MOST
    causes = refusal["details"]["causes"]
    assert {each["field"] for each in causes} == {f".spec.limits.{name}" for name in limits("1")}
    assert len(causes) == CONFLICTS
    assert {each["reason"] for each in causes} == {"FieldManagerConflict"}


@pytest.mark.cluster
def test_an_api_server_names_the_same_conflicts(project, cluster):
    cluster.define(widgets.CRD)

    def request(*arguments, **more):
        answer = cluster.request(*arguments, **more)
        return answer.status, answer.body

    theirs = conflicting(request)
    with trundle_servers.running(project) as served:
        ours = conflicting(served.request)
    assert ours == theirs
