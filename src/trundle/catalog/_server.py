"""A catalog that a server keeps, as its clients use it: `/v2/` of `trundle serve --catalog`."""

import base64
import functools
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from trundle.catalog._errors import (
    CatalogCode,
    DamagedContentError,
    NoSuchPackageError,
)
from trundle.catalog._records import Offer, Review, Reviewed, Upload
from trundle.catalog._reviews import not_in
from trundle.catalog._server_channels import ServerChannels
from trundle.catalog._server_connection import OK, ServerConnection
from trundle.engine import EngineCode
from trundle.errors import Code, Finding, Place, Severity, errors_among
from trundle.forms import FormCode
from trundle.packages import Package, PackageCode, PackageError
from trundle.version import ANY, SemVer, version_before

_REFUSED = 422


@functools.cache
def _codes() -> Mapping[str, Code]:
    """The codes that findings of an upload may have."""
    from trundle.project.findings import ProjectCode  # noqa: PLC0415 - few uploads have findings

    every = (PackageCode, EngineCode, FormCode, CatalogCode, ProjectCode)
    return {str(each): each for codes in every for each in codes}


class _Offered(msgspec.Struct):
    tenant: str
    name: str
    version: str
    digest: str
    public: bool = False
    override: str = ""

    def offer(self) -> Offer:
        version = SemVer.parse(self.version)
        return Offer(self.tenant, self.name, version, self.public, self.digest, self.override)


class _Listing(msgspec.Struct):
    packages: list[_Offered]


class _Finding(msgspec.Struct):
    code: str
    found: str
    expected: str = ""
    advice: str = ""
    severity: Severity = "error"
    place: dict[str, Any] = {}

    def finding(self) -> Finding:
        code = _codes().get(self.code, CatalogCode.OF_SERVER)
        place = msgspec.convert(self.place, Place)
        return Finding(code, place, self.expected, self.found, self.advice, self.severity)


class _Uploaded(msgspec.Struct):
    stored: list[_Offered]
    findings: list[_Finding]


class CatalogServer:
    """A catalog at a server. It does what `Catalog` does for those who read and upload.

    Args:
        url: the server, as `https://HOST:PORT`.
        token: what the server knows the client by; None for none.

    Attributes:
        channels: the channels that tenants follow.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        self._server = ServerConnection(url, token)
        self.channels = ServerChannels(self._server)

    @property
    def where(self) -> str:
        """The URL of the server."""
        return self._server.url

    def offers(self, tenant: str, name: str | None = None) -> tuple[Offer, ...]:
        """The versions that a tenant sees, by name, the oldest first.

        Args:
            tenant: the tenant.
            name: a package; all where None.

        Raises:
            ServerError: the server refuses that, or is no server of a catalog.
            UnreachableError: the server does not answer.
        """
        query = {} if name is None else {"name": name}
        path, content = self._server.read(_path(tenant), query)
        found = self._server.decoded(path, content, _Listing)
        return tuple(each.offer() for each in found.packages)

    def package(
        self, name: str, version: SemVer | None = None, *, tenant: str
    ) -> tuple[Offer, Package]:
        """A version that a tenant sees, and its package, whose digest is compared with what the server says.

        Args:
            name: the package.
            version: its version; the newest release where None, or the newest pre-release where there is none.
            tenant: the tenant.

        Raises:
            NoSuchPackageError: the tenant sees no version of the package.
            ServerError: there is no such version, the server refuses that, or is no server of a catalog.
            DamagedContentError: the content is not that of the version.
            UnreachableError: the server does not answer.
        """
        chosen = version or ANY.choose([each.version for each in self.offers(tenant, name)])
        if chosen is None:
            expected = f"the package {name} among what the tenant {tenant} sees"
            advice = "run `trundle catalog list` to see what there is"
            raise NoSuchPackageError(self.where, expected, f"no version of {name}", advice)
        place = _path(tenant, name, chosen)
        path, content = self._server.read(place, {})
        offer = self._server.decoded(path, content, _Offered).offer()
        path, archive = self._server.read(f"{place}/content", {})
        expected, advice = f"the content of {offer}", "ask who keeps the catalog"
        try:
            package = Package.from_archive(archive)
        except PackageError as error:
            raise DamagedContentError(path, expected, str(error), advice) from None
        if package.digest != offer.digest:
            raise DamagedContentError(path, f"{expected}, {offer.digest}", package.digest, advice)
        return offer, package

    def upload(
        self,
        packages: Iterable[Package],
        *,
        tenant: str,
        public: bool = False,
        dry_run: bool = False,
        review: Review | None = None,
    ) -> Upload:
        """Stores packages, all or none of them; as `Catalog.upload` does.

        The review runs here. The server refuses a package that follows another release by then.

        Raises:
            ServerError: the server refuses that, or is no server of a catalog; nothing was stored.
            UnreachableError: the server does not answer; whether it stored the packages is not known.
        """
        given = {(each.name, str(each.version)): each for each in packages}
        reviews = _ReviewsHere(self, tuple(given.values()), tenant, review)
        query = {"public": "true"} if public else {}
        if dry_run or reviews.against:
            query["dryRun"] = "All"
        archives = [base64.b64encode(each.archive).decode("ascii") for each in given.values()]
        body = msgspec.json.encode({"archives": archives, "reviews": reviews.said})
        path, status, content = self._server.asked("POST", _path(tenant), query, body)
        if status not in OK and not (status == _REFUSED and b'"findings"' in content):
            raise self._server.refused(path, status, content)
        done = self._server.decoded(path, content, _Uploaded)
        found = [each.finding() for each in done.findings]
        findings = (*found, *not_in(found, reviews.against))
        if errors_among(findings):
            return Upload((), findings)
        stored = tuple(given[each.name, each.version] for each in done.stored)
        return Upload(stored, findings, reviews.overridden)


class _ReviewsHere:
    """The reviews of packages that a server does not have yet.

    Attributes:
        against: the errors that refuse packages.
        overridden: what packages are stored in spite of.
        said: what the server is to know: which release each package was found to follow, and why it is stored all the same.
    """

    def __init__(
        self,
        server: CatalogServer,
        packages: tuple[Package, ...],
        tenant: str,
        review: Review | None,
    ) -> None:
        self.against: tuple[Finding, ...] = ()
        self.overridden: tuple[Finding, ...] = ()
        self.said: list[dict[str, str | None]] = []
        if review is None:
            return
        for package in packages:
            known = {each.version for each in server.offers(tenant, package.name)}
            if package.version in known:
                continue  # Nothing new is stored of it.
            given = {each.version: each for each in packages if each.name == package.name}
            base = version_before(package.version, known | set(given))
            before = None
            if base is not None:
                before = given.get(base) or server.package(package.name, base, tenant=tenant)[1]
            self._add(package, before, review(package, before))

    def _add(self, package: Package, before: Package | None, found: Reviewed) -> None:
        if found.override:
            self.overridden += found.against
        else:
            self.against += found.against
        self.said.append(
            {
                "name": package.name,
                "version": str(package.version),
                "follows": before.digest if before else None,
                "override": found.override,
            }
        )


def _path(tenant: str, name: str = "", version: SemVer | None = None) -> str:
    path = f"/v2/tenants/{quote(tenant, safe='')}/packages"
    return f"{path}/{quote(name)}/versions/{quote(str(version))}" if name else path
