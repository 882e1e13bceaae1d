"""Going straight from one API version to another: what is passed on, and where it is as good as by the hub.

Converting by way of the hub is the reference. What a version has is kept there, in a property or in the bag,
and the other version takes it from there. Going straight comes to the same wherever a property has a
counterpart on its own thread, or none at all. A value that derives from other threads may be derived differently
on the way to the hub, unless one of the two versions is where it would be kept.
"""

from collections.abc import Iterator

from trundle.evolution._lineage import Lineage
from trundle.evolution._threads import Place
from trundle.schema import Nullable
from trundle.version import ApiVersion


def goes_straight(root: Lineage, source: ApiVersion, target: ApiVersion) -> bool:
    """Whether a resource comes to the same from one API version to another straight and by its hub."""
    start = (root, root.versions.hub)
    waiting, seen = [start], {start}
    while waiting:
        lineage, kept = waiting.pop()
        for name in lineage.followed(target):
            place = Place(target, name)
            thread = lineage.thread(place)
            if _lets_null_go(lineage, place):
                return False
            is_derived = thread.at(source) is None and thread.number in lineage.derivations
            if is_derived and kept not in {source, target}:
                return False
            home = kept if is_derived else thread.home(kept).version
            for key in lineage.evolution.objects_in(target, lineage.type(place)):
                child = lineage.child(place, key)
                met = source in child.nodes and not alike(child, source, target)
                if met and (child, home) not in seen:
                    seen.add((child, home))
                    waiting.append((child, home))
    return True


def _lets_null_go(lineage: Lineage, place: Place) -> bool:
    """Whether a lifted property may be null where it is kept, which shows no more than what holds it."""
    lifted = place.property in lineage.lifted(place.version)
    return lifted and lineage.nullable(place) and not isinstance(lineage.type(place), Nullable)


def alike(lineage: Lineage, one: ApiVersion, other: ApiVersion) -> bool:
    """Whether two versions have a subtree in common, so that it is passed on between their API types."""
    return lineage.evolution.once(_alike, lineage, min(one, other), max(one, other))


def _alike(lineage: Lineage, one: ApiVersion, other: ApiVersion) -> bool:
    """Whether API objects of a lineage are the same in two versions, so that they can be passed on.

    That is so where their definitions have identical closures, each property is on one thread with its
    counterpart, so that no rule or hook in between has a say in it, and no default is configured.
    """
    evolution = lineage.evolution
    numbers = [evolution.identities[version, lineage.nodes[version]] for version in (one, other)]
    if lineage.is_root or lineage.given or numbers[0] != numbers[1]:
        return False
    waiting, seen = [lineage], {lineage}
    while waiting:
        each = waiting.pop()
        if not _counterparts(each, one, other):
            return False
        for child, counterpart in zip(_children(each, one), _children(each, other), strict=True):
            if child is not counterpart:
                return False
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    return True


def _counterparts(lineage: Lineage, one: ApiVersion, other: ApiVersion) -> bool:
    for version in (one, other):
        changes = lineage.evolution.changes(version, lineage.definition(version).name)
        if changes is not None and changes.default:
            return False
    return all(
        lineage.thread(Place(one, name)) is lineage.thread(Place(other, name))
        for name in lineage.followed(one)
    )


def _children(lineage: Lineage, version: ApiVersion) -> Iterator[Lineage]:
    for name in lineage.followed(version):
        place = Place(version, name)
        for key in lineage.evolution.objects_in(version, lineage.type(place)):
            yield lineage.child(place, key)
