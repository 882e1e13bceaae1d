"""Where versions do not distinguish variants by the same property: elements of lists, and objects."""

from collections.abc import Iterable, Iterator

from trundle.errors import Finding
from trundle.evolution import Lineage, Place
from trundle.evolution.conversions import ByVariant, Conversion, EachItem, NullFits
from trundle.project.findings import ProjectCode, finding
from trundle.schema import ObjectType, Ref


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
        f"{definition.name}.{place.property} distinguishes elements in {place.version} otherwise than in {versions}: "
        f"of elements that {place.version} wrote, an edit of the others may not reach all that they see"
    )
    advice = "let all versions distinguish the variants by the same property"
    return finding(ProjectCode.LOSS, definition.source, what, advice, severity="note")


def left_variants(lineages: Iterable[Lineage]) -> Iterator[Finding]:
    """Notes on objects that a client may make another variant of, for the stored version, and back again."""
    found: dict[tuple[str, Place], Finding] = {}
    for lineage in lineages:
        hub = lineage.versions.hub
        for link in lineage.links:
            if not _is_told_apart(link.conversion):
                continue
            for loose, tagged in ((link.older, link.newer), (link.newer, link.older)):
                object_ = _tagged(lineage, tagged)
                if object_ is None or lineage.thread(tagged).at(hub) is None:
                    continue
                if _tagged(lineage, loose) is None and _has_more(lineage, tagged, loose):
                    name = lineage.definition(loose.version).name
                    found[name, loose] = _left(lineage, loose, tagged, str(object_.tag))
    yield from (found[key] for key in sorted(found))


def _is_told_apart(conversion: Conversion | None) -> bool:
    """Whether an object becomes an object of which one side knows the text that distinguishes it."""
    match conversion:
        case ByVariant((Ref(),), (Ref(),), (met,)):
            return not (met.up and met.down)
        case _:
            return False


def _tagged(lineage: Lineage, place: Place) -> ObjectType | None:
    """The object type at a place, if its version distinguishes it from other variants."""
    (key,) = lineage.evolution.objects_in(place.version, lineage.type(place))
    found = lineage.evolution.schema(place.version).object(key)
    return None if found.tag is None else found


def _has_more(lineage: Lineage, place: Place, other: Place) -> bool:
    """Whether the object at a place has something that the one at another place lacks."""
    (key,) = lineage.evolution.objects_in(place.version, lineage.type(place))
    child = lineage.child(place, key)
    own = (Place(place.version, name) for name in child.followed(place.version))
    return any(child.thread(each).at(other.version) is None for each in own)


def _left(lineage: Lineage, loose: Place, tagged: Place, tag: str) -> Finding:
    definition = lineage.definition(loose.version)
    what = (
        f"{definition.name}.{loose.property} of {tagged.version} is distinguished by {tag}, and {loose.version} does not "
        f"distinguish variants: if a client of {loose.version} writes another text there and later the former one, "
        f"what only {tagged.version} has in the object does not come back"
    )
    advice = f"let {loose.version} require the text of {tag}, where clients may write others"
    return finding(ProjectCode.LOSS, definition.source, what, advice, severity="note")
