"""Measures how publishing, choosing and looking grow with the number of versions that a channel has.

Publishing packs a small package, pushes it into an image layout in a temporary folder, commits to the ledger and
builds the channel anew, all of it flushed to disk. Looking reads and checks the channel, decides under a policy and
shows the status, as `trundle status` does. The peer reads and writes the channel's `all` file with `json`, which is the
least that anything must do that keeps such a list.
"""

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from filled_channels import PACKAGE, WORD, filled, now, package
from resolving import COUNTS, milliseconds, newest

from trundle.channels import (
    State,
    decide,
    read_policy,
    status_of,
    write_all,
)
from trundle.channels.publishing import PublishedChannel, PublishRequest, publish
from trundle.channels.reading import open_channel, read_channel
from trundle.registry import DirectoryRegistry, Repository

ROUNDS = 3


def median(work: Callable[[int], object]) -> float:
    """The median time of some rounds, in milliseconds."""
    taken = []
    for number in range(ROUNDS):
        start = time.perf_counter()
        work(number)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1000


def look(repository: Repository) -> None:
    """What `trundle status` does for one package."""
    served = read_channel(open_channel(WORD, repository), clock=now, unsigned=True)
    state = State(package=PACKAGE, channel=WORD)
    policy = read_policy({"patch": "immediate", "minor": "approval", "major": "never"})
    plan = decide(served.channel, state, policy, now())
    status_of(plan, state, served.channel, now(), ())


def rewrite(path: Path) -> None:
    """The peer."""
    path.write_text(json.dumps(json.loads(path.read_text())))


def measured(count: int) -> tuple[float, float, float, float]:
    """Milliseconds to publish, to choose, to look, and those of the peer."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        repository = DirectoryRegistry(folder / "registry").repository(PACKAGE)
        filled(repository, folder, count)
        served = read_channel(open_channel(WORD, repository), clock=now, unsigned=True)
        path = folder / "all"
        path.write_bytes(write_all(served.channel))
        releases = [
            PublishRequest(package(folder / f"new{number}", f"9.0.{number}"))
            for number in range(ROUNDS)
        ]

        def release(number: int) -> None:
            publish(
                PublishedChannel(repository, WORD, clock=now, package=PACKAGE), releases[number]
            )

        looked = median(lambda _: look(repository))
        peer = median(lambda _: rewrite(path))
        return median(release), milliseconds(newest(count)), looked, peer


def main() -> None:
    """Prints a table."""
    print("channels, in milliseconds; in brackets: times the peer, `json` over the same list")
    print(f"{'versions':>10}{'publish':>18}{'resolve':>18}{'status':>18}{'peer':>10}")
    for count in COUNTS:
        *jobs, peer = measured(count)
        row = "".join(f"{f'{each:.1f} ({each / peer:.1f})':>18}" for each in jobs)
        print(f"{count:>10}{row}{peer:>10.2f}")


if __name__ == "__main__":
    main()
