"""The engine: packages, and what the operator adds to them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from trundle.engine._classes import parse_range
from trundle.engine._core import core_packages
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._limits import Limits
from trundle.engine._natives import function_names
from trundle.engine._repository import Repository
from trundle.engine._selecting import check_keys
from trundle.engine._session import Session
from trundle.engine._sources import Sources
from trundle.engine.effects import Effects, Journal, Provider
from trundle.engine.expressions import decorated
from trundle.engine.running import Coverage, Routines, core_natives
from trundle.errors import did_you_mean, expectation, listed, shown
from trundle.packages import Package, PackageMeta, Requirement
from trundle.version import SemVer


@dataclass(frozen=True, slots=True)
class PackageVersion:
    """A package in one version.

    Attributes:
        name: its name.
        version: its version.
        requirements: what it requires; what is implied is among them.
        classes: the names of its classes.
        meta: what it attaches to itself.
    """

    name: str
    version: SemVer
    requirements: tuple[Requirement, ...]
    classes: tuple[str, ...]
    meta: tuple[PackageMeta, ...] = ()


class Engine:
    """Runs the classes of packages, in all their versions side by side.

    An engine reads manifests; class files are read when a class is used first. Sessions of one engine share what was read, and
    nothing else, so each thread can have its own.
    """

    def __init__(
        self,
        packages: Iterable[Package],
        *,
        core: bool = True,
        natives: Mapping[str, type] | None = None,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        providers: Mapping[str, Provider] | None = None,
        configs: Mapping[str, Mapping[str, Any]] | None = None,
        limits: Limits | None = None,
        coverage: Coverage | None = None,
    ) -> None:
        """Takes packages.

        Args:
            packages: the packages, or a snapshot of a catalog.
            core: whether to add the bundled packages, each unless the packages have it with the same major version.
            natives: Python classes behind declared ones, by the name of the class: `a.B` for all its versions, `a.B/1.2` for
                those in a range; the most exact wins. Their functions are methods of the class.
            functions: functions for expressions, by name. Where they carry decorators of `yaql.language.specs`, yaql calls them as these
                say; functions of natives may carry them, too.
            providers: what acts on the world for `io.trundle`, by name; of those that take a kind of effect, the first one gets what names
                none.
            configs: values of properties by the name of the class, with such keys. The most exact entry replaces the defaults
                that the class declares; what other entries have does not count.
            limits: how much a model may ask for.
            coverage: notes which methods and branches run; runs take a little longer.

        Raises:
            EngineError: two packages of one name and version differ.
            ValueError: a key of natives or configurations names no class or no range, a provider has no name or one with a slash, or a
                function of Python that waits wants an expression.
        """
        check_keys(natives or {}, "natives")
        check_keys(configs or {}, "configs")
        for each in providers or {}:
            if not each or "/" in each:
                raise ValueError(expectation("a name without a slash for a provider", shown(each)))
        for function in (functions or {}).values():
            decorated(function)
        for native in (natives or {}).values():
            for name in function_names(native).values():
                decorated(getattr(native, name))
        self.limits = limits or Limits()
        self.providers = MappingProxyType(dict(providers or {}))
        self.functions = MappingProxyType(dict(functions or {}))
        self.configs = MappingProxyType(dict(configs or {}))
        self._repository = Repository(packages, core_packages() if core else ())
        behind = {**core_natives(), **(natives or {})}
        self._sources = Sources(self.limits, behind)
        self._routines = Routines(behind, coverage)

    def package(self, name: str, spec: str | None = None) -> PackageVersion:
        """The newest version of a package in a range.

        Args:
            name: the package.
            spec: the range; None for versions below 1.0.0.

        Raises:
            EngineError: there is no such version.
        """
        wanted = parse_range("" if spec is None else str(spec))
        version = self._repository.choose(name, wanted)
        if version is None:
            known = self._repository.versions(name)
            found = f"only {listed(map(str, known))}" if known else "no such package"
            advice = "name one of these" if known else did_you_mean(name, self._repository.names)
            raise EngineError(
                EngineCode.NO_PACKAGE,
                expectation(f"a version of {name} in {wanted}", found),
                advice=advice,
                package=name,
            )
        package = self._repository.package(name, version)
        return PackageVersion(
            package.name,
            package.version,
            tuple(package.requirements),
            tuple(package.classes),
            package.manifest.meta,
        )

    def session(
        self,
        lock: Mapping[str, Any] | None = None,
        *,
        journal: Journal | None = None,
        secrets: Mapping[str, str] | None = None,
        dry_run: bool = False,
        mocks: bool = False,
    ) -> Session:
        """Opens a session; use it in a `with` statement.

        Args:
            lock: what an earlier session's `lock` was, so that requirements get the same versions again.
            journal: what earlier runs did to the world, and where this one writes down what it does; one that forgets all of it
                with the session where None.
            secrets: texts that the run, its journal and its errors never have; `{{secret:NAME}}` stands for each, and providers put them
                in place of that.
            dry_run: whether to say in `changes` what would be done, and do nothing of it.
            mocks: whether `inject` may replace methods, as tests of packages do.

        Raises:
            EngineError: the lock does not fit the packages.
        """
        effects = Effects(self.providers, journal, secrets, dry_run=dry_run)
        return Session(
            self._repository,
            self._sources,
            self.limits,
            self.configs,
            self.functions,
            self._routines,
            effects,
            lock,
            mocks=mocks,
        )
