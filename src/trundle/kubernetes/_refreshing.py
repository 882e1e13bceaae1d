"""Has API servers read an object anew: their caches let go what they remember of it only when it is written."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from trundle.api import ServedKind
from trundle.kubernetes._cluster import CONFLICT, MISSING, Cluster, RequestError

_Made = TypeVar("_Made")


def refresh(
    cluster: Cluster,
    kind: ServedKind,
    found: dict[str, Any],
    labels: Iterable[str],
    mark: tuple[str, str],
) -> None:
    """Writes an object that stays as it is, for the caches of all API servers.

    Args:
        cluster: where it is.
        kind: its resource type.
        found: the object.
        labels: the versions to write it at; the best one first.
        mark: the annotation that it has for a moment, with its value.

    Raises:
        RequestError: it cannot be written.
    """
    versions = tuple(labels)
    try:
        at_first_that_can(versions, partial(touch, cluster, kind, found, mark))
    except RequestError as refused:
        try:
            at_first_that_can(versions, partial(_replace, cluster, kind, found, mark))
        except RequestError:
            raise refused from None  # A merge leaves most as it is, so it is what should work.


def touch(
    cluster: Cluster, kind: ServedKind, found: dict[str, Any], mark: tuple[str, str], label: str
) -> None:
    """Merges an annotation into an object, and takes it away again.

    Raises:
        RequestError: it was refused.
    """
    name, value = mark
    for each in (value, None):
        cluster.merge(kind, label, found, {"metadata": {"annotations": {name: each}}})


def _replace(
    cluster: Cluster, kind: ServedKind, found: dict[str, Any], mark: tuple[str, str], label: str
) -> None:
    """The same where the API server remembers less of an object than its version requires: all of it is written, and its owners stay.

    Raises:
        RequestError: it was refused.
    """
    shown = cluster.object(kind, label, found)
    if shown is None:
        return
    metadata = shown["metadata"]
    annotations, owners = metadata.get("annotations") or {}, metadata.get("managedFields")
    version = metadata["resourceVersion"]
    try:
        for each in ({**annotations, mark[0]: mark[1]}, annotations):
            given = {
                **metadata,
                "annotations": each,
                "managedFields": owners,
                "resourceVersion": version,
            }
            made = cluster.replace(kind, label, {**shown, "metadata": given})
            version = made["metadata"]["resourceVersion"]
    except RequestError as error:
        if error.status not in {CONFLICT, MISSING}:
            raise
        # Another client wrote it meanwhile, for which the caches waited, and may have read it with the mark.
        cluster.merge(kind, label, found, {"metadata": {"annotations": {mark[0]: None}}})


def at_first_that_can(labels: Iterable[str], write: Callable[[str], _Made]) -> _Made:
    """What is made by writing at the first version that can.

    Args:
        labels: the versions, one at least.
        write: writes at a version.

    Raises:
        RequestError: none can; the error of the first one.
    """
    failed = None
    for each in labels:
        try:
            return write(each)
        except RequestError as error:
            failed = failed or error
    assert failed is not None
    raise failed
