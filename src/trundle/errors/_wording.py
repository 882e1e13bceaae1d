"""The words of findings: what was expected and found, what was probably meant, how values are shown."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime as dt

_LONGEST = 60
_LARGEST_BITS = 1000
"""How many binary digits a number has that messages show; Python writes none with more than 4,300 digits."""
_LONGEST_NAME = 200


def expectation(expected: str, found: str, advice: str = "") -> str:
    """What was expected, what was found, and what to do.

    Args:
        expected: what should be there; empty where only something is to be known.
        found: what is there instead; or what is to be known.
        advice: what to do; may be empty.
    """
    text = f"expected {expected}, found {found}" if expected else found
    return f"{text}; {advice}" if advice else text


def similar(
    name: str, known: Iterable[str], most: int = 1, *, least: float = 0.6
) -> tuple[str, ...]:
    """At most so many of some names that look like another, the likeliest first; letter case does not count.

    Args:
        name: the other name.
        known: the names.
        most: how many at most.
        least: how alike they are at least, from 0 to 1.
    """
    import difflib  # noqa: PLC0415 - only for people who err

    if len(name) > _LONGEST_NAME:
        return ()
    spelled = {each.casefold(): each for each in sorted(known, reverse=True)}
    found = difflib.get_close_matches(name.casefold(), sorted(spelled), n=most, cutoff=least)
    return tuple(spelled[each] for each in found)


def did_you_mean(name: str, known: Collection[str], otherwise: str = "") -> str:
    """Advice that names what looks like a name, else other advice, else all that there is to choose from."""
    close = similar(name, known)
    if close:
        return meant(close)
    if otherwise:
        return otherwise
    return f"write one of {listed(known)}" if known else "remove it"


def meant(names: Sequence[str], word: str = "or") -> str:
    """The question whether one of some names was meant; empty where there are none.

    Args:
        names: the names, the likeliest first.
        word: what the last of them is joined by: `and` where all of them are meant.
    """
    if not names:
        return ""
    *first, last = names
    return f"did you mean {', '.join(first)} {word} {last}?" if first else f"did you mean {last}?"


def listed(names: Iterable[str], most: int = 12) -> str:
    """Names in alphabetical order, parted by commas; of many, the first, and of long ones the beginning."""
    ordered = [shortened(each, _LONGEST_NAME) for each in sorted(names)]
    more = f", and {len(ordered) - most} more" if len(ordered) > most else ""
    return ", ".join(ordered[:most]) + more


def shown(value: object, longest: int = _LONGEST) -> str:
    """What a value of plain data is, in the words of a message: soon, and in few of them, however large it is."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return repr(shortened(value, longest))
        case list() | tuple() | AbstractSet():
            return "a list"
        case Mapping():
            return "an object"
        case int() if value.bit_length() > _LARGEST_BITS:
            return "a large number"
    return shortened(str(value), longest)


def shortened(text: str, longest: int = _LONGEST) -> str:
    """A text, or the beginning of one that is longer."""
    return text if len(text) <= longest else text[: longest - 3] + "..."


def duration_text(duration: "dt.timedelta") -> str:
    """A duration in words, rounded up to whole seconds."""
    minutes, seconds = divmod(math.ceil(duration.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number) or "0 s"
