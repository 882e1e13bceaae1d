"""The packages that a version of a package requires, and what these require in turn, as a graph."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

from trundle.dashboard._frame import PACKAGES, address
from trundle.drawing import Box, Graph, Line, graph_element
from trundle.packages import BUNDLED
from trundle.version import SemVer, VersionRange

MOST = 40
"""How many packages a graph has at most."""

Version: TypeAlias = tuple[str, SemVer]
"""A package and its version."""

VersionsOf: TypeAlias = Callable[[str], Awaitable[Iterable[SemVer]]]
"""Gives the versions of a package that the user sees."""

RequiredBy: TypeAlias = Callable[[str, SemVer], Awaitable[Mapping[str, str]]]
"""Gives what a version of a package requires: ranges by names."""


class Requirement(NamedTuple):
    """What a version requires.

    Attributes:
        of: the version that requires it.
        name: the package that is required.
        allowed: the range.
        chosen: the newest version that the range admits; None where there is none.
        bundled: whether it comes with Trundle.
    """

    of: Version
    name: str
    allowed: str
    chosen: SemVer | None
    bundled: bool = False


class Requirements(NamedTuple):
    """All that a version requires.

    Attributes:
        root: the version.
        found: what it and its requirements require, each version once, nearest first.
        is_cut: whether there is more than a graph has.
    """

    root: Version
    found: tuple[Requirement, ...]
    is_cut: bool

    @property
    def own(self) -> list[Requirement]:
        """What the version itself requires."""
        return [each for each in self.found if each.of == self.root]

    @property
    def packages(self) -> list[Version]:
        """The versions that are required, the own requirements first."""
        return list(dict.fromkeys((each.name, each.chosen) for each in self.found if each.chosen))


async def requirements_of(
    root: Version, versions_of: VersionsOf, required_by: RequiredBy
) -> Requirements:
    """What a version requires, as each range chooses by itself.

    Args:
        root: the version.
        versions_of: gives the versions of a package that the user sees.
        required_by: gives what a version requires.
    """
    found: list[Requirement] = []
    offered: dict[str, tuple[SemVer, ...]] = {}
    known, waiting, is_cut = {root}, [root], False
    for of in waiting:
        for name, allowed in (await required_by(*of)).items():
            if name == of[0]:
                continue  # The own major version is implied.
            if name not in offered:
                offered[name] = tuple(await versions_of(name))
            chosen = VersionRange.parse(allowed).choose(offered[name])
            is_bundled = chosen is None and name in BUNDLED
            found.append(Requirement(of, name, allowed, chosen, is_bundled))
            if chosen is None or (name, chosen) in known:
                continue
            known.add((name, chosen))
            if len(known) < MOST:
                waiting.append((name, chosen))
            else:
                is_cut = True
    return Requirements(root, tuple(found), is_cut)


def drawn(requirements: Requirements, tenant: str) -> str:
    """The requirements as a picture for a page: each version stands below those that it requires. Empty where there are none.

    A requirement that closes a circle is left out.
    """
    edges = [each for each in requirements.found if not each.bundled]
    if not edges:
        return ""
    kept, levels = _levels(requirements.root, edges)
    boxes = [
        Box(key, name, note, levels[key], link)
        for key, (name, note, link) in _things(requirements, edges, tenant).items()
        if key in levels
    ]
    lines = [Line(_key(*each.of), _end(each), each.allowed) for each in kept]
    name, version = requirements.root
    return graph_element(Graph(f"Requirements of {name} {version}", boxes, lines))


def circles(requirements: Requirements) -> list[Requirement]:
    """The requirements that a picture leaves out: each leads back to what requires it."""
    edges = [each for each in requirements.found if not each.bundled]
    kept, _ = _levels(requirements.root, edges)
    return [each for each in edges if each not in kept]


def _levels(
    root: Version, edges: Iterable[Requirement]
) -> tuple[list[Requirement], dict[str, int]]:
    """The edges without those that close circles, and the row of each thing: above all that require it."""
    leaving: dict[str, list[Requirement]] = {}
    for each in edges:
        leaving.setdefault(_key(*each.of), []).append(each)
    kept: list[Requirement] = []
    done: dict[str, None] = {}

    def visit(key: str, path: frozenset[str]) -> None:
        for each in leaving.get(key, ()):
            end = _end(each)
            if end not in path:
                kept.append(each)
                if end not in done:
                    visit(end, path | {end})
        done[key] = None

    start = _key(*root)
    visit(start, frozenset({start}))
    levels = dict.fromkeys(done, 0)
    for key in reversed(done):  # What requires something comes before that.
        for each in leaving.get(key, ()):
            if each in kept:
                levels[_end(each)] = max(levels[_end(each)], levels[key] + 1)
    return kept, levels


def _things(
    requirements: Requirements, edges: Iterable[Requirement], tenant: str
) -> dict[str, tuple[str, str, str]]:
    name, version = requirements.root
    found = {_key(name, version): (name, str(version), "")}
    for each in edges:
        if each.chosen is None:
            found[_end(each)] = each.name, "nothing meets it", ""
        else:
            where = f"{PACKAGES.path}/one"
            link = address(where, tenant=tenant, name=each.name, version=str(each.chosen))
            found.setdefault(_end(each), (each.name, str(each.chosen), link))
    return found


def _key(name: str, version: SemVer) -> str:
    return f"{name} {version}"


def _end(each: Requirement) -> str:
    return f"{each.name} {each.chosen or each.allowed}"
