"""The page Objects: lists that follow changes, one object at several versions, and what storage keeps of it."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from trundle.api import ServedKind, ServedVersion
from trundle.dashboard._api_client import JSON, ApiClient, ApiRefusedError, object_path
from trundle.dashboard._frame import Frame, address
from trundle.dashboard._nodes import Path
from trundle.dashboard._same_properties import counterpart
from trundle.dashboard._side_by_side import Counterpart, side_by_side
from trundle.dashboard._stored import bag_values
from trundle.store import Key, Store
from trundle.version import ApiVersion

_TABLE = f"{JSON};as=Table;v=v1;g=meta.k8s.io"
_AT_ONCE = 50
"""How many objects a list shows."""
_BESIDE = 3
"""How many versions are shown beside each other."""
_GONE = 410
_PAUSE = 1.0
"""After how many seconds a browser hears of the next change at the soonest."""


class Addressed(NamedTuple):
    """What an address names.

    Attributes:
        kind: the resource type.
        served: the versions; the preferred one where it names none.
        namespace: the namespace; empty for all of them, or where there are none.
        name: the object; empty for all of them.
    """

    kind: ServedKind
    served: tuple[ServedVersion, ...]
    namespace: str
    name: str

    @property
    def path(self) -> str:
        """The path of the API, at the first version."""
        return object_path(
            self.kind.group, self.served[0].label, self.namespace, self.kind.plural, self.name
        )

    def address(self, page: str, **parameters: Any) -> str:
        """An address of a page about it."""
        given = {
            "of": self.kind.group,
            "type": self.kind.plural,
            "v": [each.label for each in self.served],
            "namespace": self.namespace or None,
            "name": self.name or None,
            **parameters,
        }
        return address(f"/ui/objects/{page}", **given)


class Listed(NamedTuple):
    """A page of a list.

    Attributes:
        headings: what its columns are called.
        rows: the objects, with the cells of each.
        token: gives the next page; empty where this is the last one.
        resource_version: the moment that it shows.
        remaining: how many objects follow; None where that is not known.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[Addressed, tuple[Any, ...]], ...]
    token: str = ""
    resource_version: str = ""
    remaining: int | None = None


class ServedKinds:
    """The resource types of a server, as addresses name them.

    Args:
        kinds: the resource types.
    """

    def __init__(self, kinds: Iterable[ServedKind]) -> None:
        self._kinds = {(each.group, each.plural): each for each in kinds}

    def __iter__(self) -> Iterator[ServedKind]:
        return iter(sorted(self._kinds.values(), key=lambda each: (each.kind, each.group)))

    def asked(self, given: Mapping[str, Any], versions: Iterable[str]) -> Addressed:
        """What parameters name.

        Raises:
            ApiRefusedError: there is no such resource type, or no such version of it.
        """
        group, plural = str(given.get("of", "")), str(given.get("type", ""))
        kind = self._kinds.get((group, plural))
        if kind is None:
            known = ", ".join(each.qualified for each in self) or "nothing"
            wanted = f"{plural}.{group}" if group else plural
            raise ApiRefusedError(404, f"The server has no {wanted!r}. It serves {known}.")
        labels = [*dict.fromkeys(versions)] or [next(iter(kind.versions))]
        for each in labels:
            if each not in kind.versions:
                known = ", ".join(kind.versions)
                raise ApiRefusedError(404, f"{kind.kind} has no version {each!r}, but {known}.")
        served = tuple(kind.versions[each] for each in labels[-_BESIDE:])
        namespace = str(given.get("namespace", "")).strip() if kind.namespaced else ""
        return Addressed(kind, served, namespace, str(given.get("name", "")).strip())


class Objects:
    """Answers what is asked about objects.

    Args:
        kinds: the resource types.
        store: keeps the objects.
        client: asks the API.
        frame: makes pages.
    """

    def __init__(self, kinds: ServedKinds, store: Store, client: ApiClient, frame: Frame) -> None:
        self._kinds = kinds
        self._store = store
        self._client = client
        self._frame = frame

    async def types(self, request: Request) -> Response:
        """The resource types of which there can be objects."""
        return self._frame.shown(request, "objects.html", {"kinds": [*self._kinds]})

    async def listed(self, request: Request) -> Response:
        """Objects of a resource type, at a version, those that filters choose."""
        asked = self._of(request)._replace(name="")
        given = request.query_params
        labels, called = given.get("labels", "").strip(), given.get("called", "").strip()
        at = given.get("continue", "")
        query = {
            "limit": str(_AT_ONCE),
            "continue": at,
            "labelSelector": labels,
            "fieldSelector": f"metadata.name={called}" if called else "",
        }
        page = Listed((), ())
        refusal: ApiRefusedError | None = None
        try:
            answer = await self._client.ask(request, "GET", asked.path, query=query, accept=_TABLE)
            page = _listed(asked, answer.value)
        except ApiRefusedError as error:
            refusal = error
        filters = {"labels": labels or None, "called": called or None}
        following = asked.address("list", **{"continue": page.token}, **filters)
        values = {
            "asked": asked,
            "labels": labels,
            "called": called,
            "page": page,
            "refusal": refusal,
            "following": following if page.token else "",
            "beginning": asked.address("list", **filters) if at else "",
            "live": "" if at else asked.address("changes", labels=filters["labels"]),
        }
        code = 200 if refusal is None else refusal.code
        return self._frame.shown(request, "objects_list.html", values, code)

    async def changes(self, request: Request) -> Response:
        """Says to a browser when what a list shows has changed, at most once in a second (server-sent events)."""
        asked = self._of(request)._replace(name="")
        query = {
            "watch": "true",
            "resourceVersion": request.query_params.get("from", ""),
            "labelSelector": request.query_params.get("labels", ""),
        }
        lines = self._client.lines(request, asked.path, query)
        return StreamingResponse(_announced(lines), media_type="text/event-stream")

    async def shown(self, request: Request) -> Response:
        """One object at up to three versions beside each other, and what storage keeps of it."""
        asked = self._of(request)
        labels = [each.label for each in asked.served]
        query = {"versions": ",".join(labels)}
        answer = await self._client.ask(request, "GET", asked.path, query=query)
        views = answer.value["items"]
        documents = [None if each["kind"] == "Status" else each for each in views]
        refused = {
            label: each["message"]
            for label, each in zip(labels, views, strict=True)
            if each["kind"] == "Status"
        }
        key = Key(asked.kind.resource, asked.namespace, asked.name)
        stored = await run_in_threadpool(self._store.find, key)
        bag = (
            await run_in_threadpool(bag_values, self._store.scheme, asked.kind, stored)
            if stored is not None
            else ()
        )
        first: Mapping[str, Any] = next(
            (each for each in documents if each is not None), {"metadata": {}}
        )
        values = {
            "asked": asked,
            "labels": labels,
            "refused": refused,
            "rows": side_by_side(documents, _counterpart(asked)),
            "metadata": first["metadata"],
            "stored": stored,
            "bag": bag,
            "toggled": {each: _toggled(asked, each) for each in asked.kind.versions},
        }
        return self._frame.shown(request, "object.html", values)

    def _of(self, request: Request) -> Addressed:
        given = request.query_params
        return self._kinds.asked(given, given.getlist("v"))


def _listed(asked: Addressed, table: Any) -> Listed:
    rows = []
    for each in table["rows"]:
        metadata = each["object"]["metadata"]
        one = asked._replace(name=metadata["name"], namespace=metadata.get("namespace", ""))
        rows.append((one, tuple("" if cell is None else cell for cell in each["cells"])))
    headings = tuple(each["name"] for each in table["columnDefinitions"])
    metadata = table["metadata"]
    return Listed(
        headings,
        tuple(rows),
        metadata.get("continue", ""),
        metadata["resourceVersion"],
        metadata.get("remainingItemCount"),
    )


def _counterpart(asked: Addressed) -> Counterpart:
    """What is the same value at two of the versions that are asked for."""
    versions = [ApiVersion.parse(each.version) for each in asked.served]
    root = asked.kind.lineage

    def found(source: int, target: int, path: Path) -> Path | None:
        return counterpart(root, versions[source], versions[target], path)

    return found


def _toggled(asked: Addressed, label: str) -> str:
    """The address after a click on a version: it is shown beside the others, or no longer."""
    labels = [each.label for each in asked.served]
    if label not in labels:
        after = [*labels, label][-_BESIDE:]
    else:
        after = [each for each in labels if each != label]
    return asked.address("one", v=after)


async def _announced(lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Events for a browser: `changed` after changes, and `expired` where the watch has to begin anew."""
    yield b"retry: 2000\n\n"
    last = 0.0
    changed = asyncio.Event()
    ended: list[bytes] = []

    async def follow() -> None:
        try:
            async for each in lines:
                if b'"type":"ERROR"' in each[:32]:
                    return
                changed.set()
        except ApiRefusedError as error:
            if error.code != _GONE:
                ended.append(b"event: refused\ndata: \n\n")
        finally:
            changed.set()
            ended.append(b"event: expired\ndata: \n\n")

    task = asyncio.create_task(follow())
    try:
        while True:
            await changed.wait()
            changed.clear()
            if ended:
                yield ended[0]
                return
            await asyncio.sleep(max(0.0, last + _PAUSE - time.monotonic()))
            last = time.monotonic()
            yield b"event: changed\ndata: \n\n"
    finally:
        task.cancel()
