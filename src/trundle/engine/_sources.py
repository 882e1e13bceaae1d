"""The class files of packages, each read once for all sessions of an engine."""

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from trundle.engine._class_file import read_class_file
from trundle.engine._core import core_packages
from trundle.engine._declarations import (
    ArgumentDeclaration,
    ClassDeclaration,
    PropertyDeclaration,
)
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._limits import Limits
from trundle.engine._natives import native_of, with_native
from trundle.engine._nodes import ScalarNode
from trundle.engine._repository import label
from trundle.engine._scene import Scene
from trundle.engine._structure import structure
from trundle.engine._type import Type
from trundle.engine.contracts import Contract, Where, compile_contract
from trundle.engine.expressions import Format, code_of
from trundle.errors import expectation, listed
from trundle.packages import MANIFEST_FILE, Package, PackageFormat
from trundle.version import SemVer

_read_bundled = functools.cache(read_class_file)
"""All engines have these packages, so their files are read once for all."""

NEWEST = PackageFormat(version=SemVer(1, 4, 0))
"""The newest format that this engine runs."""


class Compiled(NamedTuple):
    """A property, ready to take values.

    Attributes:
        contract: what its values satisfy.
        default: the value where none is given; None where none is declared.
    """

    contract: Contract
    default: Callable[[Scene], Any] | None


class Sources:
    """Reads what packages declare."""

    def __init__(self, limits: Limits, natives: Mapping[str, type] | None = None) -> None:
        self._limits = limits
        self._natives = dict(natives or {})
        self._files: dict[tuple[str, SemVer, str], tuple[ClassDeclaration, ...]] = {}
        self._classes: dict[tuple[str, SemVer, str], ClassDeclaration] = {}
        self._compiled: dict[tuple[str, SemVer, str, str], Compiled] = {}
        self._beside: dict[tuple[str, SemVer], dict[str, str]] = {}

    def declaration(self, package: Package, class_name: str) -> ClassDeclaration:
        """A class that a package lists, or that stands in a class file beside one that it lists.

        Raises:
            EngineError: the package is in a format that this engine does not run, or the file cannot be read, or does
                not have the class.
        """
        key = (package.name, package.version, class_name)
        if key not in self._classes:
            self.check_format(package)
            with _about(package, class_name):
                path = package.classes.get(class_name) or self._unlisted(package)[class_name]
                found = _find(self._file(package, path), class_name, path)
                native = native_of(self._natives, found, package.version)
                self._classes[key] = found if native is None else with_native(found, native)
        return self._classes[key]

    def has_unlisted(self, package: Package, class_name: str) -> bool:
        """Whether a class that a package does not list stands beside one that it lists."""
        return class_name in self._unlisted(package)

    def _unlisted(self, package: Package) -> Mapping[str, str]:
        """The file of each class that a package does not list; files that cannot be read have none."""
        key = (package.name, package.version)
        if key not in self._beside:
            found: dict[str, str] = {}
            for path in dict.fromkeys(package.classes.values()):
                with contextlib.suppress(EngineError):
                    for each in self._file(package, path):
                        if each.name and each.name not in package.classes:
                            found.setdefault(each.name, path)
            self._beside[key] = found
        return self._beside[key]

    def compiled(self, type_: Type, declaration: PropertyDeclaration) -> Compiled:
        """A property that a class declares, compiled once.

        Raises:
            EngineError: its contract or its default cannot be compiled.
        """
        key = (type_.package, type_.version, type_.name, declaration.name)
        if key not in self._compiled:
            with _about(type_.source, type_.name):
                self._compiled[key] = compile_declared(type_.source, type_.declaration, declaration)
        return self._compiled[key]

    def _file(self, package: Package, path: str) -> tuple[ClassDeclaration, ...]:
        key = (package.name, package.version, path)
        if key not in self._files:
            try:
                data = package.file(path)
            except KeyError:
                raise EngineError(
                    EngineCode.MANIFEST,
                    expectation(f"the file {path}, which the manifest names", "none"),
                    advice="add the file, or correct the manifest",
                    file=path,
                ) from None
            if len(data) > self._limits.class_file:
                raise EngineError(
                    EngineCode.LIMIT,
                    expectation(
                        f"at most {self._limits.class_file} bytes in a class file", str(len(data))
                    ),
                    advice="put the classes into several files",
                    file=path,
                )
            is_bundled = any(package is each for each in core_packages())
            read = _read_bundled if is_bundled else read_class_file
            self._files[key] = read(data, path)
        return self._files[key]

    def check_format(self, package: Package) -> None:
        """Makes sure that this engine runs the format of a package.

        Raises:
            EngineError: it does not.
        """
        written = package.manifest.format
        if written is None or (
            written.language == NEWEST.language and written.version <= NEWEST.version
        ):
            return
        advice = "use a newer engine, or correct `Format`"
        if written.language != NEWEST.language:
            advice = f"{written.language} is not supported: write the package in {NEWEST.language}"
        elif _is_same(written.version, NEWEST.version):
            advice = f"formats have two numbers: write `Format: {_brief(NEWEST)}`"
        raise EngineError(
            EngineCode.FORMAT,
            expectation(f"`Format: {_brief(NEWEST)}` or older", f"`Format: {_brief(written)}`"),
            advice=advice,
            package=package.name,
            version=package.version,
            file=MANIFEST_FILE,
        )


def _is_same(one: SemVer, other: SemVer) -> bool:
    """Whether two versions differ in no more than their third number, or in a pre-release."""
    return (one.major, one.minor) == (other.major, other.minor)


def _brief(form: PackageFormat) -> str:
    """A format as manifests spell it: `1.4`, and with its language where that is another one."""
    is_short = form.version == SemVer(form.version.major, form.version.minor, 0)
    text = f"{form.version.major}.{form.version.minor}" if is_short else str(form.version)
    return text if form.language == NEWEST.language else f"{form.language}/{text}"


def format_of(package: Package) -> Format:
    """The format that the code of a package runs with."""
    written = package.manifest.format or PackageFormat()
    return Format(written.version.major, written.version.minor)


def compile_declared(
    package: Package,
    owner: ClassDeclaration,
    declared: PropertyDeclaration | ArgumentDeclaration,
    member: str = "",
) -> Compiled:
    """Compiles a property that a class declares, or an argument of one of its methods.

    Args:
        package: the package of the class.
        owner: the class.
        declared: the property or the argument.
        member: the method; empty for a property.

    Raises:
        EngineError: its contract or its default cannot be compiled.
    """
    file, form = owner.file, format_of(package)
    nothing = ScalarNode(None, "", declared.line)
    name, argument = (member, declared.name) if member else (declared.name, "")
    where = Where(owner.name, name, argument, file, declared.line)
    contract = compile_contract(
        code_of(declared.contract or nothing, file), format_=form, where=where
    )
    if not declared.has_default:
        return Compiled(contract, None)
    return Compiled(contract, structure(code_of(declared.default or nothing, file), form))


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
        expectation(f"the class {class_name} in {path}", has),
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
    package: Package,
    name: str,
    searched: list[str],
    elsewhere: list[str],
    missing: list[str],
    advice: str,
) -> EngineError:
    """The error for a class that neither a package nor its requirements have."""
    found = f"none in {listed([label(package), *searched])}"
    if missing:
        found += f"; nothing meets the requirement on {listed(missing)}"
    if elsewhere:
        found += f", only in {listed(elsewhere)}"
        owner = elsewhere[0].partition("/")[0]
        advice = f"add {owner} to `Require`"
        if owner == package.name:
            advice = f"name a class of {label(package)} itself, or add this one to it"
        elif any(each.name == owner for each in package.requirements):
            advice = (
                f"change the requirement on {owner}, or name a class that the chosen version has"
            )
    return EngineError(
        EngineCode.NO_CLASS,
        expectation(f"the class {name} in {label(package)} or in what it requires", found),
        advice=advice,
        package=package.name,
        version=package.version,
    )
