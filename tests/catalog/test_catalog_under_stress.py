"""Uploads at once, uploads that die, disks that are full, databases that are damaged or of another release."""

import contextlib
import os
import resource
import sqlite3
import time

import pytest
from bundles import bundle
from children import ended, in_child
from sqlalchemy import event, text, update
from sqlalchemy.engine import Engine

from trundle.catalog import Catalog, DamagedContentError, StillNeededError, _catalog
from trundle.catalog._change_rules import judged
from trundle.catalog._tables import CONTENTS, MIGRATIONS
from trundle.database import (
    BusyError,
    DamagedError,
    NewerSchemaError,
    UnwritableError,
    open_database,
)
from trundle.version import SemVer

V1 = SemVer.parse("1.0.0")
COUNT = 15


def shape(url):
    with Catalog(url) as catalog:
        return {str(each) for each in catalog.offers("acme")}


@pytest.mark.full
def test_of_two_uploaders_at_once_each_version_is_one_s(url):
    """Both upload the same versions with other content, one package at a time; what one stored the other is refused."""
    Catalog(url).close()

    def uploader(text_):
        def work():
            refused = 0
            with Catalog(url) as catalog:
                for at in range(COUNT):
                    package = bundle("a.App", f"1.{at}.0", text=text_)
                    refused += catalog.upload([package], tenant="acme").refused
            return refused

        return work

    children = [in_child(uploader(each)) for each in ("one", "two")]
    refused = [ended(each) for each in children]
    assert sum(refused) == COUNT
    with Catalog(url) as catalog:
        snapshot = catalog.snapshot("acme")
        texts = [package.file("Resources/text") for package in snapshot]
        assert len(texts) == COUNT
        assert [texts.count(b"two"), texts.count(b"one")] == refused


@pytest.mark.full
def test_a_reader_sees_no_half_of_an_upload(url):
    Catalog(url).close()

    def work():
        with Catalog(url) as catalog:
            for at in range(COUNT):
                packages = [bundle(f"a.P{each}", f"1.{at}.0") for each in range(5)]
                catalog.upload(packages, tenant="acme")
        return 0

    child = in_child(work)
    with Catalog(url) as catalog:
        sizes = set()
        deadline = time.monotonic() + 300
        while max(sizes, default=0) < 5 * COUNT and time.monotonic() < deadline:
            sizes.add(len(catalog.snapshot("acme")))
    assert ended(child) == 0
    assert {each % 5 for each in sizes} == {0}


def test_a_requirement_is_not_deleted_beside_the_upload_that_needs_it(url):
    """One process uploads users of a version, another one deletes it; never is there a user without it."""
    with Catalog(url) as catalog:
        catalog.upload([bundle("a.Lib", f"1.{at}.0") for at in range(COUNT)], tenant="acme")

    def uploads():
        with Catalog(url) as catalog:
            for at in range(COUNT):
                package = bundle("a.App", f"1.{at}.0", needs={"a.Lib": f"1.{at}.0"})
                catalog.upload([package], tenant="acme")
        return 0

    child = in_child(uploads)
    with Catalog(url) as catalog:
        for at in range(COUNT):
            with contextlib.suppress(StillNeededError):
                catalog.delete("a.Lib", SemVer(1, at, 0), tenant="acme")
    assert ended(child) == 0
    found = shape(url)
    for at in range(COUNT):
        assert (f"a.App 1.{at}.0" in found) == (f"a.Lib 1.{at}.0" in found)


@pytest.mark.full
def test_an_upload_that_is_killed_at_any_statement_stores_all_or_nothing(url):
    with Catalog(url) as catalog:
        catalog.upload([bundle("a.Old")], tenant="acme")
    packages = [bundle("a.One", needs={"a.Two": "1"}), bundle("a.Two", needs={"a.Old": "1"})]

    def dying(at):
        def work():
            left = at

            def step(_connection, _cursor, statement, *_):
                nonlocal left
                if statement.startswith("INSERT"):
                    left -= 1
                    if left < 0:
                        os._exit(9)

            event.listen(Engine, "before_cursor_execute", step)
            with Catalog(url) as catalog:
                catalog.upload(packages, tenant="acme")
            return 0

        return work

    at = 0
    while ended(in_child(dying(at))) == 9:
        assert shape(url) == {"a.Old 1.0.0"}
        at += 1
    assert at >= 3, "contents, packages and requirements"
    assert shape(url) == {"a.Old 1.0.0", "a.One 1.0.0", "a.Two 1.0.0"}


def test_an_upload_to_a_full_disk_keeps_what_was_there(tmp_path):
    path = tmp_path / "catalog.db"
    with Catalog(path) as catalog:
        catalog.upload([bundle("a.Old")], tenant="acme")

    def work():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        large = bundle("a.Large", text=os.urandom(200_000).hex())
        try:
            with Catalog(path) as catalog:
                catalog.upload([bundle("a.New"), large], tenant="acme")
        except UnwritableError as error:
            return 42 if "make room" in str(error) else 2
        return 1

    assert ended(in_child(work)) == 42
    assert shape(path) == {"a.Old 1.0.0"}


def test_a_catalog_that_another_process_holds_is_busy(tmp_path):
    path = tmp_path / "catalog.db"
    with Catalog(path) as catalog, Catalog(path, wait=0.1) as late:
        with (
            catalog._changing(dry_run=False),
            pytest.raises(BusyError, match="try again"),
        ):
            late.upload([bundle("a.App")], tenant="acme")
        assert late.upload([bundle("a.App")], tenant="acme").stored


def test_a_file_that_is_no_database(tmp_path):
    path = tmp_path / "catalog.db"
    path.write_bytes(b"something else entirely\n" * 1000)
    with pytest.raises(DamagedError, match=r"catalog\.db"):
        Catalog(f"sqlite:///{path}")
    assert path.read_bytes().startswith(b"something else")


def test_a_catalog_of_a_later_release_is_left_alone(url):
    with Catalog(url) as catalog:
        catalog.upload([bundle("a.App")], tenant="acme")
    with open_database(url) as database, database.writing() as connection:
        connection.execute(text(f"UPDATE {MIGRATIONS.version_table} SET version_num = '9999'"))
    with pytest.raises(NewerSchemaError, match="use the newer release"):
        Catalog(url)
    with open_database(url) as database, database.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM catalog_packages")).scalar() == 1


def test_content_that_was_changed_is_noticed(catalog):
    package = bundle("a.App", text="good")
    catalog.upload([package, bundle("b.App")], tenant="acme")
    with catalog._database.writing() as connection:
        bad = package.archive.replace(b"good", b"evil")
        where = CONTENTS.c.digest == package.digest
        connection.execute(update(CONTENTS).where(where).values(archive=bad))
    snapshot = catalog.snapshot("acme")
    with pytest.raises(DamagedContentError, match=package.digest):
        snapshot.package("a.App", V1).file("Resources/text")
    assert snapshot.package("b.App", V1).file("Resources/text") == b""


def test_a_snapshot_that_outlives_its_content_says_so(catalog):
    catalog.upload([bundle("a.App")], tenant="acme")
    snapshot = catalog.snapshot("acme")
    catalog.delete("a.App", V1, tenant="acme")
    catalog.tidy()
    with pytest.raises(DamagedContentError, match="found none"):
        snapshot.package("a.App", V1).file("Resources/text")


def test_looking_makes_no_file(tmp_path):
    path = tmp_path / "catalog.db"
    with Catalog(path, looking=True) as catalog:
        assert catalog.offers("acme") == ()
        assert not catalog.upload([bundle("a.App")], tenant="acme", dry_run=True).refused
    assert not path.exists()


def test_a_rule_that_the_code_forgets_is_kept_by_the_database(tmp_path):
    """The tables themselves let no version be there twice, and no content be missing."""
    path = tmp_path / "catalog.db"
    with Catalog(path) as catalog:
        catalog.upload([bundle("a.App")], tenant="acme")
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA foreign_keys = ON")
        copy = "INSERT INTO catalog_packages SELECT tenant, name, version, NOT public, digest, manifest, files, override"
        with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
            connection.execute(f"{copy} FROM catalog_packages")
        with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
            connection.execute("DELETE FROM catalog_contents")
    connection.close()


@pytest.mark.parametrize("often", [1, 9])
def test_others_upload_while_packages_are_judged_and_what_they_changed_counts(
    tmp_path, monkeypatch, often
):
    path = tmp_path / "catalog.db"
    seen = []

    def judging(rows, packages, tenant, reviews, *, public):
        found = judged(rows, packages, tenant, reviews, public=public)
        seen.append(tenant)
        if tenant == "acme" and seen.count("acme") <= min(often, 3):
            with Catalog(path, wait=0.5) as other:
                name = "a.App" if often == 1 else f"b.B{len(seen)}"
                assert other.upload([bundle(name)], tenant="rival", public=True).stored
        return found

    monkeypatch.setattr(_catalog, "judged", judging)
    with Catalog(path) as catalog:
        result = catalog.upload([bundle("a.App", text="own")], tenant="acme")
        assert bool(result.stored) == (often != 1)
        assert seen.count("acme") == (2 if often == 1 else 4)
        names = {each.name for each in catalog.snapshot("acme")}
    assert len(names) == (1 if often == 1 else 4)
