"""Where a version does not tell elements of a list apart as the versions around it do."""

from collections.abc import Iterable, Iterator

from trundle.errors import Finding
from trundle.evolution import Lineage, Place
from trundle.evolution.conversions import ByVariant, Conversion, EachItem, NullFits
from trundle.project.findings import ProjectCode, finding


def blurred_elements(lineages: Iterable[Lineage]) -> Iterator[Finding]:
    """Notes on lists of which an edit by one version may miss elements that only another one shows."""
    found: dict[tuple[str, Place], Finding] = {}
    for lineage in lineages:
        met: dict[Place, list[Place]] = {}
        for link in lineage.links:
            if link.conversion is not None and _blurs(link.conversion):
                met.setdefault(link.older, []).append(link.newer)
                met.setdefault(link.newer, []).append(link.older)
        for place, others in met.items():
            if len(others) > 1:
                name = lineage.definition(place.version).name
                found[name, place] = _finding(lineage, place, sorted(others))
    yield from (found[key] for key in sorted(found))


def _blurs(conversion: Conversion) -> bool:
    """Whether elements of a list are of variants that one side distinguishes by what the other does not fix."""
    match conversion:
        case EachItem(NullFits(ByVariant(variants=variants)) | ByVariant(variants=variants)):
            return not all(each.up and each.down for each in variants)
        case EachItem(inner):
            return _blurs(inner)
        case _:
            return False


def _finding(lineage: Lineage, place: Place, others: list[Place]) -> Finding:
    definition = lineage.definition(place.version)
    versions = " and ".join(each.version.text for each in others)
    what = (
        f"{definition.name}.{place.property} tells elements apart in {place.version} otherwise than in {versions}: "
        f"of elements that {place.version} wrote, an edit of the others may not reach all that they see"
    )
    advice = "let all versions tell the variants apart by the same property"
    return finding(ProjectCode.LOSS, definition.source, what, advice, severity="note")
