"""Measures `trundle serve`: reads and writes at another version, long lists and many watchers.

The server is a process of its own; its clients are small. Objects have about 2 KB and are stored at the last version. Stores are filled without a server. What is
compared is measured in turns, in one run.
"""

import contextlib
import functools
import http.client
import json
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from loading import Connection, Loaded, request
from shapes import OLDER
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from store import (
    WRITERS,
    Bare,
    generated,
    in_file,
    key,
    on_server,
    postgresql,
    put_bare,
    written,
)
from trundle.api import Api, Server, listening, served_kinds
from trundle.project import generated_scheme, load_config, load_parts
from trundle.runtime import AnyScheme
from trundle.store import ServerLease, Store

HERE = Path(__file__).parent
CLIENTS, ASKED, ROUNDS = 16, 25, 12
PUTS, PUT_ROUNDS = 40, 4
LISTED, LISTS = 10_000, 3
WATCHERS, CHANGES = 1_000, 8
VERSIONS = ("2022-01-01", "2023-01-01", "2024-01-01", "2025-01-01")
GROUP = "workloads-2025-01-01.local"


def path(version: str, name: str = "") -> str:
    """Where workloads are served at a version."""
    label = f"v{version.replace('-', '')}"
    found = f"/apis/{GROUP}/{label}/namespaces/default/workloads"
    return f"{found}/{name}" if name else found


# The server


def serve(project: Path, place: str) -> None:
    """Serves a store of a project until a signal; prints the port."""
    config, out = load_config(project / "trundle.yaml"), sys.stdout
    with generated_scheme(config) as scheme, Store(place, scheme) as store:
        kinds = served_kinds(load_parts(config).values(), scheme)
        constant = scheme.convert_json(written(scheme, 0), OLDER)

        async def answer(_: Request) -> Response:
            return Response(constant, media_type="application/json")

        async def used(_: Request) -> Response:
            return JSONResponse({"processor": time.process_time(), **memory()})

        beside = [Route("/constant", answer), Route("/used", used)]
        api = Api(store, kinds, "0.0.0", beside=beside)
        with listening("127.0.0.1", 0) as listener, ServerLease(store) as lease:
            Server(api, listener, lease).run(
                lambda: print(listener.getsockname()[1], file=out, flush=True)
            )


def memory() -> dict[str, int]:
    """How much memory this process has, and had at most, in KB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    found = dict(each.split(":", 1) for each in lines)
    return {
        name: int(found[each].split()[0]) for name, each in (("now", "VmRSS"), ("most", "VmHWM"))
    }


@contextlib.contextmanager
def running(*command: str | Path) -> Iterator[int]:
    """A server in a process of its own; its port."""
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def server(folder: Path, place: str) -> contextlib.AbstractContextManager[int]:
    """A server of a store."""
    return running(__file__, "--serve", folder, place)


# What is measured


def measure_get(folder: Path, place: str) -> None:
    """Prints how fast an object is read at another version."""
    with (
        server(folder, place) as port,
        running(HERE / "by_cadwyn.py", folder / "one.json") as other,
    ):
        ours, theirs = Loaded(port, 1), Loaded(other, 1)
        header = {"x_api_version": OLDER}
        jobs = {
            "constant bytes": (ours, request("GET", "/constant"), {}),
            "GET": (ours, request("GET", path(OLDER, key(0).name)), {}),
            "unread": (ours, unread(0)[0], {}),
            "Cadwyn": (theirs, request("GET", f"/workloads/{key(0).name}", **header), header),
        }
        shown = {name: json.loads(on.ask(sent)) for name, (on, sent, _) in jobs.items()}
        for each in ("GET", "Cadwyn"):
            assert (
                shown[each]["containers"][0]["image"]
                == shown["constant bytes"]["containers"][0]["image"]
            )
        costs: dict[str, list[float]] = {name: [] for name in jobs}
        for round_ in range(ROUNDS + 1):
            for name, (on, sent, headers) in jobs.items():
                clients = Loaded(on.port, CLIENTS)  # Others may have been idle for too long.
                before = processor(on, headers)
                clients.together(unread(round_) if name == "unread" else sent, ASKED)
                if round_:
                    costs[name].append((processor(on, headers) - before) / ASKED / CLIENTS)
    for name, what in (("GET", "that was read before"), ("unread", "that was never read")):
        peer = "same server, constant bytes"
        show(f"GET of 2 KB {what}", peer, costs[name], costs["constant bytes"], "0.60")
    show("", "Cadwyn, two versions, in memory", costs["GET"], costs["Cadwyn"], "10")


def unread(round_: int) -> list[bytes]:
    """Requests for objects that no other round asks for."""
    first = 1 + round_ * ASKED * CLIENTS
    numbers = range(first, first + ASKED * CLIENTS)
    return [request("GET", path(OLDER, key(number).name)) for number in numbers]


def processor(on: Loaded, headers: dict[str, str]) -> float:
    """Seconds of the processor that a server has used."""
    found = on.used(**headers)
    return float(found["processor"] if isinstance(found, dict) else found)


def show(title: str, peer: str, mine: list[float], theirs: list[float], aim: str) -> None:
    """Prints a ratio of times, the median over rounds."""
    ratio = statistics.median(b / a for a, b in zip(mine, theirs, strict=True))
    a, b = (statistics.median(each) * 1e6 for each in (mine, theirs))
    print(f"{title:<34}{a:>10.0f} µs {peer:<34}{b:>10.0f} µs{ratio:>8.2f}  aim {aim}")


def measure_puts(name: str, folder: Path, place: str, bare: Bare, scheme: AnyScheme) -> None:
    """Prints how fast objects are put at an old version by many writers.

    Args:
        name: the database.
        folder: the project.
        place: the store that is served.
        bare: another store of the same database, with the same objects.
        scheme: the scheme of both.
    """
    mine, theirs = [], []
    with Store(place, scheme) as store:
        fill(store, scheme, WRITERS)
    with server(folder, place) as port:
        for round_ in range(PUT_ROUNDS + 1):
            loaded = Loaded(port, WRITERS)
            seconds = loaded.apart(functools.partial(put, round_))
            start = time.perf_counter()
            put_bare(bare, PUTS)
            if round_:
                mine.append(seconds / PUTS / WRITERS)
                theirs.append((time.perf_counter() - start) / PUTS / WRITERS)
    show(f"{name}: PUT, {WRITERS} writers", "bare transactions", mine, theirs, "0.50")


def put(round_: int, number: int, connection: Connection) -> None:
    """Edits an object again and again at an old version, as a client does that keeps what it read."""
    where = path(OLDER, key(number).name)
    connection.send(request("GET", where))
    seen = connection.receive()
    for at in range(PUTS):
        count = str(round_ * PUTS + at + 100).encode()
        changed = re.sub(rb'"replicas":\d+', b'"replicas":' + count, seen, count=1)
        connection.send(request("PUT", where, changed))
        seen = connection.receive()
        assert b'"replicas":' + count in seen


def fill(store: Store, scheme: AnyScheme, number: int) -> None:
    """Stores objects; many at a time, as one alone waits for the disk."""

    def create(first: int) -> None:
        for each in range(first, number, WRITERS):
            store.create(key(each), written(scheme, each))

    with ThreadPoolExecutor(WRITERS) as threads:
        list(threads.map(create, range(WRITERS)))


def measure_list(folder: Path, place: str) -> None:
    """Prints how fast many objects are listed at another version, and what that takes of memory."""
    mine, theirs = [], []
    with server(folder, place) as port:
        loaded = Loaded(port, 1)
        loaded.together(request("GET", path(OLDER, key(0).name)), 100)
        idle = loaded.used()["now"]
        for _ in range(LISTS):
            before = loaded.used()["processor"]
            shown = listed(port)
            mine.append((loaded.used()["processor"] - before) / LISTED)
            start = time.process_time()
            by_hand = list_by_hand(place)
            theirs.append((time.process_time() - start) / LISTED)
            assert [each["containers"] for each in shown] == [
                each["containers"] for each in json.loads(by_hand)["items"]
            ]
        most = loaded.used()["most"]
    show(f"list of {LISTED:,} at another version", "`json`, written by hand", mine, theirs, "3")
    print(
        f"{'':<34}{(most - idle) / 1024:>10.0f} MB above {idle / 1024:.0f} MB idle{'':>40}aim 100 MB"
    )


def listed(port: int) -> list[Any]:
    """The items of a list, as a client reads them."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path(OLDER))
    with contextlib.closing(connection):
        found: list[Any] = json.loads(connection.getresponse().read())["items"]
        return found


def list_by_hand(place: str) -> bytes:
    """A list of the same rows, read with the driver and converted by hand; nothing is checked."""
    columns = "data, namespace, name, uid, resource_version, generation, created"
    with contextlib.closing(sqlite3.connect(place.removeprefix("sqlite:///"))) as connection:
        rows = connection.execute(
            f"SELECT {columns} FROM store_revisions WHERE replaced IS NULL "
            "AND resource = (SELECT id FROM store_resources WHERE name = 'Workload') ORDER BY namespace, name"
        )
        items = [older_of_stored(*each) for each in rows]
    return json.dumps({"kind": "WorkloadList", "items": items}).encode()


def older_of_stored(data: bytes, *known: Any) -> dict[str, Any]:
    """What 2023-01-01 shows of a stored object."""
    stored = json.loads(data)
    names = ("namespace", "name", "uid", "resourceVersion", "generation", "creationTimestamp")
    metadata = {**stored["metadata"], **dict(zip(names, known, strict=True))}
    result = {**stored, "apiVersion": OLDER, "metadata": metadata}
    result.pop("region", None)
    result.pop("$writtenWith", None)
    result["containers"] = [
        {("image" if key == "imageReference" else key): value for key, value in each.items()}
        for each in stored["containers"]
    ]
    return result


def measure_watches(folder: Path, place: str) -> None:
    """Prints what it takes to show a change to many watchers of four versions."""
    with server(folder, place) as port:
        loaded = Loaded(port, 1)
        page = json.loads(loaded.ask(request("GET", f"{path(OLDER)}?limit=1")))
        since = page["metadata"]["resourceVersion"]
        watchers = []
        for number in range(WATCHERS):
            watcher = Connection(port)
            watcher.send(
                request("GET", f"{path(VERSIONS[number % 4])}?watch=true&resourceVersion={since}")
            )
            watchers.append(watcher)
        change(loaded, 1)
        for each in watchers:
            each.lines(1)
        before, conversions = loaded.used()["processor"], converted(loaded)
        start = time.perf_counter()
        for at in range(CHANGES):
            change(loaded, at + 2)
            for each in watchers:
                (line,) = each.lines(1)
                assert b"MODIFIED" in line
        seconds = (time.perf_counter() - start) / CHANGES
        used = (loaded.used()["processor"] - before) / CHANGES
        conversions = (converted(loaded) - conversions) / CHANGES
        for each in watchers:
            each.close()
    print(
        f"a change to {WATCHERS:,} watchers{'':>8}{used * 1e3:>10.0f} ms of the processor, {seconds * 1e3:.0f} ms until the last has it, "
        f"{conversions:.0f} conversions for 4 versions and the writer"
    )


def change(loaded: Loaded, number: int) -> None:
    """Edits an object."""
    kind = "application/merge-patch+json"
    body = json.dumps({"replicas": number}).encode()
    loaded.ask(request("PATCH", path(OLDER, key(0).name), body, content_type=kind))


def converted(loaded: Loaded) -> float:
    """How many objects the server has converted."""
    text = loaded.ask(request("GET", "/metrics")).decode()
    found = re.findall(r"^trundle_conversions_total\{.*workloads.*\} (\S+)$", text, re.MULTILINE)
    return sum(map(float, found))


def main() -> None:
    """Prints a table."""
    if sys.argv[1:2] == ["--serve"]:
        serve(Path(sys.argv[2]), sys.argv[3])
        return
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trundle-bench-")))
        scheme = stack.enter_context(generated(folder))
        project = folder / f"until-{VERSIONS[-1]}"
        place = f"sqlite:///{folder / 'many.db'}"
        with Store(place, scheme) as store:
            fill(store, scheme, LISTED)
        one = json.loads(scheme.convert_json(written(scheme, 0), VERSIONS[-1]))
        (project / "one.json").write_text(json.dumps(one))
        measure_get(project, place)
        measure_list(project, place)
        measure_watches(project, place)
        with in_file(folder / "bare.db") as (other, bare):
            with Store(other, scheme) as store:
                fill(store, scheme, WRITERS)
            measure_puts("SQLite", project, f"sqlite:///{folder / 'put.db'}", bare, scheme)
        found = stack.enter_context(postgresql())
        if found is None:
            return
        with on_server(found, "bare") as (other, bare), on_server(found, "puts") as (served, _):
            with Store(other, scheme) as store:
                fill(store, scheme, WRITERS)
            measure_puts("PostgreSQL", project, served, bare, scheme)


if __name__ == "__main__":
    main()
