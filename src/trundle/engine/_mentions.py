"""The types that the code of a class names: in its contracts and defaults, and in the bodies of its methods."""

from collections.abc import Iterator
from typing import NamedTuple

from trundle.engine._declarations import ArgumentDeclaration, ClassDeclaration, PropertyDeclaration
from trundle.engine._errors import EngineError
from trundle.engine._nodes import Node
from trundle.engine.expressions import (
    Binary,
    Call,
    Code,
    Constant,
    Expression,
    Group,
    Index,
    Listing,
    ListOf,
    MapOf,
    Mapped,
    Omitted,
    Rule,
    Scalar,
    Tree,
    Unary,
    Variable,
    Word,
    code_of,
    dotted_name,
)

_EXCEPTIONS = ("Throw", "With")
"""What stands under these keys are names of exceptions, which need no class."""

_TYPE_FIRST = ("class", "template", "new")
"""Functions whose first argument is a type."""


class Mention(NamedTuple):
    """A type that code names.

    Attributes:
        name: as it is written, with its prefix.
        member: the property or method.
        line: where; None where that is not known.
        is_loaded: whether an object cannot load without it; else it is in the body of a method.
    """

    name: str
    member: str
    line: int | None
    is_loaded: bool


def mentions(declaration: ClassDeclaration) -> Iterator[Mention]:
    """The types that the code of a class names, in the order of the file; what cannot be read names none."""
    file = declaration.file
    for each in declaration.properties.values():
        yield from _declared(each, each.name, file, is_loaded=True)
    for method in declaration.methods.values():
        for argument in method.arguments:
            yield from _declared(argument, method.name, file, is_loaded=False)
        if method.body is not None:
            for name, line in _in_code(code_of(method.body, file)):
                yield Mention(name, method.name, line, is_loaded=False)


def named_types(node: Node | None, file: str) -> Iterator[str]:
    """The types that a part of a class file names, as they are written."""
    return (name for name, _ in _in_code(code_of(node, file))) if node is not None else iter(())


def _declared(
    declared: PropertyDeclaration | ArgumentDeclaration, member: str, file: str, *, is_loaded: bool
) -> Iterator[Mention]:
    for node in (declared.contract, declared.default):
        if node is not None:
            for name, line in _in_code(code_of(node, file)):
                yield Mention(name, member, line, is_loaded)


def _in_code(code: Code) -> Iterator[tuple[str, int | None]]:
    match code:
        case Scalar():
            return
        case Listing():
            for each in code.items:
                yield from _in_code(each)
        case Mapped():
            for key, value in code.entries:
                if isinstance(key, Scalar) and key.value in _EXCEPTIONS:
                    continue
                yield from _in_code(key)
                yield from _in_code(value)
        case Expression():
            try:
                tree = code.tree
            except EngineError:
                return
            for name in _in_tree(tree):
                yield name, code.place.line


def _in_tree(root: Tree) -> Iterator[str]:
    left: list[Tree] = [root]
    while left:
        tree = left.pop()
        match tree:
            case Binary(operator=":", left=Word(text=prefix), right=Word(text=name)):
                yield f"{prefix}:{name}"
            case Unary(operator=":", operand=Word(text=name)):
                yield f":{name}"
            case Call(
                name=function, arguments=(Word(text=name) | Constant(value=str(name)), *rest)
            ):
                if function in _TYPE_FIRST:
                    yield name
                left += rest
            case Call(name="class" | "template", arguments=(Binary() as first, *rest)):
                full_name = dotted_name(first)
                if full_name is not None:
                    yield full_name
                    left += rest
                else:
                    left += (first, *rest)
            case Call(arguments=parts) | Index(arguments=parts) | ListOf(items=parts):
                left += parts
                if isinstance(tree, Index):
                    left.append(tree.value)
            case MapOf(rules=parts):
                left += parts
            case Binary(left=one, right=other) | Rule(source=one, destination=other):
                left += (one, other)
            case Unary(operand=inner) | Group(inner=inner):
                left.append(inner)
            case Constant() | Word() | Variable() | Omitted():
                pass
