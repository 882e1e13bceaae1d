"""The functions that the engine itself has in expressions, such as `new`: how they are called.

What computes them belongs to a session; the scene has it. Values arrive there as `freeze` makes them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from trundle.engine.expressions._scope import SCENE
from trundle.engine.expressions._values import freeze
from trundle.engine.expressions._yaql import Added


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
    Builtin("setAttr", is_function=False, is_method=True),
    Builtin("getAttr", is_function=False, is_method=True),
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


def builtins(*, is_legacy: bool) -> tuple[Added, ...]:
    """All of them for yaql's evaluator, in formats of one family."""
    return tuple(each.added(is_legacy=is_legacy) for each in BUILTINS)
