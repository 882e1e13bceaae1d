"""How reports fit a terminal: columns share its width, and words break only where nothing else helps."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from textwrap import fill

from trundle.report._table import table_line

_NARROWEST = 8
"""How narrow a column may become; a terminal that is narrower still breaks the lines itself."""
_DATE = len("2014-04-04")
"""How narrow a column becomes where even parts of its words break: dates stay whole."""
_BAR = re.compile(r"(?<!\\)\|")
_WITHIN_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[./_:|>-])(?=[^\W\d])|(?<=[/_|>])(?=\d)")
"""Where a long word breaks best: before a capital letter, and behind punctuation; dates, times and versions stay whole."""
_BULLET = re.compile(r" *(?:- )?")


def folded(text: str, width: int) -> str:
    """A text whose tables fit a width: the cells of the widest columns go over several lines.

    Args:
        text: a text with tables as `table` makes them.
        width: how many columns there are.
    """
    lines: list[str] = []
    for is_table, block in groupby(text.split("\n"), key=lambda line: line.startswith("| ")):
        found = list(block)
        if is_table and max(map(len, found)) > width:
            head, *rows = [[cell.strip() for cell in _BAR.split(line)[1:-1]] for line in found]
            for row in table_lines(head, rows[1:], width):
                lines.extend(row)
        else:
            lines.extend(found)
    return "\n".join(lines)


def table_lines(
    head: Sequence[str], rows: Sequence[Sequence[str]], width: int
) -> Iterator[list[str]]:
    """The lines of a table that fits a width: those of its head, then those of each row."""
    cells = [head, *rows]
    widths = _column_widths(cells, width - 3 * len(head) - 1)
    for place, row in enumerate(cells):
        parts = [wrap_words(cell, each) for cell, each in zip(row, widths, strict=True)]
        lines = [table_line(each, widths) for each in zip_longest(*parts, fillvalue="")]
        if place == 0:
            lines.append(table_line(["-" * each for each in widths], widths))
        yield lines


def wrap_words(text: str, width: int) -> list[str]:
    """The lines of a text, at least one; a word that is too long breaks between its parts."""
    lines = [""]
    for word in text.split():
        begun = f"{lines[-1]} {word}" if lines[-1] else word
        if len(begun) <= width:
            lines[-1] = begun
            continue
        if lines[-1]:
            lines.append("")
        for part in _WITHIN_WORD.split(word):
            if lines[-1] and len(lines[-1]) + len(part) > width:
                lines.append("")
            lines[-1] += part
            while len(lines[-1]) > width:
                lines[-1:] = [lines[-1][:width], lines[-1][width:]]
    return lines


def wrapped(line: str, width: int, *, indent: int = 0) -> str:
    """A line of prose or of a list that fits a width; names and links stay whole.

    Args:
        line: the text, without line ends.
        width: how many columns there are.
        indent: how far all lines but the first stand within the first one's own indentation.
    """
    bullet = _BULLET.match(line)
    first = bullet[0] if bullet else ""
    return fill(
        line.removeprefix(first),
        max(width, len(first) + indent + 20),
        initial_indent=first,
        subsequent_indent=" " * (len(first) + indent),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _column_widths(rows: Sequence[Sequence[str]], spare: int) -> list[int]:
    """How wide each column is: whole cells where they fit, else whole words, else parts of words."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    words = [max(_longest(cell.split()) for cell in column) for column in columns]
    parts = [
        max(_longest(_WITHIN_WORD.split(word)) for cell in column for word in cell.split() or [""])
        for column in columns
    ]
    for least in (words, parts, [_DATE] * len(columns)):
        while sum(widths) > spare:
            shrinking = [at for at, each in enumerate(widths) if each > max(least[at], _NARROWEST)]
            if not shrinking:
                break
            widths[max(shrinking, key=widths.__getitem__)] -= 1
    return widths


def _longest(parts: Sequence[str]) -> int:
    return max(map(len, parts), default=0)
