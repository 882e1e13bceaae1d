"""Rendering entries of the property bag: their keys, and the constants by which functions read them."""

from trundle.codegen._naming import attribute_name
from trundle.codegen._statements import Statements
from trundle.codegen._static_types import StaticTypes, shown, united, without
from trundle.codegen._steps import Steps
from trundle.codegen._text import text_literal, tuple_literal
from trundle.evolution import Lineage, Place, Shape
from trundle.evolution.steps import PlannedEntry
from trundle.schema import Nullable


class Entries:
    """Renders the entries that one plan's function reads.

    Args:
        lineage: the type whose objects have them.
        static: what a type checker knows of the plan's expressions.
        statements: where the constants go.
        steps: renders what the values of entries go through.
    """

    def __init__(
        self, lineage: Lineage, static: StaticTypes, statements: Statements, steps: Steps
    ) -> None:
        self.lineage = lineage
        self.static = static
        self.statements = statements
        self.steps = steps

    def constant(self, entries: tuple[PlannedEntry, ...], hint: str) -> str:
        """The name of a constant with entries of the bag."""
        listed = tuple_literal(map(self._entry, entries))
        type_ = united(*(self.static.entry(each.place, each.step) for each in entries))
        annotation = f"tuple[BagEntry[{shown(without(type_, 'Absent'))}], ...]"
        return self.statements.helper(
            f"{hint.rstrip('_')}_entries", f"\x04: {annotation} = {listed}\n"
        )

    def _entry(self, each: PlannedEntry) -> str:
        shape = Shape("storage", each.place.version)
        annotation = self.steps.annotation(each.place, shape)
        lineage = self.lineage
        if lineage.nullable(each.place) and not isinstance(lineage.type(each.place), Nullable):
            annotation += " | None"
        parts = [text_literal(each.place.property), text_literal(each.place.version.text)]
        parts.append(annotation)
        if each.step is not None:
            self.steps.hint = attribute_name(each.place.property)
            parts.append(f"lambda value: {self.steps.render(each.step, 'value')}")
        return f"BagEntry({', '.join(parts)})"


def entry_literal(place: Place) -> str:
    """The key of an entry of the property bag."""
    return f"({text_literal(place.property)}, {text_literal(place.version.text)})"
