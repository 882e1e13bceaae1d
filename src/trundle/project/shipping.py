"""Sends a project's generated package, with its hooks, to processes that may run elsewhere.

What is sent are the files of the package, and the modules of the project that it imports. So all processes of a run use the same
code, whatever is generated meanwhile.
"""

import contextlib
import hashlib
import importlib
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import decode_source, spec_from_loader
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from trundle.project._importing import importable
from trundle.project.client_documents import client_group
from trundle.project.config import Config
from trundle.project.generated import generated_scheme
from trundle.project.hooks import hook_modules
from trundle.runtime import AnyScheme


class ShippedPackage(msgspec.Struct, frozen=True):
    """A generated package that can be sent to another process.

    Attributes:
        name: the package's dotted name.
        modules: further modules that it imports.
        files: the content of all files, by their place in a folder that modules are imported from.
        group: the API group that clients name before versions of resource types that have none of their own; empty for none.
    """

    name: str
    modules: tuple[str, ...]
    files: dict[str, bytes]
    group: str = ""

    @property
    def digest(self) -> str:
        """What the package is known by: the same for the same files, and the same group."""
        digest = hashlib.sha256(self.group.encode())
        for place, content in sorted(self.files.items()):
            digest.update(f"{len(place)} {place} {len(content)} ".encode() + content)
        return f"sha256:{digest.hexdigest()}"


def ship(config: Config) -> ShippedPackage:
    """A project's generated package with all that it imports of the project.

    Raises:
        NotGeneratedError: the package is not there.
        ProjectError: the package cannot be imported.
    """
    with generated_scheme(config):  # It says what is wrong with the package.
        pass
    folders = (config.output, config.path.parent)
    found = gathered(config.package, folders, tuple(hook_modules(config.hooks)))
    return msgspec.structs.replace(found, group=client_group(config))


def gathered(name: str, folders: Sequence[Path], modules: Sequence[str]) -> ShippedPackage:
    """A generated package with all that it imports of some folders.

    Args:
        name: the package, which can be imported.
        folders: where modules are imported from; the package is in the first.
        modules: further modules that it imports.
    """
    roots = [each.resolve() for each in folders]
    with importable(roots, [name, *modules]) as imported:
        for module in (name, *modules):
            importlib.import_module(module)
    root = roots[0].joinpath(*name.split("."))
    found = {path for path in root.rglob("*.py") if root / "tests" not in path.parents}
    files: dict[str, bytes] = {}
    for path in sorted(found | {each.resolve() for each in imported}):
        above = next(each for each in roots if path.is_relative_to(each))
        files[path.relative_to(above).as_posix()] = path.read_bytes()
    return ShippedPackage(name, tuple(modules), files)


@contextlib.contextmanager
def shipped_scheme(shipped: ShippedPackage) -> Iterator[AnyScheme]:
    """The scheme of a package that was sent here; it may be used only within.

    It is imported from memory, so that nothing is left of a process that is killed. What its modules print goes to standard error.
    """
    finder = _Shipped(shipped)
    before = dict(sys.modules)
    finder.forget()
    sys.meta_path.insert(0, finder)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            scheme: Any = importlib.import_module(shipped.name).scheme
            yield scheme
    finally:
        sys.meta_path.remove(finder)
        finder.forget()
        sys.modules.update({name: before[name] for name in before.keys() - sys.modules.keys()})


class _Shipped(InspectLoader, MetaPathFinder):
    """Imports the modules of a package that was sent here."""

    def __init__(self, shipped: ShippedPackage) -> None:
        self._files = shipped.files
        self._folders = {
            str(folder) for place in shipped.files for folder in PurePosixPath(place).parents
        }
        self._tops = {place.partition("/")[0].removesuffix(".py") for place in shipped.files}

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        """Where a module is, if it is one of these."""
        del path, target
        if self._place(fullname):
            return spec_from_loader(fullname, self)
        if fullname.replace(".", "/") in self._folders:
            return ModuleSpec(fullname, None, is_package=True)
        return None

    def is_package(self, fullname: str) -> bool:
        """Whether a module has others in it."""
        return self._place(fullname).endswith("/__init__.py")

    def get_source(self, fullname: str) -> str:
        """The text of a module."""
        return decode_source(self._files[self._place(fullname)])

    def forget(self) -> None:
        """Drops the modules that are imported, of this package or of another one with these names."""
        for name in list(sys.modules):
            if name.partition(".")[0] in self._tops:
                del sys.modules[name]

    def _place(self, fullname: str) -> str:
        path = fullname.replace(".", "/")
        places = (f"{path}/__init__.py", f"{path}.py")
        return next((each for each in places if each in self._files), "")
