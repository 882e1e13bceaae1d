"""How commands get at a store."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle.cli._failures import ExitCode, unmet
from trundle.cli._project import config_of, load
from trundle.cli._settings import STORE, settings_of

if TYPE_CHECKING:
    from trundle.errors import Finding
    from trundle.store import Store

Place = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        envvar=STORE,
        help="The database: a file, `sqlite:///FILE` or `postgresql://USER@HOST/NAME`.",
        show_default="store.db in the project's folder",
    ),
]


@contextlib.contextmanager
def opened_store(
    context: typer.Context, place: str | None, *, making: bool = False
) -> Iterator["Store"]:
    """The store that a command works on, with the scheme of the project's generated package.

    Within, `sys.stdout` is standard error, where hooks may print; a command keeps the one it had for its results.

    Args:
        context: the command's context.
        place: the database that the user names; that of the settings where None.
        making: whether a file is made where there is none.

    Raises:
        Refusal: there is no such file.
    """
    from trundle.project import generated_scheme  # noqa: PLC0415
    from trundle.store import Store  # noqa: PLC0415

    where = _place(place or settings_of(context).store)
    if not making:
        _require(where)
    with generated_scheme(config_of(context)) as scheme, Store(where, scheme) as store:
        yield store


def still_stored(context: typer.Context, place: str) -> "tuple[Finding, ...]":
    """What a store keeps that the project could not read, were it released as its files are now."""
    from trundle.store import dropped  # noqa: PLC0415

    readable = {
        (each.resources[each.versions.hub].group, each.name): [
            version.text for version in each.versions.storage
        ]
        for each in load(context).evolution.resources
    }
    where = _place(place)
    _require(where)
    return dropped(where, readable)


def _place(text: str) -> str | Path:
    return text if "://" in text else Path(text).expanduser()


def _require(where: str | Path) -> None:
    """Refuses a file that does not exist.

    Raises:
        Refusal: it does not.
    """
    path = Path(str(where).removeprefix("sqlite:///"))
    if (isinstance(where, Path) or str(where).startswith("sqlite:///")) and not path.exists():
        advice = "name the store with --store"
        raise unmet(str(path), "a store", "no such file", advice, ExitCode.NOT_FOUND)
