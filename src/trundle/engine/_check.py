"""Checks packages before they are offered: every class can be built, and names no type outside of the requirements."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from trundle.engine._beforehand import Beforehand
from trundle.engine._class_texts import (
    code_length,
    impossible_contracts,
    quoted_contracts,
    refused_contracts,
    uncompiled,
    unread_texts,
    warning,
    wrong_statements,
)
from trundle.engine._classes import Classes
from trundle.engine._core import core_packages
from trundle.engine._declarations import ClassDeclaration
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._foreseen import Foreseen
from trundle.engine._header import HEADER
from trundle.engine._limits import Limits
from trundle.engine._lock import Lock
from trundle.engine._mentions import Mention, mentions
from trundle.engine._meta_rules import described
from trundle.engine._nodes import ListNode, MapNode, Node, ScalarNode
from trundle.engine._package_metas import PackageMetas
from trundle.engine._repository import Repository
from trundle.engine._session import Session
from trundle.engine._sources import Sources, format_of
from trundle.engine._structure import Fixed, structure
from trundle.engine._type import Type
from trundle.engine.effects import Effects
from trundle.engine.expressions import code_of, thaw
from trundle.engine.running import Routines, core_natives
from trundle.errors import Finding, did_you_mean, expectation, listed, shown
from trundle.packages import Package, Requirement


def check(packages: Iterable[Package], among: Iterable[Package] = ()) -> tuple[Finding, ...]:
    """What is wrong with the classes of packages.

    A class that cannot be built, a contract or default that cannot be compiled, and a type that is named but not in the package or its
    requirements are errors. A type in the body of a method that no package has, a statement that cannot be read, text in it that looks like an expression, and
    the use of a function, method or property that there is not are warnings: they may never run.

    Args:
        packages: the packages to check.
        among: the packages that they may use besides each other and the bundled ones.

    Returns:
        All findings, each once, in the order of the packages and of their classes.
    """
    checked = list(packages)
    checker = _Checker(Repository([*checked, *among], core_packages()))
    found = (finding for package in checked for finding in checker.package(package))
    return _once(found)


def check_alone(package: Package, among: Iterable[Package] = ()) -> tuple[Finding, ...]:
    """What is wrong with the classes of a package, as far as that is known without the packages that it requires.

    Args:
        package: the package.
        among: packages that may be what it requires.

    Returns:
        The findings of `check`. Where a package that it requires is neither bundled nor given, none
        is about classes that may be in that.
    """
    among = tuple(among)
    known = Repository([package, *among], core_packages())
    needed = package.manifest.requirements
    met = tuple(each for each in needed if known.choose(each.name, each.range) is not None)
    alone = _requiring(package, met)
    checker = _Checker(Repository([alone, *among], core_packages()))
    found = checker.package(alone)
    if met != needed:
        found = (each for each in found if each.code not in _ELSEWHERE)
    return _once([*_files(alone), *found])


def _once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings without those that say the same of the same line of a package: of a file that cannot be read, each of its classes says so."""
    found: dict[Finding, Finding] = {}
    for each in findings:
        of, place = each, each.place
        if place.line is not None:
            of = replace(each, place=replace(place, object=place.object.partition(" ")[0]))
        found.setdefault(of, each)
    return tuple(found.values())


def _requiring(package: Package, requirements: tuple[Requirement, ...]) -> Package:
    """A package as if it had these requirements."""
    manifest = msgspec.structs.replace(package.manifest, requirements=requirements)
    return Package(
        package.name,
        package.version,
        package.digest,
        package.files,
        manifest=lambda: manifest,
        archive=lambda: package.archive,
    )


MOST_CODE = 1024 * 1024
"""How many characters the expressions in the classes of a package have at most, so that checking them ends in time."""

_ELSEWHERE = (EngineCode.NO_PACKAGE, EngineCode.NO_CLASS)
"""Codes of what is not in the packages at hand."""


def _files(package: Package) -> Iterator[Finding]:
    """What is wrong with the class files of a package: what cannot be read or compiled."""
    sources = Sources(Limits())
    left = MOST_CODE
    for name in package.classes:
        try:
            declaration = sources.declaration(package, name)
        except EngineError as error:
            yield from error.findings
            continue
        left -= code_length(declaration)
        if left < 0:
            yield from _too_much(package, declaration).findings
            return
        for wrong in uncompiled(package, declaration):
            yield from wrong.findings


class _Checker:
    def __init__(self, repository: Repository) -> None:
        limits = Limits()
        self._repository = repository
        self._sources = Sources(limits, core_natives())
        lock = Lock(repository)
        self._classes = Classes(repository, self._sources, lock, limits, _no_static)
        self._beforehand = Beforehand(self._classes, self._sources)
        self._foreseen = Foreseen(self._classes)

    def package(self, package: Package) -> Iterator[Finding]:
        """What is wrong with the classes of one package, and with what it attaches to itself."""
        yield from PackageMetas(self._classes, self._load).findings(package)
        if not package.classes:
            try:
                self._sources.check_format(package)
            except EngineError as error:
                yield from error.findings
        left = MOST_CODE
        for name in package.classes:
            try:
                type_ = self._classes.ordered(package, name)
            except EngineError as error:
                yield from error.findings
                continue
            left -= code_length(type_.declaration)
            if left < 0:
                yield from _too_much(package, type_.declaration).findings
                return
            found = [*self._members(type_), *wrong_statements(type_)]
            unread = tuple(unread_texts(type_))
            found += [*unread, *quoted_contracts(type_), *impossible_contracts(type_)]
            found += [*refused_contracts(type_), *self._names(type_)]
            for wrong in self._classes.meta_errors(type_):
                found += wrong.findings
            yield from found
            yield from self._attached(type_)
            yield from self._absent(type_, {each.place.line for each in found})
            yield from self._constants(type_, {each.place.line for each in unread})

    def _members(self, type_: Type) -> Iterator[Finding]:
        """What is wrong with the contracts and defaults of properties and arguments."""
        for error in uncompiled(type_.source, type_.declaration):
            yield from error.findings

    def _names(self, type_: Type) -> Iterator[Finding]:
        declaration = type_.declaration
        for name in declaration.imports:
            yield from self._mention(
                type_, Mention(f"{name}", "", declaration.line, is_loaded=True)
            )
        for each in mentions(declaration):
            yield from self._mention(type_, each)

    def _attached(self, type_: Type) -> Iterator[Finding]:
        """What Meta classes do not take of what a class gives them, and what has no effect; a warning, for it may never be read."""
        for wrong in self._classes.meta_warnings(type_):
            yield warning(wrong)
        for place in described(type_.declaration):
            for name, node in _metas(place.meta):
                try:
                    meta = self._classes.resolve(type_.source, type_.full_name(name.text))
                except EngineError:  # `meta_errors` says so
                    continue
                for message, advice in self._wrong_values(type_, meta, node):
                    error = type_.error(
                        EngineCode.META,
                        f"{meta.name}: {message}",
                        advice=advice,
                        member=place.member,
                        line=name.line,
                    )
                    yield warning(error)

    def _absent(self, type_: Type, known: set[int | None]) -> Iterator[Finding]:
        """What code calls and reads that is not there; a warning, for it may never run.

        Args:
            type_: the class.
            known: the lines of which something is said already.
        """
        for error in self._foreseen.wrong(type_):
            if error.line not in known:
                yield warning(error)

    def _constants(self, type_: Type, unread: set[int | None]) -> Iterator[Finding]:
        """Constants that break contracts; warnings where no object shows them, or the code may never run.

        Args:
            type_: the class.
            unread: the lines of texts that were probably meant as expressions.
        """
        for error, is_shown in self._beforehand.defaults(type_):
            if error.line in unread:
                continue
            yield error.findings[0] if is_shown else warning(error)
        for error in self._beforehand.made(type_):
            yield warning(error)

    def _wrong_values(self, type_: Type, meta: Type, node: MapNode) -> Iterator[tuple[str, str]]:
        known = list(meta.properties)
        unknown = [key.text for key, _ in node.entries if key.text not in known]
        for each in unknown:
            expected = f"one of {listed(known)}" if known else "no property"
            yield expectation(expected, shown(each)), did_you_mean(each, known, "remove it")
        made = structure(code_of(node, type_.declaration.file), format_of(type_.source))
        if unknown or not isinstance(made, Fixed) or not meta.is_meta:
            return
        try:
            self._load({HEADER: {"type": meta.label}, **thaw(made.value)})
        except EngineError as error:
            yield from ((each.message, each.advice) for each in error.errors)

    def _mention(self, type_: Type, mention: Mention) -> Iterator[Finding]:
        """What is wrong with a name."""
        full = mention.name
        try:
            full = type_.full_name(mention.name)
            self._classes.edge(type_.source, full)
        except EngineError as error:
            error.class_name, error.member = type_.name, mention.member
            error.file, error.line = type_.declaration.file, mention.line
            is_elsewhere = bool(self._classes.repository.with_class(full))
            yield from self._graded(error, mention, is_elsewhere=is_elsewhere)

    def _graded(
        self, error: EngineError, mention: Mention, *, is_elsewhere: bool
    ) -> Iterator[Finding]:
        for finding in error.findings:
            is_error = mention.is_loaded or is_elsewhere
            yield finding if is_error else replace(finding, severity="warning")

    def _load(self, model: Mapping[str, Any]) -> None:
        """Loads an object, and forgets it.

        Raises:
            EngineError: it does not fit its class.
        """
        with Session(
            self._repository, self._sources, Limits(), {}, {}, Routines({}), Effects(), None
        ) as session:
            session.load(model)


def _metas(node: Node) -> Iterator[tuple[ScalarNode, MapNode]]:
    """The names of Meta classes in what is attached, each with the values of its properties."""
    for each in node.items if isinstance(node, ListNode) else (node,):
        if isinstance(each, ScalarNode):
            yield each, MapNode((), each.line)
        elif isinstance(each, MapNode):
            for key, value in each.entries:
                yield key, value if isinstance(value, MapNode) else MapNode((), key.line)


def _too_much(package: Package, declaration: ClassDeclaration) -> EngineError:
    expected = f"at most {MOST_CODE} characters of expressions in the classes of a package"
    return EngineError(
        EngineCode.LIMIT,
        expectation(expected, "more"),
        advice="put some of the classes into a package of their own",
        package=package.name,
        version=package.version,
        class_name=declaration.name,
        file=declaration.file,
        line=declaration.line,
    )


def _no_static(type_: Type, name: str) -> object:
    raise type_.error(EngineCode.UNINITIALIZED, f"{name} has a value in a session only")
