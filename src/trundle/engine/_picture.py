"""The ancestors of a class as a self-contained SVG picture, in light and dark.

Each class stands above all that extend it. A line has the range of the requirement that led along it, where that left the package.
"""

from collections.abc import Iterator, Sequence
from html import escape

from trundle.engine._explain import Explained

_BOX, _HEIGHT, _GAP, _RISE, _EDGE = 250, 54, 40, 66, 36
_CHARACTER = 8.2
_STYLE = """
  svg { --ink: #172033; --soft: #4d5870; --page: #fcfcfe; --line: #2f6bd8; --fill: #ffffff; --root: #ffc85f; --rootink: #3d2800; }
  @media (prefers-color-scheme: dark) { svg { --ink: #e8ecf4; --soft: #b4bdcd; --page: #0f141d; --line: #6ea2ff; --fill: #16233c; } }
  text { font-family: Inter, "Segoe UI", system-ui, sans-serif; fill: var(--ink); text-anchor: middle; }
  .page { fill: var(--page); } .name { font-size: 15px; font-weight: 600; } .note { font-size: 12.5px; fill: var(--soft); }
  .box { fill: var(--fill); stroke: var(--line); stroke-width: 1.6; } .root .box { fill: var(--root); }
  .root text { fill: var(--rootink); } .way { fill: none; stroke: var(--line); stroke-width: 1.8; }
  .tip { fill: var(--line); } .range { font-size: 12px; fill: var(--soft); stroke: var(--page); stroke-width: 4; paint-order: stroke; }
""".strip("\n")


def explanation_svg(explained: Sequence[Explained]) -> str:
    """The ancestors as the text of an SVG file that needs nothing else."""
    return "\n".join(_lines(explained)) + "\n"


def _lines(explained: Sequence[Explained]) -> Iterator[str]:
    root = explained[0]
    rows: dict[int, list[Explained]] = {}
    for each in explained:
        rows.setdefault(each.level, []).append(each)
    widest = max(len(row) for row in rows.values())
    box = max(_BOX, *(int(len(each.name) * _CHARACTER) + 28 for each in explained))
    width = 2 * _EDGE + widest * box + (widest - 1) * _GAP
    height = 2 * _EDGE + len(rows) * _HEIGHT + (len(rows) - 1) * _RISE
    places: dict[str, tuple[float, float]] = {}
    for level, row in rows.items():
        left = (width - len(row) * box - (len(row) - 1) * _GAP) / 2
        y = height - _EDGE - _HEIGHT - level * (_HEIGHT + _RISE)
        for at, each in enumerate(row):
            places[each.label] = (left + at * (box + _GAP) + box / 2, y)
    title = escape(f"Ancestors of {root.name} {root.version}")
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" aria-labelledby="title">'
    )
    yield f'<title id="title">{title}</title>'
    yield f"<style>\n{_STYLE}\n</style>"
    yield f'<rect class="page" width="{width:g}" height="{height:g}" rx="14"/>'
    for each in explained:
        yield from _ways(each, places)
    for each in explained:
        yield from _box(each, places[each.label], box, is_root=each is root)
    yield "</svg>"


def _ways(each: Explained, places: dict[str, tuple[float, float]]) -> Iterator[str]:
    x, top = places[each.label]
    bottom = top + _HEIGHT
    for reason in each.reasons:
        start, y = places[reason.child]
        middle = (y + bottom + 8) / 2
        yield (
            f'<path class="way" d="M{start:g} {y:g}C{start:g} {middle:g} {x:g} {middle:g} '
            f'{x:g} {bottom + 8:g}"/>'
        )
        if reason.requirement:
            label = escape(reason.allowed)
            yield f'<text class="range" x="{(start + x) / 2:g}" y="{middle + 4:g}">{label}</text>'
    if each.reasons:
        yield f'<path class="tip" d="M{x:g} {bottom:g}l-5 9h10z"/>'


def _box(
    each: Explained, place: tuple[float, float], width: float, *, is_root: bool
) -> Iterator[str]:
    x, y = place
    yield f'<g class="{"root" if is_root else "class"}">'
    yield (
        f'<rect class="box" x="{x - width / 2:g}" y="{y:g}" width="{width:g}" '
        f'height="{_HEIGHT}" rx="10"/>'
    )
    yield f'<text class="name" x="{x:g}" y="{y + 23:g}">{escape(each.name)}</text>'
    note = escape(f"{each.package} {each.version}")
    yield f'<text class="note" x="{x:g}" y="{y + 42:g}">{note}</text></g>'
