"""Environments in a catalog with a package that deploys documents, for tests."""

import contextlib
import datetime as dt
from pathlib import Path

from engines import package

from trundle.catalog import Catalog
from trundle.environments import APPLICATIONS, Environments, deploy
from trundle.providers import FolderProvider

TENANT = "acme"

APP = """
Namespaces: {=: a, t: io.trundle, std: io.murano}
Name: App
Extends: std:Application
Properties:
  documents: {Contract: {$.string().notNull(): $}, Default: {}, Usage: InOut}
  other: {Contract: $.class(App)}
Methods:
  deploy:
    Body:
      - For: each
        In: $.documents.keys()
        Do:
          - new(t:Document, name => $each, content => $.documents.get($each)).deploy()
  put:
    Scope: Public
    Arguments:
      - name: {Contract: $.string().notNull()}
      - content: {Contract: $, Default: null}
    Body:
      - $.documents: $.documents + {$name => $content}
      - $.deploy()
      - Return: $.documents
  count:
    Scope: Public
    Body:
      Return: len($.documents)
  fail:
    Scope: Public
    Body:
      - new(t:Document, name => failing, content => 1).deploy()
      - Throw: Broken
        Message: it broke
"""
PACKAGE = package("a", "1.0.0", {"io.trundle": "1"}, {"a.App": APP})


class Clock:
    """A clock that goes on by a second at each look."""

    def __init__(self):
        self.at = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)

    def __call__(self):
        self.at += dt.timedelta(seconds=1)
        return self.at


class Kept:
    """Environments in a database, and the folder that they deploy to."""

    def __init__(self, url, folder: Path, packages=(PACKAGE,)):
        self.url, self.folder = url, folder
        self.catalog = Catalog(url)
        self.environments = Environments(self.catalog, clock=Clock())
        if packages:
            assert not self.catalog.upload(packages, tenant=TENANT).refused

    def close(self):
        self.catalog.close()

    def create(self, name="shop"):
        return self.environments.create(name, tenant=TENANT)

    def opening(self, environment=None):
        """Opens what acts on the world."""
        return contextlib.nullcontext({"folder": FolderProvider(self.folder)})

    @staticmethod
    def acting(**providers):
        """The option of runs with these providers."""
        return {"opening": lambda _: contextlib.nullcontext(providers)}

    def edit(self, change, draft="me", **options):
        return self.environments.edit("shop", change, tenant=TENANT, draft=draft, **options)

    def add(self, identifier, documents=None, draft="me", **values):
        return self.edit(lambda model: adding(model, identifier, documents, **values), draft)

    def deploy(self, draft="me", **options):
        return self.run(deploy, draft=draft, **options)

    def run(self, function, *arguments, **options):
        given = {"tenant": TENANT, "opening": self.opening, **options}
        return function(self.environments, "shop", *arguments, **given)

    def history(self):
        return self.environments.history("shop", tenant=TENANT)

    def outcomes(self):
        return [(each.action, each.outcome) for each in self.history()]

    def model(self):
        return self.environments.model("shop", tenant=TENANT)

    def files(self):
        return {
            str(each.relative_to(self.folder)): each.read_text()
            for each in sorted(self.folder.rglob("*"))
            if each.is_file()
        }

    def effects(self):
        return [each.key for each in self.environments.effects("shop", tenant=TENANT)]


def adding(model, identifier, documents=None, class_name="a.App", **values):
    made = {"?": {"type": class_name, "id": identifier}, "documents": documents or {}, **values}
    return {**model, APPLICATIONS: [*model[APPLICATIONS], made]}


def done(result):
    """What a run did."""
    return [(each.action, each.key) for each in result.changes]
