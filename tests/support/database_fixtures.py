"""Fixtures with new databases of either kind; the `conftest.py` of a folder imports those that its tests use."""

import atexit
import contextlib
import functools
import itertools

import postgres
import psycopg
import pytest

_numbers = itertools.count()


@functools.cache
def _started():
    """One server for all folders: each of their conftests has a fixture of its own."""
    running = contextlib.ExitStack()
    atexit.register(running.close)
    return running.enter_context(postgres.server())


@pytest.fixture(scope="session")
def server():
    """The URL of a real server of PostgreSQL."""
    return _started()


@pytest.fixture(scope="session")
def template():
    """The name of the database that new ones are copies of; tests that all need the same tables have another one."""
    return "template1"


@pytest.fixture
def on_server(server, template):
    """The URL of a new database on the server."""
    name = f"test{next(_numbers)}"
    make(server, name, template)
    return f"{server}/{name}"


def make(server, name, template="template1"):
    """Makes a database on the server, as a copy of another one."""
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        quickly = " STRATEGY FILE_COPY" if connection.info.server_version >= 150_000 else ""
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}{quickly}")


@pytest.fixture
def in_file(tmp_path):
    """The URL of a new database in a file."""
    return f"sqlite:///{tmp_path / 'test.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request):
    """The URL of a new database of either kind."""
    return request.getfixturevalue("in_file" if request.param == "sqlite" else "on_server")
