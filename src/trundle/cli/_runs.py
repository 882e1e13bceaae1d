"""How commands run the code of packages: in a process that can be ended, within limits, with a trace where one is asked for."""

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import typer

from trundle._faces import complete
from trundle.cli._printing import say

if TYPE_CHECKING:
    from trundle.engine import EngineError, Limits, WatchedCall
    from trundle.workers import Note

R = TypeVar("R")

_MIB = 2**20

TimeLimit = Annotated[
    float,
    typer.Option(
        "--time-limit", min=0.1, metavar="SECONDS", help="How long the code of packages may run."
    ),
]
MemoryLimit = Annotated[
    int,
    typer.Option(
        "--memory-limit",
        min=16,
        metavar="MIB",
        help="How much memory the code of packages may take.",
    ),
]
Traced = Annotated[
    bool,
    typer.Option("--trace", help="Show each call of a method, and the calls that led to an error."),
]
SECONDS, MEMORY = 3600.0, 1024
"""What these options are by default."""


class RunOptions(NamedTuple):
    """How code runs.

    Attributes:
        seconds: how long it may.
        memory: how much memory it may take, in MiB.
        trace: whether each call is shown.
    """

    seconds: float = SECONDS
    memory: int = MEMORY
    trace: bool = False


def limits_of(options: RunOptions) -> "Limits":
    """The limits of engines that run code."""
    from trundle.engine import Limits  # noqa: PLC0415

    return Limits(seconds=options.seconds, memory=options.memory * _MIB)


def run_code(work: "Callable[[Limits], R]", options: RunOptions) -> R:
    """What a function returns that runs the code of packages.

    Args:
        work: the function; it opens whatever it needs, and gives the limits to engines.
        options: how it runs.

    Raises:
        EndedError: it was ended, mostly since it took too long or too much memory.
        Exception: what it raises.
    """
    from trundle.engine import watching  # noqa: PLC0415
    from trundle.workers import run_apart  # noqa: PLC0415

    limits = limits_of(options)
    complete()  # What the run imported would count as its own time and memory.

    def run(note: "Note") -> R:
        with watching(_Whereabouts(note)), traced(say, wanted=options.trace):
            return work(limits)

    return run_apart(run, seconds=limits.seconds, memory=limits.memory)


@contextlib.contextmanager
def traced(write: Callable[[str], object], *, wanted: bool) -> Iterator[None]:
    """Writes each call of a method meanwhile, and the calls that led to an error, if that is wanted."""
    from trundle.engine import CallTrace, EngineError, watching  # noqa: PLC0415

    if not wanted:
        yield
        return
    with watching(CallTrace(write)):
        try:
            yield
        except EngineError as error:
            for each in error.errors:
                if each.frames:
                    write(each.format())
            raise


class _Whereabouts:
    """Notes which method runs, for the case that the process is ended."""

    def __init__(self, note: "Note") -> None:
        self._note = note
        self._at: dict[int, str] = {}

    def begin(self, call: "WatchedCall") -> None:
        """A method begins."""
        self._note.text = self._at[call.depth] = str(call.frame)

    def end(self, call: "WatchedCall", result: Any) -> None:  # noqa: ARG002 - of the protocol
        """A method returns to the one that called it."""
        self._note.text = self._at.get(call.depth - 1, "")

    def fail(self, call: "WatchedCall", error: "EngineError") -> None:
        """The same."""
        self.end(call, error)
