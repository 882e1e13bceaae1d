"""Calls that fail whatever values there are when they run: of functions that there are not, or with arguments that none takes."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine.expressions._builtins import BUILTINS, DIRECT
from trundle.engine.expressions._contexts import as_function, as_method
from trundle.engine.expressions._expression import Expression
from trundle.engine.expressions._format import Format
from trundle.engine.expressions._languages import language_for
from trundle.engine.expressions._spelled import spelled
from trundle.engine.expressions._tree import (
    Binary,
    Call,
    Constant,
    Omitted,
    Rule,
    Tree,
    Word,
    children,
)
from trundle.engine.expressions._yaql import Language
from trundle.errors import expectation, listed, meant, similar

_OF_ENGINE = frozenset(each.name for each in BUILTINS)
_IN_MOCKS = "originalMethod"
_DOTS = (".", "?.")


def doomed_calls(
    expression: Expression,
    format_: Format,
    functions: Mapping[str, inspect.Signature],
    *,
    has_objects: bool,
) -> Iterator[EngineError]:
    """What is wrong with the calls in an expression that can be read.

    Args:
        expression: the expression.
        format_: the format of its package.
        functions: those that what it stands in has beside the language's own, by name, and how each is called.
        has_objects: whether values may be objects, so that methods are not known before.
    """
    tree = expression.tree
    language = language_for(is_legacy=format_.is_legacy)
    every = [*_calls(tree)]
    defined = {name for call, _ in every for name in _defined(call)}
    for call, receiver in every:
        if receiver is None and call.name in defined:
            continue
        if receiver is not None and has_objects:
            continue
        is_own = call.name in DIRECT or not (has_objects or language.knows_function(call.name))
        if receiver is None and call.name == "switch" and language.is_legacy:
            found = _valueless(call) or _refused(call, receiver, language, functions)
        elif receiver is None and call.name in functions and is_own:
            found = _unbound(call, functions[call.name])
        elif not has_objects and call.name in _OF_ENGINE and call.name not in functions:
            found = _unknown(f"the function {call.name} is known in classes only", "")
        else:
            found = _refused(call, receiver, language, functions)
        if found is not None:
            place = expression.place
            found.message = f"{expression}: {found.message}"
            found.file, found.line = place.file, place.line
            yield found


def _calls(tree: Tree) -> Iterator[tuple[Call, Tree | None]]:
    """The calls in a tree, those of methods with their receivers."""
    left: list[tuple[Tree, Tree | None]] = [(tree, None)]
    while left:
        each, receiver = left.pop()
        if isinstance(each, Call):
            yield each, receiver
        if isinstance(each, Binary) and each.operator in _DOTS:
            left += ((each.right, each.left), (each.left, None))
        else:
            left += ((one, None) for one in reversed(children(each)))


def _defined(call: Call) -> Iterator[str]:
    """The functions that a call makes known in the rest of its expression."""
    match call:
        case Call(name="def", arguments=(Word(text=str(name)) | Constant(value=str(name)), *_)):
            yield name
        case Call(name="inject"):
            yield _IN_MOCKS


def _unbound(call: Call, signature: inspect.Signature) -> EngineError | None:
    """What is wrong with the arguments of a function of Python."""
    values, named = [], {}
    for each in call.arguments:
        match each:
            case Rule(source=Word(text=name)):
                named[name] = each
            case Rule() | Omitted():
                return None  # Only yaql takes these
            case _:
                values.append(each)
    try:
        check_arguments(f"the function {call.name}", signature, values, named)
    except EngineError as error:
        return error
    return None


def check_arguments(
    what: str, signature: inspect.Signature, values: Sequence[Any], named: Mapping[str, Any]
) -> None:
    """Makes sure that a function takes some arguments.

    Raises:
        EngineError: it does not.
    """
    try:
        signature.bind(*values, **named)
    except TypeError as error:
        message = f"{what} does not take such arguments: {error}"
        raise EngineError(EngineCode.NO_MATCH, message, advice="correct the call") from None


def _valueless(call: Call) -> EngineError | None:
    """What is wrong with a `switch` of legacy YAQL whose first condition stands where the value does: it would not be looked at."""
    if not call.arguments or not isinstance(call.arguments[0], Rule):
        return None
    expected = "the value before the conditions, in which it is `$`"
    advice = "write `switch(value, $ > 3 => big, true => small)` here, or `cond and a or b`"
    message = expectation(expected, f"`{spelled(call.arguments[0])}`")
    return EngineError(EngineCode.NO_MATCH, message, advice=advice)


def _refused(
    call: Call, receiver: Tree | None, language: Language, functions: Mapping[str, Any]
) -> EngineError | None:
    """What is wrong with a call that yaql answers."""
    taken = language.taken(call.native, None if receiver is None else receiver.native)
    if taken.fits:
        return None
    if taken.ways:
        found = f"`{spelled(call)}`"
        message = expectation(listed(taken.ways), found)
        return EngineError(EngineCode.NO_MATCH, message, advice="correct what it is given")
    is_method = receiver is not None
    names = language.names(of_methods=is_method)
    advice = taken.advice or meant(similar(call.name, names if is_method else {*functions, *names}))
    if not is_method and language.knows_method(call.name):
        advice = as_method(call.name)
    if is_method and language.knows_function(call.name):
        advice = as_function(call.name)
    message = f'unknown {"method" if is_method else "function"} "{call.name}"'
    return _unknown(message, advice, is_method=is_method)


def _unknown(message: str, advice: str, *, is_method: bool = False) -> EngineError:
    code = EngineCode.NO_METHOD if is_method else EngineCode.UNKNOWN_FUNCTION
    otherwise = (
        "correct its name" if is_method else "correct its name, or put quotes around the text"
    )
    return EngineError(code, message, advice=advice or otherwise)
