"""Tables in Markdown that also read well as plain text."""

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An aligned table; a bar within a cell is escaped."""
    cells = [[each.replace("|", "\\|") for each in row] for row in (header, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    lines = [table_line(row, widths) for row in cells]
    lines.insert(1, table_line(["-" * width for width in widths], widths))
    return "\n".join(lines)


def table_line(row: Sequence[str], widths: Sequence[int]) -> str:
    """A line of a table whose columns have these widths."""
    padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    return f"| {' | '.join(padded)} |"
