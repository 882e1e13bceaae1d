"""What a page can find without a server: names with the pages that show them, as a script that pages load."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec


class SearchEntry(NamedTuple):
    """Something that can be found.

    Attributes:
        name: its name.
        kind: what it is, as `class`.
        context: where it is, as the class of a property; may be empty.
        target: the link to it, from the folder of the script.
    """

    name: str
    kind: str
    context: str
    target: str


def search_script(entries: Iterable[SearchEntry]) -> bytes:
    """The script that gives a page what can be found."""
    return _script("trundleSearch", list(entries))


def versions_script(versions: Iterable[str]) -> bytes:
    """The script that gives a page all versions, the newest first."""
    return _script("trundleVersions", list(versions))


def _script(name: str, value: object) -> bytes:
    return f"window.{name} = {msgspec.json.encode(value).decode()};\n".encode()
