"""Places things that stand above one another: in rows, with lines that pass between things and never behind them.

A line over several rows gets a slot of its own in each row that it crosses; lines to one thing share their slots. Rows are put into an order in
which few lines cross, and each thing near the middle of what it is joined to.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

Node: TypeAlias = str | tuple[str, int]
"""A thing, or the slot of the lines to a thing in a row."""

_SLOT = 12.0
_SWEEPS = 12


class Layers(NamedTuple):
    """Where things are.

    Attributes:
        middles: the middle of each thing and slot, from the left.
        ways: for each line, the things and slots that it passes, from the lower end to the upper one.
        width: how wide all rows are.
    """

    middles: Mapping[Node, float]
    ways: Mapping[tuple[str, str], tuple[Node, ...]]
    width: float


def arrange(
    levels: Mapping[str, int],
    widths: Mapping[str, float],
    lines: Sequence[tuple[str, str]],
    gap: float,
) -> Layers:
    """Arranges things.

    Args:
        levels: the row of each thing, 0 the lowest.
        widths: how wide each thing is.
        lines: pairs of a thing and one that stands higher.
        gap: how far things in a row are apart at least.
    """
    ways = {(low, high): _way(levels, low, high) for low, high in lines}
    rows: list[list[Node]] = [[] for _ in range(max(levels.values()) + 1)]
    for name, level in levels.items():
        rows[level].append(name)
    below: dict[Node, list[Node]] = {}
    above: dict[Node, list[Node]] = {}
    for way in ways.values():
        for level, (low, high) in enumerate(pairwise(way), levels[str(way[0])]):
            if high not in rows[level + 1]:
                rows[level + 1].append(high)
            if high not in above.setdefault(low, []):
                above[low].append(high)
                below.setdefault(high, []).append(low)
    room = {
        node: widths.get(node, _SLOT) if isinstance(node, str) else _SLOT
        for row in rows
        for node in row
    }
    middles = _in_a_row(rows, room, gap)
    for sweep in range(_SWEEPS):
        upwards = sweep % 2 == 0
        for row in rows if upwards else reversed(rows):
            near = below if upwards else above
            row.sort(key=lambda node: _mean(middles, near.get(node, ()), middles[node]))
            middles.update(_placed(row, room, gap, middles))
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 else reversed(rows):
            wanted = {
                node: _mean(middles, [*below.get(node, ()), *above.get(node, ())], middles[node])
                for node in row
            }
            middles.update(_placed(row, room, gap, wanted))
    left = min(middles[node] - room[node] / 2 for node in middles)
    right = max(middles[node] + room[node] / 2 for node in middles)
    return Layers({node: at - left for node, at in middles.items()}, ways, right - left)


def _way(levels: Mapping[str, int], low: str, high: str) -> tuple[Node, ...]:
    """What a line passes: a slot in each row between its ends."""
    slots: list[Node] = [(high, at) for at in range(levels[low] + 1, levels[high])]
    return (low, *slots, high)


def _in_a_row(
    rows: Sequence[Sequence[Node]], room: Mapping[Node, float], gap: float
) -> dict[Node, float]:
    """All rows from left to right, around one middle."""
    middles: dict[Node, float] = {}
    for row in rows:
        at = -(sum(room[node] for node in row) + gap * (len(row) - 1)) / 2
        for node in row:
            middles[node] = at + room[node] / 2
            at += room[node] + gap
    return middles


def _mean(middles: Mapping[Node, float], nodes: Sequence[Node], otherwise: float) -> float:
    return sum(middles[node] for node in nodes) / len(nodes) if nodes else otherwise


def _placed(
    row: Sequence[Node], room: Mapping[Node, float], gap: float, wanted: Mapping[Node, float]
) -> dict[Node, float]:
    """A row in its order, as near to the wanted places as things can be without touching.

    Things that want to be too near are put beside one another, around the mean of what they want.
    """
    offset, offsets = 0.0, []
    for at, node in enumerate(row):
        offset += (room[row[at - 1]] + room[node]) / 2 + gap if at else 0.0
        offsets.append(offset)
    blocks: list[
        tuple[float, int]
    ] = []  # The mean of what a block wants, and how many things it has
    for node, shift in zip(row, offsets, strict=True):
        mean, count = wanted[node] - shift, 1
        while blocks and blocks[-1][0] > mean:
            other, more = blocks.pop()
            mean = (mean * count + other * more) / (count + more)
            count += more
        blocks.append((mean, count))
    means = [mean for mean, count in blocks for _ in range(count)]
    return {node: mean + shift for node, mean, shift in zip(row, means, offsets, strict=True)}
