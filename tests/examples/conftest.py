"""What the tests of the examples share."""

from collections.abc import Iterator, Mapping

import pytest
from releases import VERSIONS, Release, released


@pytest.fixture(scope="session")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Release]]:
    """Every release of the case study, by the API version that it brought."""
    with released(VERSIONS, tmp_path_factory.mktemp("crm")) as found:
        yield found
