"""The next release of a package out of its folder `dev`, in repositories of git and without one."""

import subprocess

import pytest

from trundle.packages import read_manifest, release_tree
from trundle.project import Wanted, generate, load_config, lock, plan_release, write_release
from trundle.project.findings import FindingsError
from trundle.version import SemVer, VersionRange

SCHEMA = "title: Person\ntype: object\nproperties: {id: {type: string}, level: {type: string}}\n"


class Tree:
    """A package with `dev`, and a repository of git around it."""

    def __init__(self, folder):
        self.root = folder
        self.folder = folder / "crm"
        self.write("app.yaml", "name: acme/crm\nversion: 0.0.0\n")

    def write(self, name, text, place="crm/dev"):
        path = self.root / place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *arguments):
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        command = ["git", *identity, "-C", str(self.root), *arguments]
        subprocess.run(command, check=True, capture_output=True)

    def commit(self, message):
        self.git("add", ".")
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def plan(self, **wanted):
        return plan_release(release_tree(self.folder), Wanted(**wanted), jobs=1)

    def release(self, **wanted):
        planned = self.plan(**wanted)
        write_release(planned)
        return str(planned.version)

    def project(self, schema=SCHEMA):
        self.write("trundle.yaml", "package: crm\nsources: [schemas]\n")
        self.write("schemas/2014-04-04.yaml", schema)
        config = load_config(self.folder / "dev" / "trundle.yaml")
        generate(config, jobs=1)
        lock(config, accept=True, jobs=1)


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


@pytest.fixture
def versioned(tree):
    tree.git("init", "-q")
    tree.commit("Start [changes major version]")
    assert tree.release(version=SemVer(1, 0, 0)) == "1.0.0"
    tree.commit("Release 1.0.0")
    return tree


def test_a_first_release_is_a_minor_step_from_nothing(tree):
    assert tree.release() == "0.1.0"
    assert read_manifest(tree.folder / "0.1.0").version == SemVer(0, 1, 0)
    assert read_manifest(tree.folder / "dev").version == SemVer(0, 0, 0)


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        (["Fix"], "1.0.1"),
        (["Fix [changes revision]"], "1.0.1"),
        (["New\n\nbody [changes minor version]", "Fix"], "1.1.0"),
        (["Less [Changes Major Version]", "New [changes minor version]"], "2.0.0"),
    ],
)
def test_marks_of_commits_since_the_last_release_count(versioned, messages, expected):
    for number, message in enumerate(messages):
        versioned.write("text", f"{number}")
        versioned.commit(message)
    assert versioned.release() == expected


def test_marks_of_earlier_commits_and_of_other_folders_do_not_count(versioned):
    versioned.write("other", "x", place="elsewhere")
    versioned.commit("Elsewhere [changes major version]")
    assert str(versioned.plan().version) == "1.0.1"


def test_commits_are_the_changes_of_the_release(versioned):
    versioned.write("text", "x")
    versioned.commit("Say more [changes minor version]")
    versioned.release()
    assert read_manifest(versioned.folder / "1.1.0").changes == ("Say more",)
    changes = (versioned.folder / "1.1.0" / "CHANGES").read_text()
    assert changes.startswith("1.1.0\n\n- ")
    assert "Say more" in changes
    assert changes.index("\n1.0.0\n") > changes.index("Say more")


def test_without_a_repository_a_note_says_so(tree):
    assert "no commits are read" in tree.plan().notes[0]


def test_what_is_not_committed_is_noted(versioned):
    versioned.write("text", "x")
    assert versioned.plan().notes == ("dev has changes that are not committed",)


def test_a_mark_does_not_lower_what_the_comparison_finds(tree):
    tree.project()
    tree.release(version=SemVer(1, 0, 0))
    tree.project(SCHEMA.replace("level: {type: string}", "level: {type: boolean}"))
    assert str(tree.plan().version) == "2.0.0"
    with pytest.raises(FindingsError, match=r"1\.1\.0 is too low"):
        tree.plan(version=SemVer(1, 1, 0))


def test_a_project_that_is_not_in_order_is_not_released(tree):
    tree.project()
    tree.write("schemas/2014-04-04.yaml", SCHEMA.replace("level", "rank"))
    with pytest.raises(FindingsError) as refused:
        tree.plan()
    assert {str(each.code) for each in refused.value.findings} >= {"stale", "lock"}
    assert [each.name for each in tree.folder.iterdir()] == ["dev"]


def test_a_line_goes_on_after_a_newer_one(tree):
    for version in ("1.2.3", "1.3.0"):
        tree.write("text", version)
        tree.release(version=SemVer.parse(version))
    assert tree.release(line=VersionRange.parse("1.2")) == "1.2.4"
    assert tree.release() == "1.3.1"


def test_a_line_that_has_no_release_is_refused_with_those_that_there_are(tree):
    line = VersionRange.parse("2.0")
    with pytest.raises(FindingsError, match=r"expected a release of 2\.0, found none; leave"):
        tree.plan(line=line)
    for version in ("1.2.3", "1.3.0"):
        tree.write("text", version)
        tree.release(version=SemVer.parse(version))
    with pytest.raises(FindingsError, match=r"found 1\.2\.3, 1\.3\.0; name the line of one"):
        tree.plan(line=line)


def test_changes_that_do_not_fit_a_line_are_refused(tree):
    tree.project()
    tree.release(version=SemVer(1, 2, 3))
    tree.write("schemas/2016-03-01.yaml", SCHEMA)
    tree.project()
    with pytest.raises(FindingsError) as refused:
        tree.plan(line=VersionRange.parse("1.2"))
    assert {str(each.code) for each in refused.value.findings} == {
        "unusable-version",
        "api-version-added",
    }
    assert str(tree.plan(line=VersionRange.parse("1")).version) == "1.3.0"


@pytest.mark.parametrize(
    ("newest", "expected"), [("1.2.3", ">=1.2.3,<2"), ("0.3.1", ">=0.3.1,<0.4")]
)
def test_requirements_become_precise_by_what_is_released_beside(tree, newest, expected):
    tree.write("app.yaml", f"name: acme/base\nversion: {newest}\n", place=f"base/{newest}")
    tree.write("app.yaml", "name: acme/crm\nversion: 0.0.0\ndependsOn: {acme/base: }\n")
    tree.release()
    (found,) = read_manifest(tree.folder / "0.1.0").requirements
    assert found.range == VersionRange.parse(expected)


def test_a_requirement_that_is_not_beside_needs_a_range(tree):
    tree.write("app.yaml", "name: acme/crm\nversion: 0.0.0\ndependsOn: {a: , b: '>=1.10,<2'}\n")
    with pytest.raises(FindingsError, match="a range for a"):
        tree.plan()
    tree.write("app.yaml", "name: acme/crm\nversion: 0.0.0\ndependsOn: {b: '>=1.10,<2'}\n")
    tree.release()
    (found,) = read_manifest(tree.folder / "0.1.0").requirements
    assert found.range == VersionRange.parse(">=1.10,<2")


def test_a_manifest_of_the_package_language_keeps_its_keys(tree):
    (tree.folder / "dev" / "app.yaml").unlink()
    text = "FullName: acme.Crm\nFormat: 1.3\nName: Crm\nSupplier: {Name: Acme}\nTags: [a, b]\n"
    tree.write("manifest.yaml", text)
    tree.release()
    written = (tree.folder / "0.1.0" / "manifest.yaml").read_text()
    assert read_manifest(tree.folder / "0.1.0").version == SemVer(0, 1, 0)
    for line in ("FullName: acme.Crm", "Supplier:", "Tags:"):
        assert line in written


def test_a_version_that_is_released_is_not_written_again(tree):
    tree.release(version=SemVer(1, 0, 0))
    tree.write("text", "x")
    with pytest.raises(FindingsError, match="is too low"):
        tree.plan(version=SemVer(1, 0, 0))


def test_a_plan_writes_nothing(tree):
    tree.plan()
    assert [each.name for each in tree.folder.iterdir()] == ["dev"]


def test_what_a_newer_line_brought_does_not_get_into_an_earlier_one(versioned):
    versioned.write("text", "new")
    versioned.commit("New [changes minor version]")
    assert versioned.release() == "1.1.0"
    versioned.commit("Release 1.1.0")
    versioned.write("text", "fixed", place="fix")
    versioned.write("app.yaml", "name: acme/crm\nversion: 0.0.0\n", place="fix")
    line = VersionRange.parse("1.0")
    assert versioned.release(line=line, source=versioned.root / "fix") == "1.0.1"
    versioned.commit("Release 1.0.1")
    with pytest.raises(FindingsError, match="stay within"):
        versioned.plan(line=line)


def subjects(planned):
    return [each.subject for each in planned.commits]


def test_a_mark_of_the_commit_that_a_release_came_with_counts_if_the_release_says_less(versioned):
    versioned.write("text", "x")
    assert versioned.release() == "1.0.1"
    versioned.commit("Redo [changes major version]")
    assert str(versioned.plan().version) == "2.0.0"
    assert subjects(versioned.plan()) == ["Redo"]


def test_a_mark_that_the_release_of_its_commit_says_does_not_count_again(versioned):
    versioned.write("text", "x")
    assert versioned.release(version=SemVer(2, 0, 0)) == "2.0.0"
    versioned.commit("Redo [changes major version]")
    assert str(versioned.plan().version) == "2.0.1"
    assert subjects(versioned.plan()) == []


def test_what_a_commit_changes_beyond_the_release_in_it_is_listed(versioned):
    versioned.write("text", "x")
    assert versioned.release() == "1.0.1"
    versioned.write("text", "y")
    versioned.commit("Release and go on [changes minor version]")
    assert str(versioned.plan().version) == "1.1.0"
    versioned.git("commit", "-q", "--amend", "-m", "Release and go on")
    assert (str(versioned.plan().version), subjects(versioned.plan())) == (
        "1.0.2",
        ["Release and go on"],
    )


def test_marks_of_merges_and_of_what_they_bring_count(versioned):
    versioned.git("branch", "-M", "main")
    versioned.git("checkout", "-q", "-b", "feature")
    versioned.write("one", "x")
    versioned.commit("One")
    versioned.write("two", "x")
    versioned.commit("Two [changes minor version]")
    versioned.git("checkout", "-q", "main")
    versioned.write("other", "x", place="elsewhere")
    versioned.commit("Elsewhere")
    versioned.git("merge", "-q", "--no-ff", "-m", "Merge feature", "feature")
    assert (str(versioned.plan().version), subjects(versioned.plan())) == ("1.1.0", ["One", "Two"])
    versioned.git("commit", "-q", "--amend", "-m", "Merge feature [changes major version]")
    assert str(versioned.plan().version) == "2.0.0"
    assert subjects(versioned.plan()) == ["One", "Two", "Merge feature"]


def test_what_was_changed_beside_a_release_that_is_merged_counts(versioned):
    versioned.git("branch", "-M", "main")
    versioned.git("checkout", "-q", "-b", "release")
    versioned.write("text", "x")
    assert versioned.release() == "1.0.1"
    versioned.commit("Release 1.0.1")
    versioned.git("checkout", "-q", "main")
    versioned.write("beside", "x")
    versioned.commit("Beside [changes minor version]")
    versioned.git("merge", "-q", "-m", "Merge", "release")
    planned = versioned.plan()
    assert (str(planned.version), "Beside" in subjects(planned)) == ("1.1.0", True)


def test_a_shallow_clone_is_noted(versioned, tmp_path):
    versioned.write("text", "x")
    versioned.commit("More [changes major version]")
    clone = tmp_path / "clone"
    command = ["git", "clone", "-q", "--depth", "1", f"file://{versioned.root}", str(clone)]
    subprocess.run(command, check=True, capture_output=True)
    planned = plan_release(release_tree(clone / "crm"), Wanted(), jobs=1)
    assert planned.notes == (
        "the clone is shallow, so commits may be missing; run `git fetch --unshallow`",
    )
