"""The classes of a package made at run time, without source: the same ones that `_types.py` renders."""

import ast
import json
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from trundle import runtime
from trundle.codegen._classes import ApiNode, ClassPath, StorageNode
from trundle.codegen._naming import attribute_name
from trundle.codegen._types import TypeRenderer, own_name
from trundle.evolution import (
    ADDITIONAL,
    Lineage,
    Place,
    discriminators,
    entries_as_free_form,
    entries_of_one_value,
    entries_within,
    entries_within_entries,
    list_keys,
    outside,
)
from trundle.runtime import ABSENT, Absent, ApiObject, FreeForm, PropertyBag, StorageObject
from trundle.schema import (
    EnumType,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Ref,
    Scalar,
    Type,
    Union,
)
from trundle.schema import FreeForm as FreeFormType

KINDS: dict[str, Any] = {"boolean": bool, "integer": int, "number": int | float, "string": str}
"""What values of a kind are read as."""


class LiveClasses:
    """Makes the classes of plans, all at once.

    Args:
        renderer: knows which classes there are, and the names of their attributes.
    """

    def __init__(self, renderer: TypeRenderer) -> None:
        self.renderer = renderer
        self._made: dict[ClassPath, Any] = {}
        self._mentions: dict[ClassPath, set[str]] = {}
        self.required: dict[Any, dict[str, Any]] = {}
        """By class: what an object lacks that is made without its required attributes."""
        for nodes in renderer.classes.modules.values():
            for node in nodes:
                definition = renderer.definition(node)
                if isinstance(definition, ObjectType):
                    path = renderer.classes.path(node)
                    self._made[path] = self._class(path, node, definition)
        named = {_alias(path): made for path, made in self._made.items()}
        for made in self._made.values():
            for alias in named.keys() & _mentioned(made.__annotations__.values()):
                setattr(
                    made, alias, named[alias]
                )  # where msgspec looks for what an annotation names

    def __getitem__(self, path: ClassPath) -> Any:
        return self._made[path]

    def at(self, lineage: Lineage, place: Place, type_: Type, *, storage: bool) -> Any:
        """A type of a lineage's place, in the API or the storage shape, as values are read."""
        version = place.version
        node = (
            StorageNode(lineage, version) if storage else ApiNode(version, lineage.nodes[version])
        )
        return self._type(node, type_, place, self._made.__getitem__)

    def _class(self, path: ClassPath, node: ApiNode | StorageNode, definition: ObjectType) -> Any:
        stored = isinstance(node, StorageNode)
        names = self.renderer.names(node.version, definition)
        fields: list[tuple[str, Any, Any]] = list(self._envelope(node))
        lacking: dict[str, Any] = {}
        for each in self.renderer.fields(node, definition):
            attribute, place = names[each.name], Place(node.version, each.name)
            found = self._type(node, each.type, place, _forward)
            if _takes_null(node, place) and not isinstance(each.type, Nullable):
                found = typing.Optional[found]  # noqa: UP045 - `|` takes no forward references
            if stored or not each.required:
                field = msgspec.field(default=ABSENT, name=each.name)
                fields.append((attribute, typing.Union[found, Absent], field))  # noqa: UP007
            else:
                fields.append((attribute, found, msgspec.field(name=each.name)))
                lacking[attribute] = ABSENT
        fields += self._tail(node, definition)
        tag = {} if definition.tag is None else self._tag(node, definition)
        made = msgspec.defstruct(
            path.name,
            fields,
            bases=(StorageObject if stored else ApiObject,),
            module=f"{__name__}.{path.module}",
            namespace=_tables(node, names)
            if isinstance(node, StorageNode)
            else self._required(node, names),
            kw_only=True,
            **tag,
        )
        self.required[made] = lacking
        self._mentions[path] = _mentioned(type_ for _, type_, _ in fields)
        return made

    def _required(self, node: ApiNode, names: Mapping[str, str]) -> dict[str, Any]:
        """What an API class has in tables."""
        shown = self.renderer.classes.required_values(node)
        return {"__required__": {names[name]: json.dumps(each) for name, each in shown.items()}}

    def _tag(self, node: ApiNode | StorageNode, definition: ObjectType) -> dict[str, Any]:
        return {"tag_field": definition.tag, "tag": self.renderer.tag(node, definition)}

    def _envelope(self, node: ApiNode | StorageNode) -> Iterable[tuple[str, Any, Any]]:
        resource = self.renderer.resource(node)
        if resource is None:
            return
        version = f"{resource.group}/{node.version}" if resource.group else node.version.text
        name = resource.name_property
        yield "api_version", str, msgspec.field(default=version, name="apiVersion")
        yield attribute_name(name), str, msgspec.field(default=resource.name, name=name)
        if name == "kind":
            yield "metadata", typing.Union[FreeForm, Absent], ABSENT  # noqa: UP007

    def _tail(
        self, node: ApiNode | StorageNode, definition: ObjectType
    ) -> Iterable[tuple[str, Any, Any]]:
        def own(constant: str) -> Any:
            return msgspec.field(default=ABSENT, name=_own_text(definition, constant))

        yield "unknown", typing.Union[dict[str, FreeForm], Absent], own("UNKNOWN")  # noqa: UP007
        if definition.additional is not None:
            place = Place(node.version, ADDITIONAL)
            found = self._type(node, MapOf(definition.additional), place, _forward)
            yield "additional_properties", typing.Union[found, Absent], own("ADDITIONAL")  # noqa: UP007
        if isinstance(node, StorageNode):
            if self.renderer.resource(node) is not None:
                yield "written_with", typing.Union[str, Absent], own("WRITTEN_WITH")  # noqa: UP007
            yield "property_bag", typing.Union[PropertyBag, Absent], own("BAG")  # noqa: UP007

    def _type(
        self,
        node: ApiNode | StorageNode,
        type_: Type,
        place: Place,
        reference: Callable[[ClassPath], Any],
    ) -> Any:
        def inner(each: Type) -> Any:
            return self._type(node, each, place, reference)

        match type_:
            case Scalar(kind):
                return KINDS[kind]
            case FreeFormType():
                return FreeForm
            case ListOf(items):
                return types.GenericAlias(list, (inner(items),))
            case MapOf(values):
                return types.GenericAlias(dict, (str, inner(values)))
            case Nullable(each):
                return typing.Optional[inner(each)]  # noqa: UP045
            case Union(variants):
                return typing.Union[tuple(map(inner, variants))]  # noqa: UP007
            case Ref(key):
                target = self.renderer.evolution.schema(node.version).definitions[key]
                if isinstance(target, EnumType):
                    return KINDS[target.kind]
                classes = self.renderer.classes
                if isinstance(node, ApiNode):
                    return reference(classes.api(node.version, key))
                return reference(classes.storage(node.lineage.child(place, key), node.version))


def _takes_null(node: ApiNode | StorageNode, place: Place) -> bool:
    return isinstance(node, StorageNode) and node.lineage.nullable(place)


def _alias(path: ClassPath) -> str:
    return f"_of_{path.module.replace('.', '_')}_{path.name}"


def _forward(path: ClassPath) -> Any:
    return typing.ForwardRef(_alias(path))


def _mentioned(annotations: Iterable[Any]) -> set[str]:
    """The names of the classes that annotations mention."""
    found, waiting = set(), list(annotations)
    for each in waiting:
        if isinstance(each, typing.ForwardRef):
            found.add(each.__forward_arg__)
        waiting.extend(typing.get_args(each))
    return found


def _own_text(definition: ObjectType, constant: str) -> str:
    """What documents call something in an object that is no property."""
    found = own_name(definition, constant)
    return str(getattr(runtime, constant) if found == constant else ast.literal_eval(found))


def _tables(node: StorageNode, names: Any) -> dict[str, Any]:
    """What a storage class knows of its properties beyond their types."""

    def plain(places: Iterable[Place]) -> tuple[tuple[str, str], ...]:
        return tuple((each.property, each.version.text) for each in places)

    lineage, version = node.lineage, node.version
    within = entries_within(lineage, version)
    free = entries_as_free_form(lineage, version)
    alike = entries_of_one_value(lineage, version)
    return {
        "__list_keys__": {names[name]: keys for name, keys in list_keys(lineage, version).items()},
        "__discriminators__": tuple(names[name] for name in discriminators(lineage, version)),
        "__entries_within__": tuple((path, plain(places)) for path, places in within.items()),
        "__entries_within_entries__": tuple(
            (*plain((place,)), plain(places))
            for place, places in entries_within_entries(lineage, version).items()
        ),
        "__entries_as_free_form__": tuple((path, plain(places)) for path, places in free.items()),
        "__outside__": tuple(outside(lineage, version).items()),
        "__entries_of_one_value__": tuple((path, tuple(map(plain, each))) for path, each in alike),
    }
