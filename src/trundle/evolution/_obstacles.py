"""What paths of rules cannot lead through: anything but nested objects."""

from typing import assert_never

from trundle.evolution._paths import EACH, Path
from trundle.evolution._threads import Place
from trundle.evolution._unlifted import BareLineage
from trundle.schema import FreeForm, ListOf, MapOf, Nullable, Ref, Scalar, Union
from trundle.version import ApiVersion


def obstacle(lineage: BareLineage, version: ApiVersion, path: Path) -> str | None:
    """What a path leads through that is no nested object; None where there is no such thing."""
    current = lineage
    for name in (each for each in path[:-1] if each != EACH):
        if name not in current.names(version):
            return None
        child = current.nested(Place(version, name))
        if child is None:
            shown = _spelt(current, Place(version, name))
            return f"{shown}, and a path leads through nested objects only"
        current = child
    return None


def in_elements(lineage: BareLineage, version: ApiVersion, path: Path) -> tuple[str, Path] | None:
    """The type of the elements of the last list that a path leads through, and what of the path is in them.

    None where it leads through no list, or nowhere.
    """
    names = [each for each in path if each != EACH]
    current, found = lineage, None
    for place, name in enumerate(names[:-1], 1):
        if name not in current.names(version):
            return None
        at = Place(version, name)
        child, elements = current.nested(at), current.elements(at)
        if elements is None:
            return None
        if child is None:
            found = elements.definition(version).name, tuple(names[place:])
        current = elements
    return found if names[-1] in current.names(version) else None


def after_elements(path: Path) -> Path:
    """What of a path comes after its last `[]`."""
    last = max((place for place, each in enumerate(path) if each == EACH), default=-1)
    return path[last + 1 :]


def _spelt(lineage: BareLineage, place: Place) -> str:
    """A property that is no nested object."""
    type_ = lineage.type(place)
    type_ = type_.inner if isinstance(type_, Nullable) else type_
    where = f"{place.property} of {lineage.definition(place.version).name} is"
    match type_:
        case ListOf():
            return f"{where} a list (write the rule under the type of its elements)"
        case MapOf():
            return f"{where} a map"
        case Union():
            return f"{where} a union"
        case FreeForm():
            return f"{where} free-form data"
        case Scalar() | Ref() | Nullable():
            return f"{where} a single value"
        case _:
            assert_never(type_)
