"""Assignments: where a value goes, and what is rebuilt around it."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from trundle.engine._assigning import assign_by_code, assign_static, static_declaring
from trundle.engine._described import described
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._object import Instance, Part
from trundle.engine._type import Type
from trundle.engine.expressions import (
    Format,
    FrozenDict,
    Scope,
    Variable,
    evaluator,
    map_with,
)
from trundle.engine.running._frame import Frame
from trundle.engine.statements import Step, Target
from trundle.errors import expectation

Store: TypeAlias = Callable[[Scope, Any], None]
_Index: TypeAlias = Callable[[Scope], Any]


def assignment(target: Target, format_: Format) -> Store:
    """What assigns a value to a target that is no variable.

    Raises:
        EngineError: an expression in it cannot be read.
    """
    root, steps = target.root, target.steps
    start = evaluator(root, format_)
    if len(steps) == 1 and steps[0].name:
        return _property(start, root, steps[0].name)
    keys = [_key(each, format_) for each in steps]

    def store(scope: Scope, value: Any) -> None:
        _store_within(
            scope,
            start(scope),
            root,
            [(each.name, key(scope)) for each, key in zip(steps, keys, strict=True)],
            value,
        )

    return store


def _key(step: Step, format_: Format) -> _Index:
    if step.index is None:
        name = step.name
        return lambda _: name
    return evaluator(step.index, format_)


def set_variable(scope: Scope, name: str, value: Any) -> None:
    """Sets a variable of the method, or that of a branch which has one of this name."""
    at = scope
    while name not in at.variables and at.parent is not None:
        at = at.parent
    at.variables[name] = value  # type: ignore[index]


def _property(start: _Index, root: Any, name: str) -> Store:
    def store(scope: Scope, value: Any) -> None:
        holder = start(scope)
        kind = type(holder)
        if kind is Instance:
            frame: Any = scope.scene
            assign_by_code(frame.world, holder, holder.type, name, value, frame.origin)
        elif kind is Part or kind is Type:
            _set_member(scope, holder, name, value)
        else:
            _store_within(scope, holder, root, [(name, name)], value)

    return store


def _set_member(scope: Scope, holder: Any, name: str, value: Any) -> None:
    frame = scope.scene
    assert isinstance(frame, Frame)
    world, code = frame.world, frame.origin
    if isinstance(holder, Type):
        assign_static(world, static_declaring(holder, name), name, value)
    else:
        assign_by_code(world, holder.instance, holder.type, name, value, code)


def _store_within(
    scope: Scope, value: Any, root: Any, keys: list[tuple[str, Any]], new: Any
) -> None:
    """Stores a value somewhere within another one: the last object on the way gets a rebuilt value.

    Args:
        scope: the variables.
        value: what the way starts at.
        root: how that is written.
        keys: the steps: the name, empty for an index, and the key.
        new: what is stored.
    """
    holder, member, within, at = None, "", value, 0
    for place, (name, key) in enumerate(keys):
        if isinstance(value, Instance | Part | Type) and name:
            holder, member, at = value, name, place + 1
            value = None if at == len(keys) else _read(scope, value, name)
            within = value
        else:
            value = _found(value, key)
    path = [key for _, key in keys[at:]]
    if holder is not None:
        _set_member(scope, holder, member, _rebuilt(within, path, new) if path else new)
        return
    if not isinstance(root, Variable):
        message = expectation("an object or a type to assign to", described(within))
        raise EngineError(EngineCode.INVALID_TARGET, message)
    if within is None:
        raise ValueError(f"{root.name} is null; nothing can be assigned within it")
    set_variable(scope, root.name, _rebuilt(within, path, new))


def _read(scope: Scope, holder: Any, name: str) -> Any:
    """The value of a property; an empty map where it has none yet."""
    assert scope.scene is not None
    try:
        found = holder.read(name, scope.scene)
    except EngineError as error:
        if error.code not in (EngineCode.UNINITIALIZED, EngineCode.NO_PROPERTY):
            raise
        return FrozenDict()
    if found is None:
        raise ValueError(f"{name} is null; nothing can be assigned within it")
    return found


def _found(value: Any, key: Any) -> Any:
    """What stands under a key, as far as something does."""
    if isinstance(value, Mapping):
        return value.get(key)
    if isinstance(value, tuple) and type(key) is int and -len(value) <= key < len(value):
        return value[key]
    return None


def _rebuilt(value: Any, path: list[Any], new: Any) -> Any:
    """A value with another one at a place within it."""
    if not path:
        return new
    key, rest = path[0], path[1:]
    if isinstance(value, Mapping):
        return map_with(value, key, _rebuilt(value.get(key, FrozenDict()), rest, new))
    if isinstance(value, tuple) and type(key) is int:
        items = list(value)
        items[key] = _rebuilt(items[key], rest, new)
        return tuple(items)
    if isinstance(value, tuple):
        raise TypeError(expectation("an integer as the place in a list", described(key)))
    if value is None:
        raise ValueError(f"what {described(key)} is assigned within is null")
    raise TypeError(expectation(f"a list or a map to set {described(key)} in", described(value)))
