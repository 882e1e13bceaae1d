"""Generates the packages of projects that installed packages carry, in a folder of the process that uses them.

Nothing of an installed package is run as Python: what it brings of generated code is left where it is, and code is generated from its schemas, rules
and lock. So a project that needs Python of its own, such as hooks, or webhooks, cannot be used so. Hooks that are static methods of its classes run in
the engine, in processes of their own.
"""

import importlib
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from trundle.project._packaged_classes import package_around, packaged_classes
from trundle.project.config import Config, load_config
from trundle.project.errors import ConfigError, FileCode, ProjectFileError
from trundle.project.generating import generate
from trundle.project.loading import Project, load_parts
from trundle.project.releasing import projects_in
from trundle.project.static_methods import APART, StaticMethods
from trundle.runtime import AnyScheme, forget_classes
from trundle.schema.readers import is_python


class CarriedProject(msgspec.Struct, frozen=True):
    """A project that a package carries, with its scheme.

    Attributes:
        parts: its parts as they were loaded, each as a project of its own.
        scheme: the scheme of the package that was generated from it.
        members: the group and the resource types of each generated package, by its name within the folder's package.
    """

    parts: tuple[Project, ...]
    scheme: AnyScheme
    members: Mapping[str, tuple[str, tuple[str, ...]]]


class CarriedProjects:
    """Generates packages into a folder, and imports them from there. Used as a context manager.

    Args:
        folder: the folder; nothing else writes there.
        package: the name of the Python package that holds all of them; no other module has it.

    Attributes:
        package: that name.
    """

    def __init__(self, folder: Path, package: str) -> None:
        self.package = package
        self._folder = folder.resolve()
        self._number = 0

    def __enter__(self) -> Self:
        root = self._folder / self.package
        root.mkdir(parents=True)
        (root / "__init__.py").write_text('"""Generated from installed packages."""\n')
        sys.path.insert(0, str(self._folder))
        APART.add(self.package)
        importlib.invalidate_caches()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        APART.discard(self.package)
        sys.path.remove(str(self._folder))
        self.forget("")

    def load(self, folder: Path) -> tuple[CarriedProject, ...]:
        """Generates a package of each project in the folder of an installed package.

        Raises:
            ProjectError: the file of a project cannot be used, or needs Python of its own.
            SchemaError: a schema cannot be read.
            ChangeError: a change does not fit its place.
        """
        before, found = self._number, []
        try:
            for name in projects_in(folder):
                config = load_config(folder / name)
                _require_data_only(config, folder)
                found.append(self._loaded(config))
        except BaseException:
            for number in range(before, self._number):
                self.forget(_member(number + 1))
            raise
        return tuple(found)

    @staticmethod
    def text_of_classes(folder: Path) -> Mapping[str, str]:
        """The files of the classes in a package by their paths in it, where hooks of its projects are static methods; else none.

        Raises:
            PackageError: the manifest cannot be used.
            OSError: a file cannot be read.
            UnicodeDecodeError: one is no text.
        """
        for name in projects_in(folder):
            try:
                hooks = load_config(folder / name).hooks
            except ConfigError:  # Loading it says what is wrong.
                continue
            if any(each.is_static for each in hooks):
                return packaged_classes(folder).files
        return {}

    def forget(self, member: str) -> None:
        """Drops a generated package that is no longer used, with all that is known of its classes, and ends the processes of its hooks; all of them where it is empty."""
        top = f"{self.package}.{member}" if member else self.package
        for name in list(sys.modules):
            if name == top or name.startswith(f"{top}."):
                for each in vars(sys.modules.pop(name)).values():
                    if isinstance(each, StaticMethods):
                        each.close()
        if member and self.package in sys.modules:
            vars(sys.modules[self.package]).pop(member, None)
            shutil.rmtree(self._folder / self.package / member, ignore_errors=True)
        forget_classes()

    def _loaded(self, config: Config) -> CarriedProject:
        self._number += 1
        member = _member(self._number)
        own = msgspec.structs.replace(
            config, package=f"{self.package}.{member}", output=self._folder
        )
        generate(own, jobs=1)
        importlib.invalidate_caches()
        scheme: AnyScheme = importlib.import_module(own.package).scheme
        parts = load_parts(config)
        return CarriedProject(tuple(parts.values()), scheme, dict(_members(own, member, parts)))


def _member(number: int) -> str:
    return f"p{number}"


def _members(
    config: Config, member: str, parts: Mapping[str, Project]
) -> Iterator[tuple[str, tuple[str, tuple[str, ...]]]]:
    for name in parts:
        path = f"{member}.{name}" if name else member
        scheme: AnyScheme = importlib.import_module(
            f"{config.package}.{name}" if name else config.package
        ).scheme
        groups = {each.group for each in scheme.resources.values()}
        yield path, (min(groups), tuple(scheme.resources))


def _require_data_only(config: Config, folder: Path) -> None:
    """Refuses a project that runs Python of its own, has webhooks called, or reads what is not in its package.

    Raises:
        ProjectFileError: it does.
    """
    python = [str(each.path) for each in config.sources if is_python(each)]
    hooks = [f"the hook {each.use}" for each in config.hooks if not each.is_static]
    runs = [
        *hooks,
        *(f"the admission hook {each.use}" for each in config.admission if each.use),
        *(f"the webhook {each.webhook.url}" for each in config.admission if each.webhook),
        *(f"the schemas in Python {each}" for each in python),
    ]
    if runs:
        expected = "a project without Python and webhooks, since nothing of installed packages is run or called"
        advice = "serve it as a project with `trundle -C FOLDER serve`"
        if hooks:
            advice += (
                ", or ask the publisher to write hooks as static methods of classes in the package"
            )
        raise ProjectFileError(FileCode.PACKAGE, config.path, expected, ", ".join(runs), advice)
    root = folder.resolve()
    around = package_around(config.path.parent)
    if any(each.is_static for each in config.hooks) and (
        around is None or not around.resolve().is_relative_to(root)
    ):
        expected, advice = "a manifest with the classes of hooks", "ask the publisher to pack it"
        raise ProjectFileError(FileCode.PACKAGE, config.path, expected, "none", advice)
    outside = [
        str(each.path) for each in config.sources if not each.path.resolve().is_relative_to(root)
    ]
    if outside:
        expected, advice = "schemas in the folder of the package", "ask the publisher to pack them"
        raise ProjectFileError(FileCode.PACKAGE, config.path, expected, ", ".join(outside), advice)
