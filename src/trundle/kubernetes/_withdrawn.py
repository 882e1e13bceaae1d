"""What an applier no longer states, and a version of another owner hides.

To take it away, an API server converts the object with it and without it to the versions of the other owners. At a version that hides it, both
show the same but for their carriers, and the API server goes on with that of the object with it. So it would stay, owned by none.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from trundle.api.apply import FieldSet, Path
from trundle.errors import TrundleError
from trundle.kubernetes._owners import fields_of, identity, is_element

_NOTHING: FieldSet = frozenset()


def without_withdrawn(
    given: Mapping[str, Any],
    old: Mapping[str, Any],
    options: Mapping[str, Any],
    shown: Callable[[Mapping[str, Any], str], Any],
) -> Mapping[str, Any]:
    """An object that is written, without what an apply withdraws and the versions of all other owners hide.

    Args:
        given: the object, with its carrier.
        old: the object until now.
        options: those of the request, which name the manager.
        shown: what of an object is shown at a version.
    """
    version = str(given.get("apiVersion"))
    entries = given["metadata"].get("managedFields") or []
    withdrawn = _withdrawn(old["metadata"].get("managedFields") or [], entries, version, options)
    others = {str(each.get("apiVersion")) for each in entries} - {version}
    if not withdrawn or not others:
        return given  # The API server has taken it away, as no conversion was needed.
    made = given
    try:
        seen = {each: shown(given, each) for each in others}
        for path in sorted(withdrawn, key=len):
            rest = _without(made, path)
            if rest is not made and all(shown(rest, each) == seen[each] for each in others):
                made = rest
    except TrundleError:
        return given  # What is wrong with the object is said when it is stored.
    return made


def _withdrawn(
    before: list[Any], after: list[Any], version: str, options: Mapping[str, Any]
) -> FieldSet:
    """What the manager of an apply stated before at its version, and neither it nor another manager owns there any more.

    An entry that is gone may have been removed by hand, to give up what is owned; then nothing goes.
    """
    now = {identity(each): each for each in after}
    fields = (fields_of(each) for each in after if each.get("apiVersion") == version)
    owned = _NOTHING.union(*fields)
    for each in before:
        applied = (each.get("operation"), each.get("apiVersion")) == ("Apply", version)
        if not applied or each.get("manager") != options.get("fieldManager"):
            continue
        found = now.get(identity(each))
        if found is not None and found.get("apiVersion") == version:
            had = fields_of(each) - owned
            return frozenset(x for x in had if not any(o[: len(x)] == x for o in owned))
    return _NOTHING


def _without(document: Any, path: Path) -> Any:
    """A value without what is at a path; the same value where nothing is."""
    kind, _, rest = path[0].partition(":")
    place: Any = None
    if kind == "f" and isinstance(document, dict) and rest in document:
        place = rest
    elif kind in {"k", "v"} and isinstance(document, list):
        wanted = json.loads(rest)
        place = next((at for at, x in enumerate(document) if is_element(x, wanted, kind)), None)
    if place is None:
        return document
    if len(path) > 1:
        inner = _without(document[place], path[1:])
        if inner is document[place]:
            return document
        changed = document.copy()
        changed[place] = inner
        return changed
    changed = document.copy()
    del changed[place]
    return changed
