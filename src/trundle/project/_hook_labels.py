"""Which labels and annotations hooks may name: one method writes each, and its versions read it."""

from collections.abc import Iterator, Sequence

from trundle.errors import Finding
from trundle.evolution import (
    METADATA,
    Evolution,
    HookDeclaration,
    HookReference,
    Lineage,
    hooks_among,
    label_of,
)
from trundle.project.findings import ProjectCode, finding

_Problem = tuple[HookReference, Finding]


def without_unfit_labels(
    declarations: Sequence[HookDeclaration], evolution: Evolution
) -> tuple[tuple[HookDeclaration, ...], tuple[_Problem, ...]]:
    """The hooks whose labels and annotations can be followed, and what is wrong with the others.

    Args:
        declarations: the hooks.
        evolution: the versions under the configured changes.
    """
    names = (name for each in declarations for one in each.assign.values() for name in one.writes)
    reads = (name for each in declarations for one in each.assign.values() for name in one.reads)
    if all(label_of(name) is None for name in (*names, *reads)):
        return tuple(declarations), ()
    hooked = Evolution(evolution.schemas, evolution.all_changes, tuple(declarations))
    problems = [
        problem
        for each in hooked.resources
        for problem in (*_written_twice(each.root), *_read_elsewhere(each.root))
    ]
    wrong = {reference for reference, _ in problems}
    return tuple(each for each in declarations if each.reference not in wrong), tuple(problems)


def _written_twice(root: Lineage) -> Iterator[_Problem]:
    first: dict[str, str] = {}
    for each in hooks_among(root):
        for method, declared in sorted(each.assign.items()):
            spoken = f"{each.reference.use}.{method} between {each.reference.older} and {each.reference.newer}"
            for name in declared.writes:
                label = label_of(name)
                other = first.setdefault(name, spoken)
                if label is not None and other != spoken:
                    found = f"{spoken} writes {label.declared!r}, which {other} writes, too"
                    advice = "let one method write it, for all versions on its side of the pair"
                    yield each.reference, _finding(each.reference, found, advice)


def _read_elsewhere(root: Lineage) -> Iterator[_Problem]:
    for each in hooks_among(root):
        sources = {"assign_to": each.reference.older, "assign_from": each.reference.newer}
        for method, declared in sorted(each.assign.items()):
            version = sources[method]
            for name in declared.reads:
                label = label_of(name)
                if label is not None and name not in root.labels.get(version, ()):
                    spoken = f"{each.reference.use}.{method}"
                    found = f"{spoken} reads {label.declared!r}, which no hook writes for {version}"
                    advice = f"read {METADATA!r}, and take it from there"
                    yield each.reference, _finding(each.reference, found, advice)


def _finding(reference: HookReference, found: str, advice: str) -> Finding:
    return finding(ProjectCode.HOOK, reference.where, found, advice)
