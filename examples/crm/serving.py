"""The last chapter of the demo: a server of the project on a free port, and clients of two versions."""

import contextlib
import http.client
import json
import threading
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

from trundle.api import Api, Server, listening, served_kinds
from trundle.project.loading import Project
from trundle.runtime import AnyScheme
from trundle.store import Key, Store

GROUP = "crm.example.com"
APPLY = "application/apply-patch+yaml"


class Served:
    """A server of people, and what it keeps.

    Attributes:
        port: where it listens.
    """

    def __init__(self, store: Store, port: int) -> None:
        self._store = store
        self.port = port

    def call(
        self, method: str, path: str, body: Any = None, media_type: str = "application/json"
    ) -> Any:
        """What the server answers to a request."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port)) as connection:
            text = None if body is None else json.dumps(body)
            headers = {"Content-Type": media_type}
            connection.request(method, path, text, headers)
            return json.loads(connection.getresponse().read())

    def watch(self, path: str) -> Generator[Any, None, None]:
        """The events of a watch, as they come."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port)) as connection:
            connection.request("GET", f"{path}?watch=true")
            for line in connection.getresponse():
                yield json.loads(line)

    def kept(self, name: str) -> Mapping[str, Any]:
        """What the store keeps of a person."""
        found: Mapping[str, Any] = json.loads(self._store.get(Key("Person", "default", name)).data)
        return found


def people(version: str, name: str = "") -> str:
    """The path of people, or of one of them, at a version such as `v20190909`."""
    path = f"/apis/{GROUP}/{version}/namespaces/default/people"
    return f"{path}/{name}" if name else path


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
