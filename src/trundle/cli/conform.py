"""The command that compares conversions with those of another implementation: conform."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle.cli._failures import CommandExit, ExitCode
from trundle.cli._printing import Format, print_result, progress, say
from trundle.cli._settings import settings_of
from trundle.cli.convert import Lenient, ResourceType
from trundle.cli.project import Output

if TYPE_CHECKING:
    from trundle.project import Conformance, ConformanceEntry, ExpectedDifference

_SHOWN = 160
"""How many letters of a value are shown."""


Files = Annotated[
    list[Path],
    typer.Argument(
        help="Files with pairs of documents; or a file or folder with the documents before, and one with those after."
    ),
]
Both = Annotated[
    bool, typer.Option("--both", help="Also convert back, and compare with the first.")
]
Except = Annotated[
    Path | None,
    typer.Option(
        "--except",
        metavar="FILE",
        help="A file that lists the expected differences, and the reasons.",
    ),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="VERSION", help="The version before, where documents do not name it."
    ),
]
To = Annotated[
    str | None,
    typer.Option(
        "--to", metavar="VERSION", help="The version after, where documents do not name it."
    ),
]


def conform(
    context: typer.Context,
    *,
    files: Files,
    both: Both = False,
    expected: Except = None,
    version: From = None,
    to: To = None,
    resource: ResourceType = None,
    lenient: Lenient = False,
    output: Output = Format.TABLE,
) -> None:
    """Compare conversions with the output of another implementation."""
    from trundle import project as rooms  # noqa: PLC0415
    from trundle.runtime import Lenience  # noqa: PLC0415

    listed: tuple[ExpectedDifference, ...] = ()
    if expected is not None:
        listed = rooms.read_expected(expected.read_bytes(), str(expected))
    pairs = rooms.read_pairs(files)
    with (
        rooms.generated_scheme(rooms.load_config(settings_of(context).config_path)) as scheme,
        progress("Comparing") as step,
    ):
        versions = rooms.PairVersions(version, to, resource)
        lenience = Lenience(missing=True, nulls=True, unknown="keep") if lenient else None
        found = rooms.conform(
            scheme, pairs, listed, both=both, versions=versions, lenience=lenience, on_step=step
        )
    print_result(found.to_plain, lambda: conformance_text(found), output)
    for each in listed:
        if each.excuses_all:
            text = f"note: {each.where}: {each.path} excuses every difference, those that you do not know as well"
            say(f"{text}; list the paths that you mean")
    for each in found.unused:
        say(f"note: {each.where}: {each.path} is listed as expected, and was not found; remove it")
    say(_summary(found))
    if found.differences:
        raise CommandExit(ExitCode.FINDINGS)


def _summary(found: "Conformance") -> str:
    count = len(found.differences)
    differences = f"{count or 'no'} {'difference' if count == 1 else 'differences'}"
    pairs = f"{found.pairs} {'pair' if found.pairs == 1 else 'pairs'}"
    return f"{pairs}, {differences}, {len(found.expected)} as expected"


def conformance_text(found: "Conformance") -> str:
    """What came out of a comparison, for people."""
    from trundle.report import table  # noqa: PLC0415

    rows = [
        [
            each.check.resource,
            each.check.way,
            str(each.documents),
            str(each.equal),
            str(each.as_expected),
            str(each.documents - each.equal - each.as_expected),
        ]
        for each in found.held
    ]
    header = ["resource type", "conversion", "documents", "equal", "as expected", "different"]
    parts = [table(header, rows)]
    totals = {each.check: each.documents for each in found.held}
    parts += ["\n".join(_entry_text(each, totals[each.check])) for each in found.differences]
    if found.expected:
        lines = (_expected_text(each, totals[each.check]) for each in found.expected)
        parts.append("\n".join(["as expected", *lines]))
    return "\n\n".join(parts)


def _entry_text(entry: "ConformanceEntry", documents: int) -> Iterator[str]:
    share = f"in {entry.documents} of {documents} documents"
    yield f"{entry.check.resource} {entry.check.way}: {entry.path} is {entry.difference} {share}"
    example = entry.example
    if entry.difference == "refused":
        yield f"  reason:   {example.found}"
    else:
        yield f"  expected: {_cut(example.expected)}"
        yield f"  found:    {_cut(example.found)}"
    yield f"  example:  {example.where} at {example.path}"


def _expected_text(entry: "ConformanceEntry", documents: int) -> str:
    assert entry.expected is not None
    share = f"{entry.documents} of {documents} documents"
    what = f"{entry.path} is {entry.difference}"
    return f"  {entry.check.way}: {what} in {share}: {entry.expected.reason}"


def _cut(text: str | None) -> str:
    if text is None:
        return "nothing"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
