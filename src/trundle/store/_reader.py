"""Reading a store: objects as they are now or were, and the changes of them."""

import threading
import time
from collections.abc import Callable, Collection, Iterator

from trundle.database import Database
from trundle.runtime import AnyScheme
from trundle.store._decisions import (
    missing,
)
from trundle.store._documents import metadata_with_columns, with_columns
from trundle.store._errors import (
    FutureVersionError,
    GoneError,
)
from trundle.store._news import News
from trundle.store._records import Changes, Key, ObjectChange, ObjectChoice, Page, StoredObject
from trundle.store._resources import StoredTypes
from trundle.store._rows import ResourceRow, Rows, object_of, one
from trundle.store._selectors import LabelSelector
from trundle.store._tokens import Token

_PAGE = 500
"""How many objects are read together where the caller does not say."""

_COUNTED = 10_000
"""Up to how many objects are counted: that takes a millisecond or two."""

_ALL = LabelSelector()


class StoreReader:
    """Objects in a database, read by the scheme of a generated package.

    Args:
        database: the database, with the tables of a store.
        scheme: converts documents.

    Attributes:
        database: the database.
        types: the resource types of the scheme.
    """

    def __init__(self, database: Database, scheme: AnyScheme) -> None:
        self.database = database
        self.types = StoredTypes(scheme, self.where)
        self._news = News(self.database.signals("trundle_store"))

    @property
    def where(self) -> str:
        """The file, or the URL without its password."""
        return self.database.where

    @property
    def scheme(self) -> AnyScheme:
        """The scheme that converts documents."""
        return self.types.scheme

    def get(self, key: Key) -> StoredObject:
        """An object as it is now.

        Raises:
            NoSuchObjectError: there is none.
        """
        found = self.find(key)
        if found is None:
            raise missing(key)
        return found

    def find(self, key: Key) -> StoredObject | None:
        """An object as it is now; None where there is none."""
        number = self._number(key)
        row = None if number is None else self.database.first(*one(number, key))
        return None if row is None else object_of(key.resource, row)

    def find_all(self, keys: Collection[Key]) -> dict[Key, StoredObject]:
        """Objects as they are now, as far as there are any; each as it is at some moment during the call.

        A server is asked once for all of them. A file answers each by itself: that takes a fraction of what a transaction does.

        Raises:
            InvalidKeyError: no object can be called like one of the keys.
        """
        if len(keys) == 1 or not self.database.is_server:
            found = {each: self.find(each) for each in keys}
            return {key: each for key, each in found.items() if each is not None}
        of_number: dict[int, list[Key]] = {}
        for each in keys:
            number = self._number(each)
            if number is not None:
                of_number.setdefault(number, []).append(each)
        with self.database.looking() as connection:
            rows = Rows(connection)
            found_of = [rows.current(number, of) for number, of in of_number.items()]
        return {key: each for some in found_of for key, each in some.items()}

    def _number(self, key: Key) -> int | None:
        """The number of a key's resource type within the database; None before anything of it was stored."""
        self.types.check(key)
        identity, known = self.types[key.resource].identity, self.database.numbers
        number = known.get(identity)
        if number is None:
            with self.database.reading() as connection:
                resource = self._resource(Rows(connection), key.resource)
            if resource is None:
                return None
            number = known[identity] = resource.id
        return number

    def shown(self, found: StoredObject, version: str) -> bytes:
        """An object as a version shows it, as JSON, with all of its metadata.

        Raises:
            ConversionError: it cannot be converted; the error says why.
        """
        quick = self.scheme.read_quickly(
            version, found.data, lambda metadata: metadata_with_columns(metadata, found)
        )
        if quick is not None:
            return quick
        return with_columns(self.scheme.read(version, found.data), found)

    def list(
        self,
        resource: str,
        *,
        namespace: str | None = None,
        name: str | None = None,
        labels: LabelSelector = _ALL,
        limit: int = _PAGE,
        token: str = "",
        at: int | None = None,
        since: int | None = None,
        counted: bool = False,
        matches: Callable[[StoredObject], bool] | None = None,
    ) -> Page:
        """A page of the objects of a resource type, by namespace and name.

        Args:
            resource: the resource type.
            namespace: those of one namespace; of all where None.
            name: those of one name.
            labels: those that a selector chooses by their labels at the storage version.
            limit: how many at most.
            token: that of the page before; empty for the first page. All pages show the moment of the first.
            at: the resource version to show instead of the newest.
            since: a resource version that has to be reached; what is shown may be newer.
            counted: whether to count at the first page how many objects there are. Of a moment that is past, and of more than 10,000 objects, it is not known.
            matches: chooses among the objects; all where None. A page has as many of those that it chooses as one without it has of all.

        Raises:
            GoneError: what was there at that moment was compacted; begin again.
            FutureVersionError: `at` or `since` was not reached yet.
            InvalidContinueError: the token is not from such a list.
        """
        choice = ObjectChoice(namespace, name, labels)
        after, total = None, None
        if token:
            parsed = Token.parse(token, resource)
            at, after, total = parsed.at, (parsed.namespace, parsed.name), parsed.remaining
        with self.database.reading() as connection:
            rows = Rows(connection)
            found = self._resource(rows, resource)
            newest = 1 if found is None else found.resource_version
            self._check_reached(resource, at, newest)
            self._check_reached(resource, since, newest)
            if found is None:
                return Page((), newest)
            self._check_kept(resource, at, found.compacted)
            shown = found.resource_version if at is None else at

            def listed(after: tuple[str, str] | None, limit: int) -> tuple[StoredObject, ...]:
                return rows.listed(found, resource, choice, at=shown, after=after, limit=limit)

            objects = (
                listed(after, limit + 1)
                if matches is None
                else _matching(listed, matches, after, limit + 1)
            )
            if counted and not token and len(objects) > limit and shown == found.resource_version:
                total = rows.number(found.id, choice, _COUNTED)
        return _page(objects, limit, resource, shown, total)

    def stream(
        self,
        resource: str,
        *,
        namespace: str | None = None,
        labels: LabelSelector = _ALL,
    ) -> Iterator[StoredObject]:
        """All objects of a resource type at one moment, by namespace and name, read in pages as they are asked for.

        Args:
            resource: the resource type.
            namespace: those of one namespace; of all where None.
            labels: those that a selector chooses by their labels at the storage version.

        Raises:
            GoneError: it took so long that the moment was compacted meanwhile; begin again.
        """
        page = self.list(resource, namespace=namespace, labels=labels)
        yield from page.objects
        while page.token:
            page = self.list(resource, namespace=namespace, labels=labels, token=page.token)
            yield from page.objects

    def dependents(self, uid: str) -> Iterator[StoredObject]:
        """All objects, of every resource type of the scheme, that name an owner.

        Args:
            uid: the uid of the owner.
        """
        for called in self.types.all:
            with self.database.reading() as connection:
                rows = Rows(connection)
                resource = self._resource(rows, called)
                found = () if resource is None else rows.owned(resource, called, uid)
            yield from found

    def unsettled(self, resource: str) -> tuple[StoredObject, ...]:
        """The objects of a resource type that have owners, or are marked as deleted: what garbage is among."""
        with self.database.reading() as connection:
            rows = Rows(connection)
            found = self._resource(rows, resource)
            return () if found is None else rows.unsettled(found)

    def unsettling(self, resource: str, after: int, *, limit: int = _PAGE) -> Changes:
        """The changes after a resource version of objects that have owners, or are deleted: what may make garbage.

        Args:
            resource: the resource type.
            after: the resource version.
            limit: how many at most.

        Raises:
            GoneError: some of them were compacted.
        """
        with self.database.reading() as connection:
            rows = Rows(connection)
            found = self._resource(rows, resource)
            newest = 1 if found is None else found.resource_version
            self._check_reached(resource, after, newest)
            if found is None or newest == after:
                return Changes((), after)
            self._check_kept(resource, after, found.compacted)
            changes = rows.unsettling(found, resource, after, limit)
            whole = len(changes) < limit
            return Changes(changes, newest if whole else changes[-1].resource_version)

    def namespaces(self) -> frozenset[str]:
        """The namespaces that objects are in."""
        with self.database.reading() as connection:
            rows = Rows(connection)
            found = [self._resource(rows, each) for each in self.types.all]
            return frozenset().union(*(rows.namespaces(each) for each in found if each))

    def changes(
        self, resource: str, after: int, *, limit: int = _PAGE, wait: float = 0.0
    ) -> Changes:
        """The changes of a resource type after a resource version, in their order.

        No change is missing, none is there twice: a watcher that goes on from `Changes.resource_version` sees each commit once.

        Args:
            resource: the resource type.
            after: the resource version of a list, or of the changes before.
            limit: how many at most.
            wait: seconds to wait where there are none yet.

        Raises:
            GoneError: some of them were compacted; list again.
            FutureVersionError: the resource version was not reached yet: it is from another store.
        """
        deadline = time.monotonic() + wait
        while True:
            commits = self._news.commits
            with self.database.reading() as connection:
                rows = Rows(connection)
                found = self._resource(rows, resource)
                newest = 1 if found is None else found.resource_version
                self._check_reached(resource, after, newest)
                if found is not None:
                    self._check_kept(resource, after, found.compacted)
                    if newest > after:
                        changes = rows.changes(found, resource, after, limit)
                        whole = len(changes) < limit
                        last = newest if whole else changes[-1].resource_version
                        return Changes(changes, last)
            left = deadline - time.monotonic()
            if left <= 0:
                return Changes((), after)
            self._news.wait(commits, left)

    def watch(
        self,
        resource: str,
        after: int,
        *,
        namespace: str | None = None,
        name: str | None = None,
        labels: LabelSelector = _ALL,
        stop: threading.Event | None = None,
    ) -> Iterator[ObjectChange]:
        """The changes of some objects after a resource version, as they come; see `changes`.

        An object that begins to be among them is `added`, one that ceases to be is `deleted`.

        Args:
            resource: the resource type.
            after: the resource version of a list, or of the last change.
            namespace: those of one namespace; of all where None.
            name: those of one name.
            labels: those that a selector chooses by their labels at the storage version.
            stop: ends the watch.

        Raises:
            GoneError: some of them were compacted; list again.
            FutureVersionError: the resource version was not reached yet.
        """
        choice = ObjectChoice(namespace, name, labels)
        while stop is None or not stop.is_set():
            found = self.changes(resource, after, wait=1.0)
            for each in found.changes:
                seen = each.within(choice.has)
                if seen is not None:
                    yield seen
            after = found.resource_version

    def require_reached(self, resource: str, version: int) -> None:
        """Raises where a resource version was not reached yet.

        Raises:
            FutureVersionError: it was not.
        """
        self._check_reached(resource, version, self.newest(resource))

    def newest(self, resource: str) -> int:
        """The resource version of the last write to a resource type."""
        with self.database.reading() as connection:
            found = self._resource(Rows(connection), resource)
            return 1 if found is None else found.resource_version

    def newest_of_each(self) -> dict[str, int]:
        """The resource version of the last write to each resource type, in one read."""
        with self.database.reading() as connection:
            rows = Rows(connection).resources()
        found = {(each.group, each.name): each.resource_version for each in rows}
        types = (self.types[each] for each in self.types.all)
        return {each.called: found.get((each.group, each.name), 1) for each in types}

    def _resource(self, rows: Rows, called: str) -> ResourceRow | None:
        type_ = self.types[called]
        return rows.resource(type_.group, type_.name)

    def _check_reached(self, resource: str, wanted: int | None, newest: int) -> None:
        if wanted is not None and wanted > newest:
            expected = f"a resource version of {resource} up to {newest}"
            advice = "list again; the number is from another store, or from before a restore"
            raise FutureVersionError(self.where, expected, str(wanted), advice)

    def _check_kept(self, resource: str, wanted: int | None, compacted: int) -> None:
        if wanted is not None and wanted < compacted:
            expected = f"a resource version of {resource} from {compacted} on"
            found = f"{wanted}, which was compacted"
            raise GoneError(self.where, expected, found, "list again")


def _page(
    objects: tuple[StoredObject, ...], limit: int, resource: str, shown: int, total: int | None
) -> Page:
    """A page, with the token of the next one where more was found than it may have."""
    if len(objects) <= limit:
        return Page(objects, shown)
    last = objects[limit - 1].key
    remaining = None if total is None else total - limit
    more = Token(resource, shown, last.namespace, last.name, remaining).text()
    return Page(objects[:limit], shown, more, remaining)


def _matching(
    listed: Callable[[tuple[str, str] | None, int], tuple[StoredObject, ...]],
    matches: Callable[[StoredObject], bool],
    after: tuple[str, str] | None,
    limit: int,
) -> tuple[StoredObject, ...]:
    """The first objects behind a place that something chooses.

    Args:
        listed: the objects behind a place, as many as are asked for.
        matches: chooses among them.
        after: the place; None to start with the first.
        limit: how many at most.
    """
    found: list[StoredObject] = []
    size = max(limit, _PAGE)
    while True:
        read = listed(after, size)
        found += filter(matches, read)
        if len(read) < size or len(found) >= limit:
            return tuple(found[:limit])
        after = read[-1].key.namespace, read[-1].key.name
