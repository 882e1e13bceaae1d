"""The migrations of a room: numbered scripts of Alembic in one folder, under a version table of their own.

A script is called `0001_subject.py`; its revision is `0001`, and it follows the one before it. So the newest revision is
known without Alembic, which is imported only where something is to be migrated.
"""

import re
import threading
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sqlalchemy import Connection, inspect, text

_SCRIPT = re.compile(r"([0-9]{4})_[a-z0-9_]+\.py")
_ENVIRONMENT = Path(__file__).parent / "alembic_scripts"
_ALEMBIC = threading.Lock()  # What scripts import from Alembic is global to the process.


@dataclass(frozen=True)
class Migrations:
    """The migrations of one room.

    Attributes:
        name: the room; its version table is called `NAME_version`.
        folder: the scripts.
    """

    name: str
    folder: Path

    @cached_property
    def head(self) -> str:
        """The newest revision."""
        found = (_SCRIPT.fullmatch(path.name) for path in self.folder.iterdir())
        return max(each[1] for each in found if each)

    @property
    def version_table(self) -> str:
        """The table with the revision of a database."""
        return f"{self.name}_version"

    def revision(self, connection: Connection) -> str:
        """The revision of a database; empty before the first migration."""
        if not inspect(connection).has_table(self.version_table):
            return ""
        statement = text(f"SELECT version_num FROM {self.version_table}")  # noqa: S608 - our name
        return connection.execute(statement).scalar() or ""

    def upgrade(self, connection: Connection) -> None:
        """Runs the scripts that a database lacks, within the transaction of the connection."""
        from alembic import command  # noqa: PLC0415 - it takes long to import
        from alembic.config import Config  # noqa: PLC0415

        config = Config()
        config.set_main_option("path_separator", "newline")
        config.set_main_option("script_location", _escaped(_ENVIRONMENT))
        config.set_main_option("version_locations", _escaped(self.folder))
        config.attributes["connection"] = connection
        config.attributes["version_table"] = self.version_table
        with _ALEMBIC:
            command.upgrade(config, "head")


def _escaped(path: Path) -> str:
    """A path as a value of an option, in which `%` begins a substitution."""
    return str(path).replace("%", "%%")
