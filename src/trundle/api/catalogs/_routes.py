"""The paths of the packages and channels under `/v1/` and `/v2/`."""

import hashlib
from collections.abc import Iterable

import msgspec
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from trundle.api._asked import NEWEST, VERSIONS, Asked, Version, json_answer, route
from trundle.api._status import bad_request
from trundle.api.access import channel_place
from trundle.api.catalogs._documents import channel_document, document, stored, summary
from trundle.api.catalogs._uploads import answer, read_upload
from trundle.api.catalogs.own import SCHEMAS
from trundle.catalog import Catalog, Offer
from trundle.documents import decode, parse_yaml, plain
from trundle.errors import expectation
from trundle.version import ANY, SemVer, VersionError

_JSON = "application/json"
_DIGITS = 10
_TAR = "application/x-tar"
_BYTES = "application/octet-stream"


class CatalogRoutes:
    """Answers requests about the packages and channels of a catalog.

    Args:
        catalog: keeps them.
        environments: whether there are paths of environments beside these, which the OpenAPI document describes, too.
    """

    def __init__(self, catalog: Catalog, *, environments: bool = False) -> None:
        self._catalog = catalog
        self._has_environments = environments

    @property
    def routes(self) -> list[BaseRoute]:
        """The paths, each with the methods that it has."""
        return [route for version in VERSIONS for route in self._routes_of(version)]

    def _routes_of(self, version: Version) -> Iterable[BaseRoute]:
        packages = f"/{version}/tenants/{{tenant}}/packages"
        one = packages + "/{name:path}"
        if version == NEWEST:
            one += "/versions/{number}"
        described = _contract(version, environments=self._has_environments)
        yield Route(f"/{version}/openapi.json", lambda _: Response(described, media_type=_JSON))
        yield route(version, packages, {"GET": self._list, "POST": self._upload})
        yield route(version, f"{one}/content", {"GET": self._download})
        yield route(version, one, {"GET": self._show})
        channels = f"/{version}/tenants/{{tenant}}/channels"
        yield route(version, channels, {"GET": self._list_channels})
        channel = f"{channels}/{{package:path}}/{{channel}}"
        yield route(version, f"{channel}/files/{{file}}", {"GET": self._show_channel})
        yield route(version, channel, {"GET": self._show_channel})

    def _list(self, asked: Asked) -> Response:
        name = asked.query.get("name")
        if name is not None and asked.version != NEWEST:
            raise bad_request(expectation("no name", repr(name), "ask for the package itself"))
        searched = [each for each in ("search", "limit") if each in asked.query]
        if searched and asked.version != NEWEST:
            found, advice = repr(asked.query[searched[0]]), f"ask for it under /{NEWEST}/"
            raise bad_request(expectation(f"no {searched[0]}", found, advice))
        if searched and name is not None:
            found, advice = repr(asked.query[searched[0]]), "leave out one of them"
            raise bad_request(expectation(f"no {searched[0]} beside name", found, advice))
        if searched:
            text = asked.query.get("search", "")
            result = self._catalog.search(asked.tenant, text, _limit(asked))
            packages = [summary(each, NEWEST) for each in result.offers]
            return json_answer({"packages": packages, "number": result.number})
        offers: Iterable[Offer] = self._catalog.offers(asked.tenant, name)
        if asked.version != NEWEST:
            offers = _latest(offers)
        return json_answer({"packages": [summary(each, asked.version) for each in offers]})

    def _show(self, asked: Asked) -> Response:
        found = self._catalog.package(asked.path["name"], _number(asked), tenant=asked.tenant)
        return json_answer(document(*found, asked.version))

    def _download(self, asked: Asked) -> Response:
        offer, package = self._catalog.package(
            asked.path["name"], _number(asked), tenant=asked.tenant
        )
        return Response(package.archive, media_type=_TAR, headers={"etag": f'"{offer.digest}"'})

    def _upload(self, asked: Asked) -> Response:
        public, dry_run = asked.flag("public"), asked.dry_run
        packages, review = read_upload(asked.body, asked.media_type)
        done = self._catalog.upload(
            packages, tenant=asked.tenant, public=public, dry_run=dry_run, review=review
        )
        shown = [stored(each, asked.tenant, asked.version, public=public) for each in done.stored]
        code = 422 if done.refused else 201 if shown and not dry_run else 200
        content = answer(shown, (each.to_plain() for each in done.findings))
        return Response(content, code, media_type=_JSON)

    def _list_channels(self, asked: Asked) -> Response:
        text = asked.query.get("search", "")
        found = self._catalog.channels.search(asked.tenant, text, _limit(asked))
        channels = [channel_document(each, asked.version) for each in found.channels]
        searched = {"search", "limit"} & asked.query.keys()
        return json_answer({"channels": channels} | ({"number": found.number} if searched else {}))

    def _show_channel(self, asked: Asked) -> Response:
        path = asked.path
        names = [*path["package"].split("/"), path["channel"]]
        place = channel_place([*names, "files", path["file"]] if "file" in path else names)
        channels = self._catalog.channels
        if not place.file:
            found = channels.channel(place.package, place.channel, tenant=asked.tenant)
            return json_answer(channel_document(found, asked.version))
        content = channels.file(place.package, place.channel, place.file, tenant=asked.tenant)
        tag = f'"sha256:{hashlib.sha256(content).hexdigest()}"'
        return Response(content, media_type=_BYTES, headers={"etag": tag})


def _limit(asked: Asked) -> int | None:
    """How many packages or channels a list shows at most; None where all.

    Raises:
        ApiError: it is no such number.
    """
    given = asked.query.get("limit")
    if given is None:
        return None
    if not (given.isascii() and given.isdigit() and len(given) < _DIGITS and int(given)):
        raise bad_request(expectation("a number from 1 as limit", repr(given), "correct it"))
    return int(given)


def _latest(offers: Iterable[Offer]) -> list[Offer]:
    """Of each package what its requirement without a range chooses: the newest release, else the newest pre-release."""
    versions: dict[str, dict[SemVer, Offer]] = {}
    for each in offers:
        versions.setdefault(each.name, {})[each.version] = each
    return [found[chosen] for found in versions.values() if (chosen := ANY.choose(found))]


def _number(asked: Asked) -> SemVer | None:
    """The version that is asked for; None for the latest.

    Raises:
        ApiError: it is no version.
    """
    number = asked.path.get("number")
    try:
        return SemVer.parse(number) if number else None
    except VersionError as error:
        raise bad_request(str(error)) from None


def _contract(version: Version, *, environments: bool) -> bytes:
    """The OpenAPI document of a version of the API, with the paths of environments or without them."""
    name = f"{version}.yaml"
    (found,) = parse_yaml(decode((SCHEMAS / name).read_bytes(), name), name)
    contract = plain(found.root)
    if not environments:
        tenant = f"/{version}/tenants/{{tenant}}"
        kept = (f"{tenant}/packages", f"{tenant}/channels")
        paths = contract["paths"].items()
        contract["paths"] = {path: each for path, each in paths if path.startswith(kept)}
    return msgspec.json.encode(contract)
