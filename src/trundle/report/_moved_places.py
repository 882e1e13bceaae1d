"""Places that moves take, configured and suggested ones: a property goes to one place only, whatever type its rule is written under."""

from collections.abc import Iterable
from typing import TypeAlias

from trundle.evolution import Evolution, Lineage
from trundle.report._suggestion import Suggestion
from trundle.schema import Nullable, ObjectType, Ref, Schema
from trundle.version import ApiVersion

_Step: TypeAlias = tuple[ApiVersion, str, str]
"""A property of a type, by the type's name."""


class MovedPlaces:
    """What moves took, on either side.

    Args:
        evolution: the types, with the moves that are configured.
        found: its lineages.
    """

    def __init__(self, evolution: Evolution, found: Iterable[Lineage]) -> None:
        self._evolution = evolution
        self._moved: set[_Step] = set()
        self._led_through: set[_Step] = set()
        for lineage in found:
            for pair in lineage.versions.pairs:
                one, other = (lineage.definition(each).name for each in (pair.older, pair.newer))
                changes = evolution.changes(pair.older, one)
                for path, target in changes.move.items() if changes is not None else ():
                    ours = self._steps(pair.older, one, path)
                    self._note(ours, self._steps(pair.newer, other, target))

    def take(self, move: Suggestion) -> bool:
        """Takes what a move names, unless another move has it, what is in it, or what it is in.

        Returns:
            Whether it was free; it is for any suggestion but a move.
        """
        if move.rule != "move":
            return True
        paths = [
            self._steps(move.older, move.type, move.property),
            self._steps(move.newer, move.type, move.target),
        ]
        for steps in paths:
            if steps and (steps[-1] in self._led_through or self._moved.intersection(steps)):
                return False
        self._note(*paths)
        return True

    def _note(self, *paths: list[_Step]) -> None:
        for steps in paths:
            self._moved.update(steps[-1:])
            self._led_through.update(steps)

    def _steps(self, version: ApiVersion, type_name: str, path: str) -> list[_Step]:
        """The properties that a path leads through, each with its own type; none where the type is not there."""
        schema = self._evolution.schema(version)
        found: list[_Step] = []
        holder = _named(schema, type_name)
        for name in path.split("."):
            if holder is None:
                return []
            found.append((version, holder.name, name))
            declared = holder.property(name)
            type_ = None if declared is None else declared.type
            bare = type_.inner if isinstance(type_, Nullable) else type_
            inner = schema.definitions[bare.key] if isinstance(bare, Ref) else None
            holder = inner if isinstance(inner, ObjectType) else None
        return found


def _named(schema: Schema, name: str) -> ObjectType | None:
    found = (each for each in schema.definitions.values() if each.name == name)
    return next((each for each in found if isinstance(each, ObjectType)), None)
