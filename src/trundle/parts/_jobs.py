"""What a job is, how it is cut into parts, and what is known of a part that is done."""

from collections.abc import Iterator, Sequence

import msgspec

from trundle.parts._digests import digest_of
from trundle.parts._errors import NoDocumentsError, UnusableFileError
from trundle.parts._folders import Folder, Found
from trundle.parts._packed import PACKED, require_packed

JSON_LINES = (".jsonl", ".ndjson")
PACKED_LINES = tuple(f"{lines}{packed}" for lines in JSON_LINES for packed in PACKED)
PARQUET = ".parquet"


class ConversionOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How documents are converted.

    Attributes:
        to: the API version; None for what a store keeps.
        version: the version of documents that do not say it.
        resource: the resource type of documents that do not say it.
        stored_as: storage versions in place of hubs, by resource type.
        missing: whether required properties may be missing.
        nulls: whether nulls that are not allowed are dropped.
        defaults: whether the defaults of the schema are filled in.
        unknown: what becomes of unknown properties: `error`, `keep` or `prune`.
        column: the column of Parquet files that holds documents.
    """

    to: str | None
    version: str | None = None
    resource: str | None = None
    stored_as: dict[str, str] = {}
    missing: bool = False
    nulls: bool = False
    defaults: bool = False
    unknown: str = "error"
    column: str = "document"


class Input(msgspec.Struct, frozen=True):
    """A file of documents, as it was when the job began.

    Attributes:
        path: its path in the folder of the job.
        size: its bytes.
        mark: what the file system changes whenever the file changes.
        groups: the rows and bytes of each row group of a Parquet file.
        is_packed: whether it is packed, so that it can be read from its beginning only.
    """

    path: str
    size: int
    mark: str
    groups: tuple[tuple[int, int], ...] | None = None
    is_packed: bool = False


class Slice(msgspec.Struct, frozen=True):
    """A stretch of a file.

    Attributes:
        path: the file.
        begin: the first byte; of a Parquet file the first row group.
        end: the byte, or row group, behind the last. Lines that begin before it belong to the slice. A packed file is one slice.
        row: how many rows of a Parquet file stand before it.
    """

    path: str
    begin: int
    end: int
    row: int = 0


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """Documents that are converted part by part. Two jobs that are equal come to the same results, byte for byte.

    Attributes:
        source: the folder, or the file, with the documents.
        inputs: the files.
        conversion: how they are converted.
        package: the digest of the generated package.
        trundle: the version of Trundle.
        part_size: about how many bytes of input are a part.
    """

    source: str
    inputs: tuple[Input, ...]
    conversion: ConversionOptions
    package: str
    trundle: str
    part_size: int

    @property
    def digest(self) -> str:
        """What the job is known by."""
        return digest_of(msgspec.json.encode(self))

    def parts(self) -> tuple[tuple[Slice, ...], ...]:
        """The slices of each part: stretches of large files, packed ones whole, several small files of lines, and row groups of a Parquet file."""
        found: list[tuple[Slice, ...]] = []
        gathered: list[Slice] = []
        path, size, is_parquet = "", 0, False
        for each, cut, bytes_ in self._slices():
            # Row groups of two files may have other columns, and cannot stand in one file.
            mixes = each.path != path and (is_parquet or _is_parquet(each))
            if gathered and (size + bytes_ > self.part_size or mixes):
                found.append(tuple(gathered))
                gathered, size = [], 0
            gathered.append(cut)
            path, size, is_parquet = each.path, size + bytes_, _is_parquet(each)
        return (*found, tuple(gathered)) if gathered else tuple(found)

    def _slices(self) -> Iterator[tuple[Input, Slice, int]]:
        for each in self.inputs:
            if each.is_packed:
                yield each, Slice(each.path, 0, each.size), each.size
                continue
            if each.groups is None:
                for begin in range(0, each.size, self.part_size):
                    end = min(begin + self.part_size, each.size)
                    yield each, Slice(each.path, begin, end), end - begin
                continue
            row = 0
            for number, (rows, bytes_) in enumerate(each.groups):
                yield each, Slice(each.path, number, number + 1, row), bytes_
                row += rows


class SliceResult(msgspec.Struct, frozen=True):
    """What was read of a slice.

    Attributes:
        path: the file.
        begin: see `Slice`.
        end: see `Slice`.
        lines: how many lines or rows there were.
        digest: of their bytes.
    """

    path: str
    begin: int
    end: int
    lines: int
    digest: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a part that is done; it is written last.

    Attributes:
        job: the digest of the job.
        part: the number of the part.
        read: what was read.
        output: the file with the results.
        size: its bytes.
        digest: its digest.
        converted: how many documents were converted.
        refused: how many could not be.
        tolerated: how many were not as their version requires, and were converted all the same.
    """

    job: str
    part: int
    read: tuple[SliceResult, ...]
    output: str
    size: int
    digest: str
    converted: int
    refused: int
    tolerated: int


def inputs_of(folder: Folder, column: str) -> tuple[Input, ...]:
    """The files of documents in a folder, in the order of their paths.

    Files whose names, or those of their folders, begin with `.` or `_` are notes of other programs.

    Raises:
        NoDocumentsError: there are none.
        UnusableFileError: a file is neither JSON lines nor Parquet.
        FileNotFoundError: there is no such folder.
    """
    found = [each for each in folder.files() if not _is_hidden(each.path)]
    if not found:
        advice = "check the path"
        raise NoDocumentsError(folder.named(""), "JSON lines or Parquet", "no files", advice)
    return tuple(_input(folder, each, column) for each in found)


def _input(folder: Folder, found: Found, column: str) -> Input:
    path = found.path
    name = folder.named(path).lower()
    if name.endswith(PARQUET):
        from trundle.parts._parquet import row_groups  # noqa: PLC0415

        return Input(*found, row_groups(folder, path, column))
    if name.endswith(JSON_LINES):
        return Input(*found)
    if name.endswith(PACKED_LINES):
        require_packed(folder, path)
        return Input(*found, is_packed=True)
    packed = f"also packed as {' or '.join(PACKED)}"
    expected = f"JSON lines ({', '.join(JSON_LINES)}, {packed}) or Parquet ({PARQUET})"
    advice = (
        "move it away" if path else "name one, or a folder; HTTP servers have single files only"
    )
    raise UnusableFileError(folder.named(path), expected, "another file", advice)


def _is_hidden(path: str) -> bool:
    return any(each.startswith((".", "_")) for each in path.split("/"))


def _is_parquet(each: Input) -> bool:
    return each.groups is not None


def differing(before: Job, now: Job) -> Sequence[str]:
    """In what two jobs differ, for messages."""
    names = {"source": "another input", "package": "another generated package"}
    names |= {"trundle": "another version of Trundle", "part_size": "another --part-size"}
    names |= {"conversion": "other options", "inputs": "files that are new, gone or changed"}
    return [text for name, text in names.items() if getattr(before, name) != getattr(now, name)]
