"""Traces the conversion of one document, for `trundle convert --trace`."""

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from trundle.cli._failures import unmet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trundle.evolution import Evolution, ResourceLineage, Shape
    from trundle.report import Leg, Trace
    from trundle.runtime import AnyScheme, Lenience


class Request(NamedTuple):
    """A conversion that succeeded, to be traced.

    Attributes:
        evolution: the project's.
        scheme: the generated package's, which stores objects as their hub.
        document: the document.
        to: the API version that was asked for; None for what a store keeps.
        base: what the store kept before; None where nothing was written over.
        version: the document's version, where that does not say.
        resource: its resource type, where it does not say.
        lenience: what was tolerated.
        stored_as: storage versions in place of hubs, by resource type.
    """

    evolution: "Evolution"
    scheme: "AnyScheme"
    document: bytes
    to: str | None
    base: bytes | None
    version: str | None
    resource: str | None
    lenience: "Lenience"
    stored_as: dict[str, str]


def traced(request: Request) -> "Trace":
    """The trace of a conversion, by way of the hub's storage shape, which is the reference for all ways."""
    from trundle.report import trace  # noqa: PLC0415

    resource = _resource(request)
    return trace(resource.name, [*_legs(request, resource)])


def _resource(request: Request) -> "ResourceLineage":
    """The resource type of the document."""
    from trundle.report import ReportError, find_resource  # noqa: PLC0415

    document = json.loads(request.document)
    name = request.resource or document.get("kind") or document.get("type")
    if not isinstance(name, str) or ("items" in document and name.endswith("List")):
        found = f"a list ({name})"
        raise unmet("", "one document with --trace", found, "pass one of its items")
    group, _, _ = str(document.get("apiVersion", "")).rpartition("/")
    try:
        return find_resource(request.evolution, f"{group}/{name}")
    except ReportError:
        return find_resource(request.evolution, name)


def _legs(request: Request, resource: "ResourceLineage") -> "Iterator[Leg]":
    """The conversions that lead from the document to the output."""
    from trundle.evolution import Shape  # noqa: PLC0415
    from trundle.runtime import WRITTEN_WITH  # noqa: PLC0415

    document = json.loads(request.document)
    stored = WRITTEN_WITH in document
    own = _version(request.version or document["apiVersion"])
    hub = Shape("storage", resource.versions.hub)
    source = Shape("storage" if stored else "api", own)
    kept = {name.casefold(): version for name, version in request.stored_as.items()}
    chosen = kept.get(resource.name.casefold())
    target = Shape("storage", hub.version if chosen is None else _version(chosen))
    if request.to is not None:
        target = Shape("api", _version(request.to))
    if source == target and request.base is None:
        yield _leg(request, resource, source, target, document, document)
        return
    now = document
    if source != hub:
        base = None if stored or request.base is None else json.loads(request.base)
        held = _converted(request, now, None, base)
        if base is not None:
            held = _converted(request, held, None, None)
        yield _leg(request, resource, source, hub, now, held, base)
        now = held
    if hub != target or source == hub:
        there = _converted(request, now, target, None)
        yield _leg(request, resource, hub, target, now, there)


def _leg(
    request: Request,
    resource: "ResourceLineage",
    source: "Shape",
    target: "Shape",
    before: Any,
    after: Any,
    base: Any = None,
) -> "Leg":
    from trundle.report import Leg  # noqa: PLC0415

    def repeat(document: Any) -> Any:
        return _converted(request, document, target, None)

    held = None if base is None else _converted(request, base, None, None)
    return Leg(resource.root, source, target, before, after, repeat, held)


def _converted(request: Request, document: Any, target: "Shape | None", base: Any) -> Any:
    """A document as the hub's storage shape, or as a target; `UNSET` where it cannot be converted."""
    import msgspec  # noqa: PLC0415

    from trundle.runtime import WRITTEN_WITH  # noqa: PLC0415

    scheme, to = request.scheme, None
    if target is not None and target.kind == "api":
        to = str(target.version)
    elif target is not None and request.stored_as:
        scheme = scheme.storing(request.stored_as)
    stored = WRITTEN_WITH in document
    outcome = scheme.attempt(
        document,
        to,
        base,
        version=None if stored else request.version,
        resource=request.resource,
        lenience=request.lenience,
    )
    return msgspec.UNSET if outcome.error is not None else outcome.result


def _version(text: str) -> Any:
    from trundle.version import ApiVersion  # noqa: PLC0415

    return ApiVersion.parse(text.rpartition("/")[2])
