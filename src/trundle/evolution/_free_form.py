"""Objects that are free-form data in another version, where rules or hooks follow something in them by itself."""

from collections.abc import Iterator

from trundle.evolution._lineage import Lineage
from trundle.evolution._threads import Place
from trundle.evolution._values import End, elsewhere
from trundle.evolution.conversions import loosens
from trundle.evolution.steps import Shape


def doubled_in_free_form(lineage: Lineage) -> Iterator[tuple[Place, Place]]:
    """What is followed by itself, and stays in free-form data of another version as well.

    That is so unless the other version has it in another place, in the object itself and not deeper.

    Returns:
        Each such property of a nested object, with the free-form data that the object is in the other version.
    """
    for link in lineage.links:
        if link.conversion is None or not loosens(link.conversion):
            continue
        for typed, free in ((link.older, link.newer), (link.newer, link.older)):
            apart = elsewhere(_shown(lineage, typed), _shown(lineage, free))
            around = lineage.path(typed)
            gone = {(*around, each) for each in (() if apart is None else apart.names)}
            for name, path in lineage.lifted(typed.version).items():
                leaf = path[: len(around) + 1]
                if len(path) > len(around) and path[: len(around)] == around and leaf not in gone:
                    yield Place(typed.version, name), free


def _shown(lineage: Lineage, place: Place) -> End:
    return End(lineage, place, Shape("api", place.version))
