"""The `trundle` command with all its subcommands."""

import io
import itertools
import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from trundle.cli._commands import Commands
from trundle.cli._failures import ExitCode, close_output, failures_reported, report_bug
from trundle.cli._printing import STANDARD_OUTPUT, complain
from trundle.cli._settings import resolve_for, wants_traceback


class TrundleGroup(TyperGroup):
    """Runs a subcommand, and turns whatever goes wrong into a message and an exit code."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = Commands(**_SETTINGS)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses arguments; the project's folder may be given before the command and after it."""
        parsed: list[str] = super().parse_args(ctx, project_first(args))
        return parsed

    def invoke(self, ctx: Any) -> Any:
        """Runs the subcommand of a context."""
        with failures_reported():
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result


def project_first(args: list[str]) -> list[str]:
    """The arguments with `-C DIR` and `--project DIR` before all others; what follows `--` stays where it is."""
    end = args.index("--") if "--" in args else len(args)
    first, rest = [], []
    given = iter(args[:end])
    for each in given:
        if each in {"-C", "--project"}:
            first += [each, *itertools.islice(given, 1)]
        elif each.startswith("--project="):
            first.append(each)
        else:
            rest.append(each)
    return [*first, *rest, *args[end:]]


_SETTINGS: dict[str, Any] = {"pretty_exceptions_enable": False, "rich_markup_mode": "markdown"}

app = typer.Typer(
    name="trundle",
    cls=TrundleGroup,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    **_SETTINGS,
)


def _show_version(value: bool) -> None:  # noqa: FBT001 - the signature of a callback
    if value:
        from trundle import __version__  # noqa: PLC0415

        typer.echo(f"trundle {__version__}")
        raise typer.Exit


@app.callback()
def _trundle(
    context: typer.Context,
    *,
    folder: Annotated[
        Path,
        typer.Option("--project", "-C", metavar="DIR", help="The project's folder."),
    ] = Path(),
    version: Annotated[  # noqa: ARG001 - the callback does the work
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Convert between schema versions without losing data, and roll releases forward."""
    context.obj = resolve_for(folder)


def _terminate(*_signal: object) -> NoReturn:
    """Ends what is being done, and this process, after it has tidied up."""
    sys.exit(ExitCode.TERMINATED)


def open_closed_streams() -> None:
    """Opens the standard streams that this process was started without (`2>&-`) on nothing.

    Otherwise the first files that are opened would take their numbers, and messages of libraries would go into them.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # The lowest free number, which is this one.
            opened = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(opened, "r" if number == 0 else "w", encoding="utf-8"))


def write_whole_texts() -> None:
    """Has the standard streams write the whole of a text, or fail.

    Python that is to buffer nothing (`PYTHONUNBUFFERED`, as in many containers) takes a write for whole of which the system took only a part: on a full
    disk, what a command printed would end somewhere, without an error.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        raw = getattr(stream, "buffer", None)
        if isinstance(raw, io.FileIO):
            setattr(
                sys,
                name,
                io.TextIOWrapper(
                    io.BufferedWriter(raw), stream.encoding, stream.errors, line_buffering=True
                ),
            )


def main() -> None:
    """Runs the command line of this process, and exits."""
    open_closed_streams()
    write_whole_texts()
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")
    # As Ctrl-C does, so that others do not have to wait for what a publisher leaves behind.
    signal.signal(signal.SIGTERM, _terminate)
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
    except OSError as error:  # Help that cannot be written; commands report what happens in them.
        close_output()
        complain(f"{STANDARD_OUTPUT}: {error.strerror}")
        sys.exit(ExitCode.FAILED)
    except Exception as error:
        if wants_traceback():
            raise
        report_bug(error)
        sys.exit(1)
