"""Whether a cluster can read what it stores of a resource type, once a release has changed the CRD."""

from collections.abc import Iterable, Iterator

from trundle.errors import Finding, Place
from trundle.kubernetes._errors import KubernetesCode
from trundle.kubernetes.operator._objects import Objects
from trundle.kubernetes.operator._ordering import DEFINITION, Part


def unreadable(objects: Objects, wanted: Iterable[Part]) -> Iterator[Finding]:
    """Why the CRDs of a release may not be applied: versions that are stored, and that they no longer have.

    Args:
        objects: the objects of the cluster.
        wanted: all objects of the release.
    """
    for part in wanted:
        found = objects.get(part) if part.kind == DEFINITION else None
        if found is None:
            continue
        stored = (found.get("status") or {}).get("storedVersions") or []
        names = {each["name"] for each in part.document["spec"]["versions"]}
        present = next(each["name"] for each in found["spec"]["versions"] if each["storage"])
        gone = [each for each in stored if each not in names]
        place = Place(object=str(part))
        if present not in names:
            expected = f"the version {present}, which is stored, to be among its versions"
            advice = "install a release in between that has both, and migrate the objects"
            shown = ", ".join(sorted(names))
            yield Finding(KubernetesCode.UNREADABLE, place, expected, shown, advice)
        elif gone:
            expected = f"no object stored as {', '.join(gone)}"
            advice = "migrate its objects: storedVersions must no longer name it"
            shown = f"storedVersions {', '.join(stored)}"
            yield Finding(KubernetesCode.UNMIGRATED, place, expected, shown, advice)
