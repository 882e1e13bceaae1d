"""How a command gets at a catalog: in a database, or at a server."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from trundle._environment import expanded
from trundle.cli._channels import version_of, web_settings
from trundle.cli._failures import ExitCode, unmet
from trundle.cli._settings import CATALOG, SERVER, TENANT, current

if TYPE_CHECKING:
    from trundle.catalog import Catalog, CatalogServer
    from trundle.packages import Package
    from trundle.version import SemVer

IN_CATALOG = "catalog:"
"""How the name of a package begins that is in a catalog."""

Place = Annotated[
    str | None,
    typer.Option(
        "--catalog",
        metavar="URL",
        envvar=CATALOG,
        help="The database: a file, `sqlite:///FILE` or `postgresql://USER@HOST/NAME`.",
        show_default="catalog.db in the state directory",
    ),
]
At = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help="A server that keeps the catalog (`trundle serve --catalog`) instead of a database.",
    ),
]
NotAt = Annotated[
    str | None,
    typer.Option(
        "--server", metavar="URL", hidden=True, help="Refused: a server does not do this."
    ),
]
Tenant = Annotated[
    str | None,
    typer.Option(
        "--tenant", metavar="TENANT", envvar=TENANT, help="The tenant.", show_default="default"
    ),
]


@contextlib.contextmanager
def opened_catalog(place: str | None, *, making: bool = False) -> Iterator["Catalog"]:
    """The catalog that a command works on; where there is none, an empty one unless it is to be made."""
    from trundle.catalog import Catalog  # noqa: PLC0415

    where = place_of_catalog(place)
    if making and isinstance(where, Path):
        where.parent.mkdir(parents=True, exist_ok=True)
    with Catalog(where, looking=not making, settings=web_settings()) as catalog:
        yield catalog


def place_of_catalog(place: str | None) -> str | Path:
    """The database of the catalog that a command works on: a URL, or a file."""
    text = place or current().catalog
    return text if "://" in text else expanded(text)


@contextlib.contextmanager
def kept_catalog(
    place: str | None, server: str | None, *, making: bool = False
) -> Iterator["Catalog | CatalogServer"]:
    """The catalog that a command reads or uploads to: that of a server where one is given, else one in a database.

    Raises:
        InvalidServerUrlError: the server is no URL.
    """
    url = server or ("" if place else current().server)
    if not url:
        with opened_catalog(place, making=making) as catalog:
            yield catalog
        return
    from trundle.catalog import CatalogServer  # noqa: PLC0415
    from trundle.registry import require_url  # noqa: PLC0415

    require_url(url, "--server" if server else SERVER)
    yield CatalogServer(url, current().token)


@contextlib.contextmanager
def own_catalog(
    place: str | None, server: str | None, *, making: bool = False
) -> Iterator["Catalog"]:
    """The catalog in its database, for commands that no server carries out; where there is none, an empty one unless it is to be made.

    Raises:
        CommandExit: a server is named, and no database.
    """
    url = server or ("" if place else current().server)
    if url:
        expected = "the database of the catalog, which this command works on"
        advice = "run it where the database is, and name that with --catalog"
        raise unmet("--server" if server else SERVER, expected, f"the server {url}", advice)
    with opened_catalog(place, making=making) as catalog:
        yield catalog


class CatalogPlace(NamedTuple):
    """The catalog that a command may look into, and for whom.

    Attributes:
        database: what `--catalog` says.
        server: what `--server` says.
        tenant: what `--tenant` says.
    """

    database: str | None = None
    server: str | None = None
    tenant: str | None = None

    def names(self, named: str) -> list[str]:
        """What `catalog:`, `catalog:NAME` or `catalog:NAME:VERSION` stands for: each version as the last of these.

        Raises:
            CommandExit: the tenant sees no such package.
        """
        name, _, version = named.removeprefix(IN_CATALOG).partition(":")
        if version:
            return [named]
        with kept_catalog(self.database, self.server) as opened:
            offers = opened.offers(tenant_of(self.tenant), name or None)
            where = opened.where
        if not offers:
            expected = f"packages of the catalog {where} that {tenant_of(self.tenant)} sees"
            advice = "run `trundle catalog list` to see what there is"
            raise unmet(named.removesuffix(":"), expected, "none", advice, ExitCode.NOT_FOUND)
        return [f"{IN_CATALOG}{each.name}:{each.version}" for each in offers]

    def package(self, named: str) -> "Package":
        """The package that `catalog:NAME:VERSION` names; the newest release for `catalog:NAME`.

        Raises:
            CatalogError: the tenant sees no such version.
        """
        name, _, version = named.removeprefix(IN_CATALOG).partition(":")
        if not name:
            raise unmet(named, "catalog:NAME or catalog:NAME:VERSION", "no name", "add the name")
        number = version_of(version) if version else None
        with kept_catalog(self.database, self.server) as opened:
            package = opened.package(name, number, tenant=tenant_of(self.tenant))[1]
            package.archive  # noqa: B018 - read while the catalog is open
        return package

    def required(self, package: "Package") -> "list[Package]":
        """What a package requires, and what that requires in turn, as far as the catalog has it: of each the version that its range chooses."""
        found: dict[tuple[str, SemVer], Package] = {}
        tenant = tenant_of(self.tenant)
        with kept_catalog(self.database, self.server) as opened:
            offered: dict[str, list[SemVer]] = {}
            for each in opened.offers(tenant):
                offered.setdefault(each.name, []).append(each.version)
            waiting = [package]
            for of in waiting:
                for needed in of.manifest.requirements:
                    version = needed.range.choose(offered.get(needed.name, ()))
                    if version is None or (needed.name, version) in found:
                        continue
                    one = opened.package(needed.name, version, tenant=tenant)[1]
                    one.archive  # noqa: B018 - read while the catalog is open
                    found[needed.name, version] = one
                    waiting.append(one)
        return list(found.values())


def tenant_of(given: str | None) -> str:
    """The tenant that a command works for."""
    return given or current().tenant
