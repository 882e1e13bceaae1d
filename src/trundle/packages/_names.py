"""Which file names an archive may hold: those that mean one and the same file on every machine."""

import re
import unicodedata

LONGEST_PART = 255
"""How many bytes of UTF-8 a folder's or file's own name may have; the limit of most file systems."""

LONGEST_PATH = 1000
"""How many bytes a path in a package may have, well below what systems allow, as it stands below some folder."""

_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\\\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters, those that change the direction of writing, and backslashes."""


def name_problem(name: str) -> tuple[str, str, str] | None:
    """What is wrong with the path of a file in an archive, with `/` between its parts.

    Returns:
        What was expected, what was found, and what to do; None for a good name.
    """
    try:
        data = name.encode()
    except UnicodeEncodeError:
        return "a name in UTF-8", "other bytes", "rename the file"
    if found := _UNFIT.search(name):
        expected = "a name without control characters and backslashes"
        return expected, f"U+{ord(found.group()):04X} in it", "rename the file"
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "a path inside the package", "one that leads elsewhere", "write it without . and .."
    if len(data) > LONGEST_PATH:
        return f"a path of at most {LONGEST_PATH} bytes", f"{len(data)}", "shorten it"
    longest = max(len(part.encode()) for part in parts)
    if longest > LONGEST_PART:
        return f"names of at most {LONGEST_PART} bytes", f"{longest}", "shorten it"
    return None


class Names:
    """The names of an archive, to see which of them would be the same file on some system."""

    def __init__(self) -> None:
        self._spellings: dict[str, str] = {}
        self._files: dict[str, str] = {}

    def clash(self, name: str) -> str | None:
        """Takes in the path of a file, unless another one is in its way.

        Names clash when they differ only by letter case or by how accents are encoded, or when one is a
        folder in which another should lie.

        Returns:
            The path of the file or folder in the way; None if there is none.
        """
        parts = name.split("/")
        paths = ["/".join(parts[: count + 1]) for count in range(len(parts))]
        folded = [fold(each) for each in paths]
        if folded[-1] in self._spellings:
            return self._spellings[folded[-1]]
        for path, key in zip(paths[:-1], folded, strict=False):
            if key in self._files:
                return self._files[key]
            if self._spellings.get(key, path) != path:
                return self._spellings[key]
        self._spellings.update(zip(folded, paths, strict=True))
        self._files[folded[-1]] = name
        return None


def fold(name: str) -> str:
    """A name as the least exact file systems see it."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
