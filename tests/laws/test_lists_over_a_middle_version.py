"""Lists whose variants differ in three versions: an edit of what one sees keeps what only others see."""

import copy
import itertools
from random import Random

import pytest
from amounts import some_of
from evolving import evolve, forget, thing

VERSIONS = ("2020-01-01", "2021-01-01", "2022-01-01")
VARIANTS = [
    ("AB", "B", "BC"),
    ("AB", "BC", "C"),
    ("AB", "BC", "CD"),
    ("AB", "ABC", "C"),
    ("A", "AB", "B"),
    ("AB", "A", "AC"),
]


def version(variants):
    types = {each: {"kind!": f"Is{each}", "name": "string"} for each in variants}
    texts = {f"Is{each}": [each.lower()] for each in variants}
    return {"Thing": {"l": f"[{'|'.join(variants)}]"}, **types, **texts}


@pytest.fixture(scope="module", params=VARIANTS, ids="-".join)
def scheme(request):
    made = evolve({name: version(each) for name, each in zip(VERSIONS, request.param, strict=True)})
    yield made, dict(zip(VERSIONS, request.param, strict=True))
    forget(made)


@pytest.mark.parametrize(("writer", "editor"), some_of(itertools.product(VERSIONS, VERSIONS), 4))
@pytest.mark.parametrize("names", [("", ""), ("p", "p"), ("p", "q")])
def test_what_is_removed_is_gone_for_all_and_what_is_not_seen_stays(scheme, writer, editor, names):
    made, variants = scheme
    kinds = [*variants[writer], *variants[writer]][:2]
    elements = [{"kind": k.lower(), "name": n} for k, n in zip(kinds, names, strict=True)]
    stored = made.put(writer, thing(writer, l=elements))
    seen = {each: made.read(each, stored).get("l", []) for each in VERSIONS}
    written = made.put(editor, thing(editor, l=[]), stored)
    for each in VERSIONS:
        left = [one for one in seen[each] if one not in seen[editor]]
        assert made.read(each, written).get("l", []) == left


@pytest.mark.full
def test_a_list_that_derives_from_another_versions_entry_is_read_as_it_was_written(forgetting):
    one = {"kind!": "KA", "sub!": "One", "t": "string"}
    two = {"kind!": "KA", "sub!": "Two", "t": "string"}
    texts = {"KA": ["a"], "KB": ["b"], "One": ["1"], "Two": ["2"], "Sub": ["1", "2"]}
    loose = {"kind!": "KA", "t": "string"}
    v1, v2, v3 = VERSIONS
    v4 = "2023-01-01"
    scheme = forgetting(
        evolve(
            {
                v1: {"Thing": {"l": "[A2|A]"}, "A": one, "A2": two, **texts},
                v2: {"Thing": {"l": "[A]"}, "A": {**loose, "sub": "Sub"}, **texts},
                v3: {"Thing": {"l": "[A|A2]"}, "A": one, "A2": two, **texts},
                v4: {
                    "Thing": {"l": "[A|B]"},
                    "A": {**loose, "sub": "string"},
                    "B": {"kind!": "KB", "t": "string"},
                    **texts,
                },
            },
            hub=v1,
        )
    )
    stored = scheme.put(v1, thing(v1, l=[{"kind": "a", "sub": "1", "t": "t1"}]))
    stored = scheme.put(v2, thing(v2, l=[{"kind": "a"}, {"kind": "a", "sub": "2"}]), stored)
    assert scheme.read(v4, stored)["l"]
    for elements in ([], [{"kind": "b"}], [{"kind": "a", "sub": "1"}]):
        written = scheme.put(v4, thing(v4, l=elements), stored)
        assert scheme.read(v4, written) == thing(v4, l=elements)


TEXTS = {"KA": ["a"], "KB": ["b"], "One": ["1"], "Two": ["2"], "Sub": ["1", "2"]}
PLAIN = {"kind!": "KA", "t": "string"}
FIRST = {"kind": "a", "sub": "1", "t": "x"}
SECOND = {"kind": "a", "sub": "2", "t": "y"}
HIDDEN = {"kind": "b", "x": "1"}


@pytest.fixture(scope="module")
def told_apart():
    """The newest version distinguishes elements by what the oldest lacks; and only the one in between knows them as they are."""
    first, second, third = VERSIONS
    older = {"B": {"kind!": "KB"}, **TEXTS}
    newest = {"B": {"kind!": "KB", "x": "string"}, **TEXTS}
    variants = {"A": {**PLAIN, "sub!": "One"}, "A2": {**PLAIN, "sub!": "Two"}}
    made = evolve(
        {
            first: {"Thing": {"l": "[A|B]"}, "A": PLAIN, **older},
            second: {"Thing": {"l": "[A|B]"}, "A": {**PLAIN, "sub": "Sub"}, **older},
            third: {"Thing": {"l": "[A|A2|B]"}, **variants, **newest},
        }
    )
    yield made
    forget(made)


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ([], [HIDDEN]),
        ([{"kind": "a", "t": "x"}], [FIRST, HIDDEN]),
        ([{"kind": "a", "t": "y"}], [SECOND, HIDDEN]),
        ([{"kind": "a", "t": "x"}, {"kind": "a", "t": "z"}], [FIRST, HIDDEN, {**SECOND, "t": "z"}]),
    ],
    ids=["all", "the second", "the first", "none, one is changed"],
)
def test_a_version_removes_elements_of_which_it_does_not_know_all(told_apart, written, left):
    first, _, third = VERSIONS
    stored = told_apart.put(third, thing(third, l=[FIRST, HIDDEN, SECOND]))
    seen = [{"kind": "a", "t": "x"}, {"kind": "a", "t": "y"}]
    assert told_apart.read(first, stored) == thing(first, l=seen)
    after = told_apart.put(first, thing(first, l=written), stored)
    assert told_apart.read(first, after) == thing(first, l=written)
    assert told_apart.read(third, after) == thing(third, l=left)


@pytest.mark.full
def test_an_element_of_an_entry_that_is_not_found_stays_for_the_version_that_wrote_it(forgetting):
    """To the versions around it, an element without `sub` is the first variant: they see what is not in the entry.

    `trundle check` notes such lists.
    """
    first, second, third = VERSIONS
    around = {
        "Thing": {"l": "[A|A2]"},
        "A": {**PLAIN, "sub!": "One"},
        "A2": {**PLAIN, "sub!": "Two"},
        **TEXTS,
    }
    between = {
        "Thing": {"l": "[A|B]"},
        "A": {**PLAIN, "sub": "string"},
        "B": {"kind!": "KB"},
        **TEXTS,
    }
    scheme = forgetting(evolve({first: around, second: between, third: around}, hub=first))
    elements = [{"kind": "a", "sub": "", "t": "x"}, {"kind": "a", "t": "y"}]
    stored = scheme.put(second, thing(second, l=elements))
    assert [each["t"] for each in scheme.read(third, stored)["l"]] == ["y"]
    written = scheme.put(third, thing(third, l=[]), stored)
    assert scheme.read(third, written) == thing(third, l=[])
    assert scheme.read(first, written) == thing(first, l=[])
    assert scheme.read(second, written) == thing(second, l=elements)
    changed = scheme.put(second, thing(second, l=elements[:1]), written)
    assert [scheme.read(each, changed)["l"] for each in VERSIONS] == [[], elements[:1], []]


def test_hidden_elements_keep_their_places_whatever_another_version_keeps_beside_the_others():
    """The stored version lacks B, and has `h`. It edits the list, so that what the newer one has of it is stale."""
    older, newer = VERSIONS[:2]
    texts = {"KA": ["a"]}
    made = evolve(
        {
            older: {
                "Thing": {"l": "[A]"},
                "A": {"kind!": "KA", "a": "string", "h": "string"},
                **texts,
            },
            newer: {
                "Thing": {"l": "[A|B]"},
                "A": {"kind!": "KA", "a": "string"},
                "B": {"kind!": "KB"},
                "KB": ["b"],
                **texts,
            },
        },
        hub=older,
    )

    def elements(first):
        return [{"kind": "a", "a": first}, {"kind": "b"}, {"kind": "a", "a": "2"}]

    stored = made.put(newer, thing(newer, l=elements("1")))
    edited = [{"kind": "a", "a": "3"}, {"kind": "a", "a": "2", "h": "hidden"}]
    stored = made.put(older, thing(older, l=edited), stored)
    assert made.read(newer, stored)["l"] == elements("3")
    stored = made.put(newer, thing(newer, l=elements("4")), stored)
    assert made.read(newer, stored)["l"] == elements("4")
    assert made.read(older, stored)["l"] == [{"kind": "a", "a": "4"}, edited[1]]
    forget(made)


def around(*, nested=False):
    """Two alike versions around one that has another variant, and another property, `g` in place of `h`."""

    def version(kinds, own):
        texts = {f"Is{each}": [each.lower()] for each in kinds}
        held = {"inner": "Inner"} if nested else {own: "string"}
        found = {"A": {"kind!": "IsA", "name!": "string", **held}, "Inner": {own: "string"}}
        b = {"B": {"kind!": "IsB", "name!": "string"}} if "B" in kinds else {}
        return {"Thing": {"l": f"[{'|'.join(kinds)}]"}, **found, **b, **texts}

    older, middle, newer = VERSIONS
    return {older: version("A", "h"), middle: version("AB", "g"), newer: version("A", "h")}


def test_the_outer_versions_see_each_others_edits_of_what_the_middle_one_keeps_for_both(
    forgetting,
):
    """The stored version in the middle has another variant, lacks `h`, and has `g` in its place."""
    older, middle, newer = VERSIONS
    made = forgetting(evolve(around(), hub=middle))
    one, two = {"kind": "a", "name": "1", "h": "x"}, {"kind": "a", "name": "2"}
    stored = made.put(middle, thing(middle, l=[{"kind": "a", "name": "1"}]))
    stored = made.put(older, thing(older, l=[one]), stored)
    stored = made.put(newer, thing(newer, l=[one, two]), stored)
    assert list(stored) == ["apiVersion", "kind", "l", "$writtenWith"]
    stored = made.put(older, thing(older, l=[{**one, "h": "y"}, two]), stored)
    assert made.read(newer, stored)["l"] == [{**one, "h": "y"}, two]


def edited(elements, version, random, *, nested):
    """A list with an edit or two: an element more or less, or another text in one."""
    found = copy.deepcopy(elements)
    for _ in range(random.randint(1, 2)):
        kind = random.choice("ab" if version == VERSIONS[1] else "a")
        names = {str(number) for number in range(6)} - {each["name"] for each in found}
        match random.choice(("add", "remove", "change")):
            case "add" if len(found) < 4:
                name = random.choice(sorted(names))
                found.insert(random.randint(0, len(found)), {"kind": kind, "name": name})
            case "remove" if found:
                found.pop(random.randrange(len(found)))
            case _ if changed := [each for each in found if each["kind"] == "a"]:
                one = random.choice(changed)
                one = one.setdefault("inner", {}) if nested else one
                one["g" if version == VERSIONS[1] else "h"] = str(random.randint(0, 99))
    return found


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("hub", some_of(VERSIONS, 3))
def test_the_outer_versions_see_the_same_whoever_writes(forgetting, hub, nested):
    made = forgetting(evolve(around(nested=nested), hub=hub))
    older, middle, newer = VERSIONS
    for seed in range(60):
        random, stored = Random(seed), made.put(middle, thing(middle, l=[]))
        for _ in range(5):
            version = random.choice(VERSIONS)
            written = edited(made.read(version, stored)["l"], version, random, nested=nested)
            stored = made.put(version, thing(version, l=written), stored)
            seen = {each: made.read(each, stored)["l"] for each in VERSIONS}
            assert seen[version] == written
            assert seen[older] == seen[newer]
            names = [each["name"] for each in seen[middle] if each["kind"] == "a"]
            assert [each["name"] for each in seen[older]] == names
