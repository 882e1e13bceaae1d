"""What is wrong with what a class says in its own file: its contracts, its defaults, and the bodies of its methods."""

from collections.abc import Iterator
from dataclasses import fields, replace

from trundle.engine._declarations import ArgumentDeclaration, ClassDeclaration, PropertyDeclaration
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._nodes import ListNode, MapNode, Node, ScalarNode
from trundle.engine._sources import compile_declared
from trundle.engine._type import Type
from trundle.engine.contracts import impossible, refused
from trundle.engine.expressions import Binary, Expression, code_of
from trundle.engine.statements import (
    Break,
    Catch,
    Continue,
    Evaluate,
    For,
    Repeat,
    Statement,
    While,
    read_body,
)
from trundle.errors import Finding, Place, expectation
from trundle.packages import Package


def warning(error: EngineError) -> Finding:
    """What is wrong, where it may never matter."""
    return replace(error.findings[0], severity="warning")


def uncompiled(package: Package, declaration: ClassDeclaration) -> Iterator[EngineError]:
    """The contracts and defaults of a class that cannot be compiled."""
    for member, each in _contracted(declaration):
        try:
            compile_declared(package, declaration, each, member)
        except EngineError as error:
            error.package, error.version = package.name, package.version
            error.class_name = error.class_name or declaration.name
            yield error


def _contracted(
    declaration: ClassDeclaration,
) -> Iterator[tuple[str, PropertyDeclaration | ArgumentDeclaration]]:
    """What a class gives a contract: its properties, and the arguments of its methods with their names."""
    yield from (("", each) for each in declaration.properties.values())
    for method in declaration.methods.values():
        yield from ((method.name, each) for each in method.arguments)


def wrong_statements(type_: Type) -> Iterator[Finding]:
    """What is wrong with statements; a warning, for they may never run."""
    file = type_.declaration.file
    for method in type_.declaration.methods.values():
        if method.body is None:
            continue
        try:
            body = read_body(code_of(method.body, file), file)
            wrong = (*map(_comparison, _compared(body)), *map(_outside, _stray(body)))
        except EngineError as error:
            wrong = error.errors
        for each in wrong:
            located = type_.error(
                each.code,
                each.message,
                advice=each.advice,
                member=method.name,
                line=each.line,
            )
            yield warning(located)


def _compared(part: object) -> Iterator[Expression]:
    """The statements in a part of a body that compare by `=` and do nothing else."""
    if isinstance(part, Evaluate):
        tree = part.expression.tree
        if isinstance(tree, Binary) and tree.operator == "=":
            yield part.expression
    elif isinstance(part, tuple):
        for each in part:
            yield from _compared(each)
    elif isinstance(part, Statement | Catch):
        for each in fields(part):
            yield from _compared(getattr(part, each.name))


def _comparison(expression: Expression) -> EngineError:
    message = expectation("a statement that does something", f"the comparison {expression}")
    advice = "to assign, write a colon in the place of `=`"
    return EngineError(EngineCode.SYNTAX, message, advice=advice, line=expression.place.line)


def _stray(part: object) -> Iterator[Break | Continue]:
    """Each `Break` and `Continue` in a part of a body that stands in no loop."""
    if isinstance(part, Break | Continue):
        yield part
    elif isinstance(part, tuple):
        for each in part:
            yield from _stray(each)
    elif isinstance(part, Statement | Catch) and not isinstance(part, While | For | Repeat):
        for each in fields(part):
            yield from _stray(getattr(part, each.name))


def _outside(statement: Break | Continue) -> EngineError:
    message = f"`{type(statement).__name__}` stands outside of a loop"
    advice = "move it into a loop, or remove it"
    return EngineError(EngineCode.INVALID_OPERATION, message, advice=advice, line=statement.line)


def unread_texts(type_: Type) -> Iterator[Finding]:
    """What looks like an expression in bodies and defaults, but is none, so that it is text; a warning, for it may be meant as text."""
    for member, node in _written(type_.declaration):
        for each in _scalars(node):
            if each.may_be_expression and "$" in each.text:
                try:
                    _ = Expression(each.text, Place(line=each.line)).tree
                except EngineError as error:
                    located = type_.error(
                        error.code,
                        error.message,
                        advice=error.advice,
                        member=member,
                        line=each.line,
                    )
                    yield warning(located)


def quoted_contracts(type_: Type) -> Iterator[Finding]:
    """Contracts that stand in quotes, so that they take that very text and nothing else; a warning, for it may be meant so."""
    for member, each in _contracted(type_.declaration):
        match each.contract:
            case ScalarNode(value=str(text), may_be_expression=False, is_tagged=False) as node:
                if text.startswith("$"):
                    error = type_.error(
                        EngineCode.SYNTAX,
                        expectation(f"the contract {text}", "that text, for it stands in quotes"),
                        advice="remove the quotes, or write `!yaql` before them",
                        member=member or each.name,
                        line=node.line,
                    )
                    yield warning(error)


def impossible_contracts(type_: Type) -> Iterator[Finding]:
    """Contracts that no value satisfies; a warning, for the member may never get one."""
    for member, each in _contracted(type_.declaration):
        try:
            contract = compile_declared(type_.source, type_.declaration, each, member).contract
        except EngineError:  # That is found by itself
            continue
        for part in impossible(contract):
            found = f"{part.expression}, which {'nothing but null' if part.takes_null else 'no value'} satisfies"
            error = type_.error(
                EngineCode.CONTRACT,
                expectation("a contract that some value satisfies", found),
                advice="correct what contradicts the rest of it",
                member=member or each.name,
                line=part.expression.place.line or each.line,
            )
            yield warning(error)


def refused_contracts(type_: Type) -> Iterator[Finding]:
    """Properties of which an ancestor refuses all that the contract of the class makes; a warning, for they may never get a value."""
    for each in type_.declaration.properties.values():
        for ancestor in type_.lineage.declarers(each.name):
            inherited = ancestor.declaration.properties[each.name]
            if ancestor is type_ or "Static" in (each.usage, inherited.usage):
                continue
            try:
                own = compile_declared(type_.source, type_.declaration, each).contract
                other = compile_declared(ancestor.source, ancestor.declaration, inherited).contract
            except EngineError:  # That is found by itself
                continue
            takes_null = refused(own, other)
            if takes_null is None:
                continue
            found = f"one of which it takes {'nothing but null' if takes_null else 'no value'}"
            where = f"{ancestor.label}, at {ancestor.declaration.file}:{inherited.line}"
            error = type_.error(
                EngineCode.CONTRACT,
                expectation(f"a contract that fits that of {each.name} in {where}", found),
                advice="make both contracts take the same values",
                member=each.name,
                line=each.line,
            )
            yield warning(error)


def code_length(declaration: ClassDeclaration) -> int:
    """How many characters the expressions of a class have, with text that may be one."""
    nodes = [each.contract for _, each in _contracted(declaration) if each.contract is not None]
    nodes += (node for _, node in _written(declaration))
    scalars = (each for node in nodes for each in _scalars(node))
    return sum(len(each.text) for each in scalars if each.may_be_expression or each.is_tagged)


def _written(declaration: ClassDeclaration) -> Iterator[tuple[str, Node]]:
    """The defaults of a class and the bodies of its methods, with the member that each belongs to."""
    for member, each in _contracted(declaration):
        if each.default is not None:
            yield member or each.name, each.default
    for method in declaration.methods.values():
        if method.body is not None:
            yield method.name, method.body


def _scalars(root: Node) -> Iterator[ScalarNode]:
    left = [root]
    while left:
        node = left.pop()
        match node:
            case ScalarNode():
                yield node
            case ListNode():
                left += reversed(node.items)
            case MapNode():
                for key, value in reversed(node.entries):
                    left += (value, key)
