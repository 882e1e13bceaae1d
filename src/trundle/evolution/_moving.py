"""Configured moves: a property that goes into a nested object, or comes out of one."""

from collections.abc import Iterator

from trundle.evolution._changes import TypeChanges
from trundle.evolution._errors import ChangeError
from trundle.evolution._lineage import ByMove, Derivation, Lineage, Place
from trundle.evolution._neighbours import Neighbours
from trundle.evolution.conversions import Same, relate
from trundle.schema import Nullable, ObjectType, Property, Ref
from trundle.version import ApiVersion


def moves_of(lineage: Lineage) -> Iterator[Derivation]:
    """What the configured moves of a lineage derive, both ways.

    Raises:
        ChangeError: a path of a move leads nowhere, or to a value that has no plain counterpart.
    """
    for version in lineage.nodes:
        changes = lineage.evolution.changes(version, lineage.definition(version).name)
        if changes is None:
            continue
        for older, newer in sorted(changes.move.items()):
            yield from _Move(lineage, changes, older, newer).derivations()


class _Move:
    def __init__(self, lineage: Lineage, changes: TypeChanges, older: str, newer: str) -> None:
        self.lineage = lineage
        self.changes = changes
        self.older = tuple(older.split("."))
        self.newer = tuple(newer.split("."))
        self.where = changes.place("move", older)

    def error(self, reason: str) -> ChangeError:
        shown = f"{'.'.join(self.older)} to {'.'.join(self.newer)}"
        return ChangeError(self.where, f"cannot move {shown} of {self.changes.type}: {reason}")

    def derivations(self) -> Iterator[Derivation]:
        if {len(self.older), len(self.newer)} != {1, 2}:
            raise self.error(
                "expected a property on one side and a member of one nested object on the other, "
                "as in `street: address.street`; use a hook for anything else"
            )
        met = False
        version = self.changes.version
        for between in self.lineage.versions.pairs:
            if between.older == version and self._stands(between):
                met = True
                yield from self._between(between)
        if not met:
            raise self.error(
                f"no neighbour after {version} has both sides; check the spelling of the paths"
            )

    def _stands(self, between: Neighbours) -> bool:
        return all(
            path[0] in self.lineage.names(version)
            and (len(path) == 1 or self._member(version, path) is not None)
            for version, path in ((between.older, self.older), (between.newer, self.newer))
        )

    def _member(self, version: ApiVersion, path: tuple[str, ...]) -> Property | None:
        type_ = self.lineage.type(Place(version, path[0]))
        type_ = type_.inner if isinstance(type_, Nullable) else type_
        schema = self.lineage.evolution.schema(version)
        nested = schema.definitions.get(type_.key) if isinstance(type_, Ref) else None
        return nested.property(path[1]) if isinstance(nested, ObjectType) else None

    def _between(self, between: Neighbours) -> Iterator[Derivation]:
        into = len(self.newer) == 2  # noqa: PLR2004 - a nested path
        single, nested = (self.older, self.newer) if into else (self.newer, self.older)
        near, far = (between.older, between.newer) if into else (between.newer, between.older)
        value, holder = Place(near, single[0]), Place(far, nested[0])
        self._check(value, far, nested)
        inputs = [value]
        if nested[0] in self.lineage.names(near):
            inputs.append(Place(near, nested[0]))
        yield Derivation(ByMove(nested[1], into=True, between=between), tuple(inputs), holder)
        yield Derivation(ByMove(nested[1], into=False, between=between), (holder,), value)

    def _check(self, value: Place, far: ApiVersion, nested: tuple[str, ...]) -> None:
        member = self._member(far, nested)
        assert member is not None
        older, newer = sorted((value.version, far))
        evolution = self.lineage.evolution
        ours, theirs = self.lineage.type(value), member.type
        if value.version != older:
            ours, theirs = theirs, ours
        schemas = (evolution.schema(older), evolution.schema(newer))
        if (
            relate(ours, theirs, schemas, evolution.meets(older, newer, self.lineage.nodes))
            != Same()
        ):
            raise self.error("its type changes on the way, or holds objects; use a hook")
