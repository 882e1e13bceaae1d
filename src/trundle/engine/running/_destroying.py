"""Destroys objects: the subscribers of all of them are called, and after that `.destroy` of each."""

import logging
from collections.abc import Collection, Iterator
from typing import Any

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._object import Instance
from trundle.engine._world import World
from trundle.engine.running._calls import Calls
from trundle.engine.running._found import Found

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
        order = list(_in_order(doomed))
        for instance in reversed(order):
            _notify(calls, instance)
        for instance in order:
            for found in calls.destructors(instance.type):
                _guarded(world, instance, found, ())
            instance.is_destroyed = True
            if world.objects.get(instance.id) is instance:
                del world.objects[instance.id]
        _forget(world, {each.id for each in doomed} - world.objects.keys())
    finally:
        world.doomed = frozenset()


def subscriptions(instance: Instance) -> list[tuple[str, str]]:
    """Who wants to know of the destruction of an object: ids, each with the name of a method."""
    dependencies = instance.header.get("dependencies") or {}
    return [
        (str(each.get("subscriber")), str(each.get("handler") or ""))
        for each in dependencies.get("onDestruction") or ()
    ]


def subscribe(publisher: Instance, wanted: Collection[tuple[str, str]]) -> None:
    """Sets who wants to know of the destruction of an object."""
    entries = [{"subscriber": name, "handler": handler or None} for name, handler in wanted]
    header = {key: each for key, each in publisher.header.items() if key != "dependencies"}
    publisher.header = {**header, "dependencies": {"onDestruction": entries}} if entries else header


def _forget(world: World, gone: Collection[str]) -> None:
    """Ends the subscriptions of objects that are gone, so that no model keeps their ids."""
    for each in world.objects.values():
        wanted = subscriptions(each)
        left = [one for one in wanted if one[0] not in gone]
        if len(left) < len(wanted):
            subscribe(each, left)


def _notify(calls: Calls, instance: Instance) -> None:
    """Calls the handlers of the subscribers that are still there."""
    for identifier, handler in subscriptions(instance):
        subscriber = calls.world.objects.get(identifier)
        if subscriber is None or subscriber.is_destroyed or not handler:
            continue
        found = calls.find(subscriber.type, subscriber.type, handler)
        if found is not None:
            _guarded(calls.world, subscriber, found, (instance,))


def _in_order(doomed: Collection[Instance]) -> Iterator[Instance]:
    """Objects in an order in which each comes after what it owns and what it subscribes to."""
    by_id = {each.id: each for each in doomed}
    before: dict[Instance, list[Instance]] = {each: [] for each in doomed}
    for each in doomed:
        if each.holder in before:
            before[each.holder].append(each)
        for identifier, _ in subscriptions(each):
            if identifier in by_id:
                before[by_id[identifier]].append(each)
    seen: set[Instance] = set()
    for root in doomed:
        left = [(root, False)]
        while left:
            each, is_done = left.pop()
            if is_done:
                yield each
            elif each not in seen:
                seen.add(each)
                left.append((each, True))
                left.extend((other, False) for other in reversed(before[each]))


def _guarded(world: World, instance: Instance, found: Found, values: tuple[Any, ...]) -> None:
    try:
        found.call(instance, values, {})
    except EngineError as error:
        if error.code is EngineCode.LIMIT and world.is_used_up:
            raise  # What comes after it would not run either
        _LOG.error("%s of %s failed: %s", found.routine.name, instance.id, error.format())
