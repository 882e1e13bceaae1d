"""The errors of databases: each says where, what was expected, what was found, and what to do."""

from trundle.errors import Code, ExpectationError, Kind


class DatabaseCode(Code):
    """What can go wrong with a database."""

    FAILED = "database-failed"
    URL = "invalid-database-url"
    UNREACHABLE = "database-unreachable"
    BUSY = "database-busy"
    UNWRITABLE = "database-not-writable"
    DAMAGED = "damaged-database"
    OLDER = "older-database"
    NEWER = "newer-database"


class DatabaseError(ExpectationError):
    """A database cannot be used; the transaction, if there was one, changed nothing.

    Attributes:
        where: the file, or the URL without its password.
        expected: what should be there.
        found: what is there instead.
        advice: what to do about it.
    """

    code = DatabaseCode.FAILED


class InvalidUrlError(DatabaseError):
    """The URL does not name a database that Trundle knows."""

    kind = Kind.USAGE
    code = DatabaseCode.URL


class UnreachableError(DatabaseError):
    """The server cannot be reached, refuses the login, or ended the connection."""

    kind = Kind.UNREACHABLE
    code = DatabaseCode.UNREACHABLE


class BusyError(DatabaseError):
    """Another process holds a lock for longer than the caller waits."""

    kind = Kind.CONFLICT
    code = DatabaseCode.BUSY


class UnwritableError(DatabaseError):
    """The disk is full, the folder is read-only, or the database was opened for reading."""

    code = DatabaseCode.UNWRITABLE


class DamagedError(DatabaseError):
    """The file is no database, or it is damaged."""

    code = DatabaseCode.DAMAGED


class OlderSchemaError(DatabaseError):
    """The tables are those of an earlier release, and the database was opened for reading."""

    code = DatabaseCode.OLDER


class NewerSchemaError(DatabaseError):
    """The tables are those of a later release."""

    code = DatabaseCode.NEWER
