"""Who owns which fields of an object, and what applying and updating do to that.

These are the rules of Kubernetes' server-side apply, for an object in the shape of one version: fields that an applier no longer
states go where no other owner has them, what another manager owns with another value is a conflict, and an update takes over what it
changes.

The sets of fields are in the words of that version. What an owner has that the version cannot show is `hidden`: it stays as it is,
whatever is applied.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from trundle.api._recent import Recent
from trundle.api.apply._differences import Differences, differences, fields_of
from trundle.api.apply._fields import EMPTY, FieldSet, Json, Path, outside, path_text, size_of
from trundle.api.apply._merging import as_empty, as_null, merged, without
from trundle.api.apply._shapes import Shape, is_field, under
from trundle.api.apply._values import same
from trundle.api.apply._words import SameWords, Words
from trundle.errors import Kind, TrundleError


class Manager(NamedTuple):
    """Who owns fields; an applier is the same at every version, all others are one for each version.

    Attributes:
        name: its name, as the client gives it.
        operation: `Apply` or `Update`.
        version: the `apiVersion` that it writes; empty for an applier.
        subresource: the subresource that it writes, or nothing.
    """

    name: str
    operation: str
    version: str
    subresource: str

    def __str__(self) -> str:
        about = f'"{self.name}"'
        if self.subresource:
            about += f' with subresource "{self.subresource}"'
        return about + (f" using {self.version}" if self.version else "")


class Owned(msgspec.Struct, frozen=True):
    """What one manager owns.

    Attributes:
        version: the `apiVersion` that it wrote last.
        fields: the fields, in the words of the version at hand.
        time: when it changed something last, in seconds precise; none where that is not known.
        hidden: what it owns that the version at hand cannot show, as it is kept.
        written: how both are written, where they are as they were read.
        by: in whose words they are written so.
        foreign: whether those words are not known, as those of a later release; all of it is hidden then.
    """

    version: str
    fields: FieldSet
    time: str | None = None
    hidden: FieldSet = EMPTY
    written: Json = None
    by: str = ""
    foreign: bool = False

    def __bool__(self) -> bool:
        return bool(self.fields or self.hidden)

    def with_fields(self, fields: FieldSet) -> "Owned":
        """The same with other fields."""
        if fields == self.fields:
            return self
        hidden = (
            EMPTY if self.foreign else self.hidden
        )  # Only what is in known words is kept with others.
        return Owned(self.version, fields, self.time, hidden)

    def without(self, fields: FieldSet) -> "Owned":
        """The same without some fields."""
        return self if self.fields.isdisjoint(fields) else self.with_fields(self.fields - fields)

    def less_hidden(self, left: FieldSet) -> "Owned":
        """The same with less that is hidden."""
        return self if left == self.hidden else Owned(self.version, self.fields, self.time, left)

    def without_hidden(self, places: FieldSet) -> "Owned":
        """The same without what is hidden at or under some places, as they are kept, and without hidden objects around these."""
        around = {path[:length] for path in places for length in range(1, len(path))}
        return self if self.foreign else self.less_hidden(outside(self.hidden, places) - around)


Owners = dict[Manager, Owned]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A field that another manager owns with another value.

    Attributes:
        manager: the owner.
        path: the field.
    """

    manager: Manager
    path: Path

    @property
    def field(self) -> str:
        """The field, as Kubernetes writes it: `.spec.replicas`."""
        return path_text(self.path)


class AtOthers(Protocol):
    """What becomes of an apply at other versions, which have some of the same data in other structures."""

    def given_up(self, document: Json, fields: FieldSet) -> Json:
        """An object as it is where kept fields that its version hides go at the versions that show them; the same one where it shows no difference."""

    def remaining(self, document: Json, fields: FieldSet) -> FieldSet:
        """Which kept fields other versions still show of an object."""

    def given_back(self, whole: Json, pruned: Json, hidden: FieldSet) -> Json:
        """What the second of two objects becomes where other versions show that it lacks some kept fields of the first."""


class _Nowhere:
    def given_up(self, document: Json, _: FieldSet) -> Json:
        return document

    def remaining(self, _: Json, fields: FieldSet) -> FieldSet:
        return fields

    def given_back(self, _: Json, pruned: Json, __: FieldSet) -> Json:
        return pruned


NOWHERE: AtOthers = _Nowhere()
"""Where there are no other versions."""


class ApplyConflictError(TrundleError):
    """An applied configuration says something else than what others own.

    Attributes:
        conflicts: the fields, by their owners.
    """

    kind = Kind.CONFLICT

    def __init__(self, conflicts: Iterable[Conflict]) -> None:
        self.conflicts = tuple(
            sorted(conflicts, key=lambda each: (each.manager, _order(each.path)))
        )
        super().__init__(self._text())

    def _text(self) -> str:
        if len(self.conflicts) == 1:
            (only,) = self.conflicts
            return f"Apply failed with 1 conflict: conflict with {only.manager}: {only.field}"
        lines = []
        for manager in sorted({each.manager for each in self.conflicts}):
            lines.append(f"conflicts with {manager}:")
            lines += [f"- {each.field}" for each in self.conflicts if each.manager == manager]
        return f"Apply failed with {len(self.conflicts)} conflicts: " + "\n".join(lines)


def _order(path: Path) -> list[tuple[bool, str]]:
    """Orders paths as Kubernetes does: at each level fields that are meant themselves come before what is in others."""
    return [*((True, each) for each in path[:-1]), *((False, each) for each in path[-1:])]


def apply(
    shape: Shape,
    live: Json,
    config: Json,
    owners: Owners,
    manager: Manager,
    version: str,
    words: Words,
    *,
    force: bool,
    ignored: Iterable[Path] = (),
    at_others: AtOthers = NOWHERE,
) -> tuple[Json, Owners]:
    """Applies a configuration to an object.

    Args:
        shape: the shape of both.
        live: the object.
        config: the configuration.
        owners: who owns what of the object.
        manager: who applies.
        version: the `apiVersion` of the configuration.
        words: how kept fields are called at the version.
        force: whether it takes over what others own.
        ignored: places that it neither changes nor owns.
        at_others: asked where the version hides what the applier has stated at other ones, and where fields go while it hides what others own.

    Returns:
        The object, and who owns what of it.

    Raises:
        ApplyConflictError: others own fields with other values.
    """
    owners = _reconciled(shape, owners)
    last = owners.get(manager, Owned(version, EMPTY))
    fields = outside(fields_of(shape, config), tuple(ignored))
    owners[manager] = replace(last.with_fields(fields), version=version)
    whole = merged(shape, live, config)
    result = _pruned(shape, whole, owners, last.fields, words)
    if last.hidden and not last.foreign:
        result, own = _given_up(shape, result, owners, manager, words, at_others)
        owners[manager] = own
    hidden = hidden_of_others(owners, manager)
    if hidden and not same(whole, result):
        result = at_others.given_back(whole, result, hidden)
    found = differences(shape, live, result).outside(ignored)
    return result, _without_gone(_taken(owners, found, manager, force=force), found.removed, words)


def update(
    shape: Shape,
    live: Json,
    new: Json,
    owners: Owners,
    manager: Manager,
    words: Words,
    *,
    ignored: Iterable[Path] = (),
) -> tuple[FieldSet, Owners]:
    """Finds what an update takes over.

    Args:
        shape: the shape of both objects.
        live: the object before.
        new: the object after.
        owners: who owns what of the object before.
        manager: who updates.
        words: how kept fields are called at the version.
        ignored: places that are not owned by this update.

    Returns:
        The fields that it takes over, and who owns what without them.
    """
    found = differences(shape, live, new).outside(ignored)
    left = _taken(_reconciled(shape, owners), found, manager, force=True)
    if own := left.pop(manager, None):
        own = own.without(found.removed)
    left = {**left, manager: own} if own else left
    return found.changed, _without_gone(left, found.removed, words)


def _taken(owners: Owners, found: Differences, manager: Manager, *, force: bool) -> Owners:
    """What is owned after a change by a manager, before that is given what it takes over."""
    others = {each: owned for each, owned in owners.items() if each != manager}
    conflicts = {each: owned.fields & found.changed for each, owned in others.items()}
    if not force and any(conflicts.values()):
        raise ApplyConflictError(
            Conflict(each, path) for each, paths in conflicts.items() for path in paths
        )
    for each, owned in others.items():
        others[each] = owned.without(conflicts[each] | found.removed)
    return {each: owned for each, owned in {**owners, **others}.items() if owned}


def hidden_of_others(owners: Owners, manager: Manager) -> FieldSet:
    """What others than a manager own that the version at hand cannot show, as it is kept."""
    return hidden_of({each: owned for each, owned in owners.items() if each != manager})


def hidden_of(owners: Owners) -> FieldSet:
    """What is owned that the version at hand cannot show, as it is kept."""
    return frozenset[Path]().union(*(each.hidden for each in owners.values() if not each.foreign))


def with_claimed(shape: Shape, whole: Json, pruned: Json, claimed: FieldSet) -> Json | None:
    """An object with what is claimed of what it lost or was changed in; None where that is nothing.

    Args:
        shape: the shape of both objects.
        whole: the object before.
        pruned: the object without fields that an applier no longer states.
        claimed: what others own of it.
    """
    found = differences(shape, whole, pruned)
    if claimed.isdisjoint(found.removed | found.modified):
        return None
    named = _with_named(shape)
    gone = named(fields_of(shape, whole)) - named(fields_of(shape, pruned)) - named(claimed)
    return without(shape, whole, gone, emptied=as_empty)


def taken_elsewhere(
    owners: Owners, manager: Manager, found: Differences, words: Words, *, force: bool
) -> Owners:
    """Who owns what after a change, which another version shows as one of fields that the writer's version hides.

    Args:
        owners: who owns what after the change, in the words of the writer's version.
        manager: who writes.
        found: what the other version shows of the change.
        words: how kept fields are called at that version.
        force: whether the writer takes over what others own.

    Raises:
        ApplyConflictError: others own such fields with other values.
    """
    changed = {
        kept: path for path in found.changed for kept in words.kept(frozenset({path}), EMPTY)
    }
    known = [each for each in owners if not owners[each].foreign]
    conflicts = {each: owners[each].hidden & changed.keys() for each in known if each != manager}
    if not force and any(conflicts.values()):
        raise ApplyConflictError(
            Conflict(each, changed[path]) for each, paths in conflicts.items() for path in paths
        )
    removed = words.kept(found.removed, EMPTY)
    left = {
        each: owners[each].less_hidden(owners[each].hidden - conflicts.get(each, EMPTY) - removed)
        for each in known  # Also what the writer itself has at other versions may be gone.
    }
    return {each: owned for each, owned in {**owners, **left}.items() if owned}


def _without_gone(owners: Owners, removed: FieldSet, words: Words) -> Owners:
    """Owners without what was hidden in what is removed, and without objects that only other versions have around it: they may be gone with it."""
    if not removed or not any(each.hidden for each in owners.values()):
        return owners
    places = words.kept(removed, EMPTY)
    found = {each: owned.without_hidden(places) for each, owned in owners.items()}
    return {each: owned for each, owned in found.items() if owned}


def _pruned(
    shape: Shape, result: Json, owners: Mapping[Manager, Owned], last: FieldSet, words: Words
) -> Json:
    """An object without what its applier stated before, and no owner states now."""
    if not last:
        return result
    named = _with_named(shape)
    everything, before = named(fields_of(shape, result)), named(last)

    def left_without(gone: FieldSet) -> FieldSet:
        return named(fields_of(shape, without(shape, result, gone, emptied=as_null)))

    claimed = named(
        frozenset[Path]().union(*(each.fields for each in owners.values()))
        | _around_hidden(owners, words)
    )
    left = left_without(everything - left_without(before) - claimed)
    # What the applier did not have before stays, even without any owner.
    return without(shape, result, (everything - left) & before, emptied=as_empty)


def present(shape: Shape, value: Json, fields: Mapping[Path, FieldSet]) -> FieldSet:
    """The kept fields that a value has.

    Args:
        shape: the shape of the value.
        value: the value.
        fields: what is shown of each kept field.
    """
    found = _with_named(shape)(fields_of(shape, value))
    return frozenset(kept for kept, shown in fields.items() if not shown.isdisjoint(found))


def pruned_of(shape: Shape, value: Json, fields: FieldSet) -> Json:
    """A value without fields, and without what only they were in."""
    return _pruned(shape, value, {}, fields, SameWords())


def _given_up(
    shape: Shape,
    result: Json,
    owners: Owners,
    manager: Manager,
    words: Words,
    at_others: AtOthers,
) -> tuple[Json, Owned]:
    """An object without what its applier stated at other versions in other structures, and no owner states now; and what the applier still owns.

    What the version cannot show at all of that is not in the object, and stays, with the objects around it.
    """
    own = owners[manager]
    left = at_others.given_up(result, own.hidden)
    if left is result:
        return result, own
    named = _with_named(shape)

    def kept(claims: Mapping[Manager, Owned]) -> Json:
        stated = named(frozenset[Path]().union(*(each.fields for each in claims.values())))
        around = named(_around_hidden(claims, words))
        found = with_claimed(shape, result, left, stated | around)
        return left if found is None else found

    # What others state stays in the object, but the applier has given it up.
    own = own.less_hidden(at_others.remaining(kept({manager: own}), own.hidden))
    return kept({**owners, manager: own}), own


def _around_hidden(owners: Mapping[Manager, Owned], words: Words) -> FieldSet:
    """For each place that has something hidden in it that is owned, a field in it."""
    hidden = (path for each in owners.values() if not each.foreign for path in each.hidden)
    places = frozenset(path[:length] for path in hidden for length in range(1, len(path)))
    shown, _ = words.shown(places)
    return frozenset((*place, "") for place in shown)


def _with_named(shape: Shape) -> Callable[[FieldSet], FieldSet]:
    """Adds to sets of fields the named fields that contain theirs."""

    def add(fields: FieldSet) -> FieldSet:
        found = set(fields)
        for path in fields:
            at: Shape | None = shape
            for length, element in enumerate(path[:-1], 1):
                if is_field(at, element):
                    found.add(path[:length])
                at = under(at, element)
        return frozenset(found)

    return add


def _reconciled(shape: Shape, owners: Mapping[Manager, Owned]) -> Owners:
    """Owners with the whole of what has become one value, in place of fields in it."""
    found = dict(owners)
    for each, owned in owners.items():
        if places := _wholes(shape, owned.fields):
            found[each] = owned.with_fields(
                owned.fields.difference(places) | frozenset(places.values())
            )
    return found


def _wholes(shape: Shape, fields: FieldSet) -> Mapping[Path, Path]:
    """For each of some fields that is in what is one value, the place of that value."""
    found = _FOUND.get((shape, fields))
    if found is None:
        wholes = _Wholes(shape)
        found = {path: whole for path in fields if (whole := wholes.around(path[:-1]))}
        _FOUND.keep((shape, fields), found, size_of(fields))
    return found


_FOUND: Recent[Mapping[Path, Path]] = Recent(1024 * 1024)
"""What was found lately; most objects of a resource type have the same few sets of fields."""


class _Wholes:
    """Which places are one value for a shape; remembers what it finds."""

    def __init__(self, shape: Shape) -> None:
        self._known: dict[Path, tuple[Shape | None, Path]] = {(): (shape, ())}

    def around(self, path: Path) -> Path:
        """The outermost place at or above a path that is one value; the empty path where there is none."""
        return self._at(path)[1]

    def _at(self, path: Path) -> tuple[Shape | None, Path]:
        known = self._known.get(path)
        if known is None:
            shape, whole = self._at(path[:-1])
            shape = None if whole or shape is None or shape.free_form else under(shape, path[-1])
            if shape is not None and shape.atomic:
                whole = path
            known = self._known[path] = shape, whole
        return known
