"""An object model as a tree: each object with its class and the version of it, and what it has in it."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from trundle.dashboard._plain import shown_text

_HEADER = "?"
_APPLICATIONS = "applications"


class ShownObject(NamedTuple):
    """An object of a model.

    Attributes:
        label: the property or place that it stands at.
        id: its id; may be empty, as all that follows.
        name: what people call it.
        type: its class.
        version: the version of the class, or of its package.
        values: its properties that have no objects in them, as JSON.
        objects: the objects in it.
    """

    label: str
    id: str
    name: str
    type: str
    version: str
    values: tuple[tuple[str, str], ...]
    objects: tuple["ShownObject", ...]

    @property
    def every(self) -> Iterator["ShownObject"]:
        """It, and all objects in it."""
        yield self
        for each in self.objects:
            yield from each.every


def shown_object(label: str, model: Mapping[str, Any]) -> ShownObject:
    """An object with all that is in it.

    Args:
        label: where it stands.
        model: the object as a model has it.
    """
    header = model.get(_HEADER)
    known = header if isinstance(header, Mapping) else {}
    # A pinned type is `CLASS/VERSION@PACKAGE`.
    type_, _, pinned = str(known.get("type", "")).partition("@")[0].partition("/")
    values, objects = [], []
    for name, value in model.items():
        if name == _HEADER:
            continue
        found = [*_objects(name, value)]
        objects += found
        if not found:
            values.append((name, shown_text(value)))
    return ShownObject(
        label,
        str(known.get("id", "")),
        str(known.get("name") or ""),
        type_,
        pinned or str(known.get("classVersion", "")),
        tuple(values),
        tuple(objects),
    )


def _objects(label: str, value: Any) -> Iterator[ShownObject]:
    """The objects in a value, each with its place."""
    if isinstance(value, Mapping):
        if isinstance(value.get(_HEADER), Mapping):
            yield shown_object(label, value)
            return
        for key, each in value.items():
            yield from _objects(f"{label}.{key}", each)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _objects(f"{label}[{number}]", each)


def applications_of(model: Mapping[str, Any]) -> tuple[ShownObject, ...]:
    """The applications of an environment."""
    return tuple(_objects("application", model.get(_APPLICATIONS, [])))
