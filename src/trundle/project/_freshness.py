"""Finds which parts of a generated folder are up to date, without reading a schema.

The manifest of a generated folder keeps a record of each part: the SHA-256 of every file that it was made
from, and a key for all else that it depends on. A part is fresh while its key and its files are the same,
while the URLs that its references use still lead to the same files, and while what was written for it still
is there as it was written. Modification times are not used.

The key of a whole project covers what its own file says and every file of its sources, so that it changes
when a file comes or goes. While it is the same, all parts are fresh.
"""

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import msgspec

import trundle
from trundle.evolution import TypeChanges
from trundle.project._lock_file import lock_path
from trundle.project._output_tree import Manifest
from trundle.project._parts import Part
from trundle.project.changes import BY_PROPERTY
from trundle.project.config import Config
from trundle.runtime import mismatch
from trundle.schema.readers import Catalogue, is_python, source_files

_SAID_OTHERWISE = frozenset(
    {
        "path",
        "output",
        "sources",
        "groups",
        "groups_where",
        "hubs",
        "changes",
        "hooks",
        "exclude",
        "admission",
    }
)
"""What of a project's file has no part in the code, or is said without the lines where it is."""


class PartRecord(msgspec.Struct, frozen=True):
    """What a part was made from.

    Attributes:
        key: stands for all that is not a file.
        inputs: the SHA-256 of each file, by its path seen from the project's folder.
        urls: the file that each URL led to that references were looked up by; empty where to none.
        misfits: the changes and hooks that were checked against it and did not fit.
        resources: the names of its resource types.
        served: the API versions that it serves.
        notes: how many notes there are about its schemas.
        hubs: the hub of each resource type, by its name in small letters.
    """

    key: str
    inputs: dict[str, str]
    urls: dict[str, str]
    misfits: tuple[tuple[str, ...], ...]
    resources: tuple[str, ...]
    served: tuple[str, ...]
    notes: int = 0
    hubs: dict[str, str] = {}


class Made(msgspec.Struct, frozen=True):
    """What a generated folder was made from.

    Attributes:
        key: that of the whole project; empty where it proves nothing.
        parts: the record of each part, by its name.
        made_by: the version of Trundle that generated it.
        interface: the runtime interface that it was generated for; 0 where it does not say.
    """

    key: str
    parts: dict[str, PartRecord]
    made_by: str = trundle.__version__
    interface: int = 0

    @property
    def mismatch(self) -> str:
        """Why the runtime that is installed does not run the folder's package; empty where it does."""
        return mismatch(self.interface, self.made_by) if self.interface else ""


def made_of(manifest: Manifest | None) -> Made:
    """What a manifest says of a folder's making; nothing where it says nothing that can be read."""
    try:
        return msgspec.convert(manifest.made if manifest is not None else None, Made)
    except msgspec.ValidationError:
        return Made("", {})


class Digests:
    """SHA-256 of files, each taken once: what changes meanwhile is noticed by the next run.

    Args:
        folder: where the paths in records start.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = Path(os.path.realpath(folder))
        self._known: dict[str, str] = {}

    def name(self, path: Path) -> str:
        """The path of a file as records write it."""
        real = os.path.realpath(path)
        try:
            return Path(os.path.relpath(real, self._folder)).as_posix()
        except ValueError:  # on another drive
            return Path(real).as_posix()

    def read(self, path: Path, digest: str) -> None:
        """Takes the digest of what was read from a file, whatever the file is now."""
        self._known[self.name(path)] = digest

    def of(self, name: str) -> str:
        """The digest of a file by the path in a record; empty where there is none that can be read."""
        found = self._known.get(name)
        if found is None:
            try:
                found = hashlib.sha256((self._folder / name).read_bytes()).hexdigest()
            except OSError:
                found = ""
            self._known[name] = found
        return found


def whole_key(config: Config, made: Iterable[PartRecord], digests: Digests) -> str:
    """The key of a whole project: its file, its lock, all files of its sources, and all others that records name.

    Empty where it cannot be determined without importing Python modules.

    Raises:
        SchemaError: a source is not there.
    """
    if any(is_python(source) for source in config.sources):
        return ""
    files = [digests.name(path) for source in config.sources for path in source_files(source)]
    files += sorted({name for record in made for name in record.inputs})
    files.append(digests.name(lock_path(config)))
    sources = [
        repr((digests.name(x.path), x.format, x.version, x.resources, x.group))
        for x in config.sources
    ]
    groups = [f"{each.name} {each.group}" for each in config.groups]
    contents = [f"{name} {digests.of(name)}" for name in files]
    return _digest([_trundle(), *_said(config), "", *sources, "", *groups, "", *contents])


def part_key(part: Part, digests: Digests, hubs: Mapping[str, str]) -> str:
    """The key of a part: all that it depends on but the content of files.

    Args:
        part: the part.
        digests: those of all files.
        hubs: the hubs that it has; that a lock records them changes nothing.
    """
    readings = [f"{digests.name(Path(x.file))} {x.version} {x.reading}" for x in part.declared]
    stored = [
        f"{name} {version}"
        for name, versions in sorted(part.recorded.items())
        for version in versions
        if version not in {hubs.get(each) for each in (name.casefold(), _plain(name))}
    ]
    return _digest([_trundle(), *_said(part.config), "", *readings, "", *stored])


def _plain(name: str) -> str:
    """A resource type's name in small letters, without the group that a lock writes before it."""
    return name.casefold().partition("/")[2]


def _said(config: Config) -> Iterator[str]:
    """What a project's file says about the code that is generated."""
    for name in config.__struct_fields__:
        if name not in _SAID_OTHERWISE:
            yield f"{name} {getattr(config, name)!r}"
    for held in config.hubs:
        yield f"hub {held.resource} {held.version}"
    for each in config.changes:
        yield repr((str(each.version), each.type, each.rename_type, *_rules(each)))
    for hook in config.hooks:
        yield repr(
            (hook.type, str(hook.older), str(hook.newer), hook.use, hook.relative, hook.writes)
        )


def _rules(changes: TypeChanges) -> Iterator[object]:
    for rule in BY_PROPERTY:
        yield getattr(changes, rule)


def is_fresh(part: Part, record: PartRecord | None, digests: Digests, catalogue: Catalogue) -> bool:
    """Whether a part would be generated as it was."""
    return (
        record is not None
        and not part.imports_python
        and record.key == part_key(part, digests, record.hubs)
        and all(digests.of(name) == digest for name, digest in record.inputs.items())
        and all(
            named(catalogue.leads_to(url), digests) == file for url, file in record.urls.items()
        )
    )


def named(file: str, digests: Digests) -> str:
    """A file that a URL led to as records write it; nothing for none."""
    return digests.name(Path(file)) if file else ""


def standing_files(
    manifest: Manifest | None, present: Mapping[str, str | None], prefix: str
) -> Mapping[str, str] | None:
    """The files of a part that stand in a folder as they were written; None where one does not.

    Args:
        manifest: what the folder says about itself.
        present: the digest of each file in the folder.
        prefix: what the paths of the part's files start with.
    """
    listed = manifest.files if manifest is not None else {}
    own = {name: digest for name, digest in listed.items() if name.startswith(prefix)}
    return own if own and all(present.get(name) == own[name] for name in own) else None


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


@cache
def _trundle() -> str:
    """Stands for this Trundle: its version and its code, and the Python whose names generated code avoids."""
    digest = hashlib.sha256(f"{trundle.__version__} {sys.version_info[:2]}".encode())
    root = Path(trundle.__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
