"""Who wants to know of the destruction of objects: headers of publishers say it as they come into a session, which keeps it from then on."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trundle.engine._header import DEPENDENCIES, ON_DESTRUCTION
from trundle.engine._object import Instance


class Subscriptions:
    """Who wants to know of the destruction of the objects of a session.

    They are found by publisher and by subscriber, so that a change, and the end of an object, looks at no other ones.
    """

    def __init__(self) -> None:
        self._wanted: dict[Instance, dict[tuple[str, str], None]] = {}
        self._handlers: dict[str, dict[Instance, dict[str, None]]] = {}

    def of(self, publisher: Instance) -> tuple[tuple[str, str], ...]:
        """Who wants to know of the destruction of an object: ids, each with the name of a method."""
        return tuple(self._wanted.get(publisher, ()))

    def note(self, objects: Iterable[Instance]) -> None:
        """Notes what the headers of objects say that come into the session."""
        for each in objects:
            if DEPENDENCIES in each.header:
                for identifier, handler in _stated(each.header):
                    self._note(each, identifier, handler)

    def add(self, publisher: Instance, identifier: str, handler: str) -> None:
        """Has a method of an object called before another one is destroyed; once, however often it is added."""
        self._take_over(publisher)
        self._note(publisher, identifier, handler)

    def remove(self, publisher: Instance, identifier: str, handler: str) -> None:
        """Ends that, where it is so."""
        handlers = self._handlers.get(identifier, {})
        if handler not in handlers.get(publisher, ()):
            return
        self._take_over(publisher)
        self._drop(publisher, identifier, handler)
        del handlers[publisher][handler]
        if not handlers[publisher]:
            del handlers[publisher]
        if not handlers:
            del self._handlers[identifier]

    def forget(self, publisher: Instance) -> None:
        """Forgets an object as a publisher; its header says what it wanted."""
        publisher.header = self.header(publisher)
        for identifier, _ in self._wanted.pop(publisher, ()):
            known = self._handlers.get(identifier, {})
            known.pop(publisher, None)
            if not known:
                self._handlers.pop(identifier, None)

    def end(self, gone: Iterable[str]) -> None:
        """Ends the subscriptions of objects that are gone, so that no model keeps their ids."""
        for identifier in gone:
            for publisher, handlers in self._handlers.pop(identifier, {}).items():
                self._take_over(publisher)
                for handler in handlers:
                    self._drop(publisher, identifier, handler)

    def header(self, publisher: Instance) -> Mapping[str, Any]:
        """The header of an object, as a model has it."""
        wanted = self._wanted.get(publisher)
        if not wanted or DEPENDENCIES in publisher.header:
            return publisher.header
        entries = [{"subscriber": each, "handler": handler or None} for each, handler in wanted]
        return {**publisher.header, DEPENDENCIES: {ON_DESTRUCTION: entries}}

    def _note(self, publisher: Instance, identifier: str, handler: str) -> None:
        self._wanted.setdefault(publisher, {})[identifier, handler] = None
        handlers = self._handlers.setdefault(identifier, {})
        handlers.setdefault(publisher, {})[handler] = None

    def _drop(self, publisher: Instance, identifier: str, handler: str) -> None:
        wanted = self._wanted[publisher]
        del wanted[identifier, handler]
        if not wanted:
            del self._wanted[publisher]

    @staticmethod
    def _take_over(publisher: Instance) -> None:
        """Takes what an object's model said out of its header, which no longer says it."""
        if DEPENDENCIES in publisher.header:
            kept = {key: each for key, each in publisher.header.items() if key != DEPENDENCIES}
            publisher.header = kept


def _stated(header: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The subscriptions of a header."""
    dependencies = header.get(DEPENDENCIES) or {}
    for each in dependencies.get(ON_DESTRUCTION) or ():
        yield str(each.get("subscriber")), str(each.get("handler") or "")
