"""Notes on versions that do not distinguish variants by the same property."""

import pytest
from evolving import evolution

from trundle.project._variants import blurred_elements, left_variants

V1, V2, V3 = "2020-01-01", "2021-01-01", "2022-01-01"
TEXTS = {"KA": ["a"], "KB": ["b"], "One": ["1"], "Two": ["2"]}
BY_SUB = {
    "A": {"kind!": "KA", "sub!": "One"},
    "A2": {"kind!": "KA", "sub!": "Two"},
    **TEXTS,
}
BY_KIND = {"A": {"kind!": "KA", "sub": "string"}, "B": {"kind!": "KB"}, **TEXTS}


def notes(*versions):
    """What is noted of versions that have a list of variants."""
    named = zip((V1, V2, V3), versions, strict=False)
    made = evolution({name: {"Thing": {"l": listed}, **types} for name, (listed, types) in named})
    return [each.found for root in made.resources for each in blurred_elements([root.root])]


def test_a_version_that_distinguishes_elements_otherwise_than_those_around_it_is_noted():
    (note,) = notes(("[A|A2]", BY_SUB), ("[A|B]", BY_KIND), ("[A|A2]", BY_SUB))
    assert note.startswith(
        f"Thing.l distinguishes elements in {V2} otherwise than in {V1} and {V3}"
    )


@pytest.mark.parametrize(
    "versions",
    [
        (("[A|A2]", BY_SUB), ("[A|B]", BY_KIND)),
        (("[A|A2]", BY_SUB), ("[A|A2]", BY_SUB), ("[A|A2]", BY_SUB)),
        (("A|A2", BY_SUB), ("A|B", BY_KIND), ("A|A2", BY_SUB)),
    ],
    ids=["two versions", "all alike", "no list"],
)
def test_lists_whose_elements_every_edit_reaches_are_not_noted(versions):
    assert notes(*versions) == []


LOOSE = {"A": {"kind!": "KA", "x": "string"}, "KA": ["a"]}
TOLD = {**LOOSE, "C": {"kind!": "KC"}, "KC": ["c"]}
MORE = {**TOLD, "A": {"kind!": "KA", "x": "string", "z": "string"}}


@pytest.mark.parametrize(
    ("newer", "hub", "noted"),
    [
        ({"Thing": {"w": "A", "u": "A|C"}, **MORE}, V2, True),
        ({"Thing": {"w": "A", "u": "A|C"}, **MORE}, V1, False),
        ({"Thing": {"w": "A", "u": "A|C"}, **TOLD}, V2, False),
        ({"Thing": {"w": "A", "u": "C"}, **MORE}, V2, False),
    ],
    ids=["more in it", "stored as the older", "no more in it", "no union"],
)
def test_an_object_that_a_client_may_make_another_variant_of_is_noted(newer, hub, noted):
    made = evolution({V1: {"Thing": {"w": "A"}, **LOOSE}, V2: newer}, hub=hub)
    found = [each.found for root in made.resources for each in left_variants([root.root])]
    assert len(found) == noted
    for each in found:
        assert each.startswith(
            f"Thing.w of {V2} is distinguished by kind, and {V1} does not distinguish variants"
        )
