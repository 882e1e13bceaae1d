"""Imports a project's own modules, and leaves the interpreter as it was."""

import contextlib
import importlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

_KEPT = frozenset({"__main__", "trundle"})


@contextlib.contextmanager
def importable(
    folders: Sequence[Path], names: Iterable[str], *, barred: str | None = None
) -> Iterator[set[Path]]:
    """Makes the modules of some folders importable for a while.

    Within, the folders come before all others, and what modules print goes to standard error, because
    standard output is for results. Afterwards none of their modules is left among the imported ones.

    Args:
        folders: where to import from.
        names: the modules that will be asked for; what was imported by these names does not count within.
        barred: a module that may not be imported within.

    Yields:
        The files of the modules that were imported from the folders; complete when the time is over.
    """
    roots = [folder.resolve() for folder in folders]
    tops = {name.partition(".")[0] for name in names} - _KEPT
    path, bytecode, before = list(sys.path), sys.dont_write_bytecode, dict(sys.modules)
    for name in before:
        if name.partition(".")[0] in tops:
            del sys.modules[name]
    if barred is not None:
        sys.modules[barred] = None  # type: ignore[assignment] # an import of it fails
    sys.path[:0] = [str(root) for root in roots]
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()
    imported: set[Path] = set()
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield imported
    finally:
        sys.path[:] = path
        sys.dont_write_bytecode = bytecode
        if barred is not None:
            del sys.modules[barred]
        for name, module in list(sys.modules.items()):
            if before.get(name) is not module and _stands_in(module, roots):
                imported.update(file_of(module))
                del sys.modules[name]
        sys.modules.update({name: before[name] for name in before.keys() - sys.modules.keys()})
        _forget_finders(roots)
        importlib.invalidate_caches()


@contextlib.contextmanager
def held(places: Mapping[str, Path]) -> Iterator[None]:
    """Has modules imported as they are now, whenever they are imported within.

    A process that runs for long imports many of them late. Without this it would mix those of two releases once a package is generated
    again in its place.

    Args:
        places: the folders of packages and the files of modules, by dotted names. What is not there is left to others; so is `tests` in a package.
    """
    finder = _Held(places)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Held(MetaPathFinder):
    """Finds modules by what was in their files when it was made."""

    def __init__(self, places: Mapping[str, Path]) -> None:
        self._modules: dict[str, _HeldModule] = {}
        for name, place in places.items():
            self._hold(name, place.with_suffix(".py"))
            for path in place.rglob("*.py"):
                inner = path.relative_to(place).with_suffix("").parts
                if inner[0] != "tests":
                    packed = inner[:-1] if inner[-1] == "__init__" else inner
                    self._hold(".".join((name, *packed)), path)

    def _hold(self, name: str, path: Path) -> None:
        with contextlib.suppress(OSError):  # What cannot be read may never be imported.
            self._modules[name] = _HeldModule(name, path)

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        """Where a module is, if it is one of these."""
        del path, target
        loader = self._modules.get(fullname)
        if loader is None:
            return None
        return spec_from_file_location(fullname, loader.path, loader=loader)


class _HeldModule(SourceFileLoader):
    """Imports a module from what was in its file when this was made, or from bytecode of just that."""

    def __init__(self, name: str, path: Path) -> None:
        super().__init__(name, str(path))
        self._changed = path.stat().st_mtime
        self._source = path.read_bytes()

    def get_data(self, path: str) -> bytes:
        """What was in the file, or is in that of the bytecode."""
        return self._source if path == self.path else super().get_data(path)

    def path_stats(self, path: str) -> Mapping[str, float]:
        """By what bytecode is known to be that of the file."""
        del path
        return {"mtime": self._changed, "size": len(self._source)}


def file_of(module: ModuleType | None) -> tuple[Path, ...]:
    """The file of a module, if it has one."""
    spec = getattr(module, "__spec__", None)
    return (Path(spec.origin),) if spec is not None and spec.has_location else ()


def _forget_finders(roots: Sequence[Path]) -> None:
    """Drops what the interpreter remembers of some folders, so that it does not grow with each of them."""
    within = tuple(f"{root}{os.sep}" for root in roots)
    for name in list(sys.path_importer_cache):
        if f"{name}{os.sep}".startswith(within):
            del sys.path_importer_cache[name]


def _stands_in(module: ModuleType, roots: Sequence[Path]) -> bool:
    """Whether a module was imported from one of some folders."""
    spec = getattr(module, "__spec__", None)
    if spec is None or spec.name.partition(".")[0] in _KEPT:
        return False
    places = [spec.origin] if spec.has_location else list(spec.submodule_search_locations or ())
    found = [Path(place).resolve() for place in places if place]
    return any(root in place.parents for root in roots for place in found)
