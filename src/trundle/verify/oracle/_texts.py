"""What becomes of texts in a list or map that a client edits: those that it leaves alone stay as each version saw them."""

from typing import Any

from trundle.schema import EnumType, ListOf, MapOf, Scalar
from trundle.verify.oracle._expected import ANY, either
from trundle.verify.oracle._meeting import At, Stations, World, bare, bare_all, once


def texts_after(seen: Any, edited: Any, before: Any, shown: Any) -> Any:
    """What the observer sees of a list or map of texts after an edit.

    Args:
        seen: what the editor read.
        edited: what it wrote.
        before: what the observer saw before.
        shown: what the observer is shown of what was written, where nothing else is stored.

    Returns:
        Anything, where it is not sure which text of one version is which of the other.
    """
    found = [_by_name(each) for each in (seen, edited, before)]
    if None in found or not isinstance(shown, type(edited)) or len(shown) != len(edited):
        return ANY
    ours, texts, theirs = (each for each in found if each is not None)
    if [*ours] != [*theirs]:
        return ANY
    anew = shown if isinstance(shown, dict) else dict(zip(texts, shown, strict=True))
    expected = dict(anew)
    for name in texts.keys() & ours.keys():
        if ours[name] == texts[name]:
            expected[name] = theirs[name]
        elif ours[name].casefold() == texts[name].casefold():  # to the observer it may be the same
            expected[name] = either(expected[name], theirs[name])
    return expected if isinstance(edited, dict) else [*expected.values()]


@once
def hold_texts(world: World, stations: Stations) -> bool:
    """Whether all types are lists or maps of texts."""
    for at in bare_all(stations):
        if not isinstance(at.type, ListOf | MapOf):
            return False
        inner = at.type.items if isinstance(at.type, ListOf) else at.type.values
        text = At(at.version, bare(inner))
        found = world.definition(text) or text.type
        if not isinstance(found, Scalar | EnumType) or found.kind != "string":
            return False
    return True


def _by_name(value: Any) -> dict[str, Any] | None:
    """The texts of a map by name, or of a list by the text in any letter case; None where there is anything else."""
    items = [*value.items()] if isinstance(value, dict) else None
    if isinstance(value, list) and all(type(each) is str for each in value):
        items = [(each.casefold(), each) for each in value]
    if items is None or any(type(each) is not str for _, each in items):
        return None
    return dict(items) if len(dict(items)) == len(value) else None
