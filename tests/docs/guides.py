"""Runs what the guides show: writes their files, runs their commands, compares what these print.

A ```` ```yaml ```` or ```` ```python ```` block whose first line is `# file: NAME` is a file. A ```` ```console ````
block holds commands, each after `$ `, and what they print; a line ` ...` stands for any lines. Everything
else is for the eye only. A guide runs from its first line to its last in a folder of its own, which has a
copy of `examples/` where the guide speaks of it. A server that it starts writes its process id to `NAME.pid`, and is ended at the
end; the ports of `PORTS` stand for free ones, and `DATABASE` for an empty database on a real server. A ```` ```sh ````
block that begins with `# STAGE`, such as `# on a cluster`, stands for the console block before it where that stage is run.

`make guides` writes the real output into every guide whose output is not that any more.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import postgres
import serving
import warm

ROOT = Path(__file__).parents[2]
_SITE = ROOT / "docs" / "site"  # What is made for the site is checked where it is read from.
_WRITTEN = (each for each in (ROOT / "docs").rglob("*.md") if _SITE not in each.parents)
GUIDES = (ROOT / "README.md", *sorted(_WRITTEN))
HOME = "~/project"
"""How the guides call the folder that they run in."""

PORTS = ("8443", "8444", "8786")
"""The ports that guides give to servers."""

DATABASE = "postgresql://clubs:secret@localhost/clubs"
"""The empty database of PostgreSQL that guides use."""

ELISION = " ..."
_BLOCK = re.compile(r"^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"# file: (?P<name>\S+)\n")


class File(NamedTuple):
    """A file that a guide shows."""

    name: str
    text: str


class Command(NamedTuple):
    """A command that a guide shows, where its output stands in the guide, and that output."""

    line: str
    place: slice
    output: str


def read_guide(text: str, stage: str = "") -> Iterator[File | Command]:
    """The files and commands of a guide, in their order.

    Args:
        text: the guide.
        stage: whose blocks stand for others; empty for none.
    """
    found: list[list[File | Command]] = []
    console = 0
    for block in _BLOCK.finditer(text):
        content = block["text"]
        if block["kind"] == "console":
            console = len(found)
            found.append([*_commands(content, block.start("text"))])
        elif named := _FILE.match(content):
            found.append([File(named["name"], content)])
        elif stage and content.startswith(f"# {stage}\n"):
            found[console] = []
            place = slice(block.end("text"), block.end("text"))
            found.append([Command(f"set -e\n{content}", place, f"{ELISION}\n")])
    for each in found:
        yield from each


def _commands(text: str, start: int) -> Iterator[Command]:
    places = [match.start() for match in re.finditer(r"^\$ ", text, re.MULTILINE)]
    for begin, end in zip(places, [*places[1:], len(text)], strict=True):
        line, _, output = text[begin:end].partition("\n")
        place = slice(start + begin + len(line) + 1, start + end)
        yield Command(line.removeprefix("$ "), place, output)


def run_guide(
    text: str,
    folder: Path,
    *,
    stage: str = "",
    names: Mapping[str, str] | None = None,
    run: Callable[..., tuple[str, int]] | None = None,
) -> Iterator[tuple[Command, str]]:
    """Runs a guide in a folder; yields each command with what it really prints.

    Args:
        text: the guide.
        folder: the folder.
        stage: whose blocks stand for others; empty for none.
        names: what stands in the guide, with what is meant here.
        run: runs a command as `print_of` does, which does so where None.
    """
    run = run or print_of
    if "examples/" in text:
        ignored = shutil.ignore_patterns("__pycache__", ".*cache", "crm")
        shutil.copytree(ROOT / "examples", folder / "examples", ignore=_but_top(ignored))
    status = 0
    given = dict(names or {})
    names = {each: str(serving.free_port()) for each in PORTS if each in text} | given
    resources = contextlib.ExitStack()
    try:
        if DATABASE in text:
            names[DATABASE] = f"{resources.enter_context(postgres.server())}/postgres"
        for each in read_guide(text, stage):
            if isinstance(each, File):
                path = folder / each.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(_replaced(each.text, given), encoding="utf-8")
                continue
            line = _replaced(each.line, names)
            real, status = run(f"(exit {status}); {line}", folder, warmed="$ kill " not in text)
            yield each, _replaced(real, {free: shown for shown, free in names.items()})
    finally:
        for each in folder.glob("*.pid"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(each.read_text()), signal.SIGTERM)
        resources.close()


def _replaced(text: str, names: Mapping[str, str]) -> str:
    for name, other in names.items():
        text = text.replace(name, other)
    return text


def print_of(
    line: str, folder: Path, *, warmed: bool = True, more: Mapping[str, str] | None = None
) -> tuple[str, int]:
    """What a command prints in a folder, messages included, and its exit code.

    Args:
        line: the command.
        folder: the folder.
        warmed: whether `trundle` may be that of `warm`, which signals do not reach.
        more: further variables of the environment.
    """
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=environment(warmed=warmed) | dict(more or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    return _tidy(done.stdout, folder), done.returncode


def _but_top(ignored):
    """Ignores names but right below `examples`, where `crm` is the project and not its package."""
    return lambda folder, names: () if Path(folder) == ROOT / "examples" else ignored(folder, names)


def environment(*, warmed: bool) -> dict[str, str]:
    """The variables that commands of guides are run with.

    Args:
        warmed: whether `trundle` may be that of `warm`, which signals do not reach.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST", "TRUNDLE")) and name != "PYTHONUNBUFFERED"
    }
    folders = [Path(warm.script(always=True)[-1]).parent] if warmed else []
    folders.append(Path(sys.executable).parent)
    path = os.pathsep.join((*map(str, folders), kept.get("PATH", os.defpath)))
    return {**kept, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def _tidy(output: str, folder: Path) -> str:
    lines = output.replace(str(folder), HOME).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def fits(shown: str, real: str) -> bool:
    """Whether a guide shows what a command really prints."""
    if ELISION not in shown:
        return shown.rstrip() == real.rstrip()
    parts = re.split(rf"^{re.escape(ELISION)}\n", shown, flags=re.MULTILINE)
    return re.fullmatch("(?:.*\n)*?".join(map(re.escape, parts)), real) is not None


def rewrite(path: Path) -> bool:
    """Writes real output into a guide where it shows another; whether that was needed."""
    text = path.read_text(encoding="utf-8")
    changed = text
    with tempfile.TemporaryDirectory() as folder:
        ran = list(run_guide(text, Path(folder).resolve()))
    for command, real in reversed(ran):
        if not fits(command.output, real):
            blank = "\n" if command.output.endswith("\n\n") else ""
            changed = changed[: command.place.start] + real + blank + changed[command.place.stop :]
    if changed != text:
        path.write_text(changed, encoding="utf-8")
    return changed != text


if __name__ == "__main__":
    wanted = [Path(name).resolve() for name in sys.argv[1:]] or GUIDES
    for guide in wanted:
        if rewrite(guide):
            print(f"wrote {guide.relative_to(ROOT)}")  # noqa: T201 - this is a command
