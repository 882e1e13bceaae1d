"""Configured changes: what an author says about a pair of neighbours that the schemas cannot say.

A change is written on the older neighbour and carries its own inverse. Names are the schemas' own names.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from trundle.version import ApiVersion


class HookReference(msgspec.Struct, frozen=True):
    """Where the hand-written hooks of one type between two neighbours are found.

    Attributes:
        type: the type's name on the older side.
        older: the older neighbour.
        newer: the newer neighbour.
        use: the class that holds the hooks: in Python as `package.module:Class`, of the package that carries the schemas as `a.b.Class`.
        where: file and line of the reference, for messages.
        relative: whether the generated package imports it relatively, so that both can move together.
        writes: what static methods of a class of the package write, by method; in Python the methods say that themselves.
    """

    type: str
    older: ApiVersion
    newer: ApiVersion
    use: str
    where: str = ""
    relative: bool = False
    writes: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def is_static(self) -> bool:
        """Whether the hooks are static methods of a class of the package that carries the schemas."""
        return ":" not in self.use


class HookMethod(msgspec.Struct, frozen=True):
    """What one method of a hook declares, in the schemas' property names."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


class HookDeclaration(msgspec.Struct, frozen=True):
    """A hook class as it was found.

    Attributes:
        reference: where the configuration names it.
        assign: the methods `assign_to` and `assign_from`, where they are there.
        converters: names of its `convert_..._to_...` methods.
        called: the methods that are called otherwise than after what they are for, in full.
    """

    reference: HookReference
    assign: Mapping[str, HookMethod] = {}
    converters: tuple[str, ...] = ()
    called: Mapping[str, str] = {}

    def method(self, name: str) -> str:
        """What the method for something is called."""
        return self.called.get(name, name)


def spoken_hook(use: str, method: str) -> str:
    """What messages call a method of a hook."""
    return method if "." in method else f"{use}.{method}"


class NamedConversion(msgspec.Struct, frozen=True, kw_only=True):
    """A named conversion with what it has to know.

    Attributes:
        name: one of `SCALAR_CONVERSIONS` or `KEYED_CONVERSIONS`.
        version: the version that a group gets where nothing else says it, for `api-version-to-group`.
        key: the property of a list's elements that has the key of a map, for `map-to-list`.
        value: the property that has the value of a map; where it is empty, the element itself is the value.
    """

    name: str
    version: str = ""
    key: str = ""
    value: str = ""


class TypeChanges(msgspec.Struct, frozen=True, kw_only=True):
    """The configured changes of one type, from one version to its newer neighbour.

    Every property is named as the older side names it, except where a value is the newer side's name. A property
    of a nested object is named by its path, see `split_path`.

    Attributes:
        version: the older neighbour.
        type: the type's name on the older side.
        rename: newer property name by older property name.
        rename_type: the type's name on the newer side, where it differs.
        values: newer value by older value, by property; for enums and text.
        wrap: a single value becomes a list of one; newer property name by older property name.
        unwrap: a list becomes a single value; newer property name by older property name.
        move: newer path by older path, both seen from this type.
        convert: the named conversion, by property; plain text is the name of one that needs nothing else.
        variant: the variant of the newer union that an object becomes, by property.
        default: the value an API object shows where a required property is absent; by property, of
            this version itself.
        keep: properties whose two sides stay apart on purpose, although they share a name.
        where: file and line by `rule` or `rule.property`, for messages.
    """

    version: ApiVersion
    type: str
    rename: Mapping[str, str] = {}
    rename_type: str | None = None
    values: Mapping[str, Mapping[str, str]] = {}
    wrap: Mapping[str, str] = {}
    unwrap: Mapping[str, str] = {}
    move: Mapping[str, str] = {}
    convert: Mapping[str, str | NamedConversion] = {}
    variant: Mapping[str, str] = {}
    default: Mapping[str, Any] = {}
    keep: tuple[str, ...] = ()
    where: Mapping[str, str] = {}

    def conversion(self, name: str) -> NamedConversion | None:
        """The named conversion of a property, if it has one."""
        found = self.convert.get(name)
        return NamedConversion(name=found) if isinstance(found, str) else found

    def placed(self) -> Iterator[tuple[str, str, str]]:
        """Each rule that gives a property another place, its older path and its newer one."""
        for rule in ("rename", "wrap", "unwrap", "move"):
            names: Mapping[str, str] = getattr(self, rule)
            yield from ((rule, older, newer) for older, newer in sorted(names.items()))

    def named(self) -> Iterator[tuple[str, str, str | None]]:
        """Each rule about a property, the older path of that, and the newer where the rule gives it."""
        yield from self.placed()
        for rule in ("values", "convert", "variant", "default", "keep"):
            yield from ((rule, older, None) for older in sorted(getattr(self, rule)))

    def place(self, rule: str, name: str | None = None) -> str:
        """File and line of a rule, as precisely as known."""
        return self.where.get(f"{rule}.{name}", self.where.get(rule, self.where.get("", "")))


_PAIRS = (
    ("api-version", "group"),
    ("boolean", "string"),
    ("disabled", "enabled"),
    ("duration", "go-duration"),
    ("duration", "seconds"),
    ("go-duration", "seconds"),
    ("integer", "string"),
    ("number", "string"),
    ("quantity", "bytes"),
    ("quantity", "integer"),
    ("quantity", "number"),
)

SCALAR_CONVERSIONS: Mapping[str, str] = {
    f"{one}-to-{other}": f"{other}-to-{one}" for pair in _PAIRS for one, other in (pair, pair[::-1])
}
"""The named scalar conversions, each with the name of its inverse."""

EXACT_CONVERSIONS = frozenset({"disabled-to-enabled", "enabled-to-disabled"})
"""The scalar conversions by which every value has a counterpart, both ways."""

VERSIONED = ("api-version-to-group", "group-to-api-version")
"""The scalar conversions that may be given a version."""

KEYED_CONVERSIONS: Mapping[str, str] = {
    "list-to-map": "map-to-list",
    "map-to-list": "list-to-map",
}
"""The named conversions between a map and a list of elements with a key, each with the name of its inverse."""
