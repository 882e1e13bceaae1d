"""The immutable type model that all readers produce and all other rooms read.

A `Schema` is one API version: named definitions (objects and enums) and the resources whose roots they
are. Objects and enums are always definitions, never inline, so that recursion is a plain reference; one
that its schema leaves unnamed takes the name of its place.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from trundle.errors import Code, Finding, Place, TrundleError
from trundle.schema._kind_names import KindNames
from trundle.version import ApiVersion

ScalarKind: TypeAlias = Literal["boolean", "integer", "number", "string"]
Absent: TypeAlias = msgspec.UnsetType
ABSENT = msgspec.UNSET


class SchemaCode(Code):
    """What can be wrong with schemas."""

    INVALID = "invalid-schema"
    LEADS_OUT = "reference-leads-out"


class SchemaError(TrundleError):
    """A schema that cannot be read.

    Attributes:
        file: the file as the user named it.
        pointer: JSON pointer of the offending place, starting with `#`.
        reason: what was expected, what was found, and what to do.
        position: where the place is in its document, so that findings have the order of its lines.
    """

    position: tuple[int, ...] = ()

    def __init__(
        self,
        file: str,
        pointer: str,
        found: str,
        *,
        expected: str = "",
        advice: str = "",
        code: Code = SchemaCode.INVALID,
    ) -> None:
        finding = Finding(code, Place(file, path=pointer), expected, found, advice)
        self.file = file
        self.pointer = pointer
        self.reason = finding.message
        self.findings = (finding,)
        super().__init__(str(finding))

    @property
    def errors(self) -> tuple["SchemaError", ...]:
        """The errors that this one consists of, one for each place."""
        return (self,)


class Scalar(msgspec.Struct, frozen=True):
    """A boolean, integer, number or string; `format` is documentation, as in `date-time`."""

    kind: ScalarKind
    format: str | None = None


class FreeForm(msgspec.Struct, frozen=True):
    """Any JSON value, carried verbatim."""


class Ref(msgspec.Struct, frozen=True):
    """A reference to a definition of the same schema, by its key."""

    key: str


class ListOf(msgspec.Struct, frozen=True):
    """A list; `keys` are the properties that identify an element, where the schema declares them."""

    items: "Type"
    keys: tuple[str, ...] = ()


class MapOf(msgspec.Struct, frozen=True):
    """A map from text to values of one type; the order of its keys is kept."""

    values: "Type"


class Nullable(msgspec.Struct, frozen=True):
    """A type whose values may also be null; null is a value, absent is none."""

    inner: "Type"


class Union(msgspec.Struct, frozen=True):
    """One of several types; the variants stand in the order of the schema, without duplicates."""

    variants: tuple["Type", ...]


Type: TypeAlias = Scalar | FreeForm | Ref | ListOf | MapOf | Nullable | Union


class Property(msgspec.Struct, frozen=True):
    """A property of an object.

    Attributes:
        name: the name as documents write it; any text.
        type: the type of its values.
        required: whether an API object must have it.
        default: the schema's default as plain JSON, or `ABSENT`.
        doc: the schema's description, else empty.
        constraints: validation keywords and their values, in alphabetical order. They document the
            property; conversions do not enforce them, because what one version admits another must carry.
        about: what is said and constrains nothing: its `example`, and under `items` and `additionalProperties` the `description`
            and `example` of what it holds, as far as no definition says them.
    """

    name: str
    type: Type
    required: bool = False
    default: Any = ABSENT
    doc: str = ""
    constraints: tuple[tuple[str, Any], ...] = ()
    about: tuple[tuple[str, Any], ...] = ()


class ObjectType(msgspec.Struct, frozen=True):
    """An object with named properties.

    Attributes:
        name: the schema's own name for it, or the name of its place where `named` is false.
        named: whether the schema gives it a name.
        properties: in alphabetical order of their names.
        additional: the type of further properties, or None where there are none.
        doc: the schema's description, else empty.
        source: file and JSON pointer that it was read from; for messages.
        embedded: whether this is a whole resource inside another (its `apiVersion` is its own).
        tag: the property whose constant distinguishes this object from the other variants of its unions.
        constraints: validation keywords of the whole object and their values, in alphabetical order.
        example: the schema's example as plain JSON, or `ABSENT`.
    """

    name: str
    named: bool
    properties: tuple[Property, ...]
    additional: Type | None = None
    doc: str = ""
    source: str = ""
    embedded: bool = False
    tag: str | None = None
    constraints: tuple[tuple[str, Any], ...] = ()
    example: Any = ABSENT

    def property(self, name: str) -> Property | None:
        """The property of this name, if there is one."""
        return next((each for each in self.properties if each.name == name), None)


class EnumType(msgspec.Struct, frozen=True):
    """A fixed set of scalar values of one kind; a constant is an enum of one.

    Attributes:
        name: the schema's own name for it, or the name of its place where `named` is false.
        named: whether the schema gives it a name.
        kind: the kind of the values.
        values: in the order of the schema, without duplicates.
        doc: the schema's description, else empty.
        source: file and JSON pointer that it was read from; for messages.
        example: the schema's example as plain JSON, or `ABSENT`.
    """

    name: str
    named: bool
    kind: ScalarKind
    values: tuple[Any, ...]
    doc: str = ""
    source: str = ""
    example: Any = ABSENT


class Scaling(msgspec.Struct, frozen=True):
    """What the subresource `scale` of a resource type reads and writes, as paths such as `.spec.replicas`.

    Attributes:
        wanted: how many replicas there are to be.
        there: how many there are.
        selector: the label selector of what is counted, as a text; empty where there is none.
    """

    wanted: str
    there: str
    selector: str = ""


class Resource(msgspec.Struct, frozen=True):
    """A kind of object that a store keeps.

    Attributes:
        name: as documents write it: `Person`, `Microsoft.ServiceFabric/clusters`. Resources are the same
            without regard to letter case.
        root: key of the definition of its root object.
        scope: where it may live (`Namespaced`, `Cluster`, `resourceGroup`, ...); an attribute only.
        group: the API group that precedes the version in `apiVersion`, as Kubernetes writes it; else empty.
        name_property: the property by which a document names its resource: `kind`, or Azure's `type`.
        served: whether clients are meant to use this version of it.
        deprecated: the warning for clients that use this version of it; empty where it is not deprecated.
        hub: whether stored objects have the shape of this version, as a CRD or the configuration says; where no
            version says so, the newest GA version is the hub.
        kept: whether an earlier release may have stored objects in the shape of this version.
        status_apart: whether its `status` is written apart, as a subresource; None where its format does not say so, and it
            is wherever it has such a property.
        scaling: what its subresource `scale` reads and writes; None where it has none. What is counted cannot be negative.
        selectable: the paths of what clients may select objects by, such as `.spec.color`.
        names: what clients of Kubernetes' conventions call it at this version, where its format says so.
    """

    name: str
    root: str
    scope: str = ""
    group: str = ""
    name_property: str = "kind"
    served: bool = True
    deprecated: str = ""
    hub: bool = False
    kept: bool = False
    status_apart: bool | None = None
    scaling: Scaling | None = None
    selectable: tuple[str, ...] = ()
    names: KindNames = KindNames()


def group_of(name: str, group: str) -> str:
    """The group of resources that a resource belongs to.

    Args:
        name: its name, as documents write it.
        group: its API group, which may be empty.

    Returns:
        The API group; else the namespace of the name, as `Microsoft.Batch` of `Microsoft.Batch/batchAccounts`;
        else nothing.
    """
    namespace, slash, _ = name.partition("/")
    return group or (namespace if slash else "")


class SchemaNote(msgspec.Struct, frozen=True):
    """Something about a schema that its author should know.

    Attributes:
        where: file and JSON pointer.
        what: what was found there, and what becomes of it.
    """

    where: str
    what: str


class Schema(msgspec.Struct, frozen=True):
    """One API version of a set of resources.

    Attributes:
        version: which API version this is.
        definitions: every definition that a resource reaches, by key. A key is the definition's name, with
            a suffix where several definitions of one version share a name.
        resources: in alphabetical order of their names.
        sources: the files this was read from.
        notes: what was left out when it was read.
    """

    version: ApiVersion
    definitions: Mapping[str, ObjectType | EnumType]
    resources: tuple[Resource, ...]
    sources: tuple[str, ...] = ()
    notes: tuple[SchemaNote, ...] = ()

    def object(self, key: str) -> ObjectType:
        """The object definition of this key."""
        found = self.definitions[key]
        assert isinstance(found, ObjectType)
        return found
