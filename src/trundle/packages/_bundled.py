"""The packages that come with Trundle: nothing has to be installed for a requirement that they meet."""

from collections.abc import Iterable
from types import MappingProxyType

from trundle.packages._model import Requirement
from trundle.version import SemVer

BUNDLED = MappingProxyType(
    {
        "io.murano": SemVer(0, 1, 0),
        "io.murano.applications": SemVer(0, 1, 0),
        "io.trundle": SemVer(1, 0, 0),
    }
)
"""The version of each package that comes with the engine."""


def to_install(requirements: Iterable[Requirement]) -> tuple[Requirement, ...]:
    """The requirements that no bundled package meets, so that another package has to be installed."""
    return tuple(
        each
        for each in requirements
        if each.name not in BUNDLED or BUNDLED[each.name] not in each.range
    )
