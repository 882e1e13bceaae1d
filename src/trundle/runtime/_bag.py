"""Stashing in the property bag, and what makes an entry stale."""

import enum
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec

from trundle.runtime._bases import StorageObject
from trundle.runtime._entries import (
    Aliases,
    BagEntry,
    Derive,
    Entry,
    MadeEntry,
    Stashing,
    made_entry,
    place_of,
)
from trundle.runtime._errors import BagError, reason_of
from trundle.runtime._hidden_content import shown, without_hidden
from trundle.runtime._json import same
from trundle.runtime._marks import THERE, marks, unmarked
from trundle.runtime._objects import ABSENT, UNKNOWN, Absent, FreeForm
from trundle.runtime._places import holds_object
from trundle.runtime._required_values import may_lack_required
from trundle.runtime._validation import read_value


class Missing(enum.Enum):
    """That there is no current entry; unlike `ABSENT`, which an entry may say."""

    MISSING = "missing"


MISSING = Missing.MISSING

STALE = "stale"
"""What an entry accompanies that was stale when its object was rolled forward: nothing, any more."""

Value = TypeVar("Value")


class Widened(tuple[Any, ...]):
    """What entries accompany; those of earlier releases accompany all of it but the last."""

    __slots__ = ()


class Carried(NamedTuple):
    """Where one value may have been stashed, and what it accompanies when its object is rolled forward.

    Attributes:
        places: the entries, the one that counts first.
        before: what it accompanied.
        after: what it accompanies from now on.
        same: whether these are the same places, so that a stale entry may become current again.
    """

    places: tuple[tuple[str, str], ...]
    before: Derive | None
    after: Derive | None
    same: bool


def stash(
    target: Any,
    place: tuple[str, str],
    value: Any,
    *,
    witness: Derive | None = None,
    derived: Derive | None = None,
    hooked: bool = False,
    aliases: Aliases = (),
    holder: tuple[str, ...] = (),
    own: bool = False,
) -> None:
    """Puts a value into an object's bag.

    Args:
        target: the storage object, complete but for its bag.
        place: the property and the version whose shape the value has.
        value: the value; absent is recorded only where the object would derive another value.
        witness: what the entry accompanies; when that changes, the entry is stale.
        derived: the value that the object has without the entry; where that is the same, there is no entry.
        hooked: whether a hook derives that; it is then not called.
        aliases: other places that the same value may have been stashed at; entries where it has another shape there.
        holder: the path of the nested object whose presence the entry says, where a put keeps that as its edit leaves it.
        own: whether the entry says that of the writer, too.
    """
    there = value is THERE
    if there:
        value = ABSENT
    if witness is None and derived is None and value is not ABSENT:
        known = Stashing(aliases=aliases) if aliases else None
        put_entry(target, place, made_entry(value, ABSENT, known) if known else Entry(value))
        return
    if derived is not None and not hooked:
        with unmarked():
            needed = not same(derived(target), value)
    else:
        needed = value is not ABSENT or (
            hooked and (witness is None or _beside(target, witness) is not None)
        )
    if needed:
        entry = MadeEntry(value, ABSENT if witness is None else _beside(target, witness))
    else:
        if not marks():
            return
        entry = NoEntry(value, there=holds_object(target, holder) if holder else there)
    entry.stashing = Stashing(witness, None if hooked else derived, hooked, aliases, holder, own)
    put_entry(target, place, entry)


def _beside(target: StorageObject, witness: Derive) -> str | None:
    """What an entry accompanies in an object that is being made."""
    with unmarked():
        return digest(witness(target))


class NoEntry(MadeEntry):
    """What is in a bag where a writer needs no entry for a value, as long as it is not merged.

    It is equal to no entry: what it stands for is not in the bag.

    Attributes:
        there: whether the writer has an object of which there is nothing to be said.
    """

    there: bool = False

    is_mark = True


class WatchedPresence(NoEntry):
    """Whether a nested object is there to versions of which a writer says nothing, as its own object shows it to them."""


def has_entries(bag: Any) -> bool:
    """Whether a bag has more in it than the marks of what a writer left unsaid."""
    return bag is not ABSENT and any(not isinstance(each, NoEntry) for each in _all_entries(bag))


def put_entry(target: StorageObject, place: tuple[str, str], entry: Any) -> None:
    """Puts an entry into an object's bag, creating the bag."""
    name, version = place
    bag: Any = target.property_bag
    if bag is ABSENT:
        target.property_bag = {name: {version: entry}}
    else:
        bag.setdefault(name, {})[version] = entry


def unstash(
    stored: StorageObject,
    entries: tuple[BagEntry[Value], ...],
    witness: Derive | None = None,
    *,
    stale: bool = False,
) -> Value | Absent | Missing:
    """The value of the first current entry among some, or `MISSING`; `stale` takes stale ones too.

    Raises:
        BagError: an entry is there, but its value is not of the entry's shape.
    """
    bag = stored.property_bag
    if bag is ABSENT:
        return MISSING
    for each in entries:
        found = bag.get(each.property)
        if found is None or (entry := found.get(each.version)) is None:
            continue
        if not stale and entry.beside is not ABSENT and not current(stored, entry, witness):
            continue
        value: Value | Absent = entry_value(stored, each, entry)
        if each.convert is None or value is ABSENT:
            return value
        return each.convert(value)
    return MISSING


def current(stored: StorageObject, entry: Any, witness: Derive | None) -> bool:
    """Whether an entry still accompanies what it did; a stale one is nothing to show or build on."""
    if entry.beside is ABSENT:
        return True
    if witness is None:
        return bool(entry.beside != STALE)
    beside: str | None = entry.beside
    now = witness(stored)
    if beside in _digests(now):
        return True
    if beside is None or not isinstance(now, Widened):
        return False  # all was absent, and is not any more
    return beside in _digests(now[:-1])


def recall(
    stored: StorageObject,
    entries: tuple[BagEntry[Value], ...],
    witness: Derive | None = None,
    *,
    stale: bool = False,
) -> Value | Absent:
    """Like `unstash`, but absent where there is no such entry."""
    value = unstash(stored, entries, witness, stale=stale)
    return ABSENT if value is MISSING else value


def entry_value(stored: StorageObject, each: BagEntry[Any], entry: Any) -> Any:
    """An entry's value, read as the entry's shape."""
    value = entry.value
    if not isinstance(value, msgspec.Raw) or each.type is FreeForm:
        return value
    try:
        return each.decode(value)
    except msgspec.ValidationError:
        read, findings = read_value(bytes(value), each.type, strict=False)
        if findings:
            inside = findings[0].place.path.removeprefix("$")
            raise BagError(
                f"the entry {each.property!r} of version {each.version} in the property bag cannot "
                f"be read: {reason_of(findings[0])}{f' - in the entry at {inside}' if inside else ''}",
                stored,
            ) from None
        return read


def carry(
    target: StorageObject,
    source: StorageObject,
    consumed: tuple[tuple[str, str], ...],
    carried: tuple[Carried, ...] = (),
) -> None:
    """Lets the entries of an object travel on to another, but those that its properties have taken.

    An entry that is there already wins, over those that may have the same value at other places, too; it may accompany
    one that comes with it. One that was current is current, and one that was stale is stale. The bag's order is
    alphabetical.
    """
    made = [] if target.property_bag is ABSENT else list(_all_entries(target.property_bag))
    taken = {place_of(alias) for each in made for alias in each.stashing.aliases}
    if source.property_bag is not ABSENT:
        for name, versions in source.property_bag.items():
            for version, entry in versions.items():
                if (name, version) in consumed or (name, version) in taken:
                    continue
                if target.property_bag is ABSENT or version not in target.property_bag.get(
                    name, {}
                ):
                    put_entry(target, (name, version), entry)
        for each in carried:
            made.extend(_go_along(target, source, each))
        if marks():
            _leave_behind(target, source)
    accompany(target, made)
    tidy(target)


def _leave_behind(target: StorageObject, source: StorageObject) -> None:
    """Lets entries forget what they are derived from and accompany in the shape that they come from.

    A merge would ask the object in its new shape for that.
    """
    ours = entries_of(target)
    for place, entry in entries_of(source).items():
        if place not in ours or ours[place] is not entry or entry.stashing == Stashing():
            continue
        left = type(entry)(entry.value, entry.beside)
        left.stashing = Stashing(aliases=entry.stashing.aliases)
        if isinstance(entry, NoEntry):
            left.there = entry.there
        put_entry(target, place, left)


def _go_along(
    target: StorageObject, source: StorageObject, carried: Carried
) -> Iterator[MadeEntry]:
    """Lets entries that travel on accompany what makes them stale from now on; gives those that do."""
    taken = False
    theirs, ours = entries_of(source), entries_of(target)
    for place in carried.places:
        if place not in theirs or ours.get(place) is not theirs[place]:
            continue
        entry = theirs[place]
        counts = not taken and current(source, entry, carried.before)
        taken = taken or counts
        if not counts and carried.same:
            continue
        if counts and carried.after is not None:
            moved = made_entry(entry.value, ABSENT, Stashing(carried.after))
            put_entry(target, place, moved)
            yield moved
        else:
            put_entry(target, place, Entry(entry.value, ABSENT if counts else STALE))


def settle(target: StorageObject) -> None:
    """Lets the entries that a conversion has made accompany what they do now that all are there."""
    if target.property_bag is not ABSENT:
        with unmarked():
            accompany(target, _all_entries(target.property_bag))


def accompany(target: StorageObject, entries: Iterable[Any]) -> None:
    """Notes what entries accompany; they may accompany each other, and all are current."""
    noted = [
        (entry, entry.stashing.witness)
        for entry in entries
        if entry.stashing.witness is not None and not isinstance(entry, NoEntry)
    ]
    for entry, _ in noted:
        entry.beside = ABSENT
    found = [digest(witness(target)) for _, witness in noted]
    for (entry, _), beside in zip(noted, found, strict=True):
        entry.beside = beside


def _all_entries(bag: Any) -> Iterator[Any]:
    for versions in bag.values():
        yield from versions.values()


def entries_of(holder: Any) -> dict[tuple[str, str], Any]:
    """The entries of an object's bag, by property and version."""
    if holder.property_bag is ABSENT:
        return {}
    return {
        (name, version): entry
        for name, versions in holder.property_bag.items()
        for version, entry in versions.items()
    }


def fill(holder: Any, entries: Mapping[tuple[str, str], Any]) -> None:
    """Gives an object a bag of its own with some entries; none where there are none."""
    holder.property_bag = ABSENT
    bag: dict[str, dict[str, Any]] = {}
    for (name, version), entry in entries.items():
        bag.setdefault(name, {})[version] = entry
    if bag:
        holder.property_bag = bag
        tidy(holder)


def tidy(stored: StorageObject) -> None:
    """Sorts a bag, and drops it where it is empty."""
    bag: Any = stored.property_bag
    if bag is ABSENT or (len(bag) == 1 and len(next(iter(bag.values()))) == 1):
        return
    kept = {name: dict(sorted(bag[name].items())) for name in sorted(bag) if bag[name]}
    stored.property_bag = kept or ABSENT


def digest(values: tuple[Any, ...]) -> str | None:
    """A short digest of what an entry accompanies, as clients see it; None where all of it is absent."""
    return next(_digests(values))


def _digests(values: tuple[Any, ...]) -> Iterator[str | None]:
    """The digest of what an entry accompanies, and those that were made before.

    Bags of later releases counted in them, and what a version requires and the stored object lacks did not.
    """
    if all(value is ABSENT for value in values):
        yield None
        return
    text = _text(values)
    hides = UNKNOWN.encode() in text
    if hides or may_lack_required():
        yield _hashed(_text(each if each is ABSENT else shown(each) for each in values))
    if hides:
        yield _hashed(_text(each if each is ABSENT else without_hidden(each) for each in values))
    yield _hashed(text)


def _text(values: Iterable[Any]) -> bytes:
    return msgspec.json.encode([None if value is ABSENT else [value] for value in values])


def _hashed(text: bytes) -> str:
    return hashlib.blake2b(text, digest_size=9).hexdigest()
