"""API versions: dated ones as Azure names them, staged ones as Kubernetes does."""

import datetime as dt
import functools
import re
from collections.abc import Callable

from trundle.version._errors import VersionError

_DATED = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:-([A-Za-z][0-9A-Za-z.-]*))?")
_STAGED = re.compile(r"v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?")
_GA = "~"  # sorts after every stage name, so that a preview comes before the GA of its date
_STAGE_ORDER = {"alpha": 0, "beta": 1, None: 2}


class ApiVersion:
    """The name of a published shape of resource types, with its place in the order of versions.

    Two families are known. Dated versions (`2014-04-04`, `2014-04-04-preview`) order by date, a
    preview before the GA version of its date. Staged versions (`v1alpha1`, `v1beta2`, `v1`, `v2`)
    order by major number, stage and stage number. All dated versions come before all staged ones.

    Attributes:
        text: the name as it is written in documents and file names.
        preview: whether this version is a preview; every other one is GA.
    """

    __slots__ = ("_hash", "_key", "preview", "text")

    def __init__(self, text: str, key: tuple[object, ...], *, preview: bool) -> None:
        self.text = text
        self.preview = preview
        self._key = key
        self._hash = hash(key)

    @staticmethod
    def parse(text: str) -> "ApiVersion":
        """Reads a version from its name; the same text mostly gives the same object.

        Raises:
            VersionError: the text is neither a dated nor a staged version.
        """
        return _parse(text)

    @property
    def identifier(self) -> str:
        """The version as part of a Python name: `v2014_04_04_preview`, `v1beta1`."""
        plain = re.sub(r"[^0-9A-Za-z]", "_", self.text).lower()
        return plain if plain.startswith("v") else f"v{plain}"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, ApiVersion) and self._key == other._key)

    def __lt__(self, other: "ApiVersion") -> bool:
        return self._key < other._key

    def __le__(self, other: "ApiVersion") -> bool:
        return self._key <= other._key

    def __gt__(self, other: "ApiVersion") -> bool:
        return self._key > other._key

    def __ge__(self, other: "ApiVersion") -> bool:
        return self._key >= other._key

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Callable[[str], "ApiVersion"], tuple[str]]:
        return ApiVersion.parse, (self.text,)  # a hash of texts holds in its own process only

    def __repr__(self) -> str:
        return f"ApiVersion.parse({self.text!r})"

    def __str__(self) -> str:
        return self.text


@functools.lru_cache(maxsize=1024)
def _parse(text: str) -> ApiVersion:
    if match := _DATED.fullmatch(text):
        year, month, day, stage = match.groups()
        try:
            date = dt.date(int(year), int(month), int(day))
        except ValueError as error:
            raise VersionError(f"{text!r} is not an API version: {error}") from None
        return ApiVersion(text, (0, date, (stage or _GA).lower(), stage or ""), preview=bool(stage))
    if match := _STAGED.fullmatch(text):
        major, stage, number = match.groups()
        key = (1, int(major), _STAGE_ORDER[stage], int(number or 0))
        return ApiVersion(text, key, preview=stage is not None)
    raise VersionError(
        f"{text!r} is not an API version: expected a date such as 2016-03-01 or "
        "2016-03-01-preview, or a Kubernetes version such as v1beta1"
    )
