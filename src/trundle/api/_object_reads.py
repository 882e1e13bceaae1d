"""Objects of one version, read as Kubernetes' API does it."""

from collections.abc import Callable, Iterator

import msgspec
from msgspec.structs import replace

from trundle.api._answers import LIST_OF_VERSIONS, list_head
from trundle.api._reading import explained
from trundle.api._requests import Answer, Request, Target
from trundle.api._selections import FieldSelector, SelectedObjects, labels_of
from trundle.api._status import ApiError, bad_request
from trundle.api._views import Failed, Views
from trundle.store import Key, Store, StoredObject

_SELECTORS = ("labelSelector", "fieldSelector")
_PAGE = 500


class ObjectReads:
    """Answers requests that read objects.

    Each method raises `ApiError` where the answer is no success.

    Args:
        store: keeps the objects.
        failed: see `Views`.
    """

    def __init__(self, store: Store, failed: Failed = lambda *_: None) -> None:
        self.store = store
        self.views = Views(store, failed)

    @property
    def is_local(self) -> bool:
        """Whether `get` waits for nothing but a file."""
        return not self.store.database.is_server

    def get(self, request: Request) -> Answer:
        """One object."""
        target = request.target
        since = request.number("resourceVersion")
        with explained(target):
            if since:
                self.store.require_reached(target.kind.resource, since)
            return Answer(self.answered(self.store.get(self.key(target)), request, target))

    def get_all(self, request: Request) -> Answer:
        """The objects of a resource type, or a page of them."""
        return Answer(b"".join(part for part, _ in self.parts(request)))

    def parts(self, request: Request) -> Iterator[tuple[bytes, bool]]:
        """The answer of `get_all` in parts, each with whether it is the last; few of the objects are in memory at a time.

        What can be wrong with the request is raised before the first part.
        """
        target = request.target
        fields = FieldSelector(request.query.get("fieldSelector", ""), target)
        shown = SelectedObjects(self.views, target, fields)
        labels = labels_of(request.query.get("labelSelector", ""))
        match = request.query.get("resourceVersionMatch", "")
        wanted, token = request.number("resourceVersion"), request.query.get("continue", "")
        # As API servers: what may be of any time has no pages.
        limit = None if wanted == 0 else request.limit
        if wanted and token:
            raise bad_request("specifying resource version is not allowed when using continue")
        # A page of a state that is named is one of exactly that state.
        is_exact = match == "Exact" or (limit is not None and not match and bool(wanted))
        at, since = (wanted, None) if is_exact else (None, wanted)
        name = fields.exact("metadata.name")
        namespace = target.namespace or fields.exact("metadata.namespace")
        # As Kubernetes: of what selectors choose, the number is not known.
        counted = bool(limit) and not any(request.query.get(each) for each in _SELECTORS)
        head, comma = b"", b""
        while True:
            with explained(target):
                page = self.store.list(
                    target.kind.resource,
                    namespace=namespace or None,
                    name=name,
                    labels=labels,
                    limit=limit or _PAGE,
                    token=token,
                    at=at,
                    since=since,
                    counted=counted,
                    matches=shown.is_chosen if fields else None,
                )
                items = b",".join(map(shown.taken, page.objects))
            token, last = page.token, bool(limit or not page.token)
            new = b"" if head else list_head(target, page, paged=bool(limit))
            head = head or new
            yield new + (comma if items else b"") + items + (b"]}" if last else b""), last
            if last:
                return
            comma = b"," if items else comma

    def key(self, target: Target) -> Key:
        """The key of the object that a path names."""
        return Key(target.kind.resource, target.namespace, target.name)

    def answered(
        self,
        found: StoredObject,
        request: Request,
        target: Target,
        tidy: Callable[[bytes], bytes] = bytes,
    ) -> bytes:
        """What a request about one object is answered: the object, or a list of what it is at each version that the request names.

        In the list, a `Status` stands where a version cannot show the object.

        Args:
            found: the object.
            request: the request.
            target: what it is about.
            tidy: takes away from each object what is not sent.
        """
        versions = request.versions
        if not versions:
            return tidy(self.shown(found, target))
        items = []
        for each in versions:
            at = replace(target, served=each)
            try:
                with explained(at):
                    items.append(tidy(self.shown(found, at)))
            except ApiError as error:
                items.append(msgspec.json.encode(error.status))
        return LIST_OF_VERSIONS + b",".join(items) + b"]}"

    def shown(self, found: StoredObject, target: Target) -> bytes:
        """An object as clients of a target's version see it."""
        return self.views.exact(found, target.kind, target.served)
