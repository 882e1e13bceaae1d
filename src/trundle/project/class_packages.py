"""Python classes for packages of classes: what `trundle generate` writes where the sources of a project are such packages."""

from collections.abc import Iterable, Mapping

from trundle.engine import Engine, Session, Type, check
from trundle.engine.schemas import PythonInput, python_inputs
from trundle.errors import Finding
from trundle.packages import Package, package_folders
from trundle.project._class_modules import files_of, python_classes, types_in
from trundle.project.config import Config


def packages_of(config: Config) -> tuple[Package, ...]:
    """The packages of classes in the sources of a project.

    Raises:
        PackageError: one cannot be used.
    """
    folders = (each for source in config.sources for each in package_folders(source.path))
    return tuple(Package.from_folder(each) for each in folders)


def class_files(packages: Iterable[Package], package: str) -> Mapping[str, bytes]:
    """The files of a Python package with all classes of packages, and with those that they descend from or refer to.

    Args:
        packages: the packages, in all versions that are wanted.
        package: the dotted name of the Python package.

    Raises:
        EngineError: a class cannot be built, or a requirement is not met.
    """
    given = tuple(packages)
    with Engine(given).session() as session:
        left = [
            session.type(name, f"=={each.version}", each.name)
            for each in given
            for name in each.classes
        ]
        inputs = _inputs(session, left)
        return files_of(python_classes(inputs), package)


def _inputs(session: Session, left: list[Type]) -> dict[Type, tuple[PythonInput, ...]]:
    found: dict[Type, tuple[PythonInput, ...]] = {}
    while left:
        type_ = left.pop()
        if type_ not in found:
            found[type_] = python_inputs(type_, session.accepted)
            left += type_.ancestors
            left += (each for one in found[type_] for each in types_in(one.type))
    return found


def check_packages(config: Config) -> tuple[Finding, ...]:
    """What is wrong with the packages of classes of a project."""
    packages = packages_of(config)
    return tuple(check(packages, packages))
