"""The class files of packages, each read once for all sessions of an engine."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from trundle.engine._class_file import read_class_file
from trundle.engine._declarations import ClassDeclaration
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._limits import Limits
from trundle.engine._repository import label
from trundle.errors import listed
from trundle.packages import Package, PackageFormat
from trundle.version import SemVer

NEWEST = PackageFormat(version=SemVer(1, 4, 0))
"""The newest format that this engine runs."""


class Sources:
    """Reads what packages declare."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._files: dict[tuple[str, SemVer, str], tuple[ClassDeclaration, ...]] = {}
        self._classes: dict[tuple[str, SemVer, str], ClassDeclaration] = {}

    def declaration(self, package: Package, class_name: str) -> ClassDeclaration:
        """A class that a package lists.

        Raises:
            EngineError: the package is in a format that this engine does not run, or the file cannot be read, or does
                not have the class.
        """
        key = (package.name, package.version, class_name)
        if key not in self._classes:
            with _about(package, class_name):
                self._check_format(package)
                path = package.classes[class_name]
                self._classes[key] = _find(self._file(package, path), class_name, path)
        return self._classes[key]

    def _file(self, package: Package, path: str) -> tuple[ClassDeclaration, ...]:
        key = (package.name, package.version, path)
        if key not in self._files:
            try:
                data = package.file(path)
            except KeyError:
                raise EngineError(
                    EngineCode.MANIFEST,
                    f"expected the file {path}, which the manifest names, found none",
                    advice="add the file, or correct the manifest",
                    file=path,
                ) from None
            if len(data) > self._limits.class_file:
                raise EngineError(
                    EngineCode.LIMIT,
                    f"expected at most {self._limits.class_file} bytes in a class file, found {len(data)}",
                    advice="put the classes into several files",
                    file=path,
                )
            self._files[key] = read_class_file(data, path)
        return self._files[key]

    def _check_format(self, package: Package) -> None:
        written = package.manifest.format
        if written is None or (
            written.language == NEWEST.language and written.version <= NEWEST.version
        ):
            return
        raise EngineError(
            EngineCode.FORMAT,
            f"expected a package in {NEWEST.language}, in format {NEWEST.version} or older, found {written}",
            advice="use a newer engine, or correct `Format`",
        )


def _find(found: tuple[ClassDeclaration, ...], class_name: str, path: str) -> ClassDeclaration:
    """The class of a file that has a name, else the one that has none."""
    by_name = {each.name: each for each in found}
    if class_name in by_name:
        return by_name[class_name]
    if "" in by_name:
        return replace(by_name[""], name=class_name)
    has = f"only {listed(by_name)}" if by_name else "no class"
    raise EngineError(
        EngineCode.NO_CLASS,
        f"expected the class {class_name} in {path}, found {has}",
        advice="correct `Name` and `Namespaces`, or the manifest",
        file=path,
    )


@contextlib.contextmanager
def _about(package: Package, class_name: str) -> Iterator[None]:
    """Adds to an error which package and class it is about."""
    try:
        yield
    except EngineError as error:
        error.package, error.version = package.name, package.version
        error.class_name = error.class_name or class_name
        raise


def no_class(
    package: Package, name: str, searched: list[str], elsewhere: list[str], missing: list[str]
) -> EngineError:
    """The error for a class that neither a package nor its requirements have."""
    found = f"none in {listed([label(package), *searched])}"
    if missing:
        found += f"; nothing meets the requirement on {listed(missing)}"
    advice = "correct the name"
    if elsewhere:
        found += f", only in {listed(elsewhere)}"
        advice = f"add {elsewhere[0].partition('/')[0]} to `Require`"
    return EngineError(
        EngineCode.NO_CLASS,
        f"expected the class {name} in {label(package)} or in what it requires, found {found}",
        advice=advice,
        package=package.name,
        version=package.version,
    )
