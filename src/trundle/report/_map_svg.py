"""The version map as a self-contained SVG picture, legible at the width of a page, in light and dark.

Every version has a row, the oldest on top: its API version on the left, its storage type, if it has one, on the right.
Conversions run right into rails that lead to the hub, storage upgrades into a rail beyond the storage types. Rails of
served versions, of previews and of versions no longer served are kept apart, and arranged so that they do not cross
each other.
"""

from collections.abc import Iterator
from html import escape
from itertools import starmap

import msgspec

from trundle.report._map import MappedVersion, ResourceMap
from trundle.version import ApiVersion

_LEFT = 36
_CARD = 280
_CARD_HEIGHT = 40
_INDENT = 18
_PITCH = 52
_STORE = 132
_STORE_HEIGHT = 46
_HUB = 168
_HUB_HEIGHT = 76
_CARD_END = _LEFT + _CARD
_RAILS = _CARD_END + 40
_RAIL_GAP = 18
_PORT_GAP = 13
_BEND = 12
_TOP = 132

_KINDS = ("ga", "preview", "gone")
_LIGHT = """
  --ink: #172033; --soft: #4d5870; --faint: #6b7488; --page: #fcfcfe; --band: #f1f4f9;
  --ga: #2f6bd8; --ga-fill: #ffffff; --preview: #8159d1; --preview-fill: #faf7ff; --gone: #aab3c2; --gone-fill: #f6f7f9;
  --store: #d99a2b; --store-fill: #fff6e3; --store-lid: #ffe9bd;
  --hub: #b97708; --hub-fill: #ffc85f; --hub-lid: #ffdc94; --hub-ink: #3d2800;
""".strip("\n")
_DARK = """
  --ink: #e8ecf4; --soft: #b4bdcd; --faint: #98a2b5; --page: #0f141d; --band: #181f2b;
  --ga: #6ea2ff; --ga-fill: #16233c; --preview: #b294f0; --preview-fill: #241c38; --gone: #5b6579; --gone-fill: #171d28;
  --store: #c98f2e; --store-fill: #2d2413; --store-lid: #43351a;
  --hub: #ffcf70; --hub-fill: #b97708; --hub-lid: #d18d1c; --hub-ink: #fff6e3;
""".strip("\n")
_STYLE = f"""
svg {{
{_LIGHT}
}}
@media (prefers-color-scheme: dark) {{ svg {{
{_DARK}
}} }}
  text {{ font-family: Inter, "Segoe UI", system-ui, -apple-system, "Helvetica Neue", "DejaVu Sans", sans-serif; fill: var(--ink); }}
  .page {{ fill: var(--page); }}
  .title {{ font-size: 22px; font-weight: 650; }}
  .summary {{ font-size: 14px; fill: var(--soft); }}
  .lane {{ font-size: 12px; font-weight: 600; letter-spacing: 0.8px; fill: var(--faint); }}
  .name {{ font-size: 15px; font-weight: 600; font-variant-numeric: tabular-nums; }}
  .note {{ font-size: 12.5px; text-anchor: end; fill: var(--soft); }}
  .store .name, .hub .name {{ text-anchor: middle; }}
  .hub .note {{ font-weight: 700; letter-spacing: 1.4px; text-anchor: middle; }}
  .hub text {{ fill: var(--hub-ink); }}
  .band {{ fill: var(--band); }}
  .card, .lid {{ stroke-width: 1.6; }}
  .ga .card {{ fill: var(--ga-fill); stroke: var(--ga); }}
  .preview .card {{ fill: var(--preview-fill); stroke: var(--preview); stroke-dasharray: 5 3; }}
  .gone .card {{ fill: var(--gone-fill); stroke: var(--gone); }}
  .gone text {{ fill: var(--faint); }}
  .store .card {{ fill: var(--store-fill); stroke: var(--store); }}
  .store .lid {{ fill: var(--store-lid); stroke: var(--store); }}
  .old {{ opacity: 0.75; }}
  .hub .card {{ fill: var(--hub-fill); stroke: var(--hub); stroke-width: 2; }}
  .hub .lid {{ fill: var(--hub-lid); stroke: var(--hub); stroke-width: 2; }}
  .rail {{ fill: none; stroke-width: 2.2; stroke-linejoin: round; stroke-linecap: round; }}
  .rail.ga {{ stroke: var(--ga); }} .rail.preview {{ stroke: var(--preview); }}
  .rail.gone {{ stroke: var(--gone); stroke-dasharray: 1 5; }} .rail.upgrade {{ stroke: var(--store); }}
  .tip.ga {{ fill: var(--ga); }} .tip.preview {{ fill: var(--preview); }}
  .tip.gone {{ fill: var(--gone); }} .tip.upgrade {{ fill: var(--store); }}
  .dropped {{ filter: grayscale(1); opacity: 0.8; }}
  .legend {{ font-size: 13px; fill: var(--soft); }}
""".strip("\n")


def version_map_svg(drawn: ResourceMap) -> str:
    """The map as the text of an SVG file that needs nothing else."""
    return "\n".join(_Picture(drawn).lines()) + "\n"


class _Spot(msgspec.Struct, frozen=True):
    """A version and the middle of its row."""

    mapped: MappedVersion
    y: float

    @property
    def kind(self) -> str:
        if not self.mapped.served:
            return "gone"
        return "preview" if self.mapped.version.preview else "ga"

    @property
    def left(self) -> float:
        """Where its card begins; those of previews are indented."""
        return _LEFT + (_INDENT if self.mapped.version.preview else 0)


def _spots(versions: tuple[MappedVersion, ...]) -> tuple[_Spot, ...]:
    """Rows from top to bottom; the storage types beside the hub's stand clear of it."""
    found: list[_Spot] = []
    y, below = float(_TOP), 0.0
    for each in versions:
        reach = (_HUB_HEIGHT if each.hub else _STORE_HEIGHT) / 2 if each.stored else 0.0
        first = max(_CARD_HEIGHT / 2, reach)
        y = y + max(_PITCH, below + reach + 10 if below and reach else 0) if found else y + first
        below = reach
        found.append(_Spot(each, y))
    return tuple(found)


class _Picture:
    def __init__(self, drawn: ResourceMap) -> None:
        self.drawn = drawn
        self.spots = _spots(drawn.versions)
        self.hub = next(spot for spot in self.spots if spot.mapped.hub)
        self.spokes = [spot for spot in self.spots if not spot.mapped.hub]
        self.past = [spot for spot in self.spokes if spot.mapped.stored]
        self.kinds = [kind for kind in _KINDS if any(s.kind == kind for s in self.spokes)]
        self.store_left = _RAILS + _RAIL_GAP * max(len(self.kinds) - 1, 0) + 58
        self.store_x = self.store_left + _HUB / 2
        self.upgrade_x = self.store_left + _HUB + 34
        end = self.spots[-1]
        reach = _HUB_HEIGHT / 2 if end.mapped.hub else _CARD_HEIGHT / 2
        self.rows_end = end.y + reach
        self.legend_y = self.rows_end + 50
        text = max(12.6 * len(drawn.resource), 7.2 * len(drawn.summary)) + 2 * _LEFT
        self.width = round(max(self.upgrade_x + 40, text))
        self.height = round(self.legend_y + 24 * ((len(self._legend_items()) + 1) // 2))

    def lines(self) -> Iterator[str]:
        drawn = self.drawn
        label = escape(f"Version map of {drawn.resource}")
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" role="img" aria-labelledby="title desc">'
        )
        yield f'<title id="title">{label}</title>'
        yield f'<desc id="desc">{escape(self._description())}</desc>'
        yield f"<style>\n{_STYLE}\n</style>"
        yield f'<rect class="page" width="{self.width}" height="{self.height}" rx="14"/>'
        yield f"<g{' class=' + chr(34) + 'dropped' + chr(34) if drawn.dropped_in else ''}>"
        yield f'<text class="title" x="{_LEFT}" y="48">{escape(drawn.resource)}</text>'
        yield f'<text class="summary" x="{_LEFT}" y="73">{escape(drawn.summary)}</text>'
        yield from self._lanes()
        yield from self._conversions()
        yield from self._upgrades()
        for spot in self.spots:
            yield from self._card(spot)
        for spot in self.spots:
            if spot.mapped.stored:
                yield from self._store(spot)
        yield from self._legend()
        yield "</g>"
        yield "</svg>"

    def _description(self) -> str:
        versions = ", ".join(
            f"{each.version}{'' if each.served else ' (no longer served)'}"
            for each in self.drawn.versions
        )
        return (
            f"API versions {versions}. Each converts to and from the hub, the storage type of "
            f"{self.drawn.hub}; other storage types are upgraded to it."
        )

    def _lanes(self) -> Iterator[str]:
        lanes = ((_LEFT, _CARD, "API VERSIONS"), (self.store_left, _HUB, "STORAGE TYPES"))
        for x, width, words in lanes:
            yield (
                f'<rect class="band" x="{x - 12:g}" y="94" width="{width + 24:g}" '
                f'height="{self.rows_end - 94 + 14:g}" rx="12"/>'
            )
            yield f'<text class="lane" x="{x:g}" y="116">{words}</text>'

    def _conversions(self) -> Iterator[str]:
        """The rails to the hub. The one nearest to the cards ends nearest to the hub's middle."""
        y = self.hub.y
        yield _path(self.hub.kind, f"M{_CARD_END:g} {y:g}H{self.store_left - 9:g}")
        yield _tip(self.hub.kind, self.store_left - 1, y)
        for side in (-1, 1):
            spokes = [s for s in self.spokes if (s.y - y) * side > 0]
            kinds = [kind for kind in self.kinds if any(s.kind == kind for s in spokes)]
            for number, kind in reversed([*enumerate(kinds)]):
                x = _RAILS + _RAIL_GAP * self.kinds.index(kind)
                end = y + side * _PORT_GAP * (number + 1)
                along = [spot for spot in spokes if spot.kind == kind]
                farthest = max(along, key=lambda spot: abs(spot.y - y))
                for spot in along:
                    yield _path(kind, self._elbow(spot, x, end, side, whole=spot is farthest))
                yield _tip(kind, self.store_left - 1, end)

    def _elbow(self, spot: _Spot, x: float, end: float, side: int, *, whole: bool) -> str:
        """From a card to a rail; the whole way is along it and into the hub."""
        bend = min(_BEND, abs(spot.y - end) / 2)
        turn = -side * bend
        across = f"M{_CARD_END:g} {spot.y:g}H{x - bend:g}q{bend:g} 0 {bend:g} {turn:g}"
        rest = f"V{end - turn:g}q0 {turn:g} {bend:g} {turn:g}H{self.store_left - 9:g}"
        return across + rest if whole else across

    def _upgrades(self) -> Iterator[str]:
        """The rail of the storage upgrades, beyond the storage types."""
        x, right = self.upgrade_x, self.store_left + _HUB
        for side in (-1, 1):
            along = [spot for spot in self.past if (spot.y - self.hub.y) * side > 0]
            for spot in along:
                turn = -side * _BEND
                start = self.store_x + _STORE / 2
                across = f"M{start:g} {spot.y:g}H{x - _BEND:g}q{_BEND} 0 {_BEND} {turn}"
                rest = f"V{self.hub.y - turn:g}q0 {turn} -{_BEND} {turn}H{right + 9:g}"
                whole = spot is max(along, key=lambda each: abs(each.y - self.hub.y))
                yield _path("upgrade", across + rest if whole else across)
        if self.past:
            yield _tip("upgrade", right + 1, self.hub.y, back=9)

    def _card(self, spot: _Spot) -> Iterator[str]:
        version = spot.mapped.version
        name, suffix = _parts(version)
        note = suffix or "GA"
        if spot.kind == "gone":
            note = f"{suffix}, not served" if suffix else "not served"
        elif spot.mapped.deprecated:
            note = f"{note}, deprecated"
        y = spot.y - _CARD_HEIGHT / 2
        yield f'<g class="{spot.kind}"><title>{escape(f"{version}: {note}")}</title>'
        yield (
            f'<rect class="card" x="{spot.left:g}" y="{y:g}" width="{_CARD_END - spot.left:g}" '
            f'height="{_CARD_HEIGHT}" rx="10"/>'
        )
        yield f'<text class="name" x="{spot.left + 14:g}" y="{spot.y + 5:g}">{escape(name)}</text>'
        yield (
            f'<text class="note" x="{_CARD_END - 12:g}" y="{spot.y + 5:g}">{escape(note)}</text></g>'
        )

    def _store(self, spot: _Spot) -> Iterator[str]:
        hub = spot.mapped.hub
        width, height = (_HUB, _HUB_HEIGHT) if hub else (_STORE, _STORE_HEIGHT)
        x, y = self.store_x, spot.y - height / 2
        kind = "hub" if hub else "store" if spot.mapped.served else "store old"
        name = escape(str(spot.mapped.version))
        yield f'<g class="{kind}"><title>storage type {name}</title>'
        yield f'<path class="card" d="{_cylinder(x, y, width, height)}"/>'
        yield f'<ellipse class="lid" cx="{x:g}" cy="{y + 7:g}" rx="{width / 2:g}" ry="7"/>'
        yield f'<text class="name" x="{x:g}" y="{spot.y + (7 if hub else 11):g}">{name}</text>'
        if hub:
            yield f'<text class="note" x="{x:g}" y="{spot.y + 25:g}">HUB</text>'
        yield "</g>"

    def _legend_items(self) -> list[tuple[str, str]]:
        items = [
            ("ga", "GA version, to and from the hub"),
            ("preview", "preview, kept in the same storage"),
            ("gone", "not served, still readable"),
        ]
        kinds = {spot.kind for spot in self.spots}
        shown = [(kind, text) for kind, text in items if kind in kinds]
        if self.past:
            shown.append(("upgrade", "upgrade of what is stored"))
        return shown

    def _legend(self) -> Iterator[str]:
        for place, (kind, text) in enumerate(self._legend_items()):
            x = _LEFT + 290 * (place % 2)
            y = self.legend_y + 24 * (place // 2)
            yield _path(kind, f"M{x} {y - 4:g}h26")
            yield _tip(kind, x + 32, y - 4)
            yield f'<text class="legend" x="{x + 42}" y="{y:g}">{text}</text>'


def _parts(version: ApiVersion) -> tuple[str, str]:
    """A version's name in two parts: the date or the whole name, and the stage of a preview."""
    if not version.preview:
        return str(version), ""
    name = str(version)
    date, stage = name[:10], name[11:]
    return (date, stage) if name[4:5] == "-" else (name, "preview")


def _cylinder(x: float, y: float, width: float, height: float) -> str:
    half = width / 2
    return (
        f"M{x - half:g} {y + 7:g}V{y + height - 7:g}a{half:g} 7 0 0 0 {width:g} 0V{y + 7:g}"
        f"a{half:g} 7 0 0 0 {-width:g} 0z"
    )


def _path(kind: str, data: str) -> str:
    return f'<path class="rail {kind}" d="{data}"/>'


def _tip(kind: str, x: float, y: float, *, back: int = -9) -> str:
    """An arrow's tip at a point; it points to the right where its back lies at the left."""
    points = ((x, y), (x + back, y - 5), (x + back, y + 5))
    return f'<polygon class="tip {kind}" points="{" ".join(starmap("{:g},{:g}".format, points))}"/>'
