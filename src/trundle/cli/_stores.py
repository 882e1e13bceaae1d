"""How commands get at a store."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle.cli._failures import ExitCode, unmet
from trundle.cli._printing import warn
from trundle.cli._project import load
from trundle.cli._settings import STORE, settings_of

if TYPE_CHECKING:
    from trundle.errors import Finding
    from trundle.project import ShippedPackage
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


@contextlib.contextmanager
def opened_store(
    context: typer.Context,
    place: str | None,
    *,
    making: bool = False,
    looking: bool = False,
    lasting: bool = False,
) -> Iterator["Store"]:
    """The store that a command works on, with the scheme of the project's generated package.

    Within, `sys.stdout` is standard error, where hooks may print; a command keeps the one it had for its results.

    Args:
        context: the command's context.
        place: the database that the user names; that of the settings where None.
        making: whether a file is made where there is none.
        looking: whether nothing is to be written.
        lasting: whether objects are converted for long; see `generated_scheme`.

    Raises:
        CommandExit: there is no such file.
        DatabaseError: it cannot be used.
    """
    from trundle.project import generated_scheme, load_config  # noqa: PLC0415

    config = load_config(settings_of(context).config_path)
    with generated_scheme(config, lasting=lasting) as scheme:
        found = store_of(context, place, scheme, making=making, looking=looking)
        with found as store:
            yield store


@contextlib.contextmanager
def store_of(
    context: typer.Context,
    place: str | None,
    scheme: "AnyScheme",
    *,
    making: bool = False,
    looking: bool = False,
) -> Iterator["Store"]:
    """The store that a command works on; see `opened_store`.

    Raises:
        CommandExit: there is no such file.
        DatabaseError: it cannot be used.
    """
    from trundle.store import Store  # noqa: PLC0415

    where = place_of(place or settings_of(context).project_store)
    require_store(where, making=making)
    with Store(where, scheme, looking=looking) as store:
        if making and not looking:
            # What writes, such as a server, does not look at the rest of the store.
            from trundle.store import unserved  # noqa: PLC0415

            for each in unserved(store):
                warn(str(each))
        yield store


@contextlib.contextmanager
def shipped_store(
    package: "ShippedPackage", place: str, *, looking: bool = False
) -> Iterator["Store"]:
    """A store with the scheme of a generated package that was sent to this process.

    Args:
        package: the package.
        place: the database, as a file or a URL.
        looking: whether nothing is to be written.
    """
    from trundle.project import shipped_scheme  # noqa: PLC0415
    from trundle.store import Store  # noqa: PLC0415

    with (
        shipped_scheme(package) as scheme,
        Store(place_of(place), scheme, looking=looking) as store,
    ):
        yield store


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
    return text if "://" in text else Path(text).expanduser()


def require_store(where: str | Path, *, making: bool = False) -> None:
    """Refuses a file that does not exist, and an empty one, which SQLite would take for a new database.

    Args:
        where: the database.
        making: whether a file may be made.

    Raises:
        CommandExit: it does not exist.
        DamagedError: it is empty.
    """
    from trundle.store import refuse_emptied  # noqa: PLC0415

    path = file_of(where)
    if path is None:
        return
    if not path.exists():
        if making:
            return
        advice = "name the store with --store"
        raise unmet(str(path), "a store", "no such file", advice, ExitCode.NOT_FOUND)
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
