"""Statements as a closed union of small records, each with its line."""

from dataclasses import dataclass
from typing import TypeAlias

from trundle.engine.expressions import Code, Expression, Scalar, Tree

Constant: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Step:
    """One step into a value: `.name`, or `[index]`.

    Attributes:
        name: the name of a property or a key; empty for an index.
        index: what is in brackets; None for a name.
    """

    name: str = ""
    index: Tree | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """What is assigned to.

    Attributes:
        root: a variable, a type (`:T`, `p:T`), or the call `type(..)`.
        steps: what leads from there to the place; not empty where the root is not a variable, or is `$` or `$this`.
    """

    root: Tree
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Evaluate:
    """An expression whose value does not matter."""

    expression: Expression
    line: int


@dataclass(frozen=True, slots=True)
class Assign:
    """`target: value`; the value may be any structure, with expressions anywhere in it."""

    target: Target
    value: Code
    line: int


@dataclass(frozen=True, slots=True)
class Return:
    """Ends the method with a value."""

    value: Code
    line: int


@dataclass(frozen=True, slots=True)
class Do:
    """A plain block."""

    body: "Block"
    line: int


@dataclass(frozen=True, slots=True)
class If:
    """One of two blocks."""

    condition: Expression | Scalar
    then: "Block"
    otherwise: "Block"
    line: int


@dataclass(frozen=True, slots=True)
class While:
    """A block as long as a condition holds."""

    condition: Expression
    body: "Block"
    line: int


@dataclass(frozen=True, slots=True)
class For:
    """A block for each item of a list, or each key of a map."""

    variable: str
    collection: Code
    body: "Block"
    line: int


@dataclass(frozen=True, slots=True)
class Repeat:
    """A block so many times."""

    count: Expression | Scalar
    body: "Block"
    line: int


@dataclass(frozen=True, slots=True)
class Break:
    """Ends the loop around it."""

    line: int


@dataclass(frozen=True, slots=True)
class Continue:
    """Goes on with the next round of the loop around it."""

    line: int


@dataclass(frozen=True, slots=True)
class Match:
    """The block of the constant that a value equals."""

    value: Code
    cases: tuple[tuple[Constant, "Block"], ...]
    default: "Block"
    line: int


@dataclass(frozen=True, slots=True)
class Switch:
    """The blocks of all conditions that hold, in their order; the default where none does."""

    cases: tuple[tuple[Expression | Scalar, "Block"], ...]
    default: "Block"
    line: int


@dataclass(frozen=True, slots=True)
class Parallel:
    """Statements that take turns.

    Attributes:
        body: the statements.
        limit: how many go on at once; None for all.
        line: where it is.
    """

    body: "Block"
    limit: Expression | Scalar | None
    line: int


@dataclass(frozen=True, slots=True)
class Catch:
    """What is done about some exceptions.

    Attributes:
        names: the names that match, as they are written; None for all exceptions.
        variable: where the exception is kept; empty for nowhere.
        body: what is done; nothing swallows the exception.
        line: where it is.
    """

    names: tuple[str, ...] | None
    variable: str
    body: "Block"
    line: int


@dataclass(frozen=True, slots=True)
class Try:
    """A block whose exceptions are handled.

    Attributes:
        body: the block.
        catches: the handlers; the first that matches.
        otherwise: what runs where nothing was raised.
        finally_: what always runs.
        line: where it is.
    """

    body: "Block"
    catches: tuple[Catch, ...]
    otherwise: "Block"
    finally_: "Block"
    line: int


@dataclass(frozen=True, slots=True)
class Throw:
    """Raises an exception; what is not written is None."""

    names: tuple[str, ...]
    message: Code | None
    extra: Code | None
    cause: Code | None
    line: int


@dataclass(frozen=True, slots=True)
class Rethrow:
    """Raises the exception that is being handled once more."""

    line: int


Statement: TypeAlias = (
    Evaluate
    | Assign
    | Return
    | Do
    | If
    | While
    | For
    | Repeat
    | Break
    | Continue
    | Match
    | Switch
    | Parallel
    | Try
    | Throw
    | Rethrow
)
"""One statement."""

Block: TypeAlias = tuple[Statement, ...]
"""Statements, one after the other."""
