"""Packages of classes are judged as packages with projects are: by `diff`, `check`, `release`, `publish` and `catalog upload`."""

import json
from zipfile import ZipFile

import pytest

MANIFEST = """\
Format: 1.4
FullName: acme.Db
Type: Library
Version: {version}
Require: {{lib.that.is.not.here: 1}}
Classes: {{acme.Db: Db.yaml}}
"""
CLASS = """\
Namespaces: {{=: acme, lib: lib.that.is.not.here}}
Name: Db
Extends: lib:Base
Properties:
  port: {{Contract: $.int(){contract}}}
"""


def release(line, folder, version, contract=""):
    line.write(f"{folder}/manifest.yaml", MANIFEST.format(version=version))
    line.write(f"{folder}/Classes/Db.yaml", CLASS.format(contract=contract))


def zipped(line, folder):
    with ZipFile(line.folder / f"{folder}.zip", "w") as archive:
        for each in ("manifest.yaml", "Classes/Db.yaml"):
            archive.write(line.folder / folder / each, each)


@pytest.fixture
def releases(empty):
    """A release, and a patch of it that refuses what it accepted; what they require is nowhere."""
    release(empty, "old", "1.0.0")
    release(empty, "new", "1.0.1", ".notNull()")
    return empty


def test_a_diff_ends_with_3_where_the_version_is_too_low(releases):
    done = releases.run("package", "diff", "old", "new")
    assert done.exit_code == 3
    assert (
        "major  acme.Db.port  the contract `$.int().notNull()` no longer accepts null [contract-narrowed]"
        in done.stdout
    )
    assert "expected 2.0.0 at least, found 1.0.1" in done.stderr
    release(releases, "new", "2.0.0", ".notNull()")
    found = json.loads(releases.run("package", "diff", "old", "new", "-o", "json").stdout)
    assert (found["required"], found["sufficient"]) == ("2.0.0", True)


@pytest.mark.full
def test_a_diff_and_pages_of_zips(releases):
    for each in ("old", "new"):
        zipped(releases, each)
    folders, archives = (
        releases.run("package", "diff", *each) for each in (("old", "new"), ("old.zip", "new.zip"))
    )
    assert (archives.exit_code, archives.stdout) == (folders.exit_code, folders.stdout)
    done = releases.run("package", "docs", "old.zip", "--to", "site")
    assert (done.exit_code, done.stdout) == (0, "wrote site/acme.Db/1.0.0\n"), done.stderr


def test_a_check_reads_class_files_and_judges_the_version(releases):
    assert releases.run("package", "check", "old").exit_code == 0
    done = releases.run("package", "check", "new", "--against", "old")
    assert done.exit_code == 3
    assert "1.0.1 is too low" in done.stdout
    releases.write("new/Classes/Db.yaml", "Name: Db\nProperties: {p: {Contract: $.check()}}")
    done = releases.run("package", "check", "new")
    assert done.exit_code == 3
    assert "Classes/Db.yaml" in done.stdout


def test_a_patch_that_breaks_callers_is_not_published(releases):
    to = ("--to", "oci:hub//acme/db", "--channel", "stable")
    assert releases.run("publish", "old", *to).exit_code == 0
    done = releases.run("publish", "new", *to)
    assert done.exit_code == 3
    assert "[contract-narrowed]" in done.stderr
    assert releases.run("publish", "new", *to, "--override", "it is not in use yet").exit_code == 0


@pytest.mark.full
def test_a_patch_that_breaks_callers_is_not_uploaded(releases):
    releases.write(
        "lib/manifest.yaml",
        "FullName: lib.that.is.not.here\nType: Library\nVersion: 1.0.0\nClasses: {lib.that.is.not.here.Base: B.yaml}\n",
    )
    releases.write("lib/Classes/B.yaml", "Name: lib.that.is.not.here.Base\n")
    upload = ("catalog", "upload", "--catalog", "c.db")
    assert releases.run(*upload, "old", "lib").exit_code == 0
    zipped(releases, "new")
    for named in ("new", "new.zip"):
        done = releases.run(*upload, named)
        assert done.exit_code == 3
        assert "acme.Db.port: the contract" in done.stderr
        assert "[contract-narrowed]" in done.stderr


def test_a_release_gets_the_version_that_its_classes_require(releases):
    release(releases, "tree/1.0.0", "1.0.0")
    release(releases, "tree/dev", "0.0.0", ".notNull()")
    done = releases.run("package", "release", "tree", "-o", "json", "--dry-run")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["version"] == "2.0.0"


def test_docs_writes_pages_of_folders_trees_and_archives(releases):
    done = releases.run("package", "docs", "old", "new", "--to", "site")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines() == ["wrote site/acme.Db/1.0.0", "wrote site/acme.Db/1.0.1"]
    assert "Changes since 1.0.0" in (releases.folder / "site/acme.Db/1.0.1/index.md").read_text()
    done = releases.run("package", "docs", "old", "--to", "site")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "left site/acme.Db/1.0.0 as it was" in done.stderr
    release(releases, "old", "1.0.0", ".check($ > 1)")
    done = releases.run("package", "docs", "old", "--to", "site")
    assert done.exit_code == 4
    assert "--replace" in done.stderr
    release(releases, "tree/2.0.0", "2.0.0")
    found = releases.run("package", "docs", "tree", "--to", "site", "--dry-run", "-o", "json")
    assert json.loads(found.stdout) == {
        "written": ["site/acme.Db/2.0.0"],
        "kept": [],
        "dryRun": True,
    }


def test_docs_refuses_what_is_given_twice(releases):
    done = releases.run("package", "docs", "old", "old", "--to", "site")
    assert done.exit_code == 2
    assert "a second one" in done.stderr
    assert not (releases.folder / "site").exists()


@pytest.fixture
def offered(releases, monkeypatch):
    """The same releases in a catalog, of which only the archives are left, and a library of another tenant."""
    monkeypatch.setenv("TRUNDLE_CATALOG", "kept.db")
    for folder in ("old", "new"):
        text = (releases.folder / folder / "manifest.yaml").read_text()
        releases.write(f"{folder}/manifest.yaml", text.replace("Require: {lib.that", "#"))
        text = (releases.folder / folder / "Classes/Db.yaml").read_text()
        releases.write(f"{folder}/Classes/Db.yaml", text.replace("Extends: lib:Base\n", ""))
    releases.write("lib/manifest.yaml", "FullName: acme.Lib\nType: Library\nVersion: 2.0.0\n")
    reason = ("--override", "a test")
    for arguments in (("old",), ("new", *reason), ("lib", "--tenant", "other")):
        done = releases.run("catalog", "upload", *arguments)
        assert done.exit_code == 0, done.stderr
    return releases


@pytest.mark.full
def test_packages_of_a_catalog_are_named_with_catalog(offered):
    done = offered.run("package", "diff", "catalog:acme.Db:1.0.0", "catalog:acme.Db")
    assert (done.exit_code, done.stdout) == (
        3,
        offered.run("package", "diff", "old", "new").stdout,
    )
    assert "contract-narrowed" in done.stdout
    done = offered.run("package", "check", "new", "--against", "catalog:acme.Db:1.0.0")
    assert done.exit_code == 3
    for name, code in (("catalog:no.Such", 5), ("catalog:acme.Db:1.5.0", 5), ("catalog:a:x", 2)):
        assert offered.run("package", "diff", name, "new").exit_code == code, name


@pytest.mark.full
def test_docs_takes_packages_out_of_a_catalog(offered):
    done = offered.run("package", "docs", "catalog:", "--to", "all")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines() == ["wrote all/acme.Db/1.0.0", "wrote all/acme.Db/1.0.1"]
    assert "Changes since 1.0.0" in (offered.folder / "all/acme.Db/1.0.1/index.md").read_text()
    done = offered.run("package", "docs", "old", "new", "--to", "folders")
    for each in (offered.folder / "folders").rglob("*.md"):
        same = offered.folder / "all" / each.relative_to(offered.folder / "folders")
        assert each.read_text() == same.read_text()
    done = offered.run(
        "package", "docs", "catalog:acme.Lib", "--tenant", "other", "--to", "lib-site"
    )
    assert done.stdout.splitlines() == ["wrote lib-site/acme.Lib/2.0.0"]
    done = offered.run("package", "docs", "old", "catalog:acme.Db:1.0.1", "--to", "mixed")
    assert done.stdout.splitlines() == ["wrote mixed/acme.Db/1.0.0", "wrote mixed/acme.Db/1.0.1"]
    done = offered.run("package", "docs", "catalog:acme.Lib", "--to", "none")
    assert (done.exit_code, (offered.folder / "none").exists()) == (5, False)
    assert "run `trundle catalog list`" in done.stderr


@pytest.mark.full
def test_a_package_may_carry_the_project_that_makes_its_python_classes(empty):
    """It is checked with the package, and brings no resource types."""
    empty.write(
        "a/manifest.yaml", "FullName: a\nType: Library\nVersion: 1.0.0\nClasses: {a.A: A.yaml}\n"
    )
    empty.write("a/Classes/A.yaml", "Name: a.A\n")
    empty.write("a/trundle.yaml", "package: made\nsources: [.]\n")
    done = empty.run("package", "check", "a")
    assert done.exit_code == 3
    assert "run `trundle generate`" in done.output
    assert empty.run("-C", "a", "generate").exit_code == 0
    for arguments in (
        ("-C", "a", "check"),
        ("-C", "a", "generate", "--check"),
        ("package", "check", "a"),
    ):
        assert empty.run(*arguments).exit_code == 0, arguments
    done = empty.run("catalog", "upload", "a", "--catalog", "c.db")
    assert done.exit_code == 0, done.stderr
    empty.write(
        "a/manifest.yaml", "FullName: a\nType: Library\nVersion: 1.1.0\nClasses: {a.A: A.yaml}\n"
    )
    empty.write("a/Classes/A.yaml", "Name: a.A\nMethods: {f: {}}\n")
    assert empty.run("-C", "a", "check").exit_code == 3
    assert empty.run("-C", "a", "generate").exit_code == 0
    done = empty.run("catalog", "upload", "a", "--catalog", "c.db")
    assert done.exit_code == 0, done.stderr


def test_a_manifest_of_something_else_makes_no_package_of_classes(empty):
    empty.write("trundle.yaml", "package: crm\nsources: [schemas]\n")
    empty.write("schemas/v1.yaml", "title: A\ntype: object\nproperties: {x: {type: string}}\n")
    empty.write(
        "schemas/other/manifest.yaml", "title: B\ntype: object\nproperties: {x: {type: string}}\n"
    )
    done = empty.run("generate")
    assert "FullName" not in done.stderr
    assert "manifest" in done.stderr  # It is read as a schema, whose version nothing says.


@pytest.fixture
def project_of_classes(empty):
    """A project whose sources are two releases of a package."""
    for version in ("1.0.0", "2.0.0"):
        manifest = MANIFEST.replace("Require: {{lib.that.is.not.here: 1}}\n", "")
        empty.write(f"db/{version}/manifest.yaml", manifest.format(version=version))
        text = CLASS.replace("Extends: lib:Base\n", "").format(contract="")
        empty.write(f"db/{version}/Classes/Db.yaml", text)
    empty.write("trundle.yaml", "package: models\nsources: [db/1.0.0, db/2.0.0]\n")
    return empty


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("map", "2 versions"),
        ("explain acme.Db", "1.0.0 to 2.0.0"),
        ("diff 1.0.0 2.0.0", "Unchanged types: acme.Db"),
        ("stats", "1 resource type in 2 versions"),
        ("suggest", "Nothing to suggest"),
        ("verify --examples 1", "acme.Db"),
        ("verify trundle.yaml --examples 1", "acme.Db"),
    ],
)
def test_reports_and_proofs_read_the_packages_of_a_project(project_of_classes, command, shown):
    done = project_of_classes.run(*command.split())
    assert done.exit_code == 0, done.stderr
    assert shown in done.stdout


@pytest.mark.parametrize("command", ["lock", "lock --dry-run"])
def test_a_lock_is_for_schemas_and_the_message_names_what_is_for_classes(
    project_of_classes, command
):
    done = project_of_classes.run(*command.split())
    assert done.exit_code == 1
    assert "expected schemas of resources, found packages of classes" in done.stderr
    assert "trundle package check --against" in done.stderr
    assert not (project_of_classes.folder / "trundle.lock").exists()


def test_a_project_of_several_packages_asks_for_one(project_of_classes):
    project_of_classes.write(
        "db/other/manifest.yaml", "FullName: acme.Other\nType: Library\nVersion: 1.0.0\n"
    )
    project_of_classes.write("trundle.yaml", "package: models\nsources: [db]\n")
    done = project_of_classes.run("map")
    assert done.exit_code == 2
    assert "expected one package, found acme.Db, acme.Other" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ("check nowhere", 5, "nowhere: expected app.yaml or manifest.yaml, found no such folder"),
        ("check junk", 5, "junk: expected app.yaml or manifest.yaml, found a file"),
        ("check old --against junk", 6, "junk: the archive: expected a whole tar archive"),
        ("diff old catalog:", 2, "expected catalog:NAME or catalog:NAME:VERSION, found no name"),
        (
            "explain acme.Db old --package nope",
            5,
            "expected the class acme.Db in the package nope, found it in acme.Db",
        ),
    ],
)
def test_what_names_no_package_is_named(releases, arguments, code, text):
    releases.write("junk", "hello")
    done = releases.run("package", *arguments.split())
    assert text in done.stderr
    assert (done.exit_code, done.stdout) == (code, "")


def test_a_check_refuses_a_version_before_the_release_even_if_nothing_changed(releases):
    release(releases, "new", "2.0.0")
    done = releases.run("package", "check", "old", "--against", "new")
    assert "expected 2.0.0 or newer, found 1.0.0" in done.stdout
    assert done.exit_code == 3
    assert releases.run("package", "check", "new", "--against", "old").exit_code == 0


TAG = """\
Name: acme.lib.Tag
Usage: Meta
Cardinality: One
Inherited: true
Applies: All
"""
LIBRARY = """\
Format: 1.4
FullName: acme.lib
Type: Library
Version: 1.0.0
Classes: {acme.lib.Tag: Tag.yaml, acme.lib.A: A.yaml, acme.lib.B: B.yaml}
"""
USER = """\
Format: 1.4
FullName: acme.user
Type: Library
Version: 1.0.0
Require: {acme.lib: 1}
Classes: {acme.user.C: C.yaml}
"""


@pytest.mark.full
def test_a_check_knows_what_the_catalog_has_of_the_requirements(empty, monkeypatch):
    monkeypatch.setenv("TRUNDLE_CATALOG", "kept/catalog.db")
    empty.write("lib/manifest.yaml", LIBRARY)
    empty.write("lib/Classes/Tag.yaml", TAG)
    for each in "AB":
        text = f"Name: acme.lib.{each}\nMeta: [{{acme.lib.Tag: {{}}}}]\n"
        empty.write(f"lib/Classes/{each}.yaml", text)
    empty.write("user/manifest.yaml", USER)
    empty.write("user/Classes/C.yaml", "Name: acme.user.C\nExtends: [acme.lib.A, acme.lib.B]\n")
    done = empty.run("package", "check", "user")
    assert done.exit_code == 0
    assert "note: the catalog has no acme.lib" in done.stderr
    assert "what acme.user uses of it is not checked" in done.stderr
    assert not (empty.folder / "kept").exists()
    assert empty.run("catalog", "upload", "lib").exit_code == 0
    done = empty.run("package", "check", "user")
    assert (done.exit_code, "expected acme.lib.Tag from one parent" in done.stdout) == (3, True)
    assert "[meta]" in done.stdout
    assert "note:" not in done.stderr
    empty.write("user/Classes/C.yaml", "Name: acme.user.C\nExtends: [acme.lib.None]\n")
    assert "acme.lib.None" in empty.run("package", "check", "user").stdout
    empty.write("user/Classes/C.yaml", "Name: acme.user.C\nExtends: [acme.lib.A]\n")
    assert empty.run("package", "check", "user").exit_code == 0


def test_a_check_looks_at_the_usual_form_that_no_manifest_lists(empty):
    manifest = (
        "FullName: acme.Web\nType: Application\nVersion: 1.0.0\nClasses: {acme.Web: w.yaml}\n"
    )
    form = "Application:\n  ?: {type: acme.Web}\n  size: sizes($.main.sise)\nForms:\n- main: {fields: [{name: size, type: string}]}\n"
    empty.write("web/manifest.yaml", manifest)
    empty.write("web/Classes/w.yaml", "Name: acme.Web\nMethods: {f: {Body: [$x: foo()]}}\n")
    empty.write("web/UI/ui.yaml", form)
    done = empty.run("package", "check", "web")
    assert done.exit_code == 3
    assert (
        'error: UI/ui.yaml:3: acme.Web 1.0.0: Application: `sizes($.main.sise)`: unknown function "sizes"'
        in done.stdout
    )
    assert (
        "expected a field of main, found sise; did you mean size? [form-unknown-name]"
        in done.stdout
    )
    assert (
        'warning: Classes/w.yaml:2: acme.Web/1.0.0 acme.Web: `foo()`: unknown function "foo"'
        in done.stdout
    )
