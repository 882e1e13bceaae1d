"""The commands that reset rollback protection, for the rare case in which it is wrong."""

from typing import Annotated

import typer

from trundle.cli._channels import version_of
from trundle.cli._failures import ExitCode, unmet
from trundle.cli._installing import Name, State, Version, opened, print_done
from trundle.cli._printing import Format, say
from trundle.cli.project import DryRun, Output

app = typer.Typer(
    no_args_is_help=True,
    help="Reset rollback protection.",
)


@app.command()
def clock(*, state: State = None, dry_run: DryRun = False, output: Output = Format.TABLE) -> None:
    """Reset the latest time seen, after this machine's clock was set in the future."""
    from trundle.channels import format_time  # noqa: PLC0415
    from trundle.installation import forget_clock  # noqa: PLC0415

    with opened(state, looking=dry_run) as installation:
        seen = forget_clock(installation, dry_run=dry_run)
    if seen is None:
        say("nothing to forget: no time was seen yet")
        return
    done, data = f"forgotten that it was {format_time(seen)} once", {"clock": format_time(seen)}
    print_done(done, data, output, dry_run=dry_run)


@app.command()
def channel(
    name: Name, *, state: State = None, dry_run: DryRun = False, output: Output = Format.TABLE
) -> None:
    """Reset the latest state seen of a package's channel, after its publisher created it again."""
    from trundle.installation import forget_channels  # noqa: PLC0415

    with opened(state, looking=dry_run) as installation:
        serial = forget_channels(installation, name, dry_run=dry_run)
    if not serial:
        say(f"nothing to forget: no channel of {name} was seen yet, or none with a serial")
        return
    data = {"package": name, "serial": serial}
    print_done(f"forgotten serial {serial} of {name}", data, output, dry_run=dry_run)


@app.command()
def store(
    place: Annotated[str, typer.Argument(metavar="STORE", help="The file or the URL.")],
    *,
    state: State = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Forget a store that what was installed is kept in, after it is gone for good."""
    from trundle.installation import forget_store  # noqa: PLC0415

    with opened(state, looking=dry_run) as installation:
        known = ", ".join(installation.memory.stores()) or "none"
        found = forget_store(installation, place, dry_run=dry_run)
    if not found:
        expected, advice = "a store of this installation", "name one of them"
        raise unmet(place, expected, known, advice, ExitCode.NOT_FOUND)
    print_done(f"forgotten the store {place}", {"store": place}, output, dry_run=dry_run)


@app.command()
def digest(
    name: Name,
    version: Version,
    *,
    state: State = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Reset the digest of a version, after its publisher confirmed other content."""
    from trundle.installation import forget_digest  # noqa: PLC0415

    with opened(state, looking=dry_run) as installation:
        known = forget_digest(installation, name, version_of(version), dry_run=dry_run)
    data = {"package": name, "version": version, "digest": known}
    print_done(f"forgotten that {name} {version} is {known}", data, output, dry_run=dry_run)
