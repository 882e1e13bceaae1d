"""Converts documents in folders, part by part."""

import re
from typing import TYPE_CHECKING, NamedTuple

import typer

from trundle.cli._failures import CommandExit, ExitCode, going_on, unmet
from trundle.cli._printing import DocumentFormat, print_data, progress, say
from trundle.cli._settings import settings_of
from trundle.cli._workers import workers_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from trundle.parts import ConversionOptions, ConvertedFolder
    from trundle.runtime import AnyScheme

_SIZE = re.compile(r"(\d+)([KMG]?)")
_MEMORY = "memory:"
"""What fsspec keeps in the memory of a process; results would go with it."""
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class Ways(NamedTuple):
    """How the work is done, and what is shown of it.

    Attributes:
        scheduler: the address of a cluster; None for processes of this machine.
        jobs: how many of these there are.
        part_size: about how many bytes of input are a part.
        dry_run: whether nothing is converted.
        output: how the result is printed; None for a message.
    """

    scheduler: str | None
    jobs: int | None
    part_size: str | None
    dry_run: bool
    output: DocumentFormat | None


def convert_folder(
    context: typer.Context,
    source: str,
    into: str,
    wanted: "Callable[[AnyScheme], ConversionOptions]",
    ways: Ways,
) -> None:
    """Converts the documents of a folder into another one; see `trundle.parts`.

    Args:
        context: the command's context.
        source: the folder or file with the documents.
        into: the folder for the results.
        wanted: how documents are to be converted by a scheme.
        ways: how the work is done.
    """
    import msgspec  # noqa: PLC0415

    from trundle.parts import PART_SIZE, FolderConversion  # noqa: PLC0415
    from trundle.project import (  # noqa: PLC0415
        ClientGroup,
        client_group,
        generated_scheme,
        load_config,
        ship,
    )

    if into.startswith(_MEMORY):
        expected, advice = "a folder that outlives the command", "name one of files"
        raise unmet("--into", expected, into, advice)
    size = PART_SIZE if ways.part_size is None else _size(ways.part_size)
    config = load_config(settings_of(context).config_path)
    with generated_scheme(config) as scheme:
        conversion = wanted(scheme)
        if conversion.to is not None:
            to = ClientGroup(client_group(config), scheme).without(conversion.to)
            conversion = msgspec.structs.replace(conversion, to=to)
        _require_known(scheme, conversion)
    work = FolderConversion(source, into, conversion, ship(config), size)
    if ways.dry_run:
        result = work.plan()
    else:
        scheduler = None if work.is_done else ways.scheduler  # It need not be there any more.
        with (
            going_on(dry_run=False),
            workers_of(scheduler, ways.jobs) as workers,
            progress("Converting") as step,
        ):
            result = work.run(workers, step)
    if ways.output is not None:
        print_data({**result.to_plain(), "dryRun": ways.dry_run}, ways.output.value)
    if ways.dry_run:
        say(f"would convert {_parts(result.parts - result.before)} into {result.into}")
        return
    _say(result)
    if result.refused:
        raise CommandExit(ExitCode.FINDINGS)


def _say(result: "ConvertedFolder") -> None:
    before = f"; {_parts(result.before)} done before" if result.before else ""
    what = "1 document" if result.converted == 1 else f"{result.converted or 'no'} documents"
    say(f"converted {what} into {result.into}, in {_parts(result.parts)}{before}")
    if result.tolerated:
        say(f"tolerated what {result.tolerated} of them lack or have too much")
    if result.refused:
        what = "1 document" if result.refused == 1 else f"{result.refused} documents"
        say(f"refused {what}; {result.refusals} says why")


def _parts(number: int) -> str:
    return "1 part" if number == 1 else f"{number or 'no'} parts"


def _require_known(scheme: "AnyScheme", conversion: "ConversionOptions") -> None:
    """Refuses a version that no resource type has, before each document is refused for it.

    Raises:
        UnknownVersionError: there is no such version.
        ConversionError: there is no such storage version.
    """
    from trundle.runtime import Lenience, UnknownVersionError  # noqa: PLC0415

    scheme = scheme.storing(conversion.stored_as)
    errors = [
        scheme.attempt(
            {},
            conversion.to,
            version=next(iter(each.versions)),
            resource=name,
            lenience=Lenience(missing=True),
        ).error
        for name, each in scheme.resources.items()
    ]
    for error in errors:
        if not isinstance(error, UnknownVersionError):
            return
    if errors[0] is not None:
        raise errors[0]


def _size(text: str) -> int:
    found = _SIZE.fullmatch(text)
    if found is None or not int(found[1]):
        raise unmet("--part-size", "a number of bytes, such as 32M", repr(text), "correct it")
    return int(found[1]) * _UNITS[found[2]]
