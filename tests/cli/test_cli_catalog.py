"""The commands of `trundle catalog`: what they print, change and refuse, and how they end."""

import json
import os
import subprocess
import sys

import pytest
from bundles import bundle

from trundle.catalog import Catalog
from trundle.packages import Package

DB = """\
Format: '1.0'
Type: Library
FullName: com.acme.Db
Version: 1.2.0
Classes: {com.acme.Db: Db.yaml}
"""
APP = """\
Format: '1.0'
Type: Application
FullName: com.acme.App
Version: 1.0.0
Require: {com.acme.Db: '>=1.2'}
"""


@pytest.fixture
def line(empty, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(empty.folder / "home"))
    monkeypatch.setenv("TRUNDLE_CATALOG", "kept/catalog.db")
    empty.write("db/manifest.yaml", DB)
    empty.write("db/Classes/Db.yaml", "Name: com.acme.Db\n")
    empty.write("app/manifest.yaml", APP)
    return empty


def ok(line, *arguments):
    result = line.run("catalog", *arguments)
    assert result.exit_code == 0, result.output
    return result


def data(line, *arguments):
    return json.loads(ok(line, *arguments, "-o", "json").stdout)


def refused(line, code, *arguments):
    result = line.run("catalog", *arguments)
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    return result.stderr


@pytest.mark.full
def test_what_is_uploaded_is_listed_shown_and_downloaded(line):
    assert ok(line, "upload", "app", "db").stdout.startswith("stored com.acme.App 1.0.0 sha256:")
    listed = data(line, "list")
    assert [(each["name"], each["version"], each["public"]) for each in listed] == [
        ("com.acme.App", "1.0.0", False),
        ("com.acme.Db", "1.2.0", False),
    ]
    shown = data(line, "show", "com.acme.Db")
    assert shown["classes"] == {"com.acme.Db": "Classes/Db.yaml"}
    assert "class    com.acme.Db in Classes/Db.yaml" in ok(line, "show", "com.acme.Db").stdout
    assert ok(line, "download", "com.acme.Db").stdout == "com.acme.Db-1.2.0.tar\n"
    archive = (line.folder / "com.acme.Db-1.2.0.tar").read_bytes()
    assert Package.from_archive(archive) == Package.from_folder(line.folder / "db")
    assert "expected no such file" in refused(line, 4, "download", "com.acme.Db")
    ok(line, "download", "com.acme.Db", "1.2.0", "--to", "again.tar")
    assert "already" in ok(line, "upload", "again.tar").stderr


def test_the_current_folder_is_the_default(line, monkeypatch):
    monkeypatch.chdir(line.folder / "db")
    assert data(line, "upload")["stored"][0]["name"] == "com.acme.Db"


def test_an_upload_that_is_refused_lists_all_findings_and_ends_with_3(line):
    line.write("db/Classes/Db.yaml", "Name: com.acme.Db\nExtends: Nothing\n")
    line.write("app/manifest.yaml", APP.replace("com.acme.Db", "no.Db"))
    message = refused(line, 3, "upload", "app", "db")
    assert "no version of no.Db" in message
    assert "Classes/Db.yaml" in message
    result = line.run("catalog", "upload", "app", "db", "-o", "json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["stored"]) == (3, [])
    assert [each["code"] for each in found["findings"]] == ["unmet-requirement", "no-class"]
    assert data(line, "list") == []


def test_what_cannot_be_read_is_listed_for_all_paths(line):
    line.write("db/manifest.yaml", "FullName: com.acme.Db\nVersion: 1.10\n")
    (line.folder / "bad.zip").write_bytes(b"PK\x03\x04 cut off")
    message = refused(line, 3, "upload", "db", "bad.zip")
    assert "db/manifest.yaml:2: expected a version such as 1.2.3" in message
    assert "bad.zip: the archive: expected a whole zip archive" in message
    assert refused(line, 6, "upload", "bad.zip").count("\n") == 1
    assert "none.zip" in refused(line, 5, "upload", "none.zip")
    assert not (line.folder / "kept").exists()


@pytest.mark.full
def test_what_cannot_be_read_hides_nothing_that_is_wrong_with_the_others(line):
    line.write("db/manifest.yaml", DB.replace("1.2.0", "1.10"))
    line.write("net/manifest.yaml", DB.replace("Db", "Net"))
    line.write("net/Classes/Net.yaml", "Name: com.acme.Net\nExtends: Nothing\n")
    message = refused(line, 3, "upload", "app", "db", "net")
    assert "db/manifest.yaml:4: expected a version such as 1.2.3" in message
    assert "Nothing" in message
    assert "Classes/Net.yaml" in message
    assert "no version of com.acme.Db" not in message  # What cannot be read may be that.
    assert not (line.folder / "kept").exists()
    line.write("net/Classes/Net.yaml", "Name: com.acme.Net\n")
    assert refused(line, 3, "upload", "app", "db", "net").count("\n") == 1
    line.write("db/manifest.yaml", DB)
    ok(line, "upload", "app", "db", "net")


def test_what_is_no_archive_is_not_read(line):
    os.mkfifo(line.folder / "pipe")
    assert "expected a folder or an archive" in refused(line, 2, "upload", "pipe")
    with (line.folder / "large.tar").open("wb") as file:
        file.truncate(300 * 1024**2)
    assert "at most 268435456 bytes" in refused(line, 3, "upload", "large.tar")


@pytest.mark.full
def test_a_dry_run_changes_nothing(line):
    assert ok(line, "upload", "db", "--dry-run").stdout.startswith("would have stored com.acme.Db")
    assert not (line.folder / "kept").exists()
    ok(line, "upload", "db")
    before = data(line, "list")
    for change in (["delete"], ["share"], ["share", "--undo"]):
        done = ok(line, *change, "com.acme.Db", "1.2.0", "--dry-run")
        assert done.stderr.startswith("would have")
    ok(line, "tidy", "--dry-run")
    assert data(line, "list") == before


@pytest.mark.full
def test_tenants_see_their_own_and_what_is_shared(line, monkeypatch):
    ok(line, "upload", "db", "--tenant", "acme")
    assert data(line, "list", "--tenant", "other") == []
    ok(line, "share", "com.acme.Db", "1.2.0", "--tenant", "acme")
    assert len(data(line, "list", "--tenant", "other")) == 1
    monkeypatch.setenv("TRUNDLE_TENANT", "other")
    ok(line, "upload", "app")
    assert "owns" in refused(line, 5, "delete", "com.acme.Db", "1.2.0")
    needed = refused(line, 3, "share", "com.acme.Db", "1.2.0", "--undo", "--tenant", "acme")
    assert "a private package of another tenant" in needed
    assert "shadows-public-package" in refused(line, 3, "upload", "db")
    assert "invalid-tenant" in refused(line, 2, "list", "--tenant", "a b")


def test_deleting_what_is_needed(line):
    ok(line, "upload", "db", "app")
    message = refused(line, 3, "delete", "com.acme.Db", "1.2.0")
    assert "com.acme.App 1.0.0, which requires com.acme.Db >=1.2" in message
    done = ok(line, "delete", "com.acme.Db", "1.2.0", "--force")
    assert "warning: com.acme.Db 1.2.0" in done.stderr
    assert [each["name"] for each in data(line, "list")] == ["com.acme.App"]
    digest = Package.from_folder(line.folder / "db").digest
    assert data(line, "tidy") == {"removed": [digest], "dryRun": False}


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["show", "no.Package"], 5, "no version of no.Package"),
        (["show", "com.acme.Db", "x"], 2, "expected a number"),
        (["delete", "com.acme.Db", "9.9.9"], 5, "no version of com.acme.Db"),
        (["share", "com.acme.Db", "1.2.0", "--force"], 2, "--undo"),
        (["list", "--catalog", "mysql://host/name"], 2, "postgresql://"),
    ],
)
def test_wrong_usage_and_what_is_missing(line, arguments, code, text):
    assert text in refused(line, code, *arguments)


def test_a_list_without_packages_says_where_it_looked(line):
    result = ok(line, "list")
    assert "kept/catalog.db: no package for the tenant default" in result.stderr
    assert not (line.folder / "kept").exists()


@pytest.mark.parametrize("form", ["'1.5'", "MuranoPL/2.0", "Python/1.0"])
def test_a_package_in_a_format_that_the_engine_does_not_run_is_not_stored(line, form):
    line.write("db/manifest.yaml", DB.replace("'1.0'", form))
    said = refused(line, 3, "upload", "db")
    assert "expected `Format: 1.4` or older" in said
    assert "[format]" in said
    assert data(line, "list") == []


def test_a_catalog_that_is_damaged_ends_with_1(line):
    line.write("kept/catalog.db", "no database at all " * 300)
    assert "damaged-database" in refused(line, 1, "list")


@pytest.mark.full
def test_what_a_channel_installs_the_catalog_offers(line):
    line.write("lib/manifest.yaml", "FullName: acme.lib\nVersion: 1.0.0\nFormat: '1.0'\n")
    publish = ("publish", "lib", "--to", "oci:registry//acme/lib", "--channel", "stable")
    assert line.run(*publish).exit_code == 0
    install = ("install", "oci:registry//acme/lib", "--unsigned", "--state", "state")
    result = line.run(*install)
    assert result.exit_code == 0, result.output
    stored = data(line, "upload", "--installed", "--state", "state")["stored"]
    digest = Package.from_folder(line.folder / "lib").digest
    assert stored == [{"name": "acme.lib", "version": "1.0.0", "digest": digest}]
    assert data(line, "upload", "--installed", "--state", "state")["stored"] == []


@pytest.mark.full
def test_help_of_the_group_imports_neither_database_nor_engine(line):
    code = (
        "import sys\nfrom trundle.cli._app import app\n"
        "try:\n    app(['catalog', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([each for each in ('sqlalchemy', 'yaql', 'trundle.catalog', 'trundle.engine') "
        "if each in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONWARNINGS": ""},
    )
    assert done.stderr.strip() == "[]"


def test_many_packages_of_a_catalog_are_a_table(line):
    with Catalog(line.folder / "many.db") as catalog:
        catalog.upload([bundle(f"a.P{at}") for at in range(3)], tenant="acme", public=True)
    lines = ok(line, "list", "--catalog", "many.db").stdout.splitlines()
    assert lines[0].split() == ["PACKAGE", "VERSION", "TENANT", "SEEN", "BY", "DIGEST"]
    assert [each.split()[0] for each in lines[1:]] == ["a.P0", "a.P1", "a.P2"]


SCHEMA = "title: Person\ntype: object\nproperties:\n  id: {type: string}\n  level: {type: string}\n"


def project(line, folder, version, schema=SCHEMA):
    line.write(f"{folder}/app.yaml", f"name: acme/crm\nversion: {version}\n")
    line.write(f"{folder}/trundle.yaml", "package: crm\nsources: [schemas]\n")
    line.write(f"{folder}/schemas/2014-04-04.yaml", schema)


@pytest.mark.full
def test_a_project_is_checked_and_compared_before_it_is_stored(line):
    project(line, "crm", "1.0.0")
    assert "run `trundle generate`" in refused(line, 3, "upload", "crm")
    assert line.run("-C", "crm", "generate").exit_code == 0
    assert "run `trundle lock`" in refused(line, 3, "upload", "crm")
    assert line.run("-C", "crm", "lock").exit_code == 0
    ok(line, "upload", "crm")
    project(line, "crm", "1.0.1", SCHEMA.replace("level: {type: string}", "level: {type: boolean}"))
    assert line.run("-C", "crm", "generate").exit_code == 0
    assert line.run("-C", "crm", "lock", "--accept").exit_code == 0
    assert "raise the version to 2.0.0" in refused(line, 3, "upload", "crm")
    assert [each["version"] for each in data(line, "list")] == ["1.0.0"]
    line.write("crm/app.yaml", "name: acme/crm\nversion: 2.0.0\n")
    ok(line, "upload", "crm")


def test_all_releases_of_a_folder_are_stored_together_or_none(line):
    for version in ("1.0.0", "1.1.0"):
        line.write(f"tree/{version}/manifest.yaml", DB.replace("1.2.0", version))
        line.write(f"tree/{version}/Classes/Db.yaml", "Name: com.acme.Db\n")
    line.write("tree/dev/manifest.yaml", DB.replace("1.2.0", "0.0.0"))
    ok(line, "upload", "tree")
    assert [each["version"] for each in data(line, "list")] == ["1.0.0", "1.1.0"]
    line.write("tree/1.2.0/manifest.yaml", DB.replace("1.2.0", "1.3.0"))
    line.write("tree/1.2.0/Classes/Db.yaml", "Name: com.acme.Db\n")
    assert "expected version 1.2.0, found 1.3.0" in refused(line, 3, "upload", "tree")


def test_a_release_is_compared_with_the_one_before_it_in_the_same_upload(line):
    project(line, "tree/1.0.0", "1.0.0")
    project(line, "tree/1.0.1", "1.0.1", SCHEMA + "  new: {type: string}\n")
    for folder in ("tree/1.0.0", "tree/1.0.1"):
        assert line.run("-C", folder, "generate").exit_code == 0
        assert line.run("-C", folder, "lock").exit_code == 0
    assert "raise the version to 1.1.0" in refused(line, 3, "upload", "tree")


def test_an_override_needs_a_reason_which_is_kept_and_shown(line):
    project(line, "crm", "1.0.0")
    assert refused(line, 2, "upload", "crm", "--override", " ").count("\n") == 1
    assert "run `trundle generate`" in refused(line, 3, "upload", "crm")
    reason = ("--override", "a client\nwaits for it")
    assert data(line, "upload", "crm", "--dry-run", *reason)["overridden"]
    assert data(line, "list") == []
    done = ok(line, "upload", "crm", *reason)
    assert "overridden: " in done.stderr
    assert "run `trundle generate`" in done.stderr
    assert data(line, "show", "acme/crm")["override"] == "a client\nwaits for it"
    assert "  override a client waits for it\n" in ok(line, "show", "acme/crm").stdout
    assert data(line, "list")[0]["override"] == "a client\nwaits for it"


def test_a_reason_without_anything_to_override_is_not_kept(line):
    done = ok(line, "upload", "db", "--override", "just so")
    assert "there was nothing to override" in done.stderr
    assert "override" not in data(line, "show", "com.acme.Db")


@pytest.mark.full
def test_a_version_that_the_model_of_an_environment_uses_is_not_deleted(line):
    line.write(
        "base/manifest.yaml",
        "FullName: com.acme.Base\nType: Library\nClasses: {com.acme.Base: B.yaml}\n",
    )
    line.write("base/Classes/B.yaml", "Name: com.acme.Base\n")
    line.write("db/manifest.yaml", f"{DB}Require: {{com.acme.Base: }}\n")
    line.write("db/Classes/Db.yaml", "Name: com.acme.Db\nExtends: com.acme.Base\n")
    ok(line, "upload", "db", "base")
    line.write("db/manifest.yaml", f"{DB}Require: {{com.acme.Base: }}\n".replace("1.2.0", "1.3.0"))
    ok(line, "upload", "db")
    line.write("model.yaml", "?: {type: com.acme.Db/1.2.0, id: db}\n")
    done = ok(line, "use", "prod", "model.yaml")
    assert done.stdout.splitlines() == ["com.acme.Base 0.0.0", "com.acme.Db 1.2.0"]
    assert "found the environment prod" in refused(line, 3, "delete", "com.acme.Db", "1.2.0")
    assert data(line, "environments")[0]["environment"] == "prod"
    assert "prod         com.acme.Db    1.2.0" in ok(line, "environments").stdout
    line.write("model.yaml", "?: {type: com.acme.Db, id: db}\n")
    assert data(line, "use", "prod", "model.yaml", "--dry-run")["uses"][1]["version"] == "1.3.0"
    ok(line, "delete", "com.acme.Db", "1.3.0", "--dry-run")
    ok(line, "use", "prod", "--forget")
    ok(line, "delete", "com.acme.Db", "1.2.0")
    for arguments in (("prod",), ("prod", "model.yaml", "--forget")):
        refused(line, 2, "use", *arguments)
    line.write("model.yaml", "?: {type: com.acme.Nothing, id: db}\n")
    assert "no-class" in refused(line, 5, "use", "prod", "model.yaml")


@pytest.mark.parametrize(
    "command",
    ["delete a 1.0.0", "share a 1.0.0", "use prod --forget", "environments", "tidy"],
)
@pytest.mark.parametrize("by", ["option", "environment"])
def test_what_works_on_the_database_refuses_a_server(line, monkeypatch, command, by):
    url = "http://127.0.0.1:9"
    arguments = ["catalog", *command.split()]
    if by == "option":
        arguments += ["--server", url]
    else:
        monkeypatch.delenv("TRUNDLE_CATALOG")
        monkeypatch.setenv("TRUNDLE_SERVER", url)
    done = line.run(*arguments)
    assert done.exit_code == 2
    assert (
        f"expected the database of the catalog, which this command works on, found the server {url}"
        in done.stderr
    )
    assert "--catalog" in done.stderr


@pytest.mark.parametrize("by", ["--server", "TRUNDLE_SERVER"])
@pytest.mark.parametrize("url", ["localhost:8080", "http://[::1", "http://a..b"])
def test_a_server_that_is_no_url_is_refused_where_it_is_named(line, monkeypatch, by, url):
    arguments = ["catalog", "list"]
    if by == "--server":
        arguments += [by, url]
    else:
        monkeypatch.delenv("TRUNDLE_CATALOG")
        monkeypatch.setenv(by, url)
    done = line.run(*arguments)
    assert done.exit_code == 2
    assert f"{by}: expected a URL such as https://trundle.example.com, found" in done.stderr


def test_a_database_that_is_named_counts_more_than_the_server(line, monkeypatch):
    monkeypatch.setenv("TRUNDLE_SERVER", "http://127.0.0.1:9")
    done = line.run("catalog", "environments", "--catalog", "other.db")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "other.db: no environment of the tenant default" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ("upload nowhere", 5, "nowhere: expected a folder or an archive of a package"),
        ("download com.acme.Db --to no/db.tar", 5, "no: expected a folder to write to"),
        ("download com.acme.Db --to db", 4, "db: expected no such file, found a folder"),
        ("use prod words.yaml", 2, "words.yaml: expected a model, with `Objects`"),
        ("use prod odd.yaml", 5, "odd.yaml:1: com.acme.None: $: expected a class"),
    ],
)
def test_paths_and_models_that_do_not_fit_are_named(line, arguments, code, text):
    ok(line, "upload", "db")
    line.write("words.yaml", "hello: world\n")
    line.write("odd.yaml", "'?': {type: com.acme.None}\n")
    assert text in refused(line, code, *arguments.split())


def test_forgetting_an_environment_that_was_never_recorded_says_so(line):
    assert "knows no environment prod of default" in ok(line, "use", "prod", "--forget").stderr
