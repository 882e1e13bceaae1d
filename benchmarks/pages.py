"""Measures how long the server takes for each page: from the request to the whole answer, in this process, without HTTP.

The project has 300 resource types in ten versions, each version with one more property. The first request of each page is shown by itself, as it
reads what later ones have at hand.
"""

import asyncio
import http
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from trundle.dashboard import ShownProject, page_application
from trundle.project import evolution_of
from trundle.schema.readers import Source

TYPES, VERSIONS, ROUNDS = 300, 10, 30
MOST = 100
"""Milliseconds that a page may take."""

TYPE = {"of": "", "type": "Thing150"}
PAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "list": ("/ui/versions", {}),
    "search": ("/ui/versions", {"q": "size7"}),
    "map": ("/ui/versions/type", TYPE),
    "schema": ("/ui/versions/type", {**TYPE, "v": "2024-01-01"}),
    "changes": ("/ui/versions/type", {**TYPE, "v": ["2015-01-01", "2024-01-01"]}),
    "history": ("/ui/versions/property", {**TYPE, "name": "Thing150.name"}),
}


def write(folder: Path) -> None:
    """Writes the schemas."""
    for at in range(VERSIONS):
        place = folder / f"{2015 + at}-01-01"
        place.mkdir()
        for number in range(TYPES):
            parts = {f"size{each}": {"type": "integer"} for each in range(at + 1)}
            part = {"title": f"Part{number}", "type": "object", "properties": parts}
            properties = {"name": {"type": "string", "description": "Its name."}, **parts}
            thing = {
                "title": f"Thing{number}",
                "type": "object",
                "properties": {**properties, "part": {"$ref": "#/$defs/Part"}},
                "$defs": {"Part": part},
            }
            (place / f"thing{number}.json").write_text(json.dumps(thing))


def request(application: Any, path: str, query: dict[str, Any]) -> float:
    """How many milliseconds an answer takes."""
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": urlencode(query, doseq=True).encode(),
        "headers": [(b"host", b"localhost:8002")],
        "server": ("127.0.0.1", 8002),
        "scheme": "http",
    }
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    async def answered() -> float:
        start = time.perf_counter()
        await application(scope, receive, send)
        return (time.perf_counter() - start) * 1000

    found = asyncio.run(answered())
    assert sent[0]["status"] == http.HTTPStatus.OK, sent
    return found


def main() -> None:
    """Prints milliseconds by page; fails where a later request takes too long."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        evolution = evolution_of([Source(Path(folder))])
    application = page_application({"": ShownProject(evolution)})
    print(f"Pages of {TYPES} resource types in {VERSIONS} versions, milliseconds")
    print(f"{'page':10}{'first':>9}{'median':>9}{'slowest':>9}")
    slow = []
    for name, (path, query) in PAGES.items():
        first = request(application, path, query)
        later = [request(application, path, query) for _ in range(ROUNDS)]
        print(f"{name:10}{first:9.1f}{statistics.median(later):9.1f}{max(later):9.1f}")
        slow += [name] if statistics.median(later) > MOST else []
    if slow:
        sys.exit(f"slower than {MOST} ms: {', '.join(slow)}")


if __name__ == "__main__":
    main()
