"""What there is, and how it is described, is kept by clients of Kubernetes' API server; `trundle serve` lets them as well."""

import json
import re

import pytest
import test_requests_like_kubernetes as requests
from projects import Installer
from served import both_serving

pytestmark = pytest.mark.cluster

AGGREGATED = {"accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
V3 = f"/openapi/v3/apis/{requests.GROUP}/v2"


@pytest.fixture(scope="module")
def servers(cluster, tmp_path_factory):
    """The real server, and Trundle's."""
    crd = requests.crd("rasps", "Rasp", "Namespaced")
    config = {"kubernetes": {"group": requests.GROUP}}
    project = Installer(tmp_path_factory.mktemp("kept"))({"crd.json": crd}, config=config)
    with both_serving(cluster, [crd], project.project.folder) as servers:
        yield servers


@pytest.mark.parametrize(
    ("path", "headers"),
    [("/openapi/v2", {}), (V3, {}), ("/api", AGGREGATED), ("/apis", AGGREGATED)],
)
def test_a_client_that_has_a_document_is_not_sent_it_again(servers, path, headers):
    for each in servers:
        first = each.ask("GET", path, headers=headers)
        first.ok()
        tag = first.headers["etag"]
        again = each.ask("GET", path, headers={**headers, "if-none-match": tag})
        assert (again.status, again.body, again.headers["etag"]) == (304, "", tag)
        other = each.ask("GET", path, headers={**headers, "if-none-match": '"other"'})
        assert (other.status, other.headers["etag"]) == (200, tag)


def test_a_document_that_is_named_by_its_hash_is_kept_without_asking(servers):
    for each in servers:
        listed = each.ask("GET", "/openapi/v3").ok()  # API servers say that it is text.
        paths = (json.loads(listed) if isinstance(listed, str) else listed)["paths"]
        named = paths[V3.removeprefix("/openapi/v3/")]["serverRelativeURL"]
        found = each.ask("GET", named)
        assert found.status == 200
        assert "immutable" in found.headers["cache-control"]
        assert found.headers["expires"]
        elsewhere = each.ask("GET", re.sub("=.*", "=OTHER", named))
        assert (elsewhere.status, elsewhere.headers["location"]) == (301, named)
        assert "immutable" not in each.ask("GET", V3).headers["cache-control"]
