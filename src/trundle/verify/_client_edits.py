"""What clients make of what they read: the edits that come up in every proof."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from trundle.runtime import DocumentError
from trundle.verify._broken import spoken, tree
from trundle.verify._case import Case, Json, Subject, Write, make
from trundle.verify._stored import read_edited
from trundle.verify._tree_edits import (
    WAYS,
    edited_lists,
    scalars_by_property,
    with_other_scalars,
    without_one_object,
    without_one_scalar,
)

APART = 7
"""A mixed edit takes its values from a covering document so many times as far on."""
_TRIED = 8
"""So many edits are tried, one after the other, to find one that is valid."""
Covering = Callable[[str], Sequence[bytes]]
"""The covering documents of a version."""


class Read(NamedTuple):
    """What a version reads of a stored object.

    Attributes:
        version: the version.
        stored: the storage object.
        seen: what it reads, as a tree.
    """

    version: str
    stored: Any
    seen: Any


class ClientEdits:
    """Edits of what a version reads, each a whole document that is valid for it.

    Each method returns None where there is nothing to edit or the edit would not be valid.
    """

    def __init__(self, subject: Subject, covering: Covering) -> None:
        self._subject = subject
        self._covering = covering
        self._scalars: dict[str, Mapping[str, Sequence[Any]]] = {}

    def read(self, writes: tuple[Write, ...], version: str) -> Read | None:
        """What a version reads after some writes; None where that fails, which the laws find."""
        scheme = self._subject.scheme
        try:
            stored = make(self._subject, Case(version=version, writes=writes)).stored
            return Read(version, stored, tree(scheme.encode(scheme.from_storage(stored, version))))
        except Exception:  # noqa: BLE001 - what fails is found where the laws are held
            return None

    def emptied(self, read: Read | None) -> Json | None:
        """What was read, without anything that may be left out."""
        if read is None:
            return None
        seen = read.seen
        resource = self._subject.scheme.resources[self._subject.resource]
        for name in [each for each in seen if each not in {"apiVersion", resource.name_property}]:
            less = {key: each for key, each in seen.items() if key != name}
            if self._valid(read, less) is not None:
                seen = less
        return Json(spoken(seen).encode())

    def mixed(self, read: Read | None, number: int) -> Json | None:
        """What was read, with about half of its properties as in a covering document."""
        documents = () if read is None else self._covering(read.version)
        if read is None or not documents:
            return None
        mixed = dict(read.seen)
        given = tree(documents[(APART * number + 1) % len(documents)])
        for place, name in enumerate(sorted({**mixed, **given})):
            if (place + number) % 2 and name in given:
                mixed[name] = given[name]
        return self._valid(read, mixed)

    def with_other_lists(self, read: Read | None, first: int) -> Json | None:
        """What was read, with its lists edited, in the first way from a number on that is valid."""
        if read is None:
            return None
        ways = range(first, first + len(WAYS))
        return self._first(read, (edited_lists(read.seen, way) for way in ways))

    def with_other_scalars(self, read: Read | None, number: int) -> Json | None:
        """What was read, with other values for its scalars."""
        if read is None:
            return None
        if read.version not in self._scalars:
            documents = map(tree, self._covering(read.version))
            self._scalars[read.version] = scalars_by_property(documents)
        edited = with_other_scalars(read.seen, self._scalars[read.version], number)
        return self._valid(read, edited)

    def without_one_scalar(self, read: Read | None, number: int) -> Json | None:
        """What was read, without one scalar of an object within it, the first from a number on that may be left out."""
        return None if read is None else self._first(read, without_one_scalar(read.seen, number))

    def without_one_object(self, read: Read | None, number: int) -> Json | None:
        """The same without one object within an element of a list."""
        return None if read is None else self._first(read, without_one_object(read.seen, number))

    def _first(self, read: Read, edited: Iterable[Any]) -> Json | None:
        """The first of some edited trees that is valid."""
        valid = (self._valid(read, each) for each in islice(edited, _TRIED))
        return next((each for each in valid if each is not None), None)

    def _valid(self, read: Read, edited: Any) -> Json | None:
        """An edited tree as JSON; None where it is not valid."""
        data = spoken(edited).encode()
        try:
            read_edited(self._subject.scheme, read.version, data, read.stored)
        except DocumentError:
            return None
        return Json(data)
