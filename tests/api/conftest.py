"""The project of members, generated once for all tests of the API, and a client of an API that serves it."""

import pytest
from apis import Client, clubs, serving_clubs
from cluster_fixtures import cluster  # noqa: F401 - a fixture

from trundle.api import _feeds, _objects


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    with clubs(tmp_path_factory.mktemp("clubs")) as installed:
        yield installed


@pytest.fixture
def api(installed, tmp_path):
    with serving_clubs(installed, tmp_path / "store.db") as (api, _):
        yield api


@pytest.fixture
def client(api):
    return Client(api)


@pytest.fixture
def brief_watches(monkeypatch):
    """Watches end as soon as they have shown what is there, rather than after a time."""
    endless = _objects.events

    async def events(*arguments):
        async for each in endless(*arguments):
            if not each:  # Nothing comes.
                return
            yield each

    monkeypatch.setattr(_objects, "events", events)
    monkeypatch.setattr(_feeds, "_WAIT", 0.01)
