"""Calls an ASGI application in this process, without a server."""

import asyncio
import threading
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode


class Heard(NamedTuple):
    """What an application answers."""

    status: int
    headers: Mapping[str, str]
    text: str


def call(
    application: Any,
    method: str,
    path: str,
    *,
    headers: Mapping[str, str] | None = None,
    form: Mapping[str, str] | None = None,
    **query: Any,
) -> Heard:
    """Sends a request as a browser of this machine would send it; parameters may stand in the path, too."""
    path, _, asked = path.partition("?")
    given = {"host": "localhost:8001", **(headers or {})}
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": "&".join(filter(None, (asked, urlencode(query, doseq=True)))).encode(),
        "headers": [(key.encode(), value.encode()) for key, value in given.items()],
        "scheme": "http",
        "server": ("127.0.0.1", 8001),
        "client": ("127.0.0.1", 50000),
        "root_path": "",
        "extensions": {},
    }
    sent: list[Any] = []
    body = urlencode(form or {}).encode()

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    # In a thread: the one that drives a browser has a loop already.
    thread = threading.Thread(target=lambda: asyncio.run(application(scope, receive, send)))
    thread.start()
    thread.join()
    found = {key.decode().lower(): value.decode() for key, value in sent[0]["headers"]}
    return Heard(sent[0]["status"], found, b"".join(x.get("body", b"") for x in sent[1:]).decode())
