"""The server in the last chapter of the demo: it serves the project on a free port."""

import contextlib
import json
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trundle.api import Api, Server, listening, served_kinds
from trundle.project.loading import Project
from trundle.runtime import AnyScheme
from trundle.store import Key, Store


class Served:
    """A server of people, and what it keeps.

    Attributes:
        port: where it listens.
    """

    def __init__(self, store: Store, port: int) -> None:
        self._store = store
        self.port = port

    def kept(self, name: str) -> Mapping[str, Any]:
        """What the store keeps of a person."""
        found: Mapping[str, Any] = json.loads(self._store.get(Key("Person", "default", name)).data)
        return found


@contextlib.contextmanager
def serving(project: Project, scheme: AnyScheme, place: Path) -> Iterator[Served]:
    """Serves a project from a thread, and keeps its objects in a file."""
    with Store(place, scheme) as store, listening("127.0.0.1", 0) as listener:
        server = Server(Api(store, served_kinds([project], scheme), "demo"), listener)
        ready = threading.Event()
        thread = threading.Thread(target=server.run, args=(ready.set,))
        thread.start()
        try:
            ready.wait(10)
            yield Served(store, listener.getsockname()[1])
        finally:
            server.stop()
            thread.join()
