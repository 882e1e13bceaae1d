"""Hooks that are static methods of a class of the package that carries a project, and all that is wrong with them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import msgspec

from trundle.codegen import StaticCall
from trundle.engine import Engine, EngineError, Session, Type
from trundle.errors import Finding, did_you_mean, listed
from trundle.evolution import METADATA, HookDeclaration, HookReference, Lineage, Neighbours
from trundle.packages import MANIFEST_FILE, Package, PackageError
from trundle.project._methods_here import LIMITS
from trundle.project._packaged_classes import PackagedClasses, package_around, packaged_classes
from trundle.project._release_hooks import Homes, find_hooks
from trundle.project._release_rules import ASSIGNING, ReleaseHook
from trundle.project.findings import ProjectCode, finding

Calls = Mapping[tuple[str, Neighbours, str], StaticCall]
"""Static methods by type, neighbours, and what they are for."""


class Read(NamedTuple):
    """What became of a hook.

    Attributes:
        declaration: what it declares; None where it cannot be called.
        calls: how its methods are called.
        findings: what is wrong with it.
    """

    declaration: HookDeclaration | None
    calls: Calls
    findings: tuple[Finding, ...]


class StaticHooks:
    """Reads the hooks of a project that are static methods.

    Args:
        folder: the project's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def package(self) -> PackagedClasses | str:
        """The classes of the package that carries the project; why there are none, else."""
        folder = package_around(self._folder)
        if folder is None:
            return f"no {MANIFEST_FILE} in {self._folder} or above"
        try:
            return packaged_classes(folder)
        except (PackageError, OSError, UnicodeDecodeError) as error:
            return str(error)

    @cached_property
    def _session(self) -> tuple[Session, Package]:
        assert isinstance(self.package, PackagedClasses)
        package = Package.from_files(self.package.files)
        return Engine([package], limits=LIMITS).session(), package

    def read(self, reference: HookReference, lineages: Sequence[Lineage]) -> Read:
        """What a hook declares for a type between two neighbours.

        Args:
            reference: names its class.
            lineages: the type, at each place in the resources where it is.
        """
        type_ = self._type(reference)
        if isinstance(type_, Finding):
            return Read(None, {}, (type_,))
        writes = dict(reference.writes)
        names = [each for each in type_.methods if each in ASSIGNING or each.startswith("convert_")]
        findings = list(_beside(reference, type_, names))
        homes = Homes(reference.use, (reference.use,), lambda _: type_)
        hooks = [
            ReleaseHook(
                reference.older,
                reference.newer,
                reference.type,
                name,
                f"{reference.use}.{name}",
                writes.get(name, ()),
                reference.where,
            )
            for name in names
        ]
        try:
            found = find_hooks([(each, homes) for each in hooks], lineages)
        except EngineError as error:
            return Read(None, {}, (_finding(reference, str(error), "correct the class"),))
        findings += found.findings
        if findings or not found.declarations:
            return Read(None, {}, tuple(findings))
        (declaration,) = found.declarations
        findings += _of_envelope(declaration, lineages)
        between = Neighbours(reference.older, reference.newer)
        calls = {
            (reference.type, between, each.method): StaticCall(each.arguments, each.outputs)
            for each in found.methods.values()
        }
        own = msgspec.structs.replace(declaration, reference=reference, called={})
        return Read(None if findings else own, calls, tuple(findings))

    def _type(self, reference: HookReference) -> Type | Finding:
        """The class that has the methods; why it cannot be had is a finding."""
        expected = f"the class {reference.use} in the package that carries the project"
        if not isinstance(self.package, PackagedClasses):
            advice = (
                "write the class into the package, or name a Python class as package.module:Class"
            )
            return _finding(reference, self.package, advice, expected)
        if reference.use not in self.package.classes:
            advice = did_you_mean(reference.use, self.package.classes)
            return _finding(reference, f"none in {self.package.name}", advice, expected)
        try:
            session, package = self._session
            found = session.type(reference.use, str(package.version), package.name)
            session.compile(found)
        except (EngineError, PackageError) as error:
            advice = "correct it; hooks use classes of their own package and of the core library"
            return _finding(reference, str(error), advice, expected)
        return found


def _beside(reference: HookReference, type_: Type, names: Sequence[str]) -> Iterator[Finding]:
    """What is wrong with a class beside its methods that conversions call."""
    if not names:
        expected = (
            f"a static method {', '.join(ASSIGNING)} or convert_..._to_... in {reference.use}"
        )
        yield _finding(reference, "none", "write one", expected)
    for each in type_.methods.values():
        if each.name not in names and each.name.startswith("assign"):
            what = f"{reference.use}.{each.name} is called by no conversion"
            yield _finding(reference, what, did_you_mean(each.name, ASSIGNING))
    for name, _ in reference.writes:
        if name not in names:
            what = f"`writes` has {name}, a method that {reference.use} does not have"
            yield _finding(
                reference, what, f"write the method, or remove it; there are {listed(names)}"
            )


def _of_envelope(declaration: HookDeclaration, lineages: Sequence[Lineage]) -> Iterator[Finding]:
    """What a hook names of the properties that every resource has; metadata may be read."""
    barred = {name for each in lineages for name in each.envelope}
    for method, declared in sorted(declaration.assign.items()):
        spoken = declaration.method(method)
        for name in declared.writes:
            if name in barred:
                what = f"{spoken} writes {name}, which all clients share"
                yield _finding(declaration.reference, what, "write a property of the type")
        for name in declared.reads:
            if name in barred - {METADATA}:
                what = f"{spoken} reads {name}, which conversions set"
                yield _finding(declaration.reference, what, "read a property of the type")


def _finding(reference: HookReference, found: str, advice: str, expected: str = "") -> Finding:
    return finding(ProjectCode.HOOK, reference.where, found, advice, expected=expected)
