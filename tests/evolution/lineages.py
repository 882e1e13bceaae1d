"""Lineages as text: what meets, and how, in lines a person can compare."""

from evolving import evolution

from trundle.evolution import Lineage, Place, PlanKey, Shape, plan
from trundle.version import ApiVersion

v = ApiVersion.parse


def root(versions, *more) -> Lineage:
    """The lineage of the resource's root."""
    return evolution(versions, *more).resources[0].root


def place(text: str) -> Place:
    """`a@v1` as a place."""
    name, _, version = text.rpartition("@")
    return Place(v(version), name)


def spelt(found: Place) -> str:
    return f"{found.property}@{found.version}"


def threads(lineage: Lineage) -> list[str]:
    """Each thread as its places."""
    return [" ".join(map(spelt, each.places)) for each in lineage.threads]


def links(lineage: Lineage) -> list[str]:
    """Each link as its places, and `?` where these only share a name."""
    return [
        f"{spelt(each.older)} {spelt(each.newer)}{' ?' if each.conversion is None else ''}"
        for each in lineage.links
    ]


def shape(text: str) -> Shape:
    """`api v1` or `storage v1`."""
    kind, _, version = text.partition(" ")
    return Shape(kind, v(version))


def planned(lineage: Lineage, source: str, target: str):
    return plan(PlanKey(lineage, shape(source), shape(target)))
