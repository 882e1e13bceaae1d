"""Classes as the resources of documents: each document names its class by a property, which the class then cannot have."""

from collections.abc import Iterator

import msgspec

from trundle.engine import referred_class
from trundle.errors import Finding
from trundle.evolution import Evolution, HookDeclaration, split_path
from trundle.project.findings import ProjectCode, finding
from trundle.schema import EnumType, ObjectType, Schema

_ADVICE = "classes have `kind` or `metadata` as well, so `type` names the class: call one of them otherwise, or test it with `package test`"


class ClassDocuments:
    """The documents of classes.

    A document names its class as `kind`, beside which `metadata` is the cluster's; where a class has either itself, documents name classes as `type`.

    Args:
        evolution: the classes through their versions.
    """

    def __init__(self, evolution: Evolution) -> None:
        self._evolution = evolution
        self._roots = [
            schema.object(each.root) for schema in evolution.schemas for each in schema.resources
        ]
        names = {prop.name for root in self._roots for prop in root.properties}
        self._naming = "type" if names & {"kind", "metadata"} else "kind"

    def schemas(self) -> tuple[Schema, ...]:
        """The schemas of documents, without a property that names the class."""
        return tuple(self._schema(each) for each in self._evolution.schemas)

    def hooks(self) -> tuple[HookDeclaration, ...]:
        """The hooks that documents have all properties for: one that is left out is so on both ways."""
        kept = (
            msgspec.structs.replace(each, assign={}) if self._is_left_out(each) else each
            for each in self._evolution.hooks
        )
        return tuple(each for each in kept if each.assign or each.converters)

    def left_out(self) -> Iterator[Finding]:
        """What documents cannot have, and the hooks that need it: notes."""
        naming = {x.name: x for x in self._roots if x.property(self._naming) is not None}
        for root in naming.values():
            found = f"`{self._naming}` of {root.name}, which is not verified"
            yield self._note(ProjectCode.UNUSED, root.source, found)
        for hook in self._evolution.hooks:
            if self._is_left_out(hook):
                called = " and ".join(map(hook.method, sorted(hook.assign, reverse=True)))
                found = f"`{self._naming}` in the hook {called}, which is not verified"
                yield self._note(ProjectCode.HOOK, hook.reference.where, found)

    def _is_left_out(self, hook: HookDeclaration) -> bool:
        names = (name for each in hook.assign.values() for name in (*each.reads, *each.writes))
        is_of_class = any(each.name == hook.reference.type for each in self._roots)
        return is_of_class and any(split_path(each)[0] == self._naming for each in names)

    def _schema(self, schema: Schema) -> Schema:
        definitions = {key: _as_loaded(each) for key, each in schema.definitions.items()}
        for each in schema.resources:
            root = schema.object(each.root)
            kept = tuple(prop for prop in root.properties if prop.name != self._naming)
            definitions[each.root] = msgspec.structs.replace(root, properties=kept)
        resources = tuple(
            msgspec.structs.replace(each, name_property=self._naming) for each in schema.resources
        )
        return msgspec.structs.replace(schema, definitions=definitions, resources=resources)

    @staticmethod
    def _note(code: ProjectCode, where: str, found: str) -> Finding:
        return finding(code, where, found, _ADVICE, severity="note")


def _as_loaded(definition: ObjectType | EnumType) -> ObjectType | EnumType:
    """A definition as documents have it: a reference always has an id, as models see to it."""
    if isinstance(definition, EnumType) or referred_class(definition) is None:
        return definition
    properties = tuple(msgspec.structs.replace(x, required=True) for x in definition.properties)
    return msgspec.structs.replace(definition, properties=properties)
