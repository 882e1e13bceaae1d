"""What the tests of the oddities share."""

from collections.abc import Iterator

import pytest
from projects import Installer, installer


@pytest.fixture(scope="module")
def install(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installer]:
    """Writes projects, generates and imports them; they are forgotten after the module."""
    with installer(tmp_path_factory.mktemp("projects")) as found:
        yield found
