"""Finds the files of a package folder, and everything that keeps it from being packed."""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pathspec

from trundle.errors import Finding
from trundle.packages._errors import PackageCode, finding
from trundle.packages._manifest import MANIFEST_FILES
from trundle.packages._names import Names, name_problem

IGNORE_FILE = ".trundleignore"
"""The file in a package folder that lists what is not packed, with patterns as in `.gitignore`."""

IGNORED = (
    ".git",
    ".hg",
    ".svn",
    "__pycache__/",
    "*.py[co]",
    ".venv/",
    ".mypy_cache/",
    ".pytest_cache/",
    ".ruff_cache/",
    ".hypothesis/",
    ".tox/",
    ".nox/",
    "node_modules/",
    "*.egg-info/",
    ".idea/",
    ".vscode/",
    ".DS_Store",
    "Thumbs.db",
    "*.swp",
    "*~",
)
"""What is not packed unless `.trundleignore` takes it back in with a `!` pattern."""

_PRIVATE_KEY = re.compile(rb"\s*-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----")
_LONGEST_LABEL = 128


class PackageFile(msgspec.Struct, frozen=True):
    """A file to pack.

    Attributes:
        name: its path in the package, with `/` between the parts.
        path: where its content is; for a symbolic link, what it leads to.
        size: its size in bytes.
        executable: whether its owner may run it.
    """

    name: str
    path: Path
    size: int
    executable: bool


class PackageTree(msgspec.Struct, frozen=True):
    """What was found in a package folder.

    Attributes:
        files: the files to pack, ordered by the bytes of their names.
        findings: everything that keeps the folder from being packed.
    """

    files: tuple[PackageFile, ...]
    findings: tuple[Finding, ...]


def package_files(folder: Path) -> PackageTree:
    """Finds the files of a package.

    What the ignore patterns match is left out, and so are folders without files; the manifest never is. A symbolic link to a
    file in the package counts as a file with that content. A private key or a registry is a finding, as they get into a
    package by mistake, unless a `!` pattern takes them in.
    """
    walk = _Walk(folder)
    walk.folder("")
    files = sorted(walk.files, key=lambda each: os.fsencode(each.name))
    names = Names()
    for file in files:
        walk.check_name(file, names)
    return PackageTree(tuple(files), tuple(walk.findings))


class _Walk:
    """Goes through a folder, and collects files and findings."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        self.real = Path(os.path.realpath(folder))
        self.files: list[PackageFile] = []
        self.findings: list[Finding] = []
        self.ignored = self._patterns()

    def note(self, name: str, expected: str, found: str, advice: str) -> None:
        shown = os.fsencode(self.root / name).decode(errors="backslashreplace")
        self.findings.append(finding(PackageCode.UNPACKABLE, shown, expected, found, advice))

    def folder(self, name: str) -> None:
        """Goes through a folder; `name` is its path in the package, empty for the package itself."""
        for entry in self._entries(name):
            inner = f"{name}/{entry.name}" if name else entry.name
            try:
                self._entry(entry, inner)
            except OSError as error:
                self._unreadable(inner, error)

    def check_name(self, file: PackageFile, names: Names) -> None:
        """Notes a name that other systems cannot distinguish from another, or cannot hold."""
        if problem := name_problem(file.name):
            self.note(file.name, *problem)
        elif other := names.clash(file.name):
            expected = "names that differ by more than letter case and accents"
            self.note(file.name, expected, f"also {other}", "rename one of them")

    def _patterns(self) -> pathspec.GitIgnoreSpec:
        lines = list(IGNORED)
        path = self.root / IGNORE_FILE
        try:
            lines += path.read_text(encoding="utf-8-sig").splitlines()
        except FileNotFoundError:
            pass
        except UnicodeDecodeError:
            self.note(IGNORE_FILE, "UTF-8 text", "other bytes", "save the file as UTF-8")
        except OSError as error:
            self._unreadable(IGNORE_FILE, error)
        try:
            return pathspec.GitIgnoreSpec.from_lines(lines)
        except ValueError as error:
            self.note(IGNORE_FILE, "patterns as in .gitignore", f"{error}", "correct the pattern")
            return pathspec.GitIgnoreSpec.from_lines(IGNORED)

    def _entries(self, name: str) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(self.root / name) as entries:
                yield from sorted(entries, key=lambda each: os.fsencode(each.name))
        except OSError as error:
            self._unreadable(name, error)

    def _entry(self, entry: os.DirEntry[str], name: str) -> None:
        is_folder = entry.is_dir(follow_symlinks=False)
        if name not in MANIFEST_FILES and self.ignored.match_file(
            f"{name}/" if is_folder else name
        ):
            return
        if is_folder:
            self._folder(name)
        elif entry.is_symlink():
            self._link(name)
        elif entry.is_file():
            self._file(name, self.root / name)
        else:
            self.note(name, "files and folders only", _kind(entry.stat().st_mode), "remove it")

    def _folder(self, name: str) -> None:
        if (self.root / name / "oci-layout").is_file() and not self._is_wanted(f"{name}/"):
            self.note(
                name, "no registry in a package", "an image layout", self._leave_out(f"{name}/")
            )
        else:
            self.folder(name)

    def _is_wanted(self, name: str) -> bool:
        """Whether the ignore file takes something in by its name."""
        return self.ignored.check_file(name).include is False

    def _leave_out(self, name: str) -> str:
        """What to do about something that hardly belongs into a package."""
        choices = f"{name} leaves it out, and !{name} packs it"
        return f"move it elsewhere, or write a line into {self.root / IGNORE_FILE}: {choices}"

    def _file(self, name: str, path: Path) -> None:
        if not os.access(path, os.R_OK):
            self.note(name, "a readable file", "no permission to read it", "change its permissions")
            return
        status = path.stat()
        with path.open("rb") as content:
            secret = _PRIVATE_KEY.match(content.read(_LONGEST_LABEL))
        if secret and not self._is_wanted(name):
            self.note(name, "no private key in a package", "one", self._leave_out(name))
        executable = bool(status.st_mode & stat.S_IXUSR)
        self.files.append(PackageFile(name, path, status.st_size, executable))

    def _link(self, name: str) -> None:
        """Takes a symbolic link for what it leads to, where that is a file in the package."""
        written = os.readlink(self.root / name)  # noqa: PTH115 - shown as it is written
        target = Path(os.path.realpath(self.root / name))
        advice = "replace the link by what it should lead to"
        if not target.is_relative_to(self.real):
            expected = "links that stay in the package"
            self.note(name, expected, f"a link to {written}, outside it", advice)
        elif not target.exists():
            self.note(name, "a link to a file", f"one to {written}, which is not there", advice)
        elif not target.is_file():
            found = f"one to {written}, {_kind(target.stat().st_mode)}"
            self.note(name, "a link to a file", found, advice)
        else:
            self._file(name, target)

    def _unreadable(self, name: str, error: OSError) -> None:
        found = error.strerror or str(error)
        self.note(name, "to read it", f"this: {found}", "check its permissions")


def _kind(mode: int) -> str:
    """What something is that is not a plain file."""
    kinds = {
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFBLK: "a block device",
        stat.S_IFCHR: "a character device",
    }
    return kinds.get(stat.S_IFMT(mode), "something else")
