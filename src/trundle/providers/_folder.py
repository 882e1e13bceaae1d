"""A provider that writes documents and files into a folder, each as a whole or not at all."""

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trundle._durable import write_all
from trundle.engine.effects import Effect, Plain, Provider, ProviderError, Record
from trundle.errors import Kind, expectation
from trundle.project import write_values

_OURS = ".trundle-"
_LONGEST = 255
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class FolderProvider(Provider):
    """Writes documents and files into a folder, and nothing outside of it: no path and no link leads out.

    A document without a name is named after its kind, namespace and name. It is YAML, or JSON where its name ends with `.json`; a content that is a text is
    written as it is. A file with secrets is readable by its owner alone. A file that is there already, and that the journal does not know, is refused unless it is
    the same.

    Args:
        root: the folder; it is made where it is missing.
    """

    kinds = ("document", "file")

    def __init__(self, root: Path) -> None:
        self._root = root

    def place(self, kind: str, wanted: Plain) -> str:
        path = wanted["path"] if kind == "file" else _document_path(wanted)
        parts = path.split("/")
        if (
            not all(parts)
            or {".", ".."} & set(parts)
            or any(each.startswith(_OURS) or _is_odd(each) for each in parts)
        ):
            expected = "a path within the folder, with parts that are names and single slashes"
            raise ProviderError(expectation(expected, repr(path), "correct it"), Kind.REFUSED)
        return str(path)

    def check(self, effect: Effect, now: Record | None) -> None:
        path = self.place(effect.kind, effect.wanted)
        *folders, name = path.split("/")
        with contextlib.suppress(FileNotFoundError), self._folder(folders) as folder:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISREG(found.st_mode):
                raise _refused(path, "a file or nothing", "something else")
            if now is None and _content(name, folder) != _bytes(effect.kind, effect.revealed()):
                raise _refused(path, "nothing, or the same", "a file that no run wrote")

    def show(self, kind: str, wanted: Plain) -> str:
        return _text(kind, wanted)

    def foresee(self, effect: Effect) -> Plain:
        return {"path": self.place(effect.kind, effect.wanted)}

    def apply(self, effect: Effect, before: Record | None) -> Plain:
        del before
        path = self.place(effect.kind, effect.wanted)
        *folders, name = path.split("/")
        with self._folder(folders, make=True) as folder:
            part, content = _part(name), _bytes(effect.kind, effect.revealed())
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part, dir_fd=folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            target = os.open(part, flags, 0o600 if effect.secrets else 0o666, dir_fd=folder)
            try:
                write_all(target, content, self._root / path)
                os.fsync(target)
            finally:
                os.close(target)
            os.replace(part, name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)
        return {"path": path}

    def remove(self, effect: Effect, outcome: Plain) -> None:
        del outcome  # The place says it all.
        path = self.place(effect.kind, effect.wanted)
        *folders, name = path.split("/")
        with contextlib.suppress(FileNotFoundError), self._folder(folders) as folder:
            for each in (_part(name), name):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(each, dir_fd=folder)
            os.fsync(folder)
        with contextlib.suppress(OSError):  # Until one has something else in it
            while folders:
                *folders, last = folders
                self._remove_folder(folders, last)

    def _remove_folder(self, folders: list[str], name: str) -> None:
        """Removes a folder that is empty.

        Raises:
            OSError: it is not empty.
        """
        with contextlib.suppress(FileNotFoundError), self._folder(folders) as folder:
            os.rmdir(name, dir_fd=folder)
            os.fsync(folder)

    @contextlib.contextmanager
    def _folder(self, names: list[str], *, make: bool = False) -> Iterator[int]:
        """A folder below the root, opened part by part, so that no link on the way is followed.

        Raises:
            FileNotFoundError: it is not there.
            ProviderError: a part of the way is no folder.
        """
        if make:
            self._root.mkdir(parents=True, exist_ok=True)
        at = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for count, name in enumerate(names, 1):
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(name, dir_fd=at)
                        os.fsync(at)
                try:
                    below = os.open(name, _FOLDER, dir_fd=at)
                except FileNotFoundError:
                    raise
                except OSError as error:
                    found = error.strerror or str(error)
                    raise _refused("/".join(names[:count]), "a folder", found) from None
                os.close(at)
                at = below
            yield at
        finally:
            os.close(at)


def _document_path(wanted: Plain) -> str:
    """The path of a document: by its name, else by what it is."""
    name = wanted.get("name") or _identity(wanted.get("content"))
    return name if name.endswith((".json", ".yaml", ".yml")) else f"{name}.yaml"


def _identity(content: Any) -> str:
    metadata = content.get("metadata") if isinstance(content, dict) else None
    metadata = metadata if isinstance(metadata, dict) else {}
    kind = content.get("kind") if isinstance(content, dict) else None
    named = (kind, metadata.get("namespace", "-"), metadata.get("name"))
    if not all(isinstance(each, str) and each for each in named):
        expected = "a document with a name, or with kind and metadata.name"
        raise ProviderError(expectation(expected, "neither", "give it a name"), Kind.REFUSED)
    return "-".join(each for each in map(str, named) if each != "-").lower()


def _is_odd(part: str) -> bool:
    return not part.isprintable() or "\\" in part or len(part.encode()) > _LONGEST


def _part(name: str) -> str:
    """Where a file is written before it has its name: always the same, so that the next run finds what a killed one left."""
    return f"{_OURS}{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def _text(kind: str, wanted: Plain) -> str:
    if kind == "file":
        return str(wanted["text"])
    content = wanted.get("content")
    if isinstance(content, str):
        return content
    if _document_path(wanted).endswith(".json"):
        return f"{json.dumps(content, indent=2)}\n"
    return write_values([content], "yaml")


def _bytes(kind: str, wanted: Plain) -> bytes:
    return _text(kind, wanted).encode()


def _content(name: str, folder: int) -> bytes:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def _refused(path: str, expected: str, found: str) -> ProviderError:
    advice = "remove it, or choose another path"
    return ProviderError(f"{path}: {expectation(expected, found, advice)}", Kind.CONFLICT)
