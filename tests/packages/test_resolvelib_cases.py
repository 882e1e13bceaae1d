"""The functional cases of resolvelib's repository: packages of three ecosystems, what is wanted, and what comes of it.

`TRUNDLE_RESOLVELIB` names a checkout of sarugaku/resolvelib. Its own providers read the cases, and say which versions there are, which of them meet a
requirement and what each needs; here the resolver of Trundle chooses.
"""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from trundle.packages import Release, Requirement, resolve
from trundle.version import SemVer, VersionRange

CHECKOUT = Path(os.environ.get("TRUNDLE_RESOLVELIB", "none"))
FUNCTIONAL = CHECKOUT / "tests" / "functional"
CASES = {
    "python": ("python/test_resolvers_python.py", "python/inputs/case"),
    "cocoapods": ("cocoapods/test_resolvers_cocoapods.py", "cocoapods/inputs/case"),
    "swift": ("swift-package-manager/test_resolvers_swift.py", "swift-package-manager/inputs"),
}
NO_JUDGES = {
    "circular.json": "packages in a circle are a conflict there, and none for resolvelib and here",
    "fixed_circular.json": "the same",
    "pyrex-1.9.8.json": "it does not say what is right, and resolvelib gives up",
}
FOUND = [
    (kind, each.name)
    for kind, (_, folder) in CASES.items()
    for each in sorted((FUNCTIONAL / folder).glob("*.json"))
]

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not FOUND, reason="TRUNDLE_RESOLVELIB names no checkout of resolvelib"),
]


@pytest.fixture
def load(monkeypatch):
    monkeypatch.syspath_prepend(CHECKOUT / "src")

    def module(kind):
        path = FUNCTIONAL / CASES[kind][0]
        specification = importlib.util.spec_from_file_location(path.stem, path)
        made = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(made)
        return made

    yield module
    for each in [each for each in sys.modules if each.partition(".")[0] == "resolvelib"]:
        del sys.modules[each]


class Python:
    """Packages of PyPI; one with extras is a package of its own, which needs the same version of that without."""

    def __init__(self, module, path):
        self.provider = module.PythonInputProvider(path)
        self.module = module
        self.conflict = self.provider.expected_confliction
        self.resolved = self.provider.expected_resolution

    def candidates(self, name):
        bare, _, extras = name.partition("[")
        chosen = set(filter(None, extras.removesuffix("]").split(",")))
        parse = self.module.packaging.version.parse
        versions = sorted(map(parse, self.provider.index.get(bare, {})))
        versions = [each for each in versions if not each.is_prerelease] or versions
        return [self.module.Candidate(bare, each, chosen) for each in versions]

    def shown(self, chosen):
        return {name: each.version for name, each in chosen.items() if not each.extras}


class CocoaPods:
    """Gems, some of them held at a version."""

    def __init__(self, module, path):
        self.provider = module.CocoaPodsInputProvider(path)
        self.module = module
        self.conflict = self.provider.expected_conflicts
        self.resolved = self.provider.expected_resolution

    def candidates(self, name):
        held = self.provider.pinned_versions.get(name)
        found = {}
        for entry in self.provider.index.get(name, ()):
            needs = (entry["dependencies"] or {}).items()
            version = self.module.Version(entry["version"])
            if held is None or held == version:
                parts = [self.module.Requirement(*each) for each in needs]
                found[entry["version"]] = self.module.Candidate(name, version, parts)
        return sorted(found.values(), key=lambda each: each.ver)

    def shown(self, chosen):
        return {name: each.ver for name, each in chosen.items()}


class Swift:
    """Packages of Swift, each named by its address."""

    def __init__(self, module, path):
        self.provider = module.SwiftInputProvider(path)
        self.module = module
        self.conflict = None
        self.resolved = self.provider.expectation

    def candidates(self, name):
        container = self.provider.containers.get(name, {"identifier": name, "versions": {}})

        def preference(version):
            return self.module._calculate_preference(self.module._parse_version(version))

        return [
            self.module.Candidate(container, each)
            for each in sorted(container["versions"], key=preference)
        ]

    def shown(self, chosen):
        return {name: each.version for name, each in chosen.items()}


class Universe:
    """The packages of a case: the place of a version among those of its package, the best last, is its minor version here."""

    def __init__(self, case):
        self.case = case
        self.known = {}

    def candidates(self, name):
        if name not in self.known:
            self.known[name] = self.case.candidates(name)
        return self.known[name]

    def versions(self, name):
        return [SemVer(1, place, 0) for place in range(len(self.candidates(name)))]

    def candidate(self, release):
        return self.candidates(release.name)[release.version.minor]

    def requirement(self, wanted):
        """A requirement, as the versions that meet it."""
        provider = self.case.provider
        name = provider.identify(wanted)
        found = [
            place
            for place, each in enumerate(self.candidates(name))
            if provider.is_satisfied_by(wanted, each)
        ]
        if not found:
            return Requirement(name, VersionRange.parse("<0.0.1"))
        out = sorted({*range(found[0], found[-1])} - {*found})
        parts = [f">=1.{found[0]}.0", f"<=1.{found[-1]}.0", *(f"!=1.{each}.0" for each in out)]
        return Requirement(name, VersionRange.parse(",".join(parts)))

    def release(self, name, version):
        needs = {}
        for each in map(
            self.requirement,
            self.case.provider.get_dependencies(self.candidates(name)[version.minor]),
        ):
            before = needs.get(each.name)
            needs[each.name] = (
                each if before is None else Requirement(each.name, before.range & each.range)
            )
        found = tuple(needs[each] for each in sorted(needs))
        return Release(name, version, "sha256:" + "0" * 64, found)


def unmet(case, chosen):
    """The requirements that a choice does not meet, as the provider of the case says."""
    provider = case.provider
    needs = [*provider.root_requirements]
    for each in chosen.values():
        needs += provider.get_dependencies(each)
    return [
        each
        for each in needs
        if (found := chosen.get(provider.identify(each))) is None
        or not provider.is_satisfied_by(each, found)
    ]


@pytest.mark.parametrize(("kind", "name"), FOUND)
def test_a_case_of_resolvelib(load, kind, name):
    path = FUNCTIONAL / CASES[kind][1] / name
    case = {"python": Python, "cocoapods": CocoaPods, "swift": Swift}[kind](load(kind), str(path))
    universe = Universe(case)
    found = resolve(map(universe.requirement, case.provider.root_requirements), universe)
    chosen = {each.name: universe.candidate(each) for each in found.lock.releases}
    assert found.refused or unmet(case, chosen) == []
    if name in NO_JUDGES:
        return
    assert bool(found.refused) == bool(case.conflict)
    assert found.refused or case.shown(chosen) == case.resolved
