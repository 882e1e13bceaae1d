"""A publisher in a process of its own: commits to a ledger, and may kill itself at some point.

Arguments: the reference of the repository, the name of the publisher, how many commits, and `-` or the step before
which it dies: a number, counted over its writes, from 1.
"""

import os
import sys

import msgspec
from artifacts import QUICK
from ledgers import ledger_of, shows

from trundle.registry import open_repository


def dying(repository, step: int):
    """Kills the process before the n-th write to a repository, without any last words."""
    writes = 0

    def before(method):
        def call(*arguments, **further):
            nonlocal writes
            writes += 1
            if writes == step:
                os._exit(9)
            return method(*arguments, **further)

        return call

    for name in ("put_blob", "put_manifest", "set_tag", "remove_unique_tag"):
        setattr(repository, name, before(getattr(repository, name)))
    return repository


def main(reference: str, name: str, count: str, death: str, lease: str = "20") -> None:
    settings = msgspec.structs.replace(
        QUICK, lease=float(lease), retries=10
    )  # the machine may be busy
    repository = open_repository(reference, settings=settings)
    if death != "-":
        dying(repository, int(death))
    ledger = ledger_of(repository, compact_at=4)
    for number in range(int(count)):
        ledger.commit(
            lambda _entries, number=number: f"{name}.{number}".encode(), shows(repository)
        )
        sys.stdout.write(f"{name}.{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
