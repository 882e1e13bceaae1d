"""What is generated for a project: the files of its package, and of what joins the packages of its groups."""

from collections.abc import Mapping
from typing import Any

from trundle.codegen import (
    Blueprint,
    MemberPackage,
    generate_joined,
    generate_package,
    generate_tests,
    static_methods,
)
from trundle.project._freshness import PartRecord
from trundle.project._garbage_collection import without_collection
from trundle.project._parts import Outline
from trundle.project.config import Config
from trundle.project.loading import Project

TESTS = "tests"
"""The folder within a generated package that holds its generated tests."""


@without_collection()
def generated_files(project: Project) -> Mapping[str, bytes]:
    """Everything that is generated for one package, by path relative to the package's folder.

    Args:
        project: a project without groups.

    Raises:
        FindingsError: a change or hook does not fit.
        ChangeError: a change does not fit its place.
    """
    return files_of(project, blueprint_of(project))


def blueprint_of(project: Project) -> Blueprint:
    """The plans and classes of a project's package."""
    config = project.config
    return Blueprint(project.evolution, config.horizon, config.straight)


def files_of(project: Project, blueprint: Blueprint) -> Mapping[str, bytes]:
    """A project's generated package with its tests, by path relative to the package's folder."""
    project.require_sound()
    files = dict(package_files(project, blueprint))
    tests = generate_tests(project.evolution, **_options(project, blueprint))
    files.update({f"{TESTS}/{name}": content for name, content in tests.items()})
    return files


def package_files(project: Project, blueprint: Blueprint) -> Mapping[str, bytes]:
    """A project's generated package without its tests, by path relative to the package's folder."""
    files = dict(generate_package(project.evolution, **_options(project, blueprint)))
    return files | static_methods(blueprint, project.static.files, project.static.calls)


def _options(project: Project, blueprint: Blueprint) -> dict[str, Any]:
    config = project.config
    return {
        "package": config.package,
        "title": config.title,
        "horizon": config.horizon,
        "unknown": config.unknown,
        "blueprint": blueprint,
    }


def joined_files(
    config: Config, outline: Outline, records: Mapping[str, PartRecord]
) -> Mapping[str, bytes]:
    """The files that join the packages of a project's groups."""
    members = [
        MemberPackage(part.name, part.group or "", record.resources, record.served)
        for part in outline.parts
        if (record := records[part.name])
    ]
    return generate_joined(
        members, package=config.package, title=config.title, unknown=config.unknown
    )
