"""Counts the instructions of a PUT, which other work on the machine does not change.

The application of `trundle serve` is called without HTTP, over SQLite, by one writer and by 16 at a time. Objects have about 2 KB, are created and written at 2023-01-01 by clients, so their
fields have owners, and clients write over what they read. The figure is the difference between runs with more and with fewer PUTs under `valgrind`, which has to be installed.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from serving import GROUP, path
from shapes import OLDER

from store import WRITERS, generated, key, written
from trundle.api import Api, _steps, served_kinds
from trundle.api._collection import seldom_collecting
from trundle.project import generated_scheme, load_config, load_parts
from trundle.store import Store

FEW, MANY = 20, 220


class Client:
    """Asks an application, as clients of HTTP do.

    Args:
        application: the ASGI application.
        agent: the program that asks, as it names itself.
    """

    def __init__(self, application: Any, agent: str) -> None:
        self._application = application
        self._agent = agent.encode()

    async def ask(self, method: str, where: str, body: bytes = b"") -> bytes:
        """The body of the answer, which is a success."""
        found: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            found.append(message)

        headers = {
            b"user-agent": self._agent,
            b"content-type": b"application/json",
            b"content-length": str(len(body)).encode(),
        }
        scope = {
            "type": "http",
            "method": method,
            "path": where,
            "query_string": b"",
            "headers": list(headers.items()),
        }
        await self._application(scope, receive, send)
        shown: bytes = b"".join(each.get("body", b"") for each in found)
        assert found[0]["status"] in (200, 201), shown
        return shown


async def edit(client: Client, number: int, times: int) -> None:
    """Edits an object again and again, as a client does that keeps what it read."""
    where = path(OLDER, key(number).name)
    seen = await client.ask("GET", where)
    for at in range(times):
        count = str(100 + at).encode()
        changed = re.sub(rb'"replicas":\d+', b'"replicas":' + count, seen, count=1)
        seen = await client.ask("PUT", where, changed)
        assert b'"replicas":' + count in seen


async def write(application: Any, documents: list[bytes], times: int) -> None:
    """Creates objects, and edits all of them at the same time."""
    creator, writer = (Client(application, f"{each}/1.0") for each in ("creator", "writer"))
    for each in documents:
        await creator.ask("POST", path(OLDER), each)
    await asyncio.gather(*(edit(writer, number, times) for number in range(len(documents))))


def run(project: Path, writers: int, times: int) -> None:
    """Writes to a new store."""
    _steps._PATIENCE, _steps._LONGEST = 1e9, 1.0  # noqa: SLF001 - under valgrind, writers come late
    config = load_config(project / "trundle.yaml")
    with (
        tempfile.TemporaryDirectory(prefix="trundle-bench-") as folder,
        generated_scheme(config) as scheme,
        Store(f"sqlite:///{folder}/writes.db", scheme) as store,
    ):
        kinds = served_kinds(load_parts(config).values(), scheme)
        names = {"apiVersion": f"{GROUP}/v{OLDER.replace('-', '')}", "kind": "Workload"}
        shown = [scheme.convert_json(written(scheme, each), OLDER) for each in range(writers)]
        documents = [json.dumps({**json.loads(each), **names}).encode() for each in shown]
        with seldom_collecting():
            asyncio.run(write(Api(store, kinds, "0.0.0").application, documents, times))


def instructions(project: Path, writers: int, times: int) -> int:
    """How many instructions a run takes."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    mine = [sys.executable, __file__, "--run", str(project), str(writers), str(times)]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [*command, *mine], capture_output=True, text=True, check=True, env=environment
    )
    (found,) = re.findall(r"I +refs: +([0-9,]+)", done.stderr)
    return int(found.replace(",", ""))


def main() -> None:
    """Prints how many instructions a PUT takes."""
    if sys.argv[1:2] == ["--run"]:
        run(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
        return
    with tempfile.TemporaryDirectory(prefix="trundle-bench-") as folder:
        with generated(Path(folder)):
            (project,) = Path(folder).iterdir()
        for writers in (1, WRITERS):
            few, many = (instructions(project, writers, each) for each in (FEW, MANY))
            each = (many - few) / (MANY - FEW) / writers
            print(
                f"a PUT by {writers:>2} writers at a time {each / 1e6:>6.2f} million instructions"
            )


if __name__ == "__main__":
    main()
