"""Environments over HTTP in this process, with runs in processes of their own, and a client of them."""

import contextlib
import time

from kept import PACKAGE, TENANT
from starlette.applications import Starlette
from starlette.testclient import TestClient

from trundle.api.catalogs import CatalogRoutes
from trundle.api.environments import EnvironmentRoutes, Means, Place, running
from trundle.catalog import Catalog
from trundle.cli._environments import opened_providers
from trundle.engine import Limits
from trundle.environments import Actions, Environments

ENDED = ("succeeded", "failed", "interrupted")


class Client:
    """A client of a server of environments."""

    def __init__(self, folder, catalog, routes, version="v2"):
        self.folder, self.catalog = folder, catalog
        self.version = version
        self.http = TestClient(Starlette(routes=routes))

    def at(self, version):
        """The same with another version of the API."""
        found = Client.__new__(Client)
        found.__dict__.update(self.__dict__, version=version)
        return found

    def path(self, *names, tenant=TENANT):
        return "/".join(["", self.version, "tenants", tenant, *names])

    def ask(self, method, *names, tenant=TENANT, headers=None, body=None, **query):
        """The status and the body of an answer."""
        path = self.path(*names, tenant=tenant)
        return self.sent(method, path, body, query, headers)

    def sent(self, method, path, body, query, headers):
        found = self.http.request(method, path, json=body, params=query, headers=headers)
        return found.status_code, found.json()

    def get(self, *names, **query):
        return self.ok(self.ask("GET", *names, **query))

    def post(self, *names, **body):
        return self.ok(self.ask("POST", *names, body=body))

    @staticmethod
    def ok(answer):
        code, body = answer
        assert code < 300, body
        return body

    def create(self, name="shop", place="here"):
        return self.post("environments", name=name, place=place)

    def add(self, identifier, documents, draft="me", **further):
        properties = {"?": {"id": identifier, "name": identifier}, "documents": documents}
        path = ("environments", "shop", "drafts", draft, "applications")
        return self.post(*path, package="a", properties=properties, **further)

    def run(self, action, dry=False, **body):
        """The action that a run was, once it has ended."""
        query = {"dryRun": "All"} if dry else {}
        begun = self.ok(self.ask("POST", "environments", "shop", action, body=body, **query))
        return self.ended(begun["number"])

    def action(self, number):
        return self.get("environments", "shop", "actions", str(number))

    def ended(self, number, seconds=60):
        until = time.monotonic() + seconds
        while (found := self.action(number))["state"] not in ENDED:
            assert time.monotonic() < until, found
            time.sleep(0.05)
        return found

    def pages(self, name, *names, **query):
        """The pages of a list."""
        while True:
            found = self.get(*names, **query)
            yield found[name]
            if "metadata" not in found:
                return
            query["continue"] = found["metadata"]["continue"]

    def log(self, number, **query):
        found = self.get("environments", "shop", "actions", str(number), "log", **query)
        return [each["line"] for each in found["lines"]]

    def files(self):
        found = self.folder.rglob("*")
        return {str(x.relative_to(self.folder)): x.read_text() for x in found if x.is_file()}


class UserOfServer(Client):
    """A client of `trundle serve` with the token of a user."""

    def __init__(self, server, folder, token=None, version="v2"):
        self.server, self.folder, self.version = server, folder, version
        self.headers = {} if token is None else {"authorization": f"Bearer {token}"}

    def sent(self, method, path, body, query, headers):
        given = {**self.headers, **(headers or {})}
        found = self.server.ask(method, path, body, headers=given, **query)
        return found.status, found.body


@contextlib.contextmanager
def environment_routes(catalog, url, folder, limits=None, places=None):
    """The API of the environments in a catalog, which deploy into a folder."""
    limits = limits or Limits(seconds=60.0)
    environments = Environments(catalog, limits=limits)
    places = places or {"here": Place({"folder": {"root": str(folder)}})}
    means = Means(url, opened_providers, limits, places=places)
    with running(Actions(environments), means) as runner:
        yield EnvironmentRoutes(environments, runner).routes


@contextlib.contextmanager
def served(url, folder, packages=(PACKAGE,), limits=None, places=None):
    """A client of environments in the database of a catalog, which deploy into a folder."""
    with Catalog(url) as catalog:
        if packages:
            assert not catalog.upload(packages, tenant=TENANT).refused
        with environment_routes(catalog, url, folder, limits, places) as routes:
            every = [*CatalogRoutes(catalog, environments=True).routes, *routes]
            yield Client(folder, catalog, every)
