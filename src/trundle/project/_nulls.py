"""Where a null in a list or map meets a version whose elements may not be null."""

from collections.abc import Iterable, Iterator
from typing import assert_never

from trundle.errors import Finding
from trundle.evolution import Lineage, Link, Place
from trundle.evolution.conversions import (
    ByVariant,
    CallHook,
    Conversion,
    ConvertObject,
    ConvertScalar,
    EachItem,
    EachValue,
    EnumText,
    Keyed,
    MapValues,
    Narrow,
    NullFits,
    Same,
    Unwrap,
    Wrap,
)
from trundle.project.findings import ProjectCode, finding


def hidden_nulls(lineages: Iterable[Lineage]) -> Iterator[Finding]:
    """Notes on properties whose nulls inside of lists and maps another version cannot show."""
    found: dict[tuple[str, Place, Place], Finding] = {}
    for lineage in lineages:
        for link in lineage.links:
            for inner in () if link.conversion is None else _inside(link.conversion):
                name = lineage.definition(link.older.version).name
                found[name, link.older, link.newer] = _finding(lineage, link, inner)
    yield from (found[key] for key in sorted(found))


def _inside(conversion: Conversion) -> Iterator[NullFits]:
    """What becomes of elements and members that only one side lets be null."""
    match conversion:
        case EachItem(inner) | EachValue(inner):
            if isinstance(inner, NullFits) and inner.older != inner.newer:
                yield inner
            yield from _inside(inner)
        case NullFits(inner) | Wrap(inner) | Unwrap(inner):
            yield from _inside(inner)
        case ByVariant(variants=variants):
            for each in variants:
                yield from _inside(each.conversion)
        case (
            Same()
            | ConvertObject()
            | Narrow()
            | EnumText()
            | MapValues()
            | ConvertScalar()
            | Keyed()
            | CallHook()
        ):
            return
        case _:
            assert_never(conversion)


def _finding(lineage: Lineage, link: Link, nulls: NullFits) -> Finding:
    admits, lacks = (link.older, link.newer) if nulls.older else (link.newer, link.older)
    definition = lineage.definition(admits.version)
    what = (
        f"{definition.name}.{admits.property} may have null elements in {admits.version}, but not in "
        f"{lacks.version}: there they are not shown, and kept for {admits.version}"
    )
    advice = "let both versions admit null, or neither"
    return finding(ProjectCode.NULL, definition.source, what, advice, severity="note")
