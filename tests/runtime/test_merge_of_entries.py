"""What only an entry of the bag still has of a list stays, whichever client edits the rest of it, and however it is read."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from trundle.codegen import generate_package
from trundle.evolution import Evolution
from trundle.runtime import Scheme
from trundle.schema import (
    EnumType,
    FreeForm,
    ListOf,
    ObjectType,
    Property,
    Ref,
    Resource,
    Scalar,
    Schema,
    Union,
)
from trundle.verify._hops import forget_packages, imported
from trundle.version import ApiVersion

TEXT = Scalar("string")
V1, P2, V2, V3 = "2020-01-01", "2021-01-01-preview", "2021-06-01", "2022-01-01"


def schema(version: str, *kinds: str) -> Schema:
    definitions: dict[str, Any] = {
        "Thing": ObjectType(
            "Thing",
            True,
            (
                Property(
                    "u", ListOf(Union(tuple(map(Ref, kinds))) if len(kinds) > 1 else Ref(kinds[0]))
                ),
            ),
        )
    }
    for kind in kinds:
        definitions[f"{kind}Kind"] = EnumType(f"{kind}Kind", True, "string", (kind.lower(),))
        properties = (Property("kind", Ref(f"{kind}Kind"), required=True), Property("name", TEXT))
        definitions[kind] = ObjectType(kind, True, properties)
    return Schema(ApiVersion.parse(version), definitions, (Resource("Thing", "Thing"),))


@pytest.fixture(scope="module")
def scheme() -> Iterator[Scheme]:
    evolution = Evolution((schema(V1, "A"), schema(P2, "A", "B"), schema(V3, "A")))
    yield imported("entries_merged", generate_package(evolution, package="entries_merged"))
    forget_packages({"entries_merged"})


def thing(version: str, *elements: dict[str, str]) -> dict[str, Any]:
    return {"apiVersion": version, "kind": "Thing", "u": list(elements)}


ONE, OTHER, MORE = (
    {"kind": "a", "name": "a"},
    {"kind": "b", "name": "b"},
    {"kind": "a", "name": "c"},
)


@pytest.mark.parametrize("hidden", [(OTHER,), (ONE, OTHER), (OTHER, ONE)])
@pytest.mark.parametrize("writer", [V1, V3])
def test_what_is_added_stands_beside_what_an_entry_has(
    scheme: Scheme, hidden: tuple[Any, ...], writer: str
) -> None:
    stored = scheme.to_storage(thing(P2, *hidden))
    visible = [each for each in hidden if each == ONE]
    for base in (stored, scheme.decode(scheme.encode(stored))):
        written = scheme.to_storage(thing(writer, *visible, MORE), base)
        seen = json.loads(scheme.encode(scheme.from_storage(written, P2)))["u"]
        assert sorted(map(str, seen)) == sorted(map(str, [*hidden, MORE]))
        assert json.loads(scheme.encode(scheme.from_storage(written, V1)))["u"] == [*visible, MORE]


@pytest.mark.parametrize("writer", [V1, V3])
def test_free_form_elements_of_an_entry_keep_their_spelling(writer: str) -> None:
    """Whether the entry was made just now or read from the store."""
    typed = (
        ("Thing", ObjectType("Thing", True, (Property("u", ListOf(Ref("A"))),))),
        ("A", ObjectType("A", True, (Property("name", TEXT),))),
    )
    free = (("Thing", ObjectType("Thing", True, (Property("u", ListOf(FreeForm())),))),)
    evolution = Evolution(
        tuple(
            Schema(ApiVersion.parse(version), dict(each), (Resource("Thing", "Thing"),))
            for version, each in ((V1, typed), (V2, free), (V3, typed))
        )
    )
    scheme = imported("spelling_merged", generate_package(evolution, package="spelling_merged"))
    head = '{"apiVersion":"%s","kind":"Thing","u":['
    stored = scheme.to_storage(scheme.decode((head % V2 + '"\\u00e4",1.10]}').encode()))
    edited = scheme.decode((head % writer + '{"name":"n"}]}').encode())
    for base in (stored, scheme.decode(scheme.encode(stored))):
        seen = scheme.encode(scheme.from_storage(scheme.to_storage(edited, base), V2)).decode()
        assert seen == head % V2 + '"\\u00e4",1.10,{"name":"n"}]}'
    forget_packages({"spelling_merged"})
