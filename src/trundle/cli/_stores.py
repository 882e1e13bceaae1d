"""How commands get at a store."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from trundle._environment import expanded
from trundle.cli._failures import ExitCode, unmet
from trundle.cli._printing import warn
from trundle.cli._project import config_of, load
from trundle.cli._settings import STORE, settings_of

if TYPE_CHECKING:
    from trundle.errors import Finding
    from trundle.runtime import AnyScheme
    from trundle.store import Store

Place = Annotated[
    str | None,
    typer.Option(
        "--store",
        "--database",
        metavar="URL",
        envvar=STORE,
        help="The database: a file, `sqlite:///FILE` or `postgresql://USER@HOST/NAME`.",
        show_default="store.db in the project's folder; with --installed, in the state directory",
    ),
]


class StorePlace(NamedTuple):
    """Where a command finds its store, and by what it reads and writes it. There is one way to open it for each kind of command.

    Attributes:
        where: the database.
        scheme: the scheme of the project's generated package, or of all that is installed.
    """

    where: str | Path
    scheme: "AnyScheme"

    def to_read(self) -> "Store":
        """For commands that write nothing: there has to be a store; one that cannot be written is read all the same.

        Raises:
            CommandExit: there is no such file.
            DatabaseError: it cannot be used.
        """
        from trundle.store import Store  # noqa: PLC0415

        require_store(self.where)
        return Store(self.where, self.scheme, looking=True)

    def to_change(self) -> "Store":
        """For commands that change what is stored: there has to be a store.

        Raises:
            CommandExit: there is no such file.
            DatabaseError: it cannot be used.
        """
        from trundle.store import Store  # noqa: PLC0415

        require_store(self.where)
        return Store(self.where, self.scheme)

    def to_fill(self) -> "Store":
        """For what brings objects into a store: it is made where there is none.

        Raises:
            DatabaseError: it cannot be used.
        """
        from trundle.store import Store  # noqa: PLC0415

        require_usable(self.where)
        return Store(self.where, self.scheme)

    def to_try(self) -> "Store":
        """For what is tried before a store is made: an empty one in memory, in place of the file that is not there."""
        from trundle.store import Store  # noqa: PLC0415

        return Store(self.where, self.scheme, looking=True)


@contextlib.contextmanager
def project_store(context: typer.Context, place: str | None) -> Iterator[StorePlace]:
    """The store of the project, with the scheme of its generated package as it is when the command begins.

    Within, `sys.stdout` is standard error, where hooks may print; a command keeps the one it had for its results.

    Args:
        context: the command's context.
        place: the database that the user names; that of the settings where None.
    """
    from trundle.project import generated_scheme  # noqa: PLC0415

    with generated_scheme(config_of(context), lasting=True) as scheme:
        yield StorePlace(project_place(context, place), scheme)


def project_place(context: typer.Context, place: str | None) -> str | Path:
    """The database of a project: that which is named, else that of the settings."""
    return place_of(place or settings_of(context).project_store)


def warn_unserved(store: "Store") -> None:
    """Warns of what a store keeps beside the objects of a project, for commands that do not look at all of it."""
    from trundle.store import unserved  # noqa: PLC0415

    for each in unserved(store):
        warn(str(each))


def still_stored(context: typer.Context, place: str) -> "tuple[Finding, ...]":
    """What a store keeps that the project could not read, were it released as its files are now."""
    from trundle.store import dropped  # noqa: PLC0415

    readable = {
        (of.group, of.name): [version.text for version in each.versions.storage]
        for each in load(context).evolution.resources
        for of in [each.resources[each.versions.hub]]
    }
    where = place_of(place)
    require_store(where)
    return dropped(where, readable)


def place_of(text: str) -> str | Path:
    """A database that a user names: a URL, else a file."""
    return text if "://" in text else expanded(text)


def require_store(where: str | Path) -> None:
    """Refuses a file that does not exist, and one that is not usable.

    Raises:
        CommandExit: it does not exist.
        DamagedError: it is empty.
    """
    path = file_of(where)
    if path is not None and not path.exists():
        advice = "name the store with --store"
        raise unmet(str(path), "a store", "no such file", advice, ExitCode.NOT_FOUND)
    require_usable(where)


def require_usable(where: str | Path) -> None:
    """Refuses an empty file, which SQLite would take for a new database; one that does not exist may be made.

    Raises:
        DamagedError: it is empty.
    """
    from trundle.store import refuse_emptied  # noqa: PLC0415

    path = file_of(where)
    if path is not None and path.exists():
        refuse_emptied(path)


def file_of(where: str | Path) -> Path | None:
    """The file of a store; None for a database on a server."""
    if isinstance(where, Path) or str(where).startswith("sqlite:///"):
        return Path(str(where).removeprefix("sqlite:///"))
    return None


@contextlib.contextmanager
def alone(store: "Store") -> Iterator[None]:
    """Refuses a second server on one SQLite file; servers on one PostgreSQL database work together.

    Raises:
        CommandExit: another server has it.
    """
    from trundle._locking import LockBusyError, locked  # noqa: PLC0415

    if "://" in store.where and not store.where.startswith("sqlite"):
        yield
        return
    path = Path(store.where.removeprefix("sqlite:///"))
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(path.with_name(f"{path.name}.serving"), wait=0))
        except LockBusyError:
            expected, found = "a store that no server has", "one that is being served"
            advice = "stop the other server, or use PostgreSQL, which several servers can share"
            raise unmet(str(path), expected, found, advice, ExitCode.CONFLICT) from None
        yield
