from collections.abc import Callable, Iterator

import pytest
from evolving import Store, evolve, forget

from trundle.evolution import TypeChanges
from trundle.runtime import Scheme


@pytest.fixture
def forgetting() -> Iterator[Callable[[Scheme], Scheme]]:
    """Takes schemes, and forgets their packages at the end of the test."""
    taken: list[Scheme] = []

    def take(scheme: Scheme) -> Scheme:
        taken.append(scheme)
        return scheme

    yield take
    for scheme in taken:
        forget(scheme)


@pytest.fixture
def store(forgetting: Callable[[Scheme], Scheme]) -> Callable[..., Store]:
    """Makes a store of one object, from versions and changes."""

    def make(versions: dict[str, object], *more: TypeChanges, hub: str = "") -> Store:
        return Store(forgetting(evolve(versions, *more, hub=hub)))

    return make
