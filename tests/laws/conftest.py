from collections.abc import Callable, Iterator

import pytest
from evolving import forget

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
