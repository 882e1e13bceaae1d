"""An object that a version sees for what moves into it shows what it requires; its writer may leave it with that alone."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from cases import V1, V2, V3, Case, thing
from evolving import Store, evolve, hooked, rules
from evolving import thing as document

from trundle.runtime import ABSENT

KEY = {"k!": "string"}
MOVED = (rules(V1, move={"o.x": "x"}),)
HELD = {"Thing": {"o": "O"}, "O": {**KEY, "x": "string"}}
CASES: dict[str, Case] = {
    "one version has the object": Case({V1: HELD, V2: thing(x="string")}, MOVED),
    "both have it": Case({V1: HELD, V2: thing(o="O", x="string") | {"O": KEY}}, MOVED),
    "one requires nothing in it": Case(
        {V1: HELD, V2: thing(o="O", x="string") | {"O": {"z": "string"}}}, MOVED
    ),
    "each has its own": Case(
        {V1: HELD, V2: thing(p="P") | {"P": {**KEY, "x": "string"}}},
        (rules(V1, move={"o.x": "p.x"}),),
    ),
    "an object in it is required": Case(
        {
            V1: thing(o="O") | {"O": {"p!": "P"}, "P": {**KEY, "x": "string"}},
            V2: thing(x="string"),
        },
        (rules(V1, move={"o.p.x": "x"}),),
    ),
    "an object in it requires": Case(
        {
            V1: thing(o="O") | {"O": {"p": "P", "x": "string"}, "P": {**KEY, "y": "string"}},
            V2: thing(x="string", y="string"),
        },
        (rules(V1, move={"o.x": "x", "o.p.y": "y"}),),
    ),
    "three versions": Case(
        {
            V1: HELD,
            V2: thing(o="O") | {"O": {**HELD["O"], "z": "string"}},
            V3: thing(x="string"),
        },
        (rules(V2, move={"o.x": "x"}),),
    ),
}


def documents(definitions: Mapping[str, Any], type_: str = "Thing") -> Iterator[dict[str, Any]]:
    """All documents whose texts are empty or `1`."""
    members = []
    for name, each in definitions[type_].items():
        values: list[Any] = ["", "1"] if each == "string" else [*documents(definitions, each)]
        left_out = [] if name.endswith("!") else [{}]
        members.append([*left_out, *({name.rstrip("!"): value} for value in values)])
    for chosen in itertools.product(*members):
        yield {name: value for each in chosen for name, value in each.items()}


@pytest.fixture(params=[(name, hub) for name, case in CASES.items() for hub in case.versions])
def case(request, forgetting):
    name, hub = request.param
    versions, more = CASES[name]
    return versions, forgetting(evolve(versions, *more, hub=hub))


def test_a_client_reads_what_it_wrote_over_what_any_other_had_written(case):
    versions, scheme = case
    written = {
        version: [document(version, **each) for each in documents(versions[version])]
        for version in versions
    }
    for first, second in itertools.product(versions, versions):
        for known in written[first]:
            stored = scheme.put(first, known)
            for each in written[second]:
                assert scheme.read(second, scheme.put(second, each, stored)) == each


def test_what_moves_into_an_object_that_another_one_requires_is_shown(forgetting):
    """It was put there, and then the object in its place that shows what is required."""
    versions, more = CASES["an object in it is required"]
    scheme = forgetting(evolve(versions, *more))
    shown = document(V1, o={"p": {"k": "", "x": "1"}})
    assert scheme.convert(document(V2, x="1"), V1) == shown
    assert scheme.read(V1, scheme.put(V2, document(V2, x="1"))) == shown


def test_an_object_is_kept_for_what_it_requires_only_where_an_edit_leaves_that_alone(forgetting):
    versions, more = CASES["one version has the object"]
    scheme = forgetting(evolve(versions, *more, hub=V2))
    stored = scheme.put(V2, document(V2, x="1"))
    written = scheme.put(V1, document(V1, o={"k": "", "x": "2"}), stored)
    assert "$propertyBag" not in written
    emptied = scheme.put(V1, document(V1, o={"k": ""}), stored)
    assert emptied["$propertyBag"] == {"o": {V1: {"value": {"k": ""}}}}


def test_an_edit_beside_an_object_that_is_only_required_does_not_give_it_to_others(forgetting):
    """Its writer writes what its version shows it anyhow."""
    held = {"R": {"k": "string"}}
    scheme = forgetting(
        evolve(
            {
                V1: thing(r="R") | held,
                V2: thing(c="string", **{"r!": "R"}) | held,
                V3: thing(a="string"),
            }
        )
    )
    stored = scheme.put(V3, document(V3, a="1"))
    written = scheme.put(V2, document(V2, c="1", r={}), stored)
    assert scheme.read(V2, written) == document(V2, c="1", r={})
    assert scheme.read(V1, written) == document(V1)


class Level:
    """`=` stands before a text; the older version has nothing of any other level."""

    def assign_to(self, source: Any) -> dict[str, Any]:
        return {"level": "-" if source.o__k is ABSENT else f"={source.o__k}"}

    def assign_from(self, source: Any) -> dict[str, Any]:
        level = source.level
        return {"o__k": ABSENT if level is ABSENT or level[:1] != "=" else level[1:]}


@pytest.mark.parametrize("hub", [V1, V2])
@pytest.mark.parametrize("level", ["-", "!", None])
def test_a_hook_reads_what_is_written_because_nothing_else_is_left(forgetting, hub, level):
    """It is as if the client had written it: other versions see what the hook makes of that, whichever version is stored."""
    versions = {V1: HELD, V2: thing(level="string", x="string")}
    hook = hooked(V1, V2, Level, to=(("o.k",), ("level",)), back=(("level",), ("o.k",)))
    store = Store(forgetting(evolve(versions, hook, *MOVED, hub=hub)))
    store.put(V2, x="1", **({} if level is None else {"level": level}))
    assert store.read(V1) == {"o": {"k": "", "x": "1"}}
    store.edit(V1, o={"k": "", "x": "2"})
    assert store.read(V2) == {"x": "2"} | ({} if level is None else {"level": level})
    store.edit(V1, o={"k": ""})
    assert [store.read(V1), store.read(V2)] == [{"o": {"k": ""}}, {"level": "="}]
    assert Store(store.scheme).put(V1, o={"k": ""}).read(V2) == {"level": "="}
