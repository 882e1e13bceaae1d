"""What is noted of a CRD before it is adopted, and the patches that change it."""

import json

import pytest
from crd_clusters import merged
from hypothesis import given
from hypothesis import strategies as st

from trundle.kubernetes import DefinitionError
from trundle.kubernetes._former import as_it_is, former_name, former_of, replacing

GROUP = "clubs.example.com"
INJECT = "cert-manager.io/inject-ca-from"


def crd(**annotations):
    spec = {
        "group": GROUP,
        "versions": [{"name": "v1", "served": True, "storage": True}, {"name": "v2", "served": True, "storage": False}],
        "conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"name": "old"}, "caBundle": "QQ=="}}},
    }  # fmt: skip
    return {"metadata": {"name": f"members.{GROUP}", "annotations": annotations}, "spec": spec}


_VALUES = st.recursive(
    st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=12,
)
_OBJECTS = st.dictionaries(st.sampled_from("abcd"), _VALUES, max_size=4)


@pytest.mark.full
@given(_OBJECTS, _OBJECTS)
def test_a_patch_makes_one_value_of_another(before, after):
    assert merged(before, replacing(before, after)) == after


def test_a_service_takes_the_place_of_a_url():
    patch = replacing({"url": "https://x", "caBundle": "QQ=="}, {"service": {"name": "new"}})
    assert patch == {"url": None, "caBundle": None, "service": {"name": "new"}}
    assert replacing(None, {"strategy": "None"}) == {"strategy": "None"}


def test_what_a_crd_was_is_read_again():
    found = crd(**{INJECT: "a/b", "another": "c"})
    noted = as_it_is(found)
    assert noted.annotations == {INJECT: "a/b"}
    adopted = json.loads(json.dumps(found))
    adopted["spec"]["conversion"] = {"strategy": "None"}
    adopted["metadata"]["annotations"] = {former_name(GROUP): noted.text}
    former = former_of(adopted)
    assert (former.spec, former.annotations, former.storage) == (
        found["spec"],
        {INJECT: "a/b"},
        "v1",
    )
    assert former_of(crd()) is None


@pytest.mark.parametrize("text", ["", "AAAA", "no base64", "e30=", "H4sIAAAAAAAC/wMAAAAAAAAAAAA="])
def test_a_note_that_was_changed_is_an_error(text):
    with pytest.raises(DefinitionError, match="put the annotation back"):
        former_of(crd(**{former_name(GROUP): text}))


def test_large_schemas_have_room_in_an_annotation():
    found = crd()
    inner = {
        f"property{each}": {"type": "string", "description": f"What number {each} is."}
        for each in range(5000)
    }
    found["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": {"type": "object", "properties": inner}}  # fmt: skip
    assert len(json.dumps(found)) > 300_000
    assert len(as_it_is(found).text) < 100_000
