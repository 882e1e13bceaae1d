"""Why a class has the ancestors that it has: which requirement led to each, and chose its version."""

from typing import Any

import msgspec

from trundle.engine._type import Type
from trundle.version import SemVer


class Reason(msgspec.Struct, frozen=True):
    """A parent's place below a child.

    Attributes:
        child: the class that extends it, as `a.B/1.0.0@app`.
        requirement: the requirement of that class's package, as `app/1.0.0 requires lib 1`; empty within one package.
        allowed: the range of that requirement.
        alone: the version that the requirement chose by itself.
    """

    child: str
    requirement: str
    allowed: str
    alone: SemVer


class Explained(msgspec.Struct, frozen=True):
    """A class among the ancestors.

    Attributes:
        label: the class, as `a.B/1.0.0@app`.
        name: its name.
        version: its version.
        package: its package.
        level: how many steps it is above the class that is explained, on the longest way.
        reasons: what leads to it; nothing for the class itself.
    """

    label: str
    name: str
    version: SemVer
    package: str
    level: int
    reasons: tuple[Reason, ...]


def explain(type_: Type) -> tuple[Explained, ...]:
    """A class and its ancestors in lookup order, each with what leads to it and chose its version."""
    lineage = type_.lineage
    levels = {type_: 0}
    for each in lineage.order:
        for parent in lineage.parents[each]:
            levels[parent] = max(levels.get(parent, 0), levels[each] + 1)
    return tuple(
        Explained(
            label=each.label,
            name=each.name,
            version=each.version,
            package=each.package,
            level=levels[each],
            reasons=tuple(
                Reason(
                    child=child.label,
                    requirement="" if child.package == each.package else str(edge),
                    allowed=str(edge.requirement.range),
                    alone=edge.version,
                )
                for child, edge in lineage.edges[each]
            ),
        )
        for each in lineage.order
    )


def explanation_rows(explained: tuple[Explained, ...]) -> list[tuple[str, ...]]:
    """The cells of a table: class, version, package, and what chose the version."""
    return [
        (each.name, str(each.version), each.package, "; ".join(dict.fromkeys(_words(each))))
        for each in explained
    ]


def explanation_data(explained: tuple[Explained, ...]) -> list[dict[str, Any]]:
    """The explanation as plain values."""
    return [
        {
            "class": each.name,
            "version": str(each.version),
            "package": each.package,
            "reasons": [
                {
                    "child": reason.child,
                    "requirement": reason.requirement,
                    "chosenAlone": str(reason.alone),
                }
                for reason in each.reasons
            ],
        }
        for each in explained
    ]


def explanation_mermaid(explained: tuple[Explained, ...]) -> str:
    """The ancestors as a Mermaid flow chart, the class itself at the bottom."""
    places = {each.label: f"c{at}" for at, each in enumerate(explained)}
    lines = ["flowchart BT"]
    lines += (
        f'  {places[each.label]}["{each.name}<br/>{each.package} {each.version}"]'
        for each in explained
    )
    for each in explained:
        for reason in each.reasons:
            arrow = f"-->|{_range(reason.allowed)}|" if reason.requirement else "-->"
            lines.append(f"  {places[reason.child]} {arrow} {places[each.label]}")
    return "\n".join([*dict.fromkeys(lines), ""])


def _words(each: Explained) -> list[str]:
    found = []
    for reason in each.reasons:
        words = reason.requirement or f"own class of {each.package}"
        if reason.alone != each.version:
            words += f" ({reason.alone} by itself)"
        found.append(words)
    return found


def _range(text: str) -> str:
    return text.replace("<", "#lt;").replace(">", "#gt;").replace('"', "#quot;")
