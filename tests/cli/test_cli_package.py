"""The commands of `trundle package`: what changed between releases of a project, and whether one may be released."""

import json
import shutil

import pytest
from amounts import full

from trundle.channels.artifacts import read_artifact
from trundle.packages import pack
from trundle.registry import open_repository

SCHEMA = """\
title: Person
type: object
properties:
  id: {type: string}
  level: {type: string}
required: [id]
"""


@pytest.fixture
def released(empty):
    """A package that carries a project, generated and locked, in the folder `crm`."""
    empty.write("crm/app.yaml", "name: acme/crm\nversion: 1.0.0\n")
    empty.write("crm/trundle.yaml", "package: crm\nsources: [schemas]\n")
    empty.write("crm/schemas/2014-04-04.yaml", SCHEMA)
    settle(empty, "crm")
    return empty


def settle(line, folder, *, accept=False):
    assert line.run("-C", folder, "generate").exit_code == 0
    assert line.run("-C", folder, "lock", *(["--accept"] if accept else [])).exit_code == 0


def next_release(line, *, schema=SCHEMA, version="1.0.0"):
    shutil.copytree(line.folder / "crm", line.folder / "next")
    line.write("next/schemas/2014-04-04.yaml", schema)
    line.write("next/app.yaml", f"name: acme/crm\nversion: {version}\n")


GIVEN_UP = SCHEMA.replace("level: {type: string}", "level: {type: boolean}")


def test_a_diff_shows_levels_and_the_required_version(released):
    next_release(released, schema=GIVEN_UP, version="1.0.1")
    done = released.run("package", "diff", "crm", "next")
    assert done.exit_code == 3
    assert "major  Person.level in 2014-04-04  its type string is now boolean" in done.stdout
    assert "expected 2.0.0 at least, found 1.0.1" in done.stderr


def test_a_diff_for_programs(released):
    next_release(released, schema=GIVEN_UP, version="2.0.0")
    done = released.run("package", "diff", "crm", "next", "-o", "json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert found["base"] == "1.0.0"
    assert found["required"] == "2.0.0"
    assert found["sufficient"] is True
    assert {each["level"] for each in found["changes"]} == {"major"}


def test_equal_releases_differ_in_nothing(released):
    next_release(released)
    done = released.run("package", "diff", "crm", "next")
    assert done.exit_code == 0
    assert done.stdout == ""


def test_a_diff_of_an_archive_and_of_a_published_version(released, tmp_path):
    with (tmp_path / "crm.tar").open("wb") as target:
        pack(tmp_path / "crm", target)
    done = released.run("publish", "crm", "--to", "oci:hub//acme/crm", "--channel", "stable")
    assert done.exit_code == 0, done.stderr
    next_release(released, schema=GIVEN_UP, version="1.0.1")
    for earlier in ("crm.tar", "oci:hub//acme/crm:1.0.0"):
        done = released.run("package", "diff", earlier, "next")
        assert done.exit_code == 3
        assert "stored-objects-given-up" in done.stdout


@pytest.mark.parametrize(
    ("named", "code"), [("nowhere", 2), ("oci:hub//acme/crm", 2), ("oci:hub//acme/crm:9.9.9", 5)]
)
def test_what_is_no_package_is_refused(released, named, code):
    done = released.run("package", "diff", named, "crm")
    assert done.exit_code == code
    assert "error:" in done.stderr


def test_a_check_lists_everything_at_once(released):
    next_release(released, schema=GIVEN_UP)
    released.write(
        "next/app.yaml", "name: acme/crm\nversion: 1.0.1\nresourceTypes: [Person, Dog]\n"
    )
    done = released.run("package", "check", "next", "--against", "crm")
    assert done.exit_code == 3
    for code in ("lock", "stale", "wrong-resource-types", "type-changed"):
        assert f"[{code}]" in done.stdout


def test_what_is_stored_and_not_recorded_is_an_error_of_a_release(released):
    (released.folder / "crm" / "trundle.lock").unlink()
    done = released.run("package", "check", "crm")
    assert done.exit_code == 3
    assert "run `trundle lock` [lock]" in done.stdout


def test_a_check_says_what_a_package_brings(released):
    done = released.run("package", "check", "crm", "-o", "json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["resourceTypes"] == {"Person": ["2014-04-04"]}


def test_a_project_below_the_folder_of_the_package_counts(empty):
    empty.write("app/app.yaml", "name: acme/app\nversion: 1.0.0\n")
    empty.write("app/parts/crm/trundle.yaml", "package: crm\nsources: [schemas]\n")
    empty.write("app/parts/crm/schemas/2014-04-04.yaml", SCHEMA)
    done = empty.run("package", "check", "app")
    assert done.exit_code == 3
    assert "[stale]" in done.stdout


def test_a_package_without_a_project_has_nothing_to_check(empty):
    empty.write("app/app.yaml", "name: acme/app\nversion: 1.0.0\n")
    assert empty.run("package", "check", "app").exit_code == 0


def publish(line, folder, *further):
    return line.run("publish", folder, "--to", "oci:hub//acme/crm", "--channel", "stable", *further)


@pytest.fixture
def published(released):
    """The package `crm`, published, and `next`, which gives up stored objects as a patch."""
    assert publish(released, "crm").exit_code == 0
    next_release(released, schema=GIVEN_UP, version="1.0.1")
    return released


def listed(line):
    done = line.run("channel", "show", "oci:hub//acme/crm", "--channel", "stable", "-o", "json")
    return {each["version"]: each for each in json.loads(done.stdout)["versions"]}


@pytest.mark.parametrize("further", [[], ["--dry-run"]])
def test_a_project_that_gives_up_stored_objects_is_not_published(published, further):
    done = publish(published, "next", *further)
    assert done.exit_code == 3
    for code in ("not-in-order", "lock", "stale", "type-changed", "stored-objects-given-up"):
        assert f"[{code}]" in done.stderr
    assert set(listed(published)) == {"1.0.0"}


@pytest.mark.full
def test_accepting_the_loss_does_not_make_it_a_patch(published):
    settle(published, "next", accept=True)
    done = publish(published, "next")
    assert done.exit_code == 3
    assert "raise the version to 2.0.0 at least" in done.stderr
    published.write("next/app.yaml", "name: acme/crm\nversion: 2.0.0\n")
    assert publish(published, "next").exit_code == 0


def test_an_override_needs_a_reason_which_is_kept(published):
    assert publish(published, "next", "--override", " ").exit_code == 2
    done = publish(published, "next", "--override", "nobody uses it")
    assert done.exit_code == 0
    assert "overridden" in done.stderr
    assert listed(published)["1.0.1"]["override"] == "nobody uses it"
    shown = published.run("channel", "show", "oci:hub//acme/crm", "--channel", "stable").stdout
    assert "latest, overridden: nobody uses it" in shown
    log = published.run("channel", "log", "oci:hub//acme/crm", "--channel", "stable").stdout
    assert "publish  1.0.1  overridden: nobody uses it" in log
    assert publish(published, "next", "--skip-existing").exit_code == 0


def test_a_reason_without_anything_to_override_is_not_kept(released):
    done = publish(released, "crm", "--override", "just so")
    assert done.exit_code == 0
    assert "there was nothing to override" in done.stderr
    assert "override" not in listed(released)["1.0.0"]


def test_a_package_that_drops_its_project_is_major(published):
    published.write("bare/app.yaml", "name: acme/crm\nversion: 1.0.1\n")
    done = publish(published, "bare")
    assert done.exit_code == 3
    assert "[project-removed]" in done.stderr


@pytest.mark.full
def test_a_fix_of_an_old_line_follows_that_line(published):
    published.write("next/app.yaml", "name: acme/crm\nversion: 2.0.0\n")
    settle(published, "next", accept=True)
    assert publish(published, "next").exit_code == 0
    published.write("crm/app.yaml", "name: acme/crm\nversion: 1.0.1\n")
    assert publish(published, "crm").exit_code == 0


def test_a_release_before_that_cannot_be_read_needs_an_override(released):
    shutil.copytree(released.folder / "crm", released.folder / "broken")
    released.write("broken/schemas/2014-04-04.yaml", "type: object\nproperties: 3\n")
    released.write("crm/app.yaml", "name: acme/crm\nversion: 1.0.1\n")
    done = released.run("package", "check", "crm", "--against", "broken")
    assert done.exit_code == 3
    assert "[unreadable-release]" in done.stdout


def test_the_manifest_of_a_published_project_says_what_it_brings(published):
    repository = open_repository(f"oci:{published.folder}/hub//acme/crm")
    package = read_artifact(repository, "1.0.0", "crm").package
    assert package.resource_types == ("Person",)
    assert [(each.name, each.versions) for each in package.resource_versions] == [
        ("Person", ("2014-04-04",))
    ]


@pytest.fixture
def classes(empty):
    """Two versions of a library, and a package whose class extends one of its classes."""
    for version in ("1.0.0", "1.1.0"):
        manifest = f"FullName: lib\nType: Library\nVersion: {version}\nClasses: {{lib.A: a.yaml}}"
        empty.write(f"all/lib-{version}/manifest.yaml", manifest)
        empty.write(f"all/lib-{version}/Classes/a.yaml", "Name: lib.A")
    manifest = "FullName: app\nType: Application\nRequire: {lib: 1}\nClasses: {app.B: b.yaml}"
    empty.write("all/app/manifest.yaml", manifest)
    empty.write("all/app/Classes/b.yaml", "Name: app.B\nExtends: lib.A")
    return empty


def test_explain_shows_which_requirement_chose_each_ancestor(classes):
    done = classes.run("package", "explain", "app.B", "all")
    assert done.exit_code == 0
    assert "lib.A             1.1.0    lib        app/0.0.0 requires lib 1" in done.stdout
    assert classes.run("package", "explain", "app.B", "all/app").exit_code == 5


@pytest.mark.parametrize(
    ("output", "words"),
    [("mermaid", "flowchart BT"), ("svg", "<svg "), ("json", '"class": "lib.A"')],
)
def test_explain_draws(classes, output, words):
    done = classes.run("package", "explain", "app.B", "all", "-o", output)
    assert words in done.stdout
    written = classes.run("package", "explain", "app.B", "all", "-o", output, "--output", "x.txt")
    assert written.exit_code == 0
    assert words in (classes.folder / "x.txt").read_text()


def test_explain_says_what_is_missing(classes):
    done = classes.run("package", "explain", "app.C", "all")
    assert done.exit_code == 5
    assert "app.C" in done.stderr
    (classes.folder / "none").mkdir()
    done = classes.run("package", "explain", "app.B", "none")
    assert done.exit_code == 2
    assert "a package with manifest.yaml" in done.stderr


@pytest.fixture
def followed(released, monkeypatch):
    """The package `crm`, published and installed; then 1.1.0 adds an API version, and 2.0.0 removes the first."""
    monkeypatch.setenv("TRUNDLE_STATE", str(released.folder / "state"))
    assert publish(released, "crm").exit_code == 0
    done = released.run("install", "oci:hub//acme/crm", "--channel", "stable", "--unsigned")
    assert done.exit_code == 0, done.stderr
    next_release(released, version="1.1.0")
    released.write("next/schemas/2016-03-01.yaml", SCHEMA)
    settle(released, "next")
    assert publish(released, "next").exit_code == 0
    return released


def as_json(line, *arguments):
    return json.loads(line.run(*arguments, "-o", "json").stdout)


def test_what_is_installed_says_what_it_brings(followed):
    assert "  Person 2014-04-04\n" in followed.run("list").stdout
    assert as_json(followed, "list")[0]["resourceTypes"] == {"Person": ["2014-04-04"]}
    assert as_json(followed, "status")[0]["resourceTypes"] == {"Person": ["2014-04-04"]}
    assert "brings     Person 2014-04-04" in followed.run("status").stdout


@pytest.mark.parametrize("command", [["plan"], full(["upgrade", "--check"])])
def test_what_comes_next_says_what_it_adds(followed, command):
    assert "1.1.0 adds Person 2016-03-01" in followed.run(*command).stdout
    assert as_json(followed, *command)[0]["resourceTypes"] == {
        "version": "1.1.0",
        "changes": [{"name": "Person", "added": ["2016-03-01"], "removed": []}],
    }


@pytest.mark.full
def test_a_major_version_that_waits_says_what_it_removes(followed):
    assert followed.run("upgrade").exit_code == 0
    followed.write("next/app.yaml", "name: acme/crm\nversion: 2.0.0\n")
    (followed.folder / "next" / "schemas" / "2014-04-04.yaml").unlink()
    settle(followed, "next", accept=True)
    assert publish(followed, "next").exit_code == 0
    done = followed.run("plan")
    assert "2.0.0 removes Person 2014-04-04" in done.stdout


@pytest.mark.full
def test_a_version_whose_manifest_is_gone_leaves_a_note(followed):
    manifest = next(
        each["digest"]
        for each in as_json(
            followed, "channel", "show", "oci:hub//acme/crm", "--channel", "stable"
        )["versions"]
        if each["version"] == "1.1.0"
    )
    for each in (followed.folder / "hub").rglob(manifest.removeprefix("sha256:")):
        each.unlink()
    assert "what 1.1.0 brings is not known" in followed.run("plan").stdout


def test_releases_are_made_and_published_folder_by_folder(empty):
    empty.write("crm/dev/app.yaml", "name: acme/crm\nversion: 0.0.0\n")
    done = empty.run("package", "release", "crm", "--dry-run", "-o", "json")
    assert json.loads(done.stdout)["version"] == "0.1.0"
    assert not (empty.folder / "crm" / "0.1.0").exists()
    assert publish(empty, "crm").exit_code == 2  # there is only `dev`
    for text in ("a", "b"):
        empty.write("crm/dev/text", text)
        assert empty.run("package", "release", "crm").exit_code == 0
    done = publish(empty, "crm", "-o", "json")
    assert done.exit_code == 0, done.stderr
    assert [each["published"]["version"] for each in json.loads(done.stdout)] == ["0.1.0", "0.1.1"]
    empty.write("crm/dev/text", "c")
    assert empty.run("package", "release", "crm", "--version", "1.0.0").exit_code == 0
    assert publish(empty, "crm").exit_code == 0
    assert set(listed(empty)) == {"0.1.0", "0.1.1", "1.0.0"}


def test_nothing_is_published_of_a_folder_whose_releases_say_another_version(empty):
    empty.write("crm/1.0.0/app.yaml", "name: acme/crm\nversion: 1.0.0\n")
    empty.write("crm/1.1.0/app.yaml", "name: acme/crm\nversion: 1.1.1\n")
    done = publish(empty, "crm")
    assert done.exit_code == 3
    assert "[wrong-release-folder]" in done.stderr
    assert not (empty.folder / "hub").exists()


def test_a_folder_without_dev_is_no_tree(empty):
    assert empty.run("package", "release").exit_code == 5
