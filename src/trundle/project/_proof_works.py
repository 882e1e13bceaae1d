"""What there is to prove of a generated package, and the processes that do it."""

import contextlib
import importlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from trundle.codegen import Blueprint, renamed_properties
from trundle.evolution import Evolution
from trundle.project._importing import importable
from trundle.project._proof_run import ProofOptions, ProofRun
from trundle.project.errors import ProjectError
from trundle.project.hooks import in_python
from trundle.project.shipping import ShippedPackage, gathered, shipped_scheme
from trundle.report import ReportError
from trundle.runtime import Scheme
from trundle.version import own_spelling
from trundle.workers import Opening, Workers, bound_memory, spread

if TYPE_CHECKING:
    from trundle.project._called_methods import CalledMethods
    from trundle.verify.proofs import Part, Proof, Prover, Work

_CHUNK = 3
"""How many versions of a resource type a process proves in one go."""

Step = Callable[["Proof"], None]


class ProvedPackage(NamedTuple):
    """A generated package on disk, and what must be importable beside it."""

    name: str
    folders: tuple[Path, ...]
    others: tuple[str, ...] = ()
    methods: "CalledMethods | None" = None


class ProofWorks:
    """Proves a generated package, version by version.

    Args:
        blueprint: what it was generated from.
        package: the package.
        options: what is to be proved.
        sources: the texts of its hooks; what they mention is in examples.
        workers: what does the work; where None, as many processes of this machine as the options say.
    """

    def __init__(
        self,
        blueprint: Blueprint,
        package: ProvedPackage,
        options: ProofOptions,
        sources: Mapping[str, str],
        workers: Workers | None,
    ) -> None:
        self._evolution = blueprint.evolution
        self._plans = blueprint.plans
        self._package = package
        self._options = options
        self._sources = sources
        self._workers = workers

    def prove(
        self, folder: Path | None, on_total: Callable[[int], None], on_step: Step
    ) -> ProofRun:
        """All proofs, with other examples in each round for as long as the options say.

        Args:
            folder: where the package stands; None where it is temporary.
            on_total: called with the number of versions, once it is known.
            on_step: called with the proof of each version.
        """
        from trundle.verify.limits import limits  # noqa: PLC0415 - needs hypothesis

        works = self.works()
        chosen = dict.fromkeys(each.part.resource for each in works)
        known = limits(self._evolution, self._plans)
        planned = sum(len(each.versions) for each in works)
        on_total(planned)
        started = time.monotonic()
        proofs: list[Proof] = []
        rounds = 0
        while True:
            seed = self._options.seed + rounds
            rounds += 1
            first = rounds == 1  # covering documents are the same for every seed
            again = [msgspec.structs.replace(each, seed=seed, covering=first) for each in works]
            for proof in self.results(again):
                proofs.append(proof)
                on_step(proof)
                if self._over(started):
                    break
            if self._options.seconds is None or self._over(started):
                break
        proofs.sort(key=lambda each: (each.resource.casefold(), each.version, each.seed))
        return ProofRun(
            package=self._package.name,
            folder=folder,
            seed=self._options.seed,
            rounds=rounds,
            planned=planned,
            seconds=time.monotonic() - started,
            limits={name: known[name] for name in chosen},
            proofs=tuple(proofs),
            complete=len({(each.resource, each.version) for each in proofs}) == planned,
        )

    def _over(self, started: float) -> bool:
        seconds = self._options.seconds
        return seconds is not None and time.monotonic() - started >= seconds

    def works(self) -> "list[Work]":
        """What there is to prove, in pieces.

        Raises:
            ReportError: there is no such resource type or version.
        """
        from trundle.verify.proofs import Work, mentioned, part_of  # noqa: PLC0415 - needs hypothesis

        said = mentioned(self._evolution.all_changes, self._evolution.hooks, self._sources)
        renamed = renamed_properties(self._evolution)
        works: list[Work] = []
        for name in chosen_resources(self._evolution, self._options.resources):
            resource = next(each for each in self._evolution.resources if each.name == name)
            versions = [each.text for each in resource.versions.versions]
            if self._options.version is not None:
                chosen = own_spelling(self._options.version, resource.versions.versions)
                versions = [] if chosen is None else [chosen.text]
            part = self._callable_anywhere(part_of(self._evolution, resource))
            works.extend(
                Work(
                    part=part,
                    versions=tuple(versions[first : first + _CHUNK]),
                    seed=self._options.seed,
                    examples=self._options.examples,
                    mentioned=said,
                    renamed=renamed,
                )
                for first in range(0, len(versions), _CHUNK)
            )
        if not works:
            known = {each.text for each in self._evolution.versions.versions}
            raise ReportError("version", str(self._options.version), known)
        return works

    def _callable_anywhere(self, part: "Part") -> "Part":
        """A part whose static methods other generated packages call by those of this one."""
        return msgspec.structs.replace(
            part,
            hooks=tuple(
                msgspec.structs.replace(
                    each, reference=in_python(each.reference, self._package.name)
                )
                for each in part.hooks
            ),
        )

    def results(self, works: "Sequence[Work]") -> "Iterator[Proof]":
        """The proofs of some pieces, as they are done.

        Raises:
            ClusterError: the cluster is gone.
            ProjectError: the package cannot be imported.
        """
        if self._workers is not None:
            opening = Opening(_proving, (_shipped(self._package), self._package.methods))
            with contextlib.closing(self._workers.results(opening, _proved, works)) as results:
                for proofs in results:
                    yield from proofs
            return
        jobs = min(self._options.jobs, len(works))
        if jobs > 1 or self._package.methods is not None:
            arguments = (self._package,)
            for proofs in spread(_done, works, jobs=jobs, start=_opened, arguments=arguments):
                yield from proofs
            return
        from trundle.verify.proofs import Prover  # noqa: PLC0415 - needs hypothesis

        with importable(self._package.folders, (self._package.name, *self._package.others)):
            prover = Prover(_scheme(self._package.name))
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


def _opened(package: ProvedPackage) -> None:
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


def _shipped(package: ProvedPackage) -> ShippedPackage:
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


_SHARED = "from pkgutil import extend_path\n\n__path__ = extend_path(__path__, __name__)\n"
"""What is in the packages around a temporary one, so that those on disk are found beside it."""


@contextlib.contextmanager
def written_package(package: str, files: Mapping[str, bytes]) -> Iterator[Path]:
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
