"""Calls that the scene answers: methods of objects and types, and functions of the engine."""

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

from trundle.engine._scene import WholeObject
from trundle.engine.expressions._calls import Closure, variable_name
from trundle.engine.expressions._scope import NOWHERE, Scope
from trundle.engine.expressions._tree import Binary, Call, Constant, Omitted, Rule, Tree, Word
from trundle.engine.expressions._values import PLAIN, freeze

Method: TypeAlias = Callable[[Any, Scope], Any]
"""What a method of a dialect does with its receiver."""

_NO_NAMES: Mapping[str, Any] = {}

Fail: TypeAlias = Callable[[Exception, Scope], NoReturn]
"""Raises what went wrong in an expression in the way that its callers expect."""

Values: TypeAlias = Callable[[Scope], tuple[Sequence[Any], Mapping[str, Any]]]
"""What evaluates the arguments of a call: those by position, and those by name."""


def values_of(call: Call, closure: Callable[[Tree], Closure]) -> Values | None:
    """The arguments of a call as `freeze` makes them; None where they are written as only yaql takes them."""
    return lazy_values_of(call, lambda tree: _frozen(tree, closure(tree)))


def _frozen(tree: Tree, made: Closure) -> Closure:
    if isinstance(tree, Constant | Word):
        return made

    def value_of(scope: Scope) -> Any:
        value = made(scope)
        return value if type(value) in PLAIN else freeze(value)

    return value_of


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


def on_receiver(tree: Binary, left: Closure, step: Method) -> Closure:
    """`left.step`, and `left?.step`, which is null where the left side is."""
    name, may_be_null = variable_name(tree.left), tree.operator == "?."

    def dot(scope: Scope) -> Any:
        variables = scope.variables
        receiver = variables[name] if name in variables else left(scope)
        if receiver is None and may_be_null:
            return None
        return step(receiver, scope)

    return dot


def explaining(closure: Closure, fail: Fail) -> Closure:
    """A closure whose errors are raised by `fail`."""

    def evaluate(scope: Scope) -> Any:
        try:
            return closure(scope)
        except Exception as error:  # noqa: BLE001 - it is raised again
            fail(error, scope)

    return evaluate


def as_it_is(error: Exception, _: Scope) -> NoReturn:
    """Raises what went wrong in a part of an expression, which is explained where the whole fails."""
    raise error


def freezing(method: Method) -> Method:
    """A method whose values are as `freeze` makes them."""
    return lambda receiver, scope: freeze(method(receiver, scope))


def of_objects(
    tree: Binary, left: Closure, closure: Callable[[Tree], Closure], otherwise: Method, fail: Fail
) -> Closure:
    """The same for a method: of the class of an object or type, of an extension, or else of the language; only the last one's values may be lazy.

    It does itself what `on_receiver` does, what `takes` does for constants and for one value, and what is done about errors around it, since each
    call of a closure counts here.
    """
    call = tree.right
    assert isinstance(call, Call)
    takes = values_of(call, closure)
    if takes is None:
        return explaining(on_receiver(tree, left, otherwise), fail)
    receiver_name, may_be_null = variable_name(tree.left), tree.operator == "?."
    is_constant = all(isinstance(each, Constant | Word) for each in call.arguments)
    name, constants = call.name, takes(NOWHERE)[0] if is_constant else None
    is_one = len(call.arguments) == 1 and not isinstance(call.arguments[0], Rule)
    only = closure(call.arguments[0]) if is_one else None
    elsewhere = _elsewhere(call, closure, takes, otherwise, may_be_null=may_be_null)

    def method(scope: Scope) -> Any:
        try:
            variables = scope.variables
            receiver = variables[receiver_name] if receiver_name in variables else left(scope)
            try:
                found = receiver.type.called[name] if isinstance(receiver, WholeObject) else None
            except KeyError:
                found = None
            if found is None:
                return elsewhere(receiver, scope)
            if constants is not None:
                return found.call(receiver, constants, _NO_NAMES, scope.scene)
            if only is not None:
                value = only(scope)
                value = value if type(value) in PLAIN else freeze(value)
                return found.call(receiver, (value,), _NO_NAMES, scope.scene)
            values, named = takes(scope)
            return found.call(receiver, values, named, scope.scene)
        except Exception as error:  # noqa: BLE001 - it is raised again
            fail(error, scope)

    return method


def _elsewhere(
    call: Call,
    closure: Callable[[Tree], Closure],
    takes: Values,
    otherwise: Method,
    *,
    may_be_null: bool,
) -> Method:
    """The call of a method that the scene looks up: it is called for the first time, or it is none of the receiver's own class."""
    name, lazily = call.name, _with_lambdas(call, closure)

    def method(receiver: Any, scope: Scope) -> Any:
        if receiver is None and may_be_null:
            return None
        scene = scope.scene
        found = None if scene is None else scene.method(receiver, name)
        if found is None:
            return otherwise(receiver, scope)
        lambdas = getattr(found, "lambdas", None)
        values, named = lazily(scope, lambdas) if lambdas else takes(scope)
        return found.call(receiver, values, named, scene)

    return method


def _with_lambdas(
    call: Call, closure: Callable[[Tree], Closure]
) -> Callable[[Scope, Container[int | str]], tuple[list[Any], dict[str, Any]]]:
    """What evaluates the arguments of a call but for those that are taken as expressions."""
    parts: list[tuple[int | str, Closure]] = [
        (each.source.text, closure(each.destination))
        if isinstance(each, Rule) and isinstance(each.source, Word)
        else (at, closure(each))
        for at, each in enumerate(call.arguments)
    ]

    def values(scope: Scope, lambdas: Container[int | str]) -> tuple[list[Any], dict[str, Any]]:
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for key, made in parts:
            value = _lambda(made, scope) if key in lambdas else freeze(made(scope))
            if isinstance(key, str):
                named[key] = value
            else:
                positional.append(value)
        return positional, named

    return values


def _lambda(made: Closure, scope: Scope) -> Callable[..., Any]:
    def compute(*values: Any, **named: Any) -> Any:
        variables = {f"${at}": each for at, each in enumerate(values, 1)}
        variables |= {f"${name}": each for name, each in named.items()}
        return freeze(made(Scope(scope.scene, variables, scope)))

    return compute


def of_engine(name: str, values: Values) -> Closure:
    """The call of a function of the engine."""

    def function(scope: Scope) -> Any:
        scene = scope.scene
        assert scene is not None
        positional, named = values(scope)
        return scene.builtin(name)(scene, *positional, **named)

    return function
