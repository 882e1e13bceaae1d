"""The command that converts documents."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle.cli._failures import ExitCode, Refusal, exit_code, messages_of
from trundle.cli._printing import DocumentFormat, print_exactly, warn
from trundle.cli._settings import settings_of

if TYPE_CHECKING:
    from trundle.project import Document
    from trundle.runtime import JoinedScheme, Scheme, Unconverted

_MOST = 256 * 1024 * 1024

STORAGE = "storage"
"""The name of what a store keeps, in place of a version."""


def convert(
    context: typer.Context,
    *,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="YAML or JSON; `-` is standard input.")
    ],
    to: Annotated[
        str, typer.Option("--to", metavar="VERSION", help="An API version, or `storage`.")
    ],
    base: Annotated[
        str | None,
        typer.Option("--base", metavar="FILE", help="What the store keeps now, to write over."),
    ] = None,
    version: Annotated[
        str | None,
        typer.Option("--from", metavar="VERSION", help="The version, where documents do not say."),
    ] = None,
    resource: Annotated[
        str | None, typer.Option(help="The resource type, where documents do not say.")
    ] = None,
    output: Annotated[
        DocumentFormat | None,
        typer.Option("--output-format", "-o", help="How to print.", show_default="as the input"),
    ] = None,
) -> None:
    """Convert documents to another version, or to what a store keeps."""
    from trundle.project import (  # noqa: PLC0415
        generated_scheme,
        load_config,
        read_documents,
        write_documents,
    )

    if file == "-" and base == "-":
        raise Refusal(ExitCode.USAGE, "FILE and --base cannot both be standard input")
    text, name = _read(file)
    documents = read_documents(text, name)
    bases: list[Document | None] = [None] * len(documents)
    if base is not None:
        bases = [*read_documents(*_read(base))]
        if len(bases) != len(documents):
            found = f"{len(bases)} in {base} for {len(documents)} in {file}"
            raise Refusal(ExitCode.USAGE, f"expected one base for each document, found {found}")
    with generated_scheme(load_config(settings_of(context).config_path)) as scheme:
        wanted = None if to == STORAGE else to
        converter = _Converter(scheme, name, wanted, version, resource)
        results = [
            converter.convert(document, under)
            for document, under in zip(documents, bases, strict=True)
        ]
    if converter.problems:
        raise Refusal(converter.code, *converter.problems)
    for note in converter.notes:
        warn(note)
    form = output.value if output is not None else _form_of(text, name)
    print_exactly(write_documents(results, "json" if form == "json" else "yaml"))


def _read(file: str) -> tuple[bytes, str]:
    name = "standard input" if file == "-" else file
    try:
        if file == "-":
            data = sys.stdin.buffer.read(_MOST + 1)
        else:
            with Path(file).open("rb") as stream:
                data = stream.read(_MOST + 1)
    except FileNotFoundError:
        message = f"{file}: expected a file of documents, found none; check the path"
        raise Refusal(ExitCode.NOT_FOUND, message) from None
    if len(data) > _MOST:
        message = f"{name}: expected at most {_MOST:,} bytes, found more; convert it in parts"
        raise Refusal(ExitCode.FAILED, message)
    return data, name


def _form_of(text: bytes, name: str) -> str:
    if name.lower().endswith((".yaml", ".yml")):
        return "yaml"
    opens_json = text.lstrip()[:1] in (b"{", b"[")
    return "json" if name.lower().endswith(".json") or opens_json else "yaml"


class _Converter:
    """Converts all documents of a file, and collects what is wrong with each, and what to look at."""

    def __init__(
        self,
        scheme: "Scheme | JoinedScheme",
        name: str,
        to: str | None,
        version: str | None,
        resource: str | None,
    ) -> None:
        self.scheme = scheme
        self.name = name
        self.to = to
        self.version = version
        self.resource = resource
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.code = ExitCode.DONE

    def convert(self, document: "Document", base: "Document | None") -> bytes:
        """The converted document; empty where that is not possible."""
        from trundle.runtime import unconverted  # noqa: PLC0415

        try:
            with unconverted() as notes:
                converted = self.scheme.convert_json(
                    document.data,
                    self.to,
                    None if base is None else base.data,
                    version=self.version,
                    resource=self.resource,
                    strict=True,
                )
        except Exception as error:
            code = exit_code(error)
            if code is None:
                raise
            self.code = max(self.code, code)
            self.problems += [
                f"{self.name}:{document.line}: {message}" for message in messages_of(error)
            ]
            return b""
        self.notes.extend(self._notes(document, notes))
        return converted

    def _notes(self, document: "Document", notes: "list[Unconverted]") -> Iterator[str]:
        """What the values without counterpart mean for somebody who converts the document."""
        if not notes:
            return
        plain = json.loads(document.data)
        kept = "a stored object keeps it in its property bag"
        if self.to is not None:
            kept = f"it is absent in {self.to}; {kept}"
        for note in notes:
            for path in note.paths(plain):
                value = json.dumps(note.value, ensure_ascii=False)
                what = f"{note.rule} has no counterpart for {value}"
                yield f"{self.name}:{document.line}: {path}: {what}: {kept}"
