"""The rows of a catalog in one transaction: read as records, and changed."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, TypeAlias, cast

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    and_,
    delete,
    exists,
    insert,
    not_,
    or_,
    select,
    update,
)

from trundle.catalog import _tables as t
from trundle.catalog._errors import DamagedContentError
from trundle.catalog._records import Offer
from trundle.catalog._rules import Need, required_by
from trundle.packages import (
    Manifest,
    Package,
    Requirement,
    digest_of,
    manifest_from_json,
    manifest_to_json,
)
from trundle.version import SemVer, VersionRange

_MOST = 10_000
"""How many values a condition may name; more would be too many parameters for a database."""

_BATCH = 200
"""How many packages are inserted together."""

PackageRow: TypeAlias = tuple[str, str, str, bytes, bytes]
"""A package as it is stored: name, version, digest, manifest and files."""

_P, _R, _C, _E = t.PACKAGES.c, t.REQUIREMENTS.c, t.CONTENTS.c, t.ENVIRONMENTS.c
_OFFER = (_P.tenant, _P.name, _P.version, _P.public, _P.digest, _P.override)
_WHOLE = (_P.name, _P.version, _P.digest, _P.manifest, _P.files)


class Rows:
    """The rows of a catalog.

    Args:
        connection: the transaction.
        where: the catalog, as errors name it.
    """

    def __init__(self, connection: Connection, where: str) -> None:
        self._connection = connection
        self._where = where

    def seen_by(self, tenant: str) -> Sequence[PackageRow]:
        """The packages that a tenant sees."""
        return self._whole(_seen_by(tenant))

    def state(self) -> frozenset[tuple[Any, ...]]:
        """All versions of all tenants, to see whether anything has changed."""
        return frozenset(map(tuple, self._connection.execute(select(*_OFFER))))

    def whole(self, offer: Offer) -> PackageRow | None:
        """The package of a version; None where it is not there."""
        return next(iter(self._whole(_is(offer))), None)

    def _whole(self, condition: ColumnElement[bool]) -> Sequence[PackageRow]:
        found = self._connection.execute(select(*_WHOLE).where(condition))
        return cast("Sequence[PackageRow]", list(map(tuple, found)))

    def names(self, tenant: str) -> list[str]:
        """The names of the packages that a tenant sees, in alphabetical order."""
        statement = select(_P.name).where(or_(_P.tenant == tenant, _P.public)).distinct()
        return sorted(self._connection.execute(statement).scalars())

    def offers(self, names: Collection[str] | None = None) -> tuple[Offer, ...]:
        """The versions of some packages of all tenants; of all packages where None."""
        statement = select(*_OFFER)
        if names is not None and len(names) <= _MOST:
            statement = statement.where(_P.name.in_(sorted(names)))
        return tuple(map(_offer, self._connection.execute(statement)))

    def needs_on(self, name: str) -> tuple[Need, ...]:
        """The requirements of all tenants on a package."""
        same = and_(_R.tenant == _P.tenant, _R.name == _P.name, _R.version == _P.version)
        statement = select(*_OFFER, _R.range).join(t.REQUIREMENTS, same).where(_R.required == name)
        return tuple(
            Need(_offer(row[:-1]), Requirement(name, VersionRange.parse(row.range)))
            for row in self._connection.execute(statement)
        )

    def requirements_of(self, offer: Offer) -> tuple[Requirement, ...]:
        """What must be there for a version, in alphabetical order."""
        statement = select(_R.required, _R.range).where(
            _R.tenant == offer.tenant, _R.name == offer.name, _R.version == str(offer.version)
        )
        found = sorted((row.required, row.range) for row in self._connection.execute(statement))
        return tuple(Requirement(name, VersionRange.parse(text)) for name, text in found)

    def packages(self, tenant: str, *, only_public: bool) -> Iterator[Package]:
        """The packages that a tenant sees, or the public ones of these; content is read within the transaction."""
        rows = self._whole(_P.public if only_public else _seen_by(tenant))
        return (decoded(each, self.archive) for each in rows)

    def archive(self, digest: str) -> bytes:
        """The archive for a digest.

        Raises:
            DamagedContentError: it is not there any more, or has other content.
        """
        statement = select(_C.archive).where(_C.digest == digest)
        data: bytes | None = self._connection.execute(statement).scalar()
        found = "none" if data is None else digest_of(data)
        if data is None or found != digest:
            expected, advice = f"the content {digest}", "restore the database from a backup"
            raise DamagedContentError(self._where, expected, found, advice)
        return data

    def store(
        self,
        packages: Sequence[Package],
        tenant: str,
        *,
        public: bool,
        overrides: Mapping[Package, str],
    ) -> None:
        """Inserts packages with what they require; content that is there already is not stored again.

        Args:
            packages: the packages.
            tenant: whose they are.
            public: whether all tenants see them.
            overrides: why those are stored that a review has something against.
        """
        for start in range(0, len(packages), _BATCH):
            batch = packages[start : start + _BATCH]
            here = self._known({each.digest for each in batch})
            archives = {each.digest: each for each in batch if each.digest not in here}
            self._insert(t.CONTENTS, [_content(each) for each in archives.values()])
            rows = [
                _row(each, tenant) | {"public": public, "override": overrides.get(each, "")}
                for each in batch
            ]
            self._insert(t.PACKAGES, rows)
            self._insert(t.REQUIREMENTS, [row for each in batch for row in _needs(each, tenant)])

    def _known(self, digests: Collection[str]) -> set[str]:
        """Those digests of which the archive is there."""
        statement = select(_C.digest).where(_C.digest.in_(sorted(digests)))
        return set(self._connection.execute(statement).scalars())

    def _insert(self, table: Table, rows: list[dict[str, Any]]) -> None:
        if rows:
            self._connection.execute(insert(table), rows)

    def environments(self, tenant: str) -> dict[str, list[Offer]]:
        """What the environments of a tenant use, by their names."""
        same = and_(_E.owner == _P.tenant, _E.name == _P.name, _E.version == _P.version)
        statement = select(*_OFFER, _E.environment).join(t.ENVIRONMENTS, same)
        found: dict[str, list[Offer]] = {}
        for row in self._connection.execute(statement.where(_E.tenant == tenant)):
            found.setdefault(row.environment, []).append(_offer(row[:-1]))
        return found

    def users_of(self, offer: Offer) -> tuple[tuple[str, str], ...]:
        """The environments of all tenants that use a version: tenant and name of each."""
        statement = select(_E.tenant, _E.environment).where(
            _E.owner == offer.tenant, _E.name == offer.name, _E.version == str(offer.version)
        )
        return tuple(sorted((row[0], row[1]) for row in self._connection.execute(statement)))

    def set_environment(self, tenant: str, environment: str, offers: Iterable[Offer]) -> None:
        """Records what an environment uses, in place of what it used."""
        mine = and_(_E.tenant == tenant, _E.environment == environment)
        self._connection.execute(delete(t.ENVIRONMENTS).where(mine))
        key = {"tenant": tenant, "environment": environment}
        rows = [
            {**key, "owner": each.tenant, "name": each.name, "version": str(each.version)}
            for each in offers
        ]
        self._insert(t.ENVIRONMENTS, rows)

    def delete(self, offer: Offer) -> None:
        """Removes a version with its requirements; its content stays."""
        self._connection.execute(delete(t.PACKAGES).where(_is(offer)))

    def set_public(self, offer: Offer, *, public: bool) -> None:
        """Changes who sees a version."""
        self._connection.execute(update(t.PACKAGES).where(_is(offer)).values(public=public))

    def unused(self) -> tuple[str, ...]:
        """The digests of contents that no version has."""
        statement = select(_C.digest).where(_C.digest.not_in(select(_P.digest)))
        return tuple(sorted(self._connection.execute(statement).scalars()))

    def forget(self, digests: Iterable[str]) -> None:
        """Removes contents."""
        for each in digests:
            self._connection.execute(delete(t.CONTENTS).where(_C.digest == each))


def _content(package: Package) -> dict[str, Any]:
    return {"digest": package.digest, "archive": package.archive}


def _row(package: Package, tenant: str) -> dict[str, Any]:
    return {
        **_key(package, tenant),
        "digest": package.digest,
        "manifest": manifest_to_json(package.manifest),
        "files": msgspec.json.encode(package.files),
    }


def _needs(package: Package, tenant: str) -> list[dict[str, Any]]:
    key = _key(package, tenant)
    needs = required_by(package)
    return [{**key, "required": each.name, "range": str(each.range)} for each in needs]


def _key(package: Package, tenant: str) -> dict[str, Any]:
    return {"tenant": tenant, "name": package.name, "version": str(package.version)}


def decoded(row: PackageRow, content: Callable[[str], bytes]) -> Package:
    """The package of a row.

    Args:
        row: the row.
        content: gives the archive for a digest.
    """
    return _StoredPackage(row, content)


class _StoredPackage(Package):
    """A package whose manifest and archive are read when they are asked for."""

    def __init__(self, row: PackageRow, content: Callable[[str], bytes]) -> None:
        name, version, digest, self._said, files = row
        self.name = name
        self.version = _version(version)
        self.digest = digest
        self.files = _FILES.decode(files)
        self.notes = ()
        self._content = content

    @cached_property
    def manifest(self) -> Manifest:
        """What the package says about itself."""
        return manifest_from_json(self._said, f"the catalog: {self.name} {self.version}")

    @cached_property
    def archive(self) -> bytes:
        """The archive of the package."""
        return self._content(self.digest)


_FILES = msgspec.json.Decoder(tuple[str, ...])


@lru_cache(maxsize=4096)
def _version(text: str) -> SemVer:
    """A version; many packages have the same."""
    return SemVer.parse(text)


def _seen_by(tenant: str) -> ColumnElement[bool]:
    """Own versions, and the public ones that the tenant has none of its own for."""
    own = t.PACKAGES.alias()
    same = and_(own.c.tenant == tenant, own.c.name == _P.name, own.c.version == _P.version)
    return or_(_P.tenant == tenant, and_(_P.public, not_(exists().where(same))))


def _is(offer: Offer) -> ColumnElement[bool]:
    """The row of a version."""
    key = (offer.tenant, offer.name, str(offer.version))
    return and_(_P.tenant == key[0], _P.name == key[1], _P.version == key[2])


def _offer(row: Sequence[Any]) -> Offer:
    tenant, name, version, public, digest, override = row
    return Offer(tenant, name, _version(version), public, digest, override)
