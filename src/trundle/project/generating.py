"""The generate run: a project becomes its generated package on disk."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from trundle.codegen import Blueprint, generate_package, generate_tests
from trundle.project._collecting import without_collection
from trundle.project.loading import Project
from trundle.project.output import TreeChange, TreeComparison, compare_tree, write_tree

TESTS = "tests"
"""The folder within a generated package that holds its generated tests."""


class GenerateResult(msgspec.Struct, frozen=True):
    """What a generate run did, or would do.

    Attributes:
        root: the package's folder.
        change: what was written; None where nothing was to be written.
        comparison: how the folder differed before, where nothing was written.
    """

    root: Path
    change: TreeChange | None = None
    comparison: TreeComparison | None = None

    @property
    def stale(self) -> bool:
        """Whether the folder is still not what would be generated."""
        return self.comparison is not None and not self.comparison.same


def package_folder(project: Project) -> Path:
    """The folder of a project's generated package."""
    return project.config.output.joinpath(*project.config.package.split("."))


@without_collection()
def generated_files(project: Project) -> Mapping[str, bytes]:
    """Everything that is generated for a project, by path relative to the package's folder.

    Raises:
        FindingsError: a change or hook does not fit.
        ChangeError: a change does not fit its place.
    """
    project.require_sound()
    config = project.config
    options: dict[str, Any] = {
        "package": config.package,
        "title": config.title,
        "horizon": config.horizon,
        "unknown": config.unknown,
        "blueprint": Blueprint(project.evolution, config.horizon, config.straight),
    }
    files = dict(generate_package(project.evolution, **options))
    tests = generate_tests(project.evolution, **options)
    files.update({f"{TESTS}/{name}": content for name, content in tests.items()})
    return files


def generate(
    project: Project,
    *,
    check: bool = False,
    force: bool = False,
    on_step: Callable[[str], None] = lambda _: None,
) -> GenerateResult:
    """Generates a project's package, with its tests, as one tree: all of it, or nothing.

    Args:
        project: the project, without errors.
        check: only compare the folder with what would be written.
        force: replace generated files that were edited by hand.
        on_step: called with the name of each step before it is done.

    Raises:
        FindingsError: a change or hook does not fit.
        ChangeError: a change does not fit its place.
        OutputError: the folder cannot be written, or holds work that writing would destroy.
    """
    on_step("generate")
    files = generated_files(project)
    root = package_folder(project)
    if check:
        on_step("compare")
        return GenerateResult(root, comparison=compare_tree(root, files))
    marker = project.config.package
    change = write_tree(root, files, marker=marker, force=force, checkpoint=on_step)
    return GenerateResult(root, change=change)
