"""What clients of Kubernetes' conventions call a resource type, as its CRD or the project says it."""

from typing import Literal

import msgspec

NAME_PATTERN = r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?"
"""What clients may call a resource type, in URLs and on the command line."""

LIST_KIND_PATTERN = r"[A-Za-z]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?"
"""What lists of objects may have as their kind."""

COLUMN_TYPES = ("string", "integer", "number", "boolean", "date")


class PrinterColumn(msgspec.Struct, frozen=True):
    """A column of the tables that kubectl prints.

    Attributes:
        name: its heading.
        path: the value in an object, in Kubernetes' JSONPath: `.status.phase`.
        type: the type of the value: `string`, `integer`, `number`, `boolean` or `date`.
        description: what the value is.
        priority: 0 for columns that are always shown, more for those of `-o wide`.
        format: the format of the value, such as `int32`; empty where none is said.
    """

    name: str
    path: str
    type: str = "string"
    description: str = ""
    priority: int = 0
    format: str = ""


class KindNames(msgspec.Struct, frozen=True, kw_only=True):
    """What clients call a resource type; empty is not said.

    Attributes:
        kind: its name in documents.
        list_kind: what lists of its objects have as their kind.
        plural: its name in URLs.
        singular: its name for one object.
        short_names: further names for kubectl.
        categories: the groups of resource types it is listed under.
        scope: whether its objects are in namespaces.
        columns: what tables show after the name.
    """

    kind: str = ""
    list_kind: str = ""
    plural: str = ""
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    scope: Literal["", "Namespaced", "Cluster"] = ""
    columns: tuple[PrinterColumn, ...] = ()
