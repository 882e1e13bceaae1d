"""What the classes of a package look like from outside, as texts: for pages and lists. Class files alone are read."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from trundle.engine._declarations import (
    ArgumentDeclaration,
    ClassDeclaration,
    MethodDeclaration,
    PropertyDeclaration,
)
from trundle.engine._declared import Declared, Kind
from trundle.engine._errors import EngineError
from trundle.engine._mentions import named_types
from trundle.engine._nodes import ListNode, MapNode, Node, ScalarNode
from trundle.engine._written import written
from trundle.engine.contracts import takes_null
from trundle.packages import Package

_METADATA = "io.murano.metadata"
_GIVEN = ("In", "Const", "Out", "InOut", "Config")


@dataclass(frozen=True, slots=True)
class ValueOutline:
    """A property, or an argument of a method.

    Attributes:
        name: its name.
        usage: its usage, such as `In`, or `Standard` for an argument.
        contract: its contract, as it is written.
        default: its default, as it is written; None where there is none.
        is_required: whether it must be given; None where only a person can say.
        types: the classes that contract and default name: full names by the names that are written.
        title: what people call it; may be empty.
        text: what it is for; may be empty.
    """

    name: str
    usage: str
    contract: str
    default: str | None
    is_required: bool | None
    types: Mapping[str, str]
    title: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class MethodOutline:
    """A method.

    Attributes:
        name: its name.
        usage: its usage, such as `Runtime`.
        is_public: whether it may be called from outside of the package language.
        arguments: its arguments in their order.
        title: what people call it; may be empty.
        text: what it does; may be empty.
    """

    name: str
    usage: str
    is_public: bool
    arguments: tuple[ValueOutline, ...]
    title: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Inherited:
    """What a class has from one of its ancestors.

    Attributes:
        owner: the ancestor.
        properties: the names of properties that no nearer class declares.
        methods: the names of such methods.
    """

    owner: str
    properties: tuple[str, ...]
    methods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClassOutline:
    """A class.

    Attributes:
        name: its full name.
        usage: `Class` or `Meta`.
        file: where it is declared in the package.
        parents: the full names of its parents.
        properties: those that it declares, in alphabetical order.
        methods: those that it declares, in alphabetical order.
        inherited: what it has from its ancestors, as far as they are known, nearest first.
        applies: what a Meta class describes, as `Type`.
        cardinality: how often a Meta class describes one thing: `One` or `Many`.
        is_inherited: whether what a Meta class says goes to child classes.
        unknown: its ancestors in packages that are not known.
        title: what people call it; may be empty.
        text: what it is for; may be empty.
        problem: why its file cannot be read; then all else is empty.
    """

    name: str
    usage: str = "Class"
    file: str = ""
    parents: tuple[str, ...] = ()
    properties: tuple[ValueOutline, ...] = ()
    methods: tuple[MethodOutline, ...] = ()
    inherited: tuple[Inherited, ...] = ()
    applies: tuple[str, ...] = ()
    cardinality: str = ""
    is_inherited: bool = False
    unknown: tuple[str, ...] = ()
    title: str = ""
    text: str = ""
    problem: str = ""


def outline(package: Package, among: Iterable[Package] = ()) -> tuple[ClassOutline, ...]:
    """The classes of a package, in alphabetical order of their names.

    Args:
        package: the package.
        among: packages that may be what it requires; what classes inherit from theirs is known, too.
    """
    declared = Declared(package, among)
    return tuple(
        _class(declared, name)
        if name in declared.classes
        else ClassOutline(
            name, file=package.classes[name], problem=declared.unreadable[name].message
        )
        for name in sorted(package.classes)
    )


def _class(declared: Declared, name: str) -> ClassOutline:
    found = declared.classes[name]
    title, text = _described(found, found.meta)
    return ClassOutline(
        name=name,
        usage=found.usage,
        file=found.file,
        parents=declared.parents(name),
        properties=tuple(
            _value(declared, found, found.properties[each]) for each in sorted(found.properties)
        ),
        methods=tuple(
            _method(declared, found, found.methods[each]) for each in sorted(found.methods)
        ),
        inherited=tuple(_inherited(declared, name)),
        applies=found.applies if found.usage == "Meta" else (),
        cardinality=found.cardinality if found.usage == "Meta" else "",
        is_inherited=found.is_inherited,
        unknown=declared.unknown(name),
        title=title,
        text=text,
    )


def _value(
    declared: Declared,
    owner: ClassDeclaration,
    value: PropertyDeclaration | ArgumentDeclaration,
    member: str = "",
) -> ValueOutline:
    title, text = _described(owner, value.meta)
    is_given = bool(member) or value.usage in _GIVEN
    is_required: bool | None = False
    if is_given and not value.has_default:
        try:
            accepts = takes_null(declared.contract(owner, value, member), owner.names.full)
        except EngineError:
            accepts = None
        is_required = None if accepts is None else not accepts
    return ValueOutline(
        name=value.name,
        usage=value.usage,
        contract=written(value.contract),
        default=written(value.default) if value.has_default else None,
        is_required=is_required,
        types=dict(_types(owner, value.contract, value.default)),
        title=title,
        text=text,
    )


def _method(
    declared: Declared, owner: ClassDeclaration, method: MethodDeclaration
) -> MethodOutline:
    title, text = _described(owner, method.meta)
    return MethodOutline(
        name=method.name,
        usage=method.usage,
        is_public=method.is_public,
        arguments=tuple(_value(declared, owner, each, method.name) for each in method.arguments),
        title=title,
        text=text,
    )


def _types(owner: ClassDeclaration, *nodes: Node | None) -> Iterator[tuple[str, str]]:
    for node in nodes:
        for name in named_types(node, owner.file):
            full = _full(owner, name)
            yield name, full


def _inherited(declared: Declared, name: str) -> Iterator[Inherited]:
    kinds: tuple[Kind, Kind] = ("properties", "methods")
    members = [declared.members(name, kind) for kind in kinds]
    for each in declared.ancestors(name)[1:]:
        names = [
            tuple(sorted(key for key, found in one.items() if found.owner.name == each))
            for one in members
        ]
        if any(names):
            yield Inherited(each, *names)


def _described(owner: ClassDeclaration, meta: Node | None) -> tuple[str, str]:
    """The title of what has some meta, and what its description and its help say."""
    nodes = meta.items if isinstance(meta, ListNode) else () if meta is None else (meta,)
    said = {}
    for entries in (each.entries for each in nodes if isinstance(each, MapNode)):
        for key, value in entries:
            text = value.get("text") if isinstance(value, MapNode) else None
            if isinstance(text, ScalarNode):
                said[_full(owner, key.text)] = str(text.value)
    texts = (said.get(f"{_METADATA}.{each}", "") for each in ("Description", "HelpText"))
    return said.get(f"{_METADATA}.Title", ""), "\n\n".join(filter(None, texts))


def _full(owner: ClassDeclaration, name: str) -> str:
    try:
        return owner.names.full(name)
    except KeyError:
        return name
