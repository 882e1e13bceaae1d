"""Entries of the operator by class: `a.B` for all its versions, `a.B/1.2` for those in a range."""

from collections.abc import Mapping
from typing import TypeVar

from trundle.errors import expectation, shown
from trundle.version import SemVer, VersionError, VersionRange

Entry = TypeVar("Entry")


def check_keys(entries: Mapping[str, object], what: str) -> None:
    """Makes sure that all keys name classes, with a range of versions or without one.

    Raises:
        ValueError: one does not.
    """
    for key in entries:
        name, slash, spec = key.partition("/")
        try:
            VersionRange.parse(spec)
        except VersionError as error:
            wanted = f"a range after / in a key of {what}"
            raise ValueError(expectation(wanted, f"{shown(key)}: {error}")) from None
        if not name or (slash and not spec):
            raise ValueError(expectation(f"NAME or NAME/VERSION as a key of {what}", shown(key)))


def most_exact(entries: Mapping[str, Entry], name: str, version: SemVer) -> list[Entry]:
    """The entries for a class in a version, the most exact last: a version with more numbers is more exact."""
    found: list[tuple[int, Entry]] = []
    for key, entry in entries.items():
        named, _, spec = key.partition("/")
        if named == name and (not spec or version in VersionRange.parse(spec)):
            found.append((spec.count(".") + 1 if spec else 0, entry))
    return [entry for _, entry in sorted(found, key=lambda each: each[0])]
