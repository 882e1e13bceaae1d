"""The one place that turns errors into messages and exit codes."""

import contextlib
import errno
import os
import sys
import traceback
from collections.abc import Iterator
from enum import IntEnum

import typer

from trundle.cli._printing import complain, say
from trundle.errors import Kind, TrundleError, expectation


class ExitCode(IntEnum):
    """How a command ends."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    FINDINGS = 3
    EXISTS = 4
    NOT_FOUND = 5
    VERIFICATION_FAILED = 6
    UNREACHABLE = 7
    CONFLICT = 8
    UPDATE_AVAILABLE = 10
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


class CommandExit(TrundleError):  # noqa: N818 - most refusals are no errors
    """A command that ends with an exit code of its own, after messages.

    Attributes:
        code: the exit code.
    """

    def __init__(self, code: ExitCode, *messages: str) -> None:
        self.code = code
        super().__init__(*messages)

    @property
    def messages(self) -> tuple[str, ...]:
        """What went wrong; empty where that was printed as the result."""
        return tuple(map(str, self.args))


def unmet(
    where: str, expected: str, found: str, advice: str = "", code: ExitCode = ExitCode.USAGE
) -> CommandExit:
    """A refusal of what a user gave to a command.

    Args:
        where: the option, file or thing that is concerned; empty where the message names it.
        expected: what should be there.
        found: what is there instead.
        advice: what to do about it; may be empty.
        code: the exit code.
    """
    message = expectation(expected, found, advice)
    return CommandExit(code, f"{where}: {message}" if where else message)


@contextlib.contextmanager
def going_on(*, dry_run: bool) -> Iterator[None]:
    """Says of a command that Ctrl-C ends how it goes on; not of a dry run, which leaves nothing."""
    try:
        yield
    except KeyboardInterrupt:
        if not dry_run:
            say("interrupted; the same command goes on from there")
        raise


@contextlib.contextmanager
def failures_reported() -> Iterator[None]:
    """Turns the errors of a command into messages and an exit code.

    Raises:
        Exit: something went wrong that a user can do something about.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except BrokenPipeError:
        close_output()
        raise typer.Exit(ExitCode.BROKEN_PIPE) from None
    except typer.Exit:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.EPIPE:
            close_output()
            raise typer.Exit(ExitCode.BROKEN_PIPE) from None
        try:
            sys.stdout.flush()
        except OSError:  # What is left cannot be written either.
            close_output()
        code = exit_code(error)
        if code is None:
            if isinstance(error, EOFError):  # typer would take it for a person who ends a prompt.
                raise RuntimeError(f"{type(error).__name__}: {error}") from error
            raise
        for message in messages_of(error):
            complain(message)
        raise typer.Exit(code) from None


EXIT_CODES = {
    Kind.FAILED: ExitCode.FAILED,
    Kind.USAGE: ExitCode.USAGE,
    Kind.REFUSED: ExitCode.FINDINGS,
    Kind.EXISTS: ExitCode.EXISTS,
    Kind.NOT_FOUND: ExitCode.NOT_FOUND,
    Kind.VERIFICATION: ExitCode.VERIFICATION_FAILED,
    Kind.UNREACHABLE: ExitCode.UNREACHABLE,
    Kind.CONFLICT: ExitCode.CONFLICT,
}
"""How a command ends after an error of each kind."""


EXTRAS = {
    "alembic": "database",
    "cel_expr_python": "api",
    "cronsim": "channels",
    "distributed": "parts",
    "fsspec": "parts",
    "google": "api",
    "greenlet": "engine",
    "httptools": "api",
    "httpx2": "registry",
    "hypothesis": "verify",
    "jinja2": "docs",
    "jsonpatch": "api",
    "jsonpath": "api",
    "jsonschema_rs": "api",
    "lightkube": "kube",
    "prometheus_client": "api",
    "psycopg": "postgres",
    "pyarrow": "parts",
    "pydantic": "pydantic",
    "regex": "engine",
    "securesystemslib": "channels",
    "sqlalchemy": "database",
    "starlette": "api",
    "tuf": "channels",
    "tzdata": "channels",
    "uvicorn": "api",
    "uvloop": "api",
    "xxhash": "parts",
    "yaql": "engine",
}
"""The extra that brings each package which only some commands need."""


_ROOMS = {"api": "api", "catalog": "catalog", "dashboard": "ui", "kubernetes": "kube"}
"""The extra that brings all that a room needs, where that is more than the package which is missing first."""


def _extra_of(error: ModuleNotFoundError) -> str | None:
    """The extra to install; that of the room which the command asked for, so that one is enough."""
    found = EXTRAS.get((error.name or "").partition(".")[0])
    rooms = (_ROOMS.get(each) for each in _rooms_within(error))
    return found and next(filter(None, rooms), found)


def _rooms_within(error: Exception) -> Iterator[str]:
    """The rooms that were being imported when something failed, the one that the command asked for first."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        package, _, rest = frame.f_globals.get("__name__", "").partition(".")
        if package == "trundle":
            yield rest.partition(".")[0]


def exit_code(error: Exception) -> ExitCode | None:
    """The exit code for an error; None for one that only a bug can cause."""
    match error:
        case CommandExit():
            return error.code
        case TrundleError():
            return EXIT_CODES[error.kind]
        case FileNotFoundError():
            return ExitCode.NOT_FOUND
        case OSError() | RecursionError() | MemoryError():
            return ExitCode.FAILED
        case ImportError() if error.name is None:  # It names the extra to install.
            return ExitCode.FAILED
        case ModuleNotFoundError() if _extra_of(error):
            return ExitCode.FAILED
    return None


def messages_of(error: Exception) -> tuple[str, ...]:
    """What went wrong, one message for each finding."""
    match error:
        case TrundleError():
            return error.messages
        case RecursionError():
            return ("the input is nested too deeply; make it flatter",)
        case MemoryError():
            return ("there is not enough memory for this input",)
        case ModuleNotFoundError() if extra := _extra_of(error):
            advice = f"run: python -m pip install 'trundle[{extra}]'"
            return (expectation("what this command needs", f"no {error.name}", advice),)
        case OSError():
            place = f"{error.filename}: " if error.filename is not None else ""
            return (f"{place}{error.strerror or error}",)
    return (str(error),)


def report_bug(error: Exception) -> None:
    """Reports an unexpected error."""
    complain(f"unexpected {type(error).__name__}: {error}")
    say("This is a bug in Trundle. Set TRUNDLE_TRACEBACK=1 to see where, and report it.")


def close_output() -> None:
    """Lets go what standard output does not take, so that Python does not complain of it once more at its end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
