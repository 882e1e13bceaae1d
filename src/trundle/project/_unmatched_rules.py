"""Finds the configured changes that match nothing, and the pair that one belongs to after a version came.

A change is written on the older of two neighbours. It fits where the properties on both sides are what its
rule speaks of. One that fits no pair of its own version but a later one is at the wrong version, which
is what happens when a new version comes between a pair.
"""

from collections.abc import Iterator, Sequence
from typing import Any, assert_never

from trundle.errors import did_you_mean, expectation, meant, similar
from trundle.evolution import (
    Evolution,
    Lineage,
    Neighbours,
    Place,
    TypeChanges,
    VersionMap,
    join_path,
    leads,
    names_inside,
    path_of,
)
from trundle.project._fitting_rules import Fits, Sides, property_rules
from trundle.project.findings import Misfit, ProjectCode, finding
from trundle.report import spell
from trundle.schema import (
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Ref,
    Scalar,
    Schema,
    Type,
    Union,
)
from trundle.version import ApiVersion


def find_misfits(evolution: Evolution, lineages: Sequence[Lineage]) -> Iterator[Misfit]:
    """Everything about configured changes that matches nothing, in the order of the configuration."""
    by_type: dict[tuple[ApiVersion, str], list[Lineage]] = {}
    for lineage in lineages:
        for version in lineage.nodes:
            by_type.setdefault((version, lineage.definition(version).name), []).append(lineage)
    for changes in evolution.all_changes:
        present = by_type.get((changes.version, changes.type), [])
        for rule, name, newer, fits in property_rules(changes):
            yield from _Rule(evolution, changes, rule, name, newer, fits).findings(present)
        if changes.rename_type is not None:
            yield from _type_rename(evolution, changes, present)
        yield from _moves(changes, present)
        yield from _defaults(evolution, changes)


class _Rule:
    """One rule about one property."""

    def __init__(
        self,
        evolution: Evolution,
        changes: TypeChanges,
        rule: str,
        name: str,
        newer: str,
        fits: Fits,
    ) -> None:
        self.evolution = evolution
        self.changes = changes
        self.rule = rule
        self.name = name
        self.newer = newer
        self.fits = fits

    def findings(self, present: Sequence[Lineage]) -> Iterator[Misfit]:
        """Why the rule matches nothing, if it does not."""
        met = [sides for lineage in present for sides in self._met(lineage)]
        own = [each for each in met if each.pair.older == self.changes.version]
        if any(self.fits(each) for each in own):
            return
        later = sorted({each.pair for each in met if each not in own and self.fits(each)})
        if not later and own and self.rule == "keep":
            return  # alike, and yet kept apart: that is what the rule is for
        what, advice = self._what(present, own, later), self._advice(present, later)
        yield _misfit(self.changes, self.rule, self.name, what, advice, stays=self._stays(present))

    def _stays(self, present: Sequence[Lineage]) -> bool:
        """Whether the property, if it is followed at all, is in the next version of each type what it is here."""
        version, spelled = self.changes.version, []
        for lineage in present:
            newer = lineage.versions.neighbour(version)
            if self.name not in self._named(lineage, version):
                continue  # part of every object's envelope
            if newer is None or self.name not in self._named(lineage, newer):
                return False
            sides = Place(version, self.name), Place(newer, self.name)
            spelled.append(Sides(self.evolution, lineage, *sides).spelled)
        return all(older == newer for older, newer in spelled)

    def _met(self, lineage: Lineage) -> Iterator[Sides]:
        """All pairs of neighbours, from the rule's version on, that have the two properties."""
        names = {version: set(self._named(lineage, version)) for version in lineage.nodes}
        versions = VersionMap.of(
            version
            for version, each in names.items()
            if version >= self.changes.version and {self.name, self.newer} & each
        )
        for pair in versions.pairs if versions.versions else ():
            if self.name in names[pair.older] and self.newer in names[pair.newer]:
                older, newer = Place(pair.older, self.name), Place(pair.newer, self.newer)
                yield Sides(self.evolution, lineage, older, newer)

    def _named(self, lineage: Lineage, version: ApiVersion) -> Iterator[str]:
        """What the rule may mean in a version, also where a rule of the object around it has taken that along."""
        yield from lineage.held(version)
        for name in (self.name, self.newer):
            if leads(lineage.bare, version, path_of(lineage.bare, version, name)):
                yield name

    def _what(
        self, present: Sequence[Lineage], own: Sequence[Sides], later: Sequence[Neighbours]
    ) -> str:
        changes = self.changes
        what = (
            f"`{self.rule}` of {self.name} in {changes.type} of {changes.version} matches nothing"
        )
        if later:
            neighbour = _neighbour(present, changes.version)
            return f"{what}: {neighbour} came between" if neighbour else what
        if own:
            older, newer = own[0].spelled
            return f"{what}: {older} becomes {newer} in {own[0].pair.newer}"
        if _neighbour(present, changes.version) is None:
            return f"{what}: no newer version has {changes.type}"
        return f"{what}: no newer {changes.type} has {self.newer}"

    def _advice(self, present: Sequence[Lineage], later: Sequence[Neighbours]) -> str:
        if later:
            return f"it now belongs to {later[0]}; move it under {later[0].older}"
        neighbour = _neighbour(present, self.changes.version)
        if neighbour is not None and self.rule in ("rename", "wrap", "unwrap"):
            known = {
                name
                for lineage in present
                if neighbour in lineage.nodes
                for name in lineage.names(neighbour)
            }
            if self.newer not in known:
                return did_you_mean(self.newer, known)
        return "correct or remove the rule"


def _misfit(
    changes: TypeChanges, rule: str, name: str, what: str, advice: str, *, stays: bool = False
) -> Misfit:
    where = changes.place(rule, name)
    why = finding(ProjectCode.UNUSED, where, what, advice)
    return Misfit((str(changes.version), changes.type, rule, name), why, stays)


def _neighbour(present: Sequence[Lineage], version: ApiVersion) -> ApiVersion | None:
    """The newer neighbour of a type's version."""
    for lineage in present:
        for pair in lineage.versions.pairs:
            if pair.older == version:
                return pair.newer
    return None


def _type_rename(
    evolution: Evolution, changes: TypeChanges, present: Sequence[Lineage]
) -> Iterator[Misfit]:
    """A rename of a type whose newer name nothing has at its place."""
    target = str(changes.rename_type)
    what = f"`renameType` of {changes.type} to {target} in {changes.version} matches nothing"
    names = {
        schema.version: {each.name for each in schema.definitions.values()}
        for schema in evolution.schemas
        if schema.version >= changes.version
    }
    having = VersionMap.of(v for v, each in names.items() if {changes.type, target} & each)
    fitting = [
        pair
        for pair in having.pairs
        if changes.type in names[pair.older] and target in names[pair.newer]
    ]
    own = [pair.newer for pair in having.pairs if pair.older == changes.version]
    if not fitting:
        what += f": no newer version has {target}"
        later = set().union(*(each for version, each in names.items() if version in own))
        advice = did_you_mean(target, later)
    elif not any(pair.older == changes.version for pair in fitting):
        what += f": {own[0]} came between"
        advice = f"it now belongs to {fitting[0]}; move it under {fitting[0].older}"
    elif present and not any(_is_called(lineage, changes.version, target) for lineage in present):
        what += f": where {changes.type} stands, no newer version has {target}"
        advice = "correct or remove the rule"
    else:
        return
    why = finding(ProjectCode.UNUSED, changes.place("rename_type"), what, advice)
    yield Misfit((str(changes.version), changes.type, "rename_type", ""), why)


def _is_called(lineage: Lineage, version: ApiVersion, name: str) -> bool:
    """Whether a type has a name in any newer version."""
    return any(lineage.definition(other).name == name for other in lineage.nodes if other > version)


def _moves(changes: TypeChanges, present: Sequence[Lineage]) -> Iterator[Misfit]:
    """Moves whose paths lead nowhere."""
    for older, newer in changes.move.items():
        pairs = [
            (lineage, neighbour)
            for lineage in present
            for neighbour in _next_with(lineage, changes.version, (older, newer))
        ]
        ours = [(lineage, changes.version) for lineage in present]
        missing: list[str] = []
        advice: list[str] = []
        for path, sides in ((older, ours), (newer, pairs)):
            if any(
                leads(lineage.bare, version, path_of(lineage.bare, version, path))
                for lineage, version in sides
            ):
                continue
            version = sides[0][1] if sides else "any newer version"
            missing.append(f"{path} in {version}")
            advice.extend(_meant(path, sides))
        if missing:
            what = f"`move` of {changes.type} finds no {' and no '.join(missing)}"
            advised = (
                meant(advice, "and") or "write paths as both sides have them, seen from the type"
            )
            yield _misfit(changes, "move", older, what, advised)


def _next_with(
    lineage: Lineage, version: ApiVersion, paths: tuple[str, str]
) -> Iterator[ApiVersion]:
    """The next version that has either of two paths, over any gap; else the next one."""
    having = [
        each
        for each in lineage.nodes
        if each == version
        or (
            each > version
            and any(leads(lineage.bare, each, path_of(lineage.bare, each, path)) for path in paths)
        )
    ]
    found = VersionMap.of(having).neighbour(version) if version in having else None
    if found is None and version in lineage.nodes:
        found = lineage.versions.neighbour(version)
    if found is not None:
        yield found


def _meant(path: str, sides: Sequence[tuple[Lineage, ApiVersion]]) -> Iterator[str]:
    """The path that was probably meant by one that leads nowhere."""
    for lineage, version in sides[:1]:
        parts = path_of(lineage.bare, version, path)
        for depth in range(len(parts)):
            if leads(lineage.bare, version, parts[: depth + 1]):
                continue
            close = similar(parts[depth], names_inside(lineage.bare, version, parts[:depth]))
            if close:
                yield join_path((*parts[:depth], *close, *parts[depth + 1 :]))
            return


def _defaults(evolution: Evolution, changes: TypeChanges) -> Iterator[Misfit]:
    """Defaults of another type than their property."""
    schema = evolution.schema(changes.version)
    for name, value in changes.default.items():
        for definition in schema.definitions.values():
            found = definition.property(name) if isinstance(definition, ObjectType) else None
            if definition.name != changes.type or found is None:
                continue
            if not _admits(found.type, value, schema):
                wrong = expectation(spell(found.type, schema), _spoken(value))
                what = f"the default of {name} in {changes.type} of {changes.version}: {wrong}"
                yield _misfit(changes, "default", name, what, "write a value of this type")


def _admits(type_: Type, value: Any, schema: Schema) -> bool:
    match type_:
        case Nullable(inner):
            return value is None or _admits(inner, value, schema)
        case Scalar(kind):
            return _is_kind(value, kind)
        case ListOf(items):
            return isinstance(value, list) and all(_admits(items, each, schema) for each in value)
        case Ref(key):
            found = schema.definitions[key]
            if isinstance(found, ObjectType):
                return isinstance(value, dict)
            return _is_kind(value, found.kind) and (found.kind == "string" or value in found.values)
        case Union(variants):
            return any(_admits(each, value, schema) for each in variants)
        case MapOf() | FreeForm():
            return True
        case _:
            assert_never(type_)


def _is_kind(value: Any, kind: str) -> bool:
    match kind:
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case _:
            return isinstance(value, str)


def _spoken(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if value is not None else "null"
