"""Protocols for hand-written hooks: one for each place where a hook may be.

Between two neighbours of a type there are a frozen record of either side, which a hook reads, a dictionary
type of either side, which it writes, and a protocol for each method that it may have. A side that is the same
at several places is written once.
"""

from collections.abc import Hashable, Iterable

import msgspec

from trundle.codegen._classes import ApiNode, ClassPath
from trundle.codegen._hook_dictionaries import KnownRecords, WrittenTypes
from trundle.codegen._hook_names import STATIC_METHODS, record_name, static_class
from trundle.codegen._lifted import attribute_at
from trundle.codegen._naming import class_name
from trundle.codegen._text import class_mark, docstring, text_literal
from trundle.codegen._types import TypeRenderer
from trundle.evolution import (
    LONGEST,
    METADATA,
    Lineage,
    Neighbours,
    Place,
    converter_names,
    fitting,
    hooks_among,
    label_of,
    named_by_hooks,
)
from trundle.schema import Type
from trundle.version import ApiVersion

PLACE_LIMIT = 100
"""How many places a module of protocols holds before the next one is begun."""


def hook_import(use: str, between: Neighbours, type_name: str) -> str:
    """The Python class of a hook as modules import it; one of the package itself starts with a dot."""
    return use if ":" in use else f".{STATIC_METHODS}:{static_class(type_name, between)}"


class HookPlace(msgspec.Struct, frozen=True):
    """A type between two neighbours that differs between them."""

    between: Neighbours
    lineage: Lineage

    @property
    def type_name(self) -> str:
        """The type's name on the older side."""
        return self.lineage.definition(self.between.older).name

    @property
    def declared(self) -> bool:
        """Whether a hook is declared there."""
        return any(
            Neighbours(each.reference.older, each.reference.newer) == self.between
            for each in hooks_among(self.lineage)
        )


def hook_places(lineages: Iterable[Lineage]) -> dict[str, list[HookPlace]]:
    """By module: the places where a hook may be, in alphabetical order of their types."""
    found: dict[tuple[Neighbours, str], HookPlace] = {}
    for lineage in lineages:
        for between in lineage.versions.pairs:
            place = HookPlace(between, lineage)
            if place.declared or _differs(place):
                known = found.setdefault((between, place.type_name), place)
                if place.declared and known is not place:
                    found[between, place.type_name] = place
    counts: dict[Neighbours, int] = {}
    taken: set[tuple[Neighbours, int, str]] = set()
    modules: dict[str, list[HookPlace]] = {}
    for (between, type_name), place in sorted(found.items(), key=lambda item: item[0]):
        part = counts.get(between, 0) // PLACE_LIMIT
        counts[between] = counts.get(between, 0) + 1
        name = record_name(type_name, older=True)
        while (between, part, name) in taken:  # As of the types `tag` and `Tag`.
            part += 1
        taken.add((between, part, name))
        pair = f"hooks.{between.older.identifier}_to_{between.newer.identifier}"
        modules.setdefault(pair if part == 0 else f"{pair}_part{part + 1}", []).append(place)
    return modules


def _differs(place: HookPlace) -> bool:
    evolution, between = place.lineage.evolution, place.between
    nodes = place.lineage.nodes
    return evolution.own(between.older, nodes[between.older]) != evolution.own(
        between.newer, nodes[between.newer]
    )


def render_hook_place(types: TypeRenderer, place: HookPlace, known: KnownRecords) -> str:
    """The records, dictionaries and protocols of one place.

    Args:
        types: what renders annotations.
        place: the place.
        known: the sides that were rendered before; grows.
    """
    older, newer = place.between.older, place.between.newer
    name = place.type_name
    parts = [
        *_side(types, place, older, record_name(name, older=True), known),
        *_side(types, place, newer, record_name(name, older=False), known),
        *_converters(types, place, class_name(name)),
    ]
    return "\n\n".join(parts)


def _side(
    types: TypeRenderer, place: HookPlace, version: ApiVersion, name: str, known: KnownRecords
) -> list[str]:
    """What hooks read and write of one side of a place: classes, or those of a side that is the same."""
    module = types.hook_modules[place.between, place.type_name]
    written = WrittenTypes(
        types,
        version,
        module,
        "Older" if version == place.between.older else "Newer",
        known,
        declared=place.declared,
    )
    node = ApiNode(version, place.lineage.nodes[version])
    members = _members(types, place, version)
    read = _read_only(place, version)
    shown = [(name, types.annotation(node, type_, at)) for name, type_, at in members]
    side = (place.type_name, place.declared, *shown, *read)
    found = known_side(known, side)
    if found is not None:
        home, other = found
        record, outputs = ClassPath(home, other), ClassPath(home, f"{other}Outputs")
        return [
            f"{name} = {class_mark(record)}\n{name}Outputs = {class_mark(outputs)}\n",
        ]
    known[side] = module, name
    lines = [
        f"{name}: {written.annotation(node, type_, at)} | Absent" for name, type_, at in members
    ]
    return [
        _class(
            f"{name}(msgspec.Struct, frozen=True, kw_only=True)",
            [
                f"{attribute}: {annotation} | Absent = ABSENT"
                for attribute, annotation in shown + read
            ],
        ),
        _class(f"{name}Outputs(TypedDict, total=False)", lines),
        *(_class(f"{name}(TypedDict, total=False)", own) for name, own in written.classes),
    ]


def known_side(known: KnownRecords, side: Hashable) -> tuple[str, str] | None:
    """The module and the name of the record of a side, where the same was rendered before."""
    return known.get(side)


def _class(head: str, members: list[str]) -> str:
    return f"class {head}:\n" + ("".join(f"    {each}\n" for each in members) or "    pass\n")


def _members(
    types: TypeRenderer, place: HookPlace, version: ApiVersion
) -> list[tuple[str, Type, Place]]:
    """The attributes of a side that hooks read and write, with their types and places."""
    lineage = place.lineage
    definition = lineage.definition(version)
    names = types.names(version, definition)
    followed = set(lineage.names(version))
    own = [
        (names[each.name], each.type, Place(version, each.name))
        for each in definition.properties
        if each.name in followed and _is_readable(each.name)
    ]
    declared = {name for at, name in named_by_hooks(lineage) if at == version}
    inside = [Place(version, name) for name in sorted(declared & lineage.lifted(version).keys())]
    return own + [(attribute_at(types, lineage, each), lineage.type(each), each) for each in inside]


def _is_readable(name: str) -> bool:
    """Whether hooks may name a property: all but labels that are none of theirs."""
    label = label_of(name)
    return label is None or name == label.name


def _read_only(place: HookPlace, version: ApiVersion) -> list[tuple[str, str]]:
    """What hooks read of a side and cannot write: metadata, where a hook names it."""
    declared = named_by_hooks(place.lineage)
    read = any(
        at == version and place.lineage.is_metadata(Place(at, name)) for at, name in declared
    )
    return [(METADATA, "Mapping[str, Any]")] if read else []


def protocol_name(type_name: str, converter: str) -> str:
    """The protocol of a converter of a type, of which the class name is given."""
    return fitting(f"{type_name}{class_name(converter.removeprefix('convert_'))}", LONGEST)


def _protocol(name: str, summary: str, method: str, returns: str) -> str:
    inner = docstring(returns, "        ")
    return f"class {name}(Protocol):\n{docstring(summary, '    ')}\n    def {method}:\n{inner}        ...\n"


def _converters(types: TypeRenderer, place: HookPlace, name: str) -> list[str]:
    """A protocol for each pair of types that a property changes between."""
    lineage, between = place.lineage, place.between
    found: dict[str, str] = {}
    for link in lineage.links:
        if (link.older.version, link.newer.version) != (between.older, between.newer):
            continue
        if link.conversion is not None and type(link.conversion).__name__ != "CallHook":
            continue
        up, down = converter_names(lineage, link.older, link.newer)
        for method, source, target in (
            (up, link.older, link.newer),
            (down, link.newer, link.older),
        ):
            takes = types.annotation_at(lineage, source, lineage.type(source), storage=False)
            gives = types.annotation_at(lineage, target, lineage.type(target), storage=False)
            found.setdefault(
                method,
                _protocol(
                    protocol_name(name, method),
                    f"Converts {text_literal(source.property)} of {source.version} "
                    f"to {text_literal(target.property)} of {target.version}.",
                    f"{method}(self, value: {takes}, /) -> {gives} | Absent",
                    f"The value as {target.version} has it.",
                ),
            )
    return [found[method] for method in sorted(found)]
