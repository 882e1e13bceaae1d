"""The pages Packages: a catalog with all versions of its packages, what they require, what is in them, and what changed."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from trundle.dashboard._api_client import ApiClient, ApiRefusedError
from trundle.dashboard._described_packages import Archive, DescribedPackages
from trundle.dashboard._frame import PACKAGES, Frame, address
from trundle.dashboard._requirements import MOST, Requirements, circles, drawn, requirements_of
from trundle.dashboard._tenants import tenant_in
from trundle.errors import TrundleError
from trundle.pages import DescribedVersion
from trundle.pages import prepare as prepare_descriptions
from trundle.version import ANY, SemVer, version_before

_AT_ONCE = 100
"""How many packages the list shows without being asked for more."""


class Said(msgspec.Struct):
    """What the API says of a version.

    Attributes:
        name: the package.
        version: the version.
        tenant: whose it is.
        digest: the digest of its archive.
        public: whether all tenants see it.
        override: why it was stored in spite of its review; empty for most.
        title: what people call it; may be empty, as all that follows.
        description: what it is for.
        type: its type, such as `Library`.
        format: the format of its manifest.
        requirements: what it requires: ranges by names.
        files: its files.
    """

    name: str
    version: str
    tenant: str
    digest: str
    public: bool
    override: str = ""
    title: str = ""
    description: str = ""
    type: str = ""
    format: str = ""
    requirements: dict[str, str] = {}
    files: tuple[str, ...] = ()


class _Listed(msgspec.Struct):
    """A list of the API, and how many packages there are, where it was asked for some of them."""

    packages: list[Said]
    number: int = 0


class Offered(NamedTuple):
    """A package of a catalog.

    Attributes:
        name: its name.
        versions: what the API says of its versions, which it lists in ascending order.
    """

    name: str
    versions: Mapping[SemVer, Said]

    @property
    def newest(self) -> SemVer:
        """The version that is taken without another requirement."""
        found = ANY.choose(self.versions)
        assert found is not None, "a package has a version"
        return found


def _offered(name: str, listed: Sequence[Said]) -> Offered:
    """A package with its versions."""
    return Offered(name, {SemVer.parse(each.version): each for each in listed})


class Chosen(NamedTuple):
    """The version of a package that an address names.

    Attributes:
        tenant: the tenant for whom it is looked at.
        package: the package.
        version: the version.
    """

    tenant: str
    package: Offered
    version: SemVer

    @property
    def before(self) -> SemVer | None:
        """The version that it follows."""
        return version_before(self.version, self.package.versions)

    def address(self, page: str, version: SemVer | None = None, **further: str) -> str:
        """A page about this version, or about another one of the package."""
        number = str(version or self.version)
        where = f"{PACKAGES.path}/{page}"
        name = self.package.name
        return address(where, tenant=self.tenant, name=name, version=number, **further)


class Packages:
    """Answers what is asked about a catalog; asks the API for it, as the user who looks.

    Args:
        client: asks the API.
        frame: makes pages.
    """

    def __init__(self, client: ApiClient, frame: Frame) -> None:
        self._client = client
        self._frame = frame
        self._described = DescribedPackages()

    def prepare(self) -> None:
        """Reads what the first look into a package would wait for."""
        prepare_descriptions()

    async def listed(self, request: Request) -> Response:
        """The packages that a tenant sees, or those that a search finds."""
        tenant = tenant_in(request)
        word = request.query_params.get("q", "").strip()
        query = {"search": word}
        if "all" not in request.query_params:
            query["limit"] = str(_AT_ONCE)
        content = await self._client.fetch(request, _packages_path(tenant), query)
        found = msgspec.json.decode(content, type=_Listed)
        shown = [_offered(*each) for each in _by_name(found.packages).items()]
        values = {
            "tenant": tenant,
            "word": word,
            "packages": shown,
            "number": found.number or len(shown),
            "rest": address(PACKAGES.path, tenant=tenant, q=word or None, all="1"),
        }
        return self._frame.shown(request, "packages.html", values)

    async def one(self, request: Request) -> Response:
        """A version of a package; with `look` what is in it, too."""
        chosen = await self._chosen(request)
        said = await self._said(request, chosen.tenant, chosen.package.name, chosen.version)
        requirements = await self._requirements(request, chosen)
        values: dict[str, Any] = {
            "chosen": chosen,
            "said": said,
            "requirements": requirements,
            "graph": Markup(drawn(requirements, chosen.tenant)),  # noqa: S704 - names in it are escaped
            "circles": circles(requirements),
            "most": MOST,
            "inside": None,
            "problem": "",
        }
        if "look" in request.query_params:
            try:
                values["inside"] = await self._inside(request, chosen, requirements)
            except ApiRefusedError:
                raise
            except TrundleError as error:
                values["problem"] = str(error)
        return self._frame.shown(request, "package.html", values)

    async def class_(self, request: Request) -> Response:
        """A class of a version: its properties, its methods, and what it inherits."""
        chosen = await self._chosen(request)
        inside = await self._inside(request, chosen, await self._requirements(request, chosen))
        wanted = request.query_params.get("class", "")
        found = next((each for each in inside.classes if each.name == wanted), None)
        if found is None:
            raise _missing("class", wanted, chosen)
        heirs = [each.name for each in inside.classes if wanted in each.parents]
        own = {each.name for each in inside.classes}
        values = {"chosen": chosen, "shown": found, "heirs": heirs, "own": own}
        return self._frame.shown(request, "package_class.html", values)

    async def resource(self, request: Request) -> Response:
        """A resource type that a version brings."""
        chosen = await self._chosen(request)
        inside = await self._inside(request, chosen, await self._requirements(request, chosen))
        wanted = request.query_params.get("type", "")
        found = next((each for each in inside.resources if each.name == wanted), None)
        if found is None:
            raise _missing("resource type", wanted, chosen)
        values = {"chosen": chosen, "resource": found}
        return self._frame.shown(request, "package_resource.html", values)

    async def _listed(
        self, request: Request, tenant: str, name: str
    ) -> Mapping[str, Sequence[Said]]:
        """The versions that a tenant sees of a package, by its name."""
        content = await self._client.fetch(request, _packages_path(tenant), {"name": name})
        return _by_name(msgspec.json.decode(content, type=_Listed).packages)

    async def _chosen(self, request: Request) -> Chosen:
        """What an address names.

        Raises:
            ApiRefusedError: the tenant sees no such version.
            VersionError: the version is none.
        """
        tenant, name = tenant_in(request), request.query_params.get("name", "")
        listed = (await self._listed(request, tenant, name)).get(name) if name else None
        if listed is None:
            raise ApiRefusedError(404, f"The tenant {tenant} sees no package {name}.")
        package = _offered(name, listed)
        given = request.query_params.get("version")
        version = package.newest if given is None else SemVer.parse(given)
        if version not in package.versions:
            known = ", ".join(map(str, package.versions))
            raise ApiRefusedError(404, f"There is no version {version} of {name}, but {known}.")
        return Chosen(tenant, package, version)

    async def _said(self, request: Request, tenant: str, name: str, version: SemVer) -> Said:
        answer = await self._client.ask(request, "GET", _path(tenant, name, version))
        return msgspec.convert(answer.value, Said)

    async def _requirements(self, request: Request, chosen: Chosen) -> Requirements:
        async def versions_of(name: str) -> Iterable[SemVer]:
            found = await self._listed(request, chosen.tenant, name)
            return _offered(name, found[name]).versions if name in found else ()

        async def required_by(name: str, version: SemVer) -> Mapping[str, str]:
            return (await self._said(request, chosen.tenant, name, version)).requirements

        root = chosen.package.name, chosen.version
        return await requirements_of(root, versions_of, required_by)

    async def _inside(
        self, request: Request, chosen: Chosen, requirements: Requirements
    ) -> DescribedVersion:
        """What is in a version, compared with the one before."""

        async def archive(name: str, version: SemVer) -> Archive:
            path = f"{_path(chosen.tenant, name, version)}/content"
            content = await self._client.fetch(request, path)
            return Archive(name, version, content)

        name = chosen.package.name
        earlier = [(name, chosen.before)] if chosen.before else []
        wanted = [(name, chosen.version), *earlier]
        wanted += [each for each in requirements.packages if each not in wanted]
        said = await asyncio.gather(
            *(self._said(request, chosen.tenant, of, number) for of, number in wanted)
        )
        key = tuple(each.digest for each in said)
        known = self._described.known(key)
        if known is not None:  # The API has shown the user all of them.
            return known
        first, *others = await asyncio.gather(*(archive(*each) for each in wanted))
        before = others.pop(0) if earlier else None
        return await run_in_threadpool(self._described.describe, key, first, before, others)


def _by_name(listed: Iterable[Said]) -> Mapping[str, Sequence[Said]]:
    """The versions of packages, by name."""
    versions: dict[str, list[Said]] = {}
    for each in listed:
        versions.setdefault(each.name, []).append(each)
    return versions


def _packages_path(tenant: str) -> str:
    return f"/v2/tenants/{tenant}/packages"


def _path(tenant: str, name: str, version: SemVer) -> str:
    return f"{_packages_path(tenant)}/{name}/versions/{version}"


def _missing(what: str, name: str, chosen: Chosen) -> ApiRefusedError:
    where = f"{chosen.package.name} {chosen.version}"
    return ApiRefusedError(404, f"There is no {what} {name or 'without a name'} in {where}.")
