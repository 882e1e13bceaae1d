"""Writes a tree as text again, the same for expressions that differ in nothing but white space."""

import json
from collections.abc import Iterable

from trundle.engine.expressions._tree import (
    Binary,
    Call,
    Constant,
    Group,
    Index,
    ListOf,
    MapOf,
    Omitted,
    Rule,
    Tree,
    Unary,
    Variable,
    Word,
)

_TIGHT = (".", "?.", ":")
"""Operators without white space around them."""


def spelled(tree: Tree) -> str:
    """The text of an expression, in one line."""
    match tree:
        case Constant():
            return json.dumps(tree.value, ensure_ascii=False)
        case Word():
            return tree.text
        case Variable():
            return "$" if tree.name == "$1" else tree.name
        case Group():
            return f"({spelled(tree.inner)})"
        case Unary():
            gap = " " if tree.operator.isalpha() else ""
            return f"{tree.operator}{gap}{spelled(tree.operand)}"
        case Binary():
            gap = "" if tree.operator in _TIGHT else " "
            return f"{spelled(tree.left)}{gap}{tree.operator}{gap}{spelled(tree.right)}"
        case Index():
            return f"{spelled(tree.value)}[{_joined(tree.arguments)}]"
        case ListOf():
            return f"[{_joined(tree.items)}]"
        case MapOf():
            return f"{{{_joined(tree.rules)}}}"
        case Call():
            return f"{tree.name}({_joined(tree.arguments)})"
        case Rule():
            return f"{spelled(tree.source)} => {spelled(tree.destination)}"
        case Omitted():
            return ""


def _joined(trees: Iterable[Tree]) -> str:
    return ", ".join(map(spelled, trees))
