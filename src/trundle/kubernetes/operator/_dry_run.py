"""Tries the objects of a release in the cluster before anything of it is written, as far as the API server can say by then."""

import re
from collections.abc import Collection, Sequence

from trundle.errors import Kind, TrundleError
from trundle.kubernetes._cluster import BUSY, MISSING, ClusterError, RequestError
from trundle.kubernetes._errors import DefinitionError
from trundle.kubernetes.operator._objects import Objects, OwnedError
from trundle.kubernetes.operator._ordering import DEFINITION, Part, ordered

FORBIDDEN = 403


class RejectedError(TrundleError):
    """Objects of a release that the cluster does not take; nothing of them was written.

    Attributes:
        errors: why, for each of them.
        words: what was applied all the same.
        findings: the same.
    """

    kind = Kind.REFUSED

    def __init__(
        self,
        errors: Sequence[ClusterError | DefinitionError],
        words: str,
    ) -> None:
        self.errors = tuple(errors)
        self.words = words
        if all(isinstance(each, OwnedError) for each in errors):
            self.kind = Kind.CONFLICT
        self.findings = tuple(finding for each in errors for finding in each.findings)
        super().__init__("\n".join([*map(str, errors), words]))


def attempt(
    objects: Objects,
    wanted: Sequence[Part],
    brought: Collection[tuple[str, str]] = (),
    *,
    force: bool = False,
    among: Sequence[Part] = (),
) -> list[Part]:
    """Makes sure that the cluster takes the objects of a release, by dry runs on the server's side; those that could not be tried.

    Not tried are objects of kinds that come with the release, unless their CRD is in the cluster as the release has it; and it is no reason that something is
    missing which comes with the release, such as a namespace.

    Args:
        objects: the objects of the cluster.
        wanted: the objects to try.
        brought: the group and the kind of what comes with the release besides.
        force: whether fields that others own are taken over.
        among: all objects of the release, where its namespaces and CRDs were applied already.

    Raises:
        RejectedError: it does not take some of them.
        ClusterError: the cluster cannot be asked.
    """
    untried = set(brought)
    refused: list[ClusterError | DefinitionError] = []
    left: list[Part] = []
    for each in ordered(wanted):
        if (each.group, each.kind) in untried:
            left.append(each)
            continue
        try:
            tried = objects.attempt(each, force=force)
            if each.kind == DEFINITION and _changes(objects, each, tried):
                untried.add(_kind_of(each))
        except RequestError as error:
            if error.status in BUSY:
                raise
            if lacks(error, each, among or wanted):
                left.append(each)
            else:
                refused.append(error)
        except (OwnedError, DefinitionError) as error:
            refused.append(error)
        if each.kind == DEFINITION and refused and refused[-1].where == str(each):
            untried.add(_kind_of(each))
    if refused:
        words = "only namespaces and CRDs were applied" if among else "nothing was applied"
        raise RejectedError(refused, words)
    return left


def _changes(objects: Objects, definition: Part, tried: dict[str, object]) -> bool:
    """Whether a CRD is not in the cluster as a release has it."""
    found = objects.get(definition)
    return found is None or found.get("spec") != tried.get("spec")


def _kind_of(definition: Part) -> tuple[str, str]:
    """The group and the kind that a CRD brings; empty where it does not say so."""
    spec = definition.document.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    names = spec.get("names")
    kind = names.get("kind") if isinstance(names, dict) else ""
    return str(spec.get("group", "")), str(kind)


def lacks(error: RequestError, part: Part, wanted: Sequence[Part]) -> bool:
    """Whether an object is refused only since another one of the release is not there yet: its namespace, role, account or class."""
    if error.status not in {MISSING, FORBIDDEN} or "found" not in error.found:
        return False
    words = set(re.split(r'[\s"/]+', error.found))
    return any(each.name in words for each in wanted if each.identity != part.identity)
