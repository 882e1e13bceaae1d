"""The commands that change what a channel releases, and where: publish, unpublish, promote, deprecate, mirror, prune."""

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trundle._clock import now
from trundle.cli._channels import (
    Keys,
    KeysSeen,
    Repository_,
    ValidFor,
    Word,
    bytes_progress,
    channel_to_plain,
    duration_of,
    print_channel,
    published,
    repository_of,
    say_done,
    version_of,
)
from trundle.cli._failures import ExitCode, unmet
from trundle.cli._printing import Format, one_line, print_data, print_text, warn
from trundle.cli._reviewing import Override, reason_of, release_folders, reviewing
from trundle.cli.project import DryRun, Jobs, Output

if TYPE_CHECKING:
    from trundle.channels.publishing import PackedArtifact, PublishedChannel, PublishRequest

Version = Annotated[str, typer.Argument(metavar="VERSION", help="The version.")]
From = Annotated[
    str, typer.Option("--from", metavar="REPOSITORY", help="The package's repository.")
]
In = Annotated[str, typer.Option("--in", metavar="REPOSITORY", help="The package's repository.")]

To = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="REPOSITORY",
        help="The package's repository: `oci:DIR`, `oci:DIR//NAME` or `HOST/NAME`.",
    ),
]
Content = Annotated[
    Path | None,
    typer.Option(
        "--content",
        metavar="FOLDER",
        help="With --undo: the package's folder, where the registry has collected it as garbage.",
    ),
]


def publish(
    *,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder of the package.")
    ] = Path(),
    to: To,
    channel: Word,
    suffix: Annotated[
        str,
        typer.Option("--suffix", help="Pre-release and build, such as `-beta.1+123`."),
    ] = "",
    skip_existing: Annotated[
        bool,
        typer.Option(
            "--skip-existing", help="Succeed if exactly this content is published already."
        ),
    ] = False,
    critical: Annotated[
        bool, typer.Option("--critical", help="Mark the version as an urgent fix.")
    ] = False,
    override: Override = None,
    jobs: Jobs = None,
    keys: Keys = None,
    seen: KeysSeen = None,
    valid_for: ValidFor = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Pack a package and release it to a channel; of a folder with releases, each that is not yet published."""
    from trundle.packages import read_manifest  # noqa: PLC0415

    reason = reason_of(override)
    lifetime = duration_of(valid_for)
    folders = release_folders(folder)
    name = read_manifest((folders or (folder,))[0]).name
    target = published(to, channel, keys, lifetime, name, seen=seen)
    done = []
    for each in folders or (folder,):
        request = _request(
            target,
            each,
            jobs,
            suffix=suffix,
            critical=critical,
            skip_existing=skip_existing or bool(folders),
            dry_run=dry_run,
            override=reason,
            expires_after=None if keys else lifetime,  # What is signed expires by its signatures.
        )
        done.append(_published(target, request, to, output))
    if output is not Format.TABLE:
        print_data(done if folders else done[0], output.value)


def _request(
    target: "PublishedChannel", folder: Path, jobs: int | None, **further: Any
) -> "PublishRequest":
    """What is to be published of a folder, with the review of the projects in it."""
    from trundle.channels.publishing import PublishRequest  # noqa: PLC0415
    from trundle.project import brought_by  # noqa: PLC0415

    brought = brought_by(folder)
    review = reviewing(target.repository, folder, brought.served, jobs)
    return PublishRequest(
        folder, resources=brought.served, storage=brought.stored, review=review, **further
    )


def _published(
    target: "PublishedChannel", request: "PublishRequest", to: str, output: Format
) -> dict[str, Any]:
    """Publishes a package, and reports it; the result as plain values."""
    from trundle.channels import entry_to_plain  # noqa: PLC0415
    from trundle.channels.publishing import publish as run  # noqa: PLC0415

    with bytes_progress("Publishing") as progress:
        result = run(target, request, progress=progress)
    for each in result.overridden:
        warn(f"overridden: {each.coded}")
    name = result.channel.package
    if output is Format.TABLE:
        print_text(f"{name} {result.entry.version} {result.entry.digest}")
        print_channel(result.channel, output, dry_run=request.dry_run, notes=result.notes)
    if not result.existed:
        files = "1 file" if result.files == 1 else f"{result.files} files"
        say_done(f"published {files} to {to}", dry_run=request.dry_run)
    return channel_to_plain(
        result.channel,
        dry_run=request.dry_run,
        notes=result.notes,
        published=entry_to_plain(result.entry),
        existed=result.existed,
        overridden=[each.to_plain() for each in result.overridden],
    )


def unpublish(
    version: Version,
    *,
    repository: From,
    channel: Word,
    reason: Annotated[
        str, typer.Option("--reason", help="The reason; users who have the version see it.")
    ] = "",
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask, even if it is the latest version.")
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Restore the version, with the same content.")
    ] = False,
    keep_content: Annotated[
        bool, typer.Option("--keep-content", help="Leave the version's tag in the registry.")
    ] = False,
    content: Content = None,
    keys: Keys = None,
    seen: KeysSeen = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Withdraw a version from a channel, or restore it."""
    from trundle.channels import (  # noqa: PLC0415
        RefusalCode,
        RefusedError,
        publishing,
    )

    number = version_of(version)
    if undo and (reason or keep_content):
        found = "--reason" if reason else "--keep-content"
        raise unmet(found, "no --undo with it", "one", "leave it out")
    target = published(repository, channel, keys, seen=seen)
    if undo:
        with _packed(content) as packed:
            done = publishing.restore(target, number, content=packed, dry_run=dry_run)
        print_channel(done.channel, output, dry_run=dry_run, notes=done.notes)
        say_done(f"restored {version}", dry_run=dry_run)
        return
    if content is not None:
        raise unmet("--content", "--undo with it", "none", "add --undo")
    further = {"keep_content": keep_content, "dry_run": dry_run}
    try:
        done = publishing.unpublish(target, number, reason, confirmed=yes or dry_run, **further)
    except RefusedError as error:
        if error.code is not RefusalCode.CONFIRMATION_NEEDED or not sys.stdin.isatty():
            raise
        question = f"{version} is the latest version; the channel will have none. Unpublish it?"
        typer.confirm(question, abort=True, err=True)
        done = publishing.unpublish(target, number, reason, confirmed=True, **further)
    print_channel(done.channel, output, dry_run=dry_run, notes=done.notes)
    say_done(f"unpublished {version}: {one_line(reason)}", dry_run=dry_run)


def _packed(folder: Path | None) -> contextlib.AbstractContextManager["PackedArtifact | None"]:
    from trundle.channels.publishing import packed  # noqa: PLC0415
    from trundle.project import brought_by  # noqa: PLC0415

    if folder is None:
        return contextlib.nullcontext()
    brought = brought_by(folder)
    return packed(folder, resources=brought.served, storage=brought.stored)


def promote(
    version: Version,
    *,
    repository: In,
    channel: Word,
    keys: Keys = None,
    seen: KeysSeen = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Make a listed version the latest."""
    from trundle.channels.publishing import promote as run  # noqa: PLC0415

    done = run(
        published(repository, channel, keys, seen=seen), version_of(version), dry_run=dry_run
    )
    print_channel(done.channel, output, dry_run=dry_run, notes=done.notes)
    say_done(f"promoted {version}", dry_run=dry_run)


def deprecate(
    version: Version,
    *,
    repository: In,
    channel: Word,
    message: Annotated[
        str | None, typer.Option("--message", help="The reason, for users who have the version.")
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Remove the deprecation.")] = False,
    keys: Keys = None,
    seen: KeysSeen = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Mark a version as deprecated, with the reason."""
    from trundle.channels.publishing import deprecate as run  # noqa: PLC0415

    if undo == (message is not None):
        found = "both" if undo else "neither"
        raise unmet("", "--message or --undo", found, "give one")
    target = published(repository, channel, keys, seen=seen)
    done = run(target, version_of(version), message, dry_run=dry_run)
    print_channel(done.channel, output, dry_run=dry_run, notes=done.notes)
    say_done(f"{'removed the deprecation of' if undo else 'deprecated'} {version}", dry_run=dry_run)


def mirror(
    source: Repository_,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The repository to copy to.")],
    *,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Copy a package's repository with its channels; digests stay the same."""
    from trundle.channels.publishing import mirror as run  # noqa: PLC0415

    origin, goal = repository_of(source), repository_of(target)
    with bytes_progress("Mirroring") as progress:
        done = run(origin, goal, dry_run=dry_run, progress=progress)
    if not (done.copied or done.unchanged or done.removed):
        advice = "check the address and the name"
        raise unmet(source, "a repository with content", "none", advice, ExitCode.NOT_FOUND)
    if output is Format.TABLE:
        print_text("".join(f"copied {each}\n" for each in done.copied))
        print_text("".join(f"removed {each}\n" for each in done.removed))
    else:
        print_data(done.to_plain() | {"dryRun": dry_run}, output.value)
    for note in done.notes:
        warn(note)
    tags = "1 tag" if len(done.copied) == 1 else f"{len(done.copied)} tags"
    counts = f"{tags}, left {len(done.unchanged)} as they were"
    say_done(f"copied {counts}, removed {len(done.removed)}", dry_run=dry_run)


def prune(
    repository: Repository_,
    *,
    older_than: Annotated[
        str,
        typer.Option(
            "--older-than",
            metavar="DURATION",
            help="The minimum age of unused content that is removed.",
        ),
    ] = "P1D",
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Remove content that no tag needs from a repository in a folder."""
    from trundle.registry import DirectoryRepository  # noqa: PLC0415

    grace = duration_of(older_than, "--older-than")
    assert grace is not None
    place = repository_of(repository)
    if not isinstance(place, DirectoryRepository):
        expected = "a repository in a folder, oci:DIR//NAME"
        advice = "the operator of the registry collects its garbage"
        raise unmet(repository, expected, "one at a registry", advice)
    if not place.folder.is_dir():
        advice = "check the folder and the name"
        raise unmet(repository, "a repository", "none", advice, ExitCode.NOT_FOUND)
    done = place.collect_garbage(grace.total_seconds(), now=now().timestamp(), dry_run=dry_run)
    if output is Format.TABLE:
        print_text("".join(f"{each}\n" for each in done.removed))
    else:
        print_data(done.to_plain() | {"dryRun": dry_run}, output.value)
    files = "1 file" if len(done.removed) == 1 else f"{len(done.removed)} files"
    say_done(f"removed {files} with {done.size} bytes", dry_run=dry_run)
