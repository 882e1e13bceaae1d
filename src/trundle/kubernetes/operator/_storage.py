"""Whether a cluster can read what it stores of a resource type, once a release has changed the CRD."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from trundle.api import ServedKind
from trundle.errors import Finding, Place
from trundle.kubernetes._definitions import STORAGE
from trundle.kubernetes._errors import KubernetesCode
from trundle.kubernetes.operator._objects import Objects
from trundle.kubernetes.operator._ordering import DEFINITION, Part
from trundle.kubernetes.operator._serving import Served


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


def unread(
    served: Served, readable: Mapping[str, Collection[str]], has_objects: Callable[[str], bool]
) -> Iterator[Finding]:
    """Why a release cannot read what is stored of resource types, inside of the version of the CRDs that all objects are stored at.

    Args:
        served: what is stored, and what is stored from now on.
        readable: the storage versions that the release can read, by resource type.
        has_objects: whether a CRD has any objects.
    """
    for name, versions in served.shapes.items():
        able = readable.get(name, ())
        gone = [each for each in versions if each not in able]
        crd = served.crds.get(name, name)
        place = Place(object=f"{DEFINITION} {crd}")
        if not gone or (not able and not has_objects(crd)):
            continue
        if not able:
            expected, found = "a release that has the resource type of its objects", "none"
            advice = "delete its objects, or stay with this release"
            yield Finding(KubernetesCode.UNREADABLE, place, expected, found, advice)
        elif served.stored.get(name) in able:
            expected = f"no object stored in {', '.join(gone)}"
            found = "some, which are being rewritten"
            advice = "wait; the condition Migrated says how far it is"
            yield Finding(KubernetesCode.UNMIGRATED, place, expected, found, advice)
        else:
            expected = f"a release that reads objects stored in {', '.join(gone)}"
            advice = "install a release in between that reads both"
            found = f"one that reads {', '.join(able)}"
            yield Finding(KubernetesCode.UNREADABLE, place, expected, found, advice)


def unknown_versions(
    crd: Mapping[str, Any], kind: ServedKind, going: Collection[str]
) -> Iterator[Finding]:
    """The versions of a CRD that a release cannot convert, and that may not leave it yet.

    Args:
        crd: the CRD of the cluster.
        kind: the resource type, with all versions that the release converts.
        going: the versions that may leave, as far as they are out of service.
    """
    place = Place(object=f"{DEFINITION} {kind.qualified}")
    for each in crd["spec"]["versions"]:
        name = each["name"]
        if name in {STORAGE, *kind.versions} or (name in going and not each["served"]):
            continue
        found = "one that does not know it"
        if each["served"]:
            expected = f"a release that still converts {name}, which is served"
            advice = f"install a release in between that has {name} and no longer serves it"
            yield Finding(KubernetesCode.UNREADABLE, place, expected, found, advice)
        else:
            expected = f"a release that still converts {name} until objects are rewritten"
            advice = "wait; the condition Migrated says how far it is"
            yield Finding(KubernetesCode.UNMIGRATED, place, expected, found, advice)
