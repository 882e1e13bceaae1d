"""Which processes do the work of a command: those of this machine, or of a Dask cluster."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from trundle.cli._failures import unmet
from trundle.cli._settings import current

if TYPE_CHECKING:
    from trundle.workers import Workers

Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Let the workers of a Dask cluster do it, such as `tcp://HOST:8786`.",
        show_default="processes of this machine",
    ),
]


@contextlib.contextmanager
def workers_of(
    scheduler: str | None, count: int | None, option: str = "--jobs"
) -> Iterator["Workers"]:
    """The processes that do the work of a command.

    Args:
        scheduler: the address of a cluster; None for this machine.
        count: how many processes of this machine there are; where None, what the settings say, or one to each processor.
        option: the option that says how many there are.

    Raises:
        SchedulerAddressError: the address is none.
        DaskError: the cluster cannot be reached.
        ForeignWorkerError: a worker runs another version.
    """
    from trundle.workers import DaskCluster, Processes, cpu_count  # noqa: PLC0415

    if scheduler is None:
        yield Processes(count or current().jobs or cpu_count(), option)
        return
    if count is not None and count > 1:
        raise unmet(option, "no such option with --scheduler", "one", "leave one of them out")
    with DaskCluster(scheduler) as cluster:
        yield cluster
