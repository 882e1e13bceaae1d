"""Measures what a snapshot of a catalog costs, against reading its rows and decoding their manifests.

The contestant reads the same rows by the driver of SQLite, and decodes each manifest as JSON into plain values.
"""

import contextlib
import gc
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from trundle.catalog import Catalog
from trundle.packages import Package

PACKAGES, VERSIONS = 500, 20
MOST = 3
"""How many times as long all manifests of a snapshot may take as decoding the rows."""

ROUNDS = 7
_ROWS = "SELECT name, version, digest, manifest, files FROM catalog_packages"


def package(number: int, minor: int) -> Package:
    """A version of a package with a class and a requirement."""
    name = f"com.example.package{number}"
    lines = [
        "Format: '1.4'",
        "Type: Library",
        f"FullName: {name}",
        f"Version: 1.{minor}.0",
        "Name: A package",
        "Description: A package of a benchmark, with a class and requirements.",
        "Author: Example",
        "Tags: [benchmark, example]",
        "Require: {com.example.package0: '>=1.0,<2.0', io.murano: 0}",
        f"Classes: {{{name}.Thing: Thing.yaml}}",
    ]
    return Package.from_files(
        {"manifest.yaml": "\n".join(lines), "Classes/Thing.yaml": f"Name: {name}.Thing"}
    )


def rows_decoded(path: Path) -> int:
    """Reads all rows, and decodes their JSON."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        rows = connection.execute(_ROWS).fetchall()
    connection.close()
    decoded = [
        (name, version, digest, msgspec.json.decode(manifest), msgspec.json.decode(files))
        for name, version, digest, manifest, files in rows
    ]
    return len(decoded)


def seconds(jobs: dict[str, Callable[[], object]]) -> dict[str, list[float]]:
    """The time of the processor for each job, in turns."""
    found: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(ROUNDS):
        for name, job in jobs.items():
            gc.collect()
            start = time.process_time()
            job()
            found[name].append(time.process_time() - start)
    return found


def main() -> None:
    """Prints a table, and exits with 1 where a snapshot is slower than it should be."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "catalog.db")
        with Catalog(path) as catalog:
            packages = [package(n, m) for n in range(PACKAGES) for m in range(VERSIONS)]
            start = time.perf_counter()
            assert len(catalog.upload(packages, tenant="acme").stored) == PACKAGES * VERSIONS
            print(f"upload {len(packages)} package versions: {time.perf_counter() - start:.1f} s")
            found = seconds(
                {
                    "decode the rows": lambda: rows_decoded(path),
                    "snapshot": lambda: catalog.snapshot("acme"),
                    "snapshot, all packages": lambda: list(catalog.snapshot("acme")),
                    "snapshot, all manifests": lambda: [
                        each.manifest for each in catalog.snapshot("acme")
                    ],
                }
            )
    base = found.pop("decode the rows")
    print(f"{'decode the rows':>24}{statistics.median(base):>10.3f} s")
    ratios = []
    for name, times in found.items():
        ratio = statistics.median(mine / theirs for mine, theirs in zip(times, base, strict=True))
        ratios.append(ratio)
        print(f"{name:>24}{statistics.median(times):>10.3f} s{ratio:>8.2f} times")
    sys.exit(max(ratios) > MOST)


if __name__ == "__main__":
    main()
