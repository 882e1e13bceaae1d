"""What a client edits may lack what it lacked when it was read, and nothing else."""

from collections.abc import Iterator

import msgspec
import pytest

from trundle.codegen import generate_package
from trundle.evolution import Evolution
from trundle.runtime import DocumentError, Scheme
from trundle.schema import ListOf, ObjectType, Property, Ref, Resource, Scalar, Schema
from trundle.verify._hops import forget_packages, imported
from trundle.verify._stored import read_edited
from trundle.version import ApiVersion

OLD, NEW = "2020-01-01", "2021-01-01"


def schema(version: str) -> Schema:
    """Items with a part, which the older version requires and for which no zero value is valid."""
    size = Property("size", Scalar("integer"), required=True, constraints=(("minimum", 1),))
    part = Property("part", Ref("Part"), required=version == OLD)
    definitions = {
        "Thing": ObjectType("Thing", True, (Property("items", ListOf(Ref("Item"))),)),
        "Item": ObjectType("Item", True, (Property("name", Scalar("string")), part)),
        "Part": ObjectType("Part", True, (size,)),
    }
    return Schema(ApiVersion.parse(version), definitions, (Resource("Thing", "Thing"),))


@pytest.fixture(scope="module")
def scheme() -> Iterator[Scheme]:
    evolution = Evolution((schema(OLD), schema(NEW)))
    yield imported("incomplete_items", generate_package(evolution, package="incomplete_items"))
    forget_packages({"incomplete_items"})


def edited(scheme: Scheme, *names: str, **more: object) -> object:
    """The thing as an older client writes it, of which it read that item `a` lacks its part."""
    stored = scheme.to_storage(
        {
            "apiVersion": NEW,
            "kind": "Thing",
            "items": [{"name": "a"}, {"name": "b", "part": {"size": 1}}],
        }
    )
    items = [{"name": name, **({"part": {"size": 2}} if name != "a" else {})} for name in names]
    document = {"apiVersion": OLD, "kind": "Thing", "items": items, **more}
    return read_edited(scheme, OLD, msgspec.json.encode(document), stored)


@pytest.mark.parametrize("names", ["ab", "ba", "bca", "a"])
def test_an_incomplete_element_may_have_moved(scheme: Scheme, names: str) -> None:
    assert [item.name for item in edited(scheme, *names).items] == [*names]


def test_what_was_not_wrong_before_is_still_an_error(scheme: Scheme) -> None:
    with pytest.raises(DocumentError, match="known property"):
        edited(scheme, "a", "b", other=1)
