"""Changes for many watchers: read from the store once, converted once for each version."""

import asyncio
import contextlib
import itertools
from collections import deque
from collections.abc import AsyncIterator, Callable

from trundle.api._kinds import ServedKind, ServedVersion
from trundle.api._views import Views
from trundle.store import ObjectChange, Store, StoredObject

_KEPT = 10_000
"""How many changes a feed keeps; watchers that are further behind read them from the store."""

_WAIT = 1.0
_READ = 500
_PIECE = 50
"""After how many changes that do not concern a watcher others have their turn."""


class SeenChange:
    """A change, and how the versions show it.

    Attributes:
        change: the change.
    """

    __slots__ = ("_shown", "change")

    def __init__(self, change: ObjectChange) -> None:
        self.change = change
        self._shown: dict[str, bytes] = {}

    def shown(
        self, change: ObjectChange, views: Views, kind: ServedKind, served: ServedVersion
    ) -> bytes:
        """The object of the change at a version; converted once, however many ask for it.

        Args:
            change: the change as it concerns a watcher, which may be about an earlier state of the object.
            views: shows objects.
            kind: its resource type.
            served: the version.
        """
        if change.object is not self.change.object:
            return views.watched(change.object, kind, served)
        if served.version not in self._shown:
            self._shown[served.version] = views.watched(change.object, kind, served)
        return self._shown[served.version]


class Feed:
    """The changes of a resource type, for all who watch it.

    Used within one event loop. It reads while there are watchers.

    Args:
        store: keeps the objects.
        resource: the resource type.
    """

    def __init__(self, store: Store, resource: str) -> None:
        self._store = store
        self._resource = resource
        self._kept: deque[SeenChange] = deque(maxlen=_KEPT)
        self._since = self._until = 0
        self._news = asyncio.Event()
        self._watchers = 0
        self._reader: asyncio.Task[None] | None = None

    async def watch(
        self, after: int, chosen: Callable[[StoredObject], bool]
    ) -> AsyncIterator[tuple[int, SeenChange | None, ObjectChange | None]]:
        """The changes of some objects after a resource version, as they come.

        Args:
            after: the resource version of a list, or of the last change.
            chosen: whether an object is among them.

        Yields:
            The resource version up to which all was given, the change, and the change as it concerns the chosen objects. Both
            are None from time to time, so that the watcher can end.

        Raises:
            GoneError: some of them were compacted.
            FutureVersionError: the resource version was not reached yet.
        """
        self._watchers += 1
        if self._reader is None or self._reader.done():
            self._since = self._until = 0
            self._kept.clear()
            self._news = asyncio.Event()  # One that was waited for belongs to its event loop.
            self._reader = asyncio.create_task(self._read())
        try:
            while True:
                news = self._news
                for number, seen in enumerate(await self._after(after), 1):
                    after = seen.change.resource_version
                    concerned = seen.change.within(chosen)
                    if concerned is not None:
                        yield after, seen, concerned
                    elif number % _PIECE == 0:
                        await asyncio.sleep(0)  # What chooses may have to convert each.
                if self._reader.done():
                    self._reader.result()
                if after >= self._until:
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(news.wait(), _WAIT)
                    yield after, None, None
        finally:
            self._watchers -= 1
            if not self._watchers:
                self._reader.cancel()

    async def _after(self, after: int) -> list[SeenChange]:
        """The changes after a resource version: those that are kept, else some of the store."""
        if self._kept and self._since <= after <= self._until:
            newer = (each.change.resource_version > after for each in reversed(self._kept))
            count = sum(1 for _ in itertools.takewhile(bool, newer))
            return [self._kept[index] for index in range(len(self._kept) - count, len(self._kept))]
        found = await asyncio.to_thread(self._store.changes, self._resource, after, limit=_READ)
        return [SeenChange(each) for each in found.changes]

    async def _read(self) -> None:
        """Reads changes while there are watchers."""
        self._since = self._until = await asyncio.to_thread(self._store.newest, self._resource)
        try:
            while True:
                found = await asyncio.to_thread(
                    self._store.changes, self._resource, self._until, limit=_READ, wait=_WAIT
                )
                for each in found.changes:
                    if len(self._kept) == _KEPT:
                        self._since = self._kept[0].change.resource_version
                    self._kept.append(SeenChange(each))
                if found.resource_version > self._until:
                    self._until = found.resource_version
                    self._announce()
        finally:
            self._announce()

    def _announce(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
