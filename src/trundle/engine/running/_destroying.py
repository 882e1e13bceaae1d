"""Destroys objects: the subscribers of all of them are called, and after that `.destroy` of each."""

import logging
from collections.abc import Collection, Iterator
from typing import Any

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._object import Instance
from trundle.engine._subscriptions import Subscriptions
from trundle.engine._world import World
from trundle.engine.running._calls import Calls
from trundle.engine.running._found import Found
from trundle.engine.running._order import each_after

_LOG = logging.getLogger("trundle.engine")


def destroy(calls: Calls, doomed: Collection[Instance]) -> None:
    """Destroys objects: owned ones before their owners, and publishers before their subscribers.

    Handlers of subscribers come first, in the reverse order, so that they see all of the objects as they were. What goes wrong in a handler or in `.destroy` is logged, and stops nothing.

    Args:
        calls: what runs methods.
        doomed: the objects; they are no longer part of the session afterwards.

    Raises:
        EngineError: with the code `limit`: the run has no steps or no time left.
    """
    world = calls.world
    world.doomed = frozenset(doomed)
    try:
        order = list(_in_order(doomed, world.subscriptions))
        for instance in reversed(order):
            _notify(calls, instance)
        for instance in order:
            for found in calls.destructors(instance.type):
                _guarded(world, instance, found, ())
            instance.is_destroyed = True
            if world.objects.get(instance.id) is instance:
                del world.objects[instance.id]
            world.subscriptions.forget(instance)
        world.subscriptions.end({each.id for each in doomed} - world.objects.keys())
    finally:
        world.doomed = frozenset()


def _notify(calls: Calls, instance: Instance) -> None:
    """Calls the handlers of the subscribers that are still there."""
    for identifier, handler in calls.world.subscriptions.of(instance):
        subscriber = calls.world.objects.get(identifier)
        if subscriber is None or subscriber.is_destroyed or not handler:
            continue
        found = calls.find(subscriber.type, subscriber.type, handler)
        if found is not None:
            _guarded(calls.world, subscriber, found, (instance,))


def _in_order(doomed: Collection[Instance], subscriptions: Subscriptions) -> Iterator[Instance]:
    """Objects in an order in which each comes after what it owns and what it subscribes to."""
    by_id = {each.id: each for each in doomed}
    before: dict[Instance, list[Instance]] = {each: [] for each in doomed}
    for each in doomed:
        if each.holder in before:
            before[each.holder].append(each)
        for identifier, _ in subscriptions.of(each):
            if identifier in by_id:
                before[by_id[identifier]].append(each)
    return each_after(doomed, before)


def _guarded(world: World, instance: Instance, found: Found, values: tuple[Any, ...]) -> None:
    try:
        found.call(instance, values, {})
    except EngineError as error:
        if error.code is EngineCode.LIMIT and world.is_used_up:
            raise  # What comes after it would not run either
        _LOG.error("%s of %s failed: %s", found.routine.name, instance.id, error.format())
