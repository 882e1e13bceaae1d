"""The paths of `/v1/` and `/v2/`."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from trundle.api._bodies import body_of
from trundle.api._status import answer_to_any, bad_request, not_allowed
from trundle.api.catalogs._documents import NEWEST, VERSIONS, Version, document, stored, summary
from trundle.api.catalogs._uploads import answer, read_upload
from trundle.api.catalogs.own import SCHEMAS
from trundle.catalog import Catalog, DamagedContentError, NoSuchPackageError, Offer
from trundle.database import DatabaseError
from trundle.documents import decode, parse_yaml, plain
from trundle.errors import TrundleError, expectation
from trundle.version import ANY, SemVer, VersionError

_JSON = "application/json"
_TAR = "application/x-tar"
_MOST_BYTES = 256 * 1024 * 1024
"""How large an upload may be."""


class _Asked(NamedTuple):
    """A request.

    Attributes:
        version: the version of the API.
        tenant: the tenant.
        name: the package; empty for all.
        number: the version of the package; empty for the latest.
        query: the parameters.
        body: what is uploaded.
        media_type: the form of the body.
    """

    version: Version
    tenant: str
    name: str
    number: str
    query: dict[str, str]
    body: bytes
    media_type: str

    def flag(self, name: str) -> bool:
        """Whether a parameter is true.

        Raises:
            ApiError: its value is neither true nor false.
        """
        given = self.query.get(name, "false")
        if given not in {"true", "false"}:
            raise bad_request(expectation(f"true or false as {name}", repr(given), "correct it"))
        return given == "true"

    @property
    def dry_run(self) -> bool:
        """Whether nothing is to be stored.

        Raises:
            ApiError: the parameter has another value than it may have.
        """
        given = self.query.get("dryRun")
        if given not in {None, "All"}:
            raise bad_request(expectation("All as dryRun", repr(given), "correct it"))
        return given == "All"


_Answer = Callable[[_Asked], Response]


class CatalogRoutes:
    """Answers requests about the packages of a catalog.

    Args:
        catalog: keeps the packages.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    @property
    def routes(self) -> list[BaseRoute]:
        """The paths, each with the methods that it has."""
        return [route for version in VERSIONS for route in self._routes_of(version)]

    def _routes_of(self, version: Version) -> Iterable[BaseRoute]:
        packages = f"/{version}/tenants/{{tenant}}/packages"
        one = packages + "/{name:path}"
        if version == NEWEST:
            one += "/versions/{number}"
        contract = _contract(version)
        yield Route(f"/{version}/openapi.json", lambda _: Response(contract, media_type=_JSON))
        yield _route(version, packages, {"GET": self._list, "POST": self._upload})
        yield _route(version, f"{one}/content", {"GET": self._download})
        yield _route(version, one, {"GET": self._show})

    def _list(self, asked: _Asked) -> Response:
        name = asked.query.get("name")
        if name is not None and asked.version != NEWEST:
            raise bad_request(expectation("no name", repr(name), "ask for the package itself"))
        offers: Iterable[Offer] = self._catalog.offers(asked.tenant, name)
        if asked.version != NEWEST:
            offers = _latest(offers)
        return _json({"packages": [summary(each, asked.version) for each in offers]})

    def _show(self, asked: _Asked) -> Response:
        found = self._catalog.package(asked.name, _number(asked), tenant=asked.tenant)
        return _json(document(*found, asked.version))

    def _download(self, asked: _Asked) -> Response:
        offer, package = self._catalog.package(asked.name, _number(asked), tenant=asked.tenant)
        return Response(package.archive, media_type=_TAR, headers={"etag": f'"{offer.digest}"'})

    def _upload(self, asked: _Asked) -> Response:
        public, dry_run = asked.flag("public"), asked.dry_run
        packages, review = read_upload(asked.body, asked.media_type)
        done = self._catalog.upload(
            packages, tenant=asked.tenant, public=public, dry_run=dry_run, review=review
        )
        shown = [stored(each, asked.tenant, asked.version, public=public) for each in done.stored]
        code = 422 if done.refused else 201 if shown and not dry_run else 200
        content = answer(shown, (each.to_plain() for each in done.findings))
        return Response(content, code, media_type=_JSON)


def _route(version: Version, path: str, methods: dict[str, _Answer]) -> Route:
    """A path that each of some methods answers in a thread."""

    async def respond(http: HttpRequest) -> Response:
        try:
            method = methods.get("GET" if http.method == "HEAD" else http.method)
            if method is None:
                raise not_allowed()
            return await asyncio.to_thread(method, await _asked(http, version))
        except TrundleError as error:
            return _failed(error)

    return Route(path, respond, methods=["GET", "POST", "PUT", "PATCH", "DELETE"])


def _failed(error: TrundleError) -> Response:
    """What a client is answered for an error: where the server keeps its catalog is not for clients."""
    message = ""
    if isinstance(error, DatabaseError | DamagedContentError | NoSuchPackageError):
        message = f"the catalog: {expectation(error.expected, error.found, error.advice)}"
    failed = answer_to_any(error, message)
    return Response(msgspec.json.encode(failed.status), failed.code, media_type=_JSON)


async def _asked(http: HttpRequest, version: Version) -> _Asked:
    given = http.path_params
    media_type = http.headers.get("content-type", "").partition(";")[0].strip().lower()
    return _Asked(
        version,
        given["tenant"],
        given.get("name", ""),
        given.get("number", ""),
        dict(http.query_params),
        await body_of(http, _MOST_BYTES),
        media_type,
    )


def _latest(offers: Iterable[Offer]) -> list[Offer]:
    """Of each package what its requirement without a range chooses: the newest release, else the newest pre-release."""
    versions: dict[str, dict[SemVer, Offer]] = {}
    for each in offers:
        versions.setdefault(each.name, {})[each.version] = each
    return [found[chosen] for found in versions.values() if (chosen := ANY.choose(found))]


def _number(asked: _Asked) -> SemVer | None:
    """The version that is asked for; None for the latest.

    Raises:
        ApiError: it is no version.
    """
    try:
        return SemVer.parse(asked.number) if asked.number else None
    except VersionError as error:
        raise bad_request(str(error)) from None


def _contract(version: Version) -> bytes:
    """The OpenAPI document of a version of the API."""
    name = f"{version}.yaml"
    (found,) = parse_yaml(decode((SCHEMAS / name).read_bytes(), name), name)
    return msgspec.json.encode(plain(found.root))


def _json(value: Any) -> Response:
    return Response(msgspec.json.encode(value), media_type=_JSON)
