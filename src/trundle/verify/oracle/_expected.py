"""What is expected at a place: a value, one of several, none, or anything."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from trundle.verify._broken import MISSING, Difference, same


class Either(NamedTuple):
    """One of several values; `MISSING` is none."""

    options: tuple[Any, ...]


class _Any:
    """Whatever is there is right, nothing included."""

    def __repr__(self) -> str:
        return "anything"


ANY: Any = _Any()


def known(expected: Any) -> bool:
    """Whether an expected value is just one value, all the way down."""
    if isinstance(expected, dict):
        return all(map(known, expected.values()))
    if isinstance(expected, list):
        return all(map(known, expected))
    return expected is not ANY and not isinstance(expected, Either)


def either(*options: Any) -> Any:
    """One of some expectations; anything, where one of them is that."""
    flat: list[Any] = []
    for each in options:
        flat.extend(each.options if isinstance(each, Either) else (each,))
    if any(each is ANY for each in flat):
        return ANY
    first = flat[0]
    return first if all(same(first, each) for each in flat) else Either(tuple(flat))


def disagreements(
    expected: Any, found: Any, path: tuple[str | int, ...] = ()
) -> Iterator[Difference]:
    """All places at which a JSON value is not as expected."""
    if expected is ANY:
        return
    if isinstance(expected, Either):
        if not any(next(disagreements(each, found), None) is None for each in expected.options):
            yield Difference(path, expected.options[0], found)
    elif isinstance(expected, dict) and isinstance(found, dict):
        for name in {**expected, **found}:
            one, other = expected.get(name, MISSING), found.get(name, MISSING)
            yield from disagreements(one, other, (*path, name))
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for place, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from disagreements(one, other, (*path, place))
    elif isinstance(expected, dict | list) and not known(expected):
        if not _may_be_missing(expected, found):
            yield Difference(path, _plain(expected), found)
    elif not same(expected, found):
        yield Difference(path, expected, found)


def _may_be_missing(expected: Any, found: Any) -> bool:
    """Whether nothing is right where an object was expected of which nothing is sure."""
    return (
        found is MISSING
        and isinstance(expected, dict)
        and not any(known(each) for each in expected.values())
    )


def _plain(expected: Any) -> Any:
    """An expectation as a value, to be shown."""
    if isinstance(expected, dict):
        return {name: _plain(each) for name, each in expected.items() if each is not ANY}
    if isinstance(expected, list):
        return [_plain(each) for each in expected if each is not ANY]
    return _plain(expected.options[0]) if isinstance(expected, Either) else expected


def may_be_left_out(expected: Any) -> bool:
    """Whether nothing is right, too."""
    return expected is ANY or (isinstance(expected, Either) and MISSING in expected.options)


def perhaps_hollow(expected: Any) -> Any:
    """An object in which objects with nothing in them may be left out, and itself if there is nothing else."""
    if not isinstance(expected, dict):
        return expected
    members = {name: perhaps_hollow(each) for name, each in expected.items()}
    if all(may_be_left_out(each) for each in members.values()):
        return either(members, MISSING)
    return members
