"""What facets say together about one aspect of a shape."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from trundle.errors import expectation
from trundle.schema._model import ABSENT, ScalarKind
from trundle.schema.readers._facets import STRONG, Facet, describe, kinds_of, only_constrain
from trundle.schema.readers._library import Node
from trundle.schema.readers._names import escape
from trundle.schema.readers._table import distinct

_ANNOTATIONS = frozenset(
    {
        "$anchor",
        "$comment",
        "$defs",
        "$dynamicAnchor",
        "$id",
        "$recursiveAnchor",
        "$schema",
        "$vocabulary",
        "additionalItems",
        "default",
        "definitions",
        "description",
        "discriminator",
        "example",
        "examples",
        "externalDocs",
        "format",
        "id",
        "nullable",
        "title",
        "x-kubernetes-list-map-keys",
        "x-nullable",
        "x-resource",
        "xml",
    }
)
_NOT_CONSTRAINTS = STRONG | _ANNOTATIONS
_OBJECT_WORDS = frozenset(
    {
        "properties",
        "additionalProperties",
        "patternProperties",
        "required",
        "x-kubernetes-embedded-resource",
    }
)
_ARRAY_WORDS = frozenset({"items", "prefixItems"})
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_KIND_OF = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
}
_OPEN: tuple[Any, ...] = (True, {})


def kinds(facets: Iterable[Facet]) -> tuple[str, ...] | None:
    """The JSON types that all facets allow, in the order of the first; None if none says.

    Raises:
        SchemaError: they exclude each other.
    """
    found: tuple[str, ...] | None = None
    for facet in facets:
        given = kinds_of(facet.node)
        if given is None or found == given:
            continue
        if found is None:
            found = given
            continue
        both = tuple(
            x for x in dict.fromkeys((*found, *given)) if _allows(found, x) and _allows(given, x)
        )
        if not both:
            clash = expectation(" or ".join(found), " or ".join(given))
            raise facet.node.contradiction(f"conflicting types: {clash}")
        found = both
    return found


def _allows(allowed: Sequence[str], kind: str) -> bool:
    return kind in allowed or (kind == "integer" and "number" in allowed)


def implied_kinds(facets: Iterable[Facet]) -> tuple[str, ...] | None:
    """The type that keywords imply where none is stated; None where anything goes."""
    for facet in facets:
        value = facet.node.value
        if not _OBJECT_WORDS.isdisjoint(value):
            return ("object",)
        if not _ARRAY_WORDS.isdisjoint(value):
            return ("array",)
    return None


def values(facets: Iterable[Facet], allowed: Sequence[str] | None) -> tuple[Any, ...] | None:
    """The values that `enum` and `const` of all facets leave; None where there is no such keyword.

    Raises:
        SchemaError: they leave none, or a value is not of the stated type.
    """
    found: tuple[Any, ...] | None = None
    node: Node | None = None
    for facet in facets:
        for own in _listed(facet.node):
            node = facet.node
            if found is None:
                found = own
                continue
            known = [_identity(each) for each in own]
            found = tuple(each for each in found if _identity(each) in known)
    if found is None or node is None:
        return None
    if not found:
        raise node.contradiction("no value remains: the enums that hold here have none in common")
    for each in found:
        if allowed is not None and each is not None and not _is_kind(each, allowed):
            raise node.error(f"the enum value {each!r} is not of type {' or '.join(allowed)}")
    return found


def _listed(node: Node) -> Iterable[tuple[Any, ...]]:
    value = node.value
    if "const" in value:
        yield (value["const"],)
    if "enum" in value:
        listed = value["enum"]
        if not isinstance(listed, list) or not listed:
            reason = expectation("a list of values as enum", describe(listed))
            raise node.contradiction(reason) if listed == [] else node.error(reason)
        yield tuple(listed)


def _identity(value: Any) -> Any:
    return (isinstance(value, bool), value) if isinstance(value, bool | int | float) else value


def _is_kind(value: Any, allowed: Sequence[str]) -> bool:
    return any(_allows(allowed, kind) for kind in _kinds_of_value(value))


def _kinds_of_value(value: Any) -> tuple[str, ...]:
    if isinstance(value, float) and value.is_integer():
        return "integer", "number"
    return (_KIND_OF.get(type(value), "object"),)


def by_kind(listed: Iterable[Any], node: Node) -> dict[ScalarKind, list[Any]] | None:
    """Enum values without null, grouped by kind; None if some are no scalars.

    Raises:
        SchemaError: a value is no finite number.
    """
    groups: dict[ScalarKind, list[Any]] = {}
    for value in distinct_values(listed):
        match value:
            case None:
                continue
            case bool():
                groups.setdefault("boolean", []).append(value)
            case int():
                groups.setdefault("integer", []).append(value)
            case float():
                if not math.isfinite(value):
                    raise node.unexpected("a finite number in enum", str(value))
                groups.setdefault("number", []).append(value)
            case str():
                groups.setdefault("string", []).append(value)
            case _:
                return None
    if "number" in groups and "integer" in groups:
        integers = groups.pop("integer")
        groups["number"] = [
            x for x in distinct_values(listed) if x in groups["number"] or x in integers
        ]
    return groups or None


def distinct_values(listed: Iterable[Any]) -> tuple[Any, ...]:
    """The scalars in their order without duplicates; anything else as it is."""
    kept = list(listed)
    if any(isinstance(each, dict | list) for each in kept):
        return tuple(kept)
    return distinct(kept)


def _declared(node: Node) -> dict[Any, Any]:
    members = node.value.get("properties", {})
    if not isinstance(members, dict):
        raise node.unexpected("an object as properties", describe(members))
    return members


def property_schemas(facets: Iterable[Facet]) -> dict[str, list[Node]]:
    """All schemas of each property, by name.

    Raises:
        SchemaError: `properties` is no object, a property's name no text, or its schema false.
    """
    found: dict[str, list[Node]] = {}
    for facet in facets:
        node = facet.node
        members = _declared(node)
        base = f"{node.pointer}/properties/"
        for name, value in members.items():
            if not isinstance(name, str):
                raise node.unexpected("text as property name", repr(name), "put it in quotes")
            child = Node(node.document, base + escape(name), value)
            if value is False:
                raise child.contradiction(
                    "the schema false allows nothing; leave the property out instead"
                )
            found.setdefault(name, []).append(child)
    return found


def required(facets: Iterable[Facet]) -> dict[str, Node]:
    """The names of required properties, each with the schema that requires it.

    Raises:
        SchemaError: `required` is no list of names.
    """
    found: dict[str, Node] = {}
    for facet in facets:
        names = facet.node.value.get("required", ())
        if not isinstance(names, list | tuple) or not all(isinstance(x, str) for x in names):
            raise facet.node.unexpected("a list of property names", describe(names))
        for name in names:
            found.setdefault(name, facet.node)
    return found


def has_properties(facets: Sequence[Facet]) -> bool:
    """Whether any facet declares or requires a property.

    Raises:
        SchemaError: `properties` is no object.
    """
    for facet in facets:
        value = facet.node.value
        if _declared(facet.node) or value.get("required"):
            return True
        if value.get("x-kubernetes-embedded-resource") is True:
            return True
    return False


def is_closed(facets: Iterable[Facet]) -> bool:
    """Whether a facet excludes further properties."""
    return any(
        x.node.value.get("additionalProperties") is False
        and not x.node.value.get("patternProperties")
        for x in facets
    )


def is_open(facets: Iterable[Facet]) -> bool:
    """Whether a facet says that further properties may be anything."""
    return any(
        ("additionalProperties" in x.node.value and x.node.value["additionalProperties"] in _OPEN)
        or x.node.value.get("patternProperties")
        for x in facets
    )


def is_integer_or_text(facets: Iterable[Facet]) -> bool:
    """Whether a value may be either, as Kubernetes says it."""
    return any(x.node.value.get("x-kubernetes-int-or-string") is True for x in facets)


def preserves_unknown(facets: Iterable[Facet]) -> bool:
    """Whether unknown properties are kept, as Kubernetes says it."""
    return any(x.node.value.get(_PRESERVE) is True for x in facets)


def preserving(node: Node) -> Node:
    """The schema of the elements of a list that keeps what is unknown, which an API server keeps in its elements."""
    return Node(
        *node.place, {**node.value, _PRESERVE: True} if isinstance(node.value, dict) else node.value
    )


def value_schemas(facets: Iterable[Facet]) -> list[Node] | None:
    """The schemas of further properties, or None where they may be anything or there are none.

    A single pattern of `patternProperties` says the same as `additionalProperties`; where there are
    several kinds of further properties, they are anything.
    """
    found: list[Node] = []
    for facet in facets:
        node = facet.node
        further = node.value.get("additionalProperties")
        patterns = node.value.get("patternProperties")
        if patterns is not None and not isinstance(patterns, dict):
            raise node.unexpected("an object as patternProperties", describe(patterns))
        if patterns:
            if len(patterns) > 1 or further not in (None, False):
                return None
            found.append(node.child("patternProperties", next(iter(patterns))))
        elif isinstance(further, dict) and further:
            found.append(node.child("additionalProperties"))
        elif further not in (None, True, False, {}):
            raise node.unexpected("a schema as additionalProperties", describe(further))
    return found or None


def children(facets: Iterable[Facet], keyword: str) -> list[Node]:
    """The schemas that facets have under a keyword, without those that allow anything.

    Those that allow nothing, and the lists of a tuple, are no schemas for each element.
    """
    return [
        x.node.child(keyword)
        for x in facets
        if keyword in x.node.value
        and x.node.value[keyword] not in (True, {}, False)
        and not isinstance(x.node.value[keyword], list)
    ]


def tuple_items(facets: Iterable[Facet]) -> list[Node] | None:
    """The schemas of a tuple's items; empty if further items may be anything, None if it is no tuple."""
    for facet in facets:
        node = facet.node
        keyword = "items" if isinstance(node.value.get("items"), list) else "prefixItems"
        prefix = node.value.get(keyword)
        if not isinstance(prefix, list):
            continue
        found = [node.child(keyword, str(i)) for i in range(len(prefix))]
        more = "additionalItems" if keyword == "items" else "items"
        rest = node.value.get(more, True)
        if isinstance(rest, dict) and rest:
            return [*found, node.child(more)]
        most = node.value.get("maxItems")
        bounded = isinstance(most, int) and most <= len(prefix)
        return found if rest is False or bounded else []
    return None


def first(facets: Iterable[Facet], keyword: str, otherwise: Any = None) -> Any:
    """What the outermost facet that has the keyword says."""
    for facet in facets:
        if keyword in facet.node.value:
            return facet.node.value[keyword]
    return otherwise


def first_text(facets: Iterable[Facet], keyword: str) -> str | None:
    """What the outermost facet says under the keyword, if it is text."""
    found = first(facets, keyword)
    return found if isinstance(found, str) else None


def first_list(facets: Iterable[Facet], keyword: str) -> list[str]:
    """What the outermost facet lists under the keyword."""
    found = first(facets, keyword)
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def first_doc(facets: Iterable[Facet]) -> str:
    """The outermost description, without trailing blanks."""
    for facet in facets:
        text = facet.node.value.get("description")
        if isinstance(text, str) and text.strip():
            return "\n".join(line.rstrip() for line in text.strip().splitlines())
    return ""


def first_example(facets: Iterable[Facet]) -> Any:
    """The outermost example, of several the first; absent where there is none."""
    for facet in facets:
        value = facet.node.value
        several = value.get("examples")
        one = several[0] if isinstance(several, list) and several else value.get("example")
        if one is not None:
            return one
    return ABSENT


def constraints(facets: Iterable[Facet], *, structural: bool) -> dict[str, Any]:
    """All keywords that neither make the shape nor merely describe; the outermost of each."""
    found: dict[str, Any] = {}
    for facet in facets:
        value = facet.node.value
        for key in value:
            if key not in _NOT_CONSTRAINTS and isinstance(key, str):
                found.setdefault(key, value[key])
        for key in ("allOf", "anyOf", "oneOf"):
            if key in value and (structural or _constrains(facet.node, key)):
                found.setdefault(key, value[key])
    return found


def _constrains(node: Node, keyword: str) -> bool:
    if keyword == "allOf":
        return False
    variants = [Node(*node.place, each) for each in node.value[keyword]]
    return only_constrain(node, variants)
