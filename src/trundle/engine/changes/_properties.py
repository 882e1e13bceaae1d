"""What changed about a property."""

from collections.abc import Iterator
from dataclasses import replace

from trundle.engine._declarations import ClassDeclaration, PropertyDeclaration, PropertyUsage
from trundle.engine._written import shortened
from trundle.engine.changes._releases import Contracted, Releases
from trundle.packages import ChangeCode, Level, ReleaseChange, judged, major, minor

_FROM_MODEL = ("In", "Const", "Out", "InOut")
_WRITABLE = ("Out", "InOut", "Runtime", "Config", "Static")
_GIVEN = (*_FROM_MODEL, "Config")
"""Usages whose value is given: by a model, or by the configuration of the class."""


def property_changes(
    place: str,
    releases: Releases,
    before: tuple[ClassDeclaration, PropertyDeclaration],
    now: tuple[ClassDeclaration, PropertyDeclaration],
) -> Iterator[ReleaseChange]:
    """What changed about a property that both releases have."""
    (owner, old), (later, new) = before, now
    if old.usage != new.usage:
        yield from _usage_changes(place, old.usage, new.usage)
    written = old.usage == new.usage == "Runtime"  # Only by code of the class and its heirs
    for each in releases.contract_changes(place, Contracted(owner, old), Contracted(later, new)):
        yield replaced(each, Level.MINOR) if written else each
    required = _requirement(place, releases, later, new)
    was_given = old.usage in _GIVEN
    if (required and not was_given) or (required and old.has_default and not new.has_default):
        yield required
    elif not releases.is_same(owner, old.default, later, new.default) or (
        old.has_default != new.has_default
    ):
        yield from _default_changes(place, releases, (owner, old), (later, new))
    if not releases.is_same(owner, old.meta, later, new.meta):
        yield judged(ChangeCode.META, place, "its meta says something else")


def new_property(
    place: str, releases: Releases, owner: ClassDeclaration, new: PropertyDeclaration
) -> ReleaseChange:
    """A property that only the later release has."""
    required = _requirement(place, releases, owner, new)
    return required or minor(ChangeCode.PROPERTY_ADDED, place, "the property is new")


def replaced(change: ReleaseChange, most: Level) -> ReleaseChange:
    """A change that goes no further than a level."""
    return ReleaseChange(
        change.place, change.code, change.text, min(change.level, most), change.judge
    )


def _requirement(
    place: str, releases: Releases, owner: ClassDeclaration, new: PropertyDeclaration
) -> ReleaseChange | None:
    """The change where a value must be given; None where the property may be left out."""
    if new.usage not in _GIVEN or new.has_default:
        return None
    is_optional = releases.takes_null(Contracted(owner, new))
    giver = "the configuration of the class" if new.usage == "Config" else "a model"
    text = f"{giver} must give it: it has no default, and its contract `{shortened(new.contract)}`"
    if is_optional is None:
        text = f"look whether {text} refuses null"
        return ReleaseChange(place, ChangeCode.REQUIRED, text, Level.MINOR, judge=True)
    return None if is_optional else major(ChangeCode.REQUIRED, place, f"{text} refuses null")


def _default_changes(
    place: str,
    releases: Releases,
    before: tuple[ClassDeclaration, PropertyDeclaration],
    now: tuple[ClassDeclaration, PropertyDeclaration],
) -> Iterator[ReleaseChange]:
    (_, old), (owner, new) = before, now
    bare = replace(new, has_default=False, default=None)
    if not old.has_default and _requirement(place, releases, owner, bare) is not None:
        yield minor(ChangeCode.OPTIONAL, place, f"it has the default `{shortened(new.default)}`")
        return
    ours = f"`{shortened(old.default)}`" if old.has_default else "none"
    theirs = f"`{shortened(new.default)}`" if new.has_default else "none"
    yield judged(ChangeCode.DEFAULT_CHANGED, place, f"its default was {ours} and is {theirs}")


def _usage_changes(
    place: str, before: PropertyUsage, now: PropertyUsage
) -> Iterator[ReleaseChange]:
    text = f"its usage was {before} and is {now}"
    code = ChangeCode.PROPERTY_USAGE
    if "Static" in (before, now):
        kinds = (
            "all objects share one value" if now == "Static" else "each object has its own value"
        )
        yield major(code, place, f"{text}: {kinds}")
    elif before in _FROM_MODEL and now not in _FROM_MODEL:
        yield major(code, place, f"{text}: models no longer give it, nor keep it")
    elif before == "Config":
        yield major(code, place, f"{text}: the configuration of the class no longer gives it")
    elif now in _FROM_MODEL and before not in _FROM_MODEL:
        yield minor(code, place, f"{text}: models may give it")
    elif (before in _WRITABLE) != (now in _WRITABLE):
        verb = "may" if now in _WRITABLE else "can no longer"
        yield minor(code, place, f"{text}: code of the class and its heirs {verb} write it")
    else:
        level = Level.MINOR if now == "Config" else Level.PATCH
        yield ReleaseChange(place, code, text, level)
