"""Reads the methods of a hook class: what each declares, and whether a plan can call it."""

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from trundle.codegen import attribute_names
from trundle.errors import Finding, did_you_mean, listed
from trundle.evolution import (
    ADDITIONAL,
    METADATA,
    HookDeclaration,
    HookMethod,
    HookReference,
    Label,
    Lineage,
    converter_names,
    declared_label,
    is_label_key,
    join_path,
)
from trundle.project.findings import ProjectCode, finding
from trundle.schema import Nullable, ObjectType, Property, Ref
from trundle.version import ApiVersion

_ASSIGNING = ("assign_to", "assign_from")
_CONVERTER = re.compile(r"convert_(.+)_to_(.+)")
_DECLARATION = "`@hook(reads=(...), writes=(...))` from trundle.runtime"


class Place(msgspec.Struct, frozen=True):
    """Where a hook stands: a type between two neighbours.

    Attributes:
        lineages: the type, at each place in the resources where it is.
        older: the older neighbour.
        newer: the newer neighbour.
    """

    lineages: tuple[Lineage, ...]
    older: ApiVersion
    newer: ApiVersion


def read_methods(
    reference: HookReference, class_: type, place: Place
) -> tuple[HookDeclaration, tuple[Finding, ...]]:
    """What a hook class declares, and everything that is wrong with it."""
    reading = _Reading(reference, class_, place)
    assign = {name: each for name in _ASSIGNING if (each := reading.assign(name)) is not None}
    converters = tuple(reading.converters())
    reading.look_around()
    if not reading.tried:
        listing = f"{', '.join(_ASSIGNING)} or convert_..._to_..."
        reading.note("none", "write one", f"a method {listing} in {reference.use}")
    declaration = HookDeclaration(reference, assign, converters)
    return declaration, tuple(reading.findings)


class _Reading:
    def __init__(self, reference: HookReference, class_: type, place: Place) -> None:
        self.reference = reference
        self.class_ = class_
        self.place = place
        self.findings: list[Finding] = []
        self.tried: set[str] = set()
        self._check_class()

    def note(self, found: str, advice: str, expected: str = "") -> None:
        self.findings.append(
            finding(ProjectCode.HOOK, self.reference.where, found, advice, expected=expected)
        )

    def _check_class(self) -> None:
        if inspect.isabstract(self.class_):
            self.note(f"{self.reference.use} is abstract", "write all its methods")
            return
        try:
            inspect.signature(self.class_).bind()
        except (TypeError, ValueError) as error:
            expected = f"to make {self.reference.use} without arguments"
            self.note(str(error), "let its constructor take none", expected)

    def assign(self, name: str) -> HookMethod | None:
        """What `assign_to` or `assign_from` declares, where the class has it."""
        method = getattr(self.class_, name, None)
        if method is None:
            return None
        self.tried.add(name)
        spoken = f"{self.reference.use}.{name}"
        callable_ = self._callable(name)
        declared = getattr(method, "__hook__", None)
        if declared is None:
            advice = f"declare what it reads and writes with {_DECLARATION}"
            self.note(f"{spoken} does not say what it reads and writes", advice)
            return None
        for what, attributes in (("reads", declared.reads), ("writes", declared.writes)):
            if not attributes:
                self.note(f"{spoken} declares no {what}", f"name them in `{what}`, or remove it")
        up = name == "assign_to"
        source, target = (
            (self.place.older, self.place.newer) if up else (self.place.newer, self.place.older)
        )
        reads = self._properties(spoken, "reads", declared.reads, source)
        writes = self._properties(spoken, "writes", declared.writes, target)
        return HookMethod(reads, writes) if callable_ else None

    def _properties(
        self, spoken: str, what: str, attributes: tuple[str, ...], version: ApiVersion
    ) -> tuple[str, ...]:
        """The property names of declared attributes; an unknown attribute is a finding."""
        known = [_properties_of(lineage, version) for lineage in self.place.lineages]
        shared = {name: each for name, each in known[0].items() if all(name in x for x in known)}
        found = []
        for attribute in attributes:
            if attribute.split(".")[0] == METADATA and self._of_resource():
                name = self._in_metadata(spoken, what, attribute)
                found += [] if name is None else [name]
                continue
            names = {each.get(attribute) for each in known}
            if "." in attribute:
                names = {_path_of(lineage, version, attribute) for lineage in self.place.lineages}
            if len(names) == 1 and None not in names:
                found.append(str(names.pop()))
                continue
            type_name = self.place.lineages[0].definition(version).name
            missing = f"{attribute!r}, which {type_name} of {version} does not have"
            if any(names):
                missing = f"{attribute!r}, which not every {type_name} of {version} has alike"
            readable = {METADATA: METADATA} if what == "reads" and self._of_resource() else {}
            written, candidates = attribute, [*shared, *readable]
            if "." in attribute:
                written, candidates = _beside(self.place.lineages[0], version, attribute)
            advice = did_you_mean(written, candidates)
            if len(attributes) > 1 and all(len(each) == 1 for each in attributes):
                advice = f"write one name in `{what}` as a tuple too: ('name',)"
            self.note(f"{spoken} {what} {missing}", advice)
        return tuple(found)

    def _of_resource(self) -> bool:
        """Whether the hook's type is a resource with metadata, wherever it is."""
        return all(METADATA in each.envelope for each in self.place.lineages)

    def _in_metadata(self, spoken: str, what: str, attribute: str) -> str | None:
        """The property that a hook means by metadata, or by a label or annotation; None for a finding."""
        label = declared_label(attribute)
        if label is not None and is_label_key(label.key):
            return label.name
        if label is not None:
            expected = "a name of at most 63 letters, digits, '-', '_' and '.', after a DNS domain and '/' if any"
            self.note(
                repr(label.key), "mend the key", f"{expected}, as the key that {spoken} {what}"
            )
        elif attribute != METADATA:
            advice = f"write {Label('labels', 'example.com/name').declared!r}, or {METADATA!r} to read all of it"
            self.note(f"{spoken} {what} {attribute!r}, which is no label or annotation", advice)
        elif what == "writes":
            advice = f"write single labels, as in {Label('labels', 'example.com/name').declared!r}"
            self.note(f"{spoken} writes {attribute!r}, which hooks only read", advice)
        else:
            return METADATA
        return None

    def converters(self) -> Iterator[str]:
        """The property converters that fit a changed property."""
        expected = self._expected()
        for name in _public(self.class_):
            if not name.startswith("convert_"):
                continue
            self.tried.add(name)
            if name in expected:
                if self._callable(name):
                    yield name
                continue
            spoken = f"{self.reference.use}.{name}"
            pair = f"{self.reference.type} between {self.place.older} and {self.place.newer}"
            if expected:
                advice = f"call it one of {listed(expected)}"
            else:
                advice = "no property of it changed its type there; remove the method"
            what = "fits no changed property" if _CONVERTER.fullmatch(name) else "is no converter"
            self.note(f"{spoken} {what} of {pair}", advice)

    def _expected(self) -> Mapping[str, None]:
        """The names of all converters that could stand here."""
        older, newer = self.place.older, self.place.newer
        found: dict[str, None] = {}
        for lineage in self.place.lineages:
            for link in lineage.links:
                if (link.older.version, link.newer.version) != (older, newer):
                    continue
                up, down = converter_names(lineage, link.older, link.newer)
                if up != down:
                    found.update({up: None, down: None})
        return found

    def _callable(self, name: str) -> bool:
        """Whether a plan can call a method; a wrong signature is a finding."""
        spoken = f"{self.reference.use}.{name}"
        expected = f"{spoken}(self, source)"
        static = inspect.getattr_static(self.class_, name)
        function: Any = (
            static.__func__ if isinstance(static, staticmethod | classmethod) else static
        )
        if not inspect.isroutine(function):
            self.note(type(static).__name__, "write a method", expected)
            return False
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            self.note("an async method", "write a plain one; a hook is pure", expected)
            return False
        if inspect.isgeneratorfunction(function):
            self.note("a generator", "return one value instead", expected)
            return False
        signature = inspect.signature(function)
        taken = list(signature.parameters.values())
        if not isinstance(static, staticmethod):
            taken = taken[1:]
        positional = [each for each in taken if each.kind in _POSITIONAL]
        required = [
            each for each in taken if each.kind is each.KEYWORD_ONLY and each.default is each.empty
        ]
        if len(positional) == 1 and not required and (signature.parameters or taken):
            return True
        found = f"{name}{signature}"
        self.note(found, "let it take just the source object", expected)
        return False

    def look_around(self) -> None:
        """Finds methods that were meant as hooks but are called otherwise."""
        for name in _public(self.class_):
            if name in self.tried:
                continue
            declared = getattr(getattr(self.class_, name), "__hook__", None) is not None
            if declared or name.startswith("assign"):
                self.tried.add(name)
                what = f"{self.reference.use}.{name} is called by no conversion"
                self.note(what, did_you_mean(name, _ASSIGNING))


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _public(class_: type) -> tuple[str, ...]:
    return tuple(
        name for name in dir(class_) if not name.startswith("_") and callable(getattr(class_, name))
    )


def _properties_of(lineage: Lineage, version: ApiVersion) -> Mapping[str, str]:
    """The properties that a hook may read or write, by their Python attribute."""
    definition = lineage.definition(version)
    hidden = {ADDITIONAL, definition.tag}
    attributes = attribute_names(each.name for each in definition.properties)
    return {attributes[name]: name for name in lineage.names(version) if name not in hidden}


def _path_of(lineage: Lineage, version: ApiVersion, attributes: str) -> str | None:
    """The path of a property of a nested object, by the dotted attributes that lead to it; None for none."""
    path: list[str] = []
    names = _members(lineage.definition(version))
    for attribute in attributes.split("."):
        if attribute not in names:
            return None
        path.append(names[attribute].name)
        names = _inside(lineage, version, names[attribute])
    return join_path(tuple(path))


def _beside(lineage: Lineage, version: ApiVersion, attributes: str) -> tuple[str, list[str]]:
    """Dotted attributes up to the first that is not there, and all that is in its place."""
    names = _members(lineage.definition(version))
    before, attribute = "", ""
    for attribute in attributes.split("."):
        inside = _inside(lineage, version, names[attribute]) if attribute in names else {}
        if not inside:
            break
        before, names = f"{before}{attribute}.", inside
    return before + attribute, [before + each for each in names]


def _members(definition: ObjectType) -> dict[str, Property]:
    """The properties of an object by their attributes."""
    known = attribute_names(each.name for each in definition.properties)
    return {known[each.name]: each for each in definition.properties}


def _inside(lineage: Lineage, version: ApiVersion, declared: Property) -> dict[str, Property]:
    """The properties of the object that a property has; none where it has no object."""
    type_ = declared.type.inner if isinstance(declared.type, Nullable) else declared.type
    definitions = lineage.evolution.schema(version).definitions
    definition = definitions[type_.key] if isinstance(type_, Ref) else None
    return _members(definition) if isinstance(definition, ObjectType) else {}
