"""Trees of expressions: a closed union of small records, apart from the parser that makes them.

Each node keeps what the parser made (`native`), so that what is not compiled can go to yaql's own evaluator.
"""

from dataclasses import dataclass, field
from typing import Any, TypeAlias, assert_never


@dataclass(frozen=True, slots=True)
class Constant:
    """Text in quotes, a number, `true`, `false` or `null`."""

    value: Any
    native: Any = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Word:
    """A bare word: text, and what stands to the right of a dot."""

    text: str
    native: Any = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """`$name`; `$` has the name `$1`."""

    name: str
    native: Any = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Group:
    """Something in parentheses."""

    inner: "Tree"
    native: Any = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """An operator before its operand."""

    operator: str
    operand: "Tree"
    native: Any = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """An operator between its operands; `.` among them."""

    operator: str
    left: "Tree"
    right: "Tree"
    native: Any = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Index:
    """`value[arguments]`."""

    value: "Tree"
    arguments: tuple["Tree", ...]
    native: Any = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ListOf:
    """`[items]`."""

    items: tuple["Tree", ...]
    native: Any = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MapOf:
    """`{rules}`."""

    rules: tuple["Tree", ...]
    native: Any = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """`name(arguments)`; to the right of a dot a method, elsewhere a function."""

    name: str
    arguments: tuple["Tree", ...]
    native: Any = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Rule:
    """`source => destination`, in a call or a map."""

    source: "Tree"
    destination: "Tree"
    native: Any = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Omitted:
    """An argument left out, as in `f(1, , 2)`."""

    native: Any = field(compare=False, repr=False)


Tree: TypeAlias = (
    Constant
    | Word
    | Variable
    | Group
    | Unary
    | Binary
    | Index
    | ListOf
    | MapOf
    | Call
    | Rule
    | Omitted
)
"""An expression, or a part of one."""


def has_rules(call: Call) -> bool:
    """Whether a call has arguments by name, or leaves some out."""
    return any(isinstance(each, Rule | Omitted) for each in call.arguments)


def children(tree: Tree) -> tuple[Tree, ...]:
    """The parts of an expression, in their order."""
    match tree:  # The most frequent first: a check asks this of each part several times.
        case Constant() | Word() | Variable():
            return ()
        case Binary(left=one, right=other) | Rule(source=one, destination=other):
            return (one, other)
        case Call(arguments=parts) | ListOf(items=parts) | MapOf(rules=parts):
            return parts
        case Index(value=value, arguments=parts):
            return (value, *parts)
        case Unary(operand=inner) | Group(inner=inner):
            return (inner,)
        case Omitted():
            return ()
    assert_never(tree)


def dotted_name(tree: Tree) -> str | None:
    """The name that words with dots between them write, as in `io.murano.Object`; None for anything else."""
    words: list[str] = []
    while isinstance(tree, Binary) and tree.operator == "." and isinstance(tree.right, Word):
        words.append(tree.right.text)
        tree = tree.left
    if not words or not isinstance(tree, Word):
        return None
    return ".".join((tree.text, *reversed(words)))


def class_name(tree: Tree) -> str | None:
    """The name of a class as it is written; None for an expression that computes one."""
    match tree:
        case Binary(operator=":", left=Word(text=prefix), right=Word(text=name)):
            return f"{prefix}:{name}"
        case Unary(operator=":", operand=Word(text=name)):
            return f":{name}"
        case Constant(value=str(name)) | Word(text=name):
            return name
    return dotted_name(tree)
