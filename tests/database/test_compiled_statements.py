"""Statements are compiled once for all databases in files that a process opens: some look at theirs again and again."""

from sqlalchemy import Integer, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from trundle.database import open_copy, open_database


class One(FunctionElement):
    """The number 1, which counts how often it is compiled."""

    inherit_cache = True
    type = Integer()
    compiled = 0


@compiles(One)
def compile_one(_element, _compiler, **_options):
    One.compiled += 1
    return "1"


def test_a_statement_is_compiled_once_for_all_files(tmp_path):
    for name in ("first.db", "second.db", "first.db"):
        with open_database(tmp_path / name) as database, database.reading() as connection:
            assert connection.execute(select(One())).scalar() == 1
    with open_copy(tmp_path / "first.db") as database, database.reading() as connection:
        assert connection.execute(select(One())).scalar() == 1
    assert One.compiled == 1
