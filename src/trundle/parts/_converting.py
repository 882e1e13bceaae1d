"""Converts the documents of one part: reads them, writes results and refusals, and its manifest last."""

import contextlib
import functools
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple, cast

import msgspec

from trundle.documents import has_repeated_member
from trundle.errors import expectation
from trundle.parts._digests import Digest, digest_of
from trundle.parts._errors import ChangedError
from trundle.parts._exact import repeated_members
from trundle.parts._folders import Folder
from trundle.parts._jobs import (
    JSON_LINES,
    PARQUET,
    ConversionOptions,
    Input,
    Manifest,
    Slice,
    SliceResult,
)
from trundle.parts._json_lines import LONGEST, Lines, NumberedDocument, lines_in
from trundle.parts._packed import Unpacked
from trundle.project import ClientGroup
from trundle.runtime import AnyScheme, Lenience, Tolerated

MANIFESTS = "manifests"
DOCUMENTS = "documents"
_BATCH = 50
"""How many results are written at once."""


class Part(msgspec.Struct, frozen=True):
    """A part of a job.

    Attributes:
        number: its number; the first is 0.
        slices: what it reads.
        inputs: the files of the slices, as they were when the job began.
    """

    number: int
    slices: tuple[Slice, ...]
    inputs: tuple[Input, ...]

    @property
    def is_parquet(self) -> bool:
        """Whether it reads Parquet files, and no lines."""
        return self.inputs[0].groups is not None

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"part-{self.number:06}"

    @property
    def manifest(self) -> str:
        """The file that says that it is done."""
        return f"{MANIFESTS}/{self.name}.json"

    @property
    def refusals(self) -> str:
        """The file with the refusals of the part, as they are counted in it."""
        return f"{MANIFESTS}/{self.name}.refused.jsonl"

    @property
    def output(self) -> str:
        """The file with its results."""
        return f"{DOCUMENTS}/{self.name}{PARQUET if self.is_parquet else JSON_LINES[0]}"


class RefusedDocument(msgspec.Struct, frozen=True):
    """A document that could not be converted.

    Attributes:
        file: the file that it stands in, by its path in the folder.
        line: its line, or row; the first is 1. A part counts the lines that it reads.
        reasons: why, one text for each finding.
    """

    file: str
    line: int
    reasons: tuple[str, ...]


class Converter(NamedTuple):
    """What converts parts of a job.

    Attributes:
        scheme: the scheme, which stores what the job says.
        conversion: how documents are converted.
        source: where they are.
        into: where results are written.
        job: the digest of the job.
        group: the API group that clients name before versions of resource types that have none of their own; empty for none.
    """

    scheme: AnyScheme
    conversion: ConversionOptions
    source: Folder
    into: Folder
    job: str
    group: str = ""


def convert_part(converter: Converter, part: Part) -> Manifest:
    """Converts a part.

    Two processes may do this at the same time: they write the same bytes, and each file is whole or absent.

    Raises:
        ChangedError: a file is not as it was when the job began.
        OSError: a file cannot be read or written.
    """
    try:
        return _Work(converter, part).run()
    except FileNotFoundError:
        # Another run came to its end meanwhile, and removed what it took for a rest of one that was killed.
        with contextlib.suppress(msgspec.MsgspecError):
            return msgspec.json.decode(converter.into.read(part.manifest) or b"", type=Manifest)
        return _Work(converter, part).run()


class _Counts:
    converted = 0
    refused = 0
    tolerated = 0


class _Work:
    """What is done for one part."""

    def __init__(self, converter: Converter, part: Part) -> None:
        self._part = part
        self._source, self._into = converter.source, converter.into
        self._job, self._conversion = converter.job, converter.conversion
        self._scheme = converter.scheme
        self._tolerated: list[Tolerated] = []
        self._lenience = _lenience(converter.conversion, self._tolerated.append)
        wanted = converter.conversion
        self._target = wanted.to, wanted.version, wanted.resource
        self._quick = _quick_conversion(converter.scheme, wanted)
        group = converter.group
        self._group = ClientGroup(group, converter.scheme) if group else None
        self._inputs = {each.path: each for each in part.inputs}
        self._read: list[SliceResult] = []
        self._refusals: list[RefusedDocument] = []
        self._counts = _Counts()

    def run(self) -> Manifest:
        self._require_unchanged()
        with self._into.writing(self._part.output) as target:
            size, digest = (self._rows if self._part.is_parquet else self._lines)(target)
        self._require_unchanged()
        if self._refusals:
            with self._into.writing(self._part.refusals) as target:
                target.writelines(msgspec.json.encode(each) + b"\n" for each in self._refusals)
        manifest = Manifest(
            job=self._job,
            part=self._part.number,
            read=tuple(self._read),
            output=self._part.output,
            size=size,
            digest=digest,
            converted=self._counts.converted,
            refused=self._counts.refused,
            tolerated=self._counts.tolerated,
        )
        with self._into.writing(self._part.manifest) as target:
            target.write(msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")
        return manifest

    def _require_unchanged(self) -> None:
        for each in self._part.inputs:
            now = self._source.look(each.path)
            if (now.size, now.mark) != (each.size, each.mark):
                expected = "the file as it was when the job began"
                advice = "convert what is there now into another folder"
                name = self._source.named(each.path)
                raise ChangedError(name, expected, "that it changed", advice)

    def _lines(self, target: BinaryIO) -> tuple[int, str]:
        """Writes results as lines."""
        size, digest = 0, Digest()
        for each in self._part.slices:
            with self._source.open(each.path) as stream:
                lines = self._lines_of(each, stream)
                converted = self._converted(each, lines)
                while made := [*itertools.islice(converted, _BATCH)]:
                    data = b"\n".join((*made, b""))
                    digest.update(data)
                    target.write(data)
                    size += len(data)
            self._note(each, lines.count, lines.digest)
        return size, str(digest)

    def _lines_of(self, cut: Slice, stream: BinaryIO) -> Lines:
        if not self._inputs[cut.path].is_packed:
            return lines_in(stream, cut.begin, cut.end)
        return Lines(Unpacked(stream, self._source.named(cut.path)), 0, sys.maxsize)

    def _converted(self, cut: Slice, lines: Lines) -> Iterator[bytes]:
        for record in lines:
            result = self._result(cut, record)
            if result is not None:
                yield result.replace(b"\n", b" ") if b"\n" in result else result

    def _rows(self, target: BinaryIO) -> tuple[int, str]:
        """Writes results as rows, beside the other columns of theirs."""
        from trundle.parts._parquet import Rows, written  # noqa: PLC0415

        column = self._conversion.column
        made = []
        for each in self._part.slices:
            with self._source.open(each.path) as stream:
                rows = Rows(stream, self._source.named(each.path), each.begin, column)
                kept = [
                    (record.number - 1, result)
                    for record in rows
                    if (result := self._result(each, record)) is not None
                ]
            made.append((rows.table, [at for at, _ in kept], [result for _, result in kept]))
            self._note(each, rows.count, rows.digest)
        data = written(made, column)
        target.write(data)
        return len(data), digest_of(data)

    def _note(self, cut: Slice, count: int, digest: str) -> None:
        self._read.append(SliceResult(cut.path, cut.begin, cut.end, count, digest))

    def _result(self, cut: Slice, record: NumberedDocument) -> bytes | None:
        """What a document is converted to; None where it is refused."""
        data = record.data
        quick = None if data is None else self._quickly(data)
        if quick is not None:
            self._counts.converted += 1
            return quick
        if data is None:
            reasons: Sequence[str] = (_no_document(self._inputs[cut.path]),)
        elif has_repeated_member(data):
            reasons = repeated_members(data)
        else:
            self._tolerated.clear()
            data, show = self._ungrouped(data)
            try:
                result = self._quickly(data) if show is not None else None
                result = self._convert(data) if result is None else result
            except Exception as error:  # noqa: BLE001 - one document must not block others
                reasons = self._reasons(data, error)
            else:
                self._counts.converted += 1
                self._counts.tolerated += bool(self._tolerated)
                return result if show is None else show(result)
        self._counts.refused += 1
        at, file = cut.row + record.number, name_of(self._source, cut.path)
        self._refusals.append(RefusedDocument(file, at, tuple(reasons)))
        return None

    def _quickly(self, data: bytes) -> bytes | None:
        """What a document is converted to in the quick way; None where it takes the careful one."""
        if self._quick is None:
            return None
        try:
            return self._quick(data)
        except Exception:  # noqa: BLE001 - what is wrong is found when it is looked at with care
            return None

    def _ungrouped(self, data: bytes) -> tuple[bytes, Callable[[bytes], bytes] | None]:
        """A document without the group that clients name, and how its result is shown with it; None where it has none."""
        if self._group is None:
            return data, None
        found, has_group = self._group.read(data)
        to_storage = self._conversion.to is None
        return found, (bytes if to_storage else self._group.shown) if has_group else None

    def _convert(self, data: bytes) -> bytes:
        to, version, resource = self._target
        return self._scheme.convert_json(
            data, to, version=version, resource=resource, strict=True, lenience=self._lenience
        )

    def _reasons(self, data: bytes, error: Exception) -> Sequence[str]:
        """Why a document cannot be converted, in words."""
        to, version, resource = self._target
        outcome = self._scheme.attempt(
            data, to, version=version, resource=resource, lenience=self._lenience
        )
        return [str(error)] if outcome.error is None else outcome.error.messages


def _quick_conversion(
    scheme: AnyScheme, wanted: ConversionOptions
) -> Callable[[bytes], bytes | None] | None:
    """The quick way; None where each document takes the careful one."""
    if wanted.to is None or wanted.version is not None or wanted.defaults:
        return None
    return functools.partial(
        scheme.convert_quickly,
        to=wanted.to,
        has_repeated=has_repeated_member,
        resource=wanted.resource,
    )


def name_of(source: Folder, path: str) -> str:
    """What a file is called in refusals; a path that is empty is that of the source itself."""
    return path or source.url.rpartition("/")[2]


def _lenience(conversion: ConversionOptions, report: Callable[[Tolerated], object]) -> Lenience:
    return Lenience(
        missing=conversion.missing,
        nulls=conversion.nulls,
        defaults=conversion.defaults,
        unknown=cast("Any", conversion.unknown),
        report=report,
    )


def _no_document(file: Input) -> str:
    if file.groups is not None:
        return expectation("a document", "null")
    return expectation(f"a line of at most {LONGEST:,} bytes", "a longer one")
