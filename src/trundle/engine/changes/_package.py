"""Everything that changed from one release of a package of classes to the next."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from trundle.engine._declared import Declared
from trundle.engine.changes._classes import class_changes
from trundle.engine.changes._ranges import covers
from trundle.engine.changes._releases import Releases
from trundle.packages import (
    APP_FILE,
    MANIFEST_FILE,
    ChangeCode,
    Level,
    Package,
    PackageFormat,
    ReleaseChange,
    Requirement,
    judged,
    major,
    minor,
)

_NOT_COMPARED = (APP_FILE, MANIFEST_FILE, "CHANGES")
_SHOWN = 3


def package_changes(before: Package, now: Package) -> Iterator[ReleaseChange]:
    """What changed in the manifest, the classes and the files of a package.

    Args:
        before: the earlier release.
        now: the later one.
    """
    found = [
        *_manifest_changes(before, now),
        *_requirement_changes(before, now),
        *_class_changes(before, now),
        *_file_changes(before, now),
    ]
    yield from found or _rewritten(before, now)


def _class_changes(before: Package, now: Package) -> Iterator[ReleaseChange]:
    releases = Releases(Declared(before), Declared(now))
    for name in sorted(before.classes.keys() - now.classes.keys()):
        yield major(ChangeCode.CLASS_REMOVED, name, "the class is removed")
    for name in sorted(now.classes.keys() - before.classes.keys()):
        yield minor(ChangeCode.CLASS_ADDED, name, "the class is new")
    unreadable = {
        name: f"in the {when} release: {error.message}"
        for each, when in ((releases.before, "earlier"), (releases.now, "later"))
        for name, error in each.unreadable.items()
    }
    for name in sorted(before.classes.keys() & now.classes.keys()):
        if name in unreadable:
            if _content(before, name) == _content(now, name):
                continue
            text = f"the class cannot be read {unreadable[name]}; compare it"
            yield judged(ChangeCode.NOT_COMPARED, name, text)
        else:
            yield from class_changes(releases, name)


def _content(package: Package, name: str) -> bytes:
    """The file of a class; nothing where there is none."""
    path = package.classes[name]
    return package.file(path) if path in package.files else b""


def _manifest_changes(before: Package, now: Package) -> Iterator[ReleaseChange]:
    ours, theirs = before.manifest, now.manifest
    if before.name != now.name:
        text = f"the package was called {before.name}, and what requires it finds it no longer"
        yield major(ChangeCode.PACKAGE_RENAMED, now.name, text)
    if ours.type != theirs.type:
        text = f"its type was {ours.type} and is {theirs.type}"
        yield judged(ChangeCode.PACKAGE_TYPE, now.name, text)
    if ours.meta != theirs.meta:
        yield judged(ChangeCode.META, now.name, "its meta says something else")
    old, new = (each.format or PackageFormat() for each in (ours, theirs))
    if old != new:
        text = f"its format was {old} and is {new}: its code runs with other functions"
        yield judged(ChangeCode.FORMAT, now.name, text)


def _requirement_changes(before: Package, now: Package) -> Iterator[ReleaseChange]:
    ours, theirs = _requirements(before), _requirements(now)
    for name in sorted(ours.keys() | theirs.keys()):
        old, new, place = ours.get(name), theirs.get(name), f"requirement {name}"
        if old is None and new is not None:
            text = f"the requirement on {new} is new"
            yield ReleaseChange(place, ChangeCode.REQUIREMENT_ADDED, text, Level.PATCH)
        elif new is None:
            text = "the requirement is removed"
            yield ReleaseChange(place, ChangeCode.REQUIREMENT_REMOVED, text, Level.PATCH)
        elif old is not None and old.range != new.range:
            text = f"the range was {old.range} and is {new.range}"
            is_wider = covers(new.range, old.range)
            if not is_wider:
                text += "; look whether callers pass objects of the other versions"
            code = ChangeCode.REQUIREMENT_CHANGED
            yield ReleaseChange(place, code, text, Level.PATCH, judge=not is_wider)


def _requirements(package: Package) -> Mapping[str, Requirement]:
    """What a package requires of others."""
    return {each.name: each for each in package.requirements if each.name != package.name}


def _rewritten(before: Package, now: Package) -> Iterator[ReleaseChange]:
    """Class files that say the same in other words: a release differs in nothing else, but it differs."""
    for name in sorted({*before.classes.values()} & {*now.classes.values()}):
        if before.file(name) != now.file(name):
            text = "it says the same in other words"
            yield ReleaseChange(name, ChangeCode.FILES, text, Level.PATCH)


def _file_changes(before: Package, now: Package) -> Iterator[ReleaseChange]:
    """Files other than the manifest and those of classes, together for each folder."""
    ours, theirs = ({*each.files} - {*each.classes.values()} for each in (before, now))
    found: dict[str, list[str]] = {}
    for name in sorted((ours | theirs) - set(_NOT_COMPARED)):
        if name not in theirs:
            words = f"{name} removed"
        elif name not in ours:
            words = f"{name} new"
        elif before.file(name) != now.file(name):
            words = name
        else:
            continue
        found.setdefault(PurePosixPath(name).parts[0], []).append(words)
    for folder, names in found.items():
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        text = f"other content: {', '.join(names[:_SHOWN])}{more}"
        is_used = folder == "Resources"  # By the bodies of methods
        yield ReleaseChange(folder, ChangeCode.FILES, text, Level.PATCH, judge=is_used)
