"""What is served for a release that comes after another one, or takes CRDs of other installations over."""

from collections.abc import Mapping
from dataclasses import replace

import msgspec

from trundle.api import ServedKind
from trundle.installation import InstalledPackage
from trundle.kubernetes.operator._schemas import Schemas
from trundle.kubernetes.operator._serving import Served


def joined(own: Served | None, others: Mapping[str, Served]) -> Served | None:
    """What is stored before a release follows; None where nothing is known of it.

    Args:
        own: what the installation serves; None for nothing.
        others: what other installations serve that have the CRDs of resource types now, by resource type; they know what is stored of these.
    """
    found = None if own is None else _settled(own)
    for name, other in others.items():
        crd, each = other.crds[name], _settled(other)
        found = found or Served(owner="", package="", digest="", crds={}, hubs={})
        found = msgspec.structs.replace(
            found,
            crds=found.crds | {name: crd},
            hubs=found.hubs | {name: each.stored[name]},
            storing={key: value for key, value in found.storing.items() if key != name},
            shapes=_with(found.shapes, name, each.shapes),
            going=_with(found.going, crd, each.going),
            unserved=_with(found.unserved, crd, each.unserved),
            turns=max(found.turns, each.turns),
        )
    return found


def is_followed(
    served: Served, schemas: Schemas, before: Served | None, others: Mapping[str, Served]
) -> bool:
    """Whether a release follows all that is stored already.

    Args:
        served: what is served.
        schemas: those of the release.
        before: what `joined` has found.
        others: the other installations that it was found for.
    """
    if served.digest != schemas.digest:
        return False
    if before is None or not others:
        return True
    # Until the CRDs are taken over, the other ones may store anew.
    return (
        not served.applied
        and all(_has(served.shapes, name, shapes) for name, shapes in before.shapes.items())
        and all(_has(before.going, crd, labels) for crd, labels in served.going.items())
    )


def following(
    owner: str, package: InstalledPackage, schemas: Schemas, before: Served | None
) -> Served:
    """What is served for a release, as long as not every webhook is known to read what it stores.

    Args:
        owner: the installation.
        package: what is installed.
        schemas: those of the release.
        before: what `joined` has found; None for nothing.
    """
    found = Served(
        owner=owner,
        package=package.name,
        digest=schemas.digest,
        crds=schemas.crds,
        hubs=schemas.hubs,
    )
    if before is None:
        return msgspec.structs.replace(found, shapes={k: [v] for k, v in found.hubs.items()})
    storing = {
        name: before.stored[name]
        for name, hub in found.hubs.items()
        if before.stored.get(name, hub) != hub
    }
    stored = found.hubs | storing
    return msgspec.structs.replace(
        found,
        storing=storing,
        shapes=_with_shapes({k: v for k, v in before.shapes.items() if k in stored}, stored),
        going=_without_served(before.going, schemas),
        unserved=_without_served(before.unserved, schemas),
        turns=before.turns + 1,
    )


def storing_own(served: Served) -> Served:
    """What is served once every webhook reads what the release stores."""
    shapes = _with_shapes(served.shapes, served.hubs)
    return msgspec.structs.replace(served, storing={}, shapes=shapes)


def turned(served: Served, schemas: Schemas, target: Schemas | None) -> Served:
    """What is served so that an earlier release can follow: its shapes are stored, and what it does not know goes out of service.

    Args:
        served: what is served.
        schemas: those of the present release.
        target: those of the earlier release; None where the present one stays.
    """
    storing: dict[str, str] = {}
    withdrawn: dict[str, list[str]] = {}
    if target is not None:
        readable, known = schemas.readable, {each.qualified: each for each in target.known}
        storing = {
            name: hub
            for name, hub in target.hubs.items()
            if hub in readable.get(name, ()) and hub != served.hubs.get(name)
        }
        withdrawn = {
            each.qualified: sorted(each.versions.keys() - known[each.qualified].versions.keys())
            for each in schemas.known
            if each.qualified in known
        }
    return msgspec.structs.replace(
        served,
        storing=storing,
        shapes=_with_shapes(served.shapes, served.hubs | storing),
        applied=False,
        toward="" if target is None else target.digest,
        withdrawn=withdrawn,
        migrated=None,
        turns=served.turns + 1,
    )


def kinds_in_service(served: Served, schemas: Schemas) -> tuple[ServedKind, ...]:
    """The resource types with the versions that stay in service."""
    found = []
    for each in schemas.kinds:
        gone = served.withdrawn.get(each.qualified, [])
        staying = {label: version for label, version in each.versions.items() if label not in gone}
        found.append(replace(each, versions=staying) if staying else each)
    return tuple(found)


def _with_shapes(
    shapes: Mapping[str, list[str]], stored: Mapping[str, str]
) -> dict[str, list[str]]:
    """The storage versions of objects, once some are stored."""
    return {
        name: sorted({*shapes.get(name, []), *([stored[name]] if name in stored else [])})
        for name in {*shapes, *stored}
    }


def _settled(served: Served) -> Served:
    """What is served, with the versions of CRDs that may leave with the next release: those that were out of service with this one, and are rewritten."""
    if served.migrated is None:
        return served
    names = {*served.going, *served.unserved}
    going = {
        each: sorted({*served.going.get(each, []), *served.unserved.get(each, [])})
        for each in names
    }
    return msgspec.structs.replace(served, going=going, unserved={}, migrated=None)


def _has(lists: Mapping[str, list[str]], name: str, items: list[str]) -> bool:
    return set(items) <= set(lists.get(name, ()))


def _with(
    lists: Mapping[str, list[str]], name: str, others: Mapping[str, list[str]]
) -> dict[str, list[str]]:
    """Some lists, with what others have under a name."""
    kept = {key: items for key, items in lists.items() if key != name}
    return kept | ({name: others[name]} if name in others else {})


def _without_served(labels: Mapping[str, list[str]], schemas: Schemas) -> dict[str, list[str]]:
    """Versions of CRDs without those that a release serves, which have to go out of service anew before they leave."""
    served = {each.qualified: each.versions for each in schemas.kinds}
    kept = {crd: [e for e in each if e not in served.get(crd, ())] for crd, each in labels.items()}
    return {crd: each for crd, each in kept.items() if each}
