"""Results on standard output, messages on standard error."""

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

import typer

from trundle.cli._settings import wants_colours

_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tabs and line ends; and those that change the direction of writing."""
_FIRST_WORD = re.compile(r"( {0,2})(\S+)")
_SHOWN = 40
"""How many letters of a step are shown."""
_NARROWEST = 20
"""How narrow the last column of a table may become."""
STANDARD_OUTPUT = "standard output"
"""What messages call it."""

_USUAL = 80
"""How wide a terminal is taken to be that does not say it."""


def _plainly(_line: str) -> None:
    """Gives no line a colour."""


class Format(StrEnum):
    """How results are printed."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"


class DocumentFormat(StrEnum):
    """How documents are printed."""

    JSON = "json"
    YAML = "yaml"


def print_result(
    data: Callable[[], Any],
    text: Callable[[], str],
    output: Format,
    *,
    prose: bool = False,
    colour: Callable[[str], str | None] = _plainly,
) -> None:
    """Prints a result as text for people, or as plain values for programs; see `print_text`."""
    if output is Format.TABLE:
        print_text(text(), prose=prose, colour=colour)
    else:
        print_data(data(), output.value)


def print_data(data: Any, output: str) -> None:
    """Prints plain values as JSON or YAML."""
    print_exactly(data_text(data, output))


def data_text(data: Any, output: str) -> str:
    """Plain values as JSON or YAML."""
    from trundle.project import write_values  # noqa: PLC0415

    return write_values([data], "yaml" if output == "yaml" else "json")


def print_text(
    text: str, *, prose: bool = False, colour: Callable[[str], str | None] = _plainly
) -> None:
    """Prints a text for people, with just one line end after it, and nothing in it that steers a terminal.

    On a terminal its tables are folded to the width; to a file or another program they go as they are.

    Args:
        text: what to print.
        prose: wrap long lines on a terminal, too; not for what is to be copied, such as commands.
        colour: gives the colour for the first word of a line that is indented by two spaces at most, for what the line means.
    """
    width = terminal_width()
    if width is not None:
        from trundle.report import folded, wrapped  # noqa: PLC0415

        text = folded(text, width)
        if prose:
            text = "\n".join(wrapped(each, width, indent=4) for each in text.split("\n"))
    _write("\n".join(_marked(each, colour(each)) for each in harmless(text).split("\n")))


def _marked(line: str, colour: str | None) -> str:
    found = _FIRST_WORD.match(line)
    if found is None or colour is None:
        return line
    return f"{found[1]}{styled(found[2], colour)}{line[found.end() :]}"


def terminal_width() -> int | None:
    """How many columns the terminal has that results go to; None where they go elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_styled(text: str) -> None:
    """Prints a text with colours of its own; every other part of it went through `harmless`."""
    _write(text)


def print_exactly(text: str) -> None:
    """Prints what programs read, JSON or YAML, with just one line end after it.

    On a terminal, what would steer it is shown as an escape, which means the same in both.
    """
    if sys.stdout.isatty():
        text = _STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    _write(text)


def _write(text: str) -> None:
    """Writes to standard output. It is out before any message that follows, also where both streams go to one file."""
    if text:
        try:
            sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
            sys.stdout.flush()
        except OSError as error:
            error.filename = error.filename or STANDARD_OUTPUT
            raise


def harmless(text: str) -> str:
    """A text that cannot steer a terminal: control characters, colours included, are shown as escapes."""
    return _STEERING.sub(lambda match: ascii(match[0])[1:-1], text)


def one_line(text: str) -> str:
    """A text from a foreign source as one line."""
    return " ".join(text.split())


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Rows of texts below a head, in columns; nothing where there are no rows.

    On a terminal the last column is folded to what the others leave of the width.
    """
    if not rows:
        return ""
    lines = [head, *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(head))]
    before = sum(widths[:-1]) + 2 * (len(widths) - 1)
    left = (terminal_width() or sys.maxsize) - before
    if widths[-1] > left > _NARROWEST:
        from trundle.report import wrap_words  # noqa: PLC0415

        empty = ("",) * (len(head) - 1)
        lines = [
            (*(empty if at else line[:-1]), part)
            for line in lines
            for at, part in enumerate(wrap_words(line[-1], left))
        ]
    return "".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        + "\n"
        for line in lines
    )


def shown_path(path: Path) -> str:
    """A path as a person in this folder would write it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def say(message: str) -> None:
    """Reports what was done; on a terminal it is wrapped to the width."""
    typer.echo(_fitting(harmless(message)), err=True)


def warn(message: str) -> None:
    """Warns of what the user should look at."""
    _labelled("warning", typer.colors.YELLOW, message)


def complain(message: str) -> None:
    """Reports what went wrong."""
    _labelled("error", typer.colors.RED, message)


def _labelled(label: str, colour: str, message: str) -> None:
    text = _fitting(f"{label}: {harmless(message)}").removeprefix(label)
    typer.echo(f"{styled(label, colour, err=True)}{text}", err=True)


def _fitting(message: str) -> str:
    """A message that fits the terminal that messages go to; as it is where they go elsewhere."""
    if not sys.stderr.isatty():
        return message
    from trundle.report import wrapped  # noqa: PLC0415

    width = shutil.get_terminal_size((0, 0)).columns  # Of standard output, which may go elsewhere.
    width = width or os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL
    return "\n".join(wrapped(each, width, indent=2) for each in message.split("\n"))


def styled(
    text: str, colour: str | None, *, err: bool = False, bold: bool = True, dim: bool = False
) -> str:
    """A text in colour where that is shown and wanted: https://no-color.org."""
    stream = sys.stderr if err else sys.stdout
    if not wants_colours() or not stream.isatty():
        return text
    return typer.style(text, fg=colour, bold=bold or None, dim=dim or None)


class Step(Protocol):
    """Shows what is done now, and how much of how much is done, where that is known."""

    def __call__(self, step: str, done: int = 0, total: int = 0, /) -> None: ...


@contextlib.contextmanager
def progress(label: str) -> Iterator[Step]:
    """Shows progress while something long runs, where standard error is a terminal.

    Yields:
        What to call with the name of each step.
    """
    if not sys.stderr.isatty():
        yield lambda _step, _done=0, _total=0: None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[step]}", markup=False),
    )
    console = Console(stderr=True, highlight=False)
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task(label, total=None, step="", count="")

        def show(step: str, done: int = 0, total: int = 0) -> None:
            count = f"{done}/{total}" if total else str(done or "")
            shown.update(
                task, completed=done, total=total or None, step=step[-_SHOWN:], count=count
            )

        yield show
