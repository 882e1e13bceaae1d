"""The proof of a project: its generated package is checked against the laws of conversion, in several processes."""

import contextlib
import importlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from trundle.codegen import Blueprint, generate_package, renamed_properties
from trundle.errors import errors_among
from trundle.evolution import Evolution
from trundle.project._class_literals import literals
from trundle.project._importing import importable
from trundle.project._lock_file import lock_path, read_lock, recorded_versions
from trundle.project._package_files import blueprint_of, package_files
from trundle.project._parts import outline_of
from trundle.project._proof_run import ProofOptions, ProofRun
from trundle.project.config import Config
from trundle.project.errors import ProjectError
from trundle.project.findings import FindingsError
from trundle.project.generating import package_folder
from trundle.project.hooks import hook_modules, in_python
from trundle.project.loading import Project, load_part
from trundle.project.shipping import ShippedPackage, gathered, shipped_scheme
from trundle.report import ReportError
from trundle.runtime import Scheme
from trundle.schema.readers import Catalogue
from trundle.version import own_spelling
from trundle.workers import Opening, Workers, bound_memory, spread

if TYPE_CHECKING:
    from trundle.project._called_methods import CalledMethods
    from trundle.project.package_evolution import PackageEvolutions
    from trundle.verify.proofs import Part, Proof, Prover, Work

_CHUNK = 3
"""How many versions of a resource type a process proves in one go."""


class _Package(NamedTuple):
    """A generated package on disk, and what must be importable beside it."""

    name: str
    folders: tuple[Path, ...]
    others: tuple[str, ...] = ()
    methods: "CalledMethods | None" = None


Step = Callable[["Proof"], None]


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
        home = config.output if current else stack.enter_context(_written(config.package, files))
        package = _Package(config.package, (home, project.folder), modules)
        run = _Run(blueprint, package, options, sources, workers)
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
    name = "generated"
    blueprint = Blueprint(evolution)
    files = generate_package(evolution, package=name, blueprint=blueprint)
    with _written(name, files) as home:
        run = _Run(blueprint, _Package(name, (home,)), options, {}, workers)
        return run.prove(None, on_total, on_step)


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
    with _written(name, files) as home:
        made = _Package(name, (home,), methods=methods if methods.classes else None)
        run = _Run(blueprint, made, options, methods.said(), workers)
        return run.prove(None, on_total, on_step)


_SHARED = "from pkgutil import extend_path\n\n__path__ = extend_path(__path__, __name__)\n"
"""What is in the packages around a temporary one, so that those on disk are found beside it."""


@contextlib.contextmanager
def _written(package: str, files: Mapping[str, bytes]) -> Iterator[Path]:
    """A folder with a generated package in it, for a while."""
    with tempfile.TemporaryDirectory(prefix="trundle-verify-") as folder:
        root = Path(folder)
        for name in package.split("."):
            root /= name
            root.mkdir()
            (root / "__init__.py").write_text(_SHARED)
        for path, content in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        yield Path(folder)


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


class _Run:
    def __init__(
        self,
        blueprint: Blueprint,
        package: _Package,
        options: ProofOptions,
        sources: Mapping[str, str],
        workers: Workers | None,
    ) -> None:
        self.evolution = blueprint.evolution
        self.plans = blueprint.plans
        self.package = package
        self.options = options
        self.sources = sources
        self.workers = workers

    def prove(
        self, folder: Path | None, on_total: Callable[[int], None], on_step: Step
    ) -> ProofRun:
        from trundle.verify.limits import limits  # noqa: PLC0415 - needs hypothesis

        works = self.works()
        chosen = dict.fromkeys(each.part.resource for each in works)
        known = limits(self.evolution, self.plans)
        planned = sum(len(each.versions) for each in works)
        on_total(planned)
        started = time.monotonic()
        proofs: list[Proof] = []
        rounds = 0
        while True:
            seed = self.options.seed + rounds
            rounds += 1
            first = rounds == 1  # covering documents are the same for every seed
            again = [msgspec.structs.replace(each, seed=seed, covering=first) for each in works]
            for proof in self.results(again):
                proofs.append(proof)
                on_step(proof)
                if self.over(started):
                    break
            if self.options.seconds is None or self.over(started):
                break
        proofs.sort(key=lambda each: (each.resource.casefold(), each.version, each.seed))
        return ProofRun(
            package=self.package.name,
            folder=folder,
            seed=self.options.seed,
            rounds=rounds,
            planned=planned,
            seconds=time.monotonic() - started,
            limits={name: known[name] for name in chosen},
            proofs=tuple(proofs),
            complete=len({(each.resource, each.version) for each in proofs}) == planned,
        )

    def over(self, started: float) -> bool:
        seconds = self.options.seconds
        return seconds is not None and time.monotonic() - started >= seconds

    def works(self) -> "list[Work]":
        from trundle.verify.proofs import Work, mentioned, part_of  # noqa: PLC0415 - needs hypothesis

        said = mentioned(self.evolution.all_changes, self.evolution.hooks, self.sources)
        renamed = renamed_properties(self.evolution)
        works: list[Work] = []
        for name in chosen_resources(self.evolution, self.options.resources):
            resource = next(each for each in self.evolution.resources if each.name == name)
            versions = [each.text for each in resource.versions.versions]
            if self.options.version is not None:
                chosen = own_spelling(self.options.version, resource.versions.versions)
                versions = [] if chosen is None else [chosen.text]
            part = self.callable_anywhere(part_of(self.evolution, resource))
            works.extend(
                Work(
                    part=part,
                    versions=tuple(versions[first : first + _CHUNK]),
                    seed=self.options.seed,
                    examples=self.options.examples,
                    mentioned=said,
                    renamed=renamed,
                )
                for first in range(0, len(versions), _CHUNK)
            )
        if not works:
            known = {each.text for each in self.evolution.versions.versions}
            raise ReportError("version", str(self.options.version), known)
        return works

    def callable_anywhere(self, part: "Part") -> "Part":
        """A part whose static methods other generated packages call by those of this one."""
        return msgspec.structs.replace(
            part,
            hooks=tuple(
                msgspec.structs.replace(
                    each, reference=in_python(each.reference, self.package.name)
                )
                for each in part.hooks
            ),
        )

    def results(self, works: "Sequence[Work]") -> "Iterator[Proof]":
        if self.workers is not None:
            opening = Opening(_proving, (_shipped(self.package), self.package.methods))
            with contextlib.closing(self.workers.results(opening, _proved, works)) as results:
                for proofs in results:
                    yield from proofs
            return
        jobs = min(self.options.jobs, len(works))
        if jobs > 1 or self.package.methods is not None:
            arguments = (self.package,)
            for proofs in spread(_done, works, jobs=jobs, start=_opened, arguments=arguments):
                yield from proofs
            return
        from trundle.verify.proofs import Prover  # noqa: PLC0415 - needs hypothesis

        with importable(self.package.folders, (self.package.name, *self.package.others)):
            prover = Prover(_scheme(self.package.name))
            with contextlib.closing(prover):
                for work in works:
                    yield from prover.prove(work)


def chosen_resources(evolution: Evolution, names: Sequence[str]) -> list[str]:
    """The resource types of some names, as the newest version writes them; all where there is none.

    Raises:
        ReportError: there is no such resource type.
    """
    known = {each.name.casefold(): each.name for each in evolution.resources}
    for name in names:
        if name.casefold() not in known:
            raise ReportError("resource", name, known.values())
    return [known[name.casefold()] for name in names] or list(known.values())


def _scheme(package: str) -> Scheme:
    try:
        found: Any = importlib.import_module(package).scheme
    except Exception as error:
        text = (
            f"the generated package {package} cannot be imported: {type(error).__name__}: {error}"
        )
        raise ProjectError(text) from error
    assert isinstance(found, Scheme)
    return found


_OPENED: "list[Prover]" = []


def _opened(package: _Package) -> None:
    """Makes a process ready: the package can be imported, and its scheme is at hand."""
    sys.path[:0] = [str(each.resolve()) for each in package.folders]
    sys.dont_write_bytecode = True
    if package.methods is not None:
        bound_memory(package.methods.limits.memory)
        package.methods.install()
    from trundle.verify.proofs import Prover  # noqa: PLC0415 - needs hypothesis

    _OPENED[:] = [Prover(_scheme(package.name))]


def _done(work: "Work") -> "list[Proof]":
    return list(_OPENED[0].prove(work))


def _shipped(package: _Package) -> ShippedPackage:
    with _callable(package.methods):
        with importable(package.folders, (package.name, *package.others)):
            _scheme(package.name)  # It says what is wrong with the package.
        return gathered(package.name, package.folders, package.others)


def _callable(methods: "CalledMethods | None") -> contextlib.AbstractContextManager[None]:
    """Has the hooks of packages at hand for a while."""
    return contextlib.nullcontext() if methods is None else methods.installed()


@contextlib.contextmanager
def _proving(package: ShippedPackage, methods: "CalledMethods | None") -> "Iterator[Prover]":
    """What proves versions with a package that was sent here."""
    from trundle.verify.proofs import Prover  # noqa: PLC0415 - needs hypothesis

    with _callable(methods), shipped_scheme(package) as scheme:
        assert isinstance(scheme, Scheme)
        with contextlib.closing(Prover(scheme)) as prover:
            yield prover


def _proved(prover: "Prover", work: "Work") -> "list[Proof]":
    return list(prover.prove(work))
