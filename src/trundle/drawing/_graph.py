"""Boxes in rows, joined by lines that go up, as SVG."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from trundle.drawing._layers import Layers, Node, arrange

_HEIGHT, _GAP, _RISE, _EDGE, _LEAST = 54.0, 48.0, 78.0, 32.0, 150.0
_NAME, _NOTE, _LABEL = 9.5, 7.4, 7.0
"""How wide a character is at most, in a name, a note and a label."""

_STYLE = """
  svg { --ink: #172033; --soft: #4d5870; --page: #fcfcfe; --line: #2f6bd8; --fill: #ffffff; --root: #ffc85f; --rootink: #3d2800; }
  @media (prefers-color-scheme: dark) { svg { --ink: #e8ecf4; --soft: #b4bdcd; --page: #0f141d; --line: #6ea2ff; --fill: #16233c; } }
  text { font-family: Inter, "Segoe UI", system-ui, sans-serif; fill: var(--ink); text-anchor: middle; }
  .page { fill: var(--page); } .name { font-size: 15px; font-weight: 600; } .note { font-size: 12.5px; fill: var(--soft); }
  .box { fill: var(--fill); stroke: var(--line); stroke-width: 1.6; } .root .box { fill: var(--root); }
  .root text { fill: var(--rootink); } .way { fill: none; stroke: var(--line); stroke-width: 1.8; }
  .tip { fill: var(--line); } .range { font-size: 12px; fill: var(--soft); } .chip { fill: var(--page); }
""".strip("\n")


class Box(NamedTuple):
    """A thing.

    Attributes:
        key: what lines call it.
        name: its name.
        note: what else is to be known of it.
        level: its row, 0 the lowest.
        link: where it leads to in a page; empty for nowhere.
    """

    key: str
    name: str
    note: str
    level: int
    link: str = ""


class Line(NamedTuple):
    """A line from a box up to another one in a higher row.

    Attributes:
        low: the key of the lower box.
        high: the key of the higher one.
        text: what stands on it; may be empty.
    """

    low: str
    high: str
    text: str = ""


class Graph(NamedTuple):
    """What is drawn.

    Attributes:
        title: what the picture shows, for those who do not see it.
        boxes: the things; the first is the one that the picture is about.
        lines: what joins them.
    """

    title: str
    boxes: Sequence[Box]
    lines: Sequence[Line]


def graph_file(graph: Graph) -> str:
    """A graph as the text of an SVG file that needs nothing else, in light and dark."""
    picture = _Picture(graph)
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {picture.size} role="img" aria-labelledby="title">',
            f'<title id="title">{escape(graph.title)}</title>',
            f"<style>\n{_STYLE}\n</style>",
            f'<rect class="page" width="{picture.width:g}" height="{picture.height:g}" rx="14"/>',
            *picture.lines(),
            "</svg>\n",
        )
    )


def graph_element(graph: Graph) -> str:
    """A graph as an element for a page whose style sheet has its colours; boxes are links where they lead somewhere."""
    picture = _Picture(graph)
    return "\n".join(
        (
            f'<svg class="graph" {picture.size} role="group" aria-label="{escape(graph.title)}">',
            *picture.lines(),
            "</svg>",
        )
    )


class _Label(NamedTuple):
    """What stands on a line, and where its middle is."""

    text: str
    x: float
    y: float

    @property
    def width(self) -> float:
        return len(self.text) * _LABEL + 10


class _Picture:
    """Draws boxes where their layers say."""

    def __init__(self, graph: Graph) -> None:
        self._boxes = graph.boxes
        self._levels = {each.key: each.level for each in graph.boxes}
        self._widths = {each.key: _width(each) for each in graph.boxes}
        self._texts = {(each.low, each.high): each.text for each in graph.lines}
        self._layers: Layers = arrange(self._levels, self._widths, list(self._texts), _GAP)
        self.width = self._layers.width + 2 * _EDGE
        self.height = 2 * _EDGE + max(self._levels.values()) * (_HEIGHT + _RISE) + _HEIGHT

    @property
    def size(self) -> str:
        """The size as attributes."""
        width, height = f"{self.width:g}", f"{self.height:g}"
        return f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'

    def lines(self) -> Iterator[str]:
        """The parts of the picture: ways first, so that labels and boxes stand on them."""
        for way in self._layers.ways.values():
            yield self._way([self._middle(node) for node in way], self._levels[str(way[0])])
        reached = {high for _, high in self._texts}
        for each in self._boxes:
            if each.key in reached:
                x, bottom = self._middle(each.key), self._top(each.level) + _HEIGHT
                yield f'<path class="tip" d="M{x:g} {bottom:g}l-5 9h10z"/>'
        for label in self._labels():
            left = label.x - label.width / 2
            yield (
                f'<rect class="chip" x="{left:g}" y="{label.y - 9:g}" width="{label.width:g}" '
                'height="18" rx="9"/>'
            )
            yield f'<text class="range" x="{label.x:g}" y="{label.y + 4:g}">{escape(label.text)}</text>'
        for each in self._boxes:
            yield from self._box(each, is_root=each is self._boxes[0])

    def _middle(self, node: Node) -> float:
        return _EDGE + self._layers.middles[node]

    def _top(self, level: int) -> float:
        return self.height - _EDGE - _HEIGHT - level * (_HEIGHT + _RISE)

    def _way(self, middles: Sequence[float], level: int) -> str:
        """A line from the top of a box to the bottom of another, straight up where it passes a row."""
        parts = [f"M{middles[0]:g} {self._top(level):g}"]
        for at, x in enumerate(middles[1:], 1):
            is_last = at == len(middles) - 1
            start = self._top(level + at - 1)
            end = self._top(level + at) + _HEIGHT + (8 if is_last else 0)
            bend = (start + end) / 2
            parts.append(f"C{middles[at - 1]:g} {bend:g} {x:g} {bend:g} {x:g} {end:g}")
            if not is_last:
                parts.append(f"V{self._top(level + at):g}")
        return f'<path class="way" d="{"".join(parts)}"/>'

    def _labels(self) -> Iterator[_Label]:
        """What stands on the first piece of each line; labels beside one another do not touch."""
        found: dict[int, list[_Label]] = {}
        for (low, high), text in self._texts.items():
            if text:
                level, way = self._levels[low], self._layers.ways[low, high]
                x = (self._middle(way[0]) + self._middle(way[1])) / 2
                y = self._top(level) - _RISE / 2 + 4
                found.setdefault(level, []).append(_Label(text, x, y))
        for labels in found.values():
            last: dict[int, float] = {}
            for label in sorted(labels, key=lambda each: (each.x, each.text)):
                free = [
                    step for step in (0, -1, 1) if last.get(step, -1.0) < label.x - label.width / 2
                ]
                step = free[0] if free else min(last, key=lambda each: last[each])
                last[step] = label.x + label.width / 2
                yield label._replace(y=label.y + step * 19)

    def _box(self, each: Box, *, is_root: bool) -> Iterator[str]:
        x, y, width = self._middle(each.key), self._top(each.level), self._widths[each.key]
        if each.link:
            yield f'<a href="{escape(each.link)}">'
        yield f'<g class="{"root" if is_root else "thing"}">'
        yield (
            f'<rect class="box" x="{x - width / 2:g}" y="{y:g}" width="{width:g}" '
            f'height="{_HEIGHT:g}" rx="10"/>'
        )
        yield f'<text class="name" x="{x:g}" y="{y + 23:g}">{escape(each.name)}</text>'
        yield f'<text class="note" x="{x:g}" y="{y + 42:g}">{escape(each.note)}</text></g>'
        if each.link:
            yield "</a>"


def _width(each: Box) -> float:
    return max(_LEAST, len(each.name) * _NAME + 24, len(each.note) * _NOTE + 24)
