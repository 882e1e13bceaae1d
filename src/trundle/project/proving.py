"""The proof of a project: its generated package is checked against the laws of conversion, in several processes."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trundle.codegen import Blueprint, generate_package
from trundle.errors import errors_among
from trundle.evolution import Evolution
from trundle.project._class_literals import literals
from trundle.project._lock_file import lock_path, read_lock, recorded_versions
from trundle.project._package_files import blueprint_of, package_files
from trundle.project._parts import outline_of
from trundle.project._proof_run import ProofOptions, ProofRun
from trundle.project._proof_works import (
    ProofWorks,
    ProvedPackage,
    Step,
    written_package,
)
from trundle.project.config import Config
from trundle.project.findings import FindingsError
from trundle.project.generating import package_folder
from trundle.project.hooks import hook_modules
from trundle.project.loading import Project, load_part
from trundle.report import ReportError
from trundle.schema.readers import Catalogue
from trundle.workers import Workers

if TYPE_CHECKING:
    from trundle.project.package_evolution import PackageEvolutions


def prove_project(
    project: Project,
    options: ProofOptions,
    *,
    on_total: Callable[[int], None],
    on_step: Step,
    workers: Workers | None = None,
) -> ProofRun:
    """Proves what is generated from a project's present inputs.

    The package on disk is used where it is up to date; else it is generated into a temporary folder.

    Args:
        project: the project, without errors.
        options: what is to be proved.
        on_total: called with the number of versions, once it is known.
        on_step: called with the proof of each version.
        workers: what does the work; where None, as many processes of this machine as the options say.

    Raises:
        ClusterError: the cluster is gone.
        FindingsError: a change or hook does not fit.
        ReportError: there is no such resource type or version.
        ProjectError: the package cannot be imported.
    """
    project.require_sound()
    config = project.config
    blueprint = blueprint_of(project)
    files = package_files(project, blueprint)
    folder = package_folder(project.config)
    current = all(_holds(folder / path, content) for path, content in files.items())
    modules = tuple(hook_modules(config.hooks))
    sources = {name: text for name in modules if (text := _source(project.folder, name))}
    uses = {each.use for each in config.hooks if each.is_static}
    sources |= {use: repr([*literals(project.static.classes[use].encode())]) for use in uses}
    with contextlib.ExitStack() as stack:
        home = (
            config.output
            if current
            else stack.enter_context(written_package(config.package, files))
        )
        package = ProvedPackage(config.package, (home, project.folder), modules)
        run = ProofWorks(blueprint, package, options, sources, workers)
        return run.prove(folder if current else None, on_total, on_step)


def prove_groups(
    config: Config,
    options: ProofOptions,
    *,
    on_total: Callable[[int], None],
    on_step: Step,
    workers: Workers | None = None,
) -> ProofRun:
    """Proves each package of a project with groups; see `prove_project`.

    Args:
        config: what the project's file says.
        options: what is to be proved; a time is shared by all packages.
        on_total: called with the number of versions, as far as it is known.
        on_step: called with the proof of each version.
        workers: what does the work.
    """
    catalogue = Catalogue(config.sources)
    outline = outline_of(config, catalogue, recorded_versions(read_lock(lock_path(config))))
    if errors := errors_among(outline.findings):
        raise FindingsError(errors)
    share = None if options.seconds is None else options.seconds / len(outline.parts)
    own = msgspec.structs.replace(options, seconds=share)
    runs: list[ProofRun] = []
    missing: ReportError | None = None
    for part in outline.parts:
        known = sum(each.planned for each in runs)
        names = {each.casefold() for each in part.resources}
        wanted = tuple(each for each in options.resources if each.casefold() in names)
        if options.resources and not wanted:
            unknown = ReportError("resource", options.resources[0], part.resources)
            missing = missing if missing and missing.suggestions else unknown
            continue
        project = load_part(part, catalogue).project
        chosen = msgspec.structs.replace(own, resources=wanted)
        total = lambda more, before=known: on_total(before + more)  # noqa: E731 - private
        try:
            runs.append(
                prove_project(project, chosen, on_total=total, on_step=on_step, workers=workers)
            )
        except ReportError as error:  # there is no such version in this group
            missing = error
    if not runs:
        assert missing is not None
        raise missing
    return _joined(config, runs)


def _joined(config: Config, runs: Sequence[ProofRun]) -> ProofRun:
    proofs = [each for run in runs for each in run.proofs]
    proofs.sort(key=lambda each: (each.resource.casefold(), each.version, each.seed))
    limits = {name: found for run in runs for name, found in run.limits.items()}
    return ProofRun(
        package=config.package,
        folder=package_folder(config) if all(each.folder for each in runs) else None,
        seed=runs[0].seed,
        rounds=max(each.rounds for each in runs),
        planned=sum(each.planned for each in runs),
        seconds=sum(each.seconds for each in runs),
        limits=dict(sorted(limits.items(), key=lambda each: each[0].casefold())),
        proofs=tuple(proofs),
        complete=all(each.complete for each in runs),
    )


def prove_schemas(
    evolution: Evolution,
    options: ProofOptions,
    *,
    on_total: Callable[[int], None],
    on_step: Step,
    workers: Workers | None = None,
) -> ProofRun:
    """Proves what is generated from bare schemas; see `prove_project`."""
    with works_of_schemas(evolution, options, workers) as works:
        return works.prove(None, on_total, on_step)


@contextlib.contextmanager
def works_of_schemas(
    evolution: Evolution, options: ProofOptions, workers: Workers | None = None
) -> Iterator[ProofWorks]:
    """What there is to prove of bare schemas, for those who choose from it."""
    name = "generated"
    blueprint = Blueprint(evolution)
    files = generate_package(evolution, package=name, blueprint=blueprint)
    with written_package(name, files) as home:
        yield ProofWorks(blueprint, ProvedPackage(name, (home,)), options, {}, workers)


def prove_classes(
    evolutions: "PackageEvolutions",
    package: str,
    options: ProofOptions,
    *,
    on_total: Callable[[int], None],
    on_step: Step,
    workers: Workers | None = None,
) -> ProofRun:
    """Proves what is generated from the classes of a package, with its hooks; see `prove_project`.

    Args:
        evolutions: the package, and what it requires.
        package: its name.
        options: what is to be proved.
        on_total: called with the number of versions, once it is known.
        on_step: called with the proof of each version.
        workers: processes that may run elsewhere; processes here where None.

    Raises:
        EngineError: a class cannot be built.
    """
    from trundle.engine import Limits  # noqa: PLC0415 - needs an extra
    from trundle.project._called_methods import called_methods  # noqa: PLC0415 - needs an extra

    name = "generated"
    found = evolutions.of(package)
    blueprint = Blueprint(found.as_documents())
    files = generate_package(blueprint.evolution, package=name, blueprint=blueprint)
    methods = called_methods(
        name, blueprint, found.called, found.hooks, evolutions.listed, evolutions.limits or Limits()
    )
    with written_package(name, files) as home:
        made = ProvedPackage(name, (home,), methods=methods if methods.classes else None)
        run = ProofWorks(blueprint, made, options, methods.said(), workers)
        return run.prove(None, on_total, on_step)


def _holds(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() == content
    except OSError:
        return False


def _source(folder: Path, module: str) -> str | None:
    """The text of a module below a folder."""
    place = folder.joinpath(*module.split("."))
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file():
            return path.read_text(encoding="utf-8")
    return None
