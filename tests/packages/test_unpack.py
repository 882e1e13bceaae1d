import io
import os
import tarfile

import pytest
from amounts import amount
from hypothesis import given, settings
from hypothesis import strategies as st

from trundle.packages import ArchiveLimits, FolderExistsError, UnpackError, unpack
from trundle.packages import _unpack as module


def member(name, content=b"", **attributes):
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    for key, value in attributes.items():
        setattr(entry, key, value)
    return entry, content


def archive(*members, form=tarfile.PAX_FORMAT):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=form) as tar:
        for entry, content in members:
            tar.addfile(entry, io.BytesIO(content))
    return data.getvalue()


def refuse(tmp_path, data, limits=None):
    with pytest.raises(UnpackError) as caught:
        unpack(io.BytesIO(data), tmp_path / "out", limits)
    assert list(tmp_path.iterdir()) == []
    return str(caught.value)


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_files_get_content_and_fixed_permissions(tmp_path, form):
    data = archive(
        member("./", type=tarfile.DIRTYPE, mode=0o700),
        member("d", type=tarfile.DIRTYPE, mode=0o000),
        member("d/run", b"x" * 3000, mode=0o4711, mtime=5, uid=1000, uname="me"),
        member("./plain", b"", mode=0o000),
        form=form,
    )
    old = os.umask(0o077)
    try:
        assert unpack(io.BytesIO(data), tmp_path / "a/out") == ("d/run", "plain")
    finally:
        os.umask(old)
    out = tmp_path / "a/out"
    modes = {
        path.relative_to(out).as_posix(): path.stat().st_mode & 0o7777 for path in out.rglob("*")
    }
    assert modes == {"d": 0o755, "d/run": 0o755, "plain": 0o644}
    assert out.stat().st_mode & 0o777 == 0o755
    assert (out / "d/run").read_bytes() == b"x" * 3000
    assert (out / "d/run").stat().st_mtime > 1000
    assert list((tmp_path / "a").iterdir()) == [out]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("../evil", "a path inside the package"),
        ("a/../../evil", "a path inside the package"),
        ("/etc/evil", "a path inside the package"),
        ("a//b", "a path inside the package"),
        ("a/./b", "a path inside the package"),
        ("a\\..\\b", "control characters and backslashes"),
        ("a\nb", "control characters and backslashes"),
        ("a\u202eb", "control characters and backslashes"),
        ("a\u061cb", "control characters and backslashes"),
        ("x" * 256, "names of at most 255 bytes"),
        ("/".join(["x" * 100] * 11), "a path of at most 1000 bytes"),
    ],
)
@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.DIRTYPE])
def test_names_that_lead_elsewhere_are_refused(tmp_path, name, text, kind):
    assert text in refuse(tmp_path, archive(member("ok", b"x"), member(name, type=kind)))


@pytest.mark.parametrize(
    "kind",
    [
        tarfile.SYMTYPE,
        tarfile.LNKTYPE,
        tarfile.CHRTYPE,
        tarfile.BLKTYPE,
        tarfile.FIFOTYPE,
        tarfile.CONTTYPE,
        b"Z",
    ],
)
def test_everything_but_files_and_folders_is_refused(tmp_path, kind):
    data = archive(member("a", b""), member("b", type=kind, linkname="a"))
    assert "another kind of entry at 'b'" in refuse(tmp_path, data)


@pytest.mark.parametrize(
    "names",
    [
        ("a", "a"),
        ("a", "A"),
        ("a", "a/b"),
        ("a/b", "a"),
        ("A/x", "a/y"),
        ("\u00e9", "e\u0301"),
        ("a", "./a"),
    ],
)
def test_names_that_meet_are_refused(tmp_path, names):
    data = archive(*(member(name, b"x") for name in names))
    assert "names that differ by more than letter case and accents" in refuse(tmp_path, data)


def test_too_much_is_refused_before_it_is_written(tmp_path):
    data = archive(*(member(f"f{number}", b"x" * 1000) for number in range(5)))
    assert "at most 4 files, found more" in refuse(tmp_path, data, ArchiveLimits(files=4))
    assert "at most 4999 bytes" in refuse(tmp_path, data, ArchiveLimits(size=4999))
    assert len(unpack(io.BytesIO(data), tmp_path / "out", ArchiveLimits(files=5, size=5000))) == 5


def test_a_size_that_is_only_claimed_is_refused(tmp_path):
    entry, _ = member("a")
    entry.size = 1 << 40
    header = entry.tobuf(tarfile.GNU_FORMAT)
    assert "at most" in refuse(tmp_path, header)
    entry.size = 1 << 20
    assert "expected a whole archive" in refuse(tmp_path, entry.tobuf() + b"x" * 1000)
    entry.size = -512
    assert "expected" in refuse(tmp_path, entry.tobuf(tarfile.GNU_FORMAT) + b"x" * 2048)


def test_a_description_without_measure_is_refused(tmp_path):
    data = archive(member("a", pax_headers={"comment": "x" * 200_000}))
    assert "a description of each file in at most 64 KiB, found a longer one" in refuse(
        tmp_path, data
    )


class Endless(io.RawIOBase):
    """An archive whose first header never ends."""

    def __init__(self, start):
        self.start = start
        self.given = 0

    def read(self, size=-1):
        self.given += size
        return self.start.ljust(size, b"x")[:size] if self.given <= size else b"x" * size


def test_endless_data_is_not_read(tmp_path):
    entry = tarfile.TarInfo("a")
    entry.type = tarfile.XHDTYPE
    entry.size = 1 << 33
    source = Endless(entry.tobuf(tarfile.GNU_FORMAT))
    with pytest.raises(UnpackError):
        unpack(source, tmp_path / "out")
    assert source.given < 200_000


def test_sparse_files_are_refused(tmp_path):
    data = archive(
        member("a", b"x", pax_headers={"GNU.sparse.major": "1", "GNU.sparse.minor": "0"})
    )
    assert "expected" in refuse(tmp_path, data)


@pytest.mark.parametrize("data", [b"x" * 600, b"\x1f\x8b" + b"x" * 1000, b"x"])
def test_what_is_no_archive_is_refused(tmp_path, data):
    assert "expected" in refuse(tmp_path, data)


@pytest.mark.parametrize("cut", [100, 512, 700, 1000, 1500])
def test_an_archive_that_is_cut_off_is_refused_or_ends_between_files(tmp_path, cut):
    data = archive(member("a", b"x" * 400), member("b", b"y" * 400))[:cut]
    try:
        names = unpack(io.BytesIO(data), tmp_path / "out")
    except UnpackError:
        assert list(tmp_path.iterdir()) == []
    else:
        assert [len((tmp_path / "out" / name).read_bytes()) for name in names] == [400] * len(names)


@settings(max_examples=amount(150), deadline=None)  # the disk takes its time
@given(st.data())
def test_no_bytes_do_harm(tmp_path_factory, data):
    whole = bytearray(archive(member("a", b"x" * 700), member("b" * 150, b"y")))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, 2600))] = data.draw(st.integers(0, 255))
    root = tmp_path_factory.mktemp("harm")
    try:
        unpack(io.BytesIO(bytes(whole)), root / "in/out", ArchiveLimits(size=10_000))
    except UnpackError:
        assert list((root / "in").iterdir()) == []
    assert [path.name for path in root.iterdir()] == ["in"]
    assert not any(path.is_symlink() for path in root.rglob("*"))


def test_a_folder_that_exists_is_left_alone(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine").write_text("")
    with pytest.raises(FolderExistsError, match="expected no such folder, found one"):
        unpack(io.BytesIO(archive(member("a"))), tmp_path / "out")
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "mine"]


def test_a_folder_that_appears_meanwhile_is_left_alone(tmp_path, monkeypatch):
    def intrude(root, *, durable):
        (tmp_path / "out").mkdir()
        (tmp_path / "out/mine").write_text("")

    monkeypatch.setattr(module, "_settle", intrude)
    with pytest.raises(FolderExistsError):
        unpack(io.BytesIO(archive(member("a"))), tmp_path / "out")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["mine", "out"]


def test_a_failing_disk_leaves_nothing(tmp_path, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        unpack(io.BytesIO(archive(member("a", b"x"))), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
