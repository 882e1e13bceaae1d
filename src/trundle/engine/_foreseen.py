"""What the code of a class calls and reads that is not there: found before it runs."""

import inspect
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from trundle.engine._classes import Classes
from trundle.engine._declarations import ClassDeclaration, MethodDeclaration
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._mentions import expressions_of
from trundle.engine._nodes import Node
from trundle.engine._sources import format_of
from trundle.engine._type import Type, method_key
from trundle.engine.expressions import (
    Binary,
    Call,
    Code,
    Expression,
    Format,
    Index,
    Language,
    Listing,
    Mapped,
    Omitted,
    Rule,
    Tree,
    Variable,
    Word,
    children,
    class_name,
    code_of,
    doomed_calls,
    language_for,
)
from trundle.engine.running import signatures
from trundle.errors import did_you_mean, expectation, listed

_DOTS = (".", "?.")
_SELF, _THIS = "$1", "$this"


class _Part(NamedTuple):
    """A part of the code of a class.

    Attributes:
        member: the property or method.
        code: the part.
        is_contract: whether `$` is a value there, rather than the object.
    """

    member: str
    code: Code
    is_contract: bool = False


class _Use(NamedTuple):
    """A member of the object, or of a class, that an expression uses.

    Attributes:
        name: the member.
        call: the call of a method; None where a property is read.
        of: the class that is named; None for the object whose code it is.
    """

    name: str
    call: Call | None
    of: str | None = None


class Foreseen:
    """Finds what fails in the code of classes whenever it runs."""

    def __init__(self, classes: Classes) -> None:
        self._classes = classes
        self._functions = signatures()
        self._below: dict[Type, tuple[Type, ...]] = {}

    def wrong(self, type_: Type) -> Iterator[EngineError]:
        """What the code of a class calls and reads that is not there."""
        format_ = format_of(type_.source)
        language = language_for(is_legacy=format_.is_legacy)
        parts = [*_parts(type_.declaration)]
        assigned = {name for each in parts for name in _assigned(each.code)}
        for part in parts:
            for expression in expressions_of(part.code):
                for error in _doomed(expression, format_, self._functions):
                    yield _located(error, type_, part.member, expression)
                for use in _uses(expression, language, is_contract=part.is_contract):
                    unmet = self._unmet(type_, use, language, assigned)
                    if unmet is not None and (use.of or not self._is_below(type_, use)):
                        yield _located(unmet, type_, part.member, expression)

    def _unmet(
        self, type_: Type, use: _Use, language: Language, assigned: set[str]
    ) -> EngineError | None:
        """What is wrong with the use of a member; None where it may be there."""
        owner = type_ if use.of is None else self._named(type_, use.of)
        if owner is None:
            return None
        if use.call is None:
            return _unread(owner, use, () if use.of else assigned)
        found = owner.methods.get(use.name)
        if found is not None and (use.of is not None or found.usage != "Extension"):
            is_static = found.usage not in ("Runtime", "Action")
            if use.of is None or is_static:
                return _misfit(found.declaration, use.call, owner)
            message = expectation(
                f"a static method of {owner.name}", f"{use.name}, which objects have"
            )
            advice = "call it on an object, or declare it with `Usage: Static`"
            return EngineError(EngineCode.NO_METHOD, message, advice=advice)
        if language.knows_method(use.name) or self._is_extension(type_, owner, use):
            return None
        advice = did_you_mean(use.name, list(owner.methods), "declare it, or correct its name")
        if language.knows_function(use.name):
            advice = f"call it without a dot: `{use.name}(..)`"
        message = expectation(f"a method of {owner.name} or its ancestors", use.name)
        return EngineError(EngineCode.NO_METHOD, message, advice=advice)

    def _named(self, type_: Type, name: str) -> Type | None:
        try:
            return self._classes.resolve(type_.source, type_.full_name(name))
        except EngineError:  # That is found by itself
            return None

    def _is_extension(self, type_: Type, owner: Type, use: _Use) -> bool:
        """Whether the code of a class may mean an extension method; those of a class are not for its own objects."""
        imported = (self._named(type_, each) for each in type_.declaration.imports)
        for each in (type_, *filter(None, imported)):
            method = each.methods.get(use.name)
            if method is not None and method.usage == "Extension":
                return use.of is not None or not owner.descends_from(method.declaring_type)
        return False

    def _is_below(self, type_: Type, use: _Use) -> bool:
        """Whether a class that descends from another one declares a member, so that its objects have that."""
        member = use.name if use.call is None else method_key(use.name)
        return any(member in each.own_members for each in self._descendants(type_))

    def _descendants(self, type_: Type) -> tuple[Type, ...]:
        if type_ not in self._below:
            self._below[type_] = tuple(self._find_descendants(type_))
        return self._below[type_]

    def _find_descendants(self, type_: Type) -> Iterator[Type]:
        repository = self._classes.repository
        for name in repository.names:
            for version in repository.versions(name):
                package = repository.package(name, version)
                if all(each.name != type_.package for each in package.requirements):
                    continue
                for class_ in package.classes:
                    try:
                        found = self._classes.ordered(package, class_)
                    except EngineError:  # That is found by itself
                        continue
                    if found is not type_ and found.descends_from(type_):
                        yield found


def _unread(owner: Type, use: _Use, assigned: Collection[str]) -> EngineError | None:
    """What is wrong with reading a property."""
    found = owner.properties.get(use.name)
    if found is None and use.name not in assigned:
        message = expectation(f"a property of {owner.name} or its ancestors", use.name)
        advice = did_you_mean(use.name, list(owner.properties), "declare it, or correct its name")
        return EngineError(EngineCode.NO_PROPERTY, message, advice=advice)
    if found is not None and use.of is not None and found.usage != "Static":
        expected = f"a static property of {owner.name}"
        message = expectation(expected, f"{use.name}, which objects have")
        advice = "read it of an object, or declare it with `Usage: Static`"
        return EngineError(EngineCode.NO_PROPERTY, message, advice=advice)
    return None


def _located(error: EngineError, type_: Type, member: str, expression: Expression) -> EngineError:
    """An error about a class, at one of its expressions."""
    line = expression.place.line
    return type_.error(error.code, error.message, advice=error.advice, member=member, line=line)


def _doomed(
    expression: Expression, format_: Format, functions: Mapping[str, inspect.Signature]
) -> Iterator[EngineError]:
    try:
        yield from doomed_calls(expression, format_, functions, has_objects=True)
    except EngineError:  # It cannot be read, which is found by itself
        return


def _parts(declaration: ClassDeclaration) -> Iterator[_Part]:
    """The code of a class."""
    file = declaration.file

    def part(member: str, node: Node | None, *, is_contract: bool = False) -> Iterator[_Part]:
        if node is not None:
            yield _Part(member, code_of(node, file), is_contract)

    for each in declaration.properties.values():
        yield from part(each.name, each.contract, is_contract=True)
        yield from part(each.name, each.default)
    for method in declaration.methods.values():
        for argument in method.arguments:
            yield from part(method.name, argument.contract, is_contract=True)
            yield from part(method.name, argument.default)
        yield from part(method.name, method.body)


def _assigned(code: Code) -> Iterator[str]:
    """The names that code gives values in the object."""
    match code:
        case Listing(items=items):
            for each in items:
                yield from _assigned(each)
        case Mapped(entries=entries):
            for key, value in entries:
                if isinstance(key, Expression):
                    yield from _target(key)
                yield from _assigned(value)


def _target(key: Expression) -> Iterator[str]:
    try:
        tree = key.tree
    except EngineError:
        return
    while isinstance(tree, Binary | Index):
        match tree:
            case Binary(operator=".", left=Variable(name="$1" | "$this"), right=Word(text=name)):
                yield name
                return
        tree = tree.value if isinstance(tree, Index) else tree.left


def _uses(expression: Expression, language: Language, *, is_contract: bool) -> Iterator[_Use]:
    """The members of the object, and of classes that are named, which an expression uses."""
    try:
        left: list[tuple[Tree, bool]] = [(expression.tree, not is_contract)]
    except EngineError:
        return
    while left:
        tree, is_self = left.pop()
        match tree:
            case Binary(operator="." | "?.", left=of, right=Word() | Call() as right):
                name = right.text if isinstance(right, Word) else right.name
                call = right if isinstance(right, Call) else None
                if isinstance(of, Variable) and (
                    of.name == _THIS or (is_self and of.name == _SELF)
                ):
                    yield _Use(name, call)
                elif not isinstance(of, Word) and ":" in (written := class_name(of) or ""):
                    yield _Use(name, call, written)
                left.append((of, is_self))
                if call is not None:
                    left += _within(call, language, is_self=is_self)
            case Binary(operator="->"):
                left += ((tree.left, is_self), (tree.right, False))
            case Index():
                left += ((each, is_self and not language.is_legacy) for each in tree.arguments)
                left.append((tree.value, is_self))
            case Call():
                left += _within(tree, language, is_self=is_self)
            case _:
                left += ((each, is_self) for each in children(tree))


def _within(call: Call, language: Language, *, is_self: bool) -> Iterator[tuple[Tree, bool]]:
    """The arguments of a call, and whether `$` is the object in them."""
    is_eager = not language.is_lazy(call.name)
    return ((each, is_self and is_eager) for each in call.arguments)


def _misfit(method: MethodDeclaration, call: Call, owner: Type) -> EngineError | None:
    """What is wrong with the arguments of a call, where it is certain."""
    known = [each.name for each in method.arguments if each.usage == "Standard"]
    usages = {each.usage for each in method.arguments}
    given = [each for each in call.arguments if not isinstance(each, Rule)]
    if any(isinstance(each, Omitted) for each in given) or method.usage == "Extension":
        return None
    named = [each.source for each in call.arguments if isinstance(each, Rule)]
    unknown = [each.text for each in named if isinstance(each, Word) and each.text not in known]
    where = f"{owner.name}.{method.name}"
    if len(given) > len(known) and "VarArgs" not in usages:
        message = expectation(f"at most {len(known)} arguments of {where}", str(len(given)))
        return EngineError(
            EngineCode.NO_MATCH, message, advice="remove those that it does not take"
        )
    if unknown and "KwArgs" not in usages:
        expected = f"one of {listed(known)}" if known else "no argument"
        message = expectation(f"{expected} of {where}", listed(unknown))
        return EngineError(EngineCode.NO_MATCH, message, advice=did_you_mean(unknown[0], known))
    return None
