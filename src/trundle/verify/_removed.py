"""What goes with an object that an edit removes.

A client that removes an object removes what is hidden from it in there, too. Another version may have that in another
place, because a rule moves it out of the object; there nothing of the edit is seen but that it is gone.
"""

from typing import Any

from trundle.runtime import Scheme
from trundle.verify._broken import MISSING, spoken
from trundle.verify._seen import tree_of, view
from trundle.verify._views import Path, value_at


def goes_with_an_object(
    scheme: Scheme, puts: tuple[Any, Any], alone: tuple[Any, Any], version: str, place: Path
) -> bool:
    """Whether what a version no longer sees was stored in an object that the edit removes, or makes null.

    The objects are those that the edit removes from what it finds where nothing else is stored. Without them, and with all
    else as it was stored, the version must not see the value either: what is stored beside them has to stay.

    Args:
        scheme: the scheme of the generated package.
        puts: what is stored before the edit, and after it.
        alone: what the writer read and what it wrote, each stored by itself.
        version: the version that no longer sees a value.
        place: where it was.
    """
    stored, _, *own = (tree_of(scheme, each) for each in (*puts, *alone))
    left = _without_removed(stored, *own)
    return all(
        value_at(view(scheme, scheme.decode(each), version), place) is MISSING
        for each in (scheme.encode(puts[1]), spoken(left).encode())
    )


def _without_removed(stored: Any, was: Any, becomes: Any) -> Any:
    """A stored value without the objects that an edit removes; null where the edit makes them null."""
    if all(isinstance(each, dict) for each in (stored, was, becomes)):
        left: dict[str, Any] = {}
        for name, value in stored.items():
            before, after = was.get(name, MISSING), becomes.get(name, MISSING)
            both = isinstance(value, dict) and isinstance(before, dict)
            if both and after in (MISSING, None) and not name.startswith("$"):
                left |= {} if after is MISSING else {name: None}
            else:
                left[name] = _without_removed(value, before, after)
        return left
    lists = [each for each in (stored, was, becomes) if isinstance(each, list)]
    if len(lists) == 3 and len(set(map(len, lists))) == 1:  # noqa: PLR2004 - all of them
        return [_without_removed(*each) for each in zip(*lists, strict=True)]
    return stored
