"""Whether an edit through one version is seen by another as it should be.

What the edit means for the other version follows from converting what was read and what was written without
any stored object. Wherever these two are the same, nothing may change; wherever they differ, the edit is
to be seen.
"""

import functools
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect

from trundle.runtime import StorageObject, struct_type
from trundle.verify._broken import MISSING, Difference, differences, same, spoken
from trundle.verify._values import KEY_PROPERTIES

Path = tuple[str | int, ...]
Wrong = tuple[Path, Any, Any]


class Edit(NamedTuple):
    """What a version sees before and after an edit, and what the edit alone looks like to it.

    Attributes:
        before: the stored object as the version sees it.
        after: the same after the edit.
        was: what the writer read, converted to the version with nothing stored.
        becomes: what the writer wrote, converted to the version with nothing stored.
        made: what the writer changed, in its own version.
        storage: the storage class.
        renamed: newer property names by older ones, as far as they were configured.
        apart: whether what stands at a path has nothing but its name from the writer's version.
        hooked: the names of the properties that hooks write.
    """

    before: Any
    after: Any
    was: Any
    becomes: Any
    made: tuple[Difference, ...]
    storage: Any
    renamed: Mapping[str, str]
    apart: Callable[[Path], bool] = lambda _: False
    hooked: frozenset[str] = frozenset()


def changed_wrongly(edit: Edit, *, lists: bool, hooks: bool) -> Iterator[Wrong]:
    """All places where the version sees what it should not: path, expected and found value.

    Args:
        edit: what is compared.
        lists: whether to look inside lists whose elements the edit has changed, or outside of them.
        hooks: whether other properties of an object may follow the edited ones.
    """
    return _Comparison(edit, lists=lists, hooks=hooks).compare(
        (), edit.before, edit.after, edit.was, edit.becomes
    )


def takes_scalars(made: Iterable[Difference]) -> bool:
    """Whether an edit does nothing but take scalars away: all objects stay, and of the variants that they were of."""
    return all(each.other is MISSING and not isinstance(each.one, dict | list) for each in made)


class _Comparison:
    def __init__(self, edit: Edit, *, lists: bool, hooks: bool) -> None:
        self.lists = lists
        self.hooks = hooks
        self.before, self.after = edit.before, edit.after
        self.apart = edit.apart
        self.hooked = _all_names(set(edit.hooked), edit.renamed)
        self.keys = declared_keys(edit.storage)
        self.discriminators = discriminators(edit.storage)
        self.names: set[str] = set()
        self.lists_changed: set[str] = set()
        self.places = [each.path[:-1] for each in edit.made]
        self.elements_changed = {
            (name, place)
            for each in edit.made
            for one, place in pairwise(each.path)
            if isinstance(one, str) and isinstance(place, int)
            for name in _all_names({one}, edit.renamed)
        }
        self.takes_scalars = takes_scalars(edit.made)
        own_lists: set[str] = set()
        for each in edit.made:
            own = _objects_only(_after_lists(each.path))
            both = isinstance(each.one, list) and isinstance(each.other, list)
            self.names.update(own[:-1] if both else own, _names(each.one), _names(each.other))
            self.lists_changed.update(_objects_only(each.path))
            own_lists.update(own[-1:] if both else self.lists_of_others(each.path))
        self.names |= _all_names(self.names, edit.renamed)
        self.lists_changed |= _all_names(self.lists_changed, edit.renamed)
        self.own_lists = _all_names(own_lists, edit.renamed)
        self.depths = {len(_objects_only(each.path)) for each in edit.made}

    def lists_of_others(self, path: Path) -> Iterator[str]:
        """The list of the element whose key stands at a path: what has another key there is another element."""
        match path:
            case (*_, str(name), int(), str(key)) if key in self.keys.get(name, KEY_PROPERTIES):
                yield name

    def compare(
        self, path: Path, before: Any, after: Any, was: Any, becomes: Any
    ) -> Iterator[Wrong]:
        if same(was, becomes):
            yield from self.untouched(path, before, after, becomes)
        elif becomes is MISSING:
            if same(before, was) and same(before, after) and not self.lists and not self.hooks:
                yield path, MISSING, after  # something else may be an entry that is current again
            elif self.takes_scalars and isinstance(before, dict) and isinstance(was, dict):
                yield from self.left(path, before, after, was)
        elif before is MISSING and after is MISSING and was is not MISSING:
            return  # what others have there does not fit the version, with the edit and without
        elif isinstance(becomes, dict) and isinstance(was, dict) and isinstance(before, dict):
            yield from self.members(path, before, after, was, becomes)
        elif isinstance(becomes, list) and isinstance(was, list) and not same(before, was):
            if self.lists and isinstance(before, list) and isinstance(after, list):
                yield from self.elements(path, before, after, was, becomes)
        else:
            yield from self.outside(path, becomes, after)

    def left(
        self, path: Path, before: dict[str, Any], after: Any, was: dict[str, Any]
    ) -> Iterator[Wrong]:
        """What the writer could not see of an object stays, where the edit took away all that it could see."""
        for name, value in before.items():
            found = after.get(name, MISSING) if isinstance(after, dict) else MISSING
            yield from self.compare((*path, name), value, found, was.get(name, MISSING), MISSING)

    def outside(self, path: Path, expected: Any, found: Any) -> Iterator[Wrong]:
        """What the edit says, although more may be beside it that the writer could not see."""
        if self.lists or self.hooks:
            return
        if isinstance(expected, list) and isinstance(found, list):
            found = _spoken_of(expected, found)
        for each in differences(expected, found, path):
            if each.one is not MISSING:
                yield each.path, each.one, each.other

    def untouched(self, path: Path, before: Any, after: Any, becomes: Any) -> Iterator[Wrong]:
        if self.lists and not any(isinstance(part, int) for part in path):
            return
        for each in differences(before, after, path):
            made = value_at(becomes, each.path[len(path) :])
            hooked = not self.hooked.isdisjoint(each.path)
            if hooked and made is not MISSING and same(made, each.other):
                continue  # a hook makes the same of the edit, in place of an entry beside what was edited
            if not self.may_be_stale(each.path) and not self.holds_only_stale(each.one, each.other):
                yield each.path, each.one, each.other

    def may_be_stale(self, path: Path) -> bool:
        """Whether the edit may have made stale, or current again, what is seen at a place.

        That is so for a namesake of what was edited, for what hooks derive from it, and for what is the first
        element of a list to the writer, where that may be another element now.
        """
        if self.hooks:
            return len(_objects_only(path)) in self.depths
        if any(one in self.own_lists and type(other) is str for one, other in pairwise(path)):
            return True
        if in_another_variant(self.discriminators, (self.before, self.after), path):
            return True
        if self.in_a_namesake(path) or self.in_neighbours(path):
            return True
        own = path[self.holders(path) :]
        return not self.names.isdisjoint(own) or not self.lists_changed.isdisjoint(path[-1:])

    def in_neighbours(self, path: Path) -> bool:
        """Whether a place is in one of several elements side by side that were all edited, and that nothing identifies."""
        for number, (name, place) in enumerate(pairwise(path), 1):
            if (name, place) not in self.elements_changed or not isinstance(place, int):
                continue
            if not {(name, place - 1), (name, place + 1)} & self.elements_changed:
                continue  # alone between others
            lists = [value_at(each, path[:number]) for each in (self.before, self.after)]
            both = all(isinstance(each, list) for each in lists)
            if both and self.by_key(path[:number], *lists) is None:
                return True
        return False

    def in_a_namesake(self, path: Path) -> bool:
        """Whether an object on the way to a place has but the name of one in which something was edited."""
        ways = (path[:length] for length in range(1, len(path)))
        return any(
            any(each[: len(way)] == way for each in self.places) and self.apart(way) for way in ways
        )

    def holders(self, path: Path) -> int:
        """How many of the first names of a path hold what was edited: what else is in these may not be stale."""
        return max((_alike(path, each) for each in self.places), default=0)

    def holds_only_stale(self, one: Any, other: Any) -> bool:
        """Whether an object is there for the sake of what the edit may have made stale or current alone."""
        if MISSING not in (one, other):
            return False
        names = {*_ends(one), *_ends(other)}
        return bool(names) and names <= self.names

    def members(
        self,
        path: Path,
        before: dict[str, Any],
        after: Any,
        was: dict[str, Any],
        becomes: dict[str, Any],
    ) -> Iterator[Wrong]:
        if not isinstance(after, dict):
            yield from self.outside(path, becomes, after)
            return
        for name in {**before, **after, **was, **becomes}:
            yield from self.compare(
                (*path, name),
                *(each.get(name, MISSING) for each in (before, after, was, becomes)),
            )

    def elements(
        self, path: Path, before: Any, after: Any, was: Any, becomes: Any
    ) -> Iterator[Wrong]:
        if path and path[-1] in self.names and path[-1] not in self.keys:
            return  # the writer has a single value there, whatever its key
        lists = before, after, was, becomes
        found = self.by_key(path, *lists)
        if found is None and (not path or path[-1] not in self.keys):
            found = _by_place(*lists)
        if found is None:
            return
        old, new, one, other = found
        for key in {**old, **new}:
            place = (*path, list(new).index(key) if key in new else list(old).index(key))
            ours, theirs = old.get(key, MISSING), new.get(key, MISSING)
            if (
                key in one
                and key in other
                and another_variant(self.discriminators, one[key], other[key])
            ):
                continue  # its namesake has taken its place
            if key in one and key in other:
                yield from self.compare(place, ours, theirs, one[key], other[key])
            elif key in one or (key in other and key not in old):
                wanted = other.get(key, MISSING)
                if not same(wanted, theirs) and not self.hooks:
                    yield place, wanted, theirs
            elif key not in other and not same(ours, theirs):
                yield place, ours, theirs

    def by_key(self, path: Path, *lists: Any) -> list[dict[Any, Any]] | None:
        declared = self.keys.get(str(path[-1]) if path else "")
        choices = [declared] if declared else [(name,) for name in KEY_PROPERTIES]
        for names in choices:
            found = [_keyed(items, names) for items in lists]
            if all(each is not None for each in found):
                return [each for each in found if each is not None]
        return None


def _spoken_of(expected: list[Any], found: list[Any]) -> list[Any]:
    """The elements that say what the expected ones do, in their order; all elements where one is missing."""
    rest = iter(found)
    matched = [next((item for item in rest if _says(item, each)), MISSING) for each in expected]
    return found if MISSING in matched else matched


def _says(value: Any, expected: Any) -> bool:
    """Whether a value says all that is expected, and perhaps more."""
    return all(each.one is MISSING for each in differences(expected, value))


def _alike(one: Path, other: Path) -> int:
    """How many parts two paths begin with that are the same."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _names(value: Any) -> Iterator[str]:
    """The names of all members, on all levels."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from _names(member)
    elif isinstance(value, list):
        for item in value:
            yield from _names(item)


def _ends(value: Any) -> Iterator[str]:
    """The names of all members within an object that are no objects with members themselves."""
    for name, member in value.items() if isinstance(value, dict) else ():
        if isinstance(member, dict) and member:
            yield from _ends(member)
        else:
            yield name


def _all_names(names: set[str], renamed: Mapping[str, str]) -> set[str]:
    """Names with all others that renames lead to, either way."""
    found = set(names)
    while True:
        more = {
            other
            for one, two in renamed.items()
            for here, other in ((one, two), (two, one))
            if here in found
        } - found
        if not more:
            return found
        found |= more


def _by_place(before: Any, after: Any, was: Any, becomes: Any) -> list[dict[Any, Any]] | None:
    """The elements of lists by place, where an edit changes no more than one of them, and nothing else says which is which."""
    lists = before, after, was, becomes
    objects = all(isinstance(item, dict) for each in lists for item in each)
    if not objects or any(name in item for item in (*was, *becomes) for name in KEY_PROPERTIES):
        return None
    changed = [each for each in zip(was, becomes, strict=False) if not same(*each)]
    unlike = {spoken(each) for each in (*was, *becomes)}
    sure = len(changed) <= 1 and len(unlike) == len(was) + len(changed)
    alike = len(set(map(len, lists))) == 1
    return [dict(enumerate(each)) for each in lists] if sure and alike else None


def _keyed(items: list[Any], names: tuple[str, ...]) -> dict[Any, Any] | None:
    keyed: dict[Any, Any] = {}
    for item in items:
        if not isinstance(item, dict):
            return None
        key = tuple(item.get(name, MISSING) for name in names)
        if any(map(_is_unspecific, key)) or key in keyed:
            return None
        keyed[key] = item
    return keyed


def _is_unspecific(part: Any) -> bool:
    """Whether a key property identifies no element; an empty text may stand for one that is not there."""
    return part is MISSING or part == "" or isinstance(part, dict | list)


def value_at(value: Any, path: Path) -> Any:
    """What stands at a path; `MISSING` where nothing does."""
    for part in path:
        if isinstance(value, dict) and isinstance(part, str):
            value = value.get(part, MISSING)
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return MISSING
    return value


def nothing_in(one: Any, other: Any, path: Path) -> bool:
    """Whether two documents have nothing at a place of metadata: it is absent, or an object without members.

    Which of them it is, is said by what is shared with other versions, where labels stand for properties.
    """
    ends = [value_at(each, path) for each in (one, other)]
    return path[:1] == ("metadata",) and all(each is MISSING or each == {} for each in ends)


def _after_lists(path: Path) -> Path:
    """What follows the last element of a list in a path."""
    places = [place for place, part in enumerate(path) if isinstance(part, int)]
    return path[places[-1] + 1 :] if places else path


def _objects_only(path: Path) -> tuple[str, ...]:
    return tuple(part for part in path if isinstance(part, str))


@functools.cache
def declared_keys(storage: Any) -> Mapping[str, tuple[str, ...]]:
    """The declared keys of all lists within a storage class, by the name of the property."""
    return {
        _property_name(class_, attribute): keys
        for class_ in _classes_within(storage)
        for attribute, keys in class_.__list_keys__.items()
    }


def in_another_variant(names: Collection[str], views: tuple[Any, Any], path: Path) -> bool:
    """Whether an object on the way to a place has become one of another variant of a union.

    Args:
        names: the properties that say of which variant an object is.
        views: what a version sees before and after.
        path: the place.
    """
    places = (path[:length] for length in range(1, len(path)))
    objects = (tuple(value_at(each, place) for each in views) for place in places)
    both = (each for each in objects if all(isinstance(value, dict) for value in each))
    return any(another_variant(names, *each) for each in both)


def another_variant(names: Collection[str], one: Any, other: Any) -> bool:
    """Whether two objects are of different variants of a union."""
    return any(one.get(name) != other.get(name) for name in names)


@functools.cache
def discriminators(storage: Any) -> frozenset[str]:
    """The properties that say of which variant of a union an object within a storage class is."""
    found = {"type", "kind"}  # of what is free-form data to the storage class
    for class_ in _classes_within(storage):
        found.update(_property_name(class_, each) for each in class_.__discriminators__)
        if class_.__struct_config__.tag_field is not None:
            found.add(class_.__struct_config__.tag_field)
    return frozenset(found)


def _classes_within(storage: Any) -> list[Any]:
    """A storage class, and all that objects within it are of."""
    found: dict[Any, None] = {}
    waiting: list[Any] = [storage]
    while waiting:
        class_ = waiting.pop()
        if class_ in found or not issubclass(class_, msgspec.Struct):
            continue
        found[class_] = None
        for field in struct_type(class_).fields:
            waiting.extend(_classes(field.type))
    return list(found)


def _property_name(class_: Any, attribute: str) -> str:
    return str(class_.__struct_encode_fields__[class_.__struct_fields__.index(attribute)])


def _classes(type_: Any) -> Iterator[type[Any]]:
    match type_:
        case inspect.StructType(cls) if issubclass(cls, StorageObject):
            yield cls
        case inspect.ListType(item_type=inner) | inspect.DictType(value_type=inner):
            yield from _classes(inner)
        case inspect.UnionType(types):
            for each in types:
                yield from _classes(each)
        case _:
            return
