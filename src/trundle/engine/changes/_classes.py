"""What changed about a class: its parents, and its members, inherited ones included where that can be known."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trundle.engine._declarations import (
    DESTRUCTOR,
    ClassDeclaration,
    MethodDeclaration,
    PropertyDeclaration,
)
from trundle.engine._declared import OWN, Kind, Member
from trundle.engine.changes._methods import NOTHING, Methods
from trundle.engine.changes._properties import new_property, property_changes, replaced
from trundle.engine.changes._releases import Releases
from trundle.errors import listed
from trundle.packages import ChangeCode, Level, ReleaseChange, judged, major, minor

_REMOVED = {"properties": ChangeCode.PROPERTY_REMOVED, "methods": ChangeCode.METHOD_REMOVED}
_WORDS = {"properties": "property", "methods": "method"}


def class_changes(releases: Releases, name: str) -> Iterator[ReleaseChange]:
    """What changed about a class that both releases have, and that can be read in both."""
    old, new = releases.before.classes[name], releases.now.classes[name]
    if old.usage != new.usage:
        text = f"its usage was {old.usage} and is {new.usage}"
        yield major(ChangeCode.CLASS_USAGE, name, text)
    elif new.usage == "Meta":
        yield from _meta_class_changes(name, old, new)
    yield from _parents(releases, name)
    if old.imports != new.imports:
        yield judged(ChangeCode.BODY, name, "it imports other extension methods")
    if not releases.is_same(old, old.meta, new, new.meta):
        yield judged(ChangeCode.META, name, "its meta says something else")
    yield from _Members(releases, name, "properties").changes()
    yield from _Members(releases, name, "methods").changes()


def _parents(releases: Releases, name: str) -> Iterator[ReleaseChange]:
    ours, theirs = releases.before.parents(name), releases.now.parents(name)
    if ours == theirs:
        return
    lost = [each for each in ours if releases.now.descends(name, each) is not True]
    text = f"it extends {listed(theirs)}; it extended {listed(ours)}"
    if lost:
        text += f"; look who takes its objects for {listed(lost)}"
    yield ReleaseChange(name, ChangeCode.PARENTS, text, Level.MINOR, judge=bool(lost))


def _meta_class_changes(
    name: str, old: ClassDeclaration, new: ClassDeclaration
) -> Iterator[ReleaseChange]:
    code = ChangeCode.CLASS_USAGE
    if old.cardinality != new.cardinality:
        text = f"its cardinality was {old.cardinality} and is {new.cardinality}"
        yield (major if new.cardinality == "One" else minor)(code, name, text)
    ours, theirs = set(old.applies), set(new.applies)
    if ours != theirs:
        is_wider = "All" in theirs or ("All" not in ours and ours < theirs)
        text = f"it applied to {listed(old.applies)} and applies to {listed(new.applies)}"
        yield (minor if is_wider else major)(code, name, text)
    if old.is_inherited != new.is_inherited:
        verb = "inherit" if new.is_inherited else "no longer inherit"
        yield judged(code, name, f"child classes {verb} what it says")


@dataclass(frozen=True, slots=True)
class _Members:
    """Compares the properties or the methods of a class.

    A member counts as removed only where the class has no other declaration of it. What changed about an inherited one is said of the
    class that declares it.
    """

    releases: Releases
    name: str
    kind: Kind

    def changes(self) -> Iterator[ReleaseChange]:
        """What changed."""
        before = self.releases.before.members(self.name, self.kind)
        now = self.releases.now.members(self.name, self.kind)
        for key in sorted(before.keys() | now.keys()):
            old, new = before.get(key), now.get(key)
            found: Iterator[ReleaseChange] = iter(())
            if self._is_said_elsewhere(old, new):
                continue
            if key in OWN:
                found = self._own(key, old, new)
            elif old is None and new is not None:
                found = self._added(key, new)
            elif new is None and old is not None:
                found = iter((self._removed(key),))
            elif old is not None and new is not None:
                found = self._changed(key, old, new)
            private = key.startswith("_")
            yield from (replaced(each, Level.MINOR) if private else each for each in found)

    def _is_said_elsewhere(self, old: Member | None, new: Member | None) -> bool:
        """Whether the class that declares a member says what changed about it."""
        ours, theirs = (None if each is None else each.owner.name for each in (old, new))
        if ours == theirs:
            return ours != self.name
        if ours is None:
            return theirs != self.name and theirs in self.releases.before.ancestors(self.name)
        if theirs is None:
            return ours != self.name and ours in self.releases.now.ancestors(self.name)
        return False

    def _place(self, key: str) -> str:
        return f"{self.name}.{key.removeprefix('.')}" if key not in OWN else f"{self.name}{key}"

    def _added(self, key: str, new: Member) -> Iterator[ReleaseChange]:
        """A new member; one that a new parent brings along counts only where models must give it."""
        place, is_inherited = self._place(key), new.owner.name != self.name
        if isinstance(new.declaration, PropertyDeclaration):
            found = new_property(place, self.releases, new.owner, new.declaration)
            if not is_inherited or found.code is ChangeCode.REQUIRED:
                yield found
        elif not is_inherited:
            yield minor(ChangeCode.METHOD_ADDED, f"{place}()", "the method is new")

    def _removed(self, key: str) -> ReleaseChange:
        place = self._place(key) + ("()" if self.kind == "methods" else "")
        text = f"the {_WORDS[self.kind]} is removed"
        unknown = self.releases.now.unknown(self.name)
        if unknown:
            text += f"; look whether {listed(unknown)} has it"
        return ReleaseChange(place, _REMOVED[self.kind], text, Level.MAJOR, judge=bool(unknown))

    def _changed(self, key: str, old: Member, new: Member) -> Iterator[ReleaseChange]:
        match old.declaration, new.declaration:
            case PropertyDeclaration() as one, PropertyDeclaration() as other:
                yield from property_changes(
                    self._place(key), self.releases, (old.owner, one), (new.owner, other)
                )
            case MethodDeclaration() as one, MethodDeclaration() as other:
                pair = (old.owner, one), (new.owner, other)
                yield from Methods(self._place(key), self.releases, *pair).changes()

    def _own(self, key: str, old: Member | None, new: Member | None) -> Iterator[ReleaseChange]:
        """What changed about `.init` and `.destroy`, which no code calls by name."""
        declared: Mapping[bool, MethodDeclaration] = {
            each is old: each.declaration
            for each in (old, new)
            if each is not None and isinstance(each.declaration, MethodDeclaration)
        }
        owners = [each.owner for each in (old, new) if each is not None]
        place = self._place(key)
        if old is None:
            text = "objects are destroyed by it" if key == DESTRUCTOR else "objects begin with it"
            yield ReleaseChange(
                f"{place}()", ChangeCode.METHOD_ADDED, text, Level.MINOR, judge=True
            )
        elif new is None:
            text = "the method is removed; look at what it did for objects"
            yield ReleaseChange(
                f"{place}()", ChangeCode.METHOD_REMOVED, text, Level.MINOR, judge=True
            )
        pair = (owners[0], declared.get(True, NOTHING)), (owners[-1], declared.get(False, NOTHING))
        for each in Methods(place, self.releases, *pair).changes():
            if (old is not None and new is not None) or each.code != ChangeCode.BODY:
                yield each
