"""Imports a project's own modules, and leaves the interpreter as it was."""

import contextlib
import importlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.abc import ExecutionLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import decode_source, spec_from_file_location
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
def held(folder: Path, package: str, *, without: str) -> Iterator[None]:
    """Has the modules of a package imported as they are now, whenever they are imported within.

    A process that runs for long imports many of them late. Without this it would mix those of two releases once the package is generated
    again in its place.

    Args:
        folder: the folder of the package.
        package: its dotted name.
        without: a folder in it that is not imported, and not read.
    """
    finder = _Held(folder, package, without)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Held(ExecutionLoader, MetaPathFinder):
    """Imports the modules of a folder from what was in their files when it was made."""

    def __init__(self, folder: Path, package: str, without: str) -> None:
        self._sources: dict[str, bytes] = {}
        self._paths: dict[str, Path] = {}
        for path in folder.rglob("*.py"):
            place = path.relative_to(folder)
            if place.parts[0] == without:
                continue
            names = [*place.parts[:-1], *([] if path.stem == "__init__" else [path.stem])]
            name = ".".join([package, *names])
            self._paths[name], self._sources[name] = path, path.read_bytes()

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        """Where a module is, if it is one of these."""
        del path, target
        found = self._paths.get(fullname)
        return None if found is None else spec_from_file_location(fullname, found, loader=self)

    def is_package(self, fullname: str) -> bool:
        """Whether a module has others in it."""
        return self._paths[fullname].name == "__init__.py"

    def get_filename(self, fullname: str) -> str:
        """The file of a module."""
        return str(self._paths[fullname])

    def get_source(self, fullname: str) -> str:
        """The text of a module."""
        return decode_source(self._sources[fullname])


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
