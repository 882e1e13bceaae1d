"""The lists of names that a registry over HTTP gives page by page: its repositories, and the tags of one."""

import msgspec

from trundle.registry._requests import Requests
from trundle.registry.errors import InvalidManifestError, NotFoundError, TooLargeError

MOST_PAGES = 10_000
"""The most pages of a list that are read."""


class _Page(msgspec.Struct):
    tags: list[str] | None = None
    repositories: list[str] | None = None


def read_names(requests: Requests, url: str, where: str) -> list[str]:
    """All names of a list, in alphabetical order; none where there is no such list.

    Raises:
        InvalidManifestError: the registry sends something else.
        TooLargeError: the list has no end.
    """
    found: set[str] = set()
    following: str | None = url
    for _ in range(MOST_PAGES):
        if following is None:
            return sorted(found)
        try:
            content, following = requests.read_page(following, where)
        except NotFoundError:
            return []
        try:
            page = msgspec.json.decode(content, type=_Page)
        except msgspec.DecodeError as error:
            raise InvalidManifestError(
                where, "a list of names", str(error), "ask who runs the registry"
            ) from None
        found.update(page.tags or page.repositories or ())
    raise TooLargeError(where, f"at most {MOST_PAGES} pages", "more", "ask who runs the registry")
