"""The classes of one session: which a name means, in which version, and each of them built once."""

import contextlib
import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._limits import Limits
from trundle.engine._lineage import Lineage
from trundle.engine._lock import Edge, Lock
from trundle.engine._meta_rules import MetaRules
from trundle.engine._repository import Repository, label, own_requirement
from trundle.engine._sources import Sources, no_class
from trundle.engine._type import ROOT_CLASS, Type
from trundle.errors import did_you_mean, expectation, listed
from trundle.packages import Package
from trundle.version import ANY, SemVer, VersionError, VersionRange

_PREFIX = "io.murano.extensions."


class Classes:
    """The classes that one session uses.

    Attributes:
        repository: the packages.
        lock: the versions that were chosen.
    """

    def __init__(
        self,
        repository: Repository,
        sources: Sources,
        lock: Lock,
        limits: Limits,
        read_static: Callable[[Type, str], Any],
    ) -> None:
        self.repository = repository
        self.lock = lock
        self._sources = sources
        self._limits = limits
        self._read_static = read_static
        self._types: dict[tuple[str, SemVer, str], Type | EngineError] = {}
        self._edges: dict[tuple[str, SemVer, str], Edge] = {}
        self._meta_rules = MetaRules(self._declared)
        self._unfit: dict[Type, EngineError | None] = {}

    def get(self, package: Package, name: str) -> Type:
        """A class that a package lists; its ancestors are found on first use.

        Raises:
            EngineError: its file cannot be read, or a requirement of its package is not met; each time the same.
        """
        key = (package.name, package.version, name)
        found = self._types.get(key)
        if found is None:
            try:
                self.lock.versions(package)
                declaration = self._sources.declaration(package, name)
                found = Type(
                    package, declaration, self._parent_edges, self._lineage, self._read_static
                )
            except EngineError as error:
                found = error
            self._types[key] = found
        if isinstance(found, EngineError):
            raise copy.copy(found)  # Who catches it adds to it where it happened
        return found

    def built(self, package: Package, name: str) -> Type:
        """A class that is known to be in order, with its ancestors and with what is attached to them.

        Raises:
            EngineError: it cannot be built; each time the same.
        """
        found = self.ordered(package, name)
        if found not in self._unfit:
            wrong = tuple(self._meta_rules.errors(found))
            self._unfit[found] = EngineError.of(wrong) if wrong else None
        error = self._unfit[found]
        if error is not None:
            raise copy.copy(error)
        return found

    def meta_errors(self, type_: Type) -> Iterator[EngineError]:
        """What may not be attached to a class, to its members or to its ancestors."""
        return self._meta_rules.errors(type_)

    def meta_warnings(self, type_: Type) -> Iterator[EngineError]:
        """What is attached to a class or to its members without an effect."""
        return self._meta_rules.warnings(type_)

    def ordered(self, package: Package, name: str) -> Type:
        """A class whose ancestors are known to be in order, whatever is attached to them.

        Raises:
            EngineError: it, or one of its ancestors, cannot be read, or they do not fit together; each time the same.
        """
        found = self.get(package, name)
        try:
            found.lineage  # noqa: B018 - finds the ancestors
        except EngineError as error:
            self._types[package.name, package.version, name] = copy.copy(error)
            raise
        return found

    def edge(self, package: Package, name: str) -> Edge:
        """What a full name means in the code of a package: its own class, or that of the first requirement that has one.

        Raises:
            EngineError: neither has it.
        """
        key = (package.name, package.version, name)
        if key not in self._edges:
            self._edges[key] = self._find_edge(package, name)
        return self._edges[key]

    def resolve(self, package: Package, name: str) -> Type:
        """The class that a full name means in the code of a package, built.

        Raises:
            EngineError: there is none, or it cannot be built.
        """
        return self.at(self.edge(package, name))

    def at(self, edge: Edge, version: SemVer | None = None) -> Type:
        """The class at the end of an edge, built; in a version other than the chosen one where that is given."""
        source = self.repository.package(edge.requirement.name, version or edge.version)
        return self.built(source, edge.class_name)

    def required(self, package: Package, name: str) -> VersionRange:
        """The versions of another package, or of itself, that a package takes; all where it does not require it."""
        if name == package.name:
            return own_requirement(package).range
        return next((each.range for each in package.requirements if each.name == name), ANY)

    def with_extension(self, package: Package, method: str) -> list[str]:
        """The classes of a package and of what it requires that have an extension method of some name, the own ones first."""
        chosen = self.lock.versions(package)
        required = (each.name for each in package.requirements if each.name != package.name)
        versions = [(name, chosen[name]) for name in required if name in chosen]
        sources = (package, *(self.repository.package(*each) for each in versions))
        found = []
        for source in sources:
            for name in sorted(source.classes):
                with contextlib.suppress(EngineError):  # One that cannot be read is found by itself
                    declared = self._sources.declaration(source, name).methods.get(method)
                    if declared is not None and declared.usage == "Extension":
                        found.append(name)
        return found

    def named(self, name: str, spec: str | None = None, package: str | None = None) -> Type:
        """The class that a model means: the newest of all versions in the catalog, or what fits a version.

        Args:
            name: its full name.
            spec: a version or a range. A version that is gone stands for the newest of its minor, else of its major version.
            package: the package; may be left out where only one has the class.

        Raises:
            EngineError: there is no such class, or several packages have it.
        """
        known = self.repository.with_class(name)
        if package is not None:
            known = {package: known[package]} if package in known else self._unlisted(package, name)
        if not known:
            raise self._unknown(name, package)
        if len(known) > 1:
            raise EngineError(
                EngineCode.AMBIGUOUS,
                expectation(f"one package with the class {name}", listed(known)),
                advice="name the package, as in `package: NAME` beside `type`",
                class_name=name,
            )
        owner, versions = next(iter(known.items()))
        version = _fitting(versions, spec)
        if version is None:
            raise EngineError(
                EngineCode.NO_CLASS,
                expectation(
                    f"the class {name} of {owner} in version {spec}",
                    f"only {listed(map(str, sorted(versions)))}",
                ),
                advice="name one of these, or leave the version out for the newest",
                package=owner,
                class_name=name,
            )
        return self.built(self.repository.package(owner, version), name)

    def _unlisted(self, package: str, name: str) -> Mapping[str, Sequence[SemVer]]:
        """The versions of a package that have a class without listing it, as models of its objects name it."""
        repository = self.repository
        versions = [
            each
            for each in repository.versions(package)
            if self._sources.has_unlisted(repository.package(package, each), name)
        ]
        return {package: versions} if versions else {}

    def _unknown(self, name: str, package: str | None) -> EngineError:
        owners = self.repository.with_class(name)
        if package is not None and owners:
            message = expectation(
                f"the class {name} in the package {package}", f"it in {listed(owners)}"
            )
            advice = "name that package, or leave the package out"
            return EngineError(EngineCode.NO_CLASS, message, advice=advice, class_name=name)
        where = f" in the package {package}" if package else ""
        return EngineError(
            EngineCode.NO_CLASS,
            expectation(f"a class{where} that a package has", name),
            advice=did_you_mean(name, list(self.repository.class_names), "add its package"),
            package=package or "",
            class_name=name,
        )

    def _find_edge(self, package: Package, name: str) -> Edge:
        if name in package.classes:
            return Edge(package, own_requirement(package), package.version, name)
        chosen = self.lock.versions(package)
        searched, missing = [], []
        known = list(package.classes)
        for requirement in package.requirements:
            version = chosen.get(requirement.name)
            if version is None:
                missing += [] if requirement.name == package.name else [requirement.name]
                continue
            source = self.repository.package(requirement.name, version)
            for each in _spellings(name):
                if each in source.classes:
                    return Edge(package, requirement, version, each)
            searched.append(label(source))
            known += source.classes
        if self._sources.has_unlisted(package, name):
            return Edge(package, own_requirement(package), package.version, name)
        elsewhere = [
            f"{other}/{max(versions)}"
            for other, versions in self.repository.with_class(name).items()
        ]
        advice = did_you_mean(name, known, "correct the name")
        raise no_class(package, name, searched, sorted(elsewhere), missing, advice)

    def _declared(self, type_: Type, name: str) -> Type:
        """The class that a full name means in the code of a class; it need not be in order, so that it may describe itself."""
        edge = self.edge(type_.source, name)
        source = self.repository.package(edge.requirement.name, edge.version)
        return self.get(source, edge.class_name)

    def _parent_edges(self, child: Type) -> Sequence[Edge]:
        declared = child.declaration
        names = declared.parents
        if not names:
            names = () if child.name == ROOT_CLASS else (ROOT_CLASS,)
        found = []
        for name, line in zip(names, declared.parent_lines or (declared.line,), strict=False):
            try:
                found.append(self.edge(child.source, name))
            except EngineError as error:
                error.class_name, error.file, error.line = child.name, declared.file, line
                raise
        return found

    def _lineage(self, root: Type) -> Lineage[Type]:
        def get(edge: Edge, version: SemVer) -> Type:
            source = self.repository.package(edge.requirement.name, version)
            return self.get(source, edge.class_name)

        try:
            found = Lineage(root, get, self.lock, self._limits.ancestors)
        except EngineError as error:
            if error.class_name == root.name and not error.file:
                error.file, error.line = root.declaration.file, root.declaration.parents_line
            raise
        _check_usage(found)
        return found


def _spellings(name: str) -> tuple[str, ...]:
    """What a required package may call the class that code names: classes of Python once had a prefix."""
    return (name, name.removeprefix(_PREFIX)) if name.startswith(_PREFIX) else (name,)


def _check_usage(lineage: Lineage[Type]) -> None:
    """Makes sure that no class extends one whose objects describe other things."""
    for each in lineage.order:
        meta = next((parent for parent in lineage.parents[each] if parent.is_meta), None)
        if meta and not each.is_meta:
            message = expectation(f"a parent of {each.name} that is no Meta class", meta.name)
            line = each.declaration.parents_line
            advice = "add `Usage: Meta`, or remove it"
            raise each.error(EngineCode.INHERITANCE, message, advice=advice, line=line)


def _fitting(versions: Sequence[SemVer], spec: str | None) -> SemVer | None:
    """The version that a model means."""
    if spec is None or not str(spec).strip():
        return ANY.choose(versions)
    wanted = parse_range(str(spec))
    found = wanted.choose(versions)
    if found is not None:
        return found
    try:
        gone = SemVer.parse(str(spec).strip().lstrip("= "), shortened=True)
    except VersionError:
        return None
    for family in (f"{gone.major}.{gone.minor}", f"{gone.major}"):
        found = VersionRange.parse(family).choose(versions)
        if found is not None:
            return found
    return None


def parse_range(text: str) -> VersionRange:
    """Reads a version spec.

    Raises:
        EngineError: it is none.
    """
    try:
        return VersionRange.parse(text)
    except VersionError as error:
        raise EngineError(
            EngineCode.SYNTAX, str(error), advice="write a range such as 1.2"
        ) from None
