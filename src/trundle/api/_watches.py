"""Watches: what is there first, then each change once, as JSON lines."""

import asyncio
import time
from collections.abc import AsyncIterator

import msgspec

from trundle.api._feeds import Feed
from trundle.api._representations import Representation
from trundle.api._requests import Request
from trundle.api._resources import Resources
from trundle.api._selections import FieldSelector, SelectedObjects
from trundle.store import LabelSelector, ObjectChoice, Page, StoredObject

_BOOKMARK_AFTER = 60
"""After how many quiet seconds a watcher that wants bookmarks gets one."""

_NAMES = {"added": "ADDED", "modified": "MODIFIED", "deleted": "DELETED"}
_INITIAL_END = {"k8s.io/initial-events-end": "true"}


async def events(
    request: Request,
    resources: Resources,
    feed: Feed,
    fields: FieldSelector,
    labels: LabelSelector,
    shown: Representation,
    seconds: float,
) -> AsyncIterator[bytes]:
    """The events of a watch as JSON; empty from time to time, so that the watch can be ended.

    Args:
        request: the request.
        resources: reads objects.
        feed: gives the changes of the resource type.
        fields: chooses objects.
        labels: chooses objects.
        shown: the form that the client wants objects in.
        seconds: how long it goes on after it has given what is there, which it gives whole, however long that takes.

    Raises:
        TrundleError: the store cannot go on; `GoneError` where the client has to list again.
    """
    target = request.target
    kind, served = target.kind, target.served
    after, begins = await _beginning(request, resources)
    bookmarks = request.flag("allowWatchBookmarks")
    namespace = target.namespace or fields.exact("metadata.namespace")
    choice = ObjectChoice(namespace or None, fields.exact("metadata.name"), labels)

    def show(found: StoredObject) -> bytes:
        return resources.views.watched(found, kind, served)

    def chosen(found: StoredObject) -> bool:
        return choice.has(found) and fields.matches(found, show)

    if begins:
        first = SelectedObjects(resources.views, target, fields)
        async for page in _pages(resources, kind.resource, choice, after):
            for each in page.objects:
                if first.is_chosen(each):
                    yield _event("ADDED", shown.one(first.taken(each), target))
            after = page.resource_version
        if bookmarks:
            yield _bookmark(request, shown, after, initial=True)
    until = time.monotonic() + seconds
    quiet = 0
    async for reached, seen, change in feed.watch(after, chosen):
        if seen is not None and change is not None:
            quiet = 0
            document = seen.shown(change, resources.views, kind, served)
            yield _event(_NAMES[change.kind], shown.one(document, target))
        elif bookmarks and quiet >= _BOOKMARK_AFTER:
            quiet = 0
            yield _bookmark(request, shown, reached, initial=False)
        else:
            quiet += 1
            yield b""
        if time.monotonic() > until:
            return


async def _beginning(request: Request, resources: Resources) -> tuple[int, bool]:
    """The resource version that a watch goes on from, and whether it gives what is there at that first."""
    after = request.number("resourceVersion") or 0
    streamed = request.flag("sendInitialEvents")
    if not after and not streamed and "sendInitialEvents" in request.query:
        after = await asyncio.to_thread(resources.store.newest, request.target.kind.resource)
    return after, streamed or not after


async def _pages(
    resources: Resources, resource: str, choice: ObjectChoice, since: int
) -> AsyncIterator[Page]:
    """What is there when a watch begins."""
    token = ""
    while True:
        page = await asyncio.to_thread(
            resources.store.list,
            resource,
            namespace=choice.namespace,
            name=choice.name,
            labels=choice.labels,
            token=token,
            since=since,
        )
        yield page
        token = page.token
        if not token:
            return


def _event(type_: str, document: bytes) -> bytes:
    return msgspec.json.encode({"type": type_, "object": msgspec.Raw(document)})


def _bookmark(request: Request, shown: Representation, reached: int, *, initial: bool) -> bytes:
    """A bookmark, in the form that the client wants objects in: clients of metadata know no other."""
    target = request.target
    metadata = {
        "resourceVersion": str(reached),
        **({"annotations": _INITIAL_END} if initial else {}),
    }
    document = {
        "kind": target.kind.kind,
        "apiVersion": target.kind.api_version(target.served),
        "metadata": metadata,
    }
    return _event("BOOKMARK", shown.one(msgspec.json.encode(document), target))
