"""Records the stored format of released versions in `trundle.lock`, and guards it.

A release writes objects in the shape of its hub. Later releases must read them, so the lock keeps that
shape, and `check` holds the schemas, changes and hooks of today against it.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from trundle.project._readable import objections
from trundle.project._stored import Release, release_of
from trundle.project.documents import read_documents, write_documents
from trundle.project.errors import ProjectError
from trundle.project.findings import Finding, FindingsError
from trundle.project.loading import Project
from trundle.reading import DocumentError

LOCK_NAME = "trundle.lock"
"""How the lock is called; it stands beside the project's file and belongs under version control."""

_FORMAT = 1
_HEAD = """\
# The shape of stored objects, by resource type and storage version. Written by `trundle lock`; keep it
# under version control. `trundle check` holds every change against it.
"""


class Lock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a lock records.

    Attributes:
        format: version of the file's format.
        resources: the releases, by resource type and storage version.
    """

    format: int
    resources: dict[str, dict[str, Release]]


class LockChange(msgspec.Struct, frozen=True):
    """What `trundle lock` does; each is named as `Person 2019-09-09`.

    Attributes:
        path: the lock file.
        content: its new content.
        recorded: releases that are new.
        extended: releases that gained something without contradicting what was recorded.
        replaced: recorded releases that were accepted in another shape.
        removed: recorded releases that were given up.
        unchanged: releases that stay as they are.
    """

    path: Path
    content: bytes
    recorded: tuple[str, ...] = ()
    extended: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether the file changes at all."""
        return bool(self.recorded or self.extended or self.replaced or self.removed)


def lock_path(project: Project) -> Path:
    """Where a project's lock is."""
    return project.config.path.with_name(LOCK_NAME)


def read_lock(path: Path) -> Lock:
    """Reads a lock; one that does not exist is empty.

    Raises:
        ProjectError: the file cannot be read.
    """
    advice = "restore it from version control"
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Lock(_FORMAT, {})
    except OSError as error:
        found = error.strerror or str(error)
        raise ProjectError(f"{path}: expected a readable file, found: {found}; {advice}") from None
    try:
        documents = read_documents(data, f"{path}")
        if len(documents) != 1:
            text = f"{path}: expected one document, found {len(documents)}; {advice}"
            raise ProjectError(text)
        lock = msgspec.json.decode(documents[0].data, type=Lock)
    except DocumentError as error:
        raise ProjectError(str(error)) from None
    except msgspec.ValidationError as error:
        raise ProjectError(f"{path}: expected a lock, found: {error}; {advice}") from None
    if lock.format != _FORMAT:
        text = (
            f"{path}: expected format {_FORMAT}, found {lock.format}; use the Trundle that wrote it"
        )
        raise ProjectError(text)
    return lock


def write_lock_text(lock: Lock) -> bytes:
    """The content of a lock file: YAML in a fixed order."""
    resources = {
        name: dict(sorted(releases.items())) for name, releases in sorted(lock.resources.items())
    }
    data = msgspec.json.encode(Lock(lock.format, resources))
    return (_HEAD + write_documents([data], "yaml")).encode()


def check_lock(project: Project) -> Iterator[Finding]:
    """Everything that makes recorded objects unreadable, and notes on what is not recorded yet.

    Raises:
        ProjectError: the lock cannot be read.
    """
    path = lock_path(project)
    lock = read_lock(path)
    refused = False
    for name, releases in lock.resources.items():
        for version, release in releases.items():
            for each in objections(project.evolution, name, version, release, str(path)):
                refused = True
                yield each
    if refused:
        return
    change = _change(project, lock, {}, accept=False)
    advice = "run `trundle lock` when you release it"
    for label in change.recorded:
        what = f"the stored format of {label} is not recorded"
        yield _note(path, what, advice)
    for label in change.extended:
        yield _note(path, f"the stored format of {label} has grown", advice)


def _note(path: Path, what: str, advice: str) -> Finding:
    return Finding(where=str(path), what=what, advice=advice, severity="note", kind="lock")


def lock(project: Project, *, accept: bool = False, dry_run: bool = False) -> LockChange:
    """Records the shape of the hub of every resource type as released.

    A recorded release may grow: new properties, new entries, new versions. Anything that contradicts what
    is recorded is refused unless accepted.

    Args:
        project: the project, without errors.
        accept: replace recorded releases whose objects cannot be read any more, and forget those that no
            schema has.
        dry_run: change nothing.

    Raises:
        FindingsError: the project has errors, or a recorded release would change.
        ProjectError: the lock cannot be read or written.
    """
    project.require_sound()
    path = lock_path(project)
    known = read_lock(path)
    against = {
        (name, version): found
        for name, releases in known.resources.items()
        for version, release in releases.items()
        if (found := tuple(objections(project.evolution, name, version, release, str(path))))
    }
    if against and not accept:
        raise FindingsError(each for found in against.values() for each in found)
    change = _change(project, known, against, accept=accept)
    if change.changes and not dry_run:
        _write(path, change.content)
    return change


def _change(
    project: Project,
    known: Lock,
    against: dict[tuple[str, str], tuple[Finding, ...]],
    *,
    accept: bool,
) -> LockChange:
    releases = {name: dict(each) for name, each in known.resources.items()}
    did: dict[str, list[str]] = {}
    current = {each.name.casefold(): each for each in project.evolution.resources}
    for name, version in against if accept else ():
        resource = current.get(name.casefold())
        at = next((x for x in resource.resources if x.text == version), None) if resource else None
        if resource is None or at is None:
            del releases[name][version]
            did.setdefault("removed", []).append(f"{name} {version}")
        else:
            releases[name][version] = release_of(resource, at)
            did.setdefault("replaced", []).append(f"{name} {version}")
    spelled = {name.casefold(): name for name in releases}
    for key, resource in current.items():
        hub = resource.versions.hub
        name = spelled.get(key, resource.name)
        release = release_of(resource, hub)
        old = known.resources.get(name, {}).get(hub.text)
        releases.setdefault(name, {})[hub.text] = release
        if (name, hub.text) not in against:
            what = "recorded" if old is None else "unchanged" if old == release else "extended"
            did.setdefault(what, []).append(f"{name} {hub}")
    kept = {name: each for name, each in releases.items() if each}
    return LockChange(
        lock_path(project),
        write_lock_text(Lock(_FORMAT, kept)),
        **{what: tuple(sorted(names)) for what, names in did.items()},
    )


def _write(path: Path, content: bytes) -> None:
    """Replaces the file as a whole."""
    staged = path.with_name(f".{path.name}.new")
    try:
        staged.write_bytes(content)
        staged.replace(path)
    except OSError as error:
        staged.unlink(missing_ok=True)
        reason = error.strerror or str(error)
        text = f"{path}: expected a file that can be written, found: {reason}"
        raise ProjectError(f"{text}; check its permissions and the space") from error
