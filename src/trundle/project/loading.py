"""Loads a whole project: its file, its schemas, its hooks, and how all of it evolves."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from trundle.errors import Finding, errors_among
from trundle.evolution import Evolution, HookDeclaration, Lineage
from trundle.project._garbage_collection import without_collection
from trundle.project._lock_file import lock_path, read_lock, recorded_versions
from trundle.project._parts import Part, no_resources, nothing_declared, outline_of
from trundle.project._patterns import spread_patterns
from trundle.project._scaling import unfit_scaling, with_scaling
from trundle.project._spelling import as_declared
from trundle.project._spread import Spread
from trundle.project._storage import unknown_hubs, with_storage
from trundle.project.changes import apply_changes, without_misfits
from trundle.project.config import Config, load_config
from trundle.project.findings import FindingsError, Misfit
from trundle.project.hooks import StaticCalls, discover_hooks
from trundle.schema import Schema
from trundle.schema.readers import Catalogue, Source, read_schemas


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """A project as it was loaded.

    Attributes:
        config: what its file says.
        schemas: one for each API version, in ascending order.
        evolution: how they evolve, under the changes and hooks that fit.
        lineages: all lineages of the evolution.
        findings: what is wrong with the other changes and hooks.
        static: the static methods among the hooks.
    """

    config: Config
    schemas: tuple[Schema, ...]
    evolution: Evolution
    lineages: tuple[Lineage, ...]
    findings: tuple[Finding, ...] = ()
    static: StaticCalls = StaticCalls()

    @property
    def hooks(self) -> tuple[HookDeclaration, ...]:
        """The hooks that can be called."""
        return self.evolution.hooks

    @property
    def folder(self) -> Path:
        """The folder that the project's file is in."""
        return self.config.path.parent

    def require_sound(self) -> None:
        """Raises what is wrong with the project.

        Raises:
            FindingsError: a change or hook does not fit.
        """
        if errors := errors_among(self.findings):
            raise FindingsError(errors)


def load_project(path: Path, *, on_file: Callable[[Path], None] | None = None) -> Project:
    """Loads a project by its file.

    Changes and hooks that do not fit the schemas are left out, and listed as findings.

    Args:
        path: the project's file.
        on_file: called with each schema file after it was read.

    Raises:
        ConfigError: the project's file is missing or cannot be used.
        SchemaError: a schema cannot be read.
        ProjectError: there are no resources in the schemas.
    """
    return load_configured(load_config(path), on_file=on_file)


@without_collection()
def load_configured(config: Config, *, on_file: Callable[[Path], None] | None = None) -> Project:
    """Loads the project that a file describes; as `load_project`.

    Raises:
        SchemaError: a schema cannot be read.
        ProjectError: there are no resources in the schemas.
    """
    catalogue = Catalogue(config.sources, on_file=on_file)
    if not catalogue.declared:
        raise nothing_declared(config)
    config = as_declared(config, (each.version for each in catalogue.declared))
    selection = catalogue.select()
    catalogue.require_used(selection.files)
    recorded = recorded_versions(read_lock(lock_path(config)))
    stored = with_storage(selection.schemas, config.hubs, recorded)
    schemas = with_scaling(stored, config.kubernetes)
    config, spread = _spread(config, schemas)
    project, _, misfits = _fit(config, schemas, config.package)
    wrong, _ = spread.judged(misfits)
    findings = (
        *findings_of((*spread.misfits, *wrong)),
        *unknown_hubs(config, catalogue.declared),
        *unfit_scaling(schemas, config.kubernetes),
    )
    return msgspec.structs.replace(project, findings=findings)


def load_parts(config: Config) -> Mapping[str, Project]:
    """The parts of the project that a file describes, each as a project of its own, by its name.

    What fits no part is left out.

    Raises:
        SchemaError: a schema cannot be read.
        ProjectError: there are no resources in the schemas.
    """
    catalogue = Catalogue(config.sources)
    recorded = recorded_versions(read_lock(lock_path(config)))
    outline = outline_of(config, catalogue, recorded)
    return {part.name: load_part(part, catalogue).project for part in outline.parts}


class LoadedPart(msgspec.Struct, frozen=True):
    """A part of a project as it was loaded.

    Attributes:
        project: the part as a project of its own; without findings.
        misfits: the changes and hooks that do not fit it, and are left out.
        notes: what patterns stand for in it without effect.
        files: all files that it was made from.
        urls: the file that each URL led to that references were looked up by; empty where to none.
    """

    project: Project
    misfits: tuple[Misfit, ...]
    notes: tuple[Finding, ...]
    files: tuple[Path, ...]
    urls: Mapping[str, str]


@without_collection()
def load_part(part: Part, catalogue: Catalogue) -> LoadedPart:
    """Loads a part of a project, and nothing of the others.

    Raises:
        SchemaError: a schema cannot be read.
    """
    selection = catalogue.select(part.group)
    config = part.config
    stored = with_storage(selection.schemas, config.hubs, part.recorded)
    schemas = with_scaling(stored, config.kubernetes)
    config, spread = _spread(config, schemas)
    project, files, misfits = _fit(config, schemas, part.root_package)
    wrong, notes = spread.judged(misfits)
    unscaled = (Misfit((), each) for each in unfit_scaling(schemas, config.kubernetes))
    return LoadedPart(
        project=project,
        misfits=tuple(dict.fromkeys((*spread.misfits, *wrong, *unscaled))),
        notes=notes,
        files=(*map(Path, selection.files), *files),
        urls=selection.urls,
    )


def _spread(config: Config, schemas: tuple[Schema, ...]) -> tuple[Config, Spread]:
    """A project's file with its patterns written out, and what there is to say about them."""
    spread = spread_patterns(config.changes, schemas)
    return msgspec.structs.replace(config, changes=spread.changes), spread


def findings_of(misfits: Iterable[Misfit]) -> tuple[Finding, ...]:
    """What is wrong, each thing once."""
    return tuple(dict.fromkeys(each.finding for each in misfits))


def _fit(
    config: Config, schemas: tuple[Schema, ...], package: str
) -> tuple[Project, tuple[Path, ...], list[Misfit]]:
    """A project of some schemas without the changes that do not fit, the files of its hooks, and what does not fit.

    What fits another part, or what else a pattern stands for, must do nothing here.
    """
    misfits: list[Misfit] = []
    while True:
        project, files, found = _follow(config, schemas, package)
        misfits += found
        changes = tuple(without_misfits(config.changes, found))
        if changes == config.changes:
            return project, files, misfits
        config = msgspec.structs.replace(config, changes=changes)


def _follow(
    config: Config, schemas: tuple[Schema, ...], package: str
) -> tuple[Project, tuple[Path, ...], tuple[Misfit, ...]]:
    """A project of some schemas, the files of its hooks, and what does not fit."""
    applied = apply_changes(schemas, config.changes)
    misfits = applied.misfits
    found = discover_hooks(
        config.hooks, applied.evolution, applied.lineages, config.path.parent, package
    )
    if found.declarations:
        # The changes were judged before; a hook may join what a change kept apart.
        applied = apply_changes(schemas, applied.evolution.all_changes, found.declarations)
    project = Project(
        config=config,
        schemas=schemas,
        evolution=applied.evolution,
        lineages=applied.lineages,
        static=found.static,
    )
    return project, found.files, tuple(dict.fromkeys((*misfits, *applied.misfits, *found.misfits)))


def evolution_of(
    sources: Iterable[Source], *, on_file: Callable[[Path], None] | None = None
) -> Evolution:
    """How bare schemas evolve, without a project.

    Raises:
        SchemaError: a schema cannot be read.
        ProjectError: there are no resources in the schemas.
    """
    listed = tuple(sources)
    schemas = read_schemas(listed, on_file=on_file)
    if not any(schema.resources for schema in schemas):
        raise no_resources(", ".join(str(each.path) for each in listed))
    return Evolution(schemas)
