"""Where pages are within a site: paths, and links from one to another."""

import posixpath
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

_UNSAFE = re.compile(r"[^A-Za-z0-9._+-]")


def folder_name(package: str) -> str:
    """The folder of a package; a name may have `/` in it, and a folder may not."""
    return _UNSAFE.sub("-", package.replace("/", "+")).lstrip(".") or "-"


def file_names(names: Iterable[str]) -> Mapping[str, str]:
    """A file for each name, without an ending; files differ in more than letter case."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = _UNSAFE.sub("-", name).lstrip(".") or "-"
        file, number = plain, 1
        while file.casefold() in taken:
            number += 1
            file = f"{plain}~{number}"
        taken.add(file.casefold())
        found[name] = file
    return found


def link(target: str, page: str) -> str:
    """The link to a target from a page; both are paths within the site, the target with a fragment where it has one."""
    path, mark, fragment = target.partition("#")
    relative = posixpath.relpath(path, posixpath.dirname(page) or ".")
    return quote(relative, safe="/+~") + (f"#{quote(fragment)}" if mark else "")


def anchor(kind: str, name: str) -> str:
    """The id of a place in a page: without white space, and no two names have the same."""
    return f"{kind}-{quote(name, safe='')}"
