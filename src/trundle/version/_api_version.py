"""API versions: dated ones as Azure names them, staged ones as Kubernetes does, and those of packages."""

import datetime as dt
import functools
import re
from collections.abc import Callable, Iterable

from trundle.version._errors import VersionError
from trundle.version._semver import SemVer

_DATED = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:-([A-Za-z][0-9A-Za-z.-]*))?")
_LABEL = re.compile(r"v(?:1api)?([0-9]{4})([0-9]{2})([0-9]{2})([A-Za-z][0-9A-Za-z.-]*)?")
"""A dated version where a name must be a DNS label: as the API spells it, and as Azure Service Operator does."""

_STAGED = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
_PACKAGED = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?")
"""A SemVer in full, without build metadata; that says nothing of a shape."""

_NUMBERED = re.compile(r"(alpha|beta)([1-9][0-9]*)")
_FIRST = {"alpha": "alpha", "beta": "preview"}
"""What a dated version calls the stages of Kubernetes; further ones are numbered: `beta2` is `preview.2`."""

_STAGE_ORDER = {"alpha": 0, "beta": 1, None: 2}


class ApiVersion:
    """The name of a published shape of resource types, with its place in the order of versions.

    Three families are known. Dated versions (`2014-04-04`, `2014-04-04-preview`) order by date, a
    preview before the GA version of its date, previews of one date by the name of their stage. Staged
    versions (`v1alpha1`, `v1beta2`, `v1`, `v2`) order by major number, stage and stage number. Versions of
    packages (`1.2.0`, `2.0.0-rc.1`) order as SemVer says; a pre-release is a preview. All dated versions come before all staged
    ones, and these before those of packages.

    A dated version may be spelt as a DNS label. `v20140404` and `v1api20140404` are `2014-04-04`;
    `v20140404beta1` and `v1api20140404preview` are `2014-04-04-preview`. Spellings of one version are equal.

    Attributes:
        text: the name as it was written.
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
            VersionError: the text is no version of any family.
        """
        return _parse(text)

    @staticmethod
    def of_package(version: SemVer) -> "ApiVersion":
        """A version of a package; builds say nothing of a shape."""
        return ApiVersion.parse(str(version).partition("+")[0])

    @property
    def identifier(self) -> str:
        """The version as part of a Python name: `v2014_04_04_preview`, `v1beta1`."""
        plain = re.sub(r"[^0-9A-Za-z]", "_", self.text).lower()
        return plain if plain.startswith("v") else f"v{plain}"

    @property
    def label(self) -> str:
        """The version as a DNS label, which Kubernetes orders right: `v20140404`, `v20140404beta1`, `v1beta1`, `v1-2-0`."""
        if match := _DATED.fullmatch(self.text):
            *date, stage = match.groups()
            return f"v{''.join(date)}{_stage_as_label(stage) if stage else ''}"
        if match := _LABEL.fullmatch(self.text):
            *date, stage = match.groups()
            return f"v{''.join(date)}{_stage_as_label(_stage_of_label(stage)) if stage else ''}"
        plain = re.sub(r"[^0-9A-Za-z]", "-", self.text).lower()
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


def own_spelling(text: str, known: Iterable[ApiVersion]) -> ApiVersion | None:
    """The version of a text as it is spelt among known ones; None where it is none of these."""
    try:
        version = ApiVersion.parse(text)
    except VersionError:
        return None
    return next((each for each in known if each == version), None)


@functools.lru_cache(maxsize=1024)
def _parse(text: str) -> ApiVersion:
    if match := _DATED.fullmatch(text):
        return _dated(text, match.groups())
    if match := _LABEL.fullmatch(text):
        *date, stage = match.groups()
        return _dated(text, (*date, stage and _stage_of_label(stage)))
    if match := _STAGED.fullmatch(text):
        major, stage, number = match.groups()
        key = (1, int(major), _STAGE_ORDER[stage], int(number or 0))
        return ApiVersion(text, key, preview=stage is not None)
    if _PACKAGED.fullmatch(text):
        return _packaged(text)
    raise VersionError(
        f"{text!r} is not an API version: expected a date such as 2016-03-01 or "
        "2016-03-01-preview, a Kubernetes version such as v1beta1, or a package's such as 1.2.0"
    )


def _dated(text: str, parts: tuple[str | None, ...]) -> ApiVersion:
    """A version of a date, from year, month, day and stage; without a stage it is GA."""
    *numbers, stage = parts
    try:
        date = dt.date(*(int(each or 0) for each in numbers))
    except ValueError as error:
        raise VersionError(f"{text!r} is not an API version: {error}") from None
    return ApiVersion(text, (0, date, not stage, *_stage_key(stage or "")), preview=bool(stage))


def _packaged(text: str) -> ApiVersion:
    """The version of a package; a pre-release is a preview."""
    try:
        version = SemVer.parse(text)
    except VersionError as error:
        raise VersionError(f"{text!r} is not an API version: {error}") from None
    return ApiVersion(text, (2, version), preview=version.is_prerelease)


def _stage_of_label(stage: str) -> str:
    """The stage of a dated version as it is written after the date and a hyphen."""
    match = _NUMBERED.fullmatch(stage)
    if match is None:
        return stage
    name, number = match.groups()
    return _FIRST[name] if number == "1" else f"{_FIRST[name]}.{number}"


def _stage_as_label(stage: str) -> str:
    """The stage of a dated version after its date in a DNS label; the inverse of `_stage_of_label`."""
    name, _, number = stage.partition(".")
    for kubernetes, own in _FIRST.items():
        if name == own and (not number or number.isdigit()):
            return f"{kubernetes}{number or 1}"
    return re.sub(r"[^0-9A-Za-z]", "", stage).lower()


def _stage_key(stage: str) -> tuple[object, ...]:
    """Orders stages by name, numbers in them by value; letter case counts where all else is equal."""
    parts = re.findall(r"[0-9]+|[^0-9]+", stage.lower())
    return tuple((0, int(x), "") if x[0] in _DIGITS else (1, 0, x) for x in parts), stage


_DIGITS = "0123456789"
