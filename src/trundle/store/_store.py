"""A store: what an API is built on."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from trundle._clock import Clock, now
from trundle.database import Database, open_database
from trundle.runtime import AnyScheme, Lenience
from trundle.store import _tables as t
from trundle.store._decisions import (
    Decision,
    Expected,
    MetadataEdit,
    creating,
    deleting,
    editing_metadata,
    missing,
    replacing,
)
from trundle.store._documents import with_columns
from trundle.store._errors import (
    ConflictError,
    FutureVersionError,
    GoneError,
    NoSuchObjectError,
    ObjectExistsError,
)
from trundle.store._news import News
from trundle.store._records import Change, Changes, Choice, Key, Page, StoredObject
from trundle.store._resources import StoredTypes
from trundle.store._rows import ResourceRow, Rows, object_of, one
from trundle.store._selectors import LabelSelector
from trundle.store._tokens import Token
from trundle.store._writer import Writer

_WAIT = 30.0
_PAGE = 500
"""How many objects are read together where the caller does not say."""

_ALL = LabelSelector()


class Store:
    """Objects in a database, written and read by the scheme of a generated package.

    Used as a context manager, or closed by `close`. Threads may share it. What several threads write at the same time shares
    a transaction, so a writer that has much to write uses several threads. Several processes may use one database.

    A resource type is named as the scheme calls it (`scheme.resources`), an API version as the scheme knows it. Resource versions are
    numbers that grow with each write to a resource type, in the order of commits; those of different types have nothing to do
    with each other.

    Each method raises `UnknownResourceError` for a resource type that the scheme does not have, and `DatabaseError` where the
    database cannot be used.

    Args:
        place: `sqlite:///FILE`, the file of a SQLite database, or `postgresql://USER:PASSWORD@HOST:PORT/NAME`; or the
            database of another store.
        scheme: converts documents.
        clock: gives the time of writes.
        wait: seconds to wait for other writers.

    Attributes:
        database: the database.
        types: the resource types of the scheme.
        clock: gives the time.
        writer: commits writes.

    Raises:
        DatabaseError: the database cannot be used; the class says why.
    """

    def __init__(
        self,
        place: str | Path | Database,
        scheme: AnyScheme,
        *,
        clock: Clock = now,
        wait: float = _WAIT,
    ) -> None:
        if isinstance(place, Database):
            self.database = place
        else:
            self.database = open_database(place, wait=wait)
            try:
                self.database.migrate(t.MIGRATIONS)
            except BaseException:
                self.close()
                raise
        self.types = StoredTypes(scheme, self.where)
        self._news = News(self.database.signals("trundle_store"))
        self._numbers: dict[str, int] = {}
        self.clock = clock
        self.writer = Writer(self.database, self.types, clock, self._news.announce)

    def beside(self, scheme: AnyScheme) -> "Store":
        """A store in the same database, for the resource types of another scheme; it is closed with this one."""
        return Store(self.database, scheme, clock=self.clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the database."""
        self.database.close()

    @property
    def where(self) -> str:
        """The file, or the URL without its password."""
        return self.database.where

    @property
    def scheme(self) -> AnyScheme:
        """The scheme that converts documents."""
        return self.types.scheme

    # Writing

    def create(
        self,
        key: Key,
        document: bytes,
        *,
        version: str | None = None,
        lenience: Lenience | None = None,
        further: Sequence[bytes] = (),
        dry_run: bool = False,
    ) -> StoredObject:
        """Stores a new object.

        Args:
            key: its key. The document need not have it; the store writes it into its metadata.
            document: JSON of an API version. What the store says about objects (`uid`, `resourceVersion`, ...) is ignored in it.
            version: the document's API version; None where the document says it.
            lenience: what is tolerated about the document; see `AnyScheme`.
            further: documents that say their version, put over it one after another in the same write; a client sees none of
                the states between.
            dry_run: whether all is done but nothing is stored.

        Returns:
            The object, durably stored.

        Raises:
            ObjectExistsError: there is one.
            ConversionError: the document is not what its version says.
            InvalidKeyError: no object can be called so.
            InvalidMetadataError: its metadata cannot be kept, or names another object.
        """
        decide = creating(key, document, version, lenience, further)
        return self.writer.write(key, decide, dry_run=dry_run).object

    def replace(
        self,
        key: Key,
        document: bytes,
        *,
        version: str | None = None,
        resource_version: int | None = None,
        uid: str | None = None,
        counts: bool = True,
        lenience: Lenience | None = None,
        further: Sequence[bytes] = (),
        dry_run: bool = False,
    ) -> StoredObject:
        """Puts a document over an object; what its version cannot see stays as it was.

        An object over which nothing new is written stays as it is, with its resource version, and without a change for watchers. One that is
        marked as deleted is gone when the document has no finalizers any more.

        Args:
            key: the object's key.
            document: JSON of an API version.
            version: the document's API version; None where the document says it.
            resource_version: what the writer read; None to write over whatever is there.
            uid: which object the writer means; None for any.
            counts: whether `generation` grows if anything but metadata changes. Not so where only a status is written.
            lenience: what is tolerated about the document; see `AnyScheme`.
            further: see `create`.
            dry_run: whether all is done but nothing is stored.

        Returns:
            The object, durably stored.

        Raises:
            NoSuchObjectError: there is none.
            ConflictError: it was written since, or is another one.
            ConversionError: the document is not what its version says, or what is stored cannot be converted.
            InvalidMetadataError: its metadata cannot be kept, or names another object.
        """
        expected = Expected(resource_version, uid)
        decide = replacing(
            key, document, version, lenience, expected, counts=counts, further=further
        )
        return self.writer.write(key, decide, dry_run=dry_run).object

    def update(
        self,
        key: Key,
        change: Callable[[StoredObject | None], bytes | None],
        *,
        version: str | None = None,
        counts: bool = True,
        lenience: Lenience | None = None,
        dry_run: bool = False,
    ) -> StoredObject:
        """Reads an object, lets the caller change it and writes it; again and again until no other write came in between.

        Args:
            key: the object's key.
            change: given the object, or None where there is none, returns the document to store, or None to store nothing.
                It is called outside of any transaction, perhaps several times; what it raises is passed on.
            version: the document's API version; None where the document says it.
            counts: see `replace`.
            lenience: see `replace`.
            dry_run: see `replace`.

        Returns:
            The object, durably stored.

        Raises:
            NoSuchObjectError: there is none, and nothing is to be stored.
            ConversionError: see `replace`.
            InvalidMetadataError: see `replace`.
        """
        while True:
            current = self.find(key)
            document = change(current)
            if document is None:
                if current is None:
                    raise missing(key)
                return current
            try:
                if current is None:
                    return self.create(
                        key, document, version=version, lenience=lenience, dry_run=dry_run
                    )
                return self.replace(
                    key,
                    document,
                    version=version,
                    resource_version=current.resource_version,
                    uid=current.uid,
                    counts=counts,
                    lenience=lenience,
                    dry_run=dry_run,
                )
            except (ConflictError, NoSuchObjectError, ObjectExistsError):
                continue

    def delete(
        self,
        key: Key,
        *,
        resource_version: int | None = None,
        uid: str | None = None,
        finalizers: tuple[str, ...] = (),
        dry_run: bool = False,
    ) -> Decision:
        """Deletes an object, or marks it as deleted where it has finalizers. Nothing is converted for it.

        Args:
            key: the object's key.
            resource_version: see `replace`.
            uid: see `replace`.
            finalizers: finalizers that the object gets first.
            dry_run: see `replace`.

        Returns:
            What was done (`kind` is `deleted`, `modified`, or None where it was marked before), and the last state of the object.

        Raises:
            NoSuchObjectError: there is none.
            ConflictError: it was written since, or is another one.
        """
        decide = deleting(key, Expected(resource_version, uid), finalizers)
        return self.writer.write(key, decide, dry_run=dry_run)

    def edit_metadata(
        self,
        key: Key,
        edit: MetadataEdit,
        *,
        resource_version: int | None = None,
        uid: str | None = None,
        dry_run: bool = False,
    ) -> Decision:
        """Changes the metadata of an object as it is stored, without any conversion.

        So finalizers can be taken away from an object that cannot be converted.

        Args:
            key: the object's key.
            edit: given the metadata, returns what it is from now on. It runs within the transaction, so it must be quick.
            resource_version: see `replace`.
            uid: see `replace`.
            dry_run: see `replace`.

        Returns:
            What was done, and the object.

        Raises:
            NoSuchObjectError: there is none.
            ConflictError: it was written since, or is another one.
            InvalidMetadataError: it cannot be kept, or names another object.
        """
        decide = editing_metadata(key, edit, Expected(resource_version, uid))
        return self.writer.write(key, decide, dry_run=dry_run)

    # Reading

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
        self.types.check(key)
        number = self._numbers.get(key.resource)
        if number is None:
            with self.database.reading() as connection:
                resource = self._resource(Rows(connection), key.resource)
            if resource is None:
                return None
            number = self._numbers[key.resource] = resource.id
        row = self.database.first(*one(number, key))
        return None if row is None else object_of(key.resource, row)

    def shown(self, found: StoredObject, version: str) -> bytes:
        """An object as a version shows it, as JSON, with all of its metadata.

        Raises:
            ConversionError: it cannot be converted; the error says why.
        """
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

        Raises:
            GoneError: what was there at that moment was compacted; begin again.
            FutureVersionError: `at` was not reached yet.
            InvalidContinueError: the token is not from such a list.
        """
        choice = Choice(namespace, name, labels)
        after = None
        if token:
            parsed = Token.parse(token, resource)
            at, after = parsed.at, (parsed.namespace, parsed.name)
        with self.database.reading() as connection:
            rows = Rows(connection)
            found = self._resource(rows, resource)
            if found is None:
                self._check_reached(resource, at, 1)
                return Page((), 1)
            self._check_reached(resource, at, found.resource_version)
            self._check_kept(resource, at, found.compacted)
            shown = found.resource_version if at is None else at
            objects = rows.listed(found, resource, choice, at=shown, after=after, limit=limit + 1)
        if len(objects) <= limit:
            return Page(objects, shown)
        last = objects[limit - 1].key
        more = Token(resource, shown, last.namespace, last.name).text()
        return Page(objects[:limit], shown, more)

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
    ) -> Iterator[Change]:
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
        choice = Choice(namespace, name, labels)
        while stop is None or not stop.is_set():
            found = self.changes(resource, after, wait=1.0)
            for each in found.changes:
                seen = each.within(choice)
                if seen is not None:
                    yield seen
            after = found.resource_version

    def listen(self, listener: Callable[[], object]) -> None:
        """Calls a listener after each commit of this store; not after those of other processes."""
        self._news.listen(listener)

    def newest(self, resource: str) -> int:
        """The resource version of the last write to a resource type."""
        with self.database.reading() as connection:
            found = self._resource(Rows(connection), resource)
            return 1 if found is None else found.resource_version

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
