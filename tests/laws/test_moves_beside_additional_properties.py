"""Rules that move a property out of, or into, an object that has properties without names as well."""

import pytest
from cases import V1, V2, V3
from evolving import evolve, hooked, rules

from trundle.evolution import ChangeError

OUTER = {"o": "O"}
WITH = {"a": "string", "*": "string"}


def document(version, **members):
    return {"apiVersion": version, "kind": "Thing", **members}


@pytest.mark.parametrize(
    ("older", "newer", "move", "named", "lacking"),
    [
        (WITH, {"*": "string"}, {"o.a": "a"}, V1, V2),
        ({"*": "any"}, {"a": "string", "*": "any"}, {"a": "o.a"}, V2, V1),
    ],
    ids=["out of", "into"],
)
def test_what_is_an_additional_property_elsewhere_is_a_finding(older, newer, move, named, lacking):
    outside = {"a": "string"}
    with pytest.raises(ChangeError) as found:
        evolve(
            {
                V1: {"Thing": OUTER | (outside if "a" in move else {}), "O": older},
                V2: {"Thing": OUTER | ({} if "a" in move else outside), "O": newer},
            },
            rules(V1, move=move),
        )
    assert str(found.value).endswith(
        f"cannot follow o.a of Thing in {named}: in {lacking}, 'a' is one of the additional properties of o; "
        f"declare it in o of {lacking}"
    )


class Reaches:
    """A hook that is never called: what it declares cannot be followed."""

    def assign_to(self, read): ...

    def assign_from(self, read): ...


IN_ADDITIONAL = {
    "a member": ({"Thing": {"o": "O"}, "O": {"*": "string"}}, "o.a", "'a'", "o"),
    "an object": ({"Thing": {"*": "O"}, "O": {"a": "string"}}, "o.a", "'o'", "Thing"),
    "an object in an object": (
        {"Thing": {"p": "P"}, "P": {"*": "O"}, "O": {"a": "string"}},
        "p.o.a",
        "'o'",
        "p",
    ),
}


@pytest.mark.parametrize("lacking", [V1, V2, V3])
@pytest.mark.parametrize(
    ("version", "path", "name", "holder"), IN_ADDITIONAL.values(), ids=IN_ADDITIONAL
)
@pytest.mark.parametrize("method", ["to", "back"])
def test_a_hook_that_reaches_into_additional_properties_of_any_version_is_a_finding(
    version, path, name, holder, method, lacking
):
    outer = {"p": "P"} if path.startswith("p") else {"o": "O"}
    declared = {"Thing": {**outer, "k": "string"}, "P": {"o": "O"}, "O": {"a": "string"}}
    versions = dict.fromkeys((V1, V2, V3), declared)
    versions[lacking] = {**declared, **version, "Thing": {"k": "string", **version["Thing"]}}
    pair = (V2, V3) if lacking == V1 else (V1, V2)
    with pytest.raises(ChangeError) as found:
        evolve(versions, hooked(*pair, Reaches, **{method: ((path,), ("k",))}))
    named = pair[0] if method == "to" else pair[1]
    if named == lacking:
        expected = f"declares {path!r}, which Thing of {lacking} does not have"
    else:
        expected = (
            f"cannot follow {path} of Thing in {named}: in {lacking}, {name} is one of the additional "
            f"properties of {holder}; declare it in {holder} of {lacking}"
        )
    assert str(found.value).endswith(expected)


def test_it_moves_where_it_is_declared(forgetting):
    scheme = forgetting(
        evolve(
            {
                V1: {"Thing": OUTER, "O": WITH},
                V2: {"Thing": {**OUTER, "a": "string"}, "O": WITH},
            },
            rules(V1, move={"o.a": "a"}),
        )
    )
    older = document(V1, o={"a": "1", "more": "2"})
    stored = scheme.put(V1, older)
    assert scheme.read(V2, stored) == document(V2, a="1", o={"more": "2"})
    newer = document(V2, a="3", o={"a": "4", "more": "2"})
    stored = scheme.put(V2, newer, stored)
    assert scheme.read(V2, stored) == newer
    assert scheme.read(V1, stored) == document(V1, o={"a": "3", "more": "2"})


def test_it_moves_out_of_an_object_that_goes(forgetting):
    versions = {V1: {"Thing": OUTER, "O": WITH}, V2: {"Thing": {"a": "string"}}}
    scheme = forgetting(evolve(versions, rules(V1, move={"o.a": "a"})))
    older = document(V1, o={"a": "1", "more": "2"})
    stored = scheme.put(V1, older)
    assert scheme.read(V2, stored) == document(V2, a="1")
    assert scheme.read(V1, stored) == older
    stored = scheme.put(V2, document(V2, a="3"), stored)
    assert scheme.read(V1, stored) == document(V1, o={"a": "3", "more": "2"})
