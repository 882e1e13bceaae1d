"""Values of schemas and rules as Python: defaults, and what objects show that are made."""

import json
from typing import Any

from trundle.codegen._text import text_literal
from trundle.codegen._types import TypeRenderer
from trundle.evolution import Lineage, Place, PlanKey, Shape, default_of
from trundle.schema import ABSENT, ListOf, MapOf, Nullable, Type


class Literals:
    """Renders the values that one plan puts into objects.

    Args:
        types: the classes that are read and made.
        key: the plan.
    """

    def __init__(self, types: TypeRenderer, key: PlanKey) -> None:
        self._types = types
        self._key = key

    def of(self, value: Any, place: Place, lineage: Lineage | None = None) -> str:
        """Plain JSON as a Python expression of the type at a place of a lineage, else of the plan's own."""
        if isinstance(value, str):
            return text_literal(value)
        if isinstance(value, bool | int | float | None):
            return repr(value)
        data = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
        raw = f"FreeForm(b{text_literal(data)})"
        lineage = lineage or self._key.lineage
        storage = self._key.target.kind == "storage"
        annotation = self._types.annotation_at(lineage, place, lineage.type(place), storage=storage)
        if not value and isinstance(_bare(lineage.type(place)), ListOf | MapOf):
            return data
        return raw if annotation == "FreeForm" else f"from_free_form({raw}, {annotation})"

    def shown_anyhow(self, place: Place, shape: Shape) -> str:
        """What an API object that is made at a place shows of the properties that it requires, if anything."""
        lineage = self._key.lineage
        if shape.kind == "storage":
            return ""
        (key,) = lineage.evolution.objects_in(place.version, lineage.type(place))
        child, version = lineage.child(place, key), place.version
        definition = child.definition(version)
        names = self._types.names(version, definition)
        changes = lineage.evolution.changes(version, definition.name)
        shown = []
        for name in child.names(version):
            default = default_of(child, Place(version, name), changes)
            if default is not ABSENT and name in names:
                literal = self.of(default, Place(version, name), child)
                shown.append(f"{text_literal(names[name])}: {literal}")
        return f"{{{', '.join(shown)}}}" if shown else ""


def _bare(type_: Type) -> Type:
    return type_.inner if isinstance(type_, Nullable) else type_
