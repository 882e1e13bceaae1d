"""Covering documents show every value that matters, deterministically, and all of them are valid."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import yaml
from verify_projects import TEXT, V1, schema

from trundle.evolution import Evolution
from trundle.schema import (
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    Ref,
    Scalar,
    Schema,
    Type,
    Union,
)
from trundle.schema.readers import Source, read_schemas
from trundle.verify._literals import Mentioned, literals
from trundle.verify.proofs import covering

COLOURS = tuple(f"colour-{number}" for number in range(90))


def shown(made: Schema, **options: Any) -> list[Any]:
    return [json.loads(each) for each in covering(made, made.resources[0], **options)]


def of(type_: Type, **types: Any) -> list[Any]:
    return [each.get("p") for each in shown(schema(V1, types, p=type_))]


def test_every_value_of_an_enum_comes_up_in_lists_and_maps_too() -> None:
    types = {"Colour": COLOURS}
    assert set(COLOURS) <= set(of(Ref("Colour"), **types))
    assert set(COLOURS) <= {x for each in of(ListOf(Ref("Colour")), **types) for x in each or ()}
    maps = of(MapOf(Ref("Colour")), **types)
    assert set(COLOURS) <= {x for each in maps for x in (each or {}).values()}


def test_absent_empty_and_null_come_up() -> None:
    lists = of(ListOf(TEXT))
    assert None in lists
    assert [] in lists
    assert any(lists)
    assert None in [each["p"] for each in shown(schema(V1, {}, p=Nullable(TEXT))) if "p" in each]
    assert {"", "null", '{"a": 1.10}'} <= set(of(TEXT))
    assert {0, 2**53 + 1, 2**64 - 1} <= set(of(Scalar("integer")))
    assert {True, False} <= set(of(Scalar("boolean")))
    assert {} in of(FreeForm())


def test_objects_with_nothing_in_them_come_up_beside_all_other_properties() -> None:
    inner = {"q": TEXT, "r": Ref("Other")}
    made = schema(V1, {"Inner": inner, "Other": {"x": TEXT}}, a=TEXT, p=Ref("Inner"))
    found = shown(made)
    assert any(set(each) >= {"a", "p"} and each["p"] == {} for each in found)
    assert {"q": "a", "r": {}} in [each.get("p") for each in found]


def test_every_variant_of_a_union_comes_up_with_each_of_its_values() -> None:
    types = {f"V{number}": {f"only{number}": Ref("Colour")} for number in range(20)}
    variants = Union(tuple(Ref(name) for name in types))
    found = of(ListOf(variants), Colour=COLOURS, **types)
    seen = {pair for each in found for item in each or () for pair in item.items()}
    assert {(f"only{number}", colour) for number in range(20) for colour in COLOURS} <= seen


VOLUMES = """\
title: Thing
type: object
properties:
  volume: {oneOf: [{$ref: "#/$defs/Disk"}, {$ref: "#/$defs/Share"}]}
$defs:
  Disk: {type: object, properties: {kind: {const: disk}, gb: {type: integer}}}
  Share: {type: object, properties: {kind: {const: share}, url: {type: string}}}
"""


def test_a_variant_has_its_tag_where_the_schema_does_not_require_it(tmp_path: Path) -> None:
    """Without it, most documents are of both variants, which `oneOf` forbids."""
    (tmp_path / "2024-01-01.yaml").write_text(VOLUMES)
    (made,) = Evolution(read_schemas([Source(tmp_path)])).schemas
    found = shown(made)
    valid = jsonschema_rs.validator_for(yaml.safe_load(VOLUMES)).is_valid
    assert {(each.get("volume") or {}).get("kind") for each in found} == {None, "disk", "share"}
    assert all(map(valid, found))


def depth(value: Any) -> int:
    return 1 + max(map(depth, parts(value)), default=0)


def parts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def test_a_recursive_type_is_nested_deep() -> None:
    node = {"Node": {"kids": ListOf(Ref("Node")), "text": TEXT}}
    found = shown(schema(V1, node, tree=Ref("Node")))
    assert max(map(depth, found)) > 20
    assert len(found) < 20


def test_what_rules_and_hooks_mention_comes_up_in_their_type_alone() -> None:
    said = {"Thing": Mentioned(("magic",), (42,))}
    made = schema(V1, {"Part": {"q": TEXT}}, p=TEXT, n=Scalar("integer"), part=Ref("Part"))
    found = shown(made, mentioned=said)
    assert "magic" in [each.get("p") for each in found]
    assert 42 in [each.get("n") for each in found]
    assert "magic" not in [each.get("part", {}).get("q") for each in found]


def test_literals_are_those_of_the_code_and_not_of_its_documentation() -> None:
    source = '"""About."""\ndef f(a):\n    """More."""\n    return "yes" if a == 7 else 1.5\n'
    assert set(literals(source)) == {"yes", 7, 1.5}


def test_the_same_documents_come_in_the_same_order() -> None:
    made = schema(V1, {"Colour": COLOURS}, a=Ref("Colour"), b=ListOf(TEXT))
    assert shown(made) == shown(made)
