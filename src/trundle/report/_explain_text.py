"""Explanations as text."""

from textwrap import fill
from typing import Any

import msgspec

from trundle.report._enums import EnumLife, change_text
from trundle.report._explain import Explanation, PropertyLife, Stage, TypeLife, Way
from trundle.report._spelling import count
from trundle.report._table import table
from trundle.version import ApiVersion

_WIDTH = 100


def explanation_text(explanation: Explanation) -> str:
    """An explanation as text of at most a hundred columns, its tables apart."""
    parts = [
        *map(_type_text, explanation.types),
        *map(_enum_text, explanation.enums),
        *map(_property_text, explanation.properties),
    ]
    return "\n\n".join(parts) + "\n"


def explanation_data(explanation: Explanation) -> dict[str, Any]:
    """An explanation as plain JSON values."""
    plain: dict[str, Any] = msgspec.to_builtins(explanation, enc_hook=_plain)
    return plain


def _plain(value: object) -> str:
    assert isinstance(value, ApiVersion)
    return str(value)


def _type_text(life: TypeLife) -> str:
    before = f" (before: {', '.join(life.names)})" if life.names else ""
    first, last = life.versions[0], life.versions[-1]
    versions = f"{count(len(life.versions), 'version')}, {first} to {last}"
    place = f"In {', '.join(life.resources)}; {versions}; hub {life.hub}."
    lines = [f"## {life.type}{before}", "", place, ""]
    rows = [
        (each.name, each.type, each.span, each.home, ", ".join(each.names))
        for each in life.properties
    ]
    lines.append(table(("Property", "Type", "Versions", "In storage", "Before"), rows))
    return "\n".join(lines)


def _enum_text(life: EnumLife) -> str:
    lines = [f"## {life.name}", ""]
    if life.places:
        lines += [fill(f"The values of {', '.join(life.places)}.", _WIDTH), ""]
    lines.append("Life:")
    for stage in life.stages:
        span = Stage(stage.versions, "", "").span
        lines.append(_item(f"{span}: {', '.join(stage.values)}"))
        if stage.change is not None:
            lines.extend(f"  {line}" for line in change_text(stage.change))
    return "\n".join(lines)


def _property_text(life: PropertyLife) -> str:
    lines = [f"## {life.type}.{life.name}", "", f"In {', '.join(life.resources)}.", "", "Life:"]
    lines.extend(_item(f"{stage.span}: {_what(stage)}") for stage in life.stages)
    if life.bridges:
        lines += ["", "Between neighbours:", *map(_item, life.bridges)]
    lines += ["", fill(f"Storage keeps it {life.home}.", _WIDTH)]
    if life.stale:
        lines.append(fill(f"That entry is out of date {life.stale}.", _WIDTH))
    lines += ["", "Conversion:", *(line for way in life.ways for line in _way_lines(way))]
    return "\n".join(lines)


def _what(stage: Stage) -> str:
    return f"{stage.name}: {stage.type}" if stage.type else "absent"


def _way_lines(way: Way) -> list[str]:
    lines = [_item(f"{way.span}:")]
    for title, steps in (("to the hub", way.to_hub), ("back", way.from_hub)):
        if len(steps) == 1:
            lines.append(_indented(f"{title}: {steps[0]}", "  ", "    "))
        else:
            lines.append(f"  {title}:{'' if steps else ' nothing'}")
            lines.extend(_indented(step, "  - ", "    ") for step in steps)
    return lines


def _indented(text: str, first: str, rest: str) -> str:
    return fill(text, _WIDTH, initial_indent=first, subsequent_indent=rest)


def _item(text: str) -> str:
    return fill(text, _WIDTH, initial_indent="- ", subsequent_indent="  ")
