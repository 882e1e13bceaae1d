"""SQLite and PostgreSQL behind one face: transactions, locks, migrations, and errors that say what to do.

Rooms describe their tables with SQLAlchemy Core and bring their migrations as Alembic scripts. What differs
between the two databases is here and nowhere else.
"""

from importlib.util import find_spec

from trundle.errors import expectation

if _missing := [  # pragma: no cover - depends on the installation
    each for each in ("sqlalchemy", "alembic") if find_spec(each) is None
]:
    raise ModuleNotFoundError(
        "databases: "
        + expectation(
            "`trundle[database]` to be installed",
            "no SQLAlchemy or no Alembic",
            "run `pip install 'trundle[database]'`",
        ),
        name=_missing[0],
    )

from trundle.database._database import Database, open_copy, open_database
from trundle.database._errors import (
    BusyError,
    DamagedError,
    DatabaseError,
    InvalidUrlError,
    NewerSchemaError,
    OlderSchemaError,
    UnreachableError,
    UnwritableError,
)
from trundle.database._migrations import Migrations
from trundle.database._signals import Signals
from trundle.database._sqlite import file_content, is_emptied
from trundle.database._statements import rows, write
from trundle.database._upsert import upsert

__all__ = [
    "BusyError",
    "DamagedError",
    "Database",
    "DatabaseError",
    "InvalidUrlError",
    "Migrations",
    "NewerSchemaError",
    "OlderSchemaError",
    "Signals",
    "UnreachableError",
    "UnwritableError",
    "file_content",
    "is_emptied",
    "open_copy",
    "open_database",
    "rows",
    "upsert",
    "write",
]
