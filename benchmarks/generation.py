"""Measures the generation of a whole package, and says where the time goes.

Without options it generates the package of `schemas/`. With `--corpus`, it generates one of Azure's
deployment schemas: those of one service, or all of them. It writes into a temporary folder.
"""

import argparse
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from trundle.codegen._needs import needed_plans
from trundle.project import load_project
from trundle.project.generating import generated_files
from trundle.project.output import write_tree

HERE = Path(__file__).parent
SERVICE_FABRIC = "Microsoft.ServiceFabric"
_MEGABYTE = 1024 * 1024


class Clock:
    """Notes how long each step took, in the order of the steps."""

    def __init__(self) -> None:
        self.steps: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measures what happens within."""
        start = time.perf_counter()
        yield
        self.steps[name] = time.perf_counter() - start


def main() -> None:
    """Prints a table for each project."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, help="folder of Azure's deployment schemas")
    parser.add_argument(
        "--provider",
        default=SERVICE_FABRIC,
        help="whose schemas of the corpus; `all` for every provider (default: %(default)s)",
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="trundle-bench-") as folder:
        for name, files in _projects(arguments.corpus, arguments.provider):
            _measure(name, files, Path(folder) / name)


def _projects(corpus: Path | None, provider: str) -> Iterator[tuple[str, list[Path]]]:
    """The schema files of each project."""
    if corpus is None:
        yield "workloads", sorted((HERE / "schemas").glob("*.yaml"))
        return
    pattern = "*.json" if provider == "all" else f"{provider}.json"
    found: dict[str, list[Path]] = {}
    for path in sorted(corpus.glob(f"schemas/*/{pattern}")):
        found.setdefault(path.stem, []).append(path)
    if not found:
        raise SystemExit(f"{corpus}: expected schemas/*/{pattern}, found none")
    for name, files in sorted(found.items()):
        if name.startswith("Microsoft."):
            yield name.lower().replace(".", "_").replace("-", "_"), files


def _measure(name: str, files: list[Path], folder: Path) -> None:
    clock = Clock()
    project = _copied(name, files, folder)
    with clock.step("read"):
        loaded = load_project(project)
    with clock.step("plan"):
        plans = len(needed_plans(loaded.evolution))  # memoised, so that rendering finds them
    with clock.step("render, with tests"):
        content = generated_files(loaded)
    output = folder / "output"
    with clock.step("write"):
        write_tree(output, content, marker=name)
    with clock.step("write again, unchanged"):
        write_tree(output, content, marker=name)
    _show(name, len(files), plans, [len(each) for each in content.values()], clock)


def _copied(name: str, files: list[Path], folder: Path) -> Path:
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


def _show(name: str, files: int, plans: int, sizes: list[int], clock: Clock) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    table = Table(
        title=f"{name}: {files} schemas, {plans} plans, {len(sizes)} files of "
        f"{sum(sizes) / _MEGABYTE:.1f} MB; at most {peak:.0f} MB of memory so far"
    )
    table.add_column("step")
    table.add_column("seconds", justify="right")
    for step, seconds in clock.steps.items():
        table.add_row(step, f"{seconds:.2f}")
    Console(width=max(100, Console().width)).print(table)


if __name__ == "__main__":
    main()
