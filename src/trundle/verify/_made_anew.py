"""What is lost with an element of which nothing says whether its client has kept it or made it anew.

Another version may keep a whole list beside the stored one, with more in an element than the stored element has. An element that
was removed and came back is such a one. What is kept says which list it goes with, and not which element. Once the stored list is
edited again, it is all the same whether the element stayed.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from trundle.runtime import DocumentError, Scheme
from trundle.verify._broken import MISSING, Difference, same, spoken
from trundle.verify._seen import tree_of, view
from trundle.verify._views import Path, value_at


def may_be_made_anew(
    scheme: Scheme, stored: Any, edit: tuple[Any, Any], made: Iterable[Difference], lost: Any
) -> bool:
    """Whether a value may be lost because its element may be a new one for all that is stored.

    That is so where the same is stored if the writer first removes all elements of the lists that it edits, and the other version
    then sees fewer in its list. Then they are new ones, of which another version has nothing more. And it is not so where a client of the other version has just stored what
    it sees, and the same edit loses the value even then.

    Args:
        scheme: the scheme of the generated package.
        stored: what is stored before the edit.
        edit: what the writer read and what it wrote.
        made: what the writer changed.
        lost: the other version, where it no longer sees the value, and the value.
    """
    version, place, expected = lost
    lists = {path for each in made for path in _edited_list(each)}
    top = _outermost(place)
    if not lists or top is None:
        return False
    seen, edited = edit
    other = scheme.from_storage(stored, version)
    just_stored = scheme.to_storage(edited, scheme.to_storage(other))
    if not same(value_at(view(scheme, just_stored, version), place), expected):
        return False
    written = tree_of(scheme, scheme.to_storage(edited, stored))
    had = value_at(view(scheme, stored, version), top)
    for bare in _without_elements(scheme, seen, lists):
        removed = scheme.to_storage(bare, stored)
        anew = tree_of(scheme, scheme.to_storage(edited, removed))
        if same(anew, written) and _is_shorter(value_at(view(scheme, removed, version), top), had):
            return True
    return False


def _is_shorter(left: Any, had: list[Any]) -> bool:
    """Whether a list has fewer elements left than it had, or is gone."""
    return not isinstance(left, list) or len(left) < len(had)


def _outermost(place: Path) -> Path | None:
    """The outermost list that a place is in."""
    numbers = (number for number, part in enumerate(place) if isinstance(part, int))
    return next((place[:number] for number in numbers), None)


def _edited_list(difference: Difference) -> Iterator[Path]:
    """The outermost list in which two documents differ."""
    top = _outermost(difference.path)
    if top is not None:
        yield top
    elif isinstance(difference.one, list):
        yield difference.path


def _without_elements(scheme: Scheme, seen: Any, lists: Iterable[Path]) -> Iterator[Any]:
    """What the writer read without the elements of some lists, and without these lists."""
    ways: tuple[Any, ...] = ([], MISSING)
    for left in ways:
        tree = tree_of(scheme, seen)
        for path in lists:
            holder = value_at(tree, path[:-1])
            if isinstance(holder, dict):
                holder.pop(path[-1], None)
                holder.update({} if left is MISSING else {path[-1]: left})
        try:
            yield scheme.decode(spoken(tree).encode())
        except DocumentError:
            continue  # the version requires the list
