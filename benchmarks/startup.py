"""Measures how long commands take that do little, which is mostly their start.

Beside them stands `alembic --help`, a command line with as many dependencies that does nothing, started in turn with each command. What counts is
the time of the processor, with compiled files. The commands work on the project in examples/crm, whose package is generated and fresh, and
on a catalog, a registry and an installation with one package in each.
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table

CRM = Path(__file__).parents[1] / "examples" / "crm"
BIN = Path(sys.executable).parent
PEER = "alembic --help"
ROUNDS = 9
BEFORE = (
    "generate",
    "catalog upload lib",
    "env create prod",
    "publish lib --to oci:registry//acme/lib --channel stable",
    "install oci:registry//acme/lib --unsigned",
)
COMMANDS = (
    "--version",
    "--help",
    "verify --help",
    "kube --help",
    "schema",
    "check",
    "lock --dry-run",
    "convert documents/daisy.yaml --to storage",
    "diff 2011-01-01 2019-09-09",
    "package check lib",
    "search oci:registry",
    "status",
    "catalog list",
    "env list",
)
MANIFEST = "Format: '1.0'\nType: Library\nFullName: acme.lib\nVersion: 1.0.0\n"


def main() -> None:
    """Prints a table of commands."""
    table = Table(title=f"starts of commands, and of `{PEER}`")
    for column in ("command", "milliseconds", PEER, "times as long"):
        table.add_column(column, justify="left" if column == "command" else "right")
    with tempfile.TemporaryDirectory(prefix="trundle-bench-") as folder:
        place = Path(folder) / "crm"
        shutil.copytree(CRM, place, ignore=shutil.ignore_patterns("crm"))
        (place / "lib").mkdir()
        (place / "lib" / "manifest.yaml").write_text(MANIFEST)
        environment = _environment(place)
        for each in BEFORE:
            _seconds(f"trundle {each}", place, environment)
        for each in COMMANDS:
            table.add_row(f"trundle {each}", *_row(f"trundle {each}", place, environment))
    Console(width=max(110, Console().width)).print(table)


def _environment(place: Path) -> Mapping[str, str]:
    """The environment of commands: with compiled files, and nothing of this user's."""
    ours = {"PYTHONDONTWRITEBYTECODE", "TRUNDLE_STATE", "TRUNDLE_CATALOG"}
    kept = {name: each for name, each in os.environ.items() if name not in ours}
    return {**kept, "XDG_STATE_HOME": str(place / "state"), "XDG_CONFIG_HOME": str(place / "none")}


def _row(command: str, place: Path, environment: Mapping[str, str]) -> tuple[str, str, str]:
    both = command, PEER
    for each in both:
        _seconds(each, place, environment)  # compiles
    rounds = [[_seconds(each, place, environment) for each in both] for _ in range(ROUNDS)]
    ours, theirs = (statistics.median(each) for each in zip(*rounds, strict=True))
    ratio = statistics.median(one / other for one, other in rounds)
    return f"{1000 * ours:.0f}", f"{1000 * theirs:.0f}", f"{ratio:.2f}"


def _seconds(command: str, place: Path, environment: Mapping[str, str]) -> float:
    name, *arguments = command.split()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [BIN / name, *arguments], cwd=place, env=environment, capture_output=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
