"""Measures a store against bare transactions that write the same rows with the same durability.

The contestants use the drivers of the databases, with rows that are ready, and with as many of them in a transaction as the store has.
They convert nothing, check nothing, and know what is stored. Objects have about 2 KB, and are written at the version before the hub.
PostgreSQL is measured where it is installed.
"""

import contextlib
import functools
import json
import shutil
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from documents import document

from trundle.project import generate, generated_scheme, load_config
from trundle.runtime import AnyScheme
from trundle.store import Key, Store, compact, roll

HERE = Path(__file__).parent
WRITERS, WRITES = 16, 60
OBJECTS = 3_000
ROUNDS = 5
VERSION, HUB = "2024-01-01", "2025-01-01"
_COLUMNS = (
    "resource, resource_version, namespace, name, change, previous, replaced, uid, generation, created, deleted, "
    "written, labels, finalizers, owners, storage_version, written_with, data"
)
_ADD = f"INSERT INTO store_revisions ({_COLUMNS}) VALUES ({', '.join('?' * 18)})"
_REPLACE = "UPDATE store_revisions SET replaced = ? WHERE resource = ? AND resource_version = ?"
_COUNT = "UPDATE store_resources SET resource_version = ?"
_REWRITE = "UPDATE store_revisions SET storage_version = ?, data = ? WHERE resource = ? AND resource_version = ?"


class Bare:
    """A connection of a driver, and the statements that it runs.

    Args:
        connection: an open connection.
        mark: what stands for a value in a statement.
        begin: begins a transaction that writes.
    """

    def __init__(self, connection: Any, mark: str, begin: str) -> None:
        self._cursor = connection.cursor()
        self._mark = mark
        self._begin = begin

    def rows(self, statement: str) -> list[Any]:
        """What a query finds."""
        self._cursor.execute(statement)
        found: list[Any] = self._cursor.fetchall()
        return found

    def write(self, *statements: tuple[str, list[Any]]) -> None:
        """Runs statements for many rows each, in one transaction."""
        self._cursor.execute(self._begin)
        for statement, rows in statements:
            self._cursor.executemany(statement.replace("?", self._mark), rows)
        self._cursor.execute("COMMIT")


@contextlib.contextmanager
def generated(folder: Path, *, until: str = HUB) -> Iterator[AnyScheme]:
    """The scheme of a release, whose newest version is one of those of the benchmarks."""
    project = folder / f"until-{until}"
    (project / "schemas").mkdir(parents=True)
    for path in (HERE / "schemas").iterdir():
        if path.stem <= until:
            shutil.copy(path, project / "schemas")
    text = (HERE / "trundle.yaml").read_text().replace("straight: 6\n", "")
    package = f"workloads_{until.replace('-', '_')}"
    (project / "trundle.yaml").write_text(text.replace("package: workloads", f"package: {package}"))
    config = load_config(project / "trundle.yaml")
    generate(config)
    with generated_scheme(config) as scheme:
        yield scheme


def key(number: int) -> Key:
    """The key of a workload."""
    return Key("Workload", "default", f"billing-{number:04}")


def written(scheme: AnyScheme, number: int, **changed: object) -> bytes:
    """A workload as clients write it."""
    data: bytes = scheme.convert_json(json.dumps(document(number)).encode(), VERSION)
    return json.dumps({**json.loads(data), **changed}).encode()


def put(store: Store, documents: list[list[bytes]]) -> None:
    """Every writer puts its documents, one after the other."""

    def write(number: int) -> None:
        for each in documents[number]:
            store.replace(key(number), each)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def put_bare(bare: Bare, times: int = WRITES) -> None:
    """Writes rows as those that puts make, one of each writer in a transaction."""
    found = bare.rows(f"SELECT {_COLUMNS} FROM store_revisions WHERE replaced IS NULL")
    rows = [[_plain(value) for value in each] for each in found]
    newest = max(row[1] for row in rows)
    for _ in range(times):
        replaced, added = [], []
        for row in rows:
            newest += 1
            replaced.append((newest, row[0], row[1]))
            row[5], row[1], row[4] = row[1], newest, "modified"
            added.append(tuple(row))
        bare.write((_REPLACE, replaced), (_ADD, added), (_COUNT, [(newest,)]))


def rewrite_bare(bare: Bare) -> None:
    """Reads and rewrites all objects, a hundred in a transaction."""
    after = 0
    while True:
        rows = bare.rows(
            f"SELECT {_COLUMNS} FROM store_revisions WHERE resource_version > {after} "
            "ORDER BY resource_version LIMIT 100"
        )
        if not rows:
            return
        after = rows[-1][1]
        bare.write((_REWRITE, [(row[15], row[17], row[0], row[1]) for row in rows]))


def _plain(value: Any) -> Any:
    """A value of a row as a driver takes it."""
    if isinstance(value, dict | list):
        from psycopg.types.json import Jsonb  # noqa: PLC0415

        return Jsonb(value)
    return value


def measure_puts(name: str, place: str, bare: Bare, scheme: AnyScheme) -> None:
    """Prints how fast objects are written."""
    pairs = []
    with Store(place, scheme) as store:
        for number in range(WRITERS):
            store.create(key(number), written(scheme, number))
        for round_ in range(ROUNDS):
            documents = [
                [written(scheme, number, replicas=round_ * WRITES + at) for at in range(WRITES)]
                for number in range(WRITERS)
            ]
            pairs.append(
                (
                    seconds(functools.partial(put, store, documents)),
                    seconds(lambda: put_bare(bare)),
                )
            )
            compact(store, most=0)
    report(f"{name}: put by {WRITERS} writers", WRITERS * WRITES, pairs)


def measure_rolling(
    name: str, place: str, bare: Bare, before: AnyScheme, scheme: AnyScheme
) -> None:
    """Prints how fast objects are rolled forward."""
    pairs = []
    with Store(place, before) as store:
        threads = [
            threading.Thread(target=_fill, args=(store, before, first)) for first in range(WRITERS)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    earlier = [
        tuple(each)
        for each in bare.rows(
            "SELECT storage_version, data, resource, resource_version FROM store_revisions"
        )
    ]
    with Store(place, scheme) as store:
        for _ in range(ROUNDS):
            mine = seconds(lambda: _roll(store))
            pairs.append((mine, seconds(lambda: rewrite_bare(bare))))
            bare.write((_REWRITE, earlier))
    report(f"{name}: roll", OBJECTS, pairs)


def _fill(store: Store, scheme: AnyScheme, first: int) -> None:
    for number in range(first, OBJECTS, WRITERS):
        store.create(key(number), written(scheme, number))


def _roll(store: Store) -> None:
    (done,) = roll(store).resources
    assert (done.rolled, done.findings) == ({VERSION: OBJECTS}, [])


def seconds(job: Callable[[], None]) -> float:
    """How long a job takes."""
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def report(title: str, number: int, pairs: list[tuple[float, float]]) -> None:
    """Prints how many are done in a second, and the ratio within each round."""
    mine, bare = (statistics.median(number / pair[side] for pair in pairs) for side in (0, 1))
    ratio = statistics.median(theirs / own for own, theirs in pairs)
    print(f"{title:<36}{mine:>9.0f}/s{bare:>12.0f}/s bare{ratio:>8.2f} of bare")


@contextlib.contextmanager
def in_file(path: Path) -> Iterator[tuple[str, Bare]]:
    """A new database in a file, and the driver's connection to it, which waits for the disk, too."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    with contextlib.closing(connection):
        yield f"sqlite:///{path}", Bare(connection, "?", "BEGIN IMMEDIATE")


@contextlib.contextmanager
def postgresql() -> Iterator[str | None]:
    """A server of PostgreSQL that waits for the disk: its URL up to the name of the database; None where it is not installed."""
    if not list(Path("/usr/lib/postgresql").glob("*/bin/postgres")):
        print("PostgreSQL is not installed; it is not measured")
        yield None
        return
    sys.path.insert(
        0, str(HERE.parent / "tests" / "support")
    )  # Before a module of the same name here.
    import postgres  # noqa: PLC0415

    with postgres.server(durable=True) as found:
        yield found


@contextlib.contextmanager
def on_server(server: str, name: str) -> Iterator[tuple[str, Bare]]:
    """A new database on a server, and the driver's connection to it."""
    import psycopg  # noqa: PLC0415

    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    with psycopg.connect(f"{server}/{name}", autocommit=True) as connection:
        yield f"{server}/{name}", Bare(connection, "%s", "BEGIN")


def main() -> None:
    """Prints a table."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trundle-bench-")))
        scheme = stack.enter_context(generated(folder))
        before = stack.enter_context(generated(folder, until=VERSION))
        with in_file(folder / "put.db") as (place, bare):
            measure_puts("SQLite", place, bare, scheme)
        with in_file(folder / "roll.db") as (place, bare):
            measure_rolling("SQLite", place, bare, before, scheme)
        server = stack.enter_context(postgresql())
        if server is None:
            return
        with on_server(server, "puts") as (place, bare):
            measure_puts("PostgreSQL", place, bare, scheme)
        with on_server(server, "rolling") as (place, bare):
            measure_rolling("PostgreSQL", place, bare, before, scheme)


if __name__ == "__main__":
    main()
