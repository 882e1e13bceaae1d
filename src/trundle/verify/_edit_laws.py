"""The laws of edits: what one version changes is seen by all others, and all else is as before."""

import copy
import functools
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeAlias

from trundle.evolution import PRESENCE
from trundle.runtime import BAG, DocumentError, Scheme
from trundle.verify._broken import MISSING, Difference, LawBroken, differences, same, shown, spoken
from trundle.verify._made_anew import may_be_made_anew
from trundle.verify._removed import Removal, Stays, goes_with_an_object, may_go
from trundle.verify._seen import context_of, in_free_form, named, some_versions, tree_of, view
from trundle.verify._views import (
    Edit,
    Path,
    changed_wrongly,
    nothing_in,
    takes_scalars,
    value_at,
)

NOTHING: Mapping[str, str] = {}
Apart: TypeAlias = Callable[[str, str, Path], bool]
_LAW_3 = "law 3, an edit is seen, and all else is as before"
_LAW_5 = "law 5, data stays with its element"


def law3(
    scheme: Scheme,
    stored: Any,
    edited: Any,
    *,
    hooks: bool = False,
    hooked: Collection[str] = (),
    renamed: Mapping[str, str] = NOTHING,
) -> None:
    """After an edit, every version sees it where it can express it, and all else as before.

    A client that removes an object removes what is hidden from it in there, too, for all versions. That alone may go; what is stored
    beside the object stays. Whether some version has it outside of the object, because a rule moves it, is known to `law_of_edits` alone.

    Lists whose elements were added, removed or moved are left to `law5`.

    Args:
        scheme: the scheme of the generated package.
        stored: a storage object.
        edited: an edited copy of what some version reads of it.
        hooks: whether hooks may derive the values of other properties from the edited ones.
        hooked: the names of the properties that hooks write. In these alone, what stood beside the edit may be made anew.
        renamed: newer property names by older ones, as far as they were configured. A property may make
            a namesake stale, under any of its names.
    """
    law_of_edits(
        scheme, stored, edited, hooks=hooks, hooked=hooked, renamed=renamed, laws=(_LAW_3,)
    )


def law5(
    scheme: Scheme,
    stored: Any,
    edited: Any,
    *,
    hooks: bool = False,
    hooked: Collection[str] = (),
    renamed: Mapping[str, str] = NOTHING,
) -> None:
    """Data never moves to another list element.

    Elements are matched by their declared keys or a key property; what no version can match is left out.
    The arguments are those of `law3`.
    """
    law_of_edits(
        scheme, stored, edited, hooks=hooks, hooked=hooked, renamed=renamed, laws=(_LAW_5,)
    )


def law_of_edits(
    scheme: Scheme,
    stored: Any,
    edited: Any,
    *,
    hooks: bool = False,
    hooked: Collection[str] = (),
    renamed: Mapping[str, str] = NOTHING,
    laws: tuple[str, ...] = (_LAW_3, _LAW_5),
    apart: Apart = lambda *_: False,
    stays: Stays = lambda *_: None,
) -> None:
    """`law3` and `law5` of one edit, which look at the same conversions.

    The arguments are those of `law3`; `laws` are the names of the laws that are asked for. `apart` says whether what one
    version has at a path has nothing but its name from another version: an edit of that makes all of its namesake stale.
    `stays` says whether some version has a value outside of an object that the edit removes: then it stays.
    """
    resource, version = named(scheme, edited)
    seen = scheme.from_storage(stored, version)
    alone = scheme.to_storage(seen), scheme.to_storage(edited)
    written = scheme.to_storage(edited, stored)
    made = tuple(differences(tree_of(scheme, seen), tree_of(scheme, edited)))
    storage = type(scheme.convert(stored))
    context = context_of(scheme, stored=stored, seen=seen, edited=edited, written=written)
    for other in some_versions(scheme, resource, scheme.encode(written)):
        if other == version:
            continue  # `law1` says it all
        edit = Edit(
            view(scheme, stored, other),
            view(scheme, written, other),
            view(scheme, alone[0], other),
            view(scheme, alone[1], other),
            made,
            storage,
            renamed,
            functools.partial(apart, other, version),
            frozenset(hooked),
        )
        for law in laws:
            for place, expected, found in changed_wrongly(edit, lists=law == _LAW_5, hooks=hooks):
                wrong = place, expected, found
                if not _is_allowed(
                    scheme, other, edit, (stored, written, seen, edited), wrong, stays
                ):
                    raise LawBroken(
                        law,
                        resource,
                        (version, other),
                        path=shown(place),
                        expected=expected,
                        found=found,
                        context=context(),
                    )


def _is_allowed(
    scheme: Scheme,
    version: str,
    edit: Edit,
    objects: tuple[Any, Any, Any, Any],
    wrong: tuple[Path, Any, Any],
    stays: Stays,
) -> bool:
    """Whether a version may see something else than the edit would have it see.

    Args:
        scheme: the scheme of the generated package.
        version: the version.
        edit: what it sees.
        objects: what was stored, what is stored now, what the writer read, and what it wrote.
        wrong: where the version sees something else, what it should see, and what it sees.
        stays: whether a value stays where an object is removed.
    """
    stored, written, seen, edited = objects
    place, expected, found = wrong
    puts = stored, written
    writer = named(scheme, edited)[1]
    removed = writer, tree_of(scheme, seen), tree_of(scheme, edited)
    if (
        hidden_beside_more(scheme, puts, version, place)
        or (edited.__labels__ and nothing_in(edit.was, edit.becomes, place))
        or (
            not takes_scalars(edit.made)
            and may_go(stays, removed, (version, edit.before, edit.after), (place, expected))
            and goes_with_an_object(scheme, _removal(scheme, *objects), version, place)
        )
        or stands_for_nothing(scheme, puts, version, place, edit)
        or no_longer_fits(scheme, written, version, place, edit, edited)
    ):
        return True
    if expected == {} and is_absent_again(scheme, puts, version, place):
        return True
    if found is MISSING:
        lost = (version, place, expected)
        return may_be_made_anew(scheme, stored, (seen, edited), edit.made, lost)
    return expected is MISSING and stays_for_another(
        scheme, written, (writer, edit.made), version, place
    )


def _removal(scheme: Scheme, stored: Any, written: Any, seen: Any, edited: Any) -> Removal:
    alone = scheme.to_storage(seen), scheme.to_storage(edited)
    return Removal((stored, written), alone, (seen, edited))


def hidden_beside_more(scheme: Scheme, puts: tuple[Any, Any], version: str, place: Path) -> bool:
    """Whether a version does not see an edit because the hub has more there than the version can express.

    That is so where the hub sees the edit, nothing that is kept beside it has a part in what the version sees,
    and the version sees what it saw before. Free-form data on the way, for one, shows all of an object or nothing.

    Args:
        scheme: the scheme of the generated package.
        puts: what is stored before the edit, and after it.
        version: the version that does not see it.
        place: where it should.
    """
    before, after = (value_at(view(scheme, each, version), place) for each in puts)
    if not same(before, after):
        return False  # something has changed, in another way
    resource, _ = named(scheme, puts[1])
    hub = scheme.resources[resource].hub
    if same(*(view(scheme, each, hub) for each in puts)):
        return False  # the edit has gone nowhere
    bare = scheme.to_storage(scheme.from_storage(puts[1], hub))
    return same(value_at(view(scheme, bare, version), place), after)


def no_longer_fits(
    scheme: Scheme, written: Any, version: str, place: Path, edit: Edit, edited: Any
) -> bool:
    """Whether a version sees nothing of free-form data, because the writer made of it what the version has no type for.

    That is so where the writer edited free-form data, and the version sees the same of what the hub has without its bag: nothing, or
    the zero value of what it requires. Free-form data shows all of an object or nothing.

    Args:
        scheme: the scheme of the generated package.
        written: what is stored after the edit.
        version: the version that sees nothing.
        place: where it does not.
        edit: what the edit looks like to the version.
        edited: what the writer wrote.
    """
    if not any(in_free_form(edited, each.path) for each in edit.made):
        return False
    found = value_at(view(scheme, written, version), place)
    if found is not MISSING and spoken(found) not in _ZEROS:
        return False
    hub = scheme.resources[named(scheme, written)[0]].hub
    bare = scheme.to_storage(scheme.from_storage(written, hub))
    return same(value_at(view(scheme, bare, version), place), found)


def is_absent_again(scheme: Scheme, puts: tuple[Any, Any], version: str, place: Path) -> bool:
    """Whether a version sees no empty object because its clients once said so, beside the same as after the edit.

    Args:
        scheme: the scheme of the generated package.
        puts: what is stored before the edit, and after it.
        version: the version that sees no object.
        place: where it does not.
    """
    before, after = (tree_of(scheme, each) for each in puts)
    left, said = _without_presences(after)
    if not said or said != _without_presences(before)[1]:
        return False
    bare = scheme.decode(spoken(left).encode())
    return value_at(view(scheme, puts[1], version), place) is MISSING and (
        value_at(view(scheme, bare, version), place) == {}
    )


def stands_for_nothing(
    scheme: Scheme, puts: tuple[Any, Any], version: str, place: Path, edit: Edit
) -> bool:
    """Whether a value is expected only because its version requires one, and the version goes on to see the one that it has.

    The edit alone makes an object for the version, with a zero value for what it requires. The version has the object already, with
    a value that the writer cannot see.

    Args:
        scheme: the scheme of the generated package.
        puts: what is stored before the edit, and after it.
        version: the version that sees a value.
        place: where it does.
        edit: what the edit alone looks like to the version.
    """
    before, after = (value_at(view(scheme, each, version), place) for each in puts)
    if before is MISSING or not same(before, after):
        return False
    bare = copy.deepcopy(edit.becomes)
    holder = value_at(bare, place[:-1])
    made = value_at(edit.was, place[:-1]) is MISSING and isinstance(holder, dict)
    if not made or spoken(holder.pop(place[-1], MISSING)) not in _ZEROS:
        return False
    try:
        scheme.decode(spoken(bare).encode())
    except DocumentError:
        return True
    return False


_ZEROS = frozenset({'""', "0", "false", "[]", "{}"})


def stays_for_another(
    scheme: Scheme,
    written: Any,
    edit: tuple[str, Iterable[Difference]],
    version: str,
    place: Path,
) -> bool:
    """Whether a version sees an object after an edit because a third version has more in it than the writer.

    That is so where nothing that the third version sees is against what its writer made of it, and what it sees is an object to the
    version even where nothing else is stored.

    Args:
        scheme: the scheme of the generated package.
        written: what is stored after the edit.
        edit: the writer's version, and what it changed.
        version: the version that sees an object.
        place: where it does.
    """
    writer, made = edit
    found = value_at(view(scheme, written, version), place)
    for third in scheme.resources[named(scheme, written)[0]].versions:
        if third in {writer, version}:
            continue
        alone = scheme.to_storage(scheme.from_storage(written, third))
        seen = view(scheme, alone, writer)
        against = (
            difference
            for each in made
            for difference in differences(each.other, value_at(seen, each.path))
            if difference.other is not MISSING
        )
        if next(against, None) is None and same(
            value_at(view(scheme, alone, version), place), found
        ):
            return True
    return False


def _without_presences(value: Any) -> tuple[Any, list[Any]]:
    """A stored object without the entries that say whether an object is there, and these entries."""
    if not isinstance(value, dict):
        return value, []
    left, said = {}, []
    for name, each in value.items():
        if name == BAG:
            said += [{one: entries} for one, entries in each.items() if one.endswith(PRESENCE)]
            left[name] = {
                one: entries for one, entries in each.items() if not one.endswith(PRESENCE)
            }
        else:
            left[name], found = _without_presences(each)
            said += found
    return left, said
