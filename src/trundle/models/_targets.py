"""Which versions of packages a model is carried to."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from trundle.errors import Kind, TrundleError, expectation, shown
from trundle.project.package_evolution import PackageEvolutions
from trundle.version import ApiVersion


class Target(NamedTuple):
    """A version of a package.

    Attributes:
        package: its name.
        version: the version.
    """

    package: str
    version: ApiVersion


class TargetError(TrundleError):
    """What names no version of a package."""

    kind = Kind.USAGE


def targets(evolutions: PackageEvolutions, wanted: Iterable[str]) -> Mapping[str, ApiVersion]:
    """The versions that are asked for, by package.

    Args:
        evolutions: the packages.
        wanted: each as `name@range`, such as `com.acme.Shop@2`; the newest version of the range is meant.

    Raises:
        TargetError: one is not written so, or a package is named twice.
        EngineError: there is no such package, or no such version of it.
    """
    found: dict[str, ApiVersion] = {}
    for each in wanted:
        name, at, spec = each.partition("@")
        if not at or not name or not spec:
            advice = "write it like com.acme.Shop@2"
            raise TargetError(expectation("NAME@VERSION", shown(each), advice))
        if name in found:
            message = expectation("each package once", f"{name} twice", "remove one of them")
            raise TargetError(message)
        found[name] = ApiVersion.of_package(evolutions.engine.package(name, spec).version)
    return found
