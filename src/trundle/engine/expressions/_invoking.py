"""Calls that the scene answers: methods of objects and types, and functions of the engine."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

from trundle.engine.expressions._calls import Closure
from trundle.engine.expressions._scope import Scope
from trundle.engine.expressions._tree import Call, Constant, Omitted, Rule, Tree, Word
from trundle.engine.expressions._values import PLAIN, freeze

Method: TypeAlias = Callable[[Any, Scope], Any]
"""What a method of a dialect does with its receiver."""

_NO_NAMES: Mapping[str, Any] = MappingProxyType({})

Values: TypeAlias = Callable[[Scope], tuple[Sequence[Any], Mapping[str, Any]]]
"""What evaluates the arguments of a call: those by position, and those by name."""


def values_of(call: Call, closure: Callable[[Tree], Closure]) -> Values | None:
    """The arguments of a call as `freeze` makes them; None where they are written as only yaql takes them."""
    return lazy_values_of(call, lambda tree: _frozen(tree, closure(tree)))


def _frozen(tree: Tree, made: Closure) -> Closure:
    return made if isinstance(tree, Constant | Word) else lambda scope: freeze(made(scope))


def lazy_values_of(call: Call, closure: Callable[[Tree], Closure]) -> Values | None:
    """The arguments of a call, some of which may be lazy sequences; None where they are written as only yaql takes them."""
    positional: list[Closure] = []
    named: list[tuple[str, Closure]] = []
    for each in call.arguments:
        match each:
            case Rule(source=Word(text=name)):
                named.append((name, closure(each.destination)))
            case Rule() | Omitted():
                return None
            case _ if named:
                return None
            case _:
                positional.append(closure(each))
    if not named:
        if len(positional) == 1:
            only = positional[0]
            return lambda scope: ((only(scope),), _NO_NAMES)
        if not positional:
            return lambda _: ((), _NO_NAMES)
        return lambda scope: ([each(scope) for each in positional], _NO_NAMES)

    def values(scope: Scope) -> tuple[list[Any], dict[str, Any]]:
        return (
            [each(scope) for each in positional],
            {name: each(scope) for name, each in named},
        )

    return values


def once_each(closure: Callable[[Tree], Closure]) -> Callable[[Tree], Closure]:
    """Compiles each argument of a call once, however many closures use it."""
    made: dict[int, Closure] = {}

    def once(tree: Tree) -> Closure:
        found = made.get(id(tree))
        if found is None:
            found = made[id(tree)] = closure(tree)
        return found

    return once


def of_objects(call: Call, closure: Callable[[Tree], Closure], otherwise: Method) -> Method:
    """The call of a method: of the class of an object or type, of an extension, or else of the language."""
    name, takes = call.name, values_of(call, closure)
    if takes is None:
        return otherwise
    if not any(isinstance(each, Rule) for each in call.arguments):
        return _by_position(name, tuple(map(closure, call.arguments)), otherwise)

    def method(receiver: Any, scope: Scope) -> Any:
        scene = scope.scene
        found = None if scene is None else scene.method(receiver, name)
        if found is None:
            return otherwise(receiver, scope)
        values, named = takes(scope)
        return found.call(receiver, values, named, scene)

    return method


def _by_position(name: str, arguments: tuple[Closure, ...], otherwise: Method) -> Method:
    """The same for a call without arguments by name, as most are."""
    only = arguments[0] if len(arguments) == 1 else None

    def method(receiver: Any, scope: Scope) -> Any:
        scene = scope.scene
        found = None if scene is None else scene.method(receiver, name)
        if found is None:
            return otherwise(receiver, scope)
        if only is not None:
            value = only(scope)
            values = [value if type(value) in PLAIN else freeze(value)]
        else:
            values = []
            for each in arguments:
                value = each(scope)
                values.append(value if type(value) in PLAIN else freeze(value))
        return found.call(receiver, values, _NO_NAMES, scene)

    return method


def of_engine(name: str, values: Values) -> Closure:
    """The call of a function of the engine."""

    def function(scope: Scope) -> Any:
        scene = scope.scene
        assert scene is not None
        positional, named = values(scope)
        return scene.builtin(name)(scene, *positional, **named)

    return function
