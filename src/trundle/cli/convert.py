"""The command that converts documents."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from trundle.cli._converting import Ways, convert_folder
from trundle.cli._failures import CommandExit, ExitCode, exit_code, messages_of, unmet
from trundle.cli._printing import DocumentFormat, Format, print_exactly, print_result, warn
from trundle.cli._project import load
from trundle.cli._settings import settings_of
from trundle.cli._tracing import Request, traced
from trundle.cli._workers import Scheduler
from trundle.cli.project import DryRun, Jobs
from trundle.errors import expectation

if TYPE_CHECKING:
    from trundle.parts import ConversionOptions
    from trundle.project import ClientGroup, Document
    from trundle.report import Trace
    from trundle.runtime import AnyScheme, Lenience, Outcome

_COLUMN = "document"
_LINES = (".jsonl", ".ndjson")
_PACKED = {b"\x1f\x8b": "a file packed by gzip", b"\x28\xb5\x2f\xfd": "a file packed by zstd"}
"""How files begin that are packed."""

_MOST = 256 * 1024 * 1024

STORAGE = "storage"
"""The name of what a store keeps, in place of a version."""


class Unknown(StrEnum):
    """What to do with unknown properties."""

    ERROR = "error"
    KEEP = "keep"
    PRUNE = "prune"


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="YAML or JSON; `-` is standard input. With --into JSON lines or Parquet: a file, a folder or a URL.",
    ),
]
To = Annotated[str, typer.Option("--to", metavar="VERSION", help="An API version, or `storage`.")]
Base = Annotated[
    str | None,
    typer.Option("--base", metavar="FILE", help="The stored document that this one replaces."),
]
StoredAs = Annotated[
    list[str] | None,
    typer.Option(
        "--storage",
        metavar="TYPE=VERSION",
        help="The storage version of a resource type instead of its hub; repeatable.",
    ),
]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="VERSION", help="The version of documents that do not name it."),
]
ResourceType = Annotated[
    str | None, typer.Option(help="The resource type of documents that do not name it.")
]
Lenient = Annotated[
    bool,
    typer.Option(
        "--lenient",
        help="Tolerate what an API server lets pass: missing and unknown properties, nulls.",
    ),
]
UnknownOption = Annotated[
    Unknown | None,
    typer.Option(help="What to do with unknown properties.", show_default="error; keep if lenient"),
]
Defaults = Annotated[
    bool, typer.Option("--defaults", help="Fill in the defaults that the schema declares.")
]
Losses = Annotated[
    bool, typer.Option("--losses", help="Report what cannot be read back from the result.")
]
Traced = Annotated[
    bool,
    typer.Option(
        "--trace",
        help="Show which step gave each value, instead of the result; for one document.",
    ),
]
Into = Annotated[
    str | None,
    typer.Option(
        "--into",
        metavar="FOLDER",
        help="Convert JSON lines and Parquet files, part by part, into this folder.",
    ),
]
Column = Annotated[
    str | None,
    typer.Option(
        "--column",
        metavar="NAME",
        help="The column of Parquet files with documents.",
        show_default=_COLUMN,
    ),
]
PartSize = Annotated[
    str | None,
    typer.Option(
        "--part-size",
        metavar="SIZE",
        help="About how many bytes of input are a part, such as 512K.",
        show_default="32M",
    ),
]
PrintedAs = Annotated[
    DocumentFormat | None,
    typer.Option(
        "--output-format",
        "-o",
        help="How to print.",
        show_default="as the input; a table with --trace",
    ),
]


def convert(
    context: typer.Context,
    *,
    file: File,
    to: To,
    base: Base = None,
    stored_as: StoredAs = None,
    version: From = None,
    resource: ResourceType = None,
    lenient: Lenient = False,
    unknown: UnknownOption = None,
    defaults: Defaults = False,
    losses: Losses = False,
    trace: Traced = False,
    into: Into = None,
    column: Column = None,
    part_size: PartSize = None,
    scheduler: Scheduler = None,
    jobs: Jobs = None,
    dry_run: DryRun = False,
    output: PrintedAs = None,
) -> None:
    """Convert documents to another version, or to their stored form.

    With `--into`, what is interrupted goes on with the next run of the same command; documents that cannot be converted are listed in
    `refused.jsonl` in that folder.
    """
    alone = {"--base": base, "--losses": losses, "--trace": trace}
    in_parts = {
        "--column": column,
        "--part-size": part_size,
        "--scheduler": scheduler,
        "--jobs": jobs,
    }

    def wanted(scheme: "AnyScheme", to: str | None, bases: list[bytes] | None = None) -> _Wanted:
        lenience = _lenience(scheme, unknown, lenient=lenient, defaults=defaults)
        return _Wanted(to, bases, version, resource, _storage(stored_as or []), lenience)

    target = None if to == STORAGE else to
    if into is not None:
        _require_none(alone, "--into", "convert a single file for that")
        ways = Ways(scheduler, jobs, part_size, dry_run, output)
        convert_folder(
            context,
            file,
            into,
            lambda scheme: _conversion(wanted(scheme, target), column or _COLUMN),
            ways,
        )
        return
    _require_none({**in_parts, "--dry-run": dry_run}, "a single file", "name a folder with --into")
    report, form = _convert_file(context, file, base, target, wanted, losses=losses, trace=trace)
    if report.trace is not None:
        report.print_notes()
        _print_trace(report.trace, output)
        return
    report.print(form if output is None else output.value)


def _convert_file(
    context: typer.Context,
    file: str,
    base: str | None,
    to: str | None,
    wanted: "Callable[[AnyScheme, str | None, list[bytes] | None], _Wanted]",
    *,
    losses: bool,
    trace: bool,
) -> "tuple[_Report, str]":
    """What the documents of a file become, and the form that they are in."""
    from trundle.project import (  # noqa: PLC0415
        ClientGroup,
        client_group,
        elements,
        generated_scheme,
        load_config,
        read_documents,
    )

    if file == "-" and base == "-":
        raise CommandExit(ExitCode.USAGE, "FILE and --base cannot both be standard input")
    text, name = _read(file)
    documents = [*elements(read_documents(text, name))]
    if trace and len(documents) != 1:
        raise unmet("", "one document with --trace", f"{len(documents)} in {name}")
    bases = None if base is None else _bases(base, file, len(documents))
    config = load_config(settings_of(context).config_path)
    with generated_scheme(config) as scheme:
        group = ClientGroup(client_group(config), scheme)
        by = wanted(scheme, None if to is None else group.without(to), bases)
        report = _converted(scheme, documents, name, by, group, losses=losses)
        if trace and not report.problems:
            report.trace = _traced(context, scheme, group.read(documents[0].data)[0], by)
    return report, _form_of(text, name)


def _require_none(options: Mapping[str, object], with_: str, advice: str) -> None:
    """Refuses options that do not go with what else is given."""
    given = [name for name, value in options.items() if value]
    if given:
        raise unmet(given[0], f"no such option with {with_}", "one", advice)


def _conversion(wanted: "_Wanted", column: str) -> "ConversionOptions":
    """How the documents of a folder are to be converted."""
    from trundle.parts import ConversionOptions  # noqa: PLC0415

    return ConversionOptions(
        to=wanted.to,
        version=wanted.version,
        resource=wanted.resource,
        stored_as=wanted.stored_as,
        missing=wanted.lenience.missing,
        nulls=wanted.lenience.nulls,
        defaults=wanted.lenience.defaults,
        unknown=wanted.lenience.unknown,
        column=column,
    )


class _Wanted(NamedTuple):
    """How the documents of a file are to be converted.

    Attributes:
        to: the API version; None for what a store keeps.
        bases: what the store kept before, for each document; None where nothing is written over.
        version: the version of documents that do not say it.
        resource: the resource type of documents that do not say it.
        stored_as: storage versions in place of hubs, by resource type.
        lenience: what is tolerated.
    """

    to: str | None
    bases: list[bytes] | None
    version: str | None
    resource: str | None
    stored_as: dict[str, str]
    lenience: "Lenience"


def _converted(
    plain: "AnyScheme",
    documents: "list[Document]",
    name: str,
    wanted: _Wanted,
    group: "ClientGroup",
    *,
    losses: bool,
) -> "_Report":
    """Converts the documents of a file by a scheme that stores objects as their hub."""
    scheme = plain.storing(wanted.stored_as)
    read = [group.read(each.data) for each in documents]
    outcomes = scheme.convert_many(
        [data for data, _ in read],
        wanted.to,
        wanted.bases,
        version=wanted.version,
        resource=wanted.resource,
        lenience=wanted.lenience,
        losses=losses,
    )
    report = _Report(scheme, name, wanted.to)
    for document, (_, grouped), outcome in zip(documents, read, outcomes, strict=True):
        report.take(document, outcome, group.shown if grouped and wanted.to else bytes)
    return report


def _traced(
    context: typer.Context, plain: "AnyScheme", document: bytes, wanted: _Wanted
) -> "Trace":
    """The trace of a document's conversion."""
    request = Request(
        evolution=load(context).evolution,
        scheme=plain,
        document=document,
        to=wanted.to,
        base=None if wanted.bases is None else wanted.bases[0],
        version=wanted.version,
        resource=wanted.resource,
        lenience=wanted.lenience,
        stored_as=wanted.stored_as,
    )
    return traced(request)


def _print_trace(found: "Trace", output: DocumentFormat | None) -> None:
    """Prints which step gave each value of a document."""
    from trundle.report import trace_data, trace_text  # noqa: PLC0415

    form = Format.TABLE if output is None else Format(output.value)
    print_result(lambda: trace_data(found), lambda: trace_text(found), form)


def _bases(base: str, file: str, count: int) -> list[bytes]:
    """The stored objects that the documents of a file are written over, one for each."""
    from trundle.project import elements, read_documents  # noqa: PLC0415

    bases = [each.data for each in elements(read_documents(*_read(base)))]
    if len(bases) != count:
        found = f"{len(bases)} in {base} for {count} in {file}"
        raise unmet("", "one base for each document", found)
    return bases


def _storage(options: list[str]) -> dict[str, str]:
    """The storage version of each resource type that is not to be stored as its hub."""
    parts = [option.rpartition("=") for option in options]
    for (name, _, version), option in zip(parts, options, strict=True):
        if not name or not version:
            raise unmet("", "--storage TYPE=VERSION", repr(option))
    return {name: version for name, _, version in parts}


def _lenience(
    scheme: "AnyScheme", unknown: Unknown | None, *, lenient: bool, defaults: bool
) -> "Lenience":
    """What is tolerated about the documents of a file."""
    from trundle.runtime import Lenience  # noqa: PLC0415

    usual: Literal["keep", "error"] = "keep" if lenient or scheme.unknown == "keep" else "error"
    return Lenience(
        missing=lenient,
        nulls=lenient,
        defaults=defaults,
        unknown=usual if unknown is None else unknown.value,
    )


def _read(file: str) -> tuple[bytes, str]:
    name = "standard input" if file == "-" else file
    try:
        if file == "-":
            data = sys.stdin.buffer.read(_MOST + 1)
        else:
            with Path(file).open("rb") as stream:
                data = stream.read(_MOST + 1)
    except FileNotFoundError:
        expected, advice = "a file of documents", "check the path"
        raise unmet(file, expected, "none", advice, ExitCode.NOT_FOUND) from None
    except IsADirectoryError:
        expected, advice = "a file of documents", "convert what is in it with --into FOLDER"
        raise unmet(file, expected, "a folder", advice) from None
    except OSError as error:
        expected, advice = "a file that can be read", "check its permissions"
        raise unmet(file, expected, str(error.strerror), advice, ExitCode.FAILED) from None
    _refuse_parts(data, name)
    if len(data) > _MOST:
        expected, advice = f"at most {_MOST:,} bytes", "convert it in parts"
        raise unmet(name, expected, "more", advice, ExitCode.FAILED)
    return data, name


def _refuse_parts(data: bytes, name: str) -> None:
    """Refuses what is converted in parts only, or not at all while it is packed."""
    found = next((each for begin, each in _PACKED.items() if data.startswith(begin)), "")
    whole = name.lower().removesuffix(".gz").removesuffix(".zst")
    advice = "convert it with --into FOLDER, or unpack it"
    if data.startswith(b"PAR1"):
        found, advice = "a Parquet file", "convert it with --into FOLDER"
    elif not whole.endswith(_LINES):
        advice = "unpack it"
    if found:
        raise unmet(name, "YAML or JSON", found, advice)


def _form_of(text: bytes, name: str) -> str:
    if name.lower().endswith((".yaml", ".yml")):
        return "yaml"
    opens_json = text.lstrip()[:1] in (b"{", b"[")
    return "json" if name.lower().endswith(".json") or opens_json else "yaml"


class _Report:
    """What became of the documents of a file: results, what is wrong with others, and what to look at."""

    def __init__(self, scheme: "AnyScheme", name: str, to: str | None) -> None:
        self.scheme = scheme
        self.name = name
        self.to = to
        self.results: list[bytes] = []
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.code = ExitCode.DONE
        self.trace: Trace | None = None

    def take(
        self, document: "Document", outcome: "Outcome", shown: Callable[[bytes], bytes]
    ) -> None:
        """Takes in what became of a document, and how its result is shown."""
        place = f"{self.name}:{document.line}"
        notes = [*outcome.tolerated, *outcome.lost, *self._unconverted(document, outcome)]
        self.notes += [f"{place}: {each}" for each in notes]
        if outcome.error is None:
            self.results.append(shown(outcome.result))
            if not any(each.expected.startswith("the required") for each in outcome.tolerated):
                self.notes += [f"{place}: {each}" for each in self._lacking(outcome.result)]
            return
        self.code = max(self.code, exit_code(outcome.error) or ExitCode.FAILED)
        self.problems += [f"{place}: {message}" for message in messages_of(outcome.error)]

    def print(self, form: str) -> None:
        """Prints notes and results, and ends the command where anything is wrong."""
        from trundle.project import write_documents  # noqa: PLC0415

        self.print_notes()
        if self.results:
            print_exactly(write_documents(self.results, "json" if form == "json" else "yaml"))
        if self.problems:
            raise CommandExit(self.code, *self.problems)

    def print_notes(self) -> None:
        """Prints what to look at."""
        for note in self.notes:
            warn(note)

    def _lacking(self, result: bytes) -> Iterator[str]:
        """What a result lacks that its version requires: nothing has a value for it, and no default is valid."""
        import msgspec  # noqa: PLC0415

        from trundle.runtime import DocumentError, UnknownVersionError  # noqa: PLC0415

        if self.to is None:
            return
        try:
            self.scheme.decode(result, version=self.to.rpartition("/")[2])
        except DocumentError as error:
            for each in error.findings:
                missing = expectation(each.expected, each.found)
                advice = "configure a `default`, or a hook for it"
                yield f"{each.place.path}: {missing} in the result; {advice}"
        except UnknownVersionError:  # a list, whose items are documents
            members = msgspec.json.decode(result, type=dict[str, msgspec.Raw])
            items = msgspec.json.decode(
                members.get("items", b"null"), type=list[msgspec.Raw] | None
            )
            for place, item in enumerate(items or ()):
                for note in self._lacking(bytes(item)):
                    yield note.replace("$", f"$.items[{place}]", 1)

    def _unconverted(self, document: "Document", outcome: "Outcome") -> Iterator[str]:
        """What the values without counterpart mean for a user who converts the document."""
        if not outcome.unconverted:
            return
        plain = json.loads(document.data)
        kept = "a stored object keeps it in its property bag"
        if self.to is not None:
            kept = f"it is absent in {self.to}; {kept}"
        for note in outcome.unconverted:
            for path in note.paths(plain):
                value = json.dumps(note.value, ensure_ascii=False)
                what = f"{note.rule} has no counterpart for {value}"
                yield f"{path}: {what}: {kept}"
