"""Models as expressions see them: immutable, counted, and never gone through by recursion."""

import math
from collections.abc import Mapping
from typing import Any

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._header import HEADER
from trundle.engine._limits import Limits
from trundle.engine._scene import ObjectValue, TypeValue
from trundle.engine.expressions import FrozenDict
from trundle.errors import expectation, shown

_SCALARS = frozenset({str, int, bool, type(None)})
_TEXTS = frozenset({str})
_SHALLOW = 30
"""How deep a model may be that is copied by recursion, as nearly all can be."""


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


class _UnusualError(Exception):
    """A model that has more than maps with texts as keys, lists, texts, integers, truths and nulls in few levels."""


class _Copier:
    """Freezes what nearly all models are."""

    __slots__ = ("room",)

    def __init__(self, room: int) -> None:
        self.room = room

    def copied(self, value: Any, levels: int) -> Any:
        """A value that is no scalar as `frozen` makes it.

        Raises:
            _UnusualError: there is something else in it, more levels, or too much.
        """
        kind = type(value)
        if kind is dict:
            return self._map(value, levels - 1)
        if kind is list:
            return self._list(value, levels - 1)
        if kind is float and math.isfinite(value):
            return value
        raise _UnusualError

    def _map(self, value: dict[Any, Any], levels: int) -> Any:
        self.room -= len(value)
        if self.room < 0 or not levels or not _TEXTS.issuperset(map(type, value)):
            raise _UnusualError
        if HEADER not in value:
            if _SCALARS.issuperset(map(type, value.values())):
                return FrozenDict(value)
            scalars = _SCALARS
            return FrozenDict(
                {
                    key: each if type(each) in scalars else self.copied(each, levels)
                    for key, each in value.items()
                }
            )
        made = value.copy()
        for key, each in value.items():
            if type(each) in _SCALARS:
                continue
            if key == HEADER and _is_plain(each):
                self.room -= len(each)
                made[key] = each.copy()
            else:
                made[key] = self.copied(each, levels)
        return made

    def _list(self, value: list[Any], levels: int) -> Any:
        self.room -= len(value)
        if self.room < 0 or not levels:
            raise _UnusualError
        if _SCALARS.issuperset(map(type, value)):
            return tuple(value)
        scalars = _SCALARS
        return tuple(
            [each if type(each) in scalars else self.copied(each, levels) for each in value]
        )


def _is_plain(header: Any) -> bool:
    """Whether a header is a map of scalars."""
    return type(header) is dict and _SCALARS.issuperset(map(type, header.values()))


def frozen(model: Any, limits: Limits) -> Any:
    """A model whose lists are tuples, and whose maps are immutable, but for those that stand for objects.

    The maps of objects go when their objects are there, so they are plain copies, which is much faster.

    Raises:
        EngineError: it has more values, or lists and maps nested more deeply outside of objects, than the limits allow, or a
            value that no model has.
    """
    if type(model) in _SCALARS or _is_number(model) or _is_of_engine(model):
        return model
    if limits.depth >= _SHALLOW:
        copier = _Copier(limits.values)
        try:
            return copier.copied(model, _SHALLOW)
        except _UnusualError:
            pass  # It is gone through with care
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
