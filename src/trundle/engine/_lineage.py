"""The ancestors of a class, and which of their declarations counts.

Ancestors stand in lookup order: a class before its parents, and of two that are unrelated, the one that is written first.
Where one class is among them in several versions, all paths to it take the newest version that each of them allows. If there is
none, its versions are unrelated classes, which must not share a member that nothing overrides.

All of this takes one pass over the ancestors, however often their paths meet.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, Protocol, TypeAlias, TypeVar

from trundle.engine._declarations import DESTRUCTOR, INITIALIZER
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._lock import Edge, Lock
from trundle.errors import expectation
from trundle.version import SemVer


class Related(Protocol):
    """A class in one version, as far as its ancestors are concerned."""

    @property
    def name(self) -> str: ...
    @property
    def package(self) -> str: ...
    @property
    def version(self) -> SemVer: ...

    @property
    def edges(self) -> Sequence[Edge]:
        """How it gets to its parents, in the order in which they are written."""

    @property
    def own_members(self) -> Mapping[str, object]:
        """The properties and methods that it declares itself, by name."""


Each = TypeVar("Each", bound=Related)
Meeting: TypeAlias = tuple[str, str]
_NEVER_SHARED = (f"{INITIALIZER}()", f"{DESTRUCTOR}()")
_MOST_ROUNDS = 1_000


class Lineage(Generic[Each]):
    """A class with its ancestors.

    Attributes:
        order: the class and its ancestors in lookup order.
        upwards: the same, ancestors before their children, and left before right; the order of `.init`.
        parents: the parents of each, as they are among these ancestors.
        edges: how each ancestor was reached, and by which requirement.
    """

    def __init__(
        self, root: Each, get: Callable[[Edge, SemVer], Each], lock: Lock, most: int
    ) -> None:
        """Follows a class to its ancestors.

        Args:
            root: the class.
            get: the class at the end of an edge, in a version.
            lock: what chooses where paths meet.
            most: how many ancestors there may be.

        Raises:
            EngineError: it is its own ancestor, has too many of them, or inherits a member from two versions of a class.
        """
        self.root = root
        self._get = get
        self._most = most
        self._declarers: dict[str, list[Each]] | None = None
        self._winners: dict[tuple[str, Each], tuple[Each, ...]] = {}
        self._below: dict[Each, frozenset[Each]] = {}
        owner = f"{root.package}/{root.version} {root.name}"
        decided = lock.given(owner)  # So that the rounds end where they ended before
        for _ in range(_MOST_ROUNDS):
            self._walk(decided)
            meetings = self._meetings()
            decisions = self._decide(meetings, lock, owner)
            if decisions == decided:
                break
            decided = decisions
        else:
            raise self._error(
                EngineCode.INHERITANCE,
                expectation(
                    "ancestors that agree on versions", "some whose choice depends on itself"
                ),
                "narrow the requirements of the packages",
            )
        self._check_unrelated(meetings, decided)
        if meetings:
            lock.keep(owner, decided)

    def declarers(self, name: str) -> Sequence[Each]:
        """The classes that declare a member, in lookup order."""
        if self._declarers is None:
            found: dict[str, list[Each]] = {}
            for each in self.order:
                for member in each.own_members:
                    found.setdefault(member, []).append(each)
            self._declarers = found
        return self._declarers.get(name, ())

    @property
    def members(self) -> Iterator[str]:
        """The names of all members."""
        self.declarers("")
        return iter(self._declarers or ())

    def winners(self, name: str, start: Each | None = None) -> tuple[Each, ...]:
        """The classes whose declaration of a member counts: those that no other declaring class descends from.

        Args:
            name: the member.
            start: where the lookup starts; the class itself unless an object is cast to an ancestor.

        Returns:
            One class, if all is well; none where nothing declares the member; several where it is ambiguous.
        """
        declarers = self.declarers(name)
        if len(declarers) < 2 and start in (None, self.root):  # noqa: PLR2004 - one needs no comparison
            return tuple(declarers)
        key = (name, start or self.root)
        if key not in self._winners:
            self._winners[key] = self._find_winners(set(declarers), start or self.root)
        return self._winners[key]

    def includes(self, ancestor: Each, start: Each | None = None) -> bool:
        """Whether a class is among these, seen from one of them."""
        return ancestor in self._reached(start or self.root)

    def _find_winners(self, declaring: set[Each], start: Each) -> tuple[Each, ...]:
        reached = self._reached(start)
        covered: set[Each] = set()
        found = []
        for each in self.order:
            if each not in reached:
                continue
            declares = each in declaring
            if declares and each not in covered:
                found.append(each)
            if declares or each in covered:
                covered.update(self.parents[each])
        return tuple(found)

    def _reached(self, start: Each) -> frozenset[Each]:
        if start not in self._below:
            reached = {start} & self.parents.keys()
            waiting = list(reached)
            while waiting:
                new = [each for each in self.parents[waiting.pop()] if each not in reached]
                reached.update(new)
                waiting += new
            self._below[start] = frozenset(reached)
        return self._below[start]

    def _walk(self, decided: Mapping[Meeting, SemVer]) -> None:
        """Finds all ancestors, given in which version paths meet."""
        self.edges: dict[Each, list[tuple[Each, Edge]]] = {self.root: []}
        self.parents: dict[Each, tuple[Each, ...]] = {}
        self.upwards: list[Each] = []
        path: dict[Each, Iterator[Each]] = {self.root: self._parents(self.root, decided)}
        while path:
            each, parents = next(reversed(path.items()))
            parent = next(parents, None)
            if parent is None:
                path.popitem()
                self.upwards.append(each)
            elif parent in path:
                raise self._circle([*path], parent)
            elif parent not in self.parents:
                if len(self.parents) > self._most:
                    expected = f"at most {self._most} ancestors"
                    raise self._error(EngineCode.LIMIT, expectation(expected, "more"), "")
                path[parent] = self._parents(parent, decided)
        self.order = self._lookup_order()

    def _parents(self, each: Each, decided: Mapping[Meeting, SemVer]) -> Iterator[Each]:
        """The parents of a class, which are noted."""
        found: dict[Each, None] = {}
        for edge in each.edges:
            version = decided.get((edge.requirement.name, edge.class_name), edge.version)
            parent = self._get(edge, version)
            found[parent] = None
            self.edges.setdefault(parent, []).append((each, edge))
        self.parents[each] = tuple(found)
        return iter(found)

    def _lookup_order(self) -> tuple[Each, ...]:
        """The reverse of an order in which each class comes after its parents, the right ones first."""
        seen = {self.root}
        found: list[Each] = []
        path = [(self.root, iter(reversed(self.parents[self.root])))]
        while path:
            each, parents = path[-1]
            parent = next((one for one in parents if one not in seen), None)
            if parent is None:
                path.pop()
                found.append(each)
            else:
                seen.add(parent)
                path.append((parent, iter(reversed(self.parents[parent]))))
        return tuple(reversed(found))

    def _meetings(self) -> dict[Meeting, list[Edge]]:
        """The paths to each class that the ancestors get to in more than one version."""
        found: dict[Meeting, list[Edge]] = {}
        for each in self.order:
            for edge in each.edges:
                found.setdefault((edge.requirement.name, edge.class_name), []).append(edge)
        return {
            meeting: edges
            for meeting, edges in found.items()
            if any(edge.version != edges[0].version for edge in edges)
        }

    def _decide(
        self, meetings: Mapping[Meeting, Sequence[Edge]], lock: Lock, owner: str
    ) -> dict[Meeting, SemVer]:
        found = {}
        for (package, class_name), edges in meetings.items():
            version = lock.decide(owner, f"{package} {class_name}", edges)
            if version is not None:
                found[package, class_name] = version
        return found

    def _check_unrelated(
        self, meetings: Mapping[Meeting, Sequence[Edge]], decided: Mapping[Meeting, SemVer]
    ) -> None:
        """Makes sure that versions of one class that stay apart share no member that nothing overrides."""
        for meeting in meetings.keys() - decided.keys():
            apart = [each for each in self.order if (each.package, each.name) == meeting]
            names = {name: None for each in apart for name in each.own_members}
            for name in names:
                if name in _NEVER_SHARED:
                    continue
                both = [each for each in self.winners(name) if each in apart]
                if len(both) > 1:
                    raise self._shared(name, both)

    def _shared(self, name: str, versions: Sequence[Each]) -> EngineError:
        paths = [self._path(each) for each in versions]
        listed = " and ".join(str(each.version) for each in versions)
        first = versions[0]
        return self._error(
            EngineCode.CONFLICT,
            f"{self.root.name} inherits {first.name} in the versions {listed}, which share the member {name}: "
            + " but ".join(paths),
            f"override {name} in {self.root.name}, or let the requirements allow one version of {first.package}",
            member=name.removesuffix("()"),
            requirements=paths,
        )

    def _path(self, each: Each) -> str:
        """The requirements by which an ancestor was reached, from what is nearest to it."""
        paths = {str(edge): child for child, edge in self.edges[each]}
        return ", ".join(f"{edge} (for {child.name})" for edge, child in paths.items())

    def _circle(self, path: Sequence[Each], again: Each) -> EngineError:
        names = [each.name for each in (*path[path.index(again) :], again)]
        return self._error(
            EngineCode.CIRCULAR,
            expectation("parents above a class", f"a circle: {' extends '.join(names)}"),
            "remove one of these from `Extends`",
        )

    def _error(
        self,
        code: EngineCode,
        message: str,
        advice: str,
        member: str = "",
        requirements: Sequence[str] = (),
    ) -> EngineError:
        return EngineError(
            code,
            message,
            advice=advice,
            package=self.root.package,
            version=self.root.version,
            class_name=self.root.name,
            member=member,
            requirements=requirements,
        )
