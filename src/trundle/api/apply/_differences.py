"""Which fields an object has, and which differ between two objects."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from trundle.api.apply._fields import FieldSet, Json, Path, member, outside
from trundle.api.apply._shapes import NOTHING, Form, ListShape, MapShape, Shape, elements
from trundle.api.apply._values import ABSENT, plainly_same, same


@dataclass(frozen=True, slots=True)
class Differences:
    """What differs from one object to another; no field is in two of the sets."""

    added: FieldSet
    modified: FieldSet
    removed: FieldSet

    def outside(self, places: Iterable[Path]) -> "Differences":
        """These without what is at or under some places."""
        left = tuple(places)
        return Differences(
            outside(self.added, left), outside(self.modified, left), outside(self.removed, left)
        )

    @property
    def changed(self) -> FieldSet:
        """The fields that are in the other object with a new value."""
        return self.added | self.modified


def fields_of(shape: Shape, value: Json) -> FieldSet:
    """The fields that an object states: its leaves, elements of lists, members of maps, and whatever is empty."""
    found: set[Path] = set()
    _collect(shape, value, (), found)
    return frozenset(found - {()})


def _collect(shape: Shape, value: Json, path: Path, found: set[Path]) -> None:
    match shape.handled(shape.form(value)):
        case ListShape(atomic=True) | MapShape(atomic=True) | None:
            found.add(path)
        case ListShape() as listed if isinstance(value, list):
            by_element = elements(listed, value)
            for element, values in by_element.items():
                if len(values) == 1:
                    _collect(listed.items, values[0], (*path, element), found)
                found.add((*path, element))
        case MapShape() as mapped if isinstance(value, dict):
            for name, inner in value.items():
                here = (*path, member(name))
                _collect(mapped.at(name) or NOTHING, inner, here, found)
                if inner is None or inner == {} or name not in mapped.fields:
                    found.add(here)
        case _:
            pass


def differences(shape: Shape, old: Json, new: Json) -> Differences:
    """What differs from an old object to a new one."""
    walk = _Walk()
    walk.compare(shape, old, new, ())
    return Differences(
        *(frozenset(each - {()}) for each in (walk.added, walk.modified, walk.removed))
    )


@dataclass(frozen=True, slots=True)
class _Walk:
    added: set[Path] = field(default_factory=set)
    modified: set[Path] = field(default_factory=set)
    removed: set[Path] = field(default_factory=set)

    def compare(self, shape: Shape, old: Json, new: Json, path: Path) -> None:
        if not plainly_same(old, new):
            self._compare(shape, old, new, path)

    def _compare(self, shape: Shape, old: Json, new: Json, path: Path) -> None:
        """Compares values that are not the same at first sight."""
        if new is ABSENT:
            leaf = self._visit(shape, shape.form(old), old, new, path)
        elif old is ABSENT or shape.form(old) == shape.form(new):
            leaf = self._visit(shape, shape.form(new), old, new, path)
        else:
            self._visit(shape, shape.form(old), old, new, path)
            leaf = self._visit(shape, shape.form(new), old, new, path)
        if not leaf:
            self._one_sided(old, new, path)

    def _one_sided(self, old: Json, new: Json, path: Path) -> None:
        if old is ABSENT:
            self.added.add(path)
        elif new is ABSENT:
            self.removed.add(path)

    def _visit(self, shape: Shape, form: Form, old: Json, new: Json, path: Path) -> bool:
        """Compares values of one form; says whether they were compared as a whole."""
        match shape.handled(form):
            case ListShape() as listed:
                before = old if isinstance(old, list) else []
                after = new if isinstance(new, list) else []
                if listed.atomic or not (before or after):
                    return self._leaf(old, new, path)
                self._lists(listed, before, after, path)
            case MapShape() as mapped:
                before_members = old if isinstance(old, dict) else {}
                after_members = new if isinstance(new, dict) else {}
                if mapped.atomic or not (before_members or after_members):
                    return self._leaf(old, new, path)
                for name in {**before_members, **after_members}:
                    was = before_members.get(name, ABSENT)
                    is_ = after_members.get(name, ABSENT)
                    if not plainly_same(was, is_):
                        here = (*path, member(name))
                        self._compare(mapped.at(name) or NOTHING, was, is_, here)
            case _:
                return self._leaf(old, new, path)
        return False

    def _leaf(self, old: Json, new: Json, path: Path) -> bool:
        if old is ABSENT or new is ABSENT:
            self._one_sided(old, new, path)
        elif not same(old, new):
            self.modified.add(path)
        return True

    def _lists(self, shape: ListShape, old: list[Json], new: list[Json], path: Path) -> None:
        before, after = elements(shape, old), elements(shape, new)
        for element in {**before, **after}:
            here = (*path, element)
            was, is_ = before.get(element, []), after.get(element, [])
            if len(was) > 1 and len(is_) > 1:
                if not same(was, is_):
                    self.modified.add(here)
                continue
            # Elements of which there are several count as one value, and as another one than a single element.
            if len(was) > 1:
                self.removed.add(here)
            if len(is_) > 1:
                self.added.add(here)
            single = was[0] if len(was) == 1 else ABSENT, is_[0] if is_ else ABSENT
            if len(is_) > 1:
                single = single[0], ABSENT
            if single != (ABSENT, ABSENT):
                self.compare(shape.items, *single, here)
