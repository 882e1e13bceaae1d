"""The command that removes content of the local store that no rollback needs."""

from typing import Annotated

import typer

from trundle.cli._channels import say_done
from trundle.cli._installing import State, opened
from trundle.cli._printing import Format, print_data, print_text
from trundle.cli.project import DryRun, Output


def tidy(
    *,
    keep: Annotated[
        int,
        typer.Option(
            "--keep", metavar="N", min=0, help="How many earlier versions of each package to keep."
        ),
    ] = 3,
    state: State = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Remove content from the local store that no rollback needs."""
    from trundle.installation import tidy as run  # noqa: PLC0415

    with opened(state, looking=dry_run) as installation:
        done = run(installation, keep, dry_run=dry_run)
    if output is Format.TABLE:
        lines = (f"{each.name} {each.digest}".lstrip() for each in done.removed)
        print_text("".join(f"{each}\n" for each in lines))
    else:
        removed = [{"name": each.name, "digest": each.digest} for each in done.removed]
        print_data({"removed": removed, "bytes": done.size, "dryRun": dry_run}, output.value)
    count = "1 version" if len(done.removed) == 1 else f"{len(done.removed)} versions"
    say_done(f"removed {count} with {done.size} bytes", dry_run=dry_run)
