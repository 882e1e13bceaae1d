"""What a server does by itself: looks at each object that has owners or is deleted, and does what follows from that."""

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from trundle.api._inventory import Inventory, Kept
from trundle.api._kinds import ServedKind
from trundle.errors import TrundleError
from trundle.store import GoneError

_PAUSE = 1.0
"""Seconds after which changes of other processes are seen at the latest, and what failed is tried anew."""


_GATHERED = 0.02
"""Seconds for which changes gather, so that not each commit is looked at by itself."""


class Controller(Protocol):
    """Does what follows from changes. What it does is the same when it is done twice, and by several servers."""

    def changed(self, found: Kept) -> None:
        """Looks at an object as it is now."""

    def gone(self, found: Kept) -> None:
        """Looks at what an object that was deleted leaves behind."""


class Controllers:
    """Shows controllers what has owners or is deleted, when it changes and when they begin.

    Args:
        inventory: all objects.
        controllers: look at changes.
        further: what is to be done besides; says whether there was anything.
    """

    def __init__(
        self,
        inventory: Inventory,
        controllers: Sequence[Controller],
        further: Callable[[], bool] = lambda: False,
    ) -> None:
        self._further = further
        self._inventory = inventory
        self._controllers = controllers
        self._after: dict[ServedKind, int] = {}
        self._news = threading.Event()
        self._is_stopping = False
        for each in (inventory.store, inventory.core):
            each.listen(self._news.set)

    def run(self) -> None:
        """Goes on until it is stopped."""
        while not self._is_stopping:
            self._news.clear()
            with contextlib.suppress(TrundleError):  # Such as a database that is away.
                self.settle()
            self._news.wait(_PAUSE)
            time.sleep(_GATHERED)

    def stop(self) -> None:
        """Ends `run`."""
        self._is_stopping = True
        self._news.set()

    def settle(self) -> None:
        """Goes on until nothing follows any more."""
        while not self._is_stopping and self.step():
            pass

    def step(self) -> bool:
        """Looks at what changed; whether anything did."""
        inventory = self._inventory
        newest = {each: each.newest_of_each() for each in (inventory.store, inventory.core)}
        written = [
            each
            for each in inventory.stored_kinds
            if self._after.get(each) != newest[inventory.store_of(each)][each.resource]
        ]
        changed = [self._step(each) for each in written]
        return self._further() or any(changed)

    def _step(self, kind: ServedKind) -> bool:
        store = self._inventory.store_of(kind)
        after = self._after.get(kind)
        if after is None:
            self._after[kind] = store.newest(kind.resource)
            waiting = [Kept(kind, store, each) for each in store.unsettled(kind.resource)]
            for kept in waiting:
                self._changed(kept)
            return bool(waiting)
        try:
            found = store.unsettling(kind.resource, after)
        except GoneError:  # It was compacted meanwhile.
            del self._after[kind]
            return True
        for each in found.changes:
            kept = Kept(kind, store, each.object)
            if each.kind == "deleted":
                for controller in self._controllers:
                    controller.gone(kept)
            else:
                self._changed(kept)
        self._after[kind] = found.resource_version
        return bool(found.changes)

    def _changed(self, seen: Kept) -> None:
        """Shows controllers an object as it is now; changes that were overtaken do not matter."""
        now = seen.store.find(seen.object.key)
        if now is not None:
            for controller in self._controllers:
                controller.changed(Kept(seen.kind, seen.store, now))
