"""The version map as a self-contained SVG picture.

Every version has a column. API versions stand in a row with the previews in a row of their own above them;
storage types stand below. Conversions run down into rails that lead to the hub, storage upgrades into a
rail below. Rails of served versions, of previews and of versions no longer served are kept apart, and
arranged so that they do not cross each other.
"""

from collections.abc import Iterator
from html import escape
from itertools import starmap

import msgspec

from trundle.report._map import MappedVersion, ResourceMap
from trundle.version import ApiVersion

_LEFT = 152
_RIGHT = 56
_CARD = 112
_CARD_HEIGHT = 46
_STORE_HEIGHT = 56
_HUB_WIDTH = 136
_HUB_HEIGHT = 72
_PITCH = 134
_NEAREST = 72
_BEND = 12
_RAIL_GAP = 18
_TOP = 132
_LEAST_WIDTH = 860

_KINDS = ("ga", "preview", "gone")
_STYLE = """
  text { font-family: Inter, "Segoe UI", system-ui, -apple-system, "Helvetica Neue", "DejaVu Sans", sans-serif; fill: #172033; }
  .title { font-size: 23px; font-weight: 650; letter-spacing: -0.2px; }
  .summary { font-size: 13.5px; fill: #5d677b; }
  .lane { font-size: 11px; font-weight: 600; letter-spacing: 0.9px; fill: #8a93a5; }
  .name { font-size: 13px; font-weight: 600; text-anchor: middle; font-variant-numeric: tabular-nums; }
  .note { font-size: 10.5px; text-anchor: middle; fill: #6b7488; }
  .hub .name { font-size: 15px; font-weight: 700; }
  .hub .note { font-size: 10.5px; font-weight: 700; letter-spacing: 1.4px; fill: #7a4b00; }
  .band { fill: #f3f5f9; }
  .card { stroke-width: 1.6; }
  .ga .card { fill: #ffffff; stroke: #2f6bd8; }
  .preview .card { fill: #faf7ff; stroke: #8159d1; stroke-dasharray: 5 3; }
  .gone .card { fill: #f6f7f9; stroke: #d3d8e1; }
  .gone text { fill: #9aa3b3; }
  .store .card { fill: #fff6e3; stroke: #d99a2b; }
  .store .lid { fill: #ffe9bd; stroke: #d99a2b; stroke-width: 1.6; }
  .old .card { fill: #fffbf3; stroke: #e6c691; }
  .old .lid { fill: #fff5e1; stroke: #e6c691; }
  .old text { fill: #8f8470; }
  .hub .card { fill: #ffc85f; stroke: #b97708; stroke-width: 2; }
  .hub .lid { fill: #ffdc94; stroke: #b97708; stroke-width: 2; }
  .halo { fill: none; stroke: #ffc85f; stroke-opacity: 0.35; stroke-width: 9; }
  .dropped .hub .card, .dropped .store .card { fill: #eceef2; stroke: #aab2c0; }
  .dropped .hub .lid, .dropped .store .lid { fill: #f6f7f9; stroke: #aab2c0; }
  .dropped text.name, .dropped .old text { fill: #77808f; }
  .dropped .halo { stroke: #c9cfd9; }
  .dropped .hub .note { fill: #6b7488; }
  .dropped .ga .card, .dropped .preview .card { fill: #f6f7f9; stroke: #b5bcc9; }
  .rail { fill: none; stroke-width: 2.2; stroke-linejoin: round; stroke-linecap: round; }
  .rail.ga { stroke: #2f6bd8; } .rail.preview { stroke: #8159d1; } .rail.gone { stroke: #cbd1db; stroke-dasharray: 1 5; }
  .rail.upgrade { stroke: #d99a2b; }
  .tip.ga { fill: #2f6bd8; } .tip.preview { fill: #8159d1; } .tip.gone { fill: #cbd1db; } .tip.upgrade { fill: #d99a2b; }
  .dropped .rail { stroke: #b5bcc9; } .dropped .tip { fill: #b5bcc9; }
  .legend { font-size: 12px; fill: #46506a; }
""".strip("\n")


def version_map_svg(drawn: ResourceMap) -> str:
    """The map as the text of an SVG file that needs nothing else."""
    return "\n".join(_Picture(drawn).lines()) + "\n"


class _Spot(msgspec.Struct, frozen=True):
    """A version and the middle of its column."""

    mapped: MappedVersion
    x: float

    @property
    def kind(self) -> str:
        if not self.mapped.served:
            return "gone"
        return "preview" if self.mapped.version.preview else "ga"


def _spots(versions: tuple[MappedVersion, ...]) -> tuple[_Spot, ...]:
    """Columns from left to right, as narrow as they can be while no row is crowded."""
    rows: dict[str, float] = {}
    found: list[_Spot] = []
    for each in versions:
        kinds = ["preview" if each.version.preview else "ga"]
        kinds += ["storage"] if each.stored else []
        x = max(
            [_LEFT + _CARD / 2 + 8]
            + ([found[-1].x + _NEAREST] if found else [])
            + [rows[kind] + _PITCH for kind in kinds if kind in rows]
        )
        if each.hub and "storage" in rows:
            x = max(x, rows["storage"] + (_HUB_WIDTH + _CARD) / 2 + 30)
        rows.update(dict.fromkeys(kinds, x))
        found.append(_Spot(each, x))
    return tuple(found)


class _Picture:
    def __init__(self, drawn: ResourceMap) -> None:
        self.drawn = drawn
        self.spots = _spots(drawn.versions)
        self.hub = next(spot for spot in self.spots if spot.mapped.hub)
        previews = any(spot.mapped.version.preview for spot in self.spots)
        finals = any(not spot.mapped.version.preview for spot in self.spots)
        self.preview_y = _TOP if previews else None
        self.ga_y = _TOP + (_CARD_HEIGHT + 34 if previews else 0) if finals else None
        cards = self.ga_y if self.ga_y is not None else _TOP
        self.cards_end = cards + _CARD_HEIGHT
        self.kinds = [kind for kind in _KINDS if any(s.kind == kind for s in self._spokes())]
        self.store_y = self.cards_end + 76 + _RAIL_GAP * max(len(self.kinds) - 1, 0)
        self.upgrade_y = self.store_y + _HUB_HEIGHT + 34
        stored = sum(spot.mapped.stored for spot in self.spots)
        self.legend_y = (self.upgrade_y if stored > 1 else self.store_y + _HUB_HEIGHT) + 56
        text = max(12.6 * len(drawn.resource), 7 * len(drawn.summary)) + 2 * 40
        right = max(spot.x for spot in self.spots) + _HUB_WIDTH / 2 + _RIGHT
        self.width = round(max(right, text, _LEAST_WIDTH))
        self.height = self.legend_y + 52

    def _spokes(self) -> list[_Spot]:
        """The versions that reach the hub by a rail, all but the one right above it."""
        return [spot for spot in self.spots if not spot.mapped.hub]

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
        yield f'<rect width="{self.width}" height="{self.height}" rx="14" fill="#fcfcfe"/>'
        yield f"<g{' class=' + chr(34) + 'dropped' + chr(34) if drawn.dropped_in else ''}>"
        yield f'<text class="title" x="40" y="54">{escape(drawn.resource)}</text>'
        yield f'<text class="summary" x="40" y="80">{escape(drawn.summary)}</text>'
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
        lanes = [
            (self.preview_y, _CARD_HEIGHT, ("PREVIEWS",)),
            (self.ga_y, _CARD_HEIGHT, ("API VERSIONS",)),
            (self.store_y, _HUB_HEIGHT, ("STORAGE", "TYPES")),
        ]
        for y, height, words in lanes:
            if y is None:
                continue
            yield (
                f'<rect class="band" x="24" y="{y - 10}" width="{self.width - 48}" '
                f'height="{height + 20}" rx="12"/>'
            )
            start = y + height / 2 + 4 - 7.5 * (len(words) - 1)
            for row, word in enumerate(words):
                yield f'<text class="lane" x="38" y="{start + 15 * row:g}">{word}</text>'

    def _conversions(self) -> Iterator[str]:
        """The rails to the hub. The one nearest to the cards turns down nearest to the hub's middle."""
        x = self.hub.x
        yield _path(self.hub.kind, f"M{x:g} {self._card_end(self.hub)}V{self.store_y - 9}")
        yield _tip(self.hub.kind, x, self.store_y - 1, down=True)
        for side in (-1, 1):
            ends: dict[str, float] = {}
            spokes = [s for s in self._spokes() if (s.x - self.hub.x) * side > 0]
            kinds = [kind for kind in self.kinds if any(s.kind == kind for s in spokes)]
            for number, kind in enumerate(kinds):
                ends[kind] = self.hub.x + side * _RAIL_GAP * (number + 1)
            for kind in reversed(kinds):
                y = self.cards_end + 32 + _RAIL_GAP * self.kinds.index(kind)
                along = [spot for spot in spokes if spot.kind == kind]
                farthest = max(along, key=lambda spot: abs(spot.x - self.hub.x))
                for spot in along:
                    yield _path(kind, self._elbow(spot, y, ends[kind], side, spot is farthest))
                yield _tip(kind, ends[kind], self.store_y - 1, down=True)

    def _card_end(self, spot: _Spot) -> float:
        y = self.preview_y if spot.mapped.version.preview else self.ga_y
        assert y is not None
        return y + _CARD_HEIGHT

    def _elbow(self, spot: _Spot, y: float, end: float, side: int, whole: bool) -> str:  # noqa: FBT001
        """From a card down to a rail; the whole way is along it and down to the hub."""
        bend = min(_BEND, abs(spot.x - end) / 2)
        turn = -side * bend
        down = f"M{spot.x:g} {self._card_end(spot)}V{y - bend:g}q0 {bend:g} {turn:g} {bend:g}"
        rest = f"H{end - turn:g}q{turn:g} 0 {turn:g} {bend:g}V{self.store_y - 9}"
        return down + rest if whole else down

    def _upgrades(self) -> Iterator[str]:
        """The rail of the storage upgrades, below the storage types."""
        past = [spot for spot in self.spots if spot.mapped.stored and not spot.mapped.hub]
        low = self.store_y + _HUB_HEIGHT
        farthest = {
            side: max(along, key=lambda spot: abs(spot.x - self.hub.x))
            for side in (-1, 1)
            if (along := [spot for spot in past if (spot.x - self.hub.x) * side > 0])
        }
        for spot in past:
            side = -1 if spot.x < self.hub.x else 1
            turn = -side * _BEND
            start = self._store_y(spot) + _STORE_HEIGHT
            down = f"M{spot.x:g} {start}V{self.upgrade_y - _BEND}q0 {_BEND} {turn} {_BEND}"
            rest = f"H{self.hub.x - turn:g}q{turn} 0 {turn} -{_BEND}V{low + 9}"
            yield _path("upgrade", down + rest if spot is farthest[side] else down)
        if past:
            yield _tip("upgrade", self.hub.x, low + 1, down=False)

    def _store_y(self, spot: _Spot) -> float:
        return self.store_y if spot.mapped.hub else self.store_y + (_HUB_HEIGHT - _STORE_HEIGHT) / 2

    def _card(self, spot: _Spot) -> Iterator[str]:
        version = spot.mapped.version
        name, suffix = _parts(version)
        note = suffix or "GA"
        if spot.kind == "gone":
            note = f"{suffix}, not served" if suffix else "no longer served"
        elif spot.mapped.deprecated:
            note = f"{note}, deprecated"
        y = self._card_end(spot) - _CARD_HEIGHT
        yield f'<g class="{spot.kind}"><title>{escape(f"{version}: {note}")}</title>'
        yield _box(spot.x, y, _CARD, _CARD_HEIGHT, "card")
        yield f'<text class="name" x="{spot.x:g}" y="{y + 20:g}">{escape(name)}</text>'
        yield f'<text class="note" x="{spot.x:g}" y="{y + 35:g}">{escape(note)}</text></g>'

    def _store(self, spot: _Spot) -> Iterator[str]:
        hub = spot.mapped.hub
        width, height = (_HUB_WIDTH, _HUB_HEIGHT) if hub else (_CARD, _STORE_HEIGHT)
        y = self._store_y(spot)
        name, suffix = _parts(spot.mapped.version)
        kind = "hub" if hub else "store" if spot.mapped.served else "store old"
        title = escape(str(spot.mapped.version))
        yield f'<g class="{kind}"><title>storage type {title}</title>'
        if hub:
            yield f'<path class="halo" d="{_cylinder(spot.x, y, width, height)}"/>'
        yield f'<path class="card" d="{_cylinder(spot.x, y, width, height)}"/>'
        yield f'<ellipse class="lid" cx="{spot.x:g}" cy="{y + 8:g}" rx="{width / 2:g}" ry="8"/>'
        note = "HUB" if hub else suffix
        middle = y + height / 2 + (6 if note else 9)
        yield f'<text class="name" x="{spot.x:g}" y="{middle:g}">{escape(name)}</text>'
        if note:
            yield f'<text class="note" x="{spot.x:g}" y="{middle + 14:g}">{escape(note)}</text>'
        yield "</g>"

    def _legend(self) -> Iterator[str]:
        items = [
            ("ga", "GA version, converts to and from the hub"),
            ("preview", "preview, kept in the same storage"),
            ("gone", "no longer served, still readable"),
        ]
        kinds = {spot.kind for spot in self.spots}
        shown = [(kind, text) for kind, text in items if kind in kinds]
        if any(spot.mapped.stored and not spot.mapped.hub for spot in self.spots):
            shown.append(("upgrade", "upgrade of what earlier versions stored"))
        x, y = 40.0, self.legend_y
        for kind, text in shown:
            yield _path(kind, f"M{x:g} {y - 4}h26")
            yield _tip(kind, x + 32, y - 4, down=None)
            yield f'<text class="legend" x="{x + 42:g}" y="{y}">{text}</text>'
            x += 42 + 6.4 * len(text) + 30


def _parts(version: ApiVersion) -> tuple[str, str]:
    """A version's name in two lines: the date or the whole name, and the stage of a preview."""
    if not version.preview:
        return str(version), ""
    name = str(version)
    date, stage = name[:10], name[11:]
    return (date, stage) if name[4:5] == "-" else (name, "preview")


def _box(x: float, y: float, width: float, height: float, name: str) -> str:
    return (
        f'<rect class="{name}" x="{x - width / 2:g}" y="{y:g}" width="{width:g}" '
        f'height="{height:g}" rx="10"/>'
    )


def _cylinder(x: float, y: float, width: float, height: float) -> str:
    half = width / 2
    return (
        f"M{x - half:g} {y + 8:g}V{y + height - 8:g}a{half:g} 8 0 0 0 {width:g} 0V{y + 8:g}"
        f"a{half:g} 8 0 0 0 {-width:g} 0z"
    )


def _path(kind: str, data: str) -> str:
    return f'<path class="rail {kind}" d="{data}"/>'


def _tip(kind: str, x: float, y: float, *, down: bool | None) -> str:
    """An arrow's tip at a point; None for one that points to the right."""
    if down is None:
        points = ((x, y), (x - 9, y - 5), (x - 9, y + 5))
    else:
        back = -9 if down else 9
        points = ((x, y), (x - 5, y + back), (x + 5, y + back))
    return f'<polygon class="tip {kind}" points="{" ".join(starmap("{:g},{:g}".format, points))}"/>'
