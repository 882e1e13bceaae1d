"""What goes with an object that an edit removes.

A client that removes an object removes what is hidden from it in there, too. What some version has outside of the object stays.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from trundle.runtime import Scheme
from trundle.verify._broken import MISSING, spoken
from trundle.verify._seen import named, tree_of, view
from trundle.verify._views import Path, value_at

Versioned: TypeAlias = tuple[str, Any, Any]
"""A version, and what it sees before and after."""
Stays: TypeAlias = Callable[[Versioned, Versioned, Path], bool | None]
"""Whether a value stays, whatever objects a client removes: by the client's version, what it read and wrote, by what a version sees
before and after, and by where it has the value."""


class Removal(NamedTuple):
    """An edit that may remove objects.

    Attributes:
        puts: what is stored before the edit, and after it.
        alone: what the writer read and what it wrote, each stored by itself.
        edit: what the writer read and what it wrote.
    """

    puts: tuple[Any, Any]
    alone: tuple[Any, Any]
    edit: tuple[Any, Any]


def goes_with_an_object(scheme: Scheme, removal: Removal, version: str, place: Path) -> bool:
    """Whether what a version no longer sees was stored in an object that the edit removes, or makes null.

    The objects are those that the edit removes from what it finds where nothing else is stored, and those by which alone
    the writer has an object that it removes. Without them, and with all else as it was stored, the version must not see
    the value either: what is stored beside them has to stay.

    Args:
        scheme: the scheme of the generated package.
        removal: the edit.
        version: the version that no longer sees a value.
        place: where it was.
    """
    stored, was, becomes = (tree_of(scheme, each) for each in (removal.puts[0], *removal.alone))
    head = {name: each for name, each in stored.items() if not isinstance(each, dict)}
    edit = [tree_of(scheme, each) for each in removal.edit]
    writer = named(scheme, removal.edit[1])[1]

    def removes(path: Path, value: dict[str, Any]) -> bool:
        alone: Any = value
        for name in reversed(path):
            alone = {name: alone}
        shown = view(scheme, scheme.decode(spoken({**head, **alone}).encode()), writer)
        return any(_lacks(edit[1], each) and not _lacks(edit[0], each) for each in _objects(shown))

    left = _without_removed(stored, was, becomes, removes)
    return all(
        value_at(view(scheme, scheme.decode(each), version), place) is MISSING
        for each in (scheme.encode(removal.puts[1]), spoken(left).encode())
    )


def may_go(stays: Stays, edit: Versioned, views: Versioned, lost: tuple[Path, Any]) -> bool:
    """Whether what a version no longer sees may go with the objects that an edit removes: no version has it elsewhere.

    Args:
        stays: what is known of where versions have it.
        edit: the writer's version, what it read, and what it wrote.
        views: a version, and what it sees before and after.
        lost: where it no longer sees something, and what.
    """
    return any(not stays(edit, views, each) for each in _leaves(*lost))


def may_stay(
    stays: Stays, edit: Versioned, views: Versioned, was: Any, left: tuple[Path, Any]
) -> bool:
    """Whether all that a version goes on to see is hidden from the writer, and may be outside of the objects that it removes.

    Args:
        stays: what is known of where versions have it.
        edit: the writer's version, what it read, and what it wrote.
        views: a version, and what it sees before and after.
        was: what the version is shown of what the writer read.
        left: where it goes on to see something, and what.
    """
    return all(
        value_at(was, each) is MISSING and stays(edit, views, each) is not False
        for each in _leaves(*left)
    )


def _leaves(place: Path, value: Any) -> Iterator[Path]:
    """The places of all that an object has that is no object with members itself."""
    if not isinstance(value, dict) or not value:
        yield place
    else:
        for name, each in value.items():
            yield from _leaves((*place, name), each)


def _lacks(document: Any, place: Path) -> bool:
    return value_at(document, place) in (MISSING, None)


def _objects(value: Any, place: Path = ()) -> Iterator[Path]:
    """The places of the objects in a document, those in lists left out."""
    if isinstance(value, dict):
        for name, each in value.items():
            if isinstance(each, dict):
                yield (*place, name)
                yield from _objects(each, (*place, name))


def _without_removed(
    stored: Any,
    was: Any,
    becomes: Any,
    removes: Callable[[Path, dict[str, Any]], bool],
    path: Path = (),
) -> Any:
    """A stored value without the objects that an edit removes; null where the edit makes them null."""
    if isinstance(stored, dict) and not {type(was), type(becomes)} & {list}:
        left: dict[str, Any] = {}
        for name, value in stored.items():
            before, after = (_member(each, name) for each in (was, becomes))
            inner = (*path, name)
            gone = (
                isinstance(value, dict)
                and after in (MISSING, None)
                and not name.startswith("$")
                and (isinstance(before, dict) or removes(inner, value))
            )
            if gone:
                left |= {} if after is MISSING else {name: None}
            else:
                left[name] = _without_removed(value, before, after, removes, inner)
        return left
    lists = [each for each in (stored, was, becomes) if isinstance(each, list)]
    if len(lists) == 3 and len(set(map(len, lists))) == 1:  # noqa: PLR2004 - all of them
        elements = zip(stored, was, becomes, strict=True)
        return [_without_removed(*each, lambda *_: False, path) for each in elements]
    return stored


def _member(value: Any, name: str) -> Any:
    return value.get(name, MISSING) if isinstance(value, dict) else MISSING
