"""Measures the generation of a whole package, and says where the time goes.

Without options it generates the package of `schemas/`. With `--corpus`, it generates one of Azure's
deployment schemas: those of one service, or all of them. It writes into a temporary folder. Beside it stand
the size of what would be generated without sharing, and `datamodel-code-generator` on the same files, which
makes models only: no storage types, conversions, protocols or tests.
"""

import argparse
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from rich.console import Console
from rich.table import Table
from unshared import unshared_package
from with_datamodel import generate_models

from trundle.codegen import Blueprint, generate_package, generate_tests
from trundle.codegen._layout import lay_out
from trundle.project import load_config
from trundle.project._garbage_collection import without_collection
from trundle.project.changes import apply_changes
from trundle.project.output import write_tree
from trundle.schema.readers import read_schemas

HERE = Path(__file__).parent
SERVICE_FABRIC = "Microsoft.ServiceFabric"
_MEGABYTE = 1024 * 1024


class Clock:
    """Notes how long the processor worked on each step, in the order of the steps."""

    def __init__(self) -> None:
        self.steps: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measures what happens within."""
        start = time.process_time()
        yield
        self.steps[name] = self.steps.get(name, 0) + time.process_time() - start

    def apart(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that is measured as a step of its own, where it runs within another."""

        def measured(*arguments: Any) -> Any:
            with self.step(name):
                return function(*arguments)

        return measured

    @property
    def total(self) -> float:
        """The seconds of all steps."""
        return sum(self.steps.values())


def main() -> None:
    """Prints a table for each project."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--corpus",
        type=Path,
        default=os.environ.get("CORPUS") or None,
        help="folder of Azure's deployment schemas (default: $CORPUS)",
    )
    parser.add_argument(
        "--provider",
        default=SERVICE_FABRIC,
        help="whose schemas of the corpus; `all` for every provider in one package (default: %(default)s)",
    )
    parser.add_argument(
        "--alone", action="store_true", help="measure nothing beside the generation"
    )
    arguments = parser.parse_args()
    name, files = schema_files(arguments.corpus, arguments.provider)
    with tempfile.TemporaryDirectory(prefix="trundle-bench-") as folder:
        _measure(name, files, Path(folder), alone=arguments.alone)


def schema_files(corpus: Path | None, provider: str) -> tuple[str, list[Path]]:
    """What the project is called, and its schema files."""
    if corpus is None:
        return "workloads", sorted((HERE / "schemas").glob("*.yaml"))
    found = [
        path
        for path in sorted(corpus.glob("schemas/*/*.json"))
        if provider in {"all", path.stem} or path.stem.startswith(f"{provider}.")
    ]
    if not found:
        raise SystemExit(f"{corpus}: expected schemas/*/{provider}.json, found none")
    return provider.lower().replace(".", "_").replace("-", "_"), found


def _measure(name: str, files: list[Path], folder: Path, *, alone: bool) -> None:
    clock = Clock()
    config = load_config(copied(name, files, folder))
    with without_collection():
        with clock.step("read"):
            schemas = read_schemas(config.sources)
        with clock.step("link"):
            evolution = apply_changes(schemas, config.changes).evolution
        with clock.step("plan"):
            blueprint = Blueprint(evolution)
        clock.steps["render"] = clock.steps["lay out"] = 0.0
        measured = clock.apart("lay out", lay_out)
        with (
            patch("trundle.codegen._package.lay_out", measured),
            patch("trundle.codegen._tests.lay_out", measured),
            clock.step("render"),
        ):
            package = generate_package(evolution, package=name, blueprint=blueprint)
            tests = generate_tests(evolution, package=name, blueprint=blueprint)
    clock.steps["render"] -= clock.steps["lay out"]
    content = {**package, **{f"tests/{path}": data for path, data in tests.items()}}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    made = clock.total
    with clock.step("write"):
        write_tree(folder / "output", content, marker=name)
    with clock.step("write again, unchanged"):
        write_tree(folder / "output", content, marker=name)
    size = sum(map(len, content.values()))
    table = Table(
        title=f"{name}: {len(files)} schemas, {len(blueprint.plans)} plans, {len(content)} files of "
        f"{size / _MEGABYTE:.1f} MB; at most {peak:.0f} MB of memory"
    )
    table.add_column("step")
    table.add_column("seconds", justify="right")
    for step, seconds in clock.steps.items():
        table.add_row(step, f"{seconds:.2f}")
    console = Console(width=max(100, Console().width))
    console.print(table)
    read = sum(path.stat().st_size for path in files)
    console.print(
        f"{size / read:.2f} bytes of Python for each byte of schema, with the tests: "
        f"{size / _MEGABYTE:.1f} MB for {read / _MEGABYTE:.1f} MB."
    )
    if alone:
        return
    shared = sum(map(len, package.values()))
    apart = sum(map(len, unshared_package(evolution, name).values()))
    console.print(
        f"Sharing: {shared / _MEGABYTE:.1f} MB instead of {apart / _MEGABYTE:.1f} MB, without the tests; "
        f"{shared / apart:.2f} of it."
    )
    seconds, models = generate_models(files, folder / "models")
    console.print(
        f"datamodel-code-generator, models only: {seconds:.1f} s for {models / _MEGABYTE:.1f} MB; Trundle makes "
        f"everything in {made:.1f} s, {seconds / made:.1f} times as fast, and {size / models:.1f} times as much."
    )


def copied(name: str, files: list[Path], folder: Path) -> Path:
    """Makes a project of schema files, in a folder of its own."""
    for path in files:
        target = folder / "schemas" / path.parent.name / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    project = folder / "trundle.yaml"
    if files[0].is_relative_to(HERE):
        shutil.copy(HERE / "trundle.yaml", project)
    else:
        project.write_text(f"package: {name}\nsources: [schemas]\n")
    return project


if __name__ == "__main__":
    main()
