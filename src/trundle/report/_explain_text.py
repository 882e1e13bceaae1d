"""Explanations as text."""

from typing import Any

import msgspec

from trundle.report._enums import EnumLife, change_text
from trundle.report._explain import Explanation, PropertyLife, Stage, TypeLife, Way
from trundle.report._spelling import count
from trundle.report._table import table
from trundle.report._terminal import wrapped
from trundle.version import ApiVersion


def explanation_text(explanation: Explanation, width: int = 100) -> str:
    """An explanation as text whose prose fits a width; tables are as wide as they are."""
    parts = [
        *(_type_text(each, width) for each in explanation.types),
        *(_enum_text(each, width) for each in explanation.enums),
        *(_property_text(each, width) for each in explanation.properties),
    ]
    return "\n\n".join(parts) + "\n"


def explanation_data(explanation: Explanation) -> dict[str, Any]:
    """An explanation as plain JSON values."""
    plain: dict[str, Any] = msgspec.to_builtins(explanation, enc_hook=_plain)
    return plain


def _plain(value: object) -> str:
    assert isinstance(value, ApiVersion)
    return str(value)


def _type_text(life: TypeLife, width: int) -> str:
    before = f" (before: {', '.join(life.names)})" if life.names else ""
    first, last = life.versions[0], life.versions[-1]
    versions = f"{count(len(life.versions), 'version')}, {first} to {last}"
    place = f"In {', '.join(life.resources)}; {versions}; hub {life.hub}."
    lines = [f"## {life.type}{before}", "", wrapped(place, width), ""]
    rows = [
        (each.name, each.type, each.span, each.home, ", ".join(each.names))
        for each in life.properties
    ]
    lines.append(table(("Property", "Type", "Versions", "In storage", "Before"), rows))
    return "\n".join(lines)


def _enum_text(life: EnumLife, width: int) -> str:
    lines = [f"## {life.name}", ""]
    if life.places:
        lines += [wrapped(f"The values of {', '.join(life.places)}.", width), ""]
    lines.append("Life:")
    for stage in life.stages:
        span = Stage(stage.versions, "", "").span
        lines.append(_item(f"{span}: {', '.join(stage.values)}", width))
        if stage.change is not None:
            lines.extend(f"  {line}" for line in change_text(stage.change))
    return "\n".join(lines)


def _property_text(life: PropertyLife, width: int) -> str:
    place = wrapped(f"In {', '.join(life.resources)}.", width)
    lines = [f"## {life.type}.{life.name}", "", place, "", "Life:"]
    lines.extend(_item(f"{stage.span}: {_what(stage)}", width) for stage in life.stages)
    if life.bridges:
        lines += ["", "Between neighbours:", *(_item(each, width) for each in life.bridges)]
    lines += ["", wrapped(f"Storage keeps it {life.home}.", width)]
    if life.stale:
        lines.append(wrapped(f"That entry is out of date {life.stale}.", width))
    lines += ["", "Conversion:", *(line for way in life.ways for line in _way_lines(way, width))]
    return "\n".join(lines)


def _what(stage: Stage) -> str:
    return f"{stage.name}: {stage.type}" if stage.type else "absent"


def _way_lines(way: Way, width: int) -> list[str]:
    lines = [_item(f"{way.span}:", width)]
    for title, steps in (("to the hub", way.to_hub), ("back", way.from_hub)):
        if len(steps) == 1:
            lines.append(wrapped(f"  {title}: {steps[0]}", width, indent=2))
        else:
            lines.append(f"  {title}:{'' if steps else ' nothing'}")
            lines.extend(wrapped(f"  - {step}", width) for step in steps)
    return lines


def _item(text: str, width: int) -> str:
    return wrapped(f"- {text}", width)
