"""The types that the code of a class names: in its contracts and defaults, and in the bodies of its methods."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from trundle.engine._declarations import ArgumentDeclaration, ClassDeclaration, PropertyDeclaration
from trundle.engine._errors import EngineError
from trundle.engine._nodes import Node
from trundle.engine.expressions import (
    Binary,
    Call,
    Code,
    Constant,
    Expression,
    Listing,
    MapOf,
    Mapped,
    Rule,
    Scalar,
    Tree,
    Unary,
    Word,
    children,
    class_name,
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


class Making(NamedTuple):
    """A constant that code gives to `new`.

    Attributes:
        name: the class, as it is written.
        property: the property, or the argument of `.init`, that it is for.
        value: the constant.
        member: the property or method whose code it is.
        line: where; None where that is not known.
    """

    name: str
    property: str
    value: Any
    member: str
    line: int | None


def makings(declaration: ClassDeclaration) -> Iterator[Making]:
    """The constants that the code of a class gives by name to `new`; what cannot be read gives none."""
    for node, member in _code(declaration):
        for expression in expressions_of(code_of(node, declaration.file)):
            for tree in _trees(expression):
                if isinstance(tree, Call) and tree.name == "new" and tree.arguments:
                    name = class_name(tree.arguments[0])
                    for given, value in _constants(tree) if name else ():
                        yield Making(name or "", given, value, member, expression.place.line)


def _code(declaration: ClassDeclaration) -> Iterator[tuple[Node, str]]:
    """The defaults of a class and the bodies of its methods, with the member that each belongs to."""
    for each in declaration.properties.values():
        if each.default is not None:
            yield each.default, each.name
    for method in declaration.methods.values():
        for argument in method.arguments:
            if argument.default is not None:
                yield argument.default, method.name
        if method.body is not None:
            yield method.body, method.name


def _constants(call: Call) -> Iterator[tuple[str, Any]]:
    """What a call of `new` gives by name, where it is a constant."""
    rules = [each for each in call.arguments[1:] if isinstance(each, Rule)]
    for each in call.arguments[1:2]:
        if isinstance(each, MapOf):
            rules += [rule for rule in each.rules if isinstance(rule, Rule)]
    for rule in rules:
        match rule:
            case Rule(source=Word(text=str(name)) | Constant(value=str(name)), destination=given):
                if isinstance(given, Constant):
                    yield name, given.value
                elif isinstance(given, Word):
                    yield name, given.text


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
    for expression in expressions_of(code):
        for tree in _trees(expression):
            for name in _named(tree):
                yield name, expression.place.line


def expressions_of(code: Code) -> Iterator[Expression]:
    """The expressions in a part of a class file, keys among them, but for names of exceptions."""
    match code:
        case Scalar():
            return
        case Listing():
            for each in code.items:
                yield from expressions_of(each)
        case Mapped():
            for key, value in code.entries:
                if isinstance(key, Scalar) and key.value in _EXCEPTIONS:
                    continue
                yield from expressions_of(key)
                yield from expressions_of(value)
        case Expression():
            yield code


def _trees(expression: Expression) -> Iterator[Tree]:
    """All parts of an expression; none of one that cannot be read."""
    try:
        left = [expression.tree]
    except EngineError:
        return
    while left:
        tree = left.pop()
        yield tree
        left += reversed(children(tree))


def _named(tree: Tree) -> Iterator[str]:
    """The type that one part of an expression names."""
    match tree:
        case Binary(operator=":", left=Word(), right=Word()) | Unary(operator=":", operand=Word()):
            yield class_name(tree) or ""
        case Call(name=function, arguments=(Word() | Constant(value=str()) as first, *_)):
            if function in _TYPE_FIRST:
                yield class_name(first) or ""
        case Call(name="class" | "template", arguments=(Binary() as first, *_)):
            full_name = dotted_name(first)
            if full_name is not None:
                yield full_name
