"""The version map of one resource type: its API versions, its storage types and the hub they lead to."""

from collections.abc import Iterator
from typing import Any

import msgspec

from trundle.evolution import Evolution, ResourceLineage
from trundle.report._errors import ReportError
from trundle.report._spelling import count
from trundle.report._terminal import wrapped
from trundle.report._walk import known_version
from trundle.version import ApiVersion


class MappedVersion(msgspec.Struct, frozen=True):
    """A version in a version map.

    Attributes:
        version: which one.
        served: whether clients are meant to use it: the horizon still serves it, and so does its schema.
        stored: whether objects are or were stored in its shape.
        hub: whether its storage type is the hub.
        deprecated: the warning for clients that use it; empty where it is not deprecated.
    """

    version: ApiVersion
    served: bool
    stored: bool
    hub: bool
    deprecated: str = ""


class ResourceMap(msgspec.Struct, frozen=True):
    """The version map of a resource type.

    Attributes:
        resource: its name.
        versions: in ascending order.
        hub: the version whose storage type is the hub.
        horizon: how many GA versions are served; None for all.
        dropped_in: the first version without the resource type, where later versions drop it.
    """

    resource: str
    versions: tuple[MappedVersion, ...]
    hub: ApiVersion
    horizon: int | None
    dropped_in: ApiVersion | None

    @property
    def summary(self) -> str:
        """The map in a line."""
        parts = [count(len(self.versions), "version"), f"hub {self.hub}"]
        if self.horizon is not None:
            served = sum(each.served for each in self.versions)
            newest = (
                "GA version and its"
                if self.horizon == 1
                else f"{self.horizon} GA versions and their"
            )
            parts.append(f"{served} served (the newest {newest} previews)")
        if self.dropped_in is not None:
            parts.append(f"dropped in {self.dropped_in}")
        return " · ".join(parts)


def version_map(evolution: Evolution, resource: str, horizon: int | None = None) -> ResourceMap:
    """The version map of a resource type.

    Args:
        evolution: where to look.
        resource: the resource type's name, without regard to letter case; what follows its last slash
            or dot will do where that names only one.
        horizon: how many of the newest GA versions are served; all without.

    Raises:
        ReportError: there is no such resource type.
    """
    found = find_resource(evolution, resource)
    versions = found.versions
    served = found.served(horizon)
    mapped = tuple(
        MappedVersion(
            version,
            version in served,
            version in versions.storage,
            version == versions.hub,
            found.resources[version].deprecated,
        )
        for version in versions.versions
    )
    return ResourceMap(found.name, mapped, versions.hub, horizon, _dropped_in(evolution, found))


def as_released(evolution: Evolution, version: ApiVersion) -> Evolution:
    """An evolution as the release of a version had it: without what came later.

    Raises:
        ReportError: no schema has the version.
    """
    return evolution.as_of(known_version(evolution, version))


def find_resource(evolution: Evolution, name: str) -> ResourceLineage:
    """The resource type of a name, or of the last part of one.

    Raises:
        ReportError: there is no such resource type.
    """
    wanted = name.casefold()
    for each in evolution.resources:
        if each.name.casefold() == wanted:
            return each
    ends = [each for each in evolution.resources if _last_part(each.name) == wanted]
    if len(ends) == 1:
        return ends[0]
    known = {each.name for each in ends} or {each.name for each in evolution.resources}
    ends_of_one = set() if ends else {each.rpartition("/")[2] for each in known}
    raise ReportError("resource", name, known | ends_of_one)


def _last_part(name: str) -> str:
    return name.casefold().replace(".", "/").rpartition("/")[2]


def _dropped_in(evolution: Evolution, resource: ResourceLineage) -> ApiVersion | None:
    """The first version without a resource type that its family goes on in; previews do not count."""
    newest = resource.versions.versions[-1]
    family = _family(resource)
    later = (
        version
        for each in evolution.resources
        if _family(each) == family
        for version in each.resources
        if version > newest and not version.preview
    )
    return min(later, default=None)


def _family(resource: ResourceLineage) -> tuple[str, str]:
    newest = resource.resources[resource.versions.versions[-1]]
    return newest.group, resource.name.casefold().partition("/")[0] if "/" in resource.name else ""


def version_map_text(drawn: ResourceMap, columns: int | None = None) -> str:
    """The map as text: API versions on the left, storage types on the right, rails to the hub.

    Args:
        drawn: the map.
        columns: how wide lines of prose may be; None for as wide as they are.
    """
    width = max(len(str(each.version)) for each in drawn.versions)
    hub = next(row for row, each in enumerate(drawn.versions) if each.hub)
    stored = [row for row, each in enumerate(drawn.versions) if each.stored]
    summary = drawn.summary if columns is None else wrapped(drawn.summary, columns)
    lines = [drawn.resource, summary, ""]
    lines.append(f"  {'API versions'.ljust(width + 16)}storage types")
    for row, each in enumerate(drawn.versions):
        line = "─────" if each.served else "╌╌╌╌╌"
        left = f"{_mark(each)} {str(each.version).ljust(width)} {line}{_joint(row, hub, len(drawn.versions))}"
        note = "   deprecated" if each.deprecated else ""
        lines.append((left + _storage_part(each, row, stored, width)).rstrip() + note)
    lines += ["", _text_legend(drawn)]
    return "\n".join(lines) + "\n"


def _mark(each: MappedVersion) -> str:
    if each.hub:
        return "◆"
    if not each.served:
        return "·"
    return "○" if each.version.preview else "●"


def _joint(row: int, hub: int, rows: int) -> str:
    """Where a row meets the rail to the hub."""
    if row == hub:
        above, below = row > 0, row < rows - 1
        return {(0, 0): "─", (1, 0): "┴", (0, 1): "┬", (1, 1): "┼"}[above, below] + "─────▶"
    if row == 0:
        return "╮"
    return "╯" if row == rows - 1 else "┤"


def _storage_part(each: MappedVersion, row: int, stored: list[int], width: int) -> str:
    """A storage type, and where it meets the rail of the storage upgrades."""
    first, last = stored[0], stored[-1]
    joint = "╮" if row == first else "╯" if row == last else "┤"
    if each.hub:
        text = f"  {str(each.version).ljust(width)} hub"
        return text + (f" ◀─{joint}" if first < last else "")
    if each.stored:
        return f"        {str(each.version).ljust(width)} ──────{joint}"
    return f"        {' ' * width}       │" if first < row < last else ""


def _text_legend(drawn: ResourceMap) -> str:
    marks = {
        "◆": "hub",
        "●": "GA",
        "○": "preview",
        "·": "no longer served",
    }
    used = {_mark(each) for each in drawn.versions}
    return "   ".join(f"{mark} {text}" for mark, text in marks.items() if mark in used)


def version_map_mermaid(drawn: ResourceMap) -> str:
    """The map as a Mermaid flow chart."""
    return "\n".join(_mermaid_lines(drawn)) + "\n"


def _mermaid_lines(drawn: ResourceMap) -> Iterator[str]:
    yield "flowchart LR"
    yield f'  subgraph api["{_mermaid_text(drawn.resource)}: API versions"]'
    for each in drawn.versions:
        yield f'    api_{each.version.identifier}["{each.version}"]:::{_mermaid_class(each)}'
    yield "  end"
    yield '  subgraph storage["Storage types"]'
    for each in drawn.versions:
        if each.stored:
            kind, note = ("hub", "<br/>hub") if each.hub else ("stored", "")
            yield f'    storage_{each.version.identifier}[("{each.version}{note}")]:::{kind}'
    yield "  end"
    hub = f"storage_{drawn.hub.identifier}"
    for each in drawn.versions:
        yield f"  api_{each.version.identifier} {'<-->' if each.served else '<-.->'} {hub}"
    for each in drawn.versions:
        if each.stored and not each.hub:
            yield f"  storage_{each.version.identifier} ==>|upgrade| {hub}"
    yield "  classDef ga fill:#ffffff,stroke:#2f6bd8,color:#172033"
    yield "  classDef preview fill:#f8f5ff,stroke:#7d55cf,color:#172033"
    yield "  classDef gone fill:#f2f3f6,stroke:#ccd2dd,color:#8a93a5"
    yield "  classDef stored fill:#fff7e8,stroke:#d99a2b,color:#172033"
    yield "  classDef hub fill:#ffc65c,stroke:#b97708,color:#172033,font-weight:bold"


def _mermaid_class(each: MappedVersion) -> str:
    if not each.served:
        return "gone"
    return "preview" if each.version.preview else "ga"


def _mermaid_text(text: str) -> str:
    return (
        text.replace("#", "#35;").replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;")
    )


def version_map_data(drawn: ResourceMap) -> dict[str, Any]:
    """The map as plain JSON values."""
    return {
        "resource": drawn.resource,
        "hub": str(drawn.hub),
        "horizon": drawn.horizon,
        "droppedIn": None if drawn.dropped_in is None else str(drawn.dropped_in),
        "versions": [
            {
                "version": str(each.version),
                "preview": each.version.preview,
                "served": each.served,
                "stored": each.stored,
                "hub": each.hub,
                "deprecated": each.deprecated or None,
            }
            for each in drawn.versions
        ],
    }
