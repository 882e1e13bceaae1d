"""A joined scheme does what the scheme of the group does that a document belongs to."""

import importlib
import itertools
import json
import sys
import types
from typing import Any

import msgspec
import pytest
from amounts import some_of
from evolving import evolution, rules

from trundle.codegen import generate_package
from trundle.evolution import Evolution
from trundle.runtime import ConversionError, JoinedScheme, Lenience, Outcome
from trundle.schema import Resource

V1, V2 = "2020-01-01", "2021-01-01"
ONE = {
    V1: {
        "Thing": {"a": "string", "old": "integer", "i": "In"},
        "In": {"x": "string", "y": "string"},
    },
    V2: {
        "Thing": {"a": "string", "new": "integer", "i": "In"},
        "In": {"x": "string", "z": "string"},
    },
}
OTHER = {
    V1: {"Thing": {"a!": "integer", "i": "In"}, "In": {"x!": "string"}},
    V2: {"Thing": {"a!": "integer", "b!": "string", "i": "In"}, "In": {"x!": "string"}},
}


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    folder = tmp_path_factory.mktemp("joined")
    root = types.ModuleType("both")
    root.__path__ = [str(folder / "both")]
    sys.modules["both"] = root
    for name, versions, more in (
        ("one", ONE, [rules(V1, rename={"old": "new"})]),
        ("other", OTHER, []),
    ):
        made = evolution(versions, *more, kept=(V1, V2))
        schemas = tuple(
            msgspec.structs.replace(
                each, resources=(Resource("Thing", "Thing", group=f"{name}.org", kept=True),)
            )
            for each in made.schemas
        )
        made = Evolution(schemas, made.all_changes)
        for path, data in generate_package(made, package=f"both.{name}").items():
            target = folder / "both" / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    found = {
        f"{name}.org": importlib.import_module(f"both.{name}").scheme for name in ("one", "other")
    }
    yield found
    for name in [each for each in sys.modules if each.partition(".")[0] == "both"]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def joined(members):
    homes = {"one": ("one.org", ("Thing",)), "other": ("other.org", ("Thing",))}
    return JoinedScheme("both", homes, served=(V1, V2))


def document(group: str, version: str, **members: Any) -> dict[str, Any]:
    return {"apiVersion": f"{group}/{version}", "kind": "Thing", **members}


def outcome(call: Any, /, *args: Any, **options: Any) -> Any:
    """What a call comes to: its result, or its error."""
    try:
        found = call(*args, **options)
    except ConversionError as error:
        return type(error), str(error)
    if isinstance(found, Outcome):
        error = None if found.error is None else (type(found.error), str(found.error))
        return (found.result, error, found.lost, found.tolerated, found.unconverted)
    return found


GOOD = {
    "one.org": [{"a": "1", "i": {"x": "p"}}, {"a": ""}, {}],
    "other.org": [{"a": 1, "b": "x", "i": {"x": ""}}, {"a": 0, "b": ""}],
}
BAD = [{"a": []}, {"zzz": 1}, {"a": 1.5, "i": 3}, {"i": {"x": [1]}}, {"b": 1}]
DOCUMENTS = [
    (group, document(group, version, **members))
    for group, some in GOOD.items()
    for version in (V1, V2)
    for members in (*some, *BAD)
]
LISTS = [
    (
        group,
        {"apiVersion": f"{group}/{V1}" if kind else "v1", "kind": kind or "List", "items": items},
    )
    for group, some in GOOD.items()
    for kind in ("ThingList", "")
    for items in (
        [],
        [document(group, V1, **{k: v for k, v in each.items() if k != "b"}) for each in some],
        [document(group, V1, **each) for each in (*some, *BAD)],
        *([document(group, V1, **each)] for each in BAD),
    )
]
LENIENT = [None, Lenience(missing=True, nulls=True, unknown="keep"), Lenience(unknown="prune")]


@pytest.mark.full
@pytest.mark.parametrize(
    ("lenience", "storing"), some_of(itertools.product(LENIENT, ["", V1, V2]), 4)
)
def test_it_gives_what_they_give(joined, members, storing, lenience):
    if storing:
        joined = joined.storing({f"{group}/Thing": storing for group in members})
        members = {group: each.storing({"Thing": storing}) for group, each in members.items()}
    for group, each in (*DOCUMENTS, *LISTS):
        own, data = members[group], json.dumps(each).encode()
        for to in (f"{group}/{V1}", V2, None, "odd"):
            for name, value in (
                ("convert", each),
                ("convert_json", data),
                ("attempt", each),
                ("attempt", data),
            ):
                ways = [
                    outcome(getattr(scheme, name), value, to, lenience=lenience)
                    for scheme in (joined, own)
                ]
                assert ways[0] == ways[1], (name, value, to)
        for stored in [
            own.convert(
                document(group, V1, **some), lenience=Lenience(missing=True, unknown="keep")
            )
            for some in GOOD[group]
        ]:
            for name, value, base in (
                ("put", each, stored),
                ("put", data, json.dumps(stored).encode()),
            ):
                for version in (V1, V2, None):
                    ways = [
                        outcome(getattr(scheme, name), version, value, base, lenience=lenience)
                        for scheme in (joined, own)
                    ]
                    assert ways[0] == ways[1], (name, value, base, version)


@pytest.mark.parametrize("said", [{}, {"kind": "Thing"}, {"apiVersion": f"one.org/{V1}"}])
def test_items_may_leave_out_what_a_list_of_one_group_says(joined, said):
    listed = {"apiVersion": f"one.org/{V1}", "kind": "ThingList", "items": [{**said, "old": 5}]}
    (found,) = joined.convert(listed, V2)["items"]
    assert found == document("one.org", V2, new=5)
