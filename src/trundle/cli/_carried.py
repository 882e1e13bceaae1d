"""How commands get at the store of an installation, with the resource types of what is installed."""

import contextlib
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle.cli._installing import opened, state_folder
from trundle.cli._printing import say, warn
from trundle.cli._settings import current
from trundle.cli._stores import StorePlace, alone, place_of, require_usable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from starlette.routing import BaseRoute

    from trundle.api import Access, CarriedPackages, CarriedTypes, InstalledApi, ServedKind
    from trundle.runtime import AnyScheme
    from trundle.store import Store

Installed = Annotated[
    bool,
    typer.Option("--installed", help="Use what is installed, and its store, instead of a project."),
]


def installed_place(state: Path | None, place: str | None) -> str | Path:
    """The database of an installation: that which is named, else a file in its folder."""
    return place_of(place or current().store or str(state_folder(state) / "store.db"))


@contextlib.contextmanager
def installed_store(state: Path | None, place: str | None) -> Iterator[StorePlace]:
    """The store of an installation, with the scheme of all that is installed.

    Args:
        state: the folder of the installation; that of the settings where None.
        place: the database that the user names.
    """
    with installed_scheme(state) as scheme:
        yield StorePlace(installed_place(state, place), scheme)


@contextlib.contextmanager
def installed_scheme(state: Path | None) -> Iterator["AnyScheme"]:
    """The scheme of all that is installed; a warning names what is left out."""
    with carried_packages() as packages:
        yield _known(packages, state).scheme


def installed_kinds(state: Path | None) -> "tuple[ServedKind, ...]":
    """The resource types of all that is installed; a warning names what is left out."""
    with carried_packages() as packages:
        return _known(packages, state).kinds


@contextlib.contextmanager
def installed_api(
    state: Path | None,
    place: str | None,
    access: "Access",
    beside: "Callable[[Iterable[ServedKind], Store], Sequence[BaseRoute]]",
) -> Iterator["tuple[InstalledApi, Callable[[], InstalledApi]]"]:
    """An API of what is installed, and what has its lease; `beside` gives what else is served with resource types."""
    from trundle import __version__  # noqa: PLC0415
    from trundle.api import Api, InstalledApi  # noqa: PLC0415
    from trundle.installation import installed_folders, remember_store  # noqa: PLC0415
    from trundle.store import Store  # noqa: PLC0415

    folder = state_folder(state)
    where = installed_place(state, place)
    require_usable(where)
    with (
        carried_packages() as packages,
        opened(state, making=True) as installation,
        Store(where, _nothing(packages)) as store,
        alone(store),
    ):
        if remember_store(installation, store.where):
            kept = "the password of the store is not kept for upgrades"
            warn(f"{kept}; give it to them with PGPASSWORD, or in ~/.pgpass")
        api = InstalledApi(
            store,
            packages,
            lambda: installed_folders(folder),
            lambda below, types: Api(
                below,
                types.kinds,
                __version__,
                access=access,
                beside=beside(types.kinds, below),
                complain=warn,
            ),
            warn,
            lambda text: say(f"installed: {text}"),
        )
        yield api, lambda: api


@contextlib.contextmanager
def carried_packages() -> Iterator["CarriedPackages"]:
    """Loads packages in a folder that is gone afterwards."""
    from trundle.api import CarriedPackages  # noqa: PLC0415
    from trundle.project import CarriedProjects  # noqa: PLC0415

    name = f"trundle_installed_{secrets.token_hex(4)}"
    with (
        tempfile.TemporaryDirectory(prefix="trundle-") as folder,
        CarriedProjects(Path(folder), name) as projects,
    ):
        yield CarriedPackages(projects)


def _known(packages: "CarriedPackages", state: Path | None) -> "CarriedTypes":
    """The resource types of all that is installed; warns of what is left out."""
    from trundle.installation import installed_folders  # noqa: PLC0415

    found = packages.join(installed_folders(state_folder(state)), {}, {})
    for name, why in found.refused.items():
        warn(f"{name} is left out: {why}")
    return found


def _nothing(packages: "CarriedPackages") -> "AnyScheme":
    """A scheme without resource types."""
    return packages.join({}, {}, {}).scheme
