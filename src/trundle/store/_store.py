"""A store: what an API is built on."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from trundle._clock import Clock, now
from trundle.database import (
    DamagedError,
    Database,
    UnwritableError,
    is_emptied,
    open_database,
)
from trundle.runtime import AnyScheme, Lenience
from trundle.store import _tables as t
from trundle.store._decisions import (
    Expected,
    MetadataEdit,
    PreparedWrite,
    WriteDecision,
    creating,
    deleting,
    editing_metadata,
    missing,
    putting,
    replacing,
)
from trundle.store._documents import StoredDocument
from trundle.store._errors import (
    ConflictError,
    NoSuchObjectError,
    ObjectExistsError,
)
from trundle.store._reader import StoreReader
from trundle.store._records import Key, StoredObject
from trundle.store._writer import Write, Writer

_WAIT = 30.0


def refuse_emptied(path: Path) -> None:
    """Refuses a file that has nothing in it: SQLite would take it for a new database.

    Raises:
        DamagedError: it is empty.
    """
    if is_emptied(path):
        advice = "restore it from a backup, or remove it to begin with an empty store"
        raise DamagedError(str(path), "a store", "an empty file", advice)


def _opened(place: str | Path | Database, wait: float, *, looking: bool) -> Database:
    """The database of a store, with its tables."""
    if isinstance(place, Database):
        return place
    if not looking:
        return _migrated(open_database(place, wait=wait))
    try:
        return _migrated(open_database(place, wait=wait, making=False))
    except UnwritableError:
        return _migrated(open_database(place, wait=wait, read_only=True))


def _migrated(database: Database) -> Database:
    try:
        database.migrate(t.MIGRATIONS)
    except BaseException:
        database.close()
        raise
    return database


class Store(StoreReader):
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
        looking: whether nothing is to be written. A file that does not exist is not made then, and of one that cannot be written, a copy in
            memory is read.

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
        looking: bool = False,
    ) -> None:
        super().__init__(_opened(place, wait, looking=looking), scheme)
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

    # Writing

    def create(
        self,
        key: Key,
        document: bytes,
        *,
        version: str | None = None,
        lenience: Lenience | None = None,
        dry_run: bool = False,
    ) -> StoredObject:
        """Stores a new object.

        Args:
            key: its key. The document need not have it; the store writes it into its metadata.
            document: JSON of an API version. What the store says about objects (`uid`, `resourceVersion`, ...) is ignored in it.
            version: the document's API version; None where the document says it.
            lenience: what is tolerated about the document; see `AnyScheme`.
            dry_run: whether all is done but nothing is stored.

        Returns:
            The object, durably stored.

        Raises:
            ObjectExistsError: there is one.
            ConversionError: the document is not what its version says.
            InvalidKeyError: no object can be called so.
            InvalidMetadataError: its metadata cannot be kept, or names another object.
        """
        decide = creating(key, putting(key, document, version, lenience))
        return self.writer.write(self.writer.prepared(key, decide), dry_run=dry_run).object

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
            dry_run: whether all is done but nothing is stored.

        Returns:
            The object, durably stored.

        Raises:
            NoSuchObjectError: there is none.
            ConflictError: it was written since, or is another one.
            ConversionError: the document is not what its version says, or what is stored cannot be converted.
            InvalidMetadataError: its metadata cannot be kept, or names another object.
        """
        put = putting(key, document, version, lenience)
        expected = Expected(resource_version, uid)
        decide = replacing(key, put, expected, counts=counts)
        return self.writer.write(self.writer.prepared(key, decide), dry_run=dry_run).object

    def draft(
        self,
        key: Key,
        document: bytes,
        current: StoredObject | None = None,
        *,
        lenience: Lenience | None = None,
    ) -> PreparedWrite:
        """What a document makes of an object, before it is stored.

        Args:
            key: the object's key.
            document: JSON of an API version, which it says.
            current: the object; None where it is created.
            lenience: what is tolerated about the document; see `AnyScheme`.

        Raises:
            ConversionError: see `replace`.
            InvalidMetadataError: its metadata cannot be kept, or names another object.
        """
        base = None if current is None else StoredDocument(current.data)
        put = putting(key, document, None, lenience)
        return PreparedWrite(key, put, self.scheme, base, put(base, self.scheme))

    def creation(self, draft: PreparedWrite, *, further: Sequence[bytes] = ()) -> Write:
        """A write that `commit` stores, of a draft of a new object; its outcome raises what `create` raises.

        Args:
            draft: the draft.
            further: documents that say their version, put over it one after another in the same write; a client sees none of
                the states between.

        Raises:
            InvalidKeyError: no object can be called so.
        """
        return self.writer.prepared(draft.key, creating(draft.key, draft.over, further))

    def replacement(
        self,
        draft: PreparedWrite,
        current: StoredObject,
        *,
        counts: bool = True,
        further: Sequence[bytes] = (),
    ) -> Write:
        """A write that `commit` stores, of a draft over an object; its outcome raises what `replace` raises.

        Args:
            draft: the draft.
            current: the object that it was made for; what was written since is not written over.
            counts: see `replace`.
            further: see `creation`.
        """
        expected = Expected(current.resource_version, current.uid)
        decide = replacing(draft.key, draft.over, expected, counts=counts, further=further)
        return self.writer.prepared(draft.key, decide)

    def commit(self, writes: Sequence[Write]) -> None:
        """Stores writes durably in one transaction, in their order. Each says itself what became of it: one that is refused fails no other.

        Args:
            writes: those that `creation` and `replacement` made.
        """
        self.writer.commit(writes)

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

    def tried(self, write: Write) -> WriteDecision:
        """What would become of an object; nothing is stored.

        Raises:
            TrundleError: the write would be refused.
        """
        return self.writer.write(write, dry_run=True)

    def delete(
        self,
        key: Key,
        *,
        resource_version: int | None = None,
        uid: str | None = None,
        finalizers: tuple[str, ...] = (),
        dry_run: bool = False,
    ) -> WriteDecision:
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
        return self.writer.write(self.writer.prepared(key, decide), dry_run=dry_run)

    def edit_metadata(
        self,
        key: Key,
        edit: MetadataEdit,
        *,
        resource_version: int | None = None,
        uid: str | None = None,
        dry_run: bool = False,
    ) -> WriteDecision:
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
        return self.writer.write(self.writer.prepared(key, decide), dry_run=dry_run)

    # Following

    def listen(self, listener: Callable[[], object]) -> None:
        """Calls a listener after each commit of this store; not after those of other processes."""
        self._news.listen(listener)
