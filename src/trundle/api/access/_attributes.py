"""What a request does, in the words of rules: a verb on a resource, or on a path.

The rules by which paths are read are those of Kubernetes' `RequestInfo`.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec
from msgspec.structs import replace
from starlette.datastructures import QueryParams

from trundle.api._field_terms import exact_of, terms_of
from trundle.api._status import ApiError, bad_request
from trundle.errors import expectation

_VERBS = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
CATALOG = "catalog.trundle.dev"
"""The API group by which rules name the packages and channels of a catalog and its environments."""
_OWN = frozenset(("v1", "v2"))
_CHANNEL_FILES = frozenset(("latest", "all"))
_OF_NAMESPACES = frozenset(("status", "finalize"))
_WATCH = "watch"
"""What stands before the resource in paths of changes, as clients of early versions of Kubernetes write them."""
_PARTS_OF_RESOURCES = {"api": 3, "apis": 4}
"""How many parts the path of a resource has at least."""
_MOST_VERSIONS = 256
_SHORT = 2048
"""Up to how many characters requests have whose attributes are remembered; longer ones would fill the memory."""


class Attributes(msgspec.Struct, frozen=True):
    """What a request does.

    Attributes:
        verb: e.g. `get`, `list`, `deletecollection`.
        path: the path; of requests about resources it does not count.
        is_resource: whether it is about a resource.
        group: the API group.
        version: the API version; `*` where all of them are meant.
        resource: what URLs call the resource type.
        subresource: a part of the object.
        namespace: the namespace; empty for all of them.
        name: the object; empty for all of them.
    """

    verb: str
    path: str = ""
    is_resource: bool = False
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def combined(self) -> str:
        """The resource with its subresource, as rules write it."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


def parameters_of(query: bytes) -> dict[str, str]:
    """The parameters of a request, by their names; of one that is given again, the first counts, as in API servers."""
    return dict(reversed(QueryParams(query).multi_items())) if query else {}


def attributes_of(method: str, path: str, query: bytes = b"") -> Attributes:
    """What a request does.

    Args:
        method: the method of HTTP.
        path: the path.
        query: the parameters, as they were sent.
    """
    is_short = len(method) + len(path) + len(query) <= _SHORT
    return (_known if is_short else _read)(method, path, query)


def _read(method: str, path: str, query: bytes) -> Attributes:
    """What a request does, read anew."""
    parts = [*filter(None, path.strip("/").split("/"))] if "//" not in path else []
    if found := _of_tenants(method, path, parts):
        return found
    if not parts or len(parts) < _PARTS_OF_RESOURCES.get(parts[0], len(parts) + 1):
        return Attributes(method.lower(), path)
    group = parts[1] if parts[0] == "apis" else ""
    version, *rest = parts[_PARTS_OF_RESOURCES[parts[0]] - 2 :]
    verb = _VERBS.get(method, "")
    namespace = ""
    watched = rest[0] == _WATCH and len(rest) > 1
    rest = rest[1:] if watched else rest
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _OF_NAMESPACES:  # noqa: PLR2004 - namespaces, a name, more
            rest = rest[2:]
    resource, name, subresource = (*rest, "", "")[:3]
    if watched:
        verb = "watch"
    elif not name and verb == "get":
        given: Mapping[str, str] = parameters_of(query)
        verb = "watch" if _is_set(given.get("watch")) else "list"
        name = _name_selected(given.get("fieldSelector", ""))
    elif not name and verb == "delete":
        verb = "deletecollection"
    return Attributes(verb, path, True, group, version, resource, subresource, namespace, name)


_known = lru_cache(4096)(_read)  # Clients ask for the same things again and again.


def at_each_version(asked: Attributes, query: bytes) -> list[Attributes]:
    """What a request does: at the version of its path, and at those that its parameter `versions` wants its answer at, too.

    Args:
        asked: what it does by its path.
        query: its parameters, as they were sent.

    Raises:
        ApiError: the parameter names more versions than any resource type has.
    """
    if not asked.is_resource or not query:
        return [asked]
    named = parameters_of(query).get("versions", "").split(",")
    others = [*dict.fromkeys(each for each in named if each not in {"", asked.version})]
    if len(others) > _MOST_VERSIONS:  # A cluster is asked about each of them.
        found = str(len(others))
        raise bad_request(expectation(f"at most {_MOST_VERSIONS} versions in `versions`", found))
    return [asked, *(replace(asked, version=each) for each in others)]


def _of_tenants(method: str, path: str, parts: Sequence[str]) -> Attributes | None:
    """What a request about what a tenant has does: to rules a tenant is a namespace; None for other requests."""
    if len(parts) < 4 or parts[1] != "tenants" or parts[0] not in _OWN:  # noqa: PLR2004
        return None
    version, _, tenant, resource, *names = parts
    verb = _VERBS.get(method, "")
    if verb == "get" and not names:
        verb = "list"
    match resource:
        case "packages":
            name, subresource = _of_package(version, names)
        case "channels":
            place = channel_place(names)
            name = f"{place.package}/{place.channel}" if names else ""
            subresource = "files" if place.file else ""
        case "environments":
            name, subresource = (*names, "", "")[:2]
            if subresource == "form":
                subresource, verb = "drafts", "update"  # Answers go into drafts.
            elif subresource == "drafts" and names[3:4] == ["applications"]:
                verb = "update"  # Of the draft.
        case "places" | "actions" if not names:
            name, subresource = "", ""
        case _:
            return None
    return Attributes(verb, path, True, CATALOG, version, resource, subresource, tenant, name)


def _of_package(version: str, names: list[str]) -> tuple[str, str]:
    """The package that a path names, which may have slashes, and what of it. Paths of `v1` name no version of it."""
    subresource = "content" if names[-1:] == ["content"] else ""
    if subresource:
        names = names[:-1]
    if version != "v1" and names[-2:-1] == ["versions"]:
        names = names[:-2]
    return "/".join(names), subresource


class ChannelPlace(NamedTuple):
    """What a path says of a channel.

    Attributes:
        package: the package, which may have slashes.
        channel: the name of the channel.
        file: a file of it; empty for the channel itself.
    """

    package: str
    channel: str
    file: str = ""


def channel_place(names: Sequence[str]) -> ChannelPlace:
    """The channel that the end of a path names: `PACKAGE/CHANNEL`, or `PACKAGE/CHANNEL/files/FILE`.

    No channel has the name of a file: that is `latest`, `all` or metadata with a dot.
    """
    *before, last = names or [""]
    is_file = last in _CHANNEL_FILES or "." in last
    if is_file and before[-1:] == ["files"]:
        *package, channel = before[:-1] or [""]
        return ChannelPlace("/".join(package), channel, last)
    return ChannelPlace("/".join(before), last)


def _is_set(flag: str | None) -> bool:
    return flag is not None and flag.lower() not in {"false", "0"}


def _name_selected(selector: str) -> str:
    """The one name that a field selector chooses; empty where it chooses no single one, or is none, which is refused later."""
    try:
        return exact_of(terms_of(selector), "metadata.name") or ""
    except ApiError:
        return ""
