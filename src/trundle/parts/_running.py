"""Runs a job: what is done already stays, the rest is done by workers, and refusals are gathered at the end."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from trundle import __version__
from trundle.errors import listed
from trundle.parts._converting import Converter, Part, RefusedDocument, convert_part, name_of
from trundle.parts._errors import OtherJobError, UnreachableFolderError, UnusableFileError
from trundle.parts._folders import Folder, is_temporary, overlaps
from trundle.parts._jobs import ConversionOptions, Job, Manifest, differing, inputs_of
from trundle.project import ShippedPackage, shipped_scheme
from trundle.workers import Opening, Workers

PART_SIZE = 32 << 20
"""About how many bytes of input are a part, by default."""
JOB, REFUSED, RESULT = "job.json", "refused.jsonl", "result.json"

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class ConvertedFolder:
    """What became of the documents of a folder.

    Attributes:
        into: the folder with the results.
        parts: how many parts there are.
        before: how many of them were done by earlier runs.
        converted: how many documents were converted.
        refused: how many could not be.
        tolerated: how many were not as their version requires, and were converted all the same.
        refusals: the file with the documents that were refused, and why; empty where there are none.
    """

    into: str
    parts: int
    before: int
    converted: int = 0
    refused: int = 0
    tolerated: int = 0
    refusals: str = ""

    def to_plain(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "into": self.into,
            "parts": self.parts,
            "partsDoneBefore": self.before,
            "converted": self.converted,
            "refused": self.refused,
            "tolerated": self.tolerated,
            "refusals": self.refusals or None,
        }


class FolderConversion:
    """Documents in a folder that are converted into another one.

    Args:
        source: the folder or file with the documents: a path or an fsspec URL.
        into: the folder for the results. It is made where there is none; what is there of the same job stays.
        conversion: how documents are converted.
        package: the generated package.
        part_size: about how many bytes of input are a part.

    Raises:
        NoDocumentsError: there are no documents.
        UnusableFileError: a file cannot be used.
        OtherJobError: the folder for the results has something else in it.
        FileNotFoundError: there is no such folder.
    """

    def __init__(
        self,
        source: str,
        into: str,
        conversion: ConversionOptions,
        package: ShippedPackage,
        part_size: int = PART_SIZE,
    ) -> None:
        self._source, self._into = Folder(source), Folder(into)
        if overlaps(self._source, self._into):
            expected, advice = "a folder apart from the documents", "name another one with --into"
            raise UnusableFileError(into, expected, f"it beside {source}", advice)
        self._package = package
        self._job = Job(
            source=self._source.url,
            inputs=inputs_of(self._source, conversion.column),
            conversion=conversion,
            package=package.digest,
            trundle=__version__,
            part_size=part_size,
        )
        self._digest = self._job.digest
        self._check_job()
        inputs = {each.path: each for each in self._job.inputs}
        self.parts = tuple(
            Part(number, cuts, tuple(inputs[each] for each in dict.fromkeys(c.path for c in cuts)))
            for number, cuts in enumerate(self._job.parts())
        )
        self._manifests = self._done_before()
        self.before = len(self._manifests)

    def run(self, workers: Workers, progress: Progress = lambda *_: None) -> ConvertedFolder:
        """Converts all that is not converted yet.

        It may be killed at any time; the next run goes on.

        Args:
            workers: what does the work.
            progress: called after each part.

        Raises:
            ChangedError: a file changed since the job began.
            OtherJobError: another job has begun in the folder for the results meanwhile.
            OSError: a file cannot be read or written.
            ClusterError: the cluster is gone.
            WorkerDiedError: a process ended without a result.
        """
        self._begin()
        left = [each for each in self.parts if each.number not in self._manifests]
        arguments = (
            self._package,
            self._job.conversion,
            self._source,
            self._into,
            self._digest,
        )
        progress("parts", len(self._manifests), len(self.parts))
        opening = Opening(converting, arguments)
        with contextlib.closing(workers.results(opening, convert_part, left)) as results:
            for manifest in results:
                self._manifests[manifest.part] = manifest
                progress("parts", len(self._manifests), len(self.parts))
        return self._finish()

    @property
    def is_done(self) -> bool:
        """Whether all parts are done."""
        return len(self._manifests) == len(self.parts)

    def plan(self) -> ConvertedFolder:
        """What there is to do."""
        return ConvertedFolder(self._into.named(""), len(self.parts), self.before)

    def _begin(self) -> None:
        """Says in the folder whose results it has; of two jobs that begin at the same time one is refused."""
        if self._into.read(JOB) is None:
            try:
                self._into.create(JOB, _json(self._job))
            except (OSError, UnreachableFolderError):
                if self._into.read(JOB) is None:
                    raise
        self._check_job()

    def _check_job(self) -> None:
        """Refuses a folder that has something else in it than results of this job."""
        found = self._into.read(JOB)
        if found is None:
            with contextlib.suppress(FileNotFoundError):
                found_here = [each.path for each in self._into.files()]
                if there := [each for each in found_here if not is_temporary(each)]:
                    expected, advice = "an empty folder", "name another one with --into"
                    raise OtherJobError(self._into.named(""), expected, listed(there, 3), advice)
            return
        try:
            before = msgspec.json.decode(found, type=Job)
        except msgspec.MsgspecError as error:
            before, what = None, str(error)
        if before != self._job:
            what = what if before is None else ", ".join(differing(before, self._job))
            expected = "results of the same job"
            advice = "name another folder with --into, or remove this one"
            raise OtherJobError(self._into.named(""), expected, what, advice)

    def _done_before(self) -> dict[int, Manifest]:
        """The manifests of parts that are done, and whose results are there."""
        with contextlib.suppress(FileNotFoundError):
            there = {each.path: each.size for each in self._into.files()}
            found = {}
            for part in self.parts:
                if part.manifest in there:
                    manifest = self._manifest(part)
                    if manifest is None:
                        continue
                    has_refusals = part.refusals in there or not manifest.refused
                    if there.get(manifest.output) == manifest.size and has_refusals:
                        found[part.number] = manifest
            return found
        return {}

    def _manifest(self, part: Part) -> Manifest | None:
        """The manifest of a part; None where it is damaged, so that the part is to be done again."""
        data = self._into.read(part.manifest)
        try:
            manifest = msgspec.json.decode(data or b"", type=Manifest)
        except msgspec.MsgspecError:
            return None
        if manifest.job != self._digest:
            name, advice = self._into.named(part.manifest), "name another folder with --into"
            raise OtherJobError(name, "a part of this job", "one of another job", advice)
        return manifest

    def _finish(self) -> ConvertedFolder:
        """Gathers what the parts have to say."""
        manifests = [self._manifests[each.number] for each in self.parts]
        refused = sum(each.refused for each in manifests)
        result = ConvertedFolder(
            into=self._into.named(""),
            parts=len(self.parts),
            before=self.before,
            converted=sum(each.converted for each in manifests),
            refused=refused,
            tolerated=sum(each.tolerated for each in manifests),
            refusals=self._into.named(REFUSED) if refused else "",
        )
        try:
            self._write_results(manifests, result)
        except FileNotFoundError:
            # Another run came to its end meanwhile, and removed what it took for a rest of one that was killed.
            if self._into.read(RESULT) is None:
                raise
        for found in self._into.files():
            if is_temporary(found.path):
                self._into.remove(found.path)
        return result

    def _write_results(self, manifests: Sequence[Manifest], result: ConvertedFolder) -> None:
        if result.refused:
            with self._into.writing(REFUSED) as target:
                for each in self._refusals(manifests):
                    target.write(msgspec.json.encode(each) + b"\n")
        counts = {"converted": result.converted, "refused": result.refused, "parts": result.parts}
        with self._into.writing(RESULT) as target:
            target.write(_json({"job": self._digest, **counts, "tolerated": result.tolerated}))

    def _refusals(self, manifests: Sequence[Manifest]) -> Iterator[RefusedDocument]:
        """All refusals, with the lines of their files: a part counts the lines that it reads."""
        before: Counter[str] = Counter()
        for part, manifest in zip(self.parts, manifests, strict=True):
            if manifest.refused:
                content = self._into.read(part.refusals)
                if content is None:
                    name, advice = self._into.named(part.refusals), "run the command again"
                    raise UnusableFileError(name, "the refusals of a part", "none", advice)
                for line in content.splitlines():
                    found = msgspec.json.decode(line, type=RefusedDocument)
                    yield msgspec.structs.replace(found, line=found.line + before[found.file])
            if not part.is_parquet:
                before.update(
                    {name_of(self._source, each.path): each.lines for each in manifest.read}
                )


@contextlib.contextmanager
def converting(
    package: ShippedPackage, conversion: ConversionOptions, source: Folder, into: Folder, job: str
) -> Iterator[Converter]:
    """What converts parts in a process."""
    with shipped_scheme(package) as scheme:
        stored = scheme.storing(conversion.stored_as)
        yield Converter(stored, conversion, source, into, job, package.group)


def _json(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"
