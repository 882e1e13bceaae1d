"""Conversions that do not keep a law yet. What is mended has to leave this file."""

import pytest
from cases import CASES, V1, V2
from test_releases_side_by_side import held_back


@pytest.mark.xfail(
    strict=True, reason="a hidden property stays though the object is another variant"
)
def test_an_object_that_becomes_another_variant_drops_what_the_writer_does_not_write(forgetting):
    scheme = held_back(CASES["object that another place tells apart"], V1, forgetting)
    stored = {"apiVersion": V1, "kind": "Thing", "w": {"kind": "", "x": "a"}, "$writtenWith": V1}
    document = {"apiVersion": V2, "kind": "Thing", "w": {"kind": "a"}}
    assert scheme.read(V2, scheme.put(V2, document, stored)) == document
