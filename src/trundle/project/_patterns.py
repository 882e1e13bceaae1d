"""Patterns in configured changes: `*` in the name of a type or property stands for any part of a name.

Patterns are written out for the types and properties of the older version before changes are checked against schemas, so
that nothing else knows of them. A pattern holds where a newer version has what it names. A finding about what a pattern
stands for names the place of the pattern.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from trundle.errors import listed
from trundle.evolution import PathError, TypeChanges, join_path, split_path
from trundle.project._spread import Pattern, RuleKey, Spread, parts_of
from trundle.project._starred import ANY, captures, filled, fillings
from trundle.project.changes import BY_PROPERTY
from trundle.project.findings import Misfit, ProjectCode, finding
from trundle.schema import Nullable, ObjectType, Ref, Schema, Type

_PLACING = ("rename", "wrap", "unwrap", "move")
_SHAPING = ("values", "convert", "variant")


class _Said(NamedTuple):
    """What a rule says about one property.

    Attributes:
        rule: the rule.
        name: the property.
        value: what the rule says about it; None for `keep`.
        where: file and line.
        written: the property as the rule names it, a pattern or not.
        rank: how far the rule is from naming type and property themselves.
        by: the rule in the file, if it has a pattern.
        holds: whether a newer version has what the property becomes, as far as names show.
        stays: whether a newer version has the property where it is.
    """

    rule: str
    name: str
    value: Any
    where: str
    written: str
    rank: int
    by: Pattern | None
    holds: bool
    stays: bool


def spread_patterns(changes: Sequence[TypeChanges], schemas: Sequence[Schema]) -> Spread:
    """Writes out every pattern in configured changes.

    A rule that names a type and a property itself goes before one that names either by a pattern. A pattern holds
    where a newer version has what it names; where it holds nowhere, it is written out for all that it stands for.
    """
    by_version = {schema.version: schema for schema in schemas}
    found: list[TypeChanges] = []
    misfits: list[Misfit] = []
    written: dict[RuleKey, Pattern] = {}
    idle: dict[RuleKey, Pattern] = {}
    taken: set[tuple[str, str, str]] = set()
    for version in dict.fromkeys(each.version for each in changes):
        ours = [each for each in changes if each.version == version]
        if version not in by_version or not any(_has_patterns(each) for each in ours):
            found += ours
        else:
            later = [each for each in schemas if each.version > version]
            spreading = _Spreading(by_version[version], later, ours)
            found += spreading.changes()
            misfits += spreading.misfits
            written |= spreading.written
            idle |= spreading.idle
            taken |= spreading.taken
    return Spread(tuple(found), tuple(misfits), written, idle, taken)


def _has_patterns(changes: TypeChanges) -> bool:
    return ANY in changes.type or any(ANY in name for _, name, _ in _rules(changes))


def _rules(changes: TypeChanges) -> Iterator[tuple[str, str, Any]]:
    """Each rule with the property that it names, and what it says about that."""
    for rule in BY_PROPERTY:
        said = getattr(changes, rule)
        for name in said:
            yield rule, name, said[name] if isinstance(said, Mapping) else None


class _Types:
    """The object types of a schema, by name."""

    def __init__(self, schema: Schema) -> None:
        self._definitions = schema.definitions
        self.objects: dict[str, list[ObjectType]] = {}
        for each in schema.definitions.values():
            own = self.objects.setdefault(each.name, [])
            if isinstance(each, ObjectType):
                own.append(each)

    def leads(self, type_name: str, path: tuple[str, ...]) -> bool:
        """Whether a path leads through an object of a type to a property."""
        return any(self._leads(each, path) for each in self.objects.get(type_name, ()))

    def _leads(self, definition: ObjectType, path: tuple[str, ...]) -> bool:
        found = definition.property(path[0])
        if found is None or len(path) == 1:
            return found is not None
        inner = self.inside(found.type)
        return inner is not None and self._leads(inner, path[1:])

    def owners(self, type_name: str, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        """The nested types that have the property which a path leads to, each with its name there."""
        for definition in self.objects.get(type_name, ()):
            current: ObjectType | None = definition
            for name in path[:-1]:
                found = None if current is None else current.property(name)
                current = None if found is None else self.inside(found.type)
            if current is not None and len(path) > 1:
                yield current.name, path[-1]

    def inside(self, type_: Type) -> ObjectType | None:
        """The object type that a type names, if it does."""
        bare = type_.inner if isinstance(type_, Nullable) else type_
        found = self._definitions[bare.key] if isinstance(bare, Ref) else None
        return found if isinstance(found, ObjectType) else None


class _Spreading:
    """The changes of one version, on the way to being written out."""

    def __init__(
        self, schema: Schema, later: Sequence[Schema], changes: Sequence[TypeChanges]
    ) -> None:
        self.version = schema.version
        self.types = _Types(schema)
        self.later = [_Types(each) for each in later]
        self.given = changes
        self.misfits: list[Misfit] = []
        self.written: dict[RuleKey, Pattern] = {}
        self.idle: dict[RuleKey, Pattern] = {}
        self.taken: set[tuple[str, str, str]] = set()
        self.used: set[tuple[str, str, str]] = set()

    def changes(self) -> Iterator[TypeChanges]:
        """The changes type by type: those that the file names, then those that patterns stand for."""
        exact = {each.type: each for each in self.given if ANY not in each.type}
        patterns = [each for each in self.given if ANY in each.type]
        objects = self.types.objects
        standing = {
            name: [each for each in patterns if captures(each.type, name) is not None]
            for name in objects
        }
        names = [name for name in objects if standing[name] and name not in exact]
        of_types = {
            name: [*([exact[name]] if name in exact else []), *standing.get(name, ())]
            for name in (*exact, *sorted(names))
        }
        said = self._held(
            {
                name: [each for one in of_type for each in self._said(name, one)]
                for name, of_type in of_types.items()
                if name in objects
            }
        )
        for name, of_type in of_types.items():
            if name not in objects:
                yield exact[name]  # that there is no such type is found later
                continue
            spread = self._of_type(name, of_type, said[name])
            if spread is not None:
                yield spread
        self._find_unused(patterns, standing)

    def _held(self, said: Mapping[str, Sequence[_Said]]) -> Mapping[str, Sequence[_Said]]:
        """What is said about each type, without what a pattern says that holds elsewhere only.

        What becomes of a value is said together with its place where both stand under one name or pattern of types.
        """
        holding = {each.by for of_type in said.values() for each in of_type if each.holds}
        self.taken = {
            (str(self.version), *owner)
            for name, of_type in said.items()
            for each in of_type
            if each.rule == "move" and each.holds
            for owner in self.types.owners(name, parts_of(each.name))
        }
        found: dict[str, list[_Said]] = {}
        for name, of_type in said.items():
            idle = [each for each in of_type if not each.holds and each.by in holding]
            placed = {each.name for each in of_type if each.rule in _PLACING and each not in idle}
            emptied = {parts_of(each)[:-1] for each in placed}
            gone = {
                (each.by.type, each.name)
                for each in _unplaced(of_type, idle, placed)
                if each.by is not None
            }
            for each in idle:
                lost = not each.stays and each.name not in placed
                if each.by and lost and parts_of(each.name) not in emptied:
                    self.idle[str(self.version), name, each.rule, each.name] = each.by
            found[name] = [
                each
                for each in of_type
                if each not in idle
                and not (each.by and each.rule in _SHAPING and (each.by.type, each.name) in gone)
            ]
        return found

    def _of_type(
        self, name: str, of_type: Sequence[TypeChanges], said: Sequence[_Said]
    ) -> TypeChanges | None:
        """The changes of one type; None where no rule names it."""
        fields: dict[str, Any] = {}
        where = dict(of_type[0].where)
        for each in self._chosen(name, said):
            where[f"{each.rule}.{each.name}"] = each.where
            if each.by is not None:
                self.written[str(self.version), name, each.rule, each.name] = each.by
            if each.rule == "keep":
                fields["keep"] = (*fields.get("keep", ()), each.name)
            else:
                fields.setdefault(each.rule, {})[each.name] = each.value
        for one in of_type:
            newer = _renamed(one, name)
            if newer is not None:
                fields["rename_type"] = newer
                where["rename_type"] = one.place("rename_type")
                break
        if not fields:
            return None
        return TypeChanges(version=self.version, type=name, where=where, **fields)

    def _chosen(self, name: str, said: Sequence[_Said]) -> Iterator[_Said]:
        """What goes first for each property of a type, of all that is said about it."""
        chosen: dict[tuple[str, str], _Said] = {}
        for each in sorted(said, key=lambda each: each.rank):
            rivals = [chosen[key] for key in _subjects(each) if key in chosen]
            if not rivals:
                chosen |= dict.fromkeys(_subjects(each), each)
            for rival in rivals:
                same = (rival.rule, rival.value) == (each.rule, each.value)
                if rival.rank == each.rank and rival.rank and not same:
                    self._note_rivals(name, each, rival)
        for each in said:
            if any(chosen.get(key) is each for key in _subjects(each)):
                yield each

    def _said(self, name: str, changes: TypeChanges) -> Iterator[_Said]:
        """What rules say about the properties of a type."""
        by_pattern = ANY in changes.type
        newer_type = _renamed(changes, name) or name
        for rule, written, value in _rules(changes):
            where = changes.place(rule, written)
            rank = by_pattern + (ANY in written)
            key = (changes.type, rule, written)
            if not rank:
                self.used.add(key)
                yield _Said(rule, written, value, where, written, rank, None, True, False)
                continue
            by = Pattern(str(self.version), changes.type, rule, written, where)
            for path, stands_for in self._properties(name, written):
                self.used.add(key)
                newer, holds, stays = value, True, False
                if rule in _PLACING:
                    names = [value]
                    if stands_for is not None:
                        names = list(fillings(written, value, stands_for))
                    newer, holds = self._newer(newer_type, names)
                    stays = not holds and self._newer(newer_type, [path])[1]
                yield _Said(rule, path, newer, where, written, rank, by, holds, stays)

    def _newer(self, type_name: str, names: Sequence[str]) -> tuple[str, bool]:
        """The first of some names that a newer version has in a type, else the first; and whether one has it."""
        having = [each for each in self.later if each.objects.get(type_name)]
        if not having:
            return names[0], True  # the type goes on under other names; nothing can be said here
        for name in names:
            if any(each.leads(type_name, parts_of(name)) for each in having):
                return name, True
        return names[0], False

    def _properties(
        self, type_name: str, written: str
    ) -> Iterator[tuple[str, tuple[str, ...] | None]]:
        """The properties of a type that a name or pattern stands for, each with what every `*` stands for.

        A property that is called just so stands for itself, whatever is in its name.
        """
        own = self.types.objects[type_name]
        if any(each.property(written) for each in own):
            yield written, None
            return
        try:
            parts = split_path(written)
        except PathError:
            return
        found: dict[tuple[str, ...], tuple[str, ...]] = {}
        for definition in own:
            found.update(self._paths(definition, parts))
        for path in sorted(found):
            yield path[0] if len(path) == 1 else join_path(path), found[path]

    def _paths(
        self, definition: ObjectType, parts: tuple[str, ...]
    ) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        for each in definition.properties:
            stands_for = captures(parts[0], each.name)
            if stands_for is None:
                continue
            if len(parts) == 1:
                yield (each.name,), stands_for
            elif (inner := self.types.inside(each.type)) is not None:
                for path, more in self._paths(inner, parts[1:]):
                    yield (each.name, *path), (*stands_for, *more)

    def _find_unused(
        self, patterns: Sequence[TypeChanges], standing: Mapping[str, Sequence[TypeChanges]]
    ) -> None:
        """Notes the patterns that stand for nothing."""
        version = self.version
        for each in patterns:
            if not any(each in found for found in standing.values()):
                what = f"no type of {version} is called {each.type}"
                advice = f"write one of {listed(self.types.objects)}, with `*` for any part of it"
                self._note(each, "", "", each.place(""), what, advice)
                continue
            self._find_unmatched(each, f"no type of {version} that {each.type} stands for has")
        for each in self.given:
            if ANY not in each.type and each.type in self.types.objects:
                self._find_unmatched(each, f"{each.type} of {version} does not have")

    def _find_unmatched(self, changes: TypeChanges, lacks: str) -> None:
        for rule, name, _ in _rules(changes):
            if (changes.type, rule, name) not in self.used:
                what = f"`{rule}` names {name}, which {lacks}"
                place = changes.place(rule, name)
                self._note(changes, rule, name, place, what, "correct or remove the rule")

    def _note_rivals(self, type_name: str, one: _Said, other: _Said) -> None:
        what = (
            f"`{one.rule}` of {one.written} and, at {other.where}, `{other.rule}` of {other.written} say different "
            f"things about {one.name} of {type_name}"
        )
        advice = f"write a rule for {one.name} under {type_name} itself, or narrow a pattern"
        rivals = finding(ProjectCode.UNUSED, one.where, what, advice)
        self.misfits.append(Misfit((), rivals))

    def _note(
        self, changes: TypeChanges, rule: str, name: str, where: str, what: str, advice: str
    ) -> None:
        key = (str(changes.version), changes.type, rule, name)
        self.misfits.append(Misfit(key, finding(ProjectCode.UNUSED, where, what, advice)))


def _unplaced(of_type: Sequence[_Said], idle: Sequence[_Said], placed: set[str]) -> Iterator[_Said]:
    """What is said about places where the property does not go: it stays where it is, or no rule that counts says where it goes.

    Args:
        of_type: all that is said about a type.
        idle: what of that does not count, as it holds elsewhere only.
        placed: the properties of which the rest says where they go.
    """
    leads = {each.name for each in of_type if each.rule in _PLACING and each.holds}
    for each in of_type:
        if each.name in leads:
            continue
        if each.stays or (each in idle and each.name not in placed):
            yield each


def _renamed(changes: TypeChanges, name: str) -> str | None:
    """The newer name of a type that changes are for, where they give it."""
    stands_for = captures(changes.type, name)
    if changes.rename_type is None or stands_for is None:
        return None
    return filled(changes.rename_type, stands_for)


def _subjects(said: _Said) -> tuple[tuple[str, str], ...]:
    """What a rule decides about a property: where it goes, what its values become, its default."""
    if said.rule == "keep":
        return (said.name, "place"), (said.name, "shape")
    subject = "place" if said.rule in _PLACING else "shape" if said.rule in _SHAPING else said.rule
    return ((said.name, subject),)
