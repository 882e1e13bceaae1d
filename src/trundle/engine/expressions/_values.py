"""Values of expressions: immutable within the language, plain outside of it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NoReturn, TypeAlias

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine.expressions._bounds import limited
from trundle.engine.expressions._sizes import MOST_VALUES
from trundle.engine.expressions._yaql import Context, FrozenDict

Room: TypeAlias = list[int]
"""How many more values there may be, and how many more levels of lists; both count down. The third one is the most levels of maps that were found."""

Freezer: TypeAlias = Callable[[Any, Room], Any]

DEEPEST_LIST: Final = 500
"""How many levels lists may nest: unlike a map, a list does not know its size, and is gone through by each expression that yields it."""

DEEPEST_MAP: Final = 10_000
"""How many levels maps may nest: what goes on to put one into another is a loop that does not end."""

_SIZE: Final = "size"
"""The attribute of maps in which nothing is left to be frozen: how many values are in them."""
_LEVELS: Final = "levels"
"""The attribute that has how many levels of maps are in a map, with itself; a map without it has none in it that counts."""


PLAIN: Final[frozenset[type]] = frozenset({str, int, float, bool, type(None)})
"""Types of values that are as `freeze` makes them, for those who would call it often."""


def freeze(value: Any) -> Any:
    """A value as expressions see it: lists as tuples, maps that can be hashed; lazy sequences are gone through.

    Raises:
        EngineError: there are more than `MOST_VALUES` in it, or more than `DEEPEST_LIST` levels of lists, or more than `DEEPEST_MAP` of maps.
        Exception: what a lazy sequence raises; it has at most 2,000 items.
    """
    kind = type(value)
    freezer = _FREEZERS[kind] if kind in _FREEZERS else _freezer(kind)
    return value if freezer is None else freezer(value, [MOST_VALUES, DEEPEST_LIST, 0])


def _list(value: Any, room: Room) -> tuple[Any, ...]:
    _take(room, len(value))
    room[1] -= 1
    if room[1] < 0:
        message = f"lists are nested more than {DEEPEST_LIST} levels deep"
        raise EngineError(EngineCode.LIMIT, message, advice="nest them less deeply")
    made = tuple(_parts(value, room))
    room[1] += 1
    return made


def _parts(values: Iterable[Any], room: Room) -> list[Any]:
    made = []
    for each in values:
        kind = type(each)
        freezer = _FREEZERS[kind] if kind in _FREEZERS else _freezer(kind)
        made.append(each if freezer is None else freezer(each, room))
    return made


def _map(value: Mapping[Any, Any], room: Room) -> Any:
    before, beside = room[0], room[2]
    _take(room, len(value))
    room[2] = 0
    made = FrozenDict(zip(_parts(value, room), _parts(value.values(), room), strict=True))
    levels = room[2] + 1
    room[2] = max(beside, levels)
    attributes = made.__dict__
    attributes[_SIZE] = before - room[0]
    if levels > 1:
        _check_levels(levels)
        attributes[_LEVELS] = levels
    return made


def _check_levels(levels: int) -> None:
    if levels > DEEPEST_MAP:
        message = f"maps are nested more than {DEEPEST_MAP} levels deep"
        raise EngineError(EngineCode.LIMIT, message, advice="nest them less deeply")


def map_with(entries: Mapping[Any, Any], key: Any, value: Any) -> Mapping[Any, Any]:
    """A map with one more entry, of parts that are frozen; they are not gone through.

    Raises:
        EngineError: maps nest more than `DEEPEST_MAP` levels.
    """
    made: Mapping[Any, Any] = FrozenDict({**entries, key: value})
    levels = max(_levels(entries), _levels(value) + 1)
    _check_levels(levels)
    made.__dict__[_LEVELS] = levels
    return made


def _levels(value: Any) -> int:
    return value.__dict__.get(_LEVELS, 1) if type(value) is FrozenDict else 0


def _known_map(value: Any, room: Room) -> Any:
    """A map that may be frozen already: then it is not gone through again, or maps in maps would take time by the square."""
    size = value.__dict__.get(_SIZE)
    if size is None:
        return _map(value, room)
    _take(room, size)
    levels = value.__dict__.get(_LEVELS, 1)
    room[2] = max(room[2], levels)
    return value


def _set(value: Any, room: Room) -> frozenset[Any]:
    return frozenset(_list(value, room))


def _no_value(_: Any, __: Room) -> NoReturn:
    raise TypeError("variables are no value; `->` and an expression stand behind `let`")


def _sequence(value: Any, room: Room) -> tuple[Any, ...]:
    made = _parts(limited(value), room)
    _take(room, len(made))
    return tuple(made)


def _take(room: Room, count: int) -> None:
    room[0] -= count
    if room[0] < 0:
        message = f"an expression makes more than {MOST_VALUES} values"
        raise EngineError(EngineCode.LIMIT, message, advice="make fewer")


_FREEZERS: dict[type, Freezer | None] = {FrozenDict: _known_map}


def _freezer(kind: type) -> Freezer | None:
    """What freezes values of a type; None if they are immutable."""
    found: Freezer | None = None
    if issubclass(kind, Context):
        found = _no_value
    elif issubclass(kind, tuple | list):
        found = _list
    elif issubclass(kind, Mapping):
        found = _map
    elif issubclass(kind, set | frozenset):
        found = _set
    elif issubclass(kind, Iterable) and not issubclass(kind, str | bytes):
        found = _sequence
    _FREEZERS[kind] = found
    return found


def thaw(value: Any) -> Any:
    """A value as Python has it: lists and dictionaries; sets become lists, objects and the keys of maps stay as they are."""
    if isinstance(value, tuple | list | frozenset | set):
        return [thaw(each) for each in value]
    if isinstance(value, Mapping):
        return {key: thaw(each) for key, each in value.items()}
    return value


def is_sequence(value: Any) -> bool:
    """Whether a frozen value is a list or a set."""
    return isinstance(value, tuple | list | frozenset)
