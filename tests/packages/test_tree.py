import pytest

from trundle.packages import ManifestError, release_tree
from trundle.version import SemVer, VersionRange


def package(folder, version):
    folder.mkdir(parents=True)
    (folder / "app.yaml").write_text(f"name: acme/a\nversion: {version}\n")


def test_a_tree_has_dev_and_releases_in_the_order_of_versions(tmp_path):
    for name in ("1.10.0", "1.9.0", "dev"):
        package(tmp_path / name, "0.0.0" if name == "dev" else name)
    (tmp_path / "1.11.0").mkdir()  # no package in it
    tree = release_tree(tmp_path)
    assert list(tree.releases) == [SemVer(1, 9, 0), SemVer(1, 10, 0)]
    assert tree.newest() == SemVer(1, 10, 0)
    assert tree.newest(VersionRange.parse("1.9")) == SemVer(1, 9, 0)
    assert tree.newest(VersionRange.parse("2")) is None


def test_the_folder_of_a_package_is_no_tree(tmp_path):
    package(tmp_path / "a", "1.0.0")
    package(tmp_path / "a" / "dev", "1.0.0")
    assert release_tree(tmp_path / "a") is None
    assert release_tree(tmp_path / "nowhere") is None


def test_dev_alone_is_a_tree_without_releases(tmp_path):
    package(tmp_path / "dev", "0.0.0")
    assert release_tree(tmp_path).releases == {}


def test_releases_have_the_version_of_their_folder(tmp_path):
    package(tmp_path / "1.0.0", "1.0.1")
    package(tmp_path / "1.1.0", "1.1.2")
    with pytest.raises(ManifestError) as wrong:
        release_tree(tmp_path).check()
    assert len(wrong.value.findings) == 2
