"""Names of places and versions, as they follow from pointers and paths."""

import re
from pathlib import Path

from trundle.version import ApiVersion, VersionError

CONTAINERS = frozenset(
    {
        "$defs",
        "definitions",
        "schemas",
        "resourceDefinitions",
        "subscription_resourceDefinitions",
        "tenant_resourceDefinitions",
        "managementGroup_resourceDefinitions",
        "extension_resourceDefinitions",
        "unknown_resourceDefinitions",
    }
)
_WORD = re.compile(r"[0-9A-Za-z]+")
_IDENTIFIER = re.compile(r"v(\d{4})_(\d{2})_(\d{2})(?:_(\w+))?")


def pascal(text: str) -> str:
    """The text in PascalCase: `reliabilityLevel` is `ReliabilityLevel`, `odata.type` is `OdataType`."""
    words = _WORD.findall(text)
    return "".join(word[0].upper() + word[1:] for word in words) or text


def escape(segment: str) -> str:
    """A name as one segment of a JSON pointer."""
    if "~" in segment or "/" in segment:
        return segment.replace("~", "~0").replace("/", "~1")
    return segment


def unescape(segment: str) -> str:
    """The name that a segment of a JSON pointer stands for."""
    return segment.replace("~1", "/").replace("~0", "~") if "~" in segment else segment


def definition_name(pointer: str) -> str | None:
    """The name of the definition at this pointer, or None where no definition stands."""
    parent, _, last = pointer.rpartition("/")
    container = parent.rpartition("/")[2]
    if container not in CONTAINERS or "/properties/" in parent + "/":
        return None
    return unescape(last)


def extend(name: str, rest: str) -> str:
    """The name of the place that a pointer leads to from a place of this name.

    Each property on the way adds its own name; items, values and variants add none.
    """
    segments = iter(rest.split("/")[1:])
    for segment in segments:
        if segment == "properties":
            name += pascal(unescape(next(segments, "")))
        elif segment == "patternProperties":
            next(segments, None)
        elif segment in CONTAINERS:
            name = unescape(next(segments, name))
    return name


def version_in(text: str) -> ApiVersion | None:
    """The API version that a file or folder name states, if it states one.

    Known are the version itself (`2011-01-01`), a Python module's name for it (`v2011_01_01`), and
    either as the last dotted part (`person.v1beta1`).
    """
    for candidate in (text, text.rpartition(".")[2]):
        match = _IDENTIFIER.fullmatch(candidate)
        if match:
            candidate = "-".join(part.replace("_", "-") for part in match.groups() if part)  # noqa: PLW2901
        try:
            return ApiVersion.parse(candidate)
        except VersionError:
            continue
    return None


def version_of_path(path: Path) -> ApiVersion | None:
    """The API version that a path states: in the file's name, else in that of its folder or the next."""
    stem = path.stem.removesuffix(".schema")
    for name in (stem, *(each.name for each in list(path.parents)[:2])):
        found = version_in(name)
        if found is not None:
            return found
    return None
