"""The commands that forget what guards against being led back, for the rare case in which it was wrong."""

import typer

from trundle.cli._channels import tell, version_of
from trundle.cli._installing import Name, State, Version, opened
from trundle.cli._printing import say
from trundle.cli.project import DryRun

app = typer.Typer(
    no_args_is_help=True,
    help="Reset rollback protection.",
)


@app.command()
def clock(*, state: State = None, dry_run: DryRun = False) -> None:
    """Forget the latest time that was seen, as when this machine's clock once stood in the future."""
    from trundle.channels import format_time  # noqa: PLC0415

    with opened(state) as installation:
        seen = installation.forget_clock(dry_run=dry_run)
    if seen is None:
        say("nothing to forget: no time was seen yet")
        return
    tell(f"forgotten that it was {format_time(seen)} once", dry_run=dry_run)


@app.command()
def channel(name: Name, *, state: State = None, dry_run: DryRun = False) -> None:
    """Forget how new a package's channel was, as when its publisher had to begin anew."""
    with opened(state) as installation:
        serial = installation.forget_channels(name, dry_run=dry_run)
    if not serial:
        say(f"nothing to forget: no channel of {name} was seen yet, or none with a serial")
        return
    tell(f"forgotten serial {serial} of {name}", dry_run=dry_run)


@app.command()
def digest(name: Name, version: Version, *, state: State = None, dry_run: DryRun = False) -> None:
    """Forget the digest of a version, where its publisher says that other content is right."""
    with opened(state) as installation:
        known = installation.forget_digest(name, version_of(version), dry_run=dry_run)
    tell(f"forgotten that {name} {version} is {known}", dry_run=dry_run)
