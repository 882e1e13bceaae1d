"""The functions that the engine itself has in expressions, such as `new`: how they are called.

What computes them belongs to a session; the scene has it. Values arrive there as `freeze` makes them.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from trundle.engine.expressions._scope import SCENE
from trundle.engine.expressions._values import freeze
from trundle.engine.expressions._yaql import Added, register


class Builtin(NamedTuple):
    """How one of them is called.

    Attributes:
        name: its name.
        is_function: whether it is called without a dot.
        is_method: whether it is called with a dot.
        is_method_before: whether formats below 1.2 also call it with a dot.
        takes_lambda: whether its second argument is an expression over `$`, which may be left out.
    """

    name: str
    is_function: bool = True
    is_method: bool = False
    is_method_before: bool = False
    takes_lambda: bool = False

    def added(self, *, is_legacy: bool) -> Added:
        """The function for yaql's evaluator, in formats of one family."""
        is_method = self.is_method or (is_legacy and self.is_method_before)
        if self.takes_lambda:
            payload, parameters = _over_each(self.name), {"f": "lambda"}
        else:
            payload, parameters = _over_values(self.name), {}
        return Added(self.name, payload, parameters, is_method, self.is_function)


def _over_values(name: str) -> Callable[..., Any]:
    def call(context: Any, *values: Any, **named: Any) -> Any:
        scene = context[SCENE]
        frozen = {key: freeze(each) for key, each in named.items()}
        return scene.builtin(name)(scene, *[freeze(each) for each in values], **frozen)

    return call


def _over_each(name: str) -> Callable[..., Any]:
    def call(context: Any, value: Any, f: Any = None) -> Any:
        scene = context[SCENE]
        compute = None if f is None else lambda each: freeze(f(each))
        return scene.builtin(name)(scene, freeze(value), compute)

    return call


BUILTINS = (
    Builtin("new"),
    Builtin("cast", is_method_before=True),
    Builtin("super", is_method_before=True, takes_lambda=True),
    Builtin("psuper", is_method_before=True, takes_lambda=True),
    Builtin("id", is_method_before=True),
    Builtin("name"),
    Builtin("metadata"),
    Builtin("type", is_method_before=True),
    Builtin("typeinfo"),
    Builtin("find", is_function=False, is_method=True),
    Builtin("require", is_function=False, is_method=True),
    Builtin("bind", is_function=False, is_method=True),
    Builtin("patch", is_function=False, is_method=True),
    Builtin("pselect", is_function=False, is_method=True, takes_lambda=True),
    Builtin("dump"),
    Builtin("isObject"),
    Builtin("sleep"),
    Builtin("call"),
    Builtin("base64encode", is_method=True),
    Builtin("base64decode", is_method=True),
    Builtin("randomName"),
    Builtin("logger"),
)

DIRECT = frozenset(each.name for each in BUILTINS if each.is_function and not each.takes_lambda)
"""Those that are called with values alone."""


_CALL = "$#call"
"""The name under which the context of a mock keeps that of the call which it answers."""


def _inject(context: Any, target: Any, method: Any, what: Any, mock: Any = None) -> None:
    """Replaces a method by one of an object, or by an expression over `$`, which is the test."""
    scene = context[SCENE]
    inject = scene.builtin("inject")
    if mock is not None:
        inject(scene, freeze(target), method, freeze(what(context)), mock)
        return

    def compute(variables: Mapping[str, Any], original: Callable[[], Any]) -> Any:
        call = context.create_child_context()
        for name, value in variables.items():
            call[name] = value
        inner = context.create_child_context()
        inner[_CALL] = call
        register(inner, Added("originalMethod", original))
        return freeze(what(inner, scene.this))

    inject(scene, freeze(target), method, compute)


def _with_original(context: Any, **values: Any) -> Any:
    """What `withOriginal(a => $b) -> x` evaluates `x` with: variables computed from those of the call that a mock answers."""
    call = context[_CALL]
    if call is None:
        raise ValueError("`withOriginal` stands outside of an expression that `inject` takes")
    inner = context.create_child_context()
    for name, compute in values.items():
        inner[f"${name}"] = freeze(compute(call))
    return inner


_LAZY = "lambda over a context"
MOCKING = (
    Added("inject", _inject, {"what": _LAZY}),
    Added("withOriginal", _with_original, {"values": _LAZY}),
)
"""What tests of packages replace methods with."""


def builtins(*, is_legacy: bool) -> tuple[Added, ...]:
    """All of them for yaql's evaluator, in formats of one family."""
    return (*(each.added(is_legacy=is_legacy) for each in BUILTINS), *MOCKING)
