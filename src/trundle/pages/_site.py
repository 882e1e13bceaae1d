"""Writes pages into a folder: those of new versions once, and the lists of versions anew."""

import tempfile
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path

import msgspec

from trundle._locking import locked
from trundle.pages import _listing
from trundle.pages._described_version import DescribedVersion
from trundle.pages._errors import NoSiteError, OtherContentError
from trundle.pages._listing import Listed, Listing
from trundle.pages._names import folder_name
from trundle.pages._version_pages import version_pages

MARK = "pages.json"
"""The file by which a folder is known for a site of pages."""

_LOCK = ".trundle-pages.lock"
_PATIENCE = 60.0
"""Seconds to wait for another process that writes the same site."""

_ASSETS = ("style.css", "pages.js")


class Written(msgspec.Struct, frozen=True):
    """What was done to a site.

    Attributes:
        written: the folders of versions whose pages were written.
        kept: the folders of versions whose pages were there already.
    """

    written: tuple[Path, ...]
    kept: tuple[Path, ...]

    def to_plain(self) -> dict[str, list[str]]:
        """The folders as plain values, for programs."""
        return {"written": list(map(str, self.written)), "kept": list(map(str, self.kept))}


def write_site(
    folder: Path,
    releases: Iterable[DescribedVersion],
    *,
    replace: bool = False,
    dry_run: bool = False,
) -> Written:
    """Writes the pages of some versions into a site. Pages of other versions stay as they are.

    Args:
        folder: the site; it is made where there is none.
        releases: the versions.
        replace: whether to write pages anew that are there already.
        dry_run: whether to look only.

    Raises:
        NoSiteError: the folder holds something else.
        OtherContentError: the pages of a version are there, of another content, and are not to be replaced.
        LockBusyError: another process is writing pages there.
        OSError: something cannot be read or written.
    """
    _check_folder(folder)
    found = list(releases)
    if dry_run:
        return _written(*_sorted_out(folder, _read_listings(folder), found, replace=replace))
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / _LOCK, _PATIENCE):
        listings = _read_listings(folder)
        new, kept = _sorted_out(folder, listings, found, replace=replace)
        _write_file(folder / MARK, b'{"pages": "packages"}\n')
        for place, each in new:
            _write_folder(place, version_pages(each))
            _add(folder, listings, each)
        _write_files(folder, _listing.pages(listings.values()))
        _write_files(folder / "assets", {name: _asset(name) for name in _ASSETS})
    return _written(new, kept)


def _written(new: list[tuple[Path, DescribedVersion]], kept: list[Path]) -> Written:
    return Written(tuple(place for place, _ in new), tuple(kept))


def _sorted_out(
    folder: Path,
    listings: Mapping[str, Listing],
    releases: Iterable[DescribedVersion],
    *,
    replace: bool,
) -> tuple[list[tuple[Path, DescribedVersion]], list[Path]]:
    """The versions whose pages are to be written, with their folders, and the folders of those that stay.

    Raises:
        NoSiteError: another package has the folder of one.
        OtherContentError: the pages of a version are there, of another content, and are not to be replaced.
    """
    new, kept = [], []
    owners = {each.folder.casefold(): each.package for each in listings.values()}
    for each in releases:
        owner = owners.setdefault(folder_name(each.name).casefold(), each.name)
        if owner != each.name:
            raise NoSiteError(folder / folder_name(each.name), f"the pages of {owner}")
        place = folder / folder_name(each.name) / str(each.version)
        listing = listings.get(each.name)
        known = None if listing is None else listing.find(str(each.version))
        if known is None or replace:
            new.append((place, each))
        elif known.digest != each.digest:
            raise OtherContentError(place)
        else:
            kept.append(place)
    return new, kept


def _check_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise NoSiteError(folder, "a file")
    if not folder.is_dir() or (folder / MARK).is_file():
        return
    ours = (_LOCK, f".{MARK}.")  # Another process may be about to make the site.
    others = any(not each.name.startswith(ours) for each in folder.iterdir())
    if others and not (folder / MARK).is_file():  # The mark is made before all other files.
        raise NoSiteError(folder, "other files")


def _read_listings(folder: Path) -> dict[str, Listing]:
    found = {}
    for path in sorted(folder.glob(f"*/{_listing.FILE}")):
        try:
            listing = msgspec.json.decode(path.read_bytes(), type=Listing)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise NoSiteError(path, "a list of versions that cannot be read") from None
        found[listing.package] = listing
    return found


def _add(folder: Path, listings: dict[str, Listing], release: DescribedVersion) -> None:
    """Lists a version whose pages are there."""
    listing = listings.get(release.name, Listing(release.name)).having(Listed.of(release))
    listings[release.name] = listing
    path = folder / folder_name(release.name) / _listing.FILE
    _write_file(path, msgspec.json.format(msgspec.json.encode(listing)) + b"\n")


def _write_folder(place: Path, pages: Mapping[str, bytes]) -> None:
    """Writes the folder of a version: all of it, or nothing."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name}.") as name:
        staged = Path(name, "pages")
        _write_files(staged, pages)
        if place.exists():
            place.rename(Path(name, "before"))
        staged.rename(place)


def _write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        _write_file(folder / name, content)


def _write_file(path: Path, content: bytes) -> None:
    """Writes a file, unless it has that content; readers see all of it, or what was there before."""
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as name:
        staged = Path(name, "file")
        staged.write_bytes(content)
        staged.replace(path)


def _asset(name: str) -> bytes:
    return (resources.files("trundle.pages") / "assets" / name).read_bytes()
