"""Contracts that are a row of methods of contracts, such as `$.int().notNull()`: run step by step, without variables."""

from collections.abc import Callable, Iterable, Mapping
from types import NoneType
from typing import Any, TypeAlias

from trundle.engine._scene import Scene
from trundle.engine.expressions import (
    Binary,
    Call,
    Closure,
    Group,
    Scope,
    Tree,
    Variable,
    class_name,
    freeze,
)

Run: TypeAlias = Callable[[Any, Scene], Any]
"""Takes a value, and the scene."""

Glance: TypeAlias = Callable[[Any], bool]
"""Whether a value is certain to satisfy a contract as it is."""

SCALARS: frozenset[type] = frozenset({str, int, bool, float, NoneType})

_TAKEN: Mapping[str, set[type]] = {
    "string": {str, NoneType},
    "int": {int, NoneType},
    "bool": {bool, NoneType},
    "notNull": {str, int, bool, float},
}


def calls_of(tree: Tree) -> list[Call] | None:
    """The methods that are called one after the other on `$`; None for any other expression."""
    calls: list[Call] = []
    tree = bare(tree)
    while isinstance(tree, Binary) and tree.operator == "." and isinstance(tree.right, Call):
        calls.insert(0, tree.right)
        tree = bare(tree.left)
    return calls if isinstance(tree, Variable) and tree.name == "$1" else None


def kept_types(tree: Tree) -> frozenset[type]:
    """The types of scalars that an expression, as a contract, always takes as they are; exact ones, no subclasses."""
    calls = calls_of(tree)
    return frozenset() if calls is None else kept_by(calls)


def kept_by(calls: Iterable[Call]) -> frozenset[type]:
    """The same for methods that are called one after the other."""
    kept = SCALARS
    for call in calls:
        kept = kept.intersection(() if call.arguments else _TAKEN.get(call.name, ()))
    return kept


def taken_class(tree: Tree) -> str | None:
    """The class, as it is written, whose objects a contract takes as they are, and nothing else but null; None for any other contract.

    Such a contract is `$.class(NAME)`, with `notNull()` anywhere. A property that declares it has the object itself as its value.
    """
    calls = calls_of(tree) or []
    names = [each.arguments for each in calls if each.name == "class"]
    if len(names) != 1 or len(names[0]) != 1:
        return None
    if any(each.name != "class" and (each.name != "notNull" or each.arguments) for each in calls):
        return None
    return class_name(names[0][0])


def joined(steps: list[Run]) -> Run:
    """One step after the other."""
    if len(steps) == 1:
        return steps[0]
    if len(steps) == 2:  # noqa: PLR2004 - what most contracts are
        one, other = steps
        return lambda value, scene: other(one(value, scene), scene)

    def run(value: Any, scene: Scene) -> Any:
        for step in steps:
            value = step(value, scene)
        return value

    return run


def over_value(closure: Closure, *, sees_this: bool) -> Run:
    """An expression over `$`, and `$this` where it uses that; its value may be lazy."""
    if sees_this:
        return lambda value, scene: closure(Scope(scene, {"$1": value, "$this": scene.this}))
    return lambda value, scene: closure(Scope(scene, {"$1": value}))


def evaluated(closure: Closure, *, sees_this: bool) -> Run:
    """An expression as a contract: its value as `freeze` makes it."""
    step = over_value(closure, sees_this=sees_this)

    def run(value: Any, scene: Scene) -> Any:
        found = step(value, scene)
        return found if found is value else freeze(found)

    return run


def bare(tree: Tree) -> Tree:
    """An expression without the parentheses around it."""
    while isinstance(tree, Group):
        tree = tree.inner
    return tree
