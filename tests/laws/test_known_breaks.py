"""Conversions that do not keep a law yet. What is mended has to leave this file."""

import pytest
from cases import CASES, V1, V2, V4
from evolving import evolve
from test_releases_side_by_side import held_back


@pytest.mark.xfail(strict=True, reason="an empty text of an older shape is taken for a zero value")
def test_an_element_beside_an_empty_one_is_read_after_an_earlier_release_stored(forgetting):
    case = CASES["gaps, lists"]
    scheme = forgetting(evolve(case.versions, *case.more))
    stored = {
        "apiVersion": V2,
        "kind": "Thing",
        "$writtenWith": V1,
        "$propertyBag": {"a": {V1: {"value": [{"x": ""}]}}},
    }
    document = {"apiVersion": V1, "kind": "Thing", "a": [{}, {"x": ""}]}
    after = scheme.put(V1, document, stored)
    assert after["apiVersion"] == V4
    assert scheme.read(V1, after) == document


@pytest.mark.xfail(
    strict=True, reason="a hidden property stays though the object is another variant"
)
def test_an_object_that_becomes_another_variant_drops_what_the_writer_does_not_write(forgetting):
    scheme = held_back(CASES["object that another place tells apart"], V1, forgetting)
    stored = {"apiVersion": V1, "kind": "Thing", "w": {"kind": "", "x": "a"}, "$writtenWith": V1}
    document = {"apiVersion": V2, "kind": "Thing", "w": {"kind": "a"}}
    assert scheme.read(V2, scheme.put(V2, document, stored)) == document
