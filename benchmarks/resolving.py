"""Measures how long it takes to choose releases, by how many versions there are to choose from."""

import time
from collections.abc import Callable, Iterable

from trundle.packages import Release, Requirement, resolve
from trundle.version import ANY, SemVer, VersionRange

COUNTS = (10, 1_000, 10_000)
_DIGEST = "sha256:" + "0" * 64


class Shop:
    """Packages in memory, by name and version."""

    def __init__(self, needs: dict[str, list[tuple[str, str] | None]]) -> None:
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

    def _release(self, name: str, minor: int, need: tuple[str, str] | None) -> Release:
        needed = (Requirement(need[0], VersionRange.parse(need[1])),) if need else ()
        return Release(name, SemVer(1, minor, 0), _DIGEST, needed)


def newest(count: int) -> Shop:
    """The newest version of an application and of its library fit."""
    apps: list[tuple[str, str] | None] = [("lib", f">=1.{minor // 2}") for minor in range(count)]
    return Shop({"app": apps, "lib": [None] * count})


def oldest(count: int) -> Shop:
    """Only the oldest version of an application can be had."""
    apps: list[tuple[str, str] | None] = [None] + [("lib", "<1")] * (count - 1)
    return Shop({"app": apps, "lib": [None]})


def deep(count: int) -> Shop:
    """Only the oldest can be had, and that shows one package further on."""
    apps: list[tuple[str, str] | None] = [("mid", f"1.{minor}.0") for minor in range(count)]
    mids: list[tuple[str, str] | None] = [None] + [("lib", "<1")] * (count - 1)
    return Shop({"app": apps, "mid": mids, "lib": [None]})


def milliseconds(shop: Shop) -> float:
    """The best of three runs."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        found = resolve([Requirement("app", ANY)], shop)
        best = min(best, time.perf_counter() - start)
        assert found.lock.get("app") and not found.refused  # noqa: PT018
    return best * 1000


def main() -> None:
    """Prints a table."""
    cases: tuple[Callable[[int], Shop], ...] = (newest, oldest, deep)
    print("choose releases, in milliseconds")
    print(f"{'versions':>10}" + "".join(f"{case.__name__:>10}" for case in cases))
    for count in COUNTS:
        print(f"{count:>10}" + "".join(f"{milliseconds(case(count)):>10.1f}" for case in cases))


if __name__ == "__main__":
    main()
