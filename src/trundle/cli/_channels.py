"""What the commands about channels share: their options, and how they get at a channel and its keys."""

import contextlib
import datetime as dt
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trundle._clock import now
from trundle.cli._failures import CommandExit, ExitCode, unmet
from trundle.cli._printing import Format, print_data, print_text, say, shown_path, warn
from trundle.cli._registry import full_reference
from trundle.cli._settings import PASSPHRASE, current

if TYPE_CHECKING:
    from trundle.channels import Channel
    from trundle.channels.publishing import PublishedChannel
    from trundle.channels.reading import ChannelSource
    from trundle.channels.reading.signatures import TrustStore
    from trundle.registry import HttpSettings, Repository
    from trundle.version import SemVer

Word = Annotated[
    str, typer.Option("--channel", metavar="NAME", help="The channel name, such as `stable`.")
]
Keys = Annotated[
    Path | None,
    typer.Option(
        "--keys",
        metavar="DIR",
        envvar="TRUNDLE_KEYS",
        help="The folder with the channel's keys, as `trundle keys init` makes it; none for an unsigned channel.",
    ),
]
KeysSeen = Annotated[
    Path | None,
    typer.Option(
        "--seen",
        metavar="DIR",
        envvar="TRUNDLE_SEEN",
        help="With --keys: where to remember what was seen of channels; by default `seen` in the folder with the keys. "
        "Needed where that folder cannot be written.",
    ),
]
ValidFor = Annotated[
    str | None,
    typer.Option(
        "--valid-for",
        metavar="DURATION",
        help="The validity period of the channel from now on, such as `P30D`.",
    ),
]
Repository_ = Annotated[
    str,
    typer.Argument(
        metavar="REPOSITORY",
        help="The package's repository: `oci:DIR`, `oci:DIR//NAME` or `HOST/NAME`.",
    ),
]


def repository_of(reference: str) -> "Repository":
    """The repository that a reference without tag and digest names."""
    from trundle.registry import Reference, open_repository  # noqa: PLC0415

    parsed = Reference.parse(full_reference(reference))
    if parsed.tag is not None or parsed.digest is not None:
        expected = "a repository without tag and digest"
        raise unmet(reference, expected, f"{parsed.tag or parsed.digest}", "leave it out")
    return open_repository(parsed)


def web_settings() -> "HttpSettings | None":
    """How web servers are asked for channels: the server that the settings name is shown the user's token, and no other one is. None where there is no token."""
    found = current()
    if not (found.token and found.server):
        return None
    from trundle.registry import HttpSettings, ServerToken  # noqa: PLC0415

    return HttpSettings(token=ServerToken(server=found.server, token=found.token))


def version_of(text: str) -> "SemVer":
    """A version that a user wrote."""
    from trundle.version import SemVer  # noqa: PLC0415

    return SemVer.parse(text)


def duration_of(text: str | None, option: str = "--valid-for") -> dt.timedelta | None:
    """A duration that a user wrote."""
    from trundle.channels import parse_duration  # noqa: PLC0415

    if text is None:
        return None
    try:
        duration = parse_duration(text)
    except ValueError as error:
        raise unmet(option, "a duration such as P30D", f"{text!r}: {error}") from None
    if not duration:
        raise unmet(option, "a duration", "none", "give a longer one")
    return duration


def published(
    reference: str,
    word: str,
    keys: Path | None,
    valid_for: dt.timedelta | None = None,
    package: str | None = None,
    *,
    seen: Path | None = None,
) -> "PublishedChannel":
    """The channel to be changed, with its keys."""
    from trundle.channels.publishing import (  # noqa: PLC0415
        ChannelSigner,
        KeyFolder,
        PublishedChannel,
    )
    from trundle.channels.reading.signatures import Lifetimes  # noqa: PLC0415

    signer = None
    if seen is not None and keys is None:
        raise unmet("--seen", "--keys with it", "none")
    if keys is not None:
        lifetimes = Lifetimes()
        if valid_for is not None:
            lifetimes = Lifetimes(targets=max(valid_for, lifetimes.targets), online=valid_for)
        folder = KeyFolder(keys, ask_passphrase)
        folder.roots()
        signer = ChannelSigner(folder, clock=now, lifetimes=lifetimes, seen=seen)
    repository = repository_of(reference)
    return PublishedChannel(repository, word, clock=now, package=package, signer=signer)


def ask_passphrase() -> bytes:
    """The passphrase of keys that are there, from the environment or the terminal."""
    given = current().passphrase
    if given is not None:
        return given.encode()
    if not sys.stdin.isatty():
        advice = f"set {PASSPHRASE}"
        raise unmet("", "the passphrase of the keys", "no terminal to ask at", advice)
    text: str = typer.prompt("Passphrase of the keys", hide_input=True, err=True)
    return text.encode()


def new_passphrase(*, plain: bool) -> bytes | None:
    """The passphrase for keys that are made; None for plain ones."""
    if plain:
        return None
    given = current().passphrase
    if given is not None:
        if given:
            return given.encode()
        advice = "use --no-passphrase for plain keys"
        raise unmet(PASSPHRASE, "a passphrase", "nothing", advice)
    if not sys.stdin.isatty():
        advice = f"set {PASSPHRASE}, or use --no-passphrase"
        raise unmet("", "a passphrase for the keys", "no terminal to ask at", advice)
    text: str = typer.prompt(
        "Passphrase of the keys", hide_input=True, confirmation_prompt=True, err=True
    )
    return text.encode()


def print_channel(
    channel: "Channel",
    output: Format,
    *,
    dry_run: bool,
    notes: tuple[str, ...] = (),
    **further: Any,
) -> None:
    """Prints the result of a change."""
    if output is not Format.TABLE:
        data = channel_to_plain(channel, dry_run=dry_run, notes=notes, **further)
        print_data(data, output.value)
        return
    print_text(
        f"{channel.package} in the channel {channel.name}: latest {channel.latest or 'none'}"
    )
    for note in (*notes, *expiry_notes(channel)):
        warn(note)


def channel_to_plain(
    channel: "Channel", *, dry_run: bool, notes: tuple[str, ...], **further: Any
) -> dict[str, Any]:
    """The result of a change as plain values."""
    latest = None if channel.latest is None else str(channel.latest)
    shown = [*notes, *expiry_notes(channel)]
    head = {"package": channel.package, "channel": channel.name, "latest": latest}
    return head | further | {"serial": channel.serial, "dryRun": dry_run, "notes": shown}


def expiry_notes(channel: "Channel") -> tuple[str, ...]:
    """What to know of a channel whose own expiry has come; signatures expire by themselves."""
    from trundle.channels import format_time  # noqa: PLC0415

    if channel.expires is None or channel.expires > now():
        return ()
    at = format_time(channel.expires)
    text = f"the channel expired at {at}, and installations refuse it"
    return (f"{text}; renew its validity period with `channel refresh --valid-for`",)


def say_done(done: str, *, dry_run: bool) -> None:
    """Reports what was done, or would be."""
    say(f"would have {done}" if dry_run else done)


@contextlib.contextmanager
def bytes_progress(label: str) -> Iterator[Callable[[int], None]]:
    """Shows how many bytes were moved, where standard error is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        FileSizeColumn,
        Progress,
        TextColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        FileSizeColumn(),
        TransferSpeedColumn(),
    )
    console = Console(stderr=True, highlight=False)
    shown = Progress(*columns, console=console, transient=True)

    def advance(size: int) -> None:
        # Most commands move nothing that takes time, so nothing is shown until there is something to show.
        if not shown.tasks:
            shown.add_task(label, total=None)
            shown.start()
        shown.update(shown.task_ids[0], advance=size)

    try:
        yield advance
    finally:
        shown.stop()


def read_root(path: Path) -> bytes:
    """The content of a publisher's root.

    Raises:
        CommandExit: it is a folder.
    """
    if path.is_dir():
        raise unmet(
            f"--root {path}", "the publisher's root.json", "a folder", "name the file in it"
        )
    return path.read_bytes()


def check_seen(root: Path | None, seen: Path | None) -> None:
    """Makes sure that what was seen is remembered with a root alone.

    Raises:
        CommandExit: `--seen` stands without `--root`.
    """
    if root is None and seen is not None:
        raise unmet("--seen", "--root with it", "none", "give the publisher's root")


def trust_store(
    source: "ChannelSource", root: Path | None, seen: Path | None
) -> "TrustStore | None":
    """What verifies a channel by a root, and by what was seen of it before; None where there is no root.

    Raises:
        CommandExit: the root is none, or `--seen` stands without `--root`.
    """
    check_seen(root, seen)
    if root is None:
        return None
    from trundle.channels.reading.signatures import (  # noqa: PLC0415
        TrustError,
        TrustFolder,
        TrustMemory,
        trust,
    )

    store = TrustMemory() if seen is None else TrustFolder(seen)
    if store.state(source.location) is None:
        try:
            trusted = trust(read_root(root))
        except TrustError as error:
            message = f"{shown_path(root)}: {error}; give the publisher's root.json"
            raise CommandExit(ExitCode.VERIFICATION_FAILED, message) from None
        store.trust_first(source.location, trusted)
    return store
