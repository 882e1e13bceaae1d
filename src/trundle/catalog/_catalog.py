"""A catalog: its database, opened; what is in it, and how it changes.

Each change is one transaction, and a change on PostgreSQL waits for the one before it. So the rules hold for whatever several
processes do at once, and what dies midway has changed nothing. An upload is judged before its transaction, which makes sure that
nothing has changed since.
"""

import contextlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, make_url

from trundle._clock import Clock, now
from trundle.catalog import _tables as t
from trundle.catalog._change_rules import check_shared, judged, without
from trundle.catalog._channels import Channels
from trundle.catalog._errors import NoSuchPackageError
from trundle.catalog._records import Consumer, FoundPackages, Offer, Review, Upload, VersionChange
from trundle.catalog._reviews import Reviews
from trundle.catalog._rows import Rows, decoded
from trundle.catalog._rules import seen
from trundle.catalog._snapshot import Snapshot
from trundle.catalog._tables import LOCK
from trundle.catalog._tenants import check_tenant
from trundle.database import Database, UnwritableError, open_copy, open_database
from trundle.packages import Package
from trundle.registry import HttpSettings
from trundle.version import ANY, SemVer

_WAIT = 30.0
_ATTEMPTS = 3
"""How often packages are judged while others may change the catalog, before others have to wait."""


class Catalog:
    """The packages of tenants. Used as a context manager, or closed by `close`. Threads may share it.

    Args:
        place: `sqlite:///FILE`, the file of a SQLite database, or `postgresql://USER:PASSWORD@HOST:PORT/NAME`.
        wait: seconds to wait for others who change the same catalog.
        looking: whether nothing is to be changed; a file that does not exist is not made then.
        clock: returns the time.
        settings: how web servers are asked for channels.

    Attributes:
        channels: the channels that tenants follow.

    Raises:
        DatabaseError: the database cannot be used; the class says why.
    """

    def __init__(
        self,
        place: str | Path,
        *,
        wait: float = _WAIT,
        looking: bool = False,
        clock: Clock = now,
        settings: HttpSettings | None = None,
    ) -> None:
        self._database = _opened(place, wait, looking=looking)
        try:
            self._database.migrate(t.MIGRATIONS)
        except BaseException:
            self.close()
            raise
        self.channels = Channels(self._database, clock, settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the database."""
        self._database.close()

    @property
    def where(self) -> str:
        """The file, or the URL without its password."""
        return self._database.where

    @property
    def database(self) -> Database:
        """Its database, in which environments are kept too."""
        return self._database

    # What is there

    def snapshot(self, tenant: str) -> Snapshot:
        """What a tenant sees at this moment: its own packages, and the public ones that it has not of its own.

        Raises:
            InvalidTenantError: no tenant can be called so.
            DatabaseError: the database cannot be read.
        """
        check_tenant(tenant)
        with self._database.reading() as connection:
            rows = self._rows(connection).seen_by(tenant)
        return Snapshot(tenant, rows, self._archive)

    def offers(self, tenant: str, name: str | None = None) -> tuple[Offer, ...]:
        """The versions that a tenant sees, by name, the oldest first.

        Args:
            tenant: the tenant.
            name: a package; all where None.

        Raises:
            InvalidTenantError: no tenant can be called so.
            DatabaseError: the database cannot be read.
        """
        check_tenant(tenant)
        with self._database.reading() as connection:
            offers = self._rows(connection).offers(None if name is None else [name])
        return _in_order(seen(offers, tenant))

    def search(self, tenant: str, text: str = "", most: int | None = None) -> FoundPackages:
        """The packages that a tenant sees with a text in their names, without regard to letter case.

        Args:
            tenant: the tenant.
            text: the text; all packages have an empty one.
            most: of how many packages the versions are given at most; of all where None.

        Raises:
            InvalidTenantError: no tenant can be called so.
            DatabaseError: the database cannot be read.
        """
        check_tenant(tenant)
        with self._database.reading() as connection:
            rows = self._rows(connection)
            names = [each for each in rows.names(tenant) if text.casefold() in each.casefold()]
            offers = rows.offers(names[:most])
        return FoundPackages(len(names), _in_order(seen(offers, tenant)))

    def package(
        self, name: str, version: SemVer | None = None, *, tenant: str
    ) -> tuple[Offer, Package]:
        """A version that a tenant sees, and its package.

        Args:
            name: the package.
            version: its version; the newest release where None, or the newest pre-release where there is none.
            tenant: the tenant.

        Raises:
            NoSuchPackageError: the tenant sees no such version.
            InvalidTenantError: no tenant can be called so.
            DatabaseError: the database cannot be read.
        """
        offers = {each.version: each for each in self.offers(tenant, name)}
        chosen = ANY.choose(offers) if version is None else version
        offer = None if chosen is None else offers.get(chosen)
        with self._database.reading() as connection:
            row = None if offer is None else self._rows(connection).whole(offer)
        if offer is None or row is None:  # Without a row it was deleted meanwhile.
            raise self._missing(name, version, f"the tenant {tenant} sees", offers)
        return offer, decoded(row, self._archive)

    # Changes

    def upload(
        self,
        packages: Iterable[Package],
        *,
        tenant: str,
        public: bool = False,
        dry_run: bool = False,
        review: Review | None = None,
    ) -> Upload:
        """Stores packages, all or none of them.

        Packages that need each other are uploaded together. A version with the same content that the tenant has already is a
        note; it stays private or public as it is.

        Args:
            packages: the packages; several versions of one package may be among them.
            tenant: whose they are.
            public: whether all tenants see them.
            dry_run: whether nothing is stored.
            review: looks at each package that would be stored, and at the release that it follows; that is still the same when
                the package is stored.

        Returns:
            What was stored, and all findings. An error among them refuses the upload.

        Raises:
            InvalidTenantError: no tenant can be called so.
            DatabaseError: the database cannot be written; nothing was stored.
        """
        check_tenant(tenant)
        given, reviews = tuple(dict.fromkeys(packages)), Reviews(review)
        for _ in range(_ATTEMPTS):
            with self._database.reading() as connection:
                rows = self._rows(connection)
                before = rows.state()
                result, overrides = judged(rows, given, tenant, reviews, public=public)
            if dry_run or not result.stored:
                return result
            with self._changing(dry_run=False) as connection:
                rows = self._rows(connection)
                if rows.state() == before:
                    rows.store(result.stored, tenant, public=public, overrides=overrides)
                    return result
        with self._changing(dry_run=False) as connection:  # Others change it again and again
            rows = self._rows(connection)
            result, overrides = judged(rows, given, tenant, reviews, public=public)
            rows.store(result.stored, tenant, public=public, overrides=overrides)
        return result

    def delete(
        self,
        name: str,
        version: SemVer,
        *,
        tenant: str,
        force: bool = False,
        dry_run: bool = False,
    ) -> VersionChange:
        """Deletes a version of a tenant.

        Open snapshots go on with it, as its content stays until `tidy` removes it.

        Args:
            name: the package.
            version: its version.
            tenant: whose it is.
            force: whether it is deleted even though packages need it; what breaks is a warning then.
            dry_run: whether nothing is deleted.

        Raises:
            NoSuchPackageError: the tenant has no such version.
            StillNeededError: packages need it; the error names them.
            InvalidTenantError: no tenant can be called so.
            DatabaseError: the database cannot be written; nothing was deleted.
        """
        with self._changing(dry_run=dry_run) as connection:
            rows = self._rows(connection)
            offer = self._own(rows, name, version, tenant)
            change = without(rows, offer, "deleted", force=force)
            if not dry_run:
                rows.delete(offer)
        return change

    def share(
        self, name: str, version: SemVer, *, tenant: str, dry_run: bool = False
    ) -> VersionChange:
        """Lets all tenants see a version; nothing changes where they do already.

        Raises:
            NoSuchPackageError: the tenant has no such version.
            BrokenRuleError: it requires what not all tenants see, or another tenant has a package of that name and version.
            InvalidTenantError: no tenant can be called so.
            DatabaseError: the database cannot be written; nothing was changed.
        """
        with self._changing(dry_run=dry_run) as connection:
            rows = self._rows(connection)
            offer = self._own(rows, name, version, tenant)
            if not offer.public:
                check_shared(rows, offer)
                if not dry_run:
                    rows.set_public(offer, public=True)
        return VersionChange(offer)

    def unshare(
        self,
        name: str,
        version: SemVer,
        *,
        tenant: str,
        force: bool = False,
        dry_run: bool = False,
    ) -> VersionChange:
        """Makes a version private again; nothing changes where it is.

        Args:
            name: the package.
            version: its version.
            tenant: whose it is.
            force: whether that is done even though packages need it; what breaks is a warning then.
            dry_run: whether nothing is changed.

        Raises:
            NoSuchPackageError: the tenant has no such version.
            StillNeededError: public packages or other tenants need it; the error names them.
            InvalidTenantError: no tenant can be called so.
            DatabaseError: the database cannot be written; nothing was changed.
        """
        with self._changing(dry_run=dry_run) as connection:
            rows = self._rows(connection)
            offer = self._own(rows, name, version, tenant)
            change = without(rows, offer, "private", force=force)
            if not dry_run:
                rows.set_public(offer, public=False)
        return change

    def environments(
        self, tenant: str, *, within: Connection | None = None
    ) -> tuple[Consumer, ...]:
        """The environments of a tenant, by name, each with the versions that it uses.

        Args:
            tenant: whose they are.
            within: a transaction of `changing`; one of its own where None.

        Raises:
            InvalidTenantError: no tenant can be called so.
            DatabaseError: the database cannot be read.
        """
        check_tenant(tenant)
        own = contextlib.nullcontext(within) if within else self._database.reading()
        with own as connection:
            found = self._rows(connection).environments(tenant)
        return tuple(
            Consumer(tenant, name, _in_order(offers)) for name, offers in sorted(found.items())
        )

    def use(
        self,
        environment: str,
        versions: Iterable[tuple[str, SemVer]],
        *,
        tenant: str,
        dry_run: bool = False,
        within: Connection | None = None,
    ) -> Consumer:
        """Records which versions an environment uses, in place of what it used before; they are not deleted then.

        Args:
            environment: its name.
            versions: names and versions of packages; none for an environment that is gone.
            tenant: whose it is.
            dry_run: whether nothing is recorded.
            within: a transaction of `changing`; one of its own where None.

        Raises:
            NoSuchPackageError: the tenant sees no such version.
            InvalidTenantError: no tenant or no environment can be called so.
            DatabaseError: the database cannot be written; nothing was recorded.
        """
        check_tenant(tenant)
        check_tenant(environment, "the environment")
        own = contextlib.nullcontext(within) if within else self._changing(dry_run=dry_run)
        with own as connection:
            rows, offers = self._rows(connection), []
            for name, version in sorted(set(versions)):
                known = {each.version: each for each in seen(rows.offers([name]), tenant)}
                if version not in known:
                    raise self._missing(name, version, f"the tenant {tenant} sees", known)
                offers.append(known[version])
            if not dry_run:
                rows.set_environment(tenant, environment, offers)
        return Consumer(tenant, environment, tuple(offers))

    @contextlib.contextmanager
    def changing(self) -> Iterator[Connection]:
        """A transaction that no other change of the catalog meets: in it, what else is kept of environments changes together with what they use.

        Raises:
            DatabaseError: the database cannot be written; nothing was changed.
        """
        with self._changing(dry_run=False) as connection:
            yield connection

    def tidy(self, *, dry_run: bool = False) -> tuple[str, ...]:
        """Removes the content that only deleted versions had; a snapshot that is still open can no longer read it.

        Returns:
            The digests of what was removed, or would be.

        Raises:
            DatabaseError: the database cannot be written; nothing was removed.
        """
        with self._changing(dry_run=dry_run) as connection:
            rows = self._rows(connection)
            digests = rows.unused()
            if not dry_run:
                rows.forget(digests)
        return digests

    @contextlib.contextmanager
    def _changing(self, *, dry_run: bool) -> Iterator[Connection]:
        """A transaction that no other change meets; for a dry run, one that cannot write."""
        if dry_run:
            with self._database.reading() as connection:
                yield connection
            return
        with self._database.writing() as connection:
            self._database.lock(connection, LOCK)
            yield connection

    def _own(self, rows: Rows, name: str, version: SemVer, tenant: str) -> Offer:
        """A version of a tenant.

        Raises:
            NoSuchPackageError: the tenant has no such version.
        """
        check_tenant(tenant)
        own = {each.version: each for each in rows.offers([name]) if each.tenant == tenant}
        if version not in own:
            raise self._missing(name, version, f"the tenant {tenant} owns", own)
        return own[version]

    def _missing(
        self, name: str, version: SemVer | None, whose: str, versions: Collection[SemVer]
    ) -> NoSuchPackageError:
        what = f"the package {name}" if version is None else f"the package {name} {version}"
        listed = ", ".join(str(each) for each in sorted(versions, reverse=True)[:5])
        found = f"only {listed}" if listed else f"no version of {name}"
        advice = "run `trundle catalog list` to see what there is"
        return NoSuchPackageError(self.where, f"{what} among what {whose}", found, advice)

    def _archive(self, digest: str) -> bytes:
        """The archive for a digest.

        Raises:
            DamagedContentError: it is not there any more, or has other content.
        """
        with self._database.reading() as connection:
            return self._rows(connection).archive(digest)

    def _rows(self, connection: Connection) -> Rows:
        return Rows(connection, self.where)


def _in_order(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    return tuple(sorted(offers, key=lambda each: (each.name, each.version)))


def _opened(place: str | Path, wait: float, *, looking: bool) -> Database:
    path = file_of(place)
    if not looking or path is None:
        return open_database(place, wait=wait)
    if not path.exists():
        return open_copy(path)
    try:
        return open_database(place, wait=wait, making=False)
    except UnwritableError:
        return open_copy(path)


def file_of(place: str | Path) -> Path | None:
    """The file of a SQLite database; None for a server."""
    if isinstance(place, Path):
        return place
    if not place.startswith("sqlite"):
        return None
    return Path(make_url(place).database or "")
