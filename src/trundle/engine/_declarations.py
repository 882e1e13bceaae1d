"""What a class file declares, as it is written: nothing is resolved, compiled or run yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from trundle.engine._nodes import Node

PropertyUsage: TypeAlias = Literal["In", "Out", "InOut", "Runtime", "Const", "Config", "Static"]
MethodUsage: TypeAlias = Literal["Runtime", "Static", "Extension", "Action"]
ArgumentUsage: TypeAlias = Literal["Standard", "VarArgs", "KwArgs"]
ClassUsage: TypeAlias = Literal["Class", "Meta"]

ARGUMENT_ORDER: tuple[ArgumentUsage, ...] = get_args(ArgumentUsage)
"""The order of arguments by their usage."""

INITIALIZER = ".init"
DESTRUCTOR = ".destroy"
OLD_NAMES = {"initialize": INITIALIZER, "destroy": DESTRUCTOR}
"""Methods by the name that they had first."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names by which the code of a class means others.

    Attributes:
        prefixes: the namespace that each prefix stands for; `=` is the default one.
    """

    prefixes: Mapping[str, str] = field(default_factory=dict)

    def full(self, name: str) -> str:
        """The full name that a name in the code stands for.

        Args:
            name: `Foo`, `:Foo`, `p:Foo` or `a.b.Foo`.

        Raises:
            KeyError: the prefix is not declared.
        """
        prefix, colon, rest = name.partition(":")
        if colon:
            namespace = self.prefixes[prefix] if prefix else self.prefixes.get("=", "")
            name = rest
        elif "." in name:
            return name
        else:
            namespace = self.prefixes.get("=", "")
        return f"{namespace}.{name}" if namespace else name


@dataclass(frozen=True, slots=True)
class PropertyDeclaration:
    """A property as a class declares it.

    Attributes:
        name: its name.
        usage: when it gets its value, and who may change it.
        contract: what its values satisfy; None where the contract is null.
        default: the value where none is given; None where it is null or not declared.
        has_default: whether a default is declared.
        meta: what is attached to it; None for nothing.
        line: where it is declared.
    """

    name: str
    usage: PropertyUsage
    contract: Node | None
    default: Node | None
    has_default: bool
    meta: Node | None
    line: int


@dataclass(frozen=True, slots=True)
class ArgumentDeclaration:
    """An argument of a method; the attributes are those of a property."""

    name: str
    usage: ArgumentUsage
    contract: Node | None
    default: Node | None
    has_default: bool
    meta: Node | None
    line: int


@dataclass(frozen=True, slots=True)
class MethodDeclaration:
    """A method as a class declares it.

    Attributes:
        name: its name; `.init` and `.destroy` also where the file has their old names.
        usage: what it is called on.
        is_public: whether it may be called from outside of the package language.
        arguments: its arguments in their order.
        body: what it does; None for nothing. It is read when it runs.
        meta: what is attached to it; None for nothing.
        line: where it is declared.
        waits: whether it waits for something outside of the process.
    """

    name: str
    usage: MethodUsage
    is_public: bool
    arguments: tuple[ArgumentDeclaration, ...]
    body: Node | None
    meta: Node | None
    line: int
    waits: bool = False


@dataclass(frozen=True, slots=True)
class ClassDeclaration:
    """A class as a file declares it.

    Attributes:
        name: its full name; empty for a class without a name.
        names: what names in its code stand for.
        parents: the parents by their full names; None where it says nothing of parents.
        parent_lines: where each of them stands.
        imports: the classes whose extension methods it uses, as they are written.
        usage: whether its objects describe other things.
        cardinality: for a description, how often one thing may have it.
        applies: for a description, what may have it.
        is_inherited: for a description, whether it goes to child classes.
        meta: what is attached to it; None for nothing.
        properties: its properties by name.
        methods: its methods by name.
        file: the path in the package.
        line: where it starts.
    """

    name: str
    names: Names
    parents: tuple[str, ...] | None
    parent_lines: tuple[int, ...]
    imports: tuple[str, ...]
    usage: ClassUsage
    cardinality: str
    applies: tuple[str, ...]
    is_inherited: bool
    meta: Node | None
    properties: Mapping[str, PropertyDeclaration]
    methods: Mapping[str, MethodDeclaration]
    file: str
    line: int

    @property
    def parents_line(self) -> int:
        """Where its parents stand; where it starts, if it names none."""
        return self.parent_lines[0] if self.parent_lines else self.line
