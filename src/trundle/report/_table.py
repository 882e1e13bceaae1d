"""Tables in Markdown that also read well as plain text, and folded where a terminal is narrower."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from textwrap import wrap

_NARROWEST = 8
"""How narrow a column may become; a terminal that is narrower still breaks the lines itself."""
_BAR = re.compile(r"(?<!\\)\|")


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An aligned table; a bar within a cell is escaped."""
    cells = [[each.replace("|", "\\|") for each in row] for row in (header, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    lines = [_line(row, widths) for row in cells]
    lines.insert(1, _line(["-" * width for width in widths], widths))
    return "\n".join(lines)


def folded(text: str, width: int) -> str:
    """A text whose tables fit a width: the cells of the widest columns go over several lines.

    Args:
        text: a text with tables as `table` makes them.
        width: how many columns there are.
    """
    lines: list[str] = []
    for is_table, block in groupby(text.split("\n"), key=lambda line: line.startswith("| ")):
        found = list(block)
        too_wide = is_table and max(map(len, found)) > width
        lines.extend(_fold(found, width) if too_wide else found)
    return "\n".join(lines)


def _fold(lines: list[str], width: int) -> Iterator[str]:
    rows = [[cell.strip() for cell in _BAR.split(line)[1:-1]] for line in lines]
    content = [row for place, row in enumerate(rows) if place != 1]
    widths = [max(map(len, column)) for column in zip(*content, strict=True)]
    spare = width - 3 * len(widths) - 1
    while sum(widths) > spare and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    for place, row in enumerate(content):
        yield from _folded_row(row, widths)
        if place == 0:
            yield _line(["-" * each for each in widths], widths)


def _folded_row(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    parts = [wrap(cell, each) or [""] for cell, each in zip(row, widths, strict=True)]
    for cells in zip_longest(*parts, fillvalue=""):
        yield _line(cells, widths)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    return f"| {' | '.join(padded)} |"
