"""Checks code as strictly as mypy can; what libraries say of their types is read once in a test run."""

import functools
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def mypy(
    folder: Path, *arguments: str, known: Path | None = None, cache: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    """What mypy says of some packages and files in a folder.

    Args:
        folder: the folder.
        arguments: the packages and files.
        known: the cache of an earlier call; a file has changed since then only where its size has, because mypy looks at
            seconds.
        cache: where the cache of this call is left.
    """
    with tempfile.TemporaryDirectory() as temporary:
        own = cache or Path(temporary)
        shutil.copytree(known or _libraries().name, own, dirs_exist_ok=True)
        return _run(folder, str(own), *arguments)


@functools.cache
def _libraries() -> "tempfile.TemporaryDirectory[str]":
    """A cache of what generated code imports."""
    cache = tempfile.TemporaryDirectory(prefix="mypy-", ignore_cleanup_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "uses.py").write_text("import dataclasses, typing\nimport trundle.runtime\n")
        done = _run(Path(folder), cache.name, "uses.py")
        assert done.returncode == 0, done.stdout + done.stderr
    return cache


def _run(folder: Path, cache: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [
        "--strict",
        "--warn-unreachable",
        "--config-file",
        "",
        "--cache-dir",
        cache,
        *arguments,
    ]
    return subprocess.run(
        [sys.executable, "-m", "mypy", *command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
