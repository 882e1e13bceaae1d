"""Damages plans and decisions, and sees whether `verify` finds it: `make mutants`.

A mutant counts where it changes any output of some example documents: what is stored, what each version reads of it,
and what edits of other versions make of it. It is caught where a proof of the project has a finding. What is not caught
is held against many more edits: where every version reads the same in all of them, only stored bytes differ.
"""

import argparse
import itertools
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple
from unittest import mock

from cases import CASES, Case
from damage import DECISIONS, damages
from evolving import evolution
from reads import as_json, reads

from trundle.codegen import Blueprint, generate_package, hooked_properties, renamed_properties
from trundle.evolution._planning import make_plan
from trundle.runtime import Scheme
from trundle.verify._case import Subject
from trundle.verify._cover import covering
from trundle.verify._hops import Hops, forget_packages, imported
from trundle.verify._literals import mentioned, together
from trundle.verify._parts import Part, part_of, texts_of_others, world_of
from trundle.verify._prove import prove

PROJECTS = (
    *("each its own", "required", "defaults", "number to integer", "enum and text"),
    *(
        "typed to free-form and back",
        "changing objects to free-form",
        "lists with a key property",
        "lists with declared keys",
        "maps",
    ),
    *("objects in objects", "scalars of other kinds", "members of other kinds", "union"),
    *("list of unions", "object to union", "nullable", "nullable in lists and maps", "rename"),
    *("type rename", "values", "wrap", "unwrap objects", "string-to-integer", "gap, objects"),
    *("gap, another kind returns", "preview before", "previews only", "additional, nested"),
    "move, and a version without it",
    *("hook", "hook in a list", "hook, versions later", "converters", "recursion"),
)
"""Small evolutions that together have all steps of plans."""
_ENOUGH = 0.98
"""This share of the mutants that change an output has to be caught; see docs/mutants.md."""
_UNSEEN = frozenset({"survived", "stored"})
_EXAMPLES = 12
_DRAWN = 12
_EVERYWHERE = frozenset({"stash", "keep_places", "refill", "tidy", "merge_objects", "accompany"})
"""Functions that are replaced in each module of the runtime that has imported them."""
_numbers = itertools.count()


class _Every(frozenset[str]):
    """Counterexamples of no law need be made small."""

    def __contains__(self, _law: object) -> bool:
        return True


class Result(NamedTuple):
    """What became of a mutant.

    Attributes:
        project: the evolution.
        kind: what was wrong.
        where: the plan and the step.
        fate: `caught`, `survived`, `stored` where it is not caught but only stored bytes differ, `same` where no
            output changes, or `refused` where nothing can be generated.
    """

    project: str
    kind: str
    where: str
    fate: str


class Project:
    """An evolution with its example documents, and what these come to where nothing is damaged."""

    def __init__(self, name: str, case: Case | None = None) -> None:
        self.name = name
        found = case or CASES[name]
        self.evolution = evolution(found.versions, *found.more)
        (resource,) = self.evolution.resources
        self.part: Part = part_of(self.evolution, resource)
        self.hub = resource.versions.hub.text
        said = mentioned(self.evolution.all_changes, (), {})
        self.said = together(said, texts_of_others(self.part))
        self.documents = {
            version: list(covering(schema, schema.resources[0], self.said))
            for version, schema in self.part.versions.items()
        }
        self.hops = Hops(self.part)
        self.blueprint = Blueprint(self.evolution)
        self.right = self.outputs()
        self.seen: list[Any] = []

    @contextmanager
    def scheme(self) -> Iterator[Scheme]:
        """The package as it is generated now."""
        package = f"mutant_{next(_numbers)}"
        try:
            blueprint = Blueprint(self.evolution)
            files = generate_package(self.evolution, package=package, blueprint=blueprint)
            yield imported(package, files)
        finally:
            forget_packages({package})

    @cached_property
    def right_reads(self) -> list[Any]:
        """What all versions read where nothing is damaged."""
        with self.scheme() as scheme:
            return list(reads(scheme, self.documents))

    def outputs(self) -> list[Any]:
        """What the example documents come to."""
        with self.scheme() as scheme:
            return list(self.made(scheme))

    def made(self, scheme: Scheme) -> Iterator[Any]:
        """What is stored and read of each example, before and after another version has written over it."""
        versions = list(self.documents)
        for version, documents in self.documents.items():
            for number, data in enumerate(documents[:_EXAMPLES]):
                other = versions[(versions.index(version) + 1 + number) % len(versions)]
                yield from _tried(scheme, version, data, other, self.documents[other], number)

    def caught(self, scheme: Scheme) -> bool:
        """Whether the proof of any version has a finding."""
        return any(self.broken(scheme))

    def broken(self, scheme: Scheme) -> Iterator[str]:
        """The laws that the proofs of all versions find broken, as far as the first document with a finding of each."""
        subject = Subject(
            scheme,
            self.part.resource,
            hooks=bool(self.part.hooks),
            written=hooked_properties(self.evolution),
            renamed=renamed_properties(self.evolution),
            way=self.hops.way,
            hop=self.hops.hop,
            world=world_of(self.part, self.hub),
            declared=self.part.hooks,
        )
        for version in self.documents:
            proof = prove(
                subject,
                version,
                seed=1,
                examples=_DRAWN,
                covering=self.documents.__getitem__,
                rough=_Every(),
                brief=True,
            )
            yield from (each.law for each in proof.findings)

    def right_findings(self) -> set[str]:
        """The laws that are broken though nothing is damaged; there must be none for a mutant to be caught."""
        with self.scheme() as scheme:
            return set(self.broken(scheme))

    def fate(self) -> str:
        """What becomes of the project as it is damaged now."""
        try:
            with self.scheme() as scheme:
                if as_json(list(self.made(scheme))) == as_json(self.right):
                    return "same"
                if self.caught(scheme):
                    return "caught"
                self.seen = list(reads(scheme, self.documents))
                return "survived"
        except Exception:  # noqa: BLE001 - a plan that no code can be made of never gets out
            return "refused"

    def judged(self, fate: str) -> str:
        """A fate, with what changes stored bytes only distinguished; nothing may be damaged any more."""
        return "stored" if fate == "survived" and self.seen == self.right_reads else fate

    def mutants(self, every: int = 1) -> Iterator[Result]:
        """What becomes of each damaged plan, or of each so many."""
        number = itertools.count()
        for key, plan in list(self.blueprint.plans.items()):
            for each in damages(plan):
                if next(number) % every:
                    continue
                key.lineage.evolution.made[make_plan, (key,)] = each.plan
                try:
                    fate = self.fate()
                finally:
                    key.lineage.evolution.made[make_plan, (key,)] = plan
                where = f"{key.source} to {key.target}, {each.where}"
                yield Result(self.name, each.kind, where, self.judged(fate))


def _tried(
    scheme: Scheme, version: str, data: bytes, other: str, documents: Sequence[bytes], number: int
) -> Iterator[Any]:
    try:
        stored = scheme.convert_json(data, version=version)
        yield stored
        versions = list(scheme.resources["Thing"].versions)
        yield [scheme.convert_json(stored, each) for each in versions]
        yield [scheme.convert_json(data, each, version=version) for each in versions]
        edit = documents[(7 * number + 1) % len(documents)]
        for document in (scheme.convert_json(stored, other), edit):
            written = scheme.convert_json(document, None, stored, version=other)
            yield written
            yield [scheme.convert_json(written, each) for each in versions]
    except Exception as error:  # noqa: BLE001 - a conversion that fails is an output of its own
        yield type(error).__name__


def decided(projects: Sequence[Project]) -> Iterator[Result]:
    """What becomes of each wrong decision of the runtime: caught where any project's proof has a finding."""
    for name, patches in DECISIONS.items():
        fates = Counter[str]()
        survived = ""
        for project in projects:
            with _patched(patches):
                fate = project.fate()
            fate = project.judged(fate)
            fates[fate] += 1
            survived = project.name if fate == "survived" else survived
            if fate == "caught":
                break
        fate = next((each for each in ("caught", "survived", "stored") if fates[each]), "same")
        yield Result(survived, name, "runtime", fate)


@contextmanager
def _patched(patches: Sequence[tuple[Any, str, Any]]) -> Iterator[None]:
    """The runtime with some functions replaced, wherever they are known by name."""
    modules = [each for name, each in sys.modules.items() if name.startswith("trundle.runtime")]
    patchers = [
        mock.patch.object(module, name, value)
        for owner, name, value in patches
        for module in modules
        if getattr(module, name, None) is getattr(owner, name)
        and (module is owner or name in _EVERYWHERE)
    ]
    for each in patchers:
        each.start()
    try:
        yield
    finally:
        for each in patchers:
            each.stop()


def report(results: Sequence[Result]) -> str:
    """A table by kind of damage, and all survivors."""
    lines = ["| damage | mutants | change an output | caught | stored bytes only |"]
    lines.append("| --- | --- | --- | --- | --- |")
    kinds = sorted({each.kind for each in results})
    lines += [_row(kind, [each for each in results if each.kind == kind]) for kind in kinds]
    lines.append(_row("all", results))
    share = 100 * caught(results)
    lines += ["", f"caught of those that change what is read: {share:.1f} %"]
    unseen = [each for each in results if each.fate in _UNSEEN]
    lines += ["", *(f"{each.fate}: {' | '.join(each[:3])}" for each in unseen)]
    return "\n".join(lines)


def _row(name: str, results: Sequence[Result]) -> str:
    fates = Counter(each.fate for each in results)
    changed = fates["caught"] + fates["survived"] + fates["stored"]
    numbers = (fates.total(), changed, fates["caught"], fates["stored"])
    return f"| {name} | {' | '.join(map(str, numbers))} |"


def caught(results: Sequence[Result]) -> float:
    """The share that is caught of the mutants that change more than stored bytes."""
    fates = Counter(each.fate for each in results)
    changed = fates["caught"] + fates["survived"]
    return fates["caught"] / changed if changed else 1.0


def main(arguments: Sequence[str]) -> int:
    """Runs the mutants of some projects, or of all; the exit code says whether enough are caught.

    What becomes of the mutants of a project is written as soon as it is known, so that a run that is stopped has figures.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="try each of so many damaged plans")
    parser.add_argument("projects", nargs="*", metavar="PROJECT", help=f"of {', '.join(PROJECTS)}")
    chosen = parser.parse_args(arguments)
    if unknown := [each for each in chosen.projects if each not in CASES]:
        parser.error(f"there is no project {unknown[0]!r}")
    started = time.monotonic()
    projects: list[Project] = []
    results: list[Result] = []
    for name in chosen.projects or PROJECTS:
        project = Project(name)
        if laws := project.right_findings():
            sys.stderr.write(f"{name}: broken though undamaged: {', '.join(sorted(laws))}\n")
            return 1
        projects.append(project)
        results += _noted(name, list(project.mutants(chosen.every)), started)
    results += _noted("runtime", list(decided(projects)), started)
    sys.stdout.write(f"{report(results)}\n")
    return int(caught(results) < _ENOUGH)


def _noted(name: str, results: Sequence[Result], started: float) -> Sequence[Result]:
    fates = Counter(each.fate for each in results)
    numbers = ", ".join(f"{count} {fate}" for fate, count in sorted(fates.items()))
    sys.stderr.write(f"{name}: {numbers}; {time.monotonic() - started:.0f} s so far\n")
    for each in results:
        if each.fate in _UNSEEN:
            sys.stderr.write(f"  {each.fate}: {each.kind} | {each.where}\n")
    sys.stderr.flush()
    return results


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
