"""What the subresource `scale` of a CRD counts; `tests/cluster/test_scale_like_kubernetes.py` holds it to an API server."""

import pytest
from apis import Client, serving_clubs
from pools import GROUP, definition
from projects import installer

CRD = definition(scale={"specReplicasPath": ".spec.replicas"})


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, ""),
        (2**31 - 1, ""),
        (-1, "Invalid value: -1: should be a non-negative integer"),
        (2**31, "Invalid value: 2147483648: should be less than or equal to 2147483647"),
    ],
)
def test_what_is_counted_is_no_negative_number(tmp_path, number, said):
    with installer(tmp_path) as install:
        installed = install({"crd.json": CRD}, config={"kubernetes": {"group": GROUP}})
        with serving_clubs(installed, tmp_path / "store.db") as (api, _):
            path = f"/apis/{GROUP}/v1/namespaces/default/pools"
            document = {"metadata": {"name": "a"}, "spec": {"replicas": number}}
            made = {"apiVersion": f"{GROUP}/v1", "kind": "Pool", **document}
            code, found = Client(api).call("POST", path, made)
            assert code == (422 if said else 201)
            causes = [{"reason": "FieldValueInvalid", "message": said, "field": ".spec.replicas"}]
            assert found.get("details", {}).get("causes", []) == (causes if said else [])
