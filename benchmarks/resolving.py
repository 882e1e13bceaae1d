"""Measures how long it takes to choose releases: by how many versions there are, and for many packages.

The peer of many packages is `resolvelib`, which pip uses, over the same packages and with the same preference. It ends at
the first conflict, where Trundle refuses a wish with its reason and goes on; so it takes part without conflicts only.
"""

import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from resolvelib import AbstractProvider, BaseReporter, Resolver

from trundle.packages import Release, Requirement, resolve
from trundle.version import ANY, SemVer, VersionRange

COUNTS = (10, 1_000, 10_000)
PACKAGES = 300
ROUNDS = 5
_DIGEST = "sha256:" + "0" * 64


class Shop:
    """Packages in memory, by name and version; each version with what it needs."""

    def __init__(self, needs: dict[str, list[list[tuple[str, str]]]]) -> None:
        self.releases = {
            name: {
                SemVer(1, minor, 0): self._release(name, minor, need)
                for minor, need in enumerate(listed)
            }
            for name, listed in needs.items()
        }

    def versions(self, name: str) -> Iterable[SemVer]:
        """The versions of a package."""
        return self.releases.get(name, ())

    def release(self, name: str, version: SemVer) -> Release:
        """One of them."""
        return self.releases[name][version]

    def _release(self, name: str, minor: int, needs: list[tuple[str, str]]) -> Release:
        needed = tuple(Requirement(each, VersionRange.parse(text)) for each, text in needs)
        return Release(name, SemVer(1, minor, 0), _DIGEST, needed)


def newest(count: int) -> Shop:
    """The newest version of an application and of its library fit."""
    apps = [[("lib", f">=1.{minor // 2}")] for minor in range(count)]
    return Shop({"app": apps, "lib": [[]] * count})


def oldest(count: int) -> Shop:
    """Only the oldest version of an application can be had."""
    return Shop({"app": [[], *[[("lib", "<1")]] * (count - 1)], "lib": [[]]})


def deep(count: int) -> Shop:
    """Only the oldest can be had, and that shows one package further on."""
    apps = [[("mid", f"1.{minor}.0")] for minor in range(count)]
    return Shop({"app": apps, "mid": [[], *[[("lib", "<1")]] * (count - 1)], "lib": [[]]})


def crowd(conflicts: int) -> Shop:
    """Packages that need some of the next ones; each conflict is a further package that excludes another one."""
    chance = random.Random(PACKAGES)
    names = [f"p{number:03}" for number in range(PACKAGES)]
    needs = {
        name: [[(each, f">=1.{chance.randint(0, 1)}") for each in names[at + 1 : at + 4]]] * 3
        for at, name in enumerate(names)
    }
    for number in range(conflicts):
        last = names[-1 - number]
        needs[names[number]] = [[*needs[names[number]][0], (last, ">=1.1")]] * 3
        needs[f"x{number}"] = [[(last, "1.0.0")]]
    return Shop(needs)


class Peer(AbstractProvider[Requirement, Release, str]):
    """The same shop for `resolvelib`."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop

    def identify(self, requirement_or_candidate: Requirement | Release) -> str:
        """The package of either."""
        return requirement_or_candidate.name

    def get_preference(self, identifier: str, *_: object, **__: object) -> str:
        """By name."""
        return identifier

    def find_matches(
        self,
        identifier: str,
        requirements: Mapping[str, Iterator[Requirement]],
        incompatibilities: Mapping[str, Iterator[Release]],
    ) -> list[Release]:
        """Those that fit, the newest first."""
        ranges = [each.range for each in requirements[identifier]]
        barred = {each.version for each in incompatibilities[identifier]}
        fitting = [
            version
            for version in self.shop.versions(identifier)
            if version not in barred and all(version in each for each in ranges)
        ]
        return [self.shop.release(identifier, each) for each in sorted(fitting, reverse=True)]

    def is_satisfied_by(self, requirement: Requirement, candidate: Release) -> bool:
        """Whether the version fits."""
        return candidate.version in requirement.range

    def get_dependencies(self, candidate: Release) -> Iterable[Requirement]:
        """What it needs."""
        return candidate.requirements


def seconds(job: Callable[[], object]) -> float:
    """The median of some runs, in time of the processor."""
    found = []
    for _ in range(ROUNDS):
        start = time.process_time()
        job()
        found.append(time.process_time() - start)
    return statistics.median(found)


def print_crowds() -> None:
    """Prints what many packages cost, and what they cost the peer."""
    shop = crowd(0)
    wishes = [Requirement(name, ANY) for name in shop.releases]

    def chosen() -> Mapping[str, Release]:
        found: Mapping[str, Release] = (
            Resolver(Peer(shop), BaseReporter()).resolve(wishes, max_rounds=100_000).mapping
        )
        return found

    ours = resolve(wishes, shop).lock
    assert {each.name: each for each in ours.releases} == dict(chosen())
    peer = seconds(chosen)
    print(f"choose one release for each of {PACKAGES} packages, in seconds")
    print(f"{'resolvelib':>24}{peer:>10.2f}{1:>10.2f} times")
    for conflicts in (0, 5):
        shop = crowd(conflicts)
        wishes = [Requirement(name, ANY) for name in shop.releases]
        assert len(resolve(wishes, shop).refused) == conflicts
        mine = seconds(lambda wishes=wishes, shop=shop: resolve(wishes, shop))  # type: ignore[misc]
        print(f"{f'resolve, {conflicts} conflicts':>24}{mine:>10.2f}{mine / peer:>10.2f} times")


def milliseconds(shop: Shop) -> float:
    """The best of three runs."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        found = resolve([Requirement("app", ANY)], shop)
        best = min(best, time.perf_counter() - start)
        assert "app" in {each.name for each in found.lock.releases}
        assert not found.refused
    return best * 1000


def main() -> None:
    """Prints a table."""
    cases: tuple[Callable[[int], Shop], ...] = (newest, oldest, deep)
    print("choose releases, in milliseconds")
    print(f"{'versions':>10}" + "".join(f"{case.__name__:>10}" for case in cases))
    for count in COUNTS:
        print(f"{count:>10}" + "".join(f"{milliseconds(case(count)):>10.1f}" for case in cases))
    print_crowds()


if __name__ == "__main__":
    main()
