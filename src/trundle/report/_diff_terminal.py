"""A comparison on a terminal: as wide as that is, with a meaning for each line that a colour can show.

What did not change is folded: a table has a row for each change, and long lists of names end in their number.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from trundle.report._diff import (
    Comparison,
    TypeComparison,
    change_head,
    change_row,
    enum_title,
    nothing_to_show,
    other_types,
    shown_types,
    summary,
    type_title,
)
from trundle.report._enums import change_text
from trundle.report._matched_properties import ChangeKind
from trundle.report._terminal import table_lines, wrapped

Meaning: TypeAlias = Literal["title", "added", "removed", "changed", "unchanged", "text"]

_NAMES = 10
"""How many names of other types are shown."""
_MEANINGS: dict[ChangeKind, Meaning] = {
    "None": "unchanged",
    "New Property": "added",
    "Property Removed": "removed",
}
_PREFIXES: dict[str, Meaning] = {
    "- added": "added",
    "- removed": "removed",
    "Added types": "added",
    "Removed types": "removed",
    "Unchanged types": "unchanged",
}


class DiffLine(NamedTuple):
    """A line, and what it means."""

    text: str
    meaning: Meaning = "text"


def comparison_lines(
    comparison: Comparison, width: int, *, every: bool = False
) -> Iterator[DiffLine]:
    """The lines of a comparison.

    Args:
        comparison: what to show.
        width: how many columns there are.
        every: show unchanged properties and all names, too.
    """
    lines: list[DiffLine] = []
    for each in shown_types(comparison):
        lines += [*_type_lines(each, comparison, width, every=every), DiffLine("")]
    for enum in comparison.enums:
        lines += [*_prose(enum_title(enum), width, "title"), DiffLine("")]
        for text in change_text(enum):
            lines += _prose(text, width, _PREFIXES.get(text.partition(":")[0], "changed"))
        lines.append(DiffLine(""))
    for title, names in other_types(comparison).items():
        lines += [*_prose(_names(title, names, every=every), width, _PREFIXES[title]), DiffLine("")]
    if not lines:
        lines = [DiffLine(nothing_to_show(comparison)), DiffLine("")]
    yield from lines[:-1]


def _type_lines(
    compared: TypeComparison, comparison: Comparison, width: int, *, every: bool
) -> Iterator[DiffLine]:
    yield from _prose(type_title(compared), width, "title")
    yield DiffLine("")
    if not compared.properties:
        yield DiffLine("No properties.")
        return
    shown = [each for each in compared.properties if every or each.change != "None"]
    if shown:
        head = change_head(comparison.older, comparison.newer)
        rows = [change_row(each) for each in shown]
        meanings: list[Meaning] = [_MEANINGS.get(each.change, "changed") for each in shown]
        found = zip(["text", *meanings], table_lines(head, rows, width), strict=True)
        yield from (DiffLine(text, meaning) for meaning, lines in found for text in lines)
        yield DiffLine("")
    rest = "" if len(shown) == len(compared.properties) else " `--all` shows unchanged ones, too."
    yield from _prose(f"{summary(compared)}{rest}", width)


def _names(title: str, names: tuple[str, ...], *, every: bool) -> str:
    if every or len(names) <= _NAMES:
        return f"{title}: {', '.join(names)}"
    return f"{title}: {', '.join(names[:_NAMES])} and {len(names) - _NAMES} more"


def _prose(text: str, width: int, meaning: Meaning = "text") -> Iterator[DiffLine]:
    return (DiffLine(line, meaning) for line in wrapped(text, width, indent=2).split("\n"))
