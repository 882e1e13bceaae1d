"""The form of a document: what its schema and the document itself say, value by value.

A form shows all of a document: what the schema does not know, or what has another type than it should have, is shown as YAML. So a form needs nothing but the document that it is made from, and changes it place by place.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import msgspec

from trundle.dashboard._fields import Choice, Control, Field, Group, Part
from trundle.dashboard._nodes import Path, at, json_node, text_node, yaml_of
from trundle.documents import ListNode, MapNode, Node, ScalarNode
from trundle.report import spell
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
    Scalar,
    Schema,
    Type,
    Union,
)

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
"""A number as JSON has it."""
_UNSHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
"""What browsers change in a text, or do not show."""
_NULL = ScalarNode("null", "null")
_NOTHING = MapNode(())
_METADATA = "metadata"
_HEAD = frozenset({"apiVersion", "kind"})
_TEXTS = MapOf(Scalar("string"))


class _Tagged(NamedTuple):
    """The variants of a union that a property distinguishes.

    Attributes:
        name: the property.
        keys: the definition of each variant, by the text that the property has in it.
    """

    name: str
    keys: Mapping[str, str]


class _Slot(NamedTuple):
    """A place in a document, with what its owner says of it."""

    path: Path
    label: str
    required: bool = False
    doc: str = ""
    limits: tuple[tuple[str, Any], ...] = ()
    default: Any = ABSENT
    is_element: bool = False
    key: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentForm:
    """Makes forms of the documents of a resource type at one version.

    Args:
        schema: the version.
        root: the definition of the resource type in it.
        names: the metadata that a user may write beside labels and annotations: `name` and `namespace` of a new object.
        kept: members of the document that the form does not show.
    """

    schema: Schema
    root: str
    names: tuple[str, ...] = ()
    kept: frozenset[str] = frozenset()

    def of(self, document: Node) -> Group:
        """The form of a document."""
        metadata = self._metadata(at(document, (_METADATA,)))
        definition = self.schema.object(self.root)
        hidden = _HEAD | {_METADATA} | self.kept
        own = tuple(self._members(definition, document, (), hidden))
        around = (metadata,) if metadata else ()
        members = (*around, *own) if self.names else (*own, *around)
        further = self._item(definition.additional)
        return Group((), "Document", members, item=further, is_keyed=further is not None)

    def _metadata(self, node: Node | None) -> Group | None:
        """Name and labels; whatever else is in the metadata stays as it is."""
        if node is not None and not isinstance(node, MapNode):
            return None
        named = tuple(Property(each, Scalar("string"), required=True) for each in self.names)
        texts = (Property("labels", _TEXTS), Property("annotations", _TEXTS))
        members = tuple(self._property(each, node, (_METADATA,)) for each in (*named, *texts))
        return Group((_METADATA,), _METADATA, members)

    # Objects

    def _members(
        self, definition: ObjectType, node: Node | None, path: Path, hidden: frozenset[str]
    ) -> Iterator[Part]:
        """The properties of an object, those first that it has to have, and what else is in it."""
        for each in sorted(definition.properties, key=lambda x: not x.required):
            if each.name not in hidden:
                yield self._property(each, node, path)
        known = hidden | {each.name for each in definition.properties}
        further = FreeForm() if definition.additional is None else definition.additional
        for key, value in node.entries if isinstance(node, MapNode) else ():
            if key.text not in known:
                yield self._shown(_entry(path, key.text), further, value)

    def _property(self, of: Property, node: Node | None, path: Path) -> Part:
        place = (*path, of.name)
        slot = _Slot(place, of.name, of.required, of.doc, of.constraints, of.default)
        return self._shown(slot, of.type, None if node is None else at(node, (of.name,)))

    def _object(self, slot: _Slot, type_: Ref, definition: ObjectType, node: Node | None) -> Group:
        # A required object that is missing is shown at once, unless it leads to itself for ever.
        shows = node is not None or (slot.required and not self._recurs(type_.key))
        members = self._members(definition, node, slot.path, frozenset()) if shows else ()
        further = self._item(definition.additional)
        return self._group(
            slot, type_, tuple(members), node, item=further, is_keyed=further is not None
        )

    def _recurs(self, key: str) -> bool:
        """Whether a definition requires, directly or not, an object of its own type."""
        seen: set[str] = set()
        waiting = [key]
        while waiting:
            definition = self.schema.definitions[waiting.pop()]
            for each in definition.properties if isinstance(definition, ObjectType) else ():
                if each.required and isinstance(each.type, Ref):
                    if each.type.key == key:
                        return True
                    if each.type.key not in seen:
                        seen.add(each.type.key)
                        waiting.append(each.type.key)
        return False

    # Values

    def _shown(self, slot: _Slot, type_: Type, node: Node | None) -> Part:
        """A value as its type wants it shown; as YAML where it does not fit that."""
        match type_:
            case Nullable(inner) if not _is_null(node) and not self._values(inner):
                return self._shown(slot, inner, node)
            case Ref() | Scalar() | Nullable() if values := self._values(type_):
                return self._choice(slot, type_, values, node)
            case Ref(key) if node is None or isinstance(node, MapNode):
                return self._object(slot, type_, self.schema.object(key), node)
            case Scalar("string") if _is_text(node):
                return self._text(slot, type_, node)
            case Scalar("integer" | "number") if _is_number(node):
                return self._field(slot, type_, "number", _spelling(node))
            case ListOf(items) if node is None or isinstance(node, ListNode):
                return self._list(slot, type_, items, node)
            case MapOf(values) if node is None or isinstance(node, MapNode):
                return self._map(slot, type_, values, node)
            case Union(variants) if (tagged := self._tagged(variants)) and (
                node is None or isinstance(node, MapNode)
            ):
                return self._union(slot, type_, tagged, node)
        return self._field(slot, type_, "yaml", "" if node is None else _yaml(node))

    def _text(self, slot: _Slot, type_: Type, node: Node | None) -> Field:
        text = node.text if isinstance(node, ScalarNode) else ""
        return self._field(slot, type_, "lines" if "\n" in text else "text", text)

    def _values(self, type_: Type) -> tuple[str, ...]:
        """All values of a type, as JSON, where these can be listed."""
        match type_:
            case Nullable(inner) if found := self._values(inner):
                return (*found, "null")
            case Scalar("boolean"):
                return ("true", "false")
            case Ref(key):
                definition = self.schema.definitions[key]
                if isinstance(definition, EnumType):
                    return tuple(map(_json, definition.values))
        return ()

    def _choice(self, slot: _Slot, type_: Type, known: Sequence[str], node: Node | None) -> Field:
        if not (node is None or isinstance(node, ScalarNode)):
            return self._field(slot, type_, "yaml", _yaml(node))
        now = node.json if node is not None else ""
        choices = [Choice(each, _label(each)) for each in known]
        if not now or not (slot.is_element or slot.required):
            absent = "not set" if slot.default is ABSENT else f"not set ({_json(slot.default)})"
            choices.insert(0, Choice("", absent))
        if now and now not in known:  # Letter case does not matter.
            fits = now.casefold() in map(str.casefold, known)
            choices.append(Choice(now, _label(now) + ("" if fits else " (not one of the values)")))
        return replace(self._field(slot, type_, "choice", now), choices=tuple(choices))

    def _list(self, slot: _Slot, type_: Type, items: Type, node: Node | None) -> Group:
        elements = node.items if isinstance(node, ListNode) else ()
        members = tuple(
            self._shown(
                _Slot((*slot.path, number), f"{slot.label}[{number}]", is_element=True), items, each
            )
            for number, each in enumerate(elements)
        )
        item = self._initial(items)
        initial = ListNode((item,))
        return self._group(slot, type_, members, node, item=item, initial=initial)

    def _map(self, slot: _Slot, type_: Type, values: Type, node: Node | None) -> Group:
        entries = node.entries if isinstance(node, MapNode) else ()
        members = tuple(
            self._shown(_entry(slot.path, key.text), values, each) for key, each in entries
        )
        item = self._initial(values)
        group = self._group(slot, type_, members, node, item=item, is_keyed=True)
        return replace(group, initial=None)

    # Unions

    def _tagged(self, variants: tuple[Type, ...]) -> _Tagged | None:
        """The variants of a union, where all are objects that one property distinguishes."""
        keys = [each.key for each in variants if isinstance(each, Ref)]
        found = [self.schema.definitions[each] for each in keys]
        definitions = [each for each in found if isinstance(each, ObjectType)]
        if len(definitions) != len(variants):
            return None
        for declared in definitions[0].properties:
            texts = [self._constant(each.property(declared.name)) for each in definitions]
            known = [each for each in texts if each]
            if len({*known}) == len(variants):
                return _Tagged(declared.name, dict(zip(known, keys, strict=True)))
        return None

    def _constant(self, declared: Property | None) -> str | None:
        """The only text that a property admits."""
        target = (
            self.schema.definitions[declared.type.key]
            if declared is not None and isinstance(declared.type, Ref)
            else None
        )
        if isinstance(target, EnumType) and target.kind == "string" and len(target.values) == 1:
            return str(target.values[0]) or None
        return None

    def _union(self, slot: _Slot, type_: Type, tagged: _Tagged, node: Node | None) -> Group:
        """An object that says by one property what else is in it."""
        now = None if node is None else at(node, (tagged.name,))
        said = now.text if isinstance(now, ScalarNode) and now.is_text else ""
        key = tagged.keys.get(said)
        variant = self.schema.object(key) if key else ObjectType("", named=False, properties=())
        members: list[Part] = []
        if node is not None or slot.required:
            tag = _Slot((*slot.path, tagged.name), tagged.name, required=True)
            texts = tuple(_json(each) for each in tagged.keys)
            members.append(replace(self._choice(tag, Scalar("string"), texts, now), decides=True))
        members += self._members(variant, node, slot.path, frozenset({tagged.name}))
        item = self._item(variant.additional)
        is_keyed = item is not None
        return self._group(slot, type_, tuple(members), node, item=item, is_keyed=is_keyed)

    # What is shown of all of them

    def _field(self, slot: _Slot, type_: Type, control: Control, value: str) -> Field:
        return Field(
            slot.path,
            slot.label,
            control,
            value,
            required=slot.required,
            doc=slot.doc,
            note=self._note(slot, type_),
            placeholder="" if slot.default is ABSENT else _label(_json(slot.default)),
            is_element=slot.is_element,
            key=slot.key,
        )

    def _group(
        self,
        slot: _Slot,
        type_: Type,
        members: tuple[Part, ...],
        node: Node | None,
        *,
        item: Node | None,
        initial: Node | None = None,
        is_keyed: bool = False,
    ) -> Group:
        return Group(
            slot.path,
            slot.label,
            members,
            is_there=node is not None,
            required=slot.required,
            doc=slot.doc,
            note=", ".join(_limits(slot)),
            initial=self._initial(type_) if initial is None else initial,
            item=item,
            is_keyed=is_keyed,
            is_element=slot.is_element,
            key=slot.key,
        )

    def _note(self, slot: _Slot, type_: Type) -> str:
        return ", ".join((spell(type_, self.schema), *_limits(slot)))

    def _item(self, type_: Type | None) -> Node | None:
        return None if type_ is None else self._initial(type_)

    def _initial(self, type_: Type) -> Node:
        """The value that something new has until a user gives it another one."""
        match type_:
            case Nullable(inner):
                return self._initial(inner)
            case Ref(key):
                definition = self.schema.definitions[key]
                if isinstance(definition, EnumType):
                    return json_node(_json(definition.values[0]))
                entries = ((each.name, self._constant(each)) for each in definition.properties)
                return MapNode(
                    tuple((text_node(name), text_node(text)) for name, text in entries if text)
                )
            case Scalar("boolean"):
                return ScalarNode("false", "false")
            case Scalar():
                return text_node("")
            case ListOf():
                return ListNode(())
            case MapOf():
                return _NOTHING
            case Union(variants):
                return _NOTHING if self._tagged(variants) else _NULL
            case FreeForm():
                return _NULL


def _entry(path: Path, key: str) -> _Slot:
    """An entry of a map; its key can be changed where browsers give it back as it is."""
    is_shown = not (_UNSHOWN.search(key) or "\n" in key)
    return _Slot((*path, key), key, is_element=True, key=key if is_shown else None)


def _limits(slot: _Slot) -> Iterator[str]:
    return (f"{name} {_json(value)}" for name, value in slot.limits)


def _is_null(node: Node | None) -> bool:
    return isinstance(node, ScalarNode) and node.json == "null"


def _is_text(node: Node | None) -> bool:
    if node is None:
        return True
    return isinstance(node, ScalarNode) and node.is_text and not _UNSHOWN.search(node.text)


def _is_number(node: Node | None) -> bool:
    """Whether a value is a number, or what a user wrote in place of one."""
    if node is None:
        return True
    if not isinstance(node, ScalarNode):
        return False
    if node.is_text:
        text = node.text
        return (
            text == text.strip() and not (NUMBER.fullmatch(text) or "\n" in text) and _is_text(node)
        )
    return NUMBER.fullmatch(node.json) is not None


def _spelling(node: Node | None) -> str:
    if not isinstance(node, ScalarNode):
        return ""
    return node.text if node.is_text else node.json


def _label(json: str) -> str:
    """A value as people see it."""
    value = msgspec.json.decode(json)
    return value if isinstance(value, str) and value.strip() else json


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _yaml(node: Node) -> str:
    return yaml_of(node).removesuffix("\n")
