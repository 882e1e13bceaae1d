"""Which scalars of a class file are expressions, and what the others are.

A scalar is an expression if it is tagged `!yaql`; or if it has neither quotes nor a tag, YAML gives it no other type, it
has a character beyond letters, digits, `_`, `.` and white space, and it parses as YAQL. This holds for keys, too.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

from trundle.engine._nodes import ListNode, MapNode, Node, ScalarNode, parse_nodes
from trundle.engine.expressions._expression import Expression, is_expression, is_words
from trundle.errors import Place


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar that is no expression.

    Attributes:
        value: text, a number, a boolean or None.
        line: where it is.
        is_plain: whether it is text without quotes that could have been an expression.
    """

    value: str | int | float | bool | None
    line: int = 0
    is_plain: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Listing:
    """A list."""

    items: tuple["Code", ...]
    line: int = 0


@dataclass(frozen=True, slots=True)
class Mapped:
    """A map; its keys are scalars or expressions, each once, in the order of the file."""

    entries: tuple[tuple["Scalar | Expression", "Code"], ...]
    line: int = 0

    def get(self, key: str) -> "Code | None":
        """What stands under a key that is text."""
        for name, value in self.entries:
            if isinstance(name, Scalar) and name.value == key and isinstance(name.value, str):
                return value
        return None


Code: TypeAlias = Scalar | Expression | Listing | Mapped
"""A part of a class file."""


def line_of(code: Code) -> int:
    """The line of a part of a file; 0 where it is not known."""
    return (code.place.line or 0) if isinstance(code, Expression) else code.line


def code_of(node: Node, file: str, plain: str = "") -> Code:
    """A part of a class file, with its expressions.

    Args:
        node: the part.
        file: what messages call the file.
        plain: characters that make no expression of a scalar either.
    """
    match node:
        case ScalarNode():
            return _scalar(node, file, plain)
        case ListNode():
            return Listing(tuple(code_of(each, file, plain) for each in node.items), node.line)
        case MapNode():
            entries = (
                (_scalar(key, file, plain), code_of(value, file, plain))
                for key, value in node.entries
            )
            return Mapped(tuple(entries), node.line)


def read_code(text: str, file: str, plain: str = "") -> list[Code]:
    """Reads the YAML documents of a class file; empty ones are left out.

    Args:
        text: the file's text.
        file: what messages call it.
        plain: characters that, beside the usual ones, make no expression of a scalar: `:` in forms.

    Raises:
        UnreadableError: the text is not YAML, or has tags, keys or numbers that cannot be used.
    """
    return [code_of(node, file, plain) for node in parse_nodes(text, file)]


def _scalar(node: ScalarNode, file: str, plain: str) -> Scalar | Expression:
    may_be = node.may_be_expression and is_expression(node.text)
    if may_be:
        may_be = not is_words(node.text.translate(dict.fromkeys(map(ord, plain))))
    if node.is_tagged or may_be:
        return Expression(node.text, Place(file, node.line))
    return Scalar(node.value, node.line, node.may_be_expression)
