"""Reads pairs of documents: what another implementation was given, and what it made of that."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from trundle.project.documents import elements, read_documents
from trundle.project.errors import FileCode, ProjectFileError

_SUFFIXES = (".json", ".jsonl", ".yaml", ".yml")
_TWO = 2


class PairsError(ProjectFileError):
    """Files that do not hold pairs of documents."""

    def __init__(self, file: object, expected: str, found: str, advice: str) -> None:
        super().__init__(FileCode.PAIRS, file, expected, found, advice)


class Pair(msgspec.Struct, frozen=True):
    """A document, and what another implementation made of it.

    Attributes:
        where: file and line.
        before: the document that was converted, as JSON.
        after: what it became, as JSON.
    """

    where: str
    before: bytes
    after: bytes


class _Placed(msgspec.Struct, frozen=True):
    where: str
    data: bytes


def read_pairs(paths: Sequence[Path]) -> list[Pair]:
    """Reads all pairs of some files and folders, in YAML or JSON.

    Each document of a file, or each element of a list in it, is a pair: an object with `before` and `after`. Two files may also hold the documents
    before and those after, in the same order, and two folders such files, under the same names.

    Raises:
        PairsError: a document is no pair, or has no counterpart.
        UnreadableError: a file cannot be read exactly.
    """
    files = [_files(path) for path in paths]
    every = [each for found in files for path in found.values() for each in _documents(path)]
    pairs = [_pair(each) for each in every]
    if all(pairs):
        return [each for each in pairs if each is not None]
    if len(paths) == _TWO and not any(pairs):
        return list(_side_by_side(paths, files))
    single = next(each for each, pair in zip(every, pairs, strict=True) if pair is None)
    expected, found = "a pair, an object with `before` and `after`", "another document"
    advice = "write pairs, or name one file or folder of documents before and one of those after"
    raise PairsError(single.where, expected, found, advice)


def _files(path: Path) -> dict[str, Path]:
    """The files of a folder, or one file, by the name that pairs them."""
    if not path.is_dir():
        return {"": path}
    found = {
        each.relative_to(path).as_posix(): each
        for each in sorted(path.rglob("*"))
        if each.suffix.lower() in _SUFFIXES and each.is_file()
    }
    if not found:
        endings = ", ".join(_SUFFIXES)
        advice = "name the folder that has them"
        raise PairsError(path, f"files of documents ({endings})", "none", advice)
    return found


def _documents(path: Path) -> list[_Placed]:
    # JSON lines are JSON values in a row, which is what a name without an ending is read as, too.
    name = str(path)
    documents = elements(read_documents(path.read_bytes(), name))
    return [_Placed(f"{name}:{each.line}", each.data) for each in documents]


def _pair(document: _Placed) -> Pair | None:
    if not document.data.lstrip().startswith(b"{"):
        return None
    members = msgspec.json.decode(document.data, type=dict[str, msgspec.Raw])
    if not {"before", "after"} <= members.keys():
        return None
    return Pair(document.where, bytes(members["before"]), bytes(members["after"]))


def _side_by_side(paths: Sequence[Path], files: Sequence[dict[str, Path]]) -> Iterator[Pair]:
    before, after = files
    if before.keys() != after.keys():
        alone = min(before.keys() ^ after.keys())
        has, lacks = (paths[0], paths[1]) if alone in before else (paths[1], paths[0])
        expected = f"the file {alone or has.name}, as in {has}"
        advice = "name two files, or two folders with the same files"
        raise PairsError(lacks, expected, "none", advice)
    for name, path in before.items():
        ones, others = _documents(path), _documents(after[name])
        if len(ones) != len(others):
            expected, found = f"{len(ones)} documents, as in {path}", str(len(others))
            advice = "every document needs its counterpart at the same place"
            raise PairsError(after[name], expected, found, advice)
        for one, other in zip(ones, others, strict=True):
            yield Pair(one.where, one.data, other.data)


def member(document: bytes, name: str) -> str | None:
    """The text of a member of a document; None where it has none."""
    found = json.loads(document)
    value = found.get(name) if isinstance(found, dict) else None
    return value if isinstance(value, str) else None
