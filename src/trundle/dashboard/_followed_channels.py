"""The pages Channels: those that a catalog follows, with their states, and what was released to each when."""

import datetime as dt
from collections.abc import Iterator
from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from trundle.api.access import channel_place
from trundle.dashboard._api_client import ApiClient, ApiRefusedError
from trundle.dashboard._frame import CHANNELS, Frame, address
from trundle.dashboard._tenants import tenant_in
from trundle.dashboard._timeline import Moment, Timeline, ordered

_AT_ONCE = 100
"""How many channels the list shows without being asked for more."""


class Released(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the API says of a version.

    Attributes:
        version: the version.
        create_time: when it was published.
        changes: what is new in it.
        critical: whether it is an urgent fix.
        deprecated: why it should no longer be used.
    """

    version: str
    create_time: dt.datetime
    changes: tuple[str, ...] = ()
    critical: bool = False
    deprecated: str = ""

    @property
    def deprecation(self) -> str:
        """Why it should no longer be used, on one line."""
        return " ".join(self.deprecated.split())


class Withdrawn(Released, frozen=True, kw_only=True, rename="camel"):
    """What the API says of a version that was unpublished.

    Attributes:
        unpublish_time: when.
        reason: why.
    """

    unpublish_time: dt.datetime
    reason: str = ""


class Problem(msgspec.Struct, frozen=True):
    """Why a channel could not be read.

    Attributes:
        code: for programs.
        message: for people.
    """

    code: str
    message: str


class File(msgspec.Struct, frozen=True):
    """A signed file of a channel.

    Attributes:
        name: its name.
        digest: its digest.
        size: how many bytes it has.
    """

    name: str
    digest: str
    size: int


class Followed(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the API says of a channel.

    Attributes:
        package: the package that it releases.
        channel: its name.
        tenant: who follows it.
        public: whether all tenants see it.
        state: how far it is to be trusted.
        verified: when what it says was verified.
        checked: when it was last tried to read.
        problem: why it is refused or expired, or could not be read.
        expires: the end of its validity period; None for none.
        latest: the version that installations follow; None for none.
        versions: what can be installed; empty in lists.
        unpublished: what no longer can; empty in lists.
        files: its files, as they are signed.
    """

    package: str
    channel: str
    tenant: str
    public: bool
    state: Literal["valid", "expired", "refused"]
    verified: dt.datetime
    checked: dt.datetime
    problem: Problem | None = None
    expires: dt.datetime | None = None
    latest: Released | None = None
    versions: tuple[Released, ...] = ()
    unpublished: tuple[Withdrawn, ...] = ()
    files: tuple[File, ...] = ()

    @property
    def reason(self) -> str:
        """Why it is not as it should be; empty where it is."""
        if self.problem is not None:
            return f"{self.problem.message} [{self.problem.code}]"
        return "" if self.state == "valid" else "not renewed in time"

    @property
    def timeline(self) -> Timeline:
        """What was published and unpublished when."""
        return ordered(self._moments(), None if self.latest is None else self.latest.version)

    def _moments(self) -> Iterator[Moment]:
        latest = None if self.latest is None else self.latest.version
        for each in self.versions:
            is_latest = each.version == latest
            yield Moment(each.create_time, "published", each, is_latest=is_latest)
        for gone in self.unpublished:
            yield Moment(gone.create_time, "published", gone, is_gone=True)
            yield Moment(gone.unpublish_time, "unpublished", gone, gone.reason)


class _Listing(msgspec.Struct):
    channels: list[Followed]
    number: int = 0


class FollowedChannels:
    """Answers what is asked about the channels of a catalog; asks the API for it, as the user who looks.

    Args:
        client: asks the API.
        frame: makes pages.
    """

    def __init__(self, client: ApiClient, frame: Frame) -> None:
        self._client = client
        self._frame = frame

    async def listed(self, request: Request) -> Response:
        """The channels that a tenant sees, or those that a search finds."""
        tenant, word = tenant_in(request), request.query_params.get("q", "").strip()
        query = {"search": word}
        if "all" not in request.query_params:
            query["limit"] = str(_AT_ONCE)
        content = await self._client.fetch(request, _path(tenant), query)
        found = msgspec.json.decode(content, type=_Listing)
        values = {
            "tenant": tenant,
            "word": word,
            "channels": found.channels,
            "number": found.number or len(found.channels),
            "rest": address(CHANNELS.path, tenant=tenant, q=word or None, all="1"),
        }
        return self._frame.shown(request, "channels.html", values)

    async def one(self, request: Request) -> Response:
        """A channel with its releases."""
        tenant, given = tenant_in(request), request.query_params
        package, name = given.get("package", ""), given.get("channel", "")
        place = channel_place(f"{package}/{name}".split("/"))
        if not all(place[:2]) or place.file:
            message = f"The tenant {tenant} sees no channel {package} {name}."
            raise ApiRefusedError(404, message)
        content = await self._client.fetch(request, f"{_path(tenant)}/{package}/{name}")
        found = msgspec.json.decode(content, type=Followed)
        values = {"tenant": tenant, "shown": found, "timeline": found.timeline}
        return self._frame.shown(request, "channel.html", values)


def _path(tenant: str) -> str:
    return f"/v2/tenants/{tenant}/channels"
