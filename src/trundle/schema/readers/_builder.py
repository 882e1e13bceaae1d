"""From schemas to the type model: one builder reads all that the resources of one API version reach."""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from trundle.schema._model import (
    ABSENT,
    EnumType,
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Property,
    Ref,
    Scalar,
    SchemaError,
    SchemaNote,
    Type,
    Union,
)
from trundle.schema.readers import _merge
from trundle.schema.readers._about import about, beside_reference
from trundle.schema.readers._constraints import Constraints
from trundle.schema.readers._errors import UnsatisfiableError
from trundle.schema.readers._facets import (
    COMPOSITION,
    Dialect,
    Facet,
    Facets,
    take_apart,
)
from trundle.schema.readers._library import DEEPEST_POINTER, Document, Library, Node
from trundle.schema.readers._names import definition_name, extend, pascal
from trundle.schema.readers._table import Table

DEEPEST = 60
MOST_STEPS = 250_000
MOST_ERRORS = 100
DEEPEST_CONTRADICTION = 3
"""How deep in the required properties of a variant a contradiction is looked for."""

Place = tuple[Document, str]


class _Draft(NamedTuple):
    """An object whose properties are still to be read."""

    ref: Ref
    name: str
    named: bool
    root: bool
    facets: Facets


class Builder:
    """Reads schemas into a table.

    Objects are read from a queue, so that neither recursion nor depth of a schema is limited by the
    stack; only lists, maps and unions inside one another nest. A cycle of definitions that passes through
    no object has no finite type: where it closes, the value is free-form and so carried verbatim.

    Args:
        library: finds what references name.
        names: the names of places that have no name in their document, such as resource roots.

    Attributes:
        table: what was read.
        errors: what could not be read.
        notes: what was left out, by its place.
    """

    def __init__(self, library: Library, names: dict[Place, str]) -> None:
        self.table = Table()
        self._library = library
        self._names = names
        self._dialect = Dialect()
        self._queue: deque[tuple[_Draft, Dialect]] = deque()
        self._objects: dict[tuple[Place, ...], Ref] = {}
        self._enums: dict[tuple[Any, ...], Ref] = {}
        self._aliases: dict[Place, Type] = {}
        self._open: list[Place] = []
        self._cuts = 0
        self._steps = 0
        self.errors: list[SchemaError] = []
        self.notes: dict[Place, SchemaNote] = {}

    def root(self, node: Node, dialect: Dialect) -> Type:
        """Reads the schema of a resource and everything that it reaches.

        What cannot be read is noted in `errors`, and the rest is read on.

        Raises:
            SchemaError: there is too much to read, or too much that cannot be.
        """
        self._dialect = dialect
        found: Type = FreeForm()
        with self._noting():
            found = self._definition(node)
        while self._queue:
            draft, self._dialect = self._queue.popleft()
            with self._noting():
                self._read_object(draft)
        return found

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """Notes an error, and goes on as if what could not be read were not there."""
        opened = len(self._open)
        try:
            yield
        except SchemaError as error:
            if self._steps > MOST_STEPS or len(self.errors) == MOST_ERRORS:
                raise
            self.errors.append(error)
            del self._open[opened:]

    def _definition(self, node: Node) -> Type:
        """The type of a schema that others refer to; read once."""
        place = node.place
        known = self._aliases.get(place)
        if known is not None:
            return known
        if place in self._open:
            self._cuts += 1
            return FreeForm()
        if self._dialect.variants is not None:
            variants = self._dialect.variants(node)
            if variants:
                found = self.table.union(self._plain(each) for each in variants)
                self._aliases[place] = found
                return found
        return self._plain(node)

    def _plain(self, node: Node) -> Type:
        """The type of a referenced schema, taken as it is."""
        place = node.place
        cuts = self._cuts
        self._open.append(place)
        self._check(node)
        found = self._type(take_apart([node], self._library, self._dialect), node)
        self._open.pop()
        if self._cuts == cuts:  # What contains a cut depends on where reading began.
            self._aliases[place] = found
        return found

    def _read(self, nodes: Sequence[Node]) -> Type:
        """The type of values for which all these schemas hold."""
        self._check(nodes[0])
        return self._type(take_apart(nodes, self._library, self._dialect), None)

    def _check(self, node: Node) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise node.error("the schemas expand to too many types; give the repeated parts a name")
        if node.pointer.count("/") > DEEPEST_POINTER or len(self._open) > DEEPEST:
            raise node.error("nested too deeply; break the schema up with object definitions")

    def _type(self, facets: Facets, definition: Node | None) -> Type:
        origins = facets.origins()
        if len(origins) == 1 and None not in origins:
            (origin,) = origins.values()
            assert origin is not None
            _merge.kinds(facets.all)
            found = self._definition(origin)
            return _nullable(found) if facets.nullable_here else found
        found = self._shape(facets, definition)
        return _nullable(found) if facets.nullable else found

    def _shape(self, facets: Facets, definition: Node | None) -> Type:
        if _merge.is_integer_or_text(facets.all):
            return Union((Scalar("integer"), Scalar("string")))
        if facets.alternatives:
            return self._union(facets)
        kinds = _merge.kinds(facets.all)
        values = _merge.values(facets.all, kinds)
        if values is not None:
            return self._enum(facets, values, definition)
        if kinds is None:
            kinds = _merge.implied_kinds(facets.all)
        if kinds is None:
            return FreeForm()
        single = [kind for kind in kinds if kind != "null"]
        if not single:
            return Nullable(FreeForm())
        text = _merge.first_text(facets.all, "format") if len(single) == 1 else None
        found = self.table.union(self._of_kind(x, text, facets, definition) for x in single)
        return _nullable(found) if "null" in kinds else found

    def _of_kind(
        self, kind: str, text: str | None, facets: Facets, definition: Node | None
    ) -> Type:
        match kind:
            case "object":
                return self._object(facets, definition)
            case "array":
                return self._list(facets)
            case "boolean" | "integer" | "number" | "string":
                return Scalar(kind, text)
            case _:
                raise AssertionError(kind)

    def _union(self, facets: Facets) -> Type:
        """Each variant of the first choice, together with everything else that holds."""
        choice, *others = facets.alternatives
        rest = [
            Node(*each.node.place, {each.keyword: [v.value for v in each.variants]})
            for each in others
        ]
        for facet in facets.all:
            node = facet.node
            if not COMPOSITION.isdisjoint(node.value):
                own = {key: x for key, x in node.value.items() if key not in COMPOSITION}
                node = Node(node.document, node.pointer, own)
            if not set(node.value) <= {"type"}:
                rest.append(node)
        kinds = _merge.kinds(facets.all)
        if kinds is not None:
            rest.append(Node(*choice.node.place, {"type": list(kinds)}))
        variants = [found for each in choice.variants if (found := self._variant(each, rest))]
        if not variants:
            raise choice.node.contradiction(
                f"no variant of {choice.keyword} remains: each contradicts itself or what else holds here"
            )
        found = self.table.union(variants)
        return _nullable(found) if kinds is not None and "null" in kinds else found

    def _variant(self, node: Node, rest: Sequence[Node]) -> Type | None:
        """The type of a variant of a union; None, with a note, for one that no value fits."""
        opened = len(self._open)
        try:
            self._require_satisfiable((node, *rest), DEEPEST_CONTRADICTION)
            return self._read((node, *rest))
        except UnsatisfiableError as error:
            del self._open[opened:]
            self.notes[node.place] = SchemaNote(
                node.source, f"no value fits this variant, which is left out: {error.reason}"
            )
            return None

    def _require_satisfiable(self, nodes: Sequence[Node], depth: int) -> None:
        """Raises where schemas that hold together contradict each other, required properties included."""
        facets = take_apart(nodes, self._library, self._dialect)
        if facets.alternatives:
            return  # a union leaves out its own
        kinds = _merge.kinds(facets.all)
        _merge.values(facets.all, kinds)
        if depth == 0 or not _merge.has_properties(facets.all):
            return
        places = _merge.property_schemas(facets.all)
        for name in _merge.required(facets.all).keys() & places.keys():
            self._require_satisfiable(places[name], depth - 1)

    def _list(self, facets: Facets) -> Type:
        keys = tuple(_merge.first_list(facets.all, "x-kubernetes-list-map-keys"))
        tuples = _merge.tuple_items(facets.all)
        if tuples is not None:
            items = self.table.union([self._read([x]) for x in tuples]) if tuples else FreeForm()
            return ListOf(items, keys)
        nodes = _merge.children(facets.all, "items")
        if _merge.preserves_unknown(facets.all):
            nodes = [_merge.preserving(each) for each in nodes]
        return ListOf(self._read(nodes) if nodes else FreeForm(), keys)

    def _object(self, facets: Facets, definition: Node | None) -> Type:
        if _merge.has_properties(facets.all) or _merge.is_closed(facets.all):
            return self._object_ref(facets, definition)
        values = _merge.value_schemas(facets.all)
        return FreeForm() if values is None else MapOf(self._read(values))

    def _object_ref(self, facets: Facets, definition: Node | None) -> Ref:
        strong = facets.strong() or facets.all
        key = tuple(dict.fromkeys(each.node.place for each in strong))
        if definition is None and len(facets.origins()) > 1:
            key = (facets.all[0].node.place, *key)
        known = self._objects.get(key)
        if known is None:
            name, named = self._name(facets, definition)
            known = self.table.reserve(_order(definition, strong))
            self._objects[key] = known
            root = definition is not None and definition.place in self._names
            self._queue.append((_Draft(known, name, named, root, facets), self._dialect))
        return known

    def _enum(self, facets: Facets, values: Sequence[Any], definition: Node | None) -> Type:
        strong = facets.strong()
        groups = _merge.by_kind(values, facets.all[0].node)
        if groups is None:
            return FreeForm()
        name, named = self._name(facets, definition)
        found = []
        for kind, members in groups.items():
            key = (*(each.node.place for each in strong), kind, *members)
            if key not in self._enums:
                doc = _merge.first_doc(facets.all)
                source = strong[0].node.source
                example = _merge.first_example(facets.all)
                enum = EnumType(name, named, kind, tuple(members), doc, source, example)
                self._enums[key] = self.table.add(enum, _order(definition, strong))
            found.append(self._enums[key])
        joined: Type = found[0] if len(found) == 1 else Union(tuple(found))
        return _nullable(joined) if None in values else joined

    def _name(self, facets: Facets, definition: Node | None) -> tuple[str, bool]:
        """The name for what stands here, and whether the schema gives it."""
        if definition is not None:
            return self.name_of(definition)
        referenced = [each for each in facets.origins().values() if each is not None]
        if len(referenced) == 1:
            return self.name_of(referenced[0])
        at = facets.strong()[:1] if len(facets.origins()) == 1 else []
        return self.name_of((at or facets.all)[0].node)[0], False

    def name_of(self, node: Node) -> tuple[str, bool]:
        """The name of a place, and whether its schema gives it."""
        document, pointer = node.document, node.pointer
        own = self._names.get((document, pointer))
        if own is not None:
            return own, True
        own = definition_name(pointer)
        if own is not None:
            return self._short(own), True
        parent = pointer
        while parent:
            parent = parent.rpartition("/")[0]
            rest = pointer[len(parent) :]
            own = self._names.get((document, parent)) or definition_name(parent)
            if own is not None:
                return extend(self._short(own), rest), False
        stem = document.path.stem if document.path else document.file
        title = document.value.get("title") if isinstance(document.value, dict) else None
        return extend(pascal(title if isinstance(title, str) else stem), pointer), False

    def _short(self, name: str) -> str:
        return name.rpartition(".")[2] or name if self._dialect.dotted_names else name

    def _read_object(self, draft: _Draft) -> None:
        facets = draft.facets.all
        places = _merge.property_schemas(facets)
        required = _merge.required(facets)
        further = _merge.value_schemas(facets)
        for name, at in required.items():
            places.setdefault(name, further or [Node(*at.place, True)])
        if any(x.node.value.get("x-kubernetes-embedded-resource") is True for x in facets):
            _add_resource_properties(places, facets[0].node)
            embedded = True
        else:
            embedded = not draft.root and self._dialect.embedded(places)
        properties = []
        for name in sorted(places):
            with self._noting():
                found = self._property(name, places[name], required=name in required)
                properties.append(found)
        strong = draft.facets.strong() or facets
        self.table.definitions[draft.ref.key] = ObjectType(
            name=draft.name,
            named=draft.named,
            properties=tuple(properties),
            additional=self._additional(facets),
            doc=_merge.first_doc(facets),
            source=strong[0].node.source,
            embedded=embedded,
            constraints=tuple(
                sorted(_merge.constraints(facets, structural=self._dialect.structural).items())
            ),
            example=_merge.first_example(facets),
        )

    def _additional(self, facets: list[Facet]) -> Type | None:
        if _merge.preserves_unknown(facets):
            return FreeForm()
        if _merge.is_closed(facets):
            return None
        values = _merge.value_schemas(facets)
        if values is not None:
            return self._read(values)
        return FreeForm() if _merge.is_open(facets) else None

    def _property(self, name: str, nodes: Sequence[Node], *, required: bool) -> Property:
        self._check(nodes[0])
        facets = take_apart(nodes, self._library, self._dialect)
        kind = self._type(facets, None)
        own = beside_reference(facets, kind)
        constraints = Constraints(self._library, self._dialect, self.notes)
        return Property(
            name=name,
            type=kind,
            required=required,
            default=_merge.first(facets.all, "default", ABSENT),
            doc=_merge.first_doc(own),
            constraints=tuple(sorted(constraints.of(facets, own, kind).items())),
            about=tuple(sorted(about(facets, kind, self._library, self._dialect).items())),
        )


def _nullable(kind: Type) -> Type:
    return kind if isinstance(kind, Nullable) else Nullable(kind)


def _order(definition: Node | None, strong: Sequence[Facet]) -> tuple[Any, ...]:
    """Definitions in their own right come before merged ones, then files and places decide."""
    node = definition or strong[0].node
    parts = [(int(x), "") if x.isdecimal() else (-1, x) for x in node.pointer.split("/")]
    return (definition is None, node.document.file, node.document.number, parts, len(strong))


def _add_resource_properties(places: dict[str, list[Node]], at: Node) -> None:
    """Adds the properties that every Kubernetes resource has, where they are not declared."""
    for name, kind in (("apiVersion", "string"), ("kind", "string"), ("metadata", "object")):
        places.setdefault(name, [Node(*at.place, {"type": kind})])
