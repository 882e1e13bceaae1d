"""The pages about a catalog: lists, versions, requirements, classes, changes; and who sees what."""

import html
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import asgi
import catalog_pages
import pytest
from access import TOKENS
from bundles import bundle
from catalog_pages import pages_over, shown, words
from sqlalchemy import event
from sqlalchemy.engine import Engine

from trundle.api.access import Access
from trundle.catalog import Catalog
from trundle.packages import Package

BASE = """\
Name: db.Server
Properties:
  name: {Contract: $.string().notNull()}
Methods:
  start:
    Scope: Public
    Arguments:
      - port: {Contract: $.int(), Default: 5432}
    Body: []
"""
MAIN = """\
Namespaces: {db: db}
Name: app.Main
Extends: db:Server
Properties:
  size: {Contract: $.int()}
"""
SCHEMA = (
    "title: Database\ntype: object\nproperties:\n  size: {type: integer, description: In GB.}\n"
)


@pytest.fixture
def catalog(tmp_path):
    with Catalog(tmp_path / "catalog.db") as opened:
        yield opened


@pytest.fixture
def page(catalog, tmp_path):
    with pages_over(catalog, tmp_path) as make:
        yield make


def test_a_list_reads_the_versions_of_the_packages_that_it_shows_alone(catalog, page):
    packages = [bundle(f"p.P{at:03}", f"1.{minor}.0") for at in range(150) for minor in range(2)]
    assert not catalog.upload(packages, tenant="default").refused
    application, read = page(), []

    def note(_, cursor, statement, given, *further):
        if "catalog_packages" in statement and "digest" in statement:
            read.append([each for each in given if str(each).startswith("p.P")])

    event.listen(Engine, "before_cursor_execute", note)
    try:
        first = shown(application, "")
        found = words(shown(application, "", q="P14"))
        every = shown(application, "", all="1")
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert [len(each) for each in read] == [100, 10, 0]  # None named, all are read.
    assert [text.count('class="card"') for text in (first, every)] == [100, 150]
    assert "Show all 150" in first
    assert "10 packages with “P14”" in found
    assert "p.P149 1.1.0 and 1 more version" in found


def graph(text):
    """The boxes of the graph with what they lead to, and what stands on its lines."""
    root = ET.fromstring(
        html.unescape(
            re.search(r"<svg class=\"graph\".*?</svg>", text, re.DOTALL)[0].replace(
                "&amp;", "&amp;amp;"
            )
        )
    )
    boxes = {}
    for group in [*root.iter("g")]:
        name, note = [each.text for each in group.iter("text")]
        boxes[name, note] = float(group.find("rect").get("y"))
    return boxes, sorted(x.text for x in root.iter("text") if x.get("class") == "range")


@pytest.fixture
def filled(catalog):
    catalog.upload([bundle("db", "1.0.0", Server=BASE), bundle("db", "2.0.0")], tenant="default")
    older = bundle("app", "1.0.0", {"db": "1"}, Main=MAIN, Gone="Name: app.Gone\n")
    newer = bundle("app", "2.0.0", {"db": "1", "io.murano": "0"}, Main=MAIN)
    catalog.upload([older, newer], tenant="default")
    catalog.upload([bundle("shared", "1.0.0")], tenant="other", public=True)
    catalog.upload([bundle("secret", "1.0.0")], tenant="other")


@pytest.mark.full
def test_a_list_has_each_package_once_with_its_newest_version(page, filled):
    found = words(shown(page(), ""))
    assert "3 packages" in found
    assert "app 2.0.0 and 1 more version" in found
    assert "shared 1.0.0 public of other" in found
    assert "secret" not in found
    assert "2 packages" in words(shown(page(), "", tenant="other"))
    searched = words(shown(page(), "", q="AP"))
    assert "1 package with “AP”" in searched
    assert "The tenant default sees no package with “zz”" in words(shown(page(), "", q="zz"))


def test_a_version_shows_its_requirements_and_leads_to_them(page, filled):
    text = shown(page(), "one", name="app")
    found = words(text)
    assert "app 2.0.0" in found
    assert "db 1 1.0.0" in found
    assert "io.murano 0 comes with Trundle" in found
    boxes, ranges = graph(text)
    assert set(boxes) == {("app", "2.0.0"), ("db", "1.0.0")}
    assert boxes["db", "1.0.0"] < boxes["app", "2.0.0"]
    assert ranges == ["1"]
    assert re.search(
        r'<a href="/ui/packages/one\?tenant=default&amp;name=db&amp;version=1.0.0">', text
    )
    alone = shown(page(), "one", name="db", version="1.0.0")
    assert ("comes with Trundle" in words(alone), "<svg class" in alone) == (True, False)


@pytest.mark.full
def test_what_is_in_a_version_and_what_changed(page, filled):
    found = words(shown(page(), "one", name="app", look="1"))
    assert "app.Main db.Server 1 property, 0 methods" in found
    assert "Changes since 1.0.0" in found
    assert "app.Gone major" in found
    older = words(shown(page(), "one", name="app", version="1.0.0", look="1"))
    assert "There is no version before to compare it with." in older
    again = words(shown(page(), "one", name="app", look="1"))
    assert again == found


@pytest.mark.full
def test_a_class_has_its_members_and_what_it_inherits(page, filled):
    found = words(shown(page(), "class", name="app", **{"class": "app.Main"}))
    assert "Extends db.Server" in found
    assert "size Contract $.int()" in found
    assert "Inherited db.Server name, start()" in found
    server = words(shown(page(), "class", name="db", version="1.0.0", **{"class": "db.Server"}))
    assert "start(port) public" in server
    assert "default 5432" in server
    for wanted in ("db.Server", ""):
        shown(page(), "class", 404, name="app", **{"class": wanted})


@pytest.mark.full
def test_a_project_in_a_package_shows_its_resource_types(catalog, page):
    files = {
        "app.yaml": "name: acme/db\nversion: 1.0.0\n",
        "trundle.yaml": "package: db\nsources: [schemas]\n",
        "schemas/v1.yaml": SCHEMA,
        "schemas/v2.yaml": SCHEMA,
    }
    assert not catalog.upload([Package.from_files(files)], tenant="default").refused
    found = words(shown(page(), "one", name="acme/db", look="1"))
    assert "Database 2 API versions, the newest v2" in found
    one = words(shown(page(), "resource", name="acme/db", type="Database"))
    assert "size integer In GB." in one
    shown(page(), "resource", 404, name="acme/db", type="Other")


def test_packages_that_require_each_other_and_one_that_nothing_meets(catalog, page):
    first = bundle("a", needs={"b": "1"})
    catalog.upload(
        [first, bundle("b", needs={"a": "1", "c": "3"}), bundle("c", "3.1.0")], tenant="default"
    )
    catalog.delete(
        "c", next(iter(catalog.offers("default", "c"))).version, tenant="default", force=True
    )
    text = shown(page(), "one", name="a")
    boxes, ranges = graph(text)
    assert set(boxes) == {("a", "1.0.0"), ("b", "1.0.0"), ("c", "nothing meets it")}
    assert ranges == ["1", "3"]
    assert "b 1.0.0 requires a 1, which requires it in turn." in words(text)
    assert "c 3 none" in words(shown(page(), "one", name="b"))


@pytest.mark.full
def test_a_long_chain_of_requirements_is_cut_and_says_so(catalog, page):
    chain = [bundle(f"p{at:02}", needs={f"p{at + 1:02}": "1"}) for at in range(60)]
    catalog.upload([*chain, bundle("p60")], tenant="default")
    text = shown(page(), "one", name="p00")
    assert len(graph(text)[0]) == 40
    assert "There are more than 40" in words(text)


@pytest.mark.parametrize(
    ("query", "code", "text"),
    [
        ({"name": "none"}, 404, "The tenant default sees no package none."),
        ({"name": "secret"}, 404, "sees no package secret"),
        ({"name": "app", "version": "3.0.0"}, 404, "no version 3.0.0 of app, but 1.0.0, 2.0.0"),
        ({"name": "app", "version": "../.."}, 400, "../.."),
        ({"name": "app", "tenant": "a/b"}, 400, "a/b"),
        ({"name": "app", "tenant": "-"}, 400, "-"),
    ],
)
def test_what_is_not_there_is_said(page, filled, query, code, text):
    assert text in html.unescape(shown(page(), "one", code=code, **query))


def test_hostile_names_and_texts_are_shown_as_text(catalog, page):
    evil = "<script>alert(1)</script>"
    package = bundle(
        "evil",
        Main=f"Name: evil.Main\nMeta:\n  io.murano.metadata.Description: {{text: '{evil}'}}\n",
    )
    catalog.upload([package], tenant="default")
    for text in (
        shown(page(), "one", name="evil", look="1"),
        shown(page(), "class", name="evil", **{"class": "evil.Main"}),
    ):
        assert "alert(1)</script>" not in text


def test_a_user_sees_the_tenants_that_rules_admit(page, filled, tmp_path):
    (tmp_path / "tokens.csv").write_text(TOKENS)
    (tmp_path / "rules.yaml").write_text(
        "apiVersion: rbac.authorization.k8s.io/v1\n"
        "kind: Role\n"
        "metadata: {name: readers, namespace: default}\n"
        "rules: [{apiGroups: [catalog.trundle.dev], resources: [packages], verbs: [get, list]}]\n"
        "---\n"
        "apiVersion: rbac.authorization.k8s.io/v1\n"
        "kind: RoleBinding\n"
        "metadata: {name: readers, namespace: default}\n"
        "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: readers}\n"
        "subjects: [{kind: User, name: ben, apiGroup: rbac.authorization.k8s.io}]\n"
    )
    application = page(Access(tmp_path / "tokens.csv", tmp_path / "rules.yaml"))
    codes = {
        (name, tenant): asgi.call(
            application,
            "GET",
            "/ui/packages",
            headers={"authorization": f"Bearer {name}-token"},
            tenant=tenant,
        ).status
        for name in ("root", "ben", "ann")
        for tenant in ("default", "other")
    }
    assert codes == {
        ("root", "default"): 200,
        ("root", "other"): 200,
        ("ben", "default"): 200,
        ("ben", "other"): 403,
        ("ann", "default"): 403,
        ("ann", "other"): 403,
    }


def test_a_look_into_a_package_waits_for_no_disk(catalog, page, monkeypatch):
    versions = [bundle("app", each, Main="Name: app.Main\n") for each in ("1.0.0", "1.1.0")]
    assert not catalog.upload(versions, tenant="default").refused
    monkeypatch.setattr("os.fsync", lambda _: pytest.fail("asks for it"))
    assert "app.Main" in shown(page(), "one", name="app", look="1")


FIRST_LOOK = """
import sys, threading
from pathlib import Path
from bundles import bundle
from catalog_pages import pages_over, shown
from trundle.catalog import Catalog
from yaql._ply import yacc

folder = Path(sys.argv[1])
with Catalog(folder / "catalog.db") as catalog, pages_over(catalog, folder) as make:
    for version in ("1.0.0", "1.1.0"):
        text = f"Name: app.Main\\nProperties: {{n: {{Contract: $.int(), Default: {version[2]}}}}}\\n"
        catalog.upload([bundle("app", version, Main=text)], tenant="default")
    page = make()
    for each in threading.enumerate():
        if each.name == "page-preparing":
            each.join()
    shown(page, "one", name="app")
    before = set(sys.modules)
    yacc.yacc = None  # Makes a grammar, which takes longer than all else.
    assert "$.int()" in shown(page, "class", name="app", **{"class": "app.Main"})
    print(*sorted(each for each in set(sys.modules) - before if each.startswith("trundle")))
"""


def test_a_first_look_into_a_package_waits_for_no_import_and_no_grammar(tmp_path):
    support = Path(catalog_pages.__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", FIRST_LOOK, tmp_path],
        env={**os.environ, "PYTHONPATH": str(support)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr[-2000:]) == ("\n", "")
