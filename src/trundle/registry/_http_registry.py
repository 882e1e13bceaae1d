"""A registry over HTTP, as the distribution specification has it."""

from collections.abc import Callable

from trundle.registry._docker_config import Credentials, find_credentials
from trundle.registry._http_repository import HttpRepository
from trundle.registry._names import read_names
from trundle.registry._reference import check_repository
from trundle.registry._requests import Requests
from trundle.registry._settings import HttpSettings
from trundle.registry._transport import Transport, base_url


class HttpRegistry:
    """A registry over HTTP.

    Attributes:
        location: the registry, as references have it.
    """

    def __init__(
        self,
        location: str,
        *,
        settings: HttpSettings | None = None,
        find: Callable[[str], Credentials | None] = find_credentials,
    ) -> None:
        """Names a registry; nothing is asked of it yet.

        Args:
            location: its host and port. It is requested over https, or over http where that precedes the
                host or the host is this machine.
            settings: times and sizes.
            find: finds the credentials for a host; in Docker's configuration by default.
        """
        self.location = location
        self._transport = Transport(base_url(location), settings or HttpSettings(), find)

    def repositories(self) -> list[str]:
        """The names of all repositories, in alphabetical order."""
        requests = Requests(self._transport, "")
        return read_names(requests, "/v2/_catalog", f"{self.location}: repositories")

    def repository(self, name: str) -> HttpRepository:
        """The repository of a name.

        Raises:
            InvalidReferenceError: that is no name.
        """
        check_repository(name, self.location)
        return HttpRepository(self._transport, f"{self.location}/{name}", name)
