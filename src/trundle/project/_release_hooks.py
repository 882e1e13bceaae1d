"""Hooks of releases: static methods of a package that conversions of its objects call, and all that is wrong with them.

A method that augments the conversion of a class reads the properties that its arguments are called after, and returns a map of those that it
writes; two underscores lead into a map, as in `limits__cpu`. What it writes stands in `evolution.yaml`, for a method does not declare what it
returns.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from trundle.codegen import HookKey, PlainHook
from trundle.engine import Method, Session, Type, referred_class
from trundle.errors import Finding, did_you_mean, listed
from trundle.evolution import (
    HookDeclaration,
    HookMethod,
    HookReference,
    Lineage,
    Neighbours,
    PathError,
    Place,
    converter_names,
    join_path,
    split_path,
)
from trundle.project._hook_values import HookValue, References
from trundle.project._release_rules import ASSIGNING, ReleaseHook
from trundle.project.findings import ProjectCode, finding
from trundle.schema import EnumType, FreeForm, Nullable, ObjectType, Ref, Schema
from trundle.schema import Type as SchemaType
from trundle.version import ApiVersion

_BELOW = "__"


class StaticHook(msgspec.Struct, frozen=True):
    """A static method that conversions call.

    Attributes:
        type: the class.
        method: its name.
        arguments: the argument by the property that it is called after; of a converter, the one that takes the value, by no name.
        outputs: what it returns by property, as the keys of the map that it returns call them.
        assigns: whether it augments the conversion of a class; else it converts a value.
        given: the types of what it gets, by property.
        made: the types of what it returns, by property.
    """

    type: Type
    method: str
    arguments: Mapping[str, str]
    outputs: Mapping[str, str]
    assigns: bool
    given: Mapping[str, HookValue]
    made: Mapping[str, HookValue]

    @property
    def spoken(self) -> str:
        """The method in full."""
        return f"{self.type.class_name}.{self.method}"

    def called_in(self, session: Session) -> PlainHook:
        """What calls the method for plain values."""

        def convert(value: Any) -> Any:
            references = References()
            (name,) = self.arguments.values()
            given = {name: self._taken(references, "", value)}
            return self._returned(references, "", session.compute(self.type, self.method, given))

        def assign(values: Mapping[str, Any]) -> Any:
            references = References()
            given = {
                self.arguments[name]: self._taken(references, name, value)
                for name, value in values.items()
            }
            found = session.compute(self.type, self.method, given)
            if not isinstance(found, dict):
                return found
            named = {self.outputs.get(name, name): value for name, value in found.items()}
            return {name: self._returned(references, name, each) for name, each in named.items()}

        return assign if self.assigns else convert

    def _taken(self, references: References, name: str, value: Any) -> Any:
        return references.as_ids(value, self.given[name]) if name in self.given else value

    def _returned(self, references: References, name: str, value: Any) -> Any:
        return references.with_references(value, self.made[name]) if name in self.made else value


class FoundHooks(NamedTuple):
    """What became of the hooks of a package's releases.

    Attributes:
        declarations: those that can be called.
        methods: their methods.
        findings: what is wrong with the others.
    """

    declarations: tuple[HookDeclaration, ...]
    methods: Mapping[HookKey, StaticHook]
    findings: tuple[Finding, ...]


class Homes(NamedTuple):
    """Where the method of a hook is looked for.

    Attributes:
        own: the class that converts, as the release has it; None where it has none.
        classes: the names of all classes of the release.
        type: gives one of them.
    """

    own: str | None
    classes: tuple[str, ...]
    type: Callable[[str], Type]


def find_hooks(
    hooks: Iterable[tuple[ReleaseHook, Homes]], lineages: Iterable[Lineage]
) -> FoundHooks:
    """Looks at the hooks of the releases of a package.

    Args:
        hooks: the hooks, each with where its method may be.
        lineages: all lineages of the package under its rules, without hooks.

    Raises:
        EngineError: a class that has a method cannot be built.
    """
    declarations: dict[tuple[ApiVersion, ApiVersion, str], HookDeclaration] = {}
    methods: dict[HookKey, StaticHook] = {}
    findings: list[Finding] = []
    known = tuple(lineages)
    for hook, homes in hooks:
        look = _Look(hook, homes, known)
        found = look.declared()
        findings += look.findings
        if found is not None and not look.findings:
            declaration, method = found
            place = (hook.version, hook.newer, hook.type)
            before = declarations.get(place)
            declarations[place] = declaration if before is None else _joined(before, declaration)
            between = Neighbours(hook.version, hook.newer)
            for up in look.ways:
                key = HookKey(hook.type, between, up, method.assigns, method.spoken)
                methods[key] = method
    return FoundHooks(tuple(declarations.values()), methods, tuple(findings))


def check_methods(hooks: Iterable[tuple[ReleaseHook, Homes]]) -> Iterator[Finding]:
    """What is wrong with the methods of hooks, as far as that is known without the release before.

    Raises:
        EngineError: a class that has a method cannot be built.
    """
    for hook, homes in hooks:
        look = _Look(hook, homes, ())
        look.method()
        yield from look.findings


def _joined(one: HookDeclaration, other: HookDeclaration) -> HookDeclaration:
    """Two hooks of one place as one."""
    return HookDeclaration(
        one.reference,
        {**one.assign, **other.assign},
        (*one.converters, *other.converters),
        {**one.called, **other.called},
    )


class _Look:
    """One hook."""

    def __init__(self, hook: ReleaseHook, homes: Homes, lineages: tuple[Lineage, ...]) -> None:
        self.hook = hook
        self.homes = homes
        self.lineages = [
            each
            for each in lineages
            if hook.version in each.nodes
            and each.definition(hook.version).name == hook.type
            and Neighbours(hook.version, hook.newer) in each.versions.pairs
        ]
        self.findings: list[Finding] = []
        self._given: dict[str, HookValue] = {}
        self._made: dict[str, HookValue] = {}

    @property
    def ways(self) -> set[bool]:
        """The ways that it is called on: up from the older side to the newer, or down."""
        if self.hook.name in ASSIGNING:
            return {self.hook.name == "assign_to"}
        return self._converter_names().get(self.hook.name, set())

    def _converter_names(self) -> dict[str, set[bool]]:
        """The names of all converters that could be there, with the ways that they are called on."""
        found: dict[str, set[bool]] = {}
        for name, up, _, _ in self._converters():
            found.setdefault(name, set()).add(up)
        return found

    def _converters(self) -> Iterator[tuple[str, bool, HookValue, HookValue]]:
        """All converters that could be there: name, whether it leads up, and the types of what it gets and makes."""
        for lineage in self.lineages:
            for link in lineage.links:
                if (link.older.version, link.newer.version) != (self.hook.version, self.hook.newer):
                    continue
                up, down = converter_names(lineage, link.older, link.newer)
                older, newer = (
                    HookValue(lineage.type(each), lineage.evolution.schema(each.version))
                    for each in (link.older, link.newer)
                )
                if up != down:
                    yield up, True, older, newer
                    yield down, False, newer, older

    def note(self, found: str, advice: str, expected: str = "") -> None:
        self.findings.append(
            finding(ProjectCode.HOOK, self.hook.where, found, advice, expected=expected)
        )

    def declared(self) -> tuple[HookDeclaration, StaticHook] | None:
        """What the hook declares, and its method; what is wrong with it is noted."""
        hook = self.hook
        if not self.lineages:
            pair = f"{hook.version} and {hook.newer}"
            found = f"the hook {hook.name} is for {hook.type}, which has no objects between {pair}"
            self.note(found, f"name a class of {hook.version}, or a map in it, that is in both")
            return None
        method = self.method()
        if method is None:
            return None
        type_, declared = method
        spoken = f"{type_.class_name}.{declared.name}"
        use = f"{type_.package}/{type_.version}"
        reference = HookReference(hook.type, hook.version, hook.newer, use, hook.where)
        called = {hook.name: spoken}
        if hook.name in ASSIGNING:
            arguments = self._read(spoken, declared)
            outputs = dict(self._written(spoken))
            writes = tuple(sorted(outputs.values()))
            assign = {hook.name: HookMethod(tuple(sorted(arguments)), writes)}
            made = HookDeclaration(reference, assign, called=called)
        else:
            arguments, outputs = self._converted(spoken, declared), {}
            made = HookDeclaration(reference, converters=(hook.name,), called=called)
        is_assigning = hook.name in ASSIGNING
        types = self._given, self._made
        return made, StaticHook(type_, declared.name, arguments, outputs, is_assigning, *types)

    def method(self) -> tuple[Type, Method] | None:
        """The static method, with its class."""
        holder, _, name = self.hook.use.rpartition(".")
        holder = holder or self.homes.own or ""
        if holder not in self.homes.classes:
            expected = f"a class of {self.hook.newer}, which has the method"
            self.note(holder or "none", did_you_mean(holder, self.homes.classes), expected)
            return None
        type_ = self.homes.type(holder)
        found = type_.methods.get(name)
        if found is None:
            static = [each.name for each in type_.methods.values() if each.usage == "Static"]
            self.note(name, did_you_mean(name, static), f"a static method of {holder}")
            return None
        spoken = f"{holder}.{name}"
        if found.usage != "Static":
            expected = f"{spoken} to be static, for it is called without an object"
            self.note(f"the usage {found.usage}", "declare it with `Usage: Static`", expected)
        elif not found.is_public:
            expected = f"{spoken} to be public, as conversions call it from outside"
            self.note("one that is not", "declare it with `Scope: Public`", expected)
        return type_, found

    @property
    def _sides(self) -> tuple[ApiVersion, ApiVersion]:
        """The version that the hook reads, and the one that it writes."""
        ends = self.hook.version, self.hook.newer
        return ends if self.hook.name != "assign_from" else ends[::-1]

    def _read(self, spoken: str, method: Method) -> dict[str, str]:
        """The arguments of a method by the properties that they are called after."""
        version, _ = self._sides
        found: dict[str, str] = {}
        for each in method.declaration.arguments:
            if each.usage != "Standard":
                what = f"the argument {each.name} of {spoken} takes all others"
                self.note(what, "write an argument for each property that it reads")
                continue
            path = self._place(each.name, each.name.split(_BELOW), version, self._given)
            if path is None:
                what = f"{spoken} has the argument {each.name}"
                self._unknown(what, each.name, version, "after which arguments are called")
            else:
                found[path] = each.name
        if not method.declaration.arguments:
            what = f"{spoken} has no arguments"
            self.note(what, f"give it those properties of {version} that it reads")
        return found

    def _written(self, spoken: str) -> Iterator[tuple[str, str]]:
        """The properties that the method writes, each after what the map that it returns calls it."""
        _, version = self._sides
        if not self.hook.writes:
            self.note(f"{spoken} writes nothing", "name the properties under `writes`")
        for each in self.hook.writes:
            try:
                parts = list(split_path(each))
            except PathError:
                parts = [each]
            path = self._place(each, parts, version, self._made)
            if path is None:
                self._unknown(f"{spoken} writes {each}", each, version, "that hooks write")
            else:
                yield _BELOW.join(split_path(path)), path

    def _unknown(self, what: str, name: str, version: ApiVersion, role: str) -> None:
        definition = self.lineages[0].definition(version)
        names = [each.name for each in definition.properties]
        found = f"{what}, which {definition.name} of {version} does not have"
        self.note(found, did_you_mean(name, names), f"a property of {definition.name} {role}")

    def _place(
        self, name: str, parts: list[str], version: ApiVersion, types: dict[str, HookValue]
    ) -> str | None:
        """The property that a name stands for, else its parts lead to; None for none. Its type is noted."""
        found: str | None = None
        for lineage in self.lineages:
            schema = lineage.evolution.schema(version)
            definition = lineage.definition(version)
            path = [name] if definition.property(name) is not None else parts
            type_ = _type_at(schema, definition, path)
            if types is self._given and lineage.is_metadata(Place(version, name)):
                type_ = FreeForm()
            if type_ is None:
                return None
            found = join_path(tuple(path))
            types.setdefault(found, HookValue(type_, schema))
        return found

    def _converted(self, spoken: str, method: Method) -> dict[str, str]:
        """The argument that takes the value of a converter."""
        expected = self._converter_names()
        if self.hook.name not in expected:
            pair = f"{self.hook.type} between {self.hook.version} and {self.hook.newer}"
            advice = f"call it one of {listed((*ASSIGNING, *dict.fromkeys(expected)))}"
            self.note(f"{self.hook.name} fits no changed property of {pair}", advice)
        for name, _, given, made in self._converters():
            if name == self.hook.name:
                self._given[""], self._made[""] = given, made
        needed = [
            each
            for each in method.declaration.arguments
            if each.usage == "Standard" and not each.has_default
        ]
        if len(needed) != 1:
            names = listed(each.name for each in needed) if needed else "none"
            wanted = f"one argument without a default for {spoken}, which takes the value"
            self.note(names, "correct the arguments", wanted)
            return {}
        return {"": needed[0].name}


def _type_at(schema: Schema, definition: ObjectType, path: list[str]) -> SchemaType | None:
    """The type of what a path leads to; None where there is no such property."""
    type_: SchemaType | None = None
    within: ObjectType | EnumType | None = definition
    for name in path:
        if not isinstance(within, ObjectType) or (found := within.property(name)) is None:
            return None
        type_ = found.type
        bare = type_.inner if isinstance(type_, Nullable) else type_
        within = schema.definitions[bare.key] if isinstance(bare, Ref) else None
        if isinstance(within, ObjectType) and referred_class(within) is not None:
            within = None  # What is in another object is in the schema of its own class.
    return type_
