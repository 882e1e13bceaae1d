"""The commands that look at a channel and keep it sound: channel show, log, repair, refresh, export."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle._clock import now
from trundle.cli._channels import (
    Keys,
    KeysSeen,
    Repository_,
    ValidFor,
    Word,
    duration_of,
    expiry_notes,
    print_channel,
    published,
    repository_of,
    say_done,
    trust_store,
    web_settings,
)
from trundle.cli._failures import CommandExit, ExitCode, unmet
from trundle.cli._printing import (
    Format,
    one_line,
    print_data,
    print_result,
    print_text,
    say,
    shown_path,
    table,
    warn,
)
from trundle.cli.project import DryRun, Output

if TYPE_CHECKING:
    from trundle.channels import Channel
    from trundle.channels.publishing import ChannelEvent, Repair
    from trundle.channels.reading import ChannelSource

app = typer.Typer(no_args_is_help=True, help="Inspect and maintain channels.")

Place = Annotated[
    str | None,
    typer.Argument(
        metavar="REPOSITORY",
        help="The package's repository; not needed where the channel is a URL or a folder.",
    ),
]
AnyChannel = Annotated[
    str,
    typer.Option("--channel", metavar="CHANNEL", help="The channel name, or its URL or folder."),
]

Root = Annotated[
    Path | None,
    typer.Option(
        "--root", metavar="FILE", help="The publisher's root.json, which verifies the channel."
    ),
]
Seen = Annotated[
    Path | None,
    typer.Option(
        "--seen",
        metavar="DIR",
        help="With --root: remember here what was seen, so that older states are refused next time.",
    ),
]


@app.command()
def show(
    repository: Place = None,
    *,
    channel: AnyChannel,
    root: Root = None,
    seen: Seen = None,
    output: Output = Format.TABLE,
) -> None:
    """Show what a channel holds; verified where a root is given."""
    from trundle.channels.reading import open_channel, read_channel  # noqa: PLC0415

    place = None if repository is None else repository_of(repository)
    source = open_channel(channel, place, settings=web_settings())
    store = trust_store(source, root, seen)
    served = read_channel(source, store, clock=now, unsigned=store is None)
    for warning in served.warnings:
        warn(str(warning))
    for note in expiry_notes(served.channel):
        warn(note)
    print_result(served.to_plain, lambda: _channel_text(served.channel), output)
    if store is None:
        _say_unverified(source)


def _say_unverified(source: "ChannelSource") -> None:
    from trundle.channels.reading import has_signatures  # noqa: PLC0415

    if has_signatures(source):
        say("signatures were not verified; give the publisher's root with --root")
    else:
        say("the channel is not signed")


def _channel_text(channel: "Channel") -> str:
    rows: list[tuple[str, ...]] = []
    for entry in channel.versions:
        states = ["latest"] if entry.version == channel.latest else []
        states += ["critical"] if entry.critical else []
        states += [f"deprecated: {entry.deprecation}"] if entry.deprecated else []
        states += [f"overridden: {entry.overriding}"] if entry.override else []
        rows.append((str(entry.version), entry.id, ", ".join(states)))
    rows += [
        (str(each.version), each.entry.id, f"unpublished: {each.why}")
        for each in channel.unpublished
    ]
    return table(("VERSION", "ID", "STATE"), rows)


@app.command()
def log(
    repository: Repository_,
    *,
    channel: Word,
    root: Root = None,
    seen: Seen = None,
    output: Output = Format.TABLE,
) -> None:
    """Show what happened to a channel and when, with the changes of each version; verified where a root is given."""
    from trundle.channels.publishing import events  # noqa: PLC0415
    from trundle.channels.reading import RepositorySource  # noqa: PLC0415

    place = repository_of(repository)
    source = RepositorySource(place, channel)
    store = trust_store(source, root, seen)
    found = events(place, channel, clock=now, trust=store)
    print_result(
        lambda: [each.to_plain() for each in found],
        lambda: "".join(_event_text(each) for each in found),
        output,
        prose=True,
    )
    if store is None:
        _say_unverified(source)


def _event_text(event: "ChannelEvent") -> str:
    from trundle.channels import format_time  # noqa: PLC0415

    at = format_time(event.at.replace(microsecond=0))
    parts = [at, event.kind, str(event.version or ""), "critical" if event.critical else ""]
    line = "  ".join(each for each in parts if each)
    line += f": {one_line(event.text)}" if event.text else ""
    line += f"  overridden: {one_line(event.override)}" if event.override else ""
    line += f"  refused: {event.refused}" if event.refused else ""
    return "".join(
        f"{each}\n" for each in (line, *(f"    - {one_line(each)}" for each in event.changes))
    )


@app.command()
def repair(
    repository: Repository_,
    *,
    channel: Word,
    keys: Keys = None,
    seen: KeysSeen = None,
    read_content: Annotated[
        bool,
        typer.Option(
            "--read-content", help="Download the content of all versions, and compare digests."
        ),
    ] = False,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Rebuild a damaged channel, and finish or undo what an interrupted publisher left behind.

    A channel whose tag or files are gone, damaged or set back is rebuilt from its ledger; installations follow it. Tags of
    versions are set again. Content of versions that is gone or damaged is listed, for `publish --skip-existing`; of a
    registry over HTTP, --read-content finds damage that keeps the length, too. Exits with 3 where something is left to do, or was found by `--dry-run`.
    """
    from trundle.channels.publishing import repair as run  # noqa: PLC0415

    target = published(repository, channel, keys, seen=seen)
    repairs = run(target, dry_run=dry_run, read_content=read_content)
    print_result(
        lambda: [each.to_plain() for each in repairs],
        lambda: "".join(f"{_repair_text(each)}\n" for each in repairs),
        output,
        prose=True,
    )
    left = [each for each in repairs if not each.done]
    if not repairs:
        say("nothing to repair")
    elif dry_run or left:
        raise CommandExit(ExitCode.FINDINGS)


def _repair_text(each: "Repair") -> str:
    return f"{each.kind}: {each.what}" + (f"; {each.done}" if each.done else "")


@app.command()
def refresh(
    repository: Repository_,
    *,
    channel: Word,
    keys: Keys = None,
    seen: KeysSeen = None,
    valid_for: ValidFor = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Renew the validity period of a channel; a signed one needs the online key only."""
    from trundle.channels.publishing import refresh as run  # noqa: PLC0415

    lifetime = duration_of(valid_for)
    target = published(repository, channel, keys, seen=seen)
    if keys is None and lifetime is None and target.shown() is not None:
        expected = "--valid-for, as the channel is not signed"
        raise unmet("", expected, "none", "name the validity period")
    done = run(target, lifetime, dry_run=dry_run)
    print_channel(done.channel, output, dry_run=dry_run, notes=done.notes)
    say_done(f"refreshed the channel {channel}", dry_run=dry_run)


@app.command()
def export(
    repository: Repository_,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write to.")],
    *,
    channel: Word,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Write a channel as static files, for any web server."""
    from trundle.channels.publishing import export as run  # noqa: PLC0415
    from trundle.channels.reading import RepositorySource  # noqa: PLC0415

    source = RepositorySource(repository_of(repository), channel)
    names = [shown_path(each) for each in run(source, folder, dry_run=dry_run)]
    if output is Format.TABLE:
        print_text("".join(f"{name}\n" for name in names))
    else:
        print_data({"written": names, "dryRun": dry_run}, output.value)
