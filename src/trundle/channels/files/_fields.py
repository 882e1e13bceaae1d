"""Reads the fields of a JSON object by their types, and records a finding for each that does not fit."""

import datetime as dt
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from trundle.channels._refusals import ChannelError, RefusalCode
from trundle.channels._times import LAST, parse_time
from trundle.channels.files._model import Extra
from trundle.errors import Finding, Place, Severity, errors_among, shown
from trundle.packages import Requirement
from trundle.version import SemVer, VersionRange, VersionSyntaxError

ENTRY_KEYS = (
    "version",
    "id",
    "createTime",
    "digest",
    "tag",
    "size",
    "changes",
    "critical",
    "deprecated",
    "minUpgradeFrom",
    "dependsOn",
    "override",
)
"""The keys of a version."""

TOMBSTONE_KEYS = (*ENTRY_KEYS, "unpublishTime", "reason")
"""The keys of an unpublished version."""

_ID = re.compile(r"[0-9a-f]{12}")
_NOTHING = SemVer(0, 0, 0)
_AS_PUBLISHED = "ask the publisher to publish the channel again"
_ITEMS = 1_000_000


class ChannelFileError(ChannelError):
    """A channel file that cannot be used.

    Attributes:
        findings: everything that is wrong, warnings included.
    """

    @property
    def messages(self) -> tuple[str, ...]:
        """What went wrong: the findings that are errors."""
        return tuple(each.coded for each in self.refusals)

    @property
    def refusals(self) -> tuple[Finding, ...]:
        """The refusals that the errors lead to."""
        return errors_among(self.findings)


class Fields:
    """The fields of one object in a channel file.

    An invalid field gives a finding, and a value that stands in for it until
    `refuse_errors` is called.

    Attributes:
        value: the object.
        findings: everything noted so far, in this object and in all others of the file.
    """

    def __init__(self, value: Any, where: str, path: str, findings: list[Finding]) -> None:
        self.findings = findings
        self._where = where
        self._path = path
        self.value: dict[str, Any] = value if isinstance(value, dict) else {}
        if not isinstance(value, dict):
            place = Place(where, path=path)
            code = RefusalCode.INVALID_FILE
            findings.append(Finding(code, place, "an object", shown(value), _AS_PUBLISHED))

    def note(
        self,
        key: str,
        expected: str,
        found: str,
        advice: str = _AS_PUBLISHED,
        *,
        severity: Severity = "error",
        code: RefusalCode = RefusalCode.INVALID_FILE,
    ) -> None:
        """Notes a finding about a key."""
        place = Place(self._where, path=f"{self._path}.{key}")
        self.findings.append(Finding(code, place, expected, found, advice, severity))

    def refuse_errors(self) -> None:
        """Ends the reading where there is an error.

        Raises:
            ChannelFileError: there is at least one.
        """
        if errors_among(self.findings):
            raise ChannelFileError(dict.fromkeys(self.findings))

    def text(self, key: str) -> str:
        """Text that is not empty."""
        value = self.value.get(key)
        if isinstance(value, str) and value.strip():
            return value
        found = "empty text" if isinstance(value, str) else shown(value)
        self.note(key, "text", found)
        return ""

    def optional_text(self, key: str) -> str | None:
        """Text that is not empty; None where there is nothing."""
        return self.text(key) if self.value.get(key) is not None else None

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        value = self.value.get(key, [])
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(value)
        self.note(key, "a list of texts", shown(value))
        return ()

    def flag(self, key: str) -> bool:
        """True or false; false where there is nothing."""
        value = self.value.get(key, False)
        if isinstance(value, bool):
            return value
        self.note(key, "true or false", shown(value))
        return False

    def integer(self, key: str, absent: int) -> int:
        """An integer of at least 0."""
        if key not in self.value:
            return absent
        value = self.value[key]
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        self.note(key, "an integer of at least 0", shown(value))
        return absent

    def identifier(self, key: str) -> str:
        """The id of a version."""
        value = self.value.get(key)
        if isinstance(value, str) and _ID.fullmatch(value):
            return value
        self.note(key, "12 hexadecimal digits", shown(value))
        return ""

    def moment(self, key: str) -> dt.datetime:
        """A moment."""
        if self.value.get(key) is None:
            self.note(key, "a time such as 2019-09-12T17:39:04Z", "nothing")
        return self.time(key) or LAST

    def time(self, key: str) -> dt.datetime | None:
        """A moment; None where there is nothing. A lax spelling gives a warning."""
        value = self.value.get(key)
        if value is None:
            return None
        expected = "a time such as 2019-09-12T17:39:04Z"
        try:
            moment, strict = parse_time(value if isinstance(value, str) else "")
        except ValueError:
            self.note(key, expected, shown(value))
            return None
        if not strict:
            advice = "it was understood; the next publishing puts it right"
            self.note(key, expected, shown(value), advice, severity="warning")
        return moment

    def version(self, key: str) -> SemVer:
        """A version."""
        return self.optional_version(key, required=True) or _NOTHING

    def optional_version(self, key: str, *, required: bool = False) -> SemVer | None:
        """A version; None where there is nothing."""
        value = self.value.get(key)
        if value is None and not required:
            return None
        if not isinstance(value, str):
            self.note(key, "the text of a version such as 1.2.3", shown(value))
            return None
        try:
            return SemVer.parse(value)
        except VersionSyntaxError as error:
            self.note(key, "a version such as 1.2.3", _found(error))
            return None

    def dependencies(self, key: str) -> tuple[Requirement, ...]:
        """Ranges by package."""
        value = self.value.get(key, {})
        if not isinstance(value, dict):
            self.note(key, "ranges by package", shown(value))
            return ()
        return tuple(self._dependency(key, name, value[name]) for name in sorted(value))

    def _dependency(self, key: str, name: str, value: Any) -> Requirement:
        if isinstance(value, str):
            try:
                return Requirement(name, VersionRange.parse(value))
            except VersionSyntaxError as error:
                self.note(f"{key}[{name!r}]", "a range such as >=1.2,<2", _found(error))
        else:
            self.note(f"{key}[{name!r}]", "the text of a range such as >=1.2,<2", shown(value))
        return Requirement(name, VersionRange.parse("*"))

    def object(self, key: str) -> "Fields | None":
        """An object; None where there is nothing."""
        value = self.value.get(key)
        if value is None:
            return None
        return Fields(value, self._where, f"{self._path}.{key}", self.findings)

    def objects(self, key: str, *, required: bool = False) -> list["Fields"]:
        """A list of objects."""
        value = self.value.get(key, None if required else [])
        if not isinstance(value, list):
            self.note(key, "a list of versions", shown(value))
            return []
        path = f"{self._path}.{key}"
        return [
            Fields(each, self._where, f"{path}[{index}]", self.findings)
            for index, each in enumerate(value[:_ITEMS])
        ]

    def unknown(self, known: Iterable[str]) -> Extra:
        """The fields with other keys, as they are."""
        others = self.value.keys() - set(known)
        return tuple((key, msgspec.json.encode(self.value[key]).decode()) for key in sorted(others))


def _found(error: VersionSyntaxError) -> str:
    return f"{shown(error.text)}, with {error.found} at character {error.position}"
