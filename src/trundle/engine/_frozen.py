"""Models as expressions see them: immutable, counted, and never gone through by recursion."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._header import HEADER
from trundle.engine._limits import Limits
from trundle.engine._scene import ObjectValue, TypeValue
from trundle.engine.expressions import FrozenDict
from trundle.errors import expectation, shown

_SCALARS = frozenset({str, int, bool, type(None)})
_TEXTS = frozenset({str})


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
        entries = dict(zip(self.keys, self.made, strict=True))
        return entries if HEADER in entries else FrozenDict(entries)


def frozen(model: Any, limits: Limits) -> Any:
    """A model whose lists are tuples, and whose maps are immutable, but for those that stand for objects.

    The maps of objects go when their objects are there, so they are plain copies, which is much faster.

    Raises:
        EngineError: it has more values, or lists and maps nested more deeply outside of objects, than the limits allow, or a
            value that no model has.
    """
    if type(model) in _SCALARS or _is_number(model) or _is_of_engine(model):
        return model
    room = limits.values
    stack = [_open(model, 0, limits)]
    while True:
        top = stack[-1]
        for value in top.parts:
            room -= 1
            if type(value) in _SCALARS or _is_number(value) or _is_of_engine(value):
                top.made.append(value)
                continue
            if room < 0:
                raise _limit(f"at most {limits.values} values in a model")
            flat = _flat(value)
            if flat is not None:
                room -= len(flat)
                top.made.append(flat)
                continue
            stack.append(_open(value, top.depth + 1, limits))
            break
        else:
            made = stack.pop().close()
            if not stack:
                return made
            stack[-1].made.append(made)


def _is_number(value: Any) -> bool:
    """Whether a value is a finite number with a fraction.

    Raises:
        EngineError: it is not finite.
    """
    if type(value) is not float:
        return False
    if not math.isfinite(value):
        raise _strange(value)
    return True


def _is_of_engine(value: Any) -> bool:
    return isinstance(value, ObjectValue | TypeValue)


def _flat(value: Any) -> Any:
    """A map or list of scalars, frozen at once, as most in a model are; None for any other."""
    if type(value) is dict:
        if not _TEXTS.issuperset(map(type, value)):
            return None
        if HEADER not in value:
            return FrozenDict(value) if _has_scalars(value.values()) else None
        header = value[HEADER]
        if type(header) is not dict or not _has_scalars(header.values()):
            return None
        kinds = list(map(type, value.values()))
        kinds.remove(dict)
        return value.copy() if _SCALARS.issuperset(kinds) else None
    if type(value) is list:
        return tuple(value) if _has_scalars(value) else None
    return None


def _has_scalars(values: Iterable[Any]) -> bool:
    """Whether all values are scalars."""
    return _SCALARS.issuperset(map(type, values))


def _open(value: Any, depth: int, limits: Limits) -> _Open:
    if isinstance(value, Mapping):
        if HEADER in value:
            depth = 0
        for key in value:
            if type(key) is not str and not isinstance(
                key, int | float | TypeValue | ObjectValue | None
            ):
                raise _strange(key)
    elif not isinstance(value, list | tuple):
        raise _strange(value)
    if depth > limits.depth:
        raise _limit(f"at most {limits.depth} levels of lists and maps in a value")
    return _Open(value, depth)


def _limit(expected: str) -> EngineError:
    return EngineError(EngineCode.LIMIT, expectation(expected, "more"), advice="split the model")


def _strange(value: Any) -> EngineError:
    message = expectation(
        "a value that JSON has in a model", f"{shown(value)} ({type(value).__name__})"
    )
    return EngineError(EngineCode.SYNTAX, message, advice="convert it")
