"""Loads a whole project: its file, its schemas, its hooks, and how all of it evolves."""

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from trundle.evolution import Evolution, HookDeclaration, Lineage
from trundle.project._collecting import without_collection
from trundle.project.changes import apply_changes
from trundle.project.config import Config, load_config
from trundle.project.errors import ProjectError
from trundle.project.findings import Finding, FindingsError, errors_among
from trundle.project.hooks import discover_hooks
from trundle.schema import Schema
from trundle.schema.readers import Source, read_schemas


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """A project as it was loaded.

    Attributes:
        config: what its file says.
        schemas: one for each API version, in ascending order.
        evolution: how they evolve, under the changes and hooks that fit.
        lineages: all lineages of the evolution.
        findings: what is wrong with the other changes and hooks.
    """

    config: Config
    schemas: tuple[Schema, ...]
    evolution: Evolution
    lineages: tuple[Lineage, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def hooks(self) -> tuple[HookDeclaration, ...]:
        """The hooks that can be called."""
        return self.evolution.hooks.declarations

    @property
    def folder(self) -> Path:
        """The folder that the project's file stands in."""
        return self.config.path.parent

    def require_sound(self) -> None:
        """Raises what is wrong with the project.

        Raises:
            FindingsError: a change or hook does not fit.
        """
        if errors := errors_among(self.findings):
            raise FindingsError(errors)


@without_collection()
def load_project(path: Path, *, on_file: Callable[[Path], None] | None = None) -> Project:
    """Loads a project.

    Changes and hooks that do not fit the schemas are left out, and listed as findings.

    Args:
        path: the project's file.
        on_file: called with each schema file after it was read.

    Raises:
        ConfigError: the project's file is missing or cannot be used.
        SchemaError: a schema cannot be read.
        ProjectError: there are no resources in the schemas.
    """
    config = load_config(path)
    schemas = _read(config.sources, on_file, str(path))
    applied = apply_changes(schemas, config.changes)
    hooks, findings = discover_hooks(
        config.hooks, applied.evolution, applied.lineages, config.path.parent, config.package
    )
    if hooks:
        # The changes were judged before; a hook may join what a change kept apart.
        hooked = apply_changes(schemas, applied.evolution.all_changes, hooks)
        applied = msgspec.structs.replace(
            hooked, findings=tuple(dict.fromkeys((*applied.findings, *hooked.findings)))
        )
    return Project(
        config=config,
        schemas=schemas,
        evolution=applied.evolution,
        lineages=applied.lineages,
        findings=(*applied.findings, *findings),
    )


def evolution_of(
    sources: Iterable[Source], *, on_file: Callable[[Path], None] | None = None
) -> Evolution:
    """How bare schemas evolve, without a project.

    Raises:
        SchemaError: a schema cannot be read.
        ProjectError: there are no resources in the schemas.
    """
    listed = tuple(sources)
    return Evolution(_read(listed, on_file, ", ".join(str(each.path) for each in listed)))


def _read(
    sources: tuple[Source, ...], on_file: Callable[[Path], None] | None, where: str
) -> tuple[Schema, ...]:
    schemas = read_schemas(sources, on_file=on_file)
    if not any(schema.resources for schema in schemas):
        advice = "name the files or folders that hold them, or say `resources` in their source"
        raise ProjectError(f"{where}: expected schemas of resources, found none; {advice}")
    return schemas
