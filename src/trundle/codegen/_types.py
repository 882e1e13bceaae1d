"""Rendering the classes of API types, storage types and enums."""

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from trundle import runtime
from trundle.codegen._classes import ApiNode, Classes, ClassPath, StorageNode
from trundle.codegen._naming import attribute_name, attribute_names, camel
from trundle.codegen._text import WIDTH, call, class_mark, docstring, text_literal, tuple_literal
from trundle.evolution import (
    ADDITIONAL,
    Label,
    Lineage,
    Neighbours,
    Path,
    Place,
    discriminators,
    entries_as_free_form,
    entries_of_one_value,
    entries_within,
    entries_within_entries,
    label_of,
    list_keys,
    outside,
)
from trundle.schema import (
    ABSENT,
    EnumType,
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Property,
    Ref,
    Resource,
    Scalar,
    Type,
    Union,
)
from trundle.version import ApiVersion

_KINDS = {"boolean": "bool", "integer": "int", "number": "int | float", "string": "str"}


class TypeRenderer:
    """Renders classes, with marks where they refer to each other.

    Args:
        classes: all classes of the package.

    Attributes:
        hook_modules: the module that has the protocols of a type between two neighbours.
    """

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self.hook_modules: dict[tuple[Neighbours, str], str] = {}
        self.evolution = classes.evolution
        self._names: dict[tuple[ApiVersion, int], Mapping[str, str]] = {}
        self.resources: dict[tuple[ApiVersion, str], Resource] = {
            (schema.version, each.root): each
            for schema in self.evolution.schemas
            for each in schema.resources
        }

    def definition(self, node: ApiNode | StorageNode) -> ObjectType | EnumType:
        """What a node's class is made from."""
        if isinstance(node, ApiNode):
            return self.evolution.schema(node.version).definitions[node.key]
        return node.lineage.definition(node.version)

    def render(self, node: ApiNode | StorageNode) -> str:
        """The source of a node's class."""
        definition = self.definition(node)
        if isinstance(definition, EnumType):
            return self._enum(self.classes.path(node), definition)
        return self._object(node, definition)

    def _enum(self, path: ClassPath, definition: EnumType) -> str:
        doc = docstring(definition.doc or f"Known values of {definition.name}.", "    ")
        if definition.kind != "string":
            members = ", ".join(repr(value) for value in definition.values)
            return call("frozenset", [f"{{{members}}}"], before=f"{path.name} = ") + "\n"
        names = attribute_names(str(value) for value in definition.values)
        lines = [
            f"    {names[value].strip('_').upper() or 'EMPTY'} = {text_literal(value)}\n"
            for value in map(str, definition.values)
        ]
        return f"class {path.name}(StrEnum):\n{doc}\n{''.join(dict.fromkeys(lines))}"

    def _object(self, node: ApiNode | StorageNode, definition: ObjectType) -> str:
        path = self.classes.path(node)
        storage = isinstance(node, StorageNode)
        bases = ["StorageObject" if storage else "ApiObject", "kw_only=True"]
        if definition.tag is not None:
            bases.append(f"tag_field={text_literal(definition.tag)}")
            bases.append(f"tag={text_literal(self.tag(node, definition))}")
        names = self.names(node.version, definition)
        fields = self.fields(node, definition)
        docs = {names[each.name]: self._documented(node, each) for each in fields}
        doc = "" if storage else docstring(self._said(node, definition, docs), "    ", docs)
        lines = [
            self._field(node, each, names[each.name]) for each in self.fields(node, definition)
        ]
        body = "".join(self._envelope(node) + lines + self._tail(node, definition, names))
        parts = [part for part in (doc, body) if part] or ["    pass\n"]
        return call(f"class {path.name}", bases) + ":\n" + "\n".join(parts)

    def tag(self, node: ApiNode | StorageNode, definition: ObjectType) -> str:
        """The text that distinguishes a variant of a union from the others."""
        tag = definition.property(definition.tag or "")
        assert tag is not None
        assert isinstance(tag.type, Ref)
        constant = self.evolution.schema(node.version).definitions[tag.type.key]
        assert isinstance(constant, EnumType)
        return str(constant.values[0])

    def names(self, version: ApiVersion, definition: ObjectType) -> Mapping[str, str]:
        """The attributes of a type's properties; a root's are beside those that name the resource."""
        key = version, id(definition)
        found = self._names.get(key)
        if found is None:
            found = self._names[key] = self._find_names(version, definition)
        return found

    def _find_names(self, version: ApiVersion, definition: ObjectType) -> Mapping[str, str]:
        envelope = self._root_envelopes.get((version, id(definition)), ())
        kept = {name: attribute_name(name) for name in envelope}
        plain = [each.name for each in definition.properties if each.name not in kept]
        labels = [name for name in plain if label_of(name) is not None]
        own = attribute_names((name for name in plain if name not in labels), kept.values())
        return {**kept, **own, **attribute_names(labels, [*kept.values(), *own.values()])}

    @cached_property
    def _root_envelopes(self) -> dict[tuple[ApiVersion, int], tuple[str, ...]]:
        """What names the resource of each definition that is a root."""
        return {
            (version, id(self.evolution.schema(version).definitions[key])): self.envelope(
                ApiNode(version, key, root=True)
            )
            for version, key in self.resources
        } | {
            (version, id(each.root.definition(version))): self.envelope(
                StorageNode(each.root, version)
            )
            for each in self.evolution.resources
            for version in each.root.nodes
        }

    def _said(
        self, node: ApiNode | StorageNode, definition: ObjectType, docs: Mapping[str, str]
    ) -> str:
        """What an API type's schema says about it, and the warning of a deprecated version.

        Where it says nothing, that is the type's name, as far as the class or its attributes leave it to be said.
        """
        named = self.classes.path(node).name == definition.name and not any(docs.values())
        said = definition.doc or ("" if named else f"`{definition.name}` of the schema.")
        resource = self.resource(node)
        if resource is None or not resource.deprecated:
            return said
        return f"{said}\n\nDeprecated: {resource.deprecated}"

    def fields(self, node: ApiNode | StorageNode, definition: ObjectType) -> tuple[Property, ...]:
        """The properties that are fields: all but the tag and what names a resource."""
        hidden = {definition.tag, *self.envelope(node)}
        return tuple(each for each in definition.properties if each.name not in hidden)

    def envelope(self, node: ApiNode | StorageNode) -> tuple[str, ...]:
        """The properties of a root that name it; empty for any other type."""
        resource = self.resource(node)
        if resource is None:
            return ()
        if resource.name_property == "kind":
            return ("apiVersion", "kind", "metadata")
        return ("apiVersion", resource.name_property)

    def resource(self, node: ApiNode | StorageNode) -> Resource | None:
        """The resource that a node is the root of, if it is one."""
        if isinstance(node, StorageNode):
            if not node.lineage.is_root:
                return None
            return self.resources.get((node.version, node.lineage.nodes[node.version]))
        return self.resources.get((node.version, node.key)) if node.root else None

    def _envelope(self, node: ApiNode | StorageNode) -> list[str]:
        resource = self.resource(node)
        if resource is None:
            return []
        version = f"{resource.group}/{node.version}" if resource.group else node.version.text
        lines = [f"    api_version: str = {text_literal(version)}\n"]
        lines.append(f"    {resource.name_property}: str = {text_literal(resource.name)}\n")
        if resource.name_property == "kind":
            lines.append("    metadata: FreeForm | Absent = ABSENT\n")
        return lines

    def _field(self, node: ApiNode | StorageNode, each: Property, attribute: str) -> str:
        annotation = self.annotation(node, each.type, Place(node.version, each.name))
        options = [] if camel(attribute) == each.name else [f"name={text_literal(each.name)}"]
        if isinstance(node, StorageNode):
            nullable = node.lineage.nullable(Place(node.version, each.name))
            if nullable and not isinstance(each.type, Nullable):
                annotation += " | None"
        if isinstance(node, StorageNode) or not each.required:
            annotation += " | Absent"
            if not options:
                return f"    {attribute}: {annotation} = ABSENT\n"
            options.insert(0, "default=ABSENT")
        value = f" = msgspec.field({', '.join(options)})" if options else ""
        return f"    {attribute}: {annotation}{value}\n"

    def _tail(
        self, node: ApiNode | StorageNode, definition: ObjectType, names: Mapping[str, str]
    ) -> list[str]:
        lines = []
        unknown = own_name(definition, "UNKNOWN")
        if unknown != "UNKNOWN":
            lines.append(
                "    unknown: dict[str, FreeForm] | Absent = "
                f"msgspec.field(default=ABSENT, name={unknown})\n"
            )
        if definition.additional is not None:
            place = Place(node.version, ADDITIONAL)
            annotation = self.annotation(node, MapOf(definition.additional), place)
            lines.append(
                f"    additional_properties: {annotation} | Absent = "
                f"msgspec.field(default=ABSENT, name={own_name(definition, 'ADDITIONAL')})\n"
            )
        if isinstance(node, StorageNode):
            if self.resource(node) is not None:
                lines.append(
                    f"    written_with: str | Absent = {_own(definition, 'WRITTEN_WITH')}\n"
                )
            lines.append(f"    property_bag: PropertyBag | Absent = {_own(definition, 'BAG')}\n")
            lines.extend(_list_keys(node, names))
            lines.extend(_discriminators(node, names))
            lines.extend(_entries_within(node))
            lines.extend(_entries_within_entries(node))
            lines.extend(_entries_as_free_form(node))
            lines.extend(_outside(node))
            lines.extend(_entries_of_one_value(node))
        else:
            lines.extend(_defaults(self.fields(node, definition), names))
            lines.extend(_of_json("__required__", self.classes.required_values(node), names))
            lines.extend(_labels(self._owned_labels(node)))
        return lines

    def _owned_labels(self, node: ApiNode) -> tuple[Label, ...]:
        """The labels and annotations that stand for properties in documents of a root."""
        if not node.root:
            return ()
        names = (
            name
            for each in self.evolution.resources
            if each.root.nodes.get(node.version) == node.key
            for name in each.root.labels.get(node.version, ())
        )
        return tuple(label for label in map(label_of, names) if label is not None)

    def _documented(self, node: ApiNode | StorageNode, each: Property) -> str:
        """What a schema says about a property, with its enum and its validation keywords."""
        said = [each.doc.strip()]
        definitions = self.evolution.schema(node.version).definitions
        said.extend(
            f"Known values: `{self.classes.api(node.version, key).name}`."
            for key in self.evolution.definitions_in(each.type)
            if isinstance(definitions[key], EnumType)
        )
        limits = ", ".join(f"{name} {_shown(value)}" for name, value in each.constraints)
        said.append(f"Limits: {limits}." if limits else "")
        return " ".join(part for part in said if part)

    def annotation(self, node: ApiNode | StorageNode, type_: Type, place: Place) -> str:
        """A type as an annotation, as a node's class sees it."""
        match type_:
            case Scalar(kind):
                return _KINDS[kind]
            case FreeForm():
                return "FreeForm"
            case ListOf(items):
                return f"list[{self.annotation(node, items, place)}]"
            case MapOf(values):
                return f"dict[str, {self.annotation(node, values, place)}]"
            case Nullable(inner):
                return f"{self.annotation(node, inner, place)} | None"
            case Union(variants):
                parts = [self.annotation(node, each, place) for each in variants]
                return " | ".join(dict.fromkeys(parts))
            case Ref(key):
                return self._reference(node, key, place)

    def _reference(self, node: ApiNode | StorageNode, key: str, place: Place) -> str:
        target = self.evolution.schema(node.version).definitions[key]
        if isinstance(target, EnumType):
            return _KINDS[target.kind]
        if isinstance(node, ApiNode):
            return class_mark(self.classes.api(node.version, key))
        return class_mark(self.classes.storage(node.lineage.child(place, key), node.version))

    def annotation_at(self, lineage: Lineage, place: Place, type_: Type, *, storage: bool) -> str:
        """A type of a lineage's place as an annotation, in the API or the storage shape."""
        if storage:
            return self.annotation(StorageNode(lineage, place.version), type_, place)
        node = ApiNode(place.version, lineage.nodes[place.version])
        return self.annotation(node, type_, place)


def _own(definition: ObjectType, constant: str) -> str:
    """The field of a storage class for something that is no property, as source text."""
    name = own_name(definition, constant)
    return f"{name}_FIELD" if name == constant else f"msgspec.field(default=ABSENT, name={name})"


def own_name(definition: ObjectType, constant: str) -> str:
    """What a class calls something in documents that is no property, as source text.

    That is the runtime's constant; where properties are called like it, a text with more of `$` before it.
    """
    plain = getattr(runtime, constant).removeprefix("$")
    used = [each.name for each in definition.properties if each.name.endswith(plain)]
    taken = [len(name) - len(plain) for name in used if not name.removesuffix(plain).strip("$")]
    if not any(taken):
        return constant
    return text_literal("$" * (max(taken) + 1) + plain)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 - a line's worth


def _defaults(fields: tuple[Property, ...], names: Mapping[str, str]) -> list[str]:
    """What the schema declares for properties that are missing, as JSON; only lenient reading fills it in."""
    declared = {each.name: each.default for each in fields if each.default is not ABSENT}
    return _of_json("__defaults__", declared, names)


def _of_json(table: str, values: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    """A table of values as JSON, by attribute."""
    if not values:
        return []
    shown = ", ".join(
        f"{text_literal(names[name])}: {text_literal(json.dumps(value, ensure_ascii=False))}"
        for name, value in values.items()
    )
    return [f"\n    {table}: ClassVar[dict[str, str]] = {{{shown}}}\n"]


def _labels(labels: tuple[Label, ...]) -> list[str]:
    """The labels and annotations in the metadata of documents that hooks write, by field and key."""
    if not labels:
        return []
    shown = tuple_literal(tuple_literal(map(text_literal, each)) for each in labels)
    return [f"\n    __labels__: ClassVar[tuple[tuple[str, str], ...]] = {shown}\n"]


def _list_keys(node: StorageNode, names: Mapping[str, str]) -> list[str]:
    keyed = list_keys(node.lineage, node.version)
    if not keyed:
        return []
    shown = ", ".join(
        f"{text_literal(names[name])}: {tuple_literal(map(text_literal, keys))}"
        for name, keys in keyed.items()
    )
    return [f"\n    __list_keys__: ClassVar[dict[str, tuple[str, ...]]] = {{{shown}}}\n"]


def _discriminators(node: StorageNode, names: Mapping[str, str]) -> list[str]:
    found = discriminators(node.lineage, node.version)
    if not found:
        return []
    shown = tuple_literal(text_literal(names[name]) for name in found)
    return [f"\n    __discriminators__: ClassVar[tuple[str, ...]] = {shown}\n"]


def _entries_within(node: StorageNode) -> list[str]:
    held = entries_within(node.lineage, node.version)
    shown = (_table_row(path, _places(places)) for path, places in held.items())
    return _table("__entries_within__", "tuple[tuple[str, str], ...]", shown) if held else []


def _entries_within_entries(node: StorageNode) -> list[str]:
    held = entries_within_entries(node.lineage, node.version)
    shown = (
        _table_row((place.property, place.version.text), _places(places))
        for place, places in held.items()
    )
    name, type_ = "__entries_within_entries__", "tuple[tuple[str, str], ...]"
    return _table(name, type_, shown, "tuple[str, str]") if held else []


def _entries_as_free_form(node: StorageNode) -> list[str]:
    held = entries_as_free_form(node.lineage, node.version)
    shown = (_table_row(path, _places(places)) for path, places in held.items())
    return _table("__entries_as_free_form__", "tuple[tuple[str, str], ...]", shown) if held else []


def _outside(node: StorageNode) -> list[str]:
    found = outside(node.lineage, node.version)
    shown = (
        _table_row(path, tuple_literal(tuple_literal(map(text_literal, each)) for each in inner))
        for path, inner in found.items()
    )
    return _table("__outside__", "tuple[tuple[str, ...], ...]", shown) if found else []


def _entries_of_one_value(node: StorageNode) -> list[str]:
    values = entries_of_one_value(node.lineage, node.version)
    shown = (_table_row(path, tuple_literal(map(_places, threads))) for path, threads in values)
    type_ = "tuple[tuple[tuple[str, str], ...], ...]"
    return _table("__entries_of_one_value__", type_, shown) if values else []


def _table(name: str, type_: str, rows: Iterable[str], of: str = "tuple[str, ...]") -> list[str]:
    """A table of what belongs to the properties at some paths, or to some entries."""
    annotation = f"tuple[tuple[{of}, {type_}], ...]"
    line = f"\n    {name}: ClassVar[{annotation}] = ("
    if len(line) > WIDTH:
        line = f"\n    {name}: ClassVar[\n        {annotation}\n    ] = ("
    return [f"{line[:-1]}{tuple_literal(rows)}\n"]


def _table_row(path: Path, shown: str) -> str:
    return tuple_literal([tuple_literal(map(text_literal, path)), shown])


def _places(places: Iterable[Place]) -> str:
    return tuple_literal(
        tuple_literal([text_literal(each.property), text_literal(each.version.text)])
        for each in places
    )
