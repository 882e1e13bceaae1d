"""Measures what it costs to import one version of a generated package.

Beside it stand the bare class statements of the types that the version offers: the same fields in classes of
`msgspec.Struct`, in one module, without documentation. Each is imported in interpreters of its own, in turn,
with compiled files, after msgspec and Trundle's runtime; what counts is the time of the processor.

Without options it takes the package of `schemas/`. With `--corpus`, it takes one of Azure's deployment
schemas.
"""

import argparse
import ast
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from generation import SERVICE_FABRIC, copied, schema_files
from rich.console import Console
from rich.table import Table

from trundle.project import load_config
from trundle.project.generating import generate

ROUNDS = 9
MOST = 12
"""How many versions are measured; of more, some are left out evenly."""
_BEFORE = "import enum, time, typing, msgspec, trundle.runtime\nstart = time.process_time()\n"
_AFTER = "\nprint(time.process_time() - start)"
_HEAD = """from __future__ import annotations
from enum import StrEnum
from typing import ClassVar, Literal
import msgspec
from trundle.runtime import ABSENT, ADDITIONAL, Absent, FreeForm
"""


def main() -> None:
    """Prints a table of the versions of a package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--corpus",
        type=Path,
        default=os.environ.get("CORPUS") or None,
        help="folder of Azure's deployment schemas (default: $CORPUS)",
    )
    parser.add_argument("--provider", default=SERVICE_FABRIC, help="whose schemas of the corpus")
    arguments = parser.parse_args()
    name, files = schema_files(arguments.corpus, arguments.provider)
    table = Table(title=f"importing one version of {name}")
    for column in ("version", "types", "milliseconds", "bare classes", "times as long"):
        table.add_column(column, justify="left" if column == "version" else "right")
    with tempfile.TemporaryDirectory(prefix="trundle-bench-") as folder:
        root = Path(folder)
        config = load_config(copied(name, files, root))
        package = generate(config).root
        versions = sorted(each.name for each in package.glob("v[0-9]*") if each.is_dir())
        for version in versions[:: -(-len(versions) // MOST)]:
            table.add_row(version, *_row(package, version))
    Console(width=max(100, Console().width)).print(table)


def _row(package: Path, version: str) -> tuple[str, str, str, str]:
    root, name = package.parent, f"bare_{version}"
    classes = _bare_classes(package, version)
    (root / f"{name}.py").write_text(_HEAD + "\n".join(classes))
    statements = f"import {package.name}.{version}", f"import {name}"
    for statement in statements:
        _seconds(statement, root)  # compiles
    rounds = [[_seconds(statement, root) for statement in statements] for _ in range(ROUNDS)]
    ours, theirs = (statistics.median(each) for each in zip(*rounds, strict=True))
    ratio = statistics.median(one / other for one, other in rounds)
    return str(len(classes)), f"{1000 * ours:.1f}", f"{1000 * theirs:.1f}", f"{ratio:.2f}"


def _bare_classes(package: Path, version: str) -> list[str]:
    """The class statements of a version's types, without documentation and without Trundle's base."""
    found = []
    for line in ast.parse((package / version / "__init__.py").read_text()).body:
        if not isinstance(line, ast.ImportFrom) or line.module is None:
            continue
        home = package / version if line.level == 1 else package
        path = home / f"{line.module.replace('.', '/')}.py"
        for each in ast.parse(path.read_text()).body:
            if isinstance(each, ast.ClassDef):
                documented = ast.get_docstring(each) is not None
                each.body = each.body[documented:] or [ast.Pass()]
                if ast.unparse(each.bases[0]) == "ApiObject":
                    each.bases = [ast.parse("msgspec.Struct", mode="eval").body]
                found.append(ast.unparse(each))
    return found


def _seconds(statement: str, folder: Path) -> float:
    command = [sys.executable, "-c", f"{_BEFORE}{statement}{_AFTER}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return float(done.stdout)


if __name__ == "__main__":
    main()
