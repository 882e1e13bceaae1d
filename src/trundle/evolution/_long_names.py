"""Names of bounded length for what schemas name at any length."""

import hashlib
import re

LONGEST = 60
"""How long a name is at most that generated code has for what a schema names."""


def fitting(name: str, limit: int) -> str:
    """A name that is not longer than a limit: a longer one is its last words, with a digest of all of it.

    What becomes of a name depends on no other name, and no two become the same.
    """
    if len(name) <= limit:
        return name
    digest = hashlib.blake2b(name.encode(), digest_size=4).hexdigest()
    end = name[len(digest) + 1 - limit :]
    words = re.search(r"(?<=_)[a-z]|[A-Z](?=[a-z])", end[: limit // 2])
    end = end[words.start() :] if words else end.lstrip("_0123456789")
    return f"{end}_{digest}" if end else f"n{digest}"
