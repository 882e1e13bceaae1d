"""What a client writes takes the place of what versions have of the same value that cannot express it.

The model is one value: each version shows what was written last, where its union and those on the way have the variant, and
nothing else ever.
"""

import itertools
import json

import pytest
from amounts import full
from evolving import evolve, rules, thing

VERSIONS = ("2020-01-01", "2021-01-01", "2022-01-01", "2023-01-01")
KINDS = {
    "A": {"kind!": "KA"},
    "B": {"kind!": "KB", "b": "string"},
    "C": {"kind!": "KC"},
    **{f"K{each.upper()}": [each] for each in "abc"},
}
UNIONS = [
    ("AB", "ABC", "AC"),
    ("AB", "AC", "ABC"),
    ("AB", "AC"),
    ("AC", "AB", "AC", "BC"),
    ("BC", "BC", "C", "AC"),
    ("ABC", "C", "AC", ""),
]
PLACES = {
    "single": ({"Thing": {"s": "%s"}}, lambda value: {"s": value}),
    "nested": ({"Thing": {"o": "O"}, "O": {"s": "%s"}}, lambda value: {"o": {"s": value}}),
    "map": ({"Thing": {"s": "{%s}"}}, lambda value: {"s": {"k": value}}),
}


def versions_of(unions, place="single"):
    def types(union):
        used = {name: each for name, each in KINDS.items() if name[-1] in list(union)}
        held = {
            name: {each: type_ % "|".join(union) if "%" in type_ else type_}
            for name, members in PLACES[place][0].items()
            for each, type_ in members.items()
        }
        return {**held, **used} if union else {"Thing": {}}

    return {version: types(union) for version, union in zip(VERSIONS, unions, strict=False)}


def written(variant, number):
    return {"kind": variant.lower(), **({"b": str(number)} if variant == "B" else {})}


def inside(document):
    value = document.get("o", document).get("s")
    return value["k"] if value and "k" in value else value or None


@pytest.mark.parametrize(
    ("unions", "place"),
    [
        (full if len(unions) > 3 or place != "single" else pytest.param)(unions, place)
        for unions in UNIONS
        for place in PLACES
    ],
    ids=lambda each: "".join(each) if each in PLACES else " ".join(each),
)
def test_no_version_shows_what_another_one_has_replaced(forgetting, unions, place):
    for hub in range(len(unions)):
        scheme = forgetting(evolve(versions_of(unions, place), hub=VERSIONS[hub]))
        says = [(at, variant) for at, union in enumerate(unions) for variant in union]
        for writes in itertools.product(says, repeat=2):
            stored, as_json = None, None
            for number, (at, variant) in enumerate(writes):
                document = thing(VERSIONS[at], **PLACES[place][1](written(variant, number)))
                stored = scheme.put(VERSIONS[at], document, stored)
                as_json = scheme.convert_json(json.dumps(document).encode(), base=as_json)
            assert json.loads(as_json) == stored
            (writer, variant), last = writes[-1], written(writes[-1][1], 1)
            for reader in range(len(unions)):
                found = inside(scheme.read(VERSIONS[reader], stored))
                low, high = sorted((writer, reader))
                known = all(variant in each for each in unions[low : high + 1])
                assert found == last if known else found in (None, last), (hub, writes, reader)


def test_a_version_that_reads_texts_takes_the_place_of_numbers_on_the_other_side_of_free_form_data(
    forgetting,
):
    first, middle, last, _ = VERSIONS
    kinds = {first: "integer", middle: "any", last: "string"}
    scheme = forgetting(evolve({each: {"Thing": {"s": kind}} for each, kind in kinds.items()}))
    stored = scheme.put(last, thing(last, s="x"))
    stored = scheme.put(first, thing(first, s=5), stored)
    assert scheme.read(middle, stored) == thing(middle, s=5)
    assert scheme.read(last, stored) == thing(last)


@pytest.mark.parametrize("hub", VERSIONS[:3])
def test_a_variant_crosses_no_version_that_lacks_it(forgetting, hub):
    scheme = forgetting(evolve(versions_of(("AB", "AC", "ABC")), hub=hub))
    for writer, other in ((0, 2), (2, 0)):
        document = thing(VERSIONS[writer], s=written("B", 1))
        stored = scheme.put(VERSIONS[writer], document)
        assert scheme.read(VERSIONS[writer], stored) == document
        assert scheme.read(VERSIONS[other], stored) == thing(VERSIONS[other])
        assert scheme.convert(document, to=VERSIONS[other]) == thing(VERSIONS[other])


@pytest.mark.parametrize("hub", VERSIONS[:3])
@pytest.mark.parametrize("lists", [("[B]", "[B]?"), ("[B]?", "[B]"), ("[[B]]", "[[B]]?")])
def test_null_takes_the_place_of_lists_of_objects_beyond_one_that_admits_none(
    forgetting, lists, hub
):
    """An empty list has no first element, so the version with the single value is shown nothing of it."""
    types = (lists[0].replace("[B]", "B", 1).rstrip("?") + "?", *lists)
    objects = {"B": {"b": "string"}}
    scheme = forgetting(
        evolve(
            {
                version: {"Thing": {"s": type_}, **objects}
                for version, type_ in zip(VERSIONS, types, strict=False)
            },
            rules(VERSIONS[0], wrap={"s": "s"}),
            hub=hub,
        )
    )
    for writer in VERSIONS[1:3]:
        stored = scheme.put(writer, thing(writer, s=[]))
        stored = scheme.put(VERSIONS[0], thing(VERSIONS[0], s=None), stored)
        shown = [scheme.read(version, stored).get("s", "absent") for version in VERSIONS[:3]]
        expected = [None]
        for each in lists:
            expected.append(None if each.endswith("?") and expected[-1] is None else "absent")
        assert shown == expected
