"""The folders of an installation, and the switch from one set of installed packages to the next.

```text
state.db            what is known, and which set is the present one
content/            an image layout with the content of everything that was ever installed
packages/NAME/...   each version unpacked, in a folder of its own
sets/N/             one set: packages/ with a link for each package, and packages.lock
current             a link to the present set
```

A set is made completely before the database says that it is the present one. The link `current` follows; where a
process died in between, the next one sets it. So a reader of `current` sees one set or the other.
"""

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from trundle._durable import sync_folder, write_durably
from trundle.channels.files import id_of
from trundle.database import DamagedError, is_emptied
from trundle.installation._errors import StateError
from trundle.installation._records import InstalledPackage
from trundle.packages import lock_of

LOCK_FILE = "packages.lock"
"""The file of a set that says which releases belong together."""

_KEPT_SETS = 3
_NUMBER = re.compile(r"[1-9][0-9]*")


class Folders:
    """The folders of an installation.

    Args:
        root: the folder with all of them; it is made where it does not exist.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.database = root / "state.db"
        self.content = root / "content"
        self.trust = root / "trust"
        self.lock = root / "lock"
        self.content_lock = root / "content.lock"
        self.current = root / "current"
        self._sets = root / "sets"

    def can_be_written(self) -> bool:
        """Whether the database can be written, or made where there is none."""
        places = (self.root, self.database) if self.database.exists() else (self.root,)
        return all(os.access(each, os.W_OK) for each in places) if self.root.exists() else True

    def refuse_emptied(self) -> None:
        """Refuses a database that has nothing in it, though something was installed once.

        Raises:
            DamagedError: it is empty.
        """
        was_used = self.current.is_symlink() or self._sets.exists() or self.content.exists()
        if was_used and is_emptied(self.database):
            expected, found = "a database with what is installed", "an empty file"
            raise DamagedError(str(self.database), expected, found, "restore it from a backup")

    def unpacked(self, name: str, version: str, digest: str) -> Path:
        """The folder of an unpacked version."""
        return self.root / "packages" / folder_name(name) / f"{version}-{id_of(digest)}"

    def link(self, name: str) -> Path:
        """Where users of a package find what is installed of it."""
        return self.current / "packages" / folder_name(name)

    def of(self, package: InstalledPackage) -> Path:
        """The folder of what is installed of a package."""
        return self.unpacked(package.name, str(package.release.version), package.digest)

    def make_set(self, number: int, packages: Iterable[InstalledPackage]) -> None:
        """Makes a set; it is not visible yet.

        Raises:
            OSError: the folders cannot be written.
        """
        target = self._sets / str(number)
        staged = self._sets / f".{number}.{secrets.token_hex(4)}.partial"
        links = staged / "packages"
        links.mkdir(parents=True)
        try:
            packages = tuple(packages)
            for each in packages:
                place = Path("..", "..", "..", self.of(each).relative_to(self.root))
                (links / folder_name(each.name)).symlink_to(place, target_is_directory=True)
            lock = lock_of(each.release for each in packages).to_json()
            sync_folder(links)
            write_durably(staged / LOCK_FILE, lock)
            staged.rename(target)
            sync_folder(self._sets)
        except BaseException:
            shutil.rmtree(staged, ignore_errors=True)
            raise

    def next_set(self, present: int) -> int:
        """A number for the next set, above all that there are; also where the database was lost."""
        names = (path.name for path in self._sets.glob("*") if _NUMBER.fullmatch(path.name))
        return max((present, *map(int, names))) + 1

    def settle(self, number: int, packages: Callable[[], Iterable[InstalledPackage]]) -> None:
        """Lets the link lead to a set, which is made where it is lost, and tidies up.

        Args:
            number: the set; 0 for none.
            packages: gives what is in it.

        Raises:
            OSError: the folders cannot be written.
        """
        if not self._is_current(number) and number:
            if not self._has_set(number):
                self.make_set(number, packages())
            self._switch(number)
        self._tidy(number)

    def _is_current(self, number: int) -> bool:
        """Whether the link leads to a set."""
        try:
            return self.current.readlink() == Path(self._sets.name, str(number))
        except FileNotFoundError:
            return number == 0

    def _has_set(self, number: int) -> bool:
        """Whether a set was made."""
        return (self._sets / str(number) / LOCK_FILE).exists()

    def _switch(self, number: int) -> None:
        """Lets the link lead to a set; with one rename, so that there is always one."""
        staged = self.root / f".current.{secrets.token_hex(4)}"
        staged.symlink_to(Path(self._sets.name, str(number)), target_is_directory=True)
        try:
            staged.replace(self.current)
        except BaseException:
            staged.unlink(missing_ok=True)
            raise
        sync_folder(self.root)

    def _tidy(self, number: int) -> None:
        """Removes sets long past, unpacked versions that no set has any more, and what dead processes left."""
        used: set[tuple[str, ...]] = set()
        for path in self._sets.glob("*"):
            old = _NUMBER.fullmatch(path.name) and int(path.name) <= number - _KEPT_SETS
            if old or path.name.startswith("."):
                shutil.rmtree(path, ignore_errors=True)
            else:
                used.update(link.readlink().parts[-2:] for link in path.glob("packages/*"))
        for path in self.root.glob(".current.*"):
            path.unlink(missing_ok=True)
        for path in self.root.glob("packages/*/*"):
            if path.parts[-2:] not in used:
                shutil.rmtree(path, ignore_errors=True)


def installed_folders(root: Path) -> dict[str, Path]:
    """The folder of each installed package, by its name, as they are at one moment; nothing where there is no installation.

    Args:
        root: the folder of the installation.

    Raises:
        OSError: a folder cannot be read, or the set was replaced several times meanwhile.
    """
    current = Folders(root).current
    if not current.is_symlink():
        return {}
    links = current.resolve(strict=True) / "packages"
    return {
        each.name.replace("+", "/"): each.resolve(strict=True) for each in sorted(links.iterdir())
    }


def exists(folder: Path) -> bool:
    """Whether there is an installation in a folder; a folder that cannot be read may have one.

    Raises:
        StateError: it is a file.
    """
    try:
        refuse_file(folder)
        return Folders(folder).database.exists()
    except OSError:
        return True


def refuse_file(folder: Path) -> None:
    """Refuses a file where the folder of an installation is to be.

    Raises:
        StateError: it is a file.
        OSError: the folder around it cannot be read.
    """
    if folder.exists() and not folder.is_dir():
        raise StateError(str(folder), "a folder", "a file", "name the folder with --state")


def folder_name(package: str) -> str:
    """The name of a package as that of a folder; `+` is in no name of a package."""
    return package.replace("/", "+")
