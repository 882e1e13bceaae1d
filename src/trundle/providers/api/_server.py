"""What is asked of a server: which kinds it has, and what becomes of requests."""

import contextlib
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx2

from trundle.engine.effects import ProviderError
from trundle.errors import Kind, expectation

MISSING, CONFLICT = 404, 409
_DENIED = (401, 403)
_REFUSED = range(400, 500)


class ObjectKey(NamedTuple):
    """Which object something is about.

    Attributes:
        group: its group; `core` for that without a name.
        kind: its kind.
        namespace: its namespace; of an object in none, that of the provider.
        name: its name.
    """

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return "/".join(self)


class Resource(NamedTuple):
    """Where a server has the objects of a kind.

    Attributes:
        path: the path of its group and version.
        plural: what it is called there.
        namespaced: whether its objects are in namespaces.
    """

    path: str
    plural: str
    namespaced: bool

    def of(self, key: ObjectKey) -> str:
        """The path of an object."""
        within = f"/namespaces/{quote(key.namespace)}" if self.namespaced else ""
        return f"{self.path}{within}/{self.plural}/{quote(key.name)}"


class Server:
    """A server.

    Args:
        client: what asks it.
    """

    def __init__(self, client: httpx2.Client) -> None:
        self._client = client
        self._resources: dict[tuple[str, str], Resource] = {}

    def resource(
        self, api_version: str, kind: str, *, any_version: bool = False
    ) -> Resource | None:
        """Where the objects of a kind are; None where the server has none.

        Args:
            api_version: the group and version.
            kind: the kind.
            any_version: whether another version of the group does, too.
        """
        known = self._resources.get((api_version, kind))
        if known is not None:
            return known
        group, _, version = api_version.rpartition("/")
        path = f"/apis/{group}/{version}" if group else f"/api/{version}"
        listed = self.get(path) or {}
        for each in listed.get("resources", ()):
            if each["kind"] == kind and "/" not in each["name"]:
                found = Resource(path, each["name"], each["namespaced"])
                self._resources[api_version, kind] = found
                return found
        if any_version and group:
            versions = (self.get(f"/apis/{group}") or {}).get("versions", ())
            for each in versions:
                other = self.resource(each["groupVersion"], kind)
                if other is not None:
                    return other
        return None

    def get(self, path: str) -> Any:
        """What is there; None for nothing."""
        return self.ask("GET", path, good=(MISSING,))

    def ask(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        params: dict[str, str] | None = None,
        content_type: str = "application/json",
        good: tuple[int, ...] = (),
    ) -> Any:
        """The body of an answer; None for a refusal that is as good.

        Raises:
            ProviderError: the server refuses, or does not answer.
        """
        headers = {"Accept": "application/json", "Content-Type": content_type}
        try:
            answer = self._client.request(method, path, params=params, json=body, headers=headers)
            if answer.is_success:
                return answer.json() if answer.content else {}
        except (httpx2.HTTPError, OSError, ValueError) as error:
            reason = str(error) or type(error).__name__
            message = expectation("an answer of the server", reason, "check that it runs")
            raise ProviderError(message, Kind.UNREACHABLE) from None
        if answer.status_code in good:
            return None
        raise _refusal(answer)


def _refusal(answer: httpx2.Response) -> ProviderError:
    body, status = None, answer.status_code
    with contextlib.suppress(ValueError):
        body = answer.json()
    text = body.get("message") if isinstance(body, dict) else None
    found = f"{status}: {text}" if text else str(status)
    if status == CONFLICT:
        advice = "give the fields up there, or take them over by force, and run again"
        return ProviderError(expectation("no conflict", found, advice), Kind.CONFLICT)
    if status in _DENIED:
        advice = "give the run the right to do that"
        return ProviderError(expectation("to be let in", found, advice), Kind.UNREACHABLE)
    kind = Kind.REFUSED if status in _REFUSED else Kind.UNREACHABLE
    return ProviderError(expectation("an answer without an error", found), kind)
