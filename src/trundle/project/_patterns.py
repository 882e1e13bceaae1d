"""Patterns in configured changes: `*` in the name of a type or property stands for any part of a name.

Patterns are written out for the types and properties of the older version before changes are checked against schemas, so
that nothing else knows of them. A finding about what a pattern stands for names the place of the pattern.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from trundle.errors import listed
from trundle.evolution import PathError, TypeChanges, join_path, split_path
from trundle.project.changes import BY_PROPERTY
from trundle.project.findings import Misfit, ProjectCode, finding
from trundle.schema import Nullable, ObjectType, Ref, Schema, Type

ANY = "*"
"""Stands for any part of a name, none included."""

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
    """

    rule: str
    name: str
    value: Any
    where: str
    written: str
    rank: int


def spread_patterns(
    changes: Sequence[TypeChanges], schemas: Sequence[Schema]
) -> tuple[tuple[TypeChanges, ...], tuple[Misfit, ...]]:
    """Configured changes with every pattern written out.

    A rule that names a type and a property itself goes before one that names either by a pattern.

    Returns:
        The changes, and the patterns that stand for nothing or contradict each other.
    """
    by_version = {schema.version: schema for schema in schemas}
    found: list[TypeChanges] = []
    misfits: list[Misfit] = []
    for version in dict.fromkeys(each.version for each in changes):
        ours = [each for each in changes if each.version == version]
        if version not in by_version or not any(_has_patterns(each) for each in ours):
            found += ours
        else:
            spreading = _Spreading(by_version[version], ours)
            found += spreading.changes()
            misfits += spreading.misfits
    return tuple(found), tuple(misfits)


def _has_patterns(changes: TypeChanges) -> bool:
    return ANY in changes.type or any(ANY in name for _, name, _ in _rules(changes))


def _rules(changes: TypeChanges) -> Iterator[tuple[str, str, Any]]:
    """Each rule with the property that it names, and what it says about that."""
    for rule in BY_PROPERTY:
        said = getattr(changes, rule)
        for name in said:
            yield rule, name, said[name] if isinstance(said, Mapping) else None


class _Spreading:
    """The changes of one version, on the way to being written out."""

    def __init__(self, schema: Schema, changes: Sequence[TypeChanges]) -> None:
        self.schema = schema
        self.given = changes
        self.misfits: list[Misfit] = []
        self.used: set[tuple[str, str, str]] = set()
        self.objects: dict[str, list[ObjectType]] = {}
        for each in schema.definitions.values():
            own = self.objects.setdefault(each.name, [])
            if isinstance(each, ObjectType):
                own.append(each)

    def changes(self) -> Iterator[TypeChanges]:
        """The changes type by type: those that the file names, then those that patterns stand for."""
        exact = {each.type: each for each in self.given if ANY not in each.type}
        patterns = [each for each in self.given if ANY in each.type]
        standing = {
            name: [each for each in patterns if captures(each.type, name) is not None]
            for name in self.objects
        }
        names = [name for name in self.objects if standing[name] and name not in exact]
        for name in (*exact, *sorted(names)):
            if name not in self.objects:
                yield exact[name]  # that there is no such type is found later
                continue
            of_type = [*([exact[name]] if name in exact else []), *standing[name]]
            spread = self._of_type(name, of_type)
            if spread is not None:
                yield spread
        self._find_unused(patterns, standing)

    def _of_type(self, name: str, of_type: Sequence[TypeChanges]) -> TypeChanges | None:
        """The changes of one type; None where no rule names it."""
        fields: dict[str, Any] = {}
        where = dict(of_type[0].where)
        for said in self._chosen(name, of_type):
            where[f"{said.rule}.{said.name}"] = said.where
            if said.rule == "keep":
                fields["keep"] = (*fields.get("keep", ()), said.name)
            else:
                fields.setdefault(said.rule, {})[said.name] = said.value
        for each in of_type:
            stands_for = captures(each.type, name)
            if each.rename_type is not None and stands_for is not None:
                fields["rename_type"] = filled(each.rename_type, stands_for)
                where["rename_type"] = each.place("rename_type")
                break
        if not fields:
            return None
        return TypeChanges(version=self.schema.version, type=name, where=where, **fields)

    def _chosen(self, name: str, of_type: Sequence[TypeChanges]) -> Iterator[_Said]:
        """What holds for each property of a type, of all that is said about it."""
        said = [each for changes in of_type for each in self._said(name, changes)]
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
        for rule, written, value in _rules(changes):
            where = changes.place(rule, written)
            rank = by_pattern + (ANY in written)
            key = (changes.type, rule, written)
            if not rank:
                self.used.add(key)
                yield _Said(rule, written, value, where, written, rank)
                continue
            for path, stands_for in self._properties(name, written):
                self.used.add(key)
                newer = value
                if rule in _PLACING and stands_for is not None:
                    newer = filled(value, stands_for)
                yield _Said(rule, path, newer, where, written, rank)

    def _properties(
        self, type_name: str, written: str
    ) -> Iterator[tuple[str, tuple[str, ...] | None]]:
        """The properties of a type that a name or pattern stands for, each with what every `*` stands for.

        A property that is called just so stands for itself, whatever is in its name.
        """
        own = self.objects[type_name]
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
            elif (inner := self._object(each.type)) is not None:
                for path, more in self._paths(inner, parts[1:]):
                    yield (each.name, *path), (*stands_for, *more)

    def _object(self, type_: Type) -> ObjectType | None:
        bare = type_.inner if isinstance(type_, Nullable) else type_
        found = self.schema.definitions[bare.key] if isinstance(bare, Ref) else None
        return found if isinstance(found, ObjectType) else None

    def _find_unused(
        self, patterns: Sequence[TypeChanges], standing: Mapping[str, Sequence[TypeChanges]]
    ) -> None:
        """Notes the patterns that stand for nothing."""
        version = self.schema.version
        for each in patterns:
            if not any(each in found for found in standing.values()):
                what = f"no type of {version} is called {each.type}"
                advice = f"write one of {listed(self.objects)}, with `*` for any part of it"
                self._note(each, "", "", each.place(""), what, advice)
                continue
            self._find_unmatched(each, f"no type of {version} that {each.type} stands for has")
        for each in self.given:
            if ANY not in each.type and each.type in self.objects:
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


def _subjects(said: _Said) -> tuple[tuple[str, str], ...]:
    """What a rule decides about a property: where it goes, what its values become, its default."""
    if said.rule == "keep":
        return (said.name, "place"), (said.name, "shape")
    subject = "place" if said.rule in _PLACING else "shape" if said.rule in _SHAPING else said.rule
    return ((said.name, subject),)


def captures(pattern: str, name: str) -> tuple[str, ...] | None:
    """What each `*` of a pattern stands for in a name; None where the pattern is not that of the name."""
    expression = "(.*)".join(re.escape(each) for each in pattern.split(ANY))
    found = re.fullmatch(expression, name)
    return None if found is None else found.groups()


def filled(pattern: str, stands_for: Sequence[str]) -> str:
    """A pattern with each `*` replaced by what it stands for."""
    texts = iter(stands_for)
    return re.sub(re.escape(ANY), lambda _: next(texts), pattern)
