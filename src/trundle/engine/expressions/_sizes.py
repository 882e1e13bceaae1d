"""How large values are once they are written out: a value that has another one in it twice has its parts twice.

`[$d, $d]` again and again makes, in some steps, a value that takes no room and is gone through for years.
"""

from collections.abc import Mapping
from typing import Any, Final

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine.expressions._yaql import MEMORY, FrozenDict

MOST_CHARACTERS: Final = MEMORY // 4
"""How many characters a text may have."""

MOST_VALUES: Final = 1_000_000
"""How many values a list or map may have in it; what stands in it twice counts twice."""

DEEPEST: Final = 5_000
"""How many levels a value may have that is gone through: Python's hashes of lists in lists end the process where its stack ends."""

_HOLDERS: Final = frozenset({tuple, list, dict, FrozenDict, frozenset, set})


def check_text(size: int) -> None:
    """Makes sure that a text, or a list, is not too large to be made.

    Raises:
        EngineError: it is.
    """
    if size > MOST_CHARACTERS:
        raise _too_large(f"an expression makes a value of {size} characters or items")


def check_size(value: Any, most: int = MOST_VALUES, *, with_texts: bool = False) -> int:
    """Makes sure that all of a value can be gone through.

    Args:
        value: the value.
        most: how many values there may be in it.
        with_texts: whether its texts are written out, too.

    Returns:
        How many there are.

    Raises:
        EngineError: there are more, they nest too deeply, or its texts are too long altogether.
    """
    if type(value) not in _HOLDERS:
        return 0
    room, characters, depth, level = most, 0, 0, [value]
    while level:
        depth += 1
        if depth > DEEPEST:
            message = f"a value is nested more than {DEEPEST} levels deep"
            raise EngineError(EngineCode.LIMIT, message, advice="nest it less deeply")
        below: list[Any] = []
        for each in level:
            room -= len(each)
            parts: Any = each
            if isinstance(each, Mapping):
                parts = (*each.keys(), *each.values())
            if with_texts:
                characters += sum(len(part) for part in parts if type(part) is str)
                check_text(characters)
            if room < 0:
                raise _too_large(f"a value has more than {most} values in it")
            below += [part for part in parts if type(part) in _HOLDERS]
        level = below
    return most - room


def as_key(value: Any) -> Any:
    """A value that can be looked for in a map or set, which goes through all of it.

    Raises:
        EngineError: it has too many values in it.
    """
    check_size(value)
    return value


def as_text(value: Any) -> str:
    """A value as text.

    Raises:
        EngineError: it is too large to be written out.
    """
    check_size(value, with_texts=True)
    match value:
        case None:
            return "null"
        case True:
            return "true"
        case False:
            return "false"
    return str(value)


def _too_large(message: str) -> EngineError:
    return EngineError(EngineCode.LIMIT, message, advice="make it smaller")
