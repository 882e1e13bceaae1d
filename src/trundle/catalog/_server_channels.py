"""The channels that tenants follow, as clients of a server see them."""

from urllib.parse import quote

import msgspec

from trundle.catalog._channel_records import FollowedChannel, FoundChannels, is_found
from trundle.catalog._server_connection import ServerConnection


class _Listing(msgspec.Struct):
    channels: list[FollowedChannel]
    number: int | None = None


class ServerChannels:
    """The channels at a server. It does what `Channels` does for those who read.

    Args:
        server: the server.
    """

    def __init__(self, server: ServerConnection) -> None:
        self._server = server

    def followed(self, tenant: str) -> tuple[FollowedChannel, ...]:
        """All channels that a tenant sees; see `search`."""
        return self.search(tenant).channels

    def search(self, tenant: str, text: str = "", most: int | None = None) -> FoundChannels:
        """The channels that a tenant sees with a text in their packages and names; see `Channels.search`.

        Raises:
            ServerError: the server refuses that, or is no server of a catalog.
            UnreachableError: the server does not answer.
        """
        query = {"search": text} if text else {}
        if most is not None:
            query["limit"] = str(most)
        path, content = self._server.read(_path(tenant), query)
        listed: _Listing = self._server.decoded(path, content, _Listing)
        if listed.number is not None or not query:
            number = len(listed.channels) if listed.number is None else listed.number
            return FoundChannels(number, tuple(listed.channels))
        # An earlier release does not search.
        found = [each for each in listed.channels if is_found(text, each.package, each.channel)]
        return FoundChannels(len(found), tuple(found[:most]))

    def channel(self, package: str, name: str, *, tenant: str) -> FollowedChannel:
        """A channel that a tenant sees, with its versions. It is what the server says: see `KeptFiles` for what is signed.

        Raises:
            ServerError: there is no such channel, the server refuses that, or is no server of a catalog.
            UnreachableError: the server does not answer.
        """
        path, content = self._server.read(_path(tenant, package, name), {})
        found: FollowedChannel = self._server.decoded(path, content, FollowedChannel)
        return found

    def file(self, package: str, name: str, file: str, *, tenant: str) -> bytes:
        """A file of a channel that a tenant sees, byte for byte as it is signed; it is not verified.

        Raises:
            ServerError: there is no such file, the server refuses that, or is no server of a catalog.
            UnreachableError: the server does not answer.
        """
        _, content = self._server.read(f"{_path(tenant, package, name)}/files/{quote(file)}", {})
        return content

    def location(self, package: str, name: str, *, tenant: str) -> str:
        """Where the files of a channel are."""
        return f"{self._server.url}{_path(tenant, package, name)}/files"


def _path(tenant: str, package: str = "", name: str = "") -> str:
    path = f"/v2/tenants/{quote(tenant, safe='')}/channels"
    return f"{path}/{quote(package)}/{quote(name, safe='')}" if package else path
