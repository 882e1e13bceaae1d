"""Models as expressions see them: immutable, counted, and never gone through by recursion."""

from collections.abc import Mapping
from typing import Any

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._header import HEADER
from trundle.engine._limits import Limits
from trundle.engine._scene import ObjectValue, TypeValue
from trundle.engine.expressions import FrozenDict
from trundle.errors import shown

_SCALARS = frozenset({str, int, bool, float, type(None)})


class _Open:
    """A list or map whose parts are still being frozen."""

    __slots__ = ("depth", "keys", "made", "parts")

    def __init__(self, value: Any, depth: int) -> None:
        self.depth = depth
        if isinstance(value, Mapping):
            self.keys: list[Any] | None = list(value)
            self.parts = iter(list(value.values()))
        else:
            self.keys = None
            self.parts = iter(value)
        self.made: list[Any] = []

    def close(self) -> Any:
        if self.keys is None:
            return tuple(self.made)
        return FrozenDict(zip(self.keys, self.made, strict=True))


def frozen(model: Any, limits: Limits) -> Any:
    """A model whose lists are tuples, and whose maps are immutable.

    Raises:
        EngineError: it has more values, or lists and maps nested more deeply outside of objects, than the limits allow, or a
            value that no model has.
    """
    if type(model) in _SCALARS:
        return model
    room = limits.values
    stack = [_open(model, 0, limits)]
    while True:
        top = stack[-1]
        for value in top.parts:
            room -= 1
            if type(value) in _SCALARS or isinstance(value, ObjectValue | TypeValue):
                top.made.append(value)
                continue
            if room < 0:
                raise _limit(f"at most {limits.values} values in a model")
            stack.append(_open(value, top.depth + 1, limits))
            break
        else:
            made = stack.pop().close()
            if not stack:
                return made
            stack[-1].made.append(made)


def _open(value: Any, depth: int, limits: Limits) -> _Open:
    if isinstance(value, Mapping):
        if HEADER in value:
            depth = 0
        for key in value:
            if not isinstance(key, str | int | float | bool | TypeValue | None):
                raise _strange(key)
    elif not isinstance(value, list | tuple):
        raise _strange(value)
    if depth > limits.depth:
        raise _limit(f"at most {limits.depth} levels of lists and maps in a value")
    return _Open(value, depth)


def _limit(expected: str) -> EngineError:
    return EngineError(
        EngineCode.LIMIT, f"expected {expected}, found more", advice="split the model"
    )


def _strange(value: Any) -> EngineError:
    message = (
        f"expected a value that JSON has in a model, found {shown(value)} ({type(value).__name__})"
    )
    return EngineError(EngineCode.SYNTAX, message, advice="convert it")
