"""The schemas that a release carries: packed for the cluster, and loaded by every operator that converts by them."""

import hashlib
import json
import secrets
import shutil
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self
from weakref import WeakValueDictionary

from trundle.api import CarriedPackages, ServedKind
from trundle.errors import TrundleError
from trundle.kubernetes._errors import DefinitionError, KubernetesCode
from trundle.project import CarriedProjects
from trundle.project.releasing import projects_in
from trundle.runtime import AnyScheme

_SUFFIXES = frozenset({".json", ".lock", ".yaml", ".yml"})
_OTHERS = frozenset({"Classes", "UI", "app.yaml", "manifest.yaml", "manifests"})
"""What of a package says nothing about its resource types, unless hooks are in its classes; a release in which nothing else differs rewrites no objects."""

_AGAIN = 60.0
"""After how many seconds schemas are tried again that could not be loaded, since what was in the way, such as a full disk, may be gone."""

_MOST_BYTES = 900 * 1024
"""How many bytes packed schemas may have, since they are kept in a ConfigMap."""


class SchemasError(DefinitionError):
    """Schemas of a release by which nothing can be converted here."""

    code = KubernetesCode.SCHEMAS


@dataclass(frozen=True)
class Schemas:
    """The schemas of a release, loaded.

    Attributes:
        digest: what is different in other schemas.
        kinds: the resource types with the versions that are served.
        known: the same with all versions that are converted.
        scheme: converts their objects.
        calls_methods: whether that may wait for static methods of the package.
    """

    digest: str
    kinds: tuple[ServedKind, ...]
    known: tuple[ServedKind, ...]
    scheme: AnyScheme
    calls_methods: bool = False

    @property
    def crds(self) -> dict[str, str]:
        """The CRD of each resource type, by `group/name` as manifests of packages call it."""
        names = {
            called: f"{each.group}/{each.name}" for called, each in self.scheme.resources.items()
        }
        return {names[each.resource]: each.qualified for each in self.known}

    @property
    def hubs(self) -> dict[str, str]:
        """The storage version of each resource type."""
        return {f"{each.group}/{each.name}": each.hub for each in self.scheme.resources.values()}

    @property
    def readable(self) -> dict[str, list[str]]:
        """All storage versions of each resource type that can be read."""
        return {
            f"{each.group}/{each.name}": list(each.storage)
            for each in self.scheme.resources.values()
        }

    def storing(self, versions: Mapping[str, str]) -> AnyScheme:
        """What converts them, and stores some resource types in the shape of other versions."""
        chosen = {
            name: versions[said]
            for name, each in self.scheme.resources.items()
            if (said := f"{each.group}/{each.name}") in versions
        }
        return self.scheme.storing(chosen) if chosen else self.scheme


class SchemaLoader:
    """Loads schemas, each release once as long as something uses them; several threads may ask. Used as a context manager.

    What converts by a scheme holds the `Schemas` that it is of. Those that nothing holds any more are let go, with their code.

    Args:
        clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._folder = tempfile.TemporaryDirectory(prefix="trundle-")
        self._root = Path(self._folder.name)
        name = f"trundle_operator_{secrets.token_hex(4)}"
        self._projects = CarriedProjects(self._root / "generated", name)
        self._packages = CarriedPackages(self._projects)
        self._loaded: WeakValueDictionary[str, Schemas] = WeakValueDictionary()
        self._written: set[str] = set()
        self._unusable: dict[str, tuple[str, float]] = {}

    def __enter__(self) -> Self:
        self._projects.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._projects.__exit__(kind, error, traceback)
        self._folder.cleanup()

    def load(self, content: bytes) -> Schemas:
        """Loads schemas that were packed.

        Raises:
            SchemasError: they cannot be used, and why.
            OSError: they cannot be written where they are loaded.
        """
        try:
            digest = digest_of(content)
        except zlib.error as error:
            raise _unusable(str(error)) from None
        with self._lock:
            found = self._loaded.get(digest)
            if found is None:
                self._clean()
                if digest not in self._unusable:
                    found = self._load(digest, content)
            if found is None:
                raise _unusable(self._unusable[digest][0])
            return found

    def clean(self) -> None:
        """Lets go what nothing uses any more; does nothing while another thread loads, which does the same."""
        if self._lock.acquire(blocking=False):
            try:
                self._clean()
            finally:
                self._lock.release()

    def _clean(self) -> None:
        now = self._clock()
        for digest, (_, at) in list(self._unusable.items()):
            if now - at >= _AGAIN:
                del self._unusable[digest]
        used = set(self._loaded)
        if self._written <= used:
            return
        self._packages.keep(self._root / each for each in used)
        for each in self._written - used:
            shutil.rmtree(self._root / each, ignore_errors=True)
        self._written = used

    def _load(self, digest: str, content: bytes) -> Schemas | None:
        """Loads schemas; None where they cannot be used, and why is noted then."""
        folder = self._root / digest
        self._written.add(digest)
        try:
            for name, text in _files(content).items():
                path = folder / PurePosixPath(name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            found = self._packages.join({digest: folder}, {}, {})
            calls_methods = bool(self._projects.text_of_classes(folder))
            why = found.refused.get(digest, "")
        except (TrundleError, ValueError) as error:
            why = str(error)
        if why:
            self._unusable[digest] = why.replace(f"{folder}/", ""), self._clock()
            return None
        made = Schemas(digest, found.kinds, found.known, found.scheme, calls_methods)
        self._loaded[digest] = made
        return made


class HeldSchemas:
    """Schemas that one look after another asks for, each held until a look has not asked for it any more.

    Args:
        loader: loads them.
    """

    def __init__(self, loader: SchemaLoader) -> None:
        self._loader = loader
        self._before: list[Schemas] = []
        self._now: list[Schemas] = []

    def begin_look(self) -> None:
        """Lets go what the look before did not ask for, unless something else holds it."""
        self._before, self._now = self._now, []
        self._loader.clean()

    def load(self, content: bytes) -> Schemas:
        """Loads schemas as `SchemaLoader.load` does."""
        found = self._loader.load(content)
        self._now.append(found)
        return found


def packed(folder: Path) -> bytes | None:
    """The schemas in the folder of a package; None where it carries none. Equal files give equal bytes.

    Raises:
        SchemasError: one is no text, or they are too large to be kept in a cluster.
    """
    if not projects_in(folder):
        return None
    names = (
        each.relative_to(folder)
        for each in folder.rglob("*")
        if each.suffix in _SUFFIXES and each.is_file()
    )
    files = {
        each.as_posix(): _text(folder / each, each.as_posix())
        for each in names
        if each.parts[0] not in _OTHERS
    }
    files.update(_classes(folder))
    found = zlib.compress(json.dumps(files, sort_keys=True).encode(), 9)
    if len(found) > _MOST_BYTES:
        expected = f"up to {_MOST_BYTES} bytes, compressed"
        raise SchemasError("the schemas", expected, f"{len(found)}", "divide the package")
    return found


def _classes(folder: Path) -> Mapping[str, str]:
    """The classes of a package whose static methods are hooks of its resource types."""
    try:
        return CarriedProjects.text_of_classes(folder)
    except (TrundleError, OSError, UnicodeDecodeError) as error:
        advice = "ask the publisher to correct it; the release before stays"
        raise SchemasError("the classes", "classes that can be read", str(error), advice) from None


def _unusable(why: str) -> SchemasError:
    expected = "schemas that objects of a cluster can be converted by"
    advice = "install another release; the one before stays"
    return SchemasError("the schemas", expected, why, advice)


def _text(path: Path, name: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        advice = "ask the publisher to correct it; the release before stays"
        raise SchemasError(name, "text in UTF-8", str(error), advice) from None


def digest_of(content: bytes) -> str:
    """What is different in other schemas."""
    return hashlib.blake2b(zlib.decompress(content), digest_size=8).hexdigest()


def _files(content: bytes) -> dict[str, str]:
    found = json.loads(zlib.decompress(content))
    return {str(name): str(text) for name, text in found.items()}
