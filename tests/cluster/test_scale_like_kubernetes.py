"""What the subresource `scale` of a CRD counts is held to the same by Kubernetes' API server and by `trundle serve`."""

import itertools

import pytest
from pools import GROUP, definition
from projects import Installer
from served import both_serving

pytestmark = pytest.mark.cluster

SCALE = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
CRD = definition(status={}, scale=SCALE)
POOLS = f"/apis/{GROUP}/v1/namespaces/default/pools"
NUMBERS = (0, 1, -1, 2**31 - 1, 2**31, -(2**40))
NAMES = itertools.count()


@pytest.fixture(scope="module")
def servers(cluster, tmp_path_factory):
    """The real server, and Trundle's."""
    project = Installer(tmp_path_factory.mktemp("scaled"))(
        {"pools.json": CRD}, config={"kubernetes": {"group": GROUP}}
    ).project.folder
    with both_serving(cluster, [CRD], project) as servers:
        yield servers


def pool(spec):
    head = {"apiVersion": f"{GROUP}/v1", "kind": "Pool", "metadata": {"name": f"p{next(NAMES)}"}}
    return {**head, "spec": spec}


def both(servers, method, path, body, **more):
    theirs, ours = (each.ask(method, path, body, **more) for each in servers)

    def answered(answer):
        found = answer.body.get("details", {}).get("causes", []), answer.body.get("message")
        return answer.status, found if answer.status >= 300 else answer.body["spec"]

    assert answered(ours) == answered(theirs), body


@pytest.mark.parametrize("number", NUMBERS)
def test_what_is_asked_for_is_no_negative_number(servers, number):
    both(servers, "POST", POOLS, pool({"replicas": number}))
    made = pool({})
    path = f"{POOLS}/{made['metadata']['name']}"
    for each in servers:
        each.ask("POST", POOLS, made).ok()
    given = {"media_type": "application/merge-patch+json"}
    both(servers, "PATCH", path, {"spec": {"replicas": number}}, **given)
    both(servers, "PATCH", f"{path}/status", {"status": {"replicas": number}}, **given)
    given = {"media_type": "application/apply-patch+yaml", "fieldManager": "test"}
    both(servers, "PATCH", path, {**made, "spec": {"replicas": number}}, **given)
