"""What schemas say of properties, and of what these hold, that constrains nothing: descriptions and examples."""

from collections.abc import Sequence
from typing import Any

from trundle.schema._model import ABSENT, ListOf, MapOf, Nullable, Ref, Type
from trundle.schema.readers import _merge
from trundle.schema.readers._facets import Dialect, Facet, Facets, take_apart
from trundle.schema.readers._library import Library, Node


def about(facets: Facets, kind: Type, library: Library, dialect: Dialect) -> dict[str, Any]:
    """The example of a property, and under `items` and the like what is said of what it holds.

    What a definition says of itself stands there, and is not repeated.
    """
    found: dict[str, Any] = {}
    example = _merge.first_example(_said_here(facets, kind))
    if example is not ABSENT:
        found["example"] = example
    match _bare(kind):
        case ListOf(items, _):
            nodes, inside, held = _merge.children(facets.all, "items"), "items", items
        case MapOf(values):
            nodes, inside, held = (
                _merge.value_schemas(facets.all) or [],
                "additionalProperties",
                values,
            )
        case _:
            return found
    inner = _of_held(nodes, held, library, dialect) if nodes else {}
    if inner:
        found[inside] = inner
    return found


def _of_held(
    nodes: Sequence[Node], kind: Type, library: Library, dialect: Dialect
) -> dict[str, Any]:
    facets = take_apart(nodes, library, dialect)
    doc = _merge.first_doc(_said_here(facets, kind))
    return {**({"description": doc} if doc else {}), **about(facets, kind, library, dialect)}


def _said_here(facets: Facets, kind: Type) -> list[Facet]:
    """The facets that speak of this place, and not of the definition that its type is."""
    if not isinstance(_bare(kind), Ref):
        return facets.all
    return beside_reference(facets, kind) if _is_reference(facets) else []


def beside_reference(facets: Facets, kind: Type) -> list[Facet]:
    """The facets of a place, without those of a definition to which it only refers."""
    if isinstance(_bare(kind), Ref) and _is_reference(facets):
        return [each for each in facets.all if each.origin is None]
    return facets.all


def _is_reference(facets: Facets) -> bool:
    origins = facets.origins()
    return len(origins) == 1 and None not in origins


def _bare(kind: Type) -> Type:
    return kind.inner if isinstance(kind, Nullable) else kind
