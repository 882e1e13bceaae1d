"""Measures how single operations grow with how much is stored.

Stores are filled with copies of one object, each of another name; one in a thousand has a label of its own. SQLite is measured in the processor's time, as
it works within the process; PostgreSQL, which has processes of its own, by the clock.
"""

import argparse
import base64
import contextlib
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import text

from store import HUB, VERSION, generated, key, on_server, postgresql, written
from trundle.runtime import AnyScheme
from trundle.store import (
    Key,
    LabelSelector,
    Pace,
    RollPart,
    Store,
    counted,
    plan_roll,
    roll_part,
    status,
)

SMALL, ALL = (1_000, 10_000), (1_000, 10_000, 100_000, 1_000_000)
RARE, PAGE, ROLLED, ROUNDS = 1_000, 100, 500, 5
_COPIED = "change, previous, replaced, uid, generation, created, deleted, written"
_REST = "finalizers, owners, storage_version, written_with, data"
_FILL = {
    "sqlite": (
        "WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i <= :size)",
        "printf('workload-%08d', i)",
        """CASE WHEN i % :rare THEN labels ELSE '{"rare":"yes"}' END""",
    ),
    "postgresql": (
        "WITH n(i) AS (SELECT generate_series(3, :size + 1))",
        "'workload-' || lpad(i::text, 8, '0')",
        """CASE WHEN i % :rare <> 0 THEN labels ELSE '{"rare":"yes"}'::jsonb END""",
    ),
}
"""By dialect: numbers, the name of one, and its labels."""


def fill(store: Store, scheme: AnyScheme, size: int) -> None:
    """Fills a store with copies of one object."""
    store.create(key(0), written(scheme, 0))
    with store.database.writing() as connection:
        numbers, name, labels = _FILL[connection.dialect.name]
        columns = f"resource, resource_version, namespace, name, labels, {_COPIED}, {_REST}"
        connection.execute(
            text(
                f"{numbers} INSERT INTO store_revisions ({columns}) SELECT resource, i, namespace, {name}, {labels}, "
                f"{_COPIED}, {_REST} FROM store_revisions, n WHERE resource_version = 2"
            ),
            {"size": size - (connection.dialect.name == "sqlite"), "rare": RARE},
        )
        last = text("UPDATE store_resources SET resource_version = :last")
        connection.execute(last, {"last": size + 1})
    with store.database.writing() as connection:
        connection.execute(text("ANALYZE"))


def operations(
    store: Store, scheme: AnyScheme, size: int
) -> dict[str, tuple[Callable[[], object], int]]:
    """What is measured, and how often in a round."""
    draw = random.Random(size)

    def drawn() -> Key:
        return Key("Workload", "default", f"workload-{draw.randrange(3, size + 2):08}")

    def put() -> None:
        of = drawn()
        document = written(scheme, 0, replicas=draw.randrange(10**6))
        store.replace(of, document.replace(b"billing-0000", of.name.encode()))

    def newest() -> int:
        return store.newest("Workload")

    rare, inner = LabelSelector.parse("rare=yes"), middle(store, size)
    return {
        "get": (lambda: store.get(drawn()), 200),
        f"the first page of {PAGE}": (lambda: store.list("Workload", limit=PAGE), 10),
        f"a page of {PAGE} in the middle": (
            lambda: store.list("Workload", namespace="default", limit=PAGE, token=inner),
            10,
        ),
        f"{PAGE} of a label that one in {RARE:,} has": (
            lambda: store.list("Workload", limit=PAGE, labels=rare),
            1,
        ),
        "a watch begins": (lambda: store.changes("Workload", newest()), 50),
        f"the last {PAGE} changes": (
            lambda: store.changes("Workload", newest() - PAGE, limit=PAGE),
            10,
        ),
        "what metrics count": (lambda: counted(store), 1),
        "status": (lambda: status(store), 1),
        "what there is to roll": (lambda: plan_roll(store, dry_run=True), 1),
        "put, by one writer": (put, 20),
    }


def middle(store: Store, size: int) -> str:
    """Gives the page in the middle of a list, as if all before it had been read."""
    begun = store.list("Workload", namespace="default", limit=1).token
    place = json.loads(base64.urlsafe_b64decode(begun + "=" * (-len(begun) % 4)))
    place[3] = f"workload-{size // 2:08}"
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def rolled(store: Store, before: AnyScheme, size: int) -> Callable[[], Callable[[], None]]:
    """Stores some revisions in the middle in an earlier version, and gives what rolls them."""
    data = before.put(None, written(before, 0), resource="Workload")
    after = size // 2
    statement = text(
        "UPDATE store_revisions SET storage_version = :version, data = :data "
        "WHERE resource_version > :after AND resource_version <= :last"
    )
    values = {"version": VERSION, "data": data, "after": after, "last": after + ROLLED}
    part = RollPart("Workload", HUB, after, after + ROLLED, ROLLED)

    def roll() -> None:
        done = roll_part(store, part, Pace(None))
        assert (done.rolled, done.findings) == ({VERSION: ROLLED}, [])

    def prepared() -> Callable[[], None]:
        with store.database.writing() as connection:
            connection.execute(statement, values)
        return roll

    return prepared


def measured(
    store: Store, scheme: AnyScheme, before: AnyScheme, size: int, clock: Callable[[], float]
) -> dict[str, float]:
    """Microseconds that each operation takes, the median of rounds."""
    fill(store, scheme, size)
    found: dict[str, float] = {}
    for name, (job, times) in operations(store, scheme, size).items():
        job()
        found[name] = statistics.median(seconds(job, times, clock) for _ in range(ROUNDS))
    prepared = rolled(store, before, size)
    each = [seconds(prepared(), 1, clock) / ROLLED for _ in range(ROUNDS)]
    return {**found, "rolling one revision": statistics.median(each)}


def seconds(job: Callable[[], object], times: int, clock: Callable[[], float]) -> float:
    """Microseconds that a job takes."""
    start = clock()
    for _ in range(times):
        job()
    return (clock() - start) / times * 1e6


def show(name: str, of_size: dict[int, dict[str, float]]) -> None:
    """Prints a table."""
    print(f"{name:<44}" + "".join(f"{size:>12,}" for size in of_size))
    for job in next(iter(of_size.values())):
        print(f"{job:<44}" + "".join(f"{each[job]:>12,.0f}" for each in of_size.values()))


def main() -> None:
    """Prints a table for each database."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="go on to 1,000,000 objects")
    parser.add_argument("--sizes", type=int, nargs="+", help="how many objects")
    given = parser.parse_args()
    sizes = given.sizes or (ALL if given.all else SMALL)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trundle-bench-")))
        scheme = stack.enter_context(generated(folder))
        before = stack.enter_context(generated(folder, until=VERSION))
        of_size = {}
        for size in sizes:
            path = folder / f"{size}.db"
            with Store(path, scheme) as store:
                of_size[size] = measured(store, scheme, before, size, time.process_time)
            path.unlink()
        show("SQLite, microseconds of the processor", of_size)
        server = stack.enter_context(postgresql())
        if server is None:
            return
        of_size = {}
        for size in sizes:
            with on_server(server, f"growth{size}") as (place, _), Store(place, scheme) as store:
                of_size[size] = measured(store, scheme, before, size, time.perf_counter)
        show("PostgreSQL, microseconds", of_size)


if __name__ == "__main__":
    main()
