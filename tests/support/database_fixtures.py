"""Fixtures with new databases of either kind; the `conftest.py` of a folder imports those that its tests use."""

import itertools

import postgres
import psycopg
import pytest

_numbers = itertools.count()


@pytest.fixture(scope="session")
def server():
    """The URL of a real server of PostgreSQL."""
    with postgres.server() as url:
        yield url


@pytest.fixture
def on_server(server):
    """The URL of a new database on the server."""
    name = f"test{next(_numbers)}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"{server}/{name}"


@pytest.fixture
def in_file(tmp_path):
    """The URL of a new database in a file."""
    return f"sqlite:///{tmp_path / 'test.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request):
    """The URL of a new database of either kind."""
    return request.getfixturevalue("in_file" if request.param == "sqlite" else "on_server")
