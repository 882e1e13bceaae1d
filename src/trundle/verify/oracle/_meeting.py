"""Which types and properties of two versions meet: by their names, and by what the rules say of names."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from itertools import pairwise
from typing import Any, NamedTuple, ParamSpec, TypeAlias, TypeVar

from trundle.schema import (
    EnumType,
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
from trundle.verify._broken import MISSING
from trundle.version import ApiVersion

Rules: TypeAlias = Mapping[str, Any]
"""The configured changes of one type, as they stand in `trundle.yaml`."""

KEYS = ("name", "id", "key")
"""The properties by which elements of lists are found where no key is declared."""
OF_VALUES = ("values", "convert", "wrap", "unwrap", "variant")
"""The rules that say how values become others."""
_NO_RULES: Rules = {}
_PART = re.compile(r"""\[\]|\["(?P<quoted>[^"]*)"\]|(?P<name>[^.\[\]]+)""")


class HookedType(NamedTuple):
    """The hooks of one type between two neighbours.

    Attributes:
        type: the type's name on the older side.
        older: the older neighbour.
        newer: the newer neighbour.
        to: what the way up reads and writes, as paths.
        back: what the way down reads and writes.
        converts: whether there are converters of single properties.
    """

    type: str
    older: str
    newer: str
    to: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    back: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    converts: bool = False


class At(NamedTuple):
    """A type in a version."""

    version: str
    type: Type


Stations: TypeAlias = tuple[At, ...]
"""The types of one place in all versions on the way that have it, the first and the last one included."""

_P = ParamSpec("_P")
_R = TypeVar("_R")
_T = TypeVar("_T")


def once(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """A function of a world and of types in it that is computed once for each: they never change."""

    @wraps(function)
    def ask(*arguments: _P.args, **named: _P.kwargs) -> _R:
        assert not named
        world, *rest = arguments
        assert isinstance(world, World)
        key = (function, *rest)
        if key not in world.answers:
            world.answers[key] = function(*arguments, **named)
        found: _R = world.answers[key]
        return found

    return ask


@dataclass(frozen=True, eq=False)
class World:
    """All that is known: the versions of one resource type, the rules, and where hooks stand.

    Attributes:
        schemas: the schema of each version, in ascending order of the versions.
        hub: the version in whose shape a store keeps objects.
        rules: by version and name of the type, both of the older side.
        hooks: where hand-written code decides.
        answers: what functions that are `once` have come to.
    """

    schemas: Mapping[str, Schema]
    hub: str
    rules: Mapping[tuple[str, str], Rules] = field(default_factory=dict)
    hooks: tuple[HookedType, ...] = ()
    answers: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def rules_of(self, at: At) -> Rules:
        """The rules that stand under an object type."""
        return self.rules.get((at.version, self.object(at).name), _NO_RULES)

    def rules_between(self, one: At, other: At) -> tuple[bool, Rules]:
        """Whether the way from one object type to another leads up, and the rules under the older one."""
        up = self.newer(other.version, one.version)
        return up, self.rules_of(one if up else other)

    def definition(self, at: At) -> ObjectType | EnumType | None:
        """What a reference refers to; None for any other type."""
        return (
            self.schemas[at.version].definitions[at.type.key] if isinstance(at.type, Ref) else None
        )

    def object(self, at: At) -> ObjectType:
        """The object type that is known to be there."""
        found = self.definition(at)
        assert isinstance(found, ObjectType)
        return found

    def root(self, version: str) -> At:
        """The type of whole documents."""
        return At(version, Ref(self.schemas[version].resources[0].root))

    @once
    def member(self, at: At, name: str) -> At | None:
        """The type of a property of an object, additional ones included."""
        definition = self.object(at)
        declared = definition.property(name)
        found = declared.type if declared is not None else definition.additional
        return None if found is None else At(at.version, found)

    def names(self, version: str) -> tuple[str, ...]:
        """The members of whole documents that say what they are; schemas need not declare them."""
        named = self.schemas[version].resources[0].name_property
        return ("apiVersion", named, *(("metadata",) if named == "kind" else ()))

    @once
    def moved(self, stations: Stations) -> bool:
        """Whether a rule moves anything into or out of objects, or names a path inside of one."""
        every = [self.rules_of(each) for each in stations]
        return any(each.get("move") or inside(each) for each in every)

    @once
    def newer(self, one: str, other: str) -> bool:
        """Whether the first version is newer than the second."""
        return ApiVersion.parse(one) > ApiVersion.parse(other)

    @once
    def neighbour(self, version: str) -> str | None:
        """The next GA version; for a preview the next version, or the last GA version after that."""
        own = ApiVersion.parse(version)
        every = [ApiVersion.parse(each) for each in self.schemas]
        later = [each for each in every if each > own]
        ga = [each for each in every if not each.preview]
        if not own.preview:
            later = [each for each in later if not each.preview]
        elif ga and ga[-1] < own:
            return ga[-1].text
        return later[0].text if later else None

    @once
    def way(self, start: str, end: str) -> list[str]:
        """The versions from one to another, each a neighbour of the one before."""
        up, down = self._chain(start), self._chain(end)
        meeting = next(each for each in up if each in down)
        return [*up[: up.index(meeting) + 1], *reversed(down[: down.index(meeting)])]

    def _chain(self, version: str) -> list[str]:
        found = [version]
        while (following := self.neighbour(found[-1])) is not None:
            found.append(following)
        return found

    @once
    def meet(self, one: At, other: At) -> bool:
        """Whether values of two types are the same thing: kinds agree, and the names of objects and enums."""
        match bare(one.type), bare(other.type):
            case (FreeForm(), _) | (_, FreeForm()) | (Union(), _) | (_, Union()):
                return True
            case ListOf(ours), ListOf(theirs):
                return self.meet(At(one.version, ours), At(other.version, theirs))
            case MapOf(ours), MapOf(theirs):
                return self.meet(At(one.version, ours), At(other.version, theirs))
            case (Scalar() | Ref()) as ours, (Scalar() | Ref()) as theirs:
                return self._named(At(one.version, ours), At(other.version, theirs))
            case _:
                return False

    def _named(self, one: At, other: At) -> bool:
        ours, theirs = self.definition(one), self.definition(other)
        if isinstance(ours, ObjectType) and isinstance(theirs, ObjectType):
            return self.same_name(one, other) or not (ours.named and theirs.named)
        if isinstance(ours, ObjectType) or isinstance(theirs, ObjectType):
            return False
        kinds = {getattr(ours or one.type, "kind", ""), getattr(theirs or other.type, "kind", "")}
        if ours is not None and theirs is not None:
            unnamed = not ours.named and not theirs.named
            return len(kinds) == 1 and (unnamed or self.same_name(one, other))
        scalars = ours is None and theirs is None
        return len(kinds) == 1 or (scalars and kinds == {"integer", "number"})

    def same_name(self, one: At, other: At) -> bool:
        """Whether two types share a name, type renames between their versions considered."""
        older, newer = (other, one) if self.newer(one.version, other.version) else (one, other)
        definitions = self.definition(older), self.definition(newer)
        assert definitions[0] is not None
        assert definitions[1] is not None
        name = definitions[0].name
        for version in self.schemas:
            if version == older.version or (
                self.newer(version, older.version) and self.newer(newer.version, version)
            ):
                name = self.rules.get((version, name), _NO_RULES).get("rename_type") or name
        return name == definitions[1].name

    @once
    def counterpart(self, one: At, other: At, name: str) -> str | None:
        """What a property of one object type is called in another one; None where it has no counterpart."""
        up, rules = self.rules_between(one, other)
        names = turned(renames(rules), up=up)
        wanted = names.get(name, name)
        if wanted == name and (name in names.values() or name in rules.get("keep", ())):
            return None  # another property has this name there
        older_name = name if up else wanted
        moved = moves(rules)
        if (older_name,) in moved or ((wanted if up else name),) in moved.values():
            return None
        ours, theirs = self.member(one, name), self.member(other, wanted)
        return None if ours is None or theirs is None else wanted

    def renamed_between(self, one: At, other: At) -> set[str]:
        """The names in renames of versions that lie between two others, as previews do that the way leaves out."""
        older, newer = (one, other) if self.newer(other.version, one.version) else (other, one)
        names = {self.object(one).name, self.object(other).name}
        found: set[str] = set()
        for (version, type_), rules in self.rules.items():
            between = self.newer(version, older.version) and self.newer(newer.version, version)
            if between and type_ in names:
                found |= {name for pair in renames(rules).items() for name in pair}
        ends = renames(self.rules_of(older)).items() if found else ()
        return found | {name for pair in ends if found & set(pair) for name in pair}

    @once
    def ruled(self, one: At, other: At, name: str) -> tuple[str, Any] | None:
        """The rule that says how the values of a property become others, and what it says."""
        up, rules = self.rules_between(one, other)
        return self.rule_at(one, other, (name if up else turned(renames(rules)).get(name, name),))

    def rule_at(self, one: At, other: At, older: tuple[str, ...]) -> tuple[str, Any] | None:
        """The same for the values at a path of the older of two object types."""
        _, rules = self.rules_between(one, other)
        said = ((rule, rules.get(rule) or {}) for rule in OF_VALUES)
        path = ".".join(older)
        return next(((rule, each[path]) for rule, each in said if path in each), None)

    def hooks_between(self, one: At, other: At) -> list[tuple[HookedType, bool]]:
        """The hooks between two object types, and whether they lead up."""
        up = self.newer(other.version, one.version)
        older, newer = (one, other) if up else (other, one)
        ends = (older.version, newer.version, self.object(older).name)
        return [(each, up) for each in self.hooks if (each.older, each.newer, each.type) == ends]

    def beyond(self, source: str, target: str) -> list[tuple[HookedType, bool]]:
        """The hooks on the way from what is stored to a version that are not on the way from a document to it."""
        ways = (self.way(source, target), self.way(self.hub, target))
        direct, stored = ({frozenset(each) for each in pairwise(way)} for way in ways)
        return [
            (each, each.newer in self.way(each.older, target))
            for each in self.hooks
            if {each.older, each.newer} in stored - direct
        ]

    @once
    def written_beyond(self, source: str, target: str) -> frozenset[str]:
        """The names that such hooks write."""
        ways = [each.to if up else each.back for each, up in self.beyond(source, target)]
        written = {first(path) for _, writes in ways for path in writes}
        return frozenset(self._with_renamed(written))

    @once
    def derived_from_hub(self, stations: Stations) -> set[str]:
        """The names that hooks write which lie between what is stored and the last station, and not on the way to it.

        Where a document has no value for them, they may derive from the rest of it, once it is stored.
        """
        found = set()
        for each, up in self.beyond(stations[0].version, stations[-1].version):
            if self.object(stations[-1]).name in self._names_of(each.type):
                found |= {first(path) for path in (each.to if up else each.back)[1]}
        return self._with_renamed(found)

    @once
    def bound_by_hooks(self, stations: Stations) -> set[str]:
        """The names that hooks of some object type read or write, but those between two neighbours."""
        own = {each.version for each in stations}
        names = {self.object(each).name for each in stations}
        found: set[str] = set()
        for each in self.hooks:
            between = len(own) == 2 and own == {each.older, each.newer}  # noqa: PLR2004
            if not between and names & self._names_of(each.type):
                found |= {part for way in (*each.to, *each.back) for part in map(first, way)}
        return self._with_renamed(found)

    def _with_renamed(self, found: set[str]) -> set[str]:
        """Some names, and what rules rename them to or from."""
        every = [renames(rules) for rules in self.rules.values()]
        while (
            more := {
                two
                for pairs in every
                for pair in pairs.items()
                for one, two in (pair, pair[::-1])
                if one in found
            }
            - found
        ):
            found |= more
        return found

    def _names_of(self, name: str) -> set[str]:
        """All names that a type has had."""
        found = {name}
        for (_, older), rules in sorted(self.rules.items()):
            if rules.get("rename_type") and {older, rules["rename_type"]} & found:
                found |= {older, rules["rename_type"]}
        return found


def first(path: str) -> str:
    """The first name of a path."""
    return parts(path)[0]


def bare(type_: Type) -> Type:
    """A type without the null it may admit."""
    return type_.inner if isinstance(type_, Nullable) else type_


def bare_all(stations: Stations) -> Stations:
    """Types without the null they may admit."""
    return tuple(At(each.version, bare(each.type)) for each in stations)


def renames(rules: Rules) -> dict[str, str]:
    """Newer names by older ones."""
    every = {
        **(rules.get("rename") or {}),
        **(rules.get("wrap") or {}),
        **(rules.get("unwrap") or {}),
    }
    return {older: newer for older, newer in every.items() if older != newer}


def turned(ways: Mapping[_T, _T], *, up: bool = False) -> dict[_T, _T]:
    """What leads from older to newer, or from newer to older."""
    return dict(ways) if up else {newer: older for older, newer in ways.items()}


def inside(rules: Rules) -> set[str]:
    """The properties inside of which a rule names a path that does not move."""
    paths = (parts(path) for rule in ("values", "convert") for path in rules.get(rule) or ())
    return {path[0] for path in paths if len(path) > 1 and path not in moves(rules)}


def moves(rules: Rules) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Newer paths by older ones."""
    return {parts(older): parts(newer) for older, newer in (rules.get("move") or {}).items()}


@once
def ways_of_moves(world: World, one: At, other: At) -> dict[tuple[str, ...], tuple[str, ...]]:
    """The paths at which moved values stand in a neighbour, by those at which they stand in an object type."""
    up, rules = world.rules_between(one, other)
    return turned(moves(rules), up=up)


def parts(path: str) -> tuple[str, ...]:
    """The parts of a path: names, and `[]` for each element of a list."""
    return tuple(
        found["quoted"] if found["quoted"] is not None else found["name"] or "[]"
        for found in _PART.finditer(path)
    )


def neighbours(stations: Stations) -> bool:
    """Whether there is nothing between the two ends of a way."""
    return len(stations) == 2  # noqa: PLR2004 - the two


def objects_only(world: World, stations: Stations) -> bool:
    """Whether all types are plain objects."""
    return all(isinstance(world.definition(each), ObjectType) for each in stations)


def type_at(world: World, at: At, path: tuple[str, ...]) -> At | None:
    """The type at a path that leads through objects and elements of lists; None where there is none."""
    for name in path:
        plain = At(at.version, bare(at.type))
        if name == "[]" and isinstance(plain.type, ListOf):
            at = At(at.version, plain.type.items)
            continue
        if not objects_only(world, (plain,)):
            return None
        member = world.member(plain, name)
        if member is None:
            return None
        at = member
    return at


def without(value: dict[str, Any], path: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    """What stands at a path of an object, and the object without it."""
    name, below = path[0], path[1:]
    if name not in value:
        return MISSING, value
    if not below:
        return value[name], {key: each for key, each in value.items() if key != name}
    inner = value[name]
    if not isinstance(inner, dict):
        return MISSING, value
    found, rest = without(inner, below)
    return found, {**value, name: rest}
