"""The files of a followed channel as a channel of their own, so that clients verify them themselves."""

from collections.abc import Iterator

from trundle.catalog._channels import Channels
from trundle.catalog._errors import CatalogError
from trundle.catalog._server_channels import ServerChannels
from trundle.errors import Kind


class KeptFiles:
    """Where `read_channel` reads a channel that a catalog keeps.

    Args:
        channels: the channels of a catalog, in a database or at a server.
        package: the package.
        name: the name of the channel.
        tenant: who sees it.
    """

    def __init__(
        self, channels: Channels | ServerChannels, package: str, name: str, *, tenant: str
    ) -> None:
        self._channels = channels
        self._package = package
        self._name = name
        self._tenant = tenant

    @property
    def location(self) -> str:
        """The full name of the channel."""
        return self._channels.location(self._package, self._name, tenant=self._tenant)

    def read(self, name: str) -> Iterator[bytes]:
        """Reads a file.

        Raises:
            FileNotFoundError: there is no such file.
            CatalogError: the catalog cannot be read.
            DatabaseError: its database cannot be read.
            UnreachableError: its server does not answer.
        """
        last = name.rpartition("/")[2]
        try:
            yield self._channels.file(self._package, self._name, last, tenant=self._tenant)
        except CatalogError as error:
            if error.kind is not Kind.NOT_FOUND:
                raise
            raise FileNotFoundError(f"{self.location}: {last}") from None

    def renewed(self) -> "KeptFiles":
        """The same channel, whose files may be others each time."""
        return self
