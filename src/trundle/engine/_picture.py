"""The ancestors of a class as a self-contained SVG picture, in light and dark.

Each class stands above all that extend it. A line has the range of the requirement that led along it, where that left the package.
"""

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from trundle.engine._explain import Explained, Reason
from trundle.engine._layers import Layers, Node, arrange

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


def explanation_svg(explained: Sequence[Explained]) -> str:
    """The ancestors as the text of an SVG file that needs nothing else."""
    return "\n".join(_Picture(explained).lines()) + "\n"


class _Label(NamedTuple):
    """What stands on a line, and where its middle is."""

    text: str
    x: float
    y: float

    @property
    def width(self) -> float:
        return len(self.text) * _LABEL + 10


class _Picture:
    """Draws classes where their layers say."""

    def __init__(self, explained: Sequence[Explained]) -> None:
        self._explained = explained
        self._levels = {each.label: each.level for each in explained}
        self._widths = {each.label: _width(each) for each in explained}
        self._reasons = {
            (reason.child, each.label): reason for each in explained for reason in each.reasons
        }
        self._layers: Layers = arrange(self._levels, self._widths, list(self._reasons), _GAP)
        self._height = 2 * _EDGE + max(self._levels.values()) * (_HEIGHT + _RISE) + _HEIGHT

    def lines(self) -> Iterator[str]:
        """The lines of the file: ways first, so that labels and boxes stand on them."""
        root = self._explained[0]
        width, height = self._layers.width + 2 * _EDGE, self._height
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}" role="img" aria-labelledby="title">'
        )
        yield f'<title id="title">{escape(f"Ancestors of {root.name} {root.version}")}</title>'
        yield f"<style>\n{_STYLE}\n</style>"
        yield f'<rect class="page" width="{width:g}" height="{height:g}" rx="14"/>'
        for way in self._layers.ways.values():
            yield self._way([self._middle(node) for node in way], self._levels[str(way[0])])
        for each in self._explained:
            if each.reasons:
                x, bottom = self._middle(each.label), self._top(each.level) + _HEIGHT
                yield f'<path class="tip" d="M{x:g} {bottom:g}l-5 9h10z"/>'
        for label in self._labels():
            left = label.x - label.width / 2
            yield (
                f'<rect class="chip" x="{left:g}" y="{label.y - 9:g}" width="{label.width:g}" '
                'height="18" rx="9"/>'
            )
            yield f'<text class="range" x="{label.x:g}" y="{label.y + 4:g}">{escape(label.text)}</text>'
        for each in self._explained:
            yield from self._box(each, is_root=each is root)
        yield "</svg>"

    def _middle(self, node: Node) -> float:
        return _EDGE + self._layers.middles[node]

    def _top(self, level: int) -> float:
        return self._height - _EDGE - _HEIGHT - level * (_HEIGHT + _RISE)

    def _way(self, middles: Sequence[float], level: int) -> str:
        """A line from the top of a class to the bottom of another, straight up where it passes a row."""
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
        for (child, parent), reason in self._reasons.items():
            text = _said(reason, next(each for each in self._explained if each.label == parent))
            if text:
                level, way = self._levels[child], self._layers.ways[child, parent]
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

    def _box(self, each: Explained, *, is_root: bool) -> Iterator[str]:
        x, y, width = self._middle(each.label), self._top(each.level), self._widths[each.label]
        yield f'<g class="{"root" if is_root else "class"}">'
        yield (
            f'<rect class="box" x="{x - width / 2:g}" y="{y:g}" width="{width:g}" '
            f'height="{_HEIGHT:g}" rx="10"/>'
        )
        yield f'<text class="name" x="{x:g}" y="{y + 23:g}">{escape(each.name)}</text>'
        yield f'<text class="note" x="{x:g}" y="{y + 42:g}">{escape(_note(each))}</text></g>'


def _note(each: Explained) -> str:
    return f"{each.package} {each.version}"


def _width(each: Explained) -> float:
    return max(_LEAST, len(each.name) * _NAME + 24, len(_note(each)) * _NOTE + 24)


def _said(reason: Reason, parent: Explained) -> str:
    """What a line says: the range, and the version that it chose by itself where that is another; nothing within one package."""
    if not reason.requirement:
        return ""
    alone = f", {reason.alone} by itself" if reason.alone != parent.version else ""
    return f"{reason.allowed}{alone}"
