import io
import pickle
import stat
import struct
import tarfile
import zipfile

import pytest
from amounts import some_of

from trundle.packages import (
    ManifestError,
    ManifestMissingError,
    Package,
    PackageError,
    PackError,
    UnpackError,
    pack,
)

MANIFEST = """\
Format: 1.0
Type: Library
FullName: com.example.Db
Version: 1.2.0
Require:
  z.last: 1
  a.first: '>=1.2,<2'
Classes:
  com.example.Db: Db.yaml
  com.example.Other: Lib/Other.yaml
"""
FILES = {
    "manifest.yaml": MANIFEST,
    "Classes/Db.yaml": "Name: Db\n",
    "Lib/Other.yaml": b"Name: Other\n",
    "Resources/logo.bin": bytes(range(256)),
}


def zipped(files, **attributes):
    """A zip of files; `attributes` are set for each entry."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files if isinstance(files, list) else files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            for key, value in attributes.items():
                setattr(info, key, value)
            archive.writestr(info, content)
    return target.getvalue()


def tarred(files):
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for name, content in files:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return target.getvalue()


def refused(data):
    with pytest.raises(UnpackError) as caught:
        Package.from_archive(data)
    return caught.value.messages


def test_a_package_gives_its_manifest_and_its_files():
    package = Package.from_files(FILES)
    assert (package.name, str(package.version)) == ("com.example.Db", "1.2.0")
    assert package.classes == {
        "com.example.Db": "Classes/Db.yaml",
        "com.example.Other": "Lib/Other.yaml",
    }
    assert package.file("Classes/Db.yaml") == b"Name: Db\n"
    assert package.file("Resources/logo.bin") == bytes(range(256))
    assert package.files == tuple(sorted(FILES))
    with pytest.raises(KeyError):
        package.file("Classes/None.yaml")


def test_requirements_are_in_the_order_of_the_manifest_and_the_implied_ones_follow():
    package = Package.from_files(FILES)
    assert [str(each) for each in package.requirements] == [
        "z.last 1",
        "a.first >=1.2,<2",
        "com.example.Db 1",
        "io.murano >=0.0.0,<1.0.0",
    ]


def test_a_package_is_the_same_in_every_form(tmp_path):
    folder = tmp_path / "db"
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    target = io.BytesIO()
    packed = pack(folder, target)
    forms = [
        Package.from_files(FILES),
        Package.from_files(dict(reversed(FILES.items()))),
        Package.from_folder(folder),
        Package.from_folder(str(folder)),
        Package.from_archive(target.getvalue()),
        Package.from_archive(zipped(FILES)),
    ]
    assert {each.digest for each in forms} == {packed.digest}
    assert {each.archive for each in forms} == {target.getvalue()}
    assert len(set(forms)) == 1


def test_a_manifest_without_a_type_has_a_note():
    (note,) = Package.from_files({"manifest.yaml": "FullName: a.B\n"}).notes
    assert (str(note.code), note.severity) == ("missing-key", "note")
    assert "Type: Library" in note.advice


def test_unknown_keys_of_a_manifest_are_notes():
    package = Package.from_files(
        {"manifest.yaml": "FullName: a.B\nRequires: {c.D: 1}\nX-Own: 1\nType: Library\n"}
    )
    assert [(str(each.code), each.severity, each.place.line) for each in package.notes] == [
        ("unknown-key", "note", 2),
        ("unknown-key", "note", 3),
    ]
    assert "Require" in package.notes[0].advice
    with pytest.raises(ManifestError, match="dependOn"):
        Package.from_files({"app.yaml": "name: a\nversion: 1.0.0\ndependOn: {}\n"})


@pytest.mark.parametrize("form", [None, "1", "1.0", "1.0.0", "MuranoPL/1.0"])
def test_formats_may_be_shortened(form):
    line = f"Format: {form or 'null'}\n"
    package = Package.from_files({"manifest.yaml": f"FullName: a.B\n{line}"})
    assert str(package.manifest.format) == "MuranoPL/1.0.0"
    assert str(package.version) == "0.0.0"


@pytest.mark.parametrize("version", ["1.10", "1.2.3.4", "2020-01-01", "v1.0.0", "true"])
def test_a_version_without_three_parts_is_refused_with_its_line(version):
    with pytest.raises(ManifestError, match=r"manifest\.yaml:2"):
        Package.from_files({"manifest.yaml": f"FullName: a.B\nVersion: {version}\n"})


def test_a_file_that_the_manifest_names_must_be_there():
    files = {"manifest.yaml": MANIFEST, "Lib/Other.yaml": ""}
    with pytest.raises(PackError, match=r"Classes/Db\.yaml"):
        Package.from_files(files)
    with pytest.raises(PackError, match=r"Classes/Db\.yaml"):
        Package.from_archive(zipped(files))


def test_a_package_has_one_manifest():
    with pytest.raises(ManifestMissingError, match="not into one of them"):
        Package.from_archive(zipped({"db/manifest.yaml": MANIFEST}))
    with pytest.raises(ManifestError, match="one manifest"):
        Package.from_files({"manifest.yaml": "FullName: a.B", "app.yaml": "name: a"})


def test_all_that_is_wrong_with_an_archive_is_listed():
    names = ["../up", "/absolute", "a\\b", "Same", "same", "x", "x/y", "c:\x07"]
    expected = ["'../up'", "'/absolute'", "'a\\\\b'", "'same'", "'x/y'", "'c:\\x07'"]
    for data in (zipped([(each, b"") for each in names]), tarred([(each, b"") for each in names])):
        messages = refused(data)
        assert [any(each in message for message in messages) for each in expected] == [True] * 6
        assert len(messages) == 6


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_of_one_name_are_refused():
    assert "'a' beside 'a'" in refused(zipped([("a", b"1"), ("a", b"2")]))[0]
    assert "'a' beside 'a'" in refused(tarred([("a", b"1"), ("a", b"2")]))[0]


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_a_zip_has_plain_files_only(kind):
    data = zipped({**FILES, "link": "/etc/passwd"}, create_system=3)
    assert Package.from_archive(data)
    data = zipped({"link": "/etc/passwd"}, create_system=3, external_attr=(kind | 0o777) << 16)
    assert "another kind of entry at 'link'" in refused(data)[0]


def test_the_executable_bit_is_kept():
    data = zipped(FILES, create_system=3, external_attr=(stat.S_IFREG | 0o755) << 16)
    package = Package.from_archive(data)
    assert package != Package.from_files(FILES)
    assert Package.from_archive(package.archive) == package


@pytest.mark.full
def test_bombs_are_refused_before_they_are_unpacked():
    bomb = zipped({"zeros": bytes(65 * 1024**2)})
    assert len(bomb) < 100_000
    assert "at most 67108864 bytes" in refused(bomb)[0]
    many = zipped([(f"f{each}", b"") for each in range(10_001)])
    assert "at most 10000 files" in refused(many)[0]
    assert "at most 10000 files" in refused(tarred([(f"f{at}", b"") for at in range(10_001)]))[0]


def test_a_zip_whose_directory_understates_a_size_is_refused():
    """The directory says 5 bytes, the data has 1 MiB."""
    data = bytearray(zipped({"zeros": bytes(1024**2)}))
    directory = data.rfind(b"PK\x01\x02")
    struct.pack_into("<L", data, directory + 24, 5)
    with pytest.raises(UnpackError):
        Package.from_archive(bytes(data))


def test_an_encrypted_file_is_refused():
    data = bytearray(zipped({"secret": b"content"}))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(mark) + place] |= 1
    assert "an encrypted file at 'secret'" in refused(bytes(data))[0]


def test_only_deflate_is_unpacked():
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("manifest.yaml", MANIFEST)
    assert "another compression" in refused(target.getvalue())[0]


@pytest.mark.parametrize(
    "make", some_of([zipped, lambda files: Package.from_files(files).archive], 2)
)
def test_an_archive_that_is_cut_off_or_damaged_is_refused_or_whole(make):
    data = make(FILES)
    whole = Package.from_archive(data)
    for cut in range(0, len(data), 37):
        try:
            found = Package.from_archive(data[:cut])
        except (UnpackError, ManifestError, PackError):
            continue
        assert found == whole, "only what fills up a tar may be missing"
    for at in range(0, len(data), 11):
        changed = bytearray(data)
        changed[at] ^= 0xFF
        try:
            Package.from_archive(bytes(changed))
        except (UnpackError, ManifestError, PackError):
            continue


def test_a_manifest_is_no_bomb():
    lines = ["FullName: a.B", "x0: &x0 [a, a, a, a, a, a, a, a, a, a]"]
    lines += [f"x{at}: &x{at} [{', '.join([f'*x{at - 1}'] * 10)}]" for at in range(1, 12)]
    with pytest.raises(ManifestError):
        Package.from_files({"manifest.yaml": "\n".join(lines)})


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (("Version: 1.2.0", "Version: 1.10"), 4),
        (("  z.last: 1", "  z.last: ^1"), 6),
        (("Type: Library", "Type: Library\nType: Library"), 3),
        (("Lib/Other.yaml", "None.yaml"), None),
        ((MANIFEST, "["), 1),
    ],
)
def test_an_error_of_a_manifest_has_the_attributes_of_the_errors_of_the_engine(change, line):
    with pytest.raises(PackageError) as caught:
        Package.from_files({**FILES, "manifest.yaml": MANIFEST.replace(*change)})
    error = caught.value
    assert (error.code, error.file, error.line) == ("manifest", "manifest.yaml", line)
    assert (error.package, error.version, error.class_name, error.member) == ("", None, "", "")
    assert (error.requirements, error.errors) == ((), (error,))
    assert str(error) == error.message
    assert error.advice
    assert error.advice in error.message
    assert pickle.loads(pickle.dumps(error)).code == "manifest"


def test_an_error_of_several_findings_has_an_error_for_each():
    text = MANIFEST.replace("1.2.0", "1").replace("Library", "Thing")
    with pytest.raises(ManifestError) as caught:
        Package.from_files({**FILES, "manifest.yaml": text})
    assert [each.line for each in caught.value.errors] == [2, 4]
    assert caught.value.line == 2
