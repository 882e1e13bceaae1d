"""How the classes of a package evolve over its versions, under the rules of its releases."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from trundle.codegen import HookKey, LiveConversions
from trundle.engine import Engine, EngineError, Limits, Type
from trundle.errors import Finding
from trundle.evolution import (
    Evolution,
    HookDeclaration,
    PlanKey,
    ResourceLineage,
    TypeChanges,
)
from trundle.packages import Package
from trundle.project._called_methods import named_in_python
from trundle.project._class_documents import ClassDocuments
from trundle.project._package_classes import Hop, PackageClasses, of_references, version_map
from trundle.project._release_hooks import StaticHook, check_methods, find_hooks
from trundle.project._release_rules import (
    ReleaseHook,
    ReleaseRules,
    read_release_rules,
)
from trundle.project.changes import apply_changes
from trundle.project.errors import ConfigError
from trundle.project.findings import ProjectCode, finding
from trundle.version import ApiVersion

__all__ = [
    "PackageEvolution",
    "PackageEvolutions",
    "check_rules",
]


class PackageEvolution(msgspec.Struct, frozen=True, kw_only=True):
    """The classes of a package through its versions.

    Attributes:
        name: the package.
        evolution: the schemas of its versions, under the rules that fit.
        findings: what is wrong with the other rules.
        hooks: the static methods that conversions call.
        lines: by version and class, what the class is called through all versions.
    """

    name: str
    evolution: Evolution
    findings: tuple[Finding, ...]
    hooks: Mapping[HookKey, StaticHook]
    lines: Mapping[tuple[ApiVersion, str], str]

    def resource(self, version: ApiVersion, class_name: str) -> ResourceLineage | None:
        """The class of a version through all versions; None where the version has no such class."""
        name = self.lines.get((version, class_name))
        return next((each for each in self.evolution.resources if each.name == name), None)

    def as_documents(self) -> Evolution:
        """The same evolution for documents that name their class as `kind`, or as `type` where a class has `kind` or `metadata` itself.

        Hooks are there as generated code calls them, by Python classes that `called_methods` makes. What is `left_out` is not there.
        """
        schemas = ClassDocuments(self.evolution).schemas()
        return apply_changes(
            schemas, self.evolution.all_changes, named_in_python(self.called)
        ).evolution

    @property
    def called(self) -> tuple[HookDeclaration, ...]:
        """The hooks of its documents."""
        return ClassDocuments(self.evolution).hooks()

    @property
    def left_out(self) -> tuple[Finding, ...]:
        """What its documents cannot have, and the hooks that need it: notes."""
        return tuple(ClassDocuments(self.evolution).left_out())

    def class_at(self, resource: ResourceLineage, version: ApiVersion) -> str | None:
        """What a class is called in a version; None where the version does not have it."""
        found = resource.resources.get(version)
        return None if found is None else found.root


class PackageEvolutions:
    """The evolutions of packages that may require each other.

    Args:
        packages: packages in all their versions, or a snapshot of a catalog.
        limits: how much each call of a hook may take.

    Attributes:
        listed: the packages.

    Raises:
        EngineError: two packages of one name and version differ.
        ConfigError: the rules of a release cannot be read.
    """

    def __init__(self, packages: Iterable[Package], limits: Limits | None = None) -> None:
        self.packages: dict[str, dict[ApiVersion, Package]] = {}
        listed = tuple(packages)
        for each in listed:
            self.packages.setdefault(each.name, {})[ApiVersion.of_package(each.version)] = each
        self.listed = listed
        self.limits = limits
        self.engine = Engine(listed, limits=limits)
        self.session = self.engine.session()
        self._rules: dict[str, tuple[tuple[TypeChanges, ...], tuple[ReleaseHook, ...]]] = {}
        self._found: dict[str, PackageEvolution] = {}
        self._conversions: dict[PlanKey, LiveConversions] = {}
        self._misplaced: list[Finding] = []

    def conversions(self, name: str, key: PlanKey) -> LiveConversions:
        """What runs a plan of a package; it is made once.

        Raises:
            ChangeError: the rules contradict each other.
        """
        if key not in self._conversions:
            found = self.of(name)
            hooks = {each: hook.called_in(self.session) for each, hook in found.hooks.items()}
            self._conversions[key] = LiveConversions(found.evolution, [key], hooks.__getitem__)
        return self._conversions[key]

    def of(self, name: str) -> PackageEvolution:
        """How the classes of a package evolve.

        Raises:
            KeyError: there is no such package.
            EngineError: a class cannot be built.
            ConfigError: the rules of a release cannot be read.
        """
        if name not in self._found:
            self._found[name] = self._make(name)
        return self._found[name]

    def type(self, name: str, version: ApiVersion, class_name: str) -> Type:
        """A class of a package in a version."""
        return self.session.type(class_name, str(self.packages[name][version].version), name)

    def _make(self, name: str) -> PackageEvolution:
        self._misplaced = []
        own, own_hooks = self._rules_of(name)
        found = PackageClasses(name, self.packages, self.type, self.rules_between)
        lines = found.lines(own)
        changes = [*found.inherited(own), *of_references(found, own)]
        schemas = tuple(found.schema(version, lines) for version in sorted(self.packages[name]))
        applied = apply_changes(schemas, changes)
        misfits = list(applied.misfits)
        hooked = find_hooks(found.hooks(own_hooks, self._misplaced), applied.lineages)
        if hooked.declarations:
            kept = applied.evolution.all_changes
            applied = apply_changes(schemas, kept, hooked.declarations)
            misfits += applied.misfits
        findings = [*self._misplaced, *(each.finding for each in misfits), *hooked.findings]
        return PackageEvolution(
            name=name,
            evolution=applied.evolution,
            findings=tuple(dict.fromkeys(findings)),
            hooks=hooked.methods,
            lines=lines,
        )

    def check_methods(self, package: Package, rules: ReleaseRules) -> Iterator[Finding]:
        """What is wrong with the methods of the hooks of a release, whatever it follows.

        Raises:
            EngineError: a class that has a method cannot be built.
        """
        found = PackageClasses(package.name, self.packages, self.type, self.rules_between)
        yield from check_methods(found.alone(rules))

    def _rules_of(self, name: str) -> tuple[tuple[TypeChanges, ...], tuple[ReleaseHook, ...]]:
        """The rules and hooks of all releases of a package, each under the older one of two neighbours."""
        if name not in self._rules:
            changes: list[TypeChanges] = []
            hooks: list[ReleaseHook] = []
            pairs = version_map(self.packages[name]).pairs
            for version, package in sorted(self.packages[name].items()):
                rules = read_release_rules(package)
                olders = [each.older for each in pairs if each.newer == version]
                for each in _placed(rules, olders, version, self._misplaced):
                    if isinstance(each, TypeChanges):
                        changes.append(each)
                    else:
                        hooks.append(each)
            self._rules[name] = tuple(changes), tuple(hooks)
        return self._rules[name]

    def rules_between(self, name: str, older: ApiVersion, newer: ApiVersion) -> Iterator[Hop]:
        """The rules and hooks of a package from one of its versions to a later one, pair by pair."""
        if name not in self.packages:
            return
        versions = version_map(self.packages[name])
        changes, hooks = self._rules_of(name)
        at: ApiVersion | None = older
        while at is not None and at < newer:
            after = versions.neighbour(at)
            if after is None or after > newer or after <= at:
                return
            yield (
                tuple(each for each in changes if each.version == at),
                tuple(each for each in hooks if (each.version, each.newer) == (at, after)),
            )
            at = after


def check_rules(
    package: Package, before: Package | None, among: Iterable[Package] = ()
) -> Iterator[Finding]:
    """What is wrong with the rules and hooks of a release.

    Args:
        package: the release.
        before: the one before it; None where there is none, and then the rules are only read, and the methods of hooks looked at.
        among: packages that may be what these require. Nothing is compared where classes cannot be built without some that are missing.
    """
    try:
        rules = read_release_rules(package)
        if rules == ReleaseRules():
            return
        others = [each for each in dict.fromkeys(among) if each.name != package.name]
        if before is None:
            yield from PackageEvolutions([package, *others]).check_methods(package, rules)
        else:
            yield from PackageEvolutions([before, package, *others]).of(package.name).findings
    except ConfigError as error:
        yield from error.findings
    except EngineError:
        return


def _placed(
    rules: ReleaseRules, olders: list[ApiVersion], version: ApiVersion, wrong: list[Finding]
) -> Iterator[TypeChanges | ReleaseHook]:
    """The rules of a release under its older neighbour; where another came between, they go on to that."""
    stable = [each for each in olders if not each.preview]
    listed: tuple[TypeChanges | ReleaseHook, ...] = (*rules.changes, *rules.hooks)
    for each in listed:
        if each.version in (*olders, version):
            yield each
        elif stable and each.version < stable[-1]:
            yield msgspec.structs.replace(each, version=stable[-1])
        elif olders and not version.preview:
            where = each.place("") if isinstance(each, TypeChanges) else each.where
            neighbours = " or ".join(map(str, olders))
            found = f"the rules stand under {each.version}, but the older neighbour of {version} is {neighbours}"
            wrong.append(finding(ProjectCode.UNUSED, where, found, "name that version"))
