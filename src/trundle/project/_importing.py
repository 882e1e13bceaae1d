"""Imports a project's own modules, and leaves the interpreter as it was."""

import contextlib
import importlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType


@contextlib.contextmanager
def importable(folders: Sequence[Path]) -> Iterator[None]:
    """Makes the modules of some folders importable for a while.

    Within, they come before all others, and modules of the same names from elsewhere do not count. What
    they print goes to standard error, because standard output is for results. Afterwards none of them is
    left among the imported modules.
    """
    roots = [folder.resolve() for folder in folders]
    path, bytecode = list(sys.path), sys.dont_write_bytecode
    hidden = {
        name: module
        for name, module in sys.modules.items()
        if any(_provides(root, name.partition(".")[0]) for root in roots)
        and not _ours(module, roots)
        and name.partition(".")[0] not in sys.stdlib_module_names
        and name.partition(".")[0] != "trundle"
    }
    _forget(roots)
    for name in hidden:
        del sys.modules[name]
    sys.path[:0] = [str(root) for root in roots]
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = path
        sys.dont_write_bytecode = bytecode
        _forget(roots)
        sys.modules.update(hidden)
        importlib.invalidate_caches()


def _provides(root: Path, name: str) -> bool:
    return (root / name).is_dir() or (root / f"{name}.py").is_file()


def _forget(roots: Sequence[Path]) -> None:
    for name, module in list(sys.modules.items()):
        if name != "__main__" and _ours(module, roots):
            del sys.modules[name]


def _ours(module: ModuleType, roots: Sequence[Path]) -> bool:
    """Whether a module was imported from one of some folders."""
    spec = getattr(module, "__spec__", None)
    if spec is None:
        return False
    places = list(spec.submodule_search_locations or ())
    origin = spec.origin if spec.has_location else None
    found = [Path(place).resolve() for place in ([origin] if origin else places)]
    return any(
        root in place.parents and not _installed(place, root) for root in roots for place in found
    )


def _installed(place: Path, root: Path) -> bool:
    """Whether a file lies in an environment that stands inside the folder."""
    return bool({"site-packages", "dist-packages"} & set(place.relative_to(root).parts))
