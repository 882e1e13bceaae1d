"""A schema taken apart into facets: what it says itself, and what its references add."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from trundle.schema.readers._library import Library, Node

LONGEST_CHAIN = 60

STRONG = frozenset(
    {
        "$dynamicRef",
        "$ref",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "enum",
        "items",
        "oneOf",
        "patternProperties",
        "prefixItems",
        "properties",
        "required",
        "type",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
        "x-kubernetes-preserve-unknown-fields",
    }
)
COMPOSITION = frozenset({"$ref", "allOf", "anyOf", "oneOf"})
_DETAILS = STRONG - COMPOSITION - {"type", "required"}
_SHAPING = STRONG - {"required", "type"}
_ALTERNATIVES = ("oneOf", "anyOf")
_EVERYTHING: tuple[Any, ...] = (True, {})
_KINDS = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def _never(_properties: Mapping[str, Sequence[Node]]) -> bool:
    return False


class Dialect(msgspec.Struct, frozen=True):
    """How a format departs from JSON Schema.

    Attributes:
        structural: whether `allOf`, `anyOf`, `oneOf` and `not` only constrain, as in a CRD.
        dotted_names: whether a definition's name is what follows its last dot.
        dropped: whether an alternative of a union is left out.
        refine: further schemas that hold for what is at a place, as a discriminator's constant.
        variants: the definitions that may be where this one is referenced, if it is a base of others.
        embedded: whether an object with these properties is a whole resource inside another.
    """

    structural: bool = False
    dotted_names: bool = False
    dropped: Callable[[Node], bool] | None = None
    refine: Callable[[Node], Iterable[Node]] | None = None
    variants: Callable[[Node], tuple[Node, ...]] | None = None
    embedded: Callable[[Mapping[str, Sequence[Node]]], bool] = _never


class Facet(NamedTuple):
    """One schema of those that hold together at a place.

    Attributes:
        node: where it is.
        origin: the outermost referenced schema that it came from, or None where it is in the open.
    """

    node: Node
    origin: Node | None


class Alternatives(NamedTuple):
    """The variants of one `oneOf` or `anyOf`."""

    node: Node
    keyword: str
    variants: tuple[Node, ...]
    origin: Node | None


class Facets:
    """All that holds at one place.

    Attributes:
        all: the facets, outermost first.
        alternatives: the unions that remain to be chosen from.
        nullable: whether null is a value too.
        nullable_here: whether it is so without the referenced schemas.
    """

    __slots__ = ("all", "alternatives", "nullable", "nullable_here")

    def __init__(self) -> None:
        self.all: list[Facet] = []
        self.alternatives: list[Alternatives] = []
        self.nullable = False
        self.nullable_here = False

    def strong(self) -> list[Facet]:
        """The facets that say something about the shape.

        A mere `type` or `required: []` beside other facets repeats them and does not count.
        """
        found = [each for each in self.all if not _DETAILS.isdisjoint(each.node.value)]
        needed = [
            each for each in self.all if each.node.value.get("required") and each not in found
        ]
        if found or needed or self.alternatives:
            return (
                [each for each in self.all if each in found or each in needed] if needed else found
            )
        return [each for each in self.all if "type" in each.node.value]

    def origins(self) -> dict[Any, Node | None]:
        """Where the shape comes from, by place; None stands for this place itself."""
        found: dict[Any, Node | None] = {}
        for origin in (
            *(each.origin for each in self.strong()),
            *(each.origin for each in self.alternatives),
        ):
            found[origin.place if origin else None] = origin
        return found

    def allow_null(self, origin: Node | None) -> None:
        """Notes that null is a value."""
        self.nullable = True
        if origin is None:
            self.nullable_here = True


def take_apart(nodes: Iterable[Node], library: Library, dialect: Dialect) -> Facets:
    """The facets of schemas that all hold at one place.

    References and `allOf` are followed; a union with a single variant is that variant, and a variant
    that is only null makes the rest nullable.

    Raises:
        SchemaError: something is no schema, or a reference is unresolvable or cyclic.
    """
    collector = _Collector(library, dialect)
    for node in nodes:
        collector.collect(node, None, ())
    return collector.facets


class _Collector:
    """Gathers facets; a trail of referenced places finds references that lead nowhere."""

    __slots__ = ("_dialect", "_library", "facets")

    def __init__(self, library: Library, dialect: Dialect) -> None:
        self._library = library
        self._dialect = dialect
        self.facets = Facets()

    def collect(self, node: Node, origin: Node | None, trail: tuple[Any, ...]) -> None:
        """Adds the facets of a schema."""
        value = node.value
        if value is True:
            return
        if value is False:
            raise node.contradiction(
                "the schema false allows nothing; leave the property out instead"
            )
        if not isinstance(value, dict):
            raise node.unexpected("a schema (an object)", describe(value))
        if value.get("not") in _EVERYTHING:
            raise node.contradiction("`not` of everything allows nothing; remove it")
        if isinstance(value.get("required"), bool):
            hint = "list the property's name as required in its object instead"
            raise node.unexpected("a list of names as required", "a boolean", hint)
        self.facets.all.append(Facet(node, origin))
        if value.get("nullable") is True or value.get("x-nullable") is True:
            self.facets.allow_null(origin)
        if "$ref" in value or "$dynamicRef" in value:
            target = _target(node, trail, self._library)
            self.collect(target, origin or target, (*trail, target.place))
        if not self._dialect.structural:
            self._compose(node, origin, trail)

    def _compose(self, node: Node, origin: Node | None, trail: tuple[Any, ...]) -> None:
        for part in _parts(node, "allOf"):
            self.collect(part, origin, trail)
        for keyword in _ALTERNATIVES:
            if keyword in node.value:
                self._choose(node, keyword, origin, trail)
        if self._dialect.refine is not None:
            self.facets.all.extend(Facet(each, origin) for each in self._dialect.refine(node))

    def _choose(
        self, node: Node, keyword: str, origin: Node | None, trail: tuple[Any, ...]
    ) -> None:
        """Collects a union's variant if there is only one, else notes the choice."""
        variants = _parts(node, keyword)
        if only_constrain(node, variants):
            return
        kept = []
        for each in variants:
            if _is_null(each.value):
                self.facets.allow_null(origin)
            elif self._dialect.dropped is None or not self._dialect.dropped(each):
                kept.append(each)
        if len(kept) == 1:
            self.collect(kept[0], origin, trail)
        elif kept:
            self.facets.alternatives.append(Alternatives(node, keyword, tuple(kept), origin))


def _target(node: Node, trail: tuple[Any, ...], library: Library) -> Node:
    reference = node.value.get("$ref", node.value.get("$dynamicRef"))
    if not isinstance(reference, str):
        raise node.unexpected("text as $ref", repr(reference))
    target = library.resolve(node, reference)
    if len(trail) > LONGEST_CHAIN:
        raise node.error("too long a chain of references; refer to the target directly")
    if target.place in trail or target.place == node.place:
        raise node.error(f"cyclic $ref: {reference} leads back to itself without saying a type")
    return target


def _parts(node: Node, keyword: str) -> list[Node]:
    if keyword not in node.value:
        return []
    parts = node.value[keyword]
    if not isinstance(parts, list) or not parts:
        raise node.unexpected(f"a list of schemas as {keyword}", describe(parts))
    return [Node(node.document, f"{node.pointer}/{keyword}/{i}", x) for i, x in enumerate(parts)]


def only_constrain(node: Node, variants: Iterable[Node]) -> bool:
    """Whether variants only say which properties go together, and nothing about their shape."""
    own = node.value.get("type")
    for each in variants:
        value = each.value
        if not isinstance(value, dict) or not _SHAPING.isdisjoint(value):
            return False
        if "type" in value and value["type"] != own:
            return False
        if not value:
            return False
    return True


def kinds_of(node: Node) -> tuple[str, ...] | None:
    """The JSON types that a schema's `type` allows, or None where it says nothing.

    Raises:
        SchemaError: a type that JSON Schema does not know.
    """
    given = node.value.get("type")
    if given is None:
        return None
    kinds = (given,) if isinstance(given, str) else given
    if not isinstance(kinds, list | tuple) or not kinds:
        raise node.unexpected("a type such as 'string'", describe(given))
    for kind in kinds:
        if not isinstance(kind, str) or kind not in _KINDS:
            raise node.unexpected(f"one of {', '.join(sorted(_KINDS))}", f"the type {kind!r}")
    return tuple(kinds)


def _is_null(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if value.get("type") in ("null", ["null"]):
        return True
    return value.get("enum") == [None] or ("const" in value and value["const"] is None)


def describe(value: Any) -> str:
    """A value in few words, for errors."""
    match value:
        case None:
            return "null"
        case dict():
            return "an object"
        case []:
            return "an empty list"
        case list():
            return "a list"
        case _:
            return repr(value)
