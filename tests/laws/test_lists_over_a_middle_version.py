"""Lists whose variants differ in three versions: an edit of what one sees keeps what only others see."""

import itertools

import pytest
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


@pytest.mark.parametrize(("writer", "editor"), [*itertools.product(VERSIONS, VERSIONS)])
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
