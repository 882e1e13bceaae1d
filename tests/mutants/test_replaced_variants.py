"""`verify` finds a version that shows a variant which another version has replaced."""

import pytest
from amounts import full
from cases import Case
from run import Project

KINDS = {"A": {"kind!": "KA"}, "B": {"kind!": "KB", "b": "string"}, "C": {"kind!": "KC"}}


def case(*unions):
    versions = {}
    for year, union in enumerate(unions, start=2020):
        kinds = {each: KINDS[each] for each in union}
        texts = {f"K{each}": [each.lower()] for each in union}
        versions[f"{year}-01-01"] = {"Thing": {"s": "|".join(union)}, **kinds, **texts}
    return Case(versions)


@pytest.mark.parametrize(
    "unions", [("AB", "AC"), full(("AB", "ABC", "AC")), full(("AB", "AC", "ABC"))], ids=" ".join
)
def test_verify_finds_a_variant_that_was_replaced(monkeypatch, unions):
    project = Project("variants", case(*unions))
    assert project.right_findings() == set()
    monkeypatch.setattr("trundle.runtime._merge.take_place", lambda *_: None)
    assert project.right_findings() == {
        "laws 4 and 8, an edit leaves nothing stale, and all else as before"
    }
