"""Who wants to know of the destruction of objects: headers of publishers say it, and a session finds them by the subscriber."""

from collections.abc import Collection, Iterable

from trundle.engine._header import DEPENDENCIES, ON_DESTRUCTION
from trundle.engine._object import Instance


def subscriptions(publisher: Instance) -> list[tuple[str, str]]:
    """Who wants to know of the destruction of an object: ids, each with the name of a method."""
    dependencies = publisher.header.get(DEPENDENCIES) or {}
    return [
        (str(each.get("subscriber")), str(each.get("handler") or ""))
        for each in dependencies.get(ON_DESTRUCTION) or ()
    ]


class Subscriptions:
    """The publishers of a session by the ids of their subscribers, so that ending those of one object looks at no other ones."""

    def __init__(self) -> None:
        self._publishers: dict[str, dict[Instance, None]] = {}

    def note(self, objects: Iterable[Instance]) -> None:
        """Notes what the headers of objects say that come into the session."""
        for each in objects:
            if DEPENDENCIES in each.header:
                for identifier, _ in subscriptions(each):
                    self._publishers.setdefault(identifier, {})[each] = None

    def set(self, publisher: Instance, wanted: Collection[tuple[str, str]]) -> None:
        """Sets who wants to know of the destruction of an object."""
        entries = [{"subscriber": name, "handler": handler or None} for name, handler in wanted]
        self.forget(publisher)
        header = {key: each for key, each in publisher.header.items() if key != DEPENDENCIES}
        if entries:
            header[DEPENDENCIES] = {ON_DESTRUCTION: entries}
        publisher.header = header
        self.note((publisher,))

    def forget(self, publisher: Instance) -> None:
        """Forgets an object as a publisher; its header stays as it is."""
        for identifier, _ in subscriptions(publisher):
            known = self._publishers.get(identifier, {})
            known.pop(publisher, None)
            if not known:
                self._publishers.pop(identifier, None)

    def end(self, gone: Iterable[str]) -> None:
        """Ends the subscriptions of objects that are gone, so that no model keeps their ids."""
        for identifier in gone:
            for each in list(self._publishers.get(identifier, ())):
                self.set(each, [one for one in subscriptions(each) if one[0] != identifier])
