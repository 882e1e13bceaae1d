"""What one version made stale is not shown again when a third one writes over that."""

import itertools

import pytest
from evolving import evolve, rules, thing

VERSIONS = ("2020-01-01", "2021-01-01", "2022-01-01", "2023-01-01")
V1, V2, V3, V4 = VERSIONS
OBJECTS = {f"P{name}": {name: "string"} for name in "abcd"}
VARIANTS = {
    "A": {"kind!": "KA"},
    "B": {"kind!": "KB", "b": "string"},
    "C": {"kind!": "KC"},
    **{f"K{each}": [each.lower()] for each in "ABC"},
}


def put_all(scheme, values, wrap=lambda value: value):
    """What a store keeps after each of some versions has written its value over that of the one before."""
    stored = None
    for version, value in values:
        stored = scheme.put(version, thing(version, p=wrap(value)), stored)
    return stored


@pytest.mark.parametrize("order", [*itertools.permutations((0, 1, 2))], ids=str)
@pytest.mark.parametrize("hub", [V1, V2, V3])
@pytest.mark.parametrize("rename", [{}, {"p": "q"}], ids=("same name", "renamed"))
def test_of_objects_without_anything_in_common_none_is_shown_again(forgetting, order, hub, rename):
    names = {V1: "p", V2: rename.get("p", "p"), V3: rename.get("p", "p")}
    scheme = forgetting(
        evolve(
            {
                version: {"Thing": {names[version]: f"P{name}"}, **OBJECTS}
                for version, name in zip((V1, V2, V3), "abc", strict=True)
            },
            *([rules(V1, rename=rename)] if rename else []),
            hub=hub,
        )
    )
    first = VERSIONS[order[0]]
    stored, seen = None, []
    for number in order:
        version, name = VERSIONS[number], "abc"[number]
        written = thing(version, **{names[version]: {name: "1"}})
        stored = scheme.put(version, written, stored)
        assert scheme.read(version, stored) == written
        seen.append(scheme.read(first, stored))
    assert seen[2] in (seen[1], thing(first))


@pytest.mark.parametrize(
    ("type_", "wrap"),
    [
        ("{}", lambda value: value),
        ("[{}]", lambda value: [value]),
        ("{{{}}}", lambda value: {"k": value}),
    ],
    ids=("alone", "list", "map"),
)
def test_four_versions_write_one_over_the_other_and_take_it_back(forgetting, type_, wrap):
    scheme = forgetting(
        evolve(
            {
                version: {"Thing": {"p": type_.format(f"P{name}")}, **OBJECTS}
                for version, name in zip(VERSIONS, "abcd", strict=True)
            }
        )
    )
    values = [(version, {name: "1"}) for version, name in zip(VERSIONS, "abcd", strict=True)]
    for start, length in itertools.product(range(3), (2, 3, 4)):
        written = values[start : start + length]
        stored = put_all(scheme, written, wrap)
        for version, value in written:
            shown = {"p": wrap(value)} if version == written[-1][0] else {}
            assert scheme.read(version, stored).get("p", []) == shown.get("p", []), version
    stored = put_all(scheme, values, wrap)
    stored = scheme.put(V4, thing(V4), stored)
    assert scheme.read(V3, stored) == thing(V3, p=wrap(values[2][1]))


@pytest.mark.parametrize("written", [{"kind": "a"}, {"kind": "b", "b": "1"}], ids=str)
@pytest.mark.parametrize("hub", [V1, V3])
def test_a_variant_that_gave_way_does_not_return_with_one_that_the_version_between_lacks(
    forgetting, hub, written
):
    unions = dict(zip((V1, V2, V3), ("A|C", "A|B", "A|C"), strict=True))
    scheme = forgetting(
        evolve(
            {each: {"Thing": {"p": union}, **VARIANTS} for each, union in unions.items()}, hub=hub
        )
    )
    first, last = (V1, V3) if hub == V3 else (V3, V1)
    stored = put_all(scheme, [(first, {"kind": "c"}), (V2, written)])
    before = scheme.read(first, stored)
    assert before == thing(first, **({"p": written} if written["kind"] == "a" else {}))
    stored = scheme.put(last, thing(last, p={"kind": "c"}), stored)
    assert scheme.read(last, stored) == thing(last, p={"kind": "c"})
    assert scheme.read(first, stored) == thing(first)
