"""The `trundle` command with all its subcommands."""

import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from trundle.cli import (
    channel,
    conform,
    convert,
    forget,
    install,
    installed,
    keys,
    project,
    publish,
    reports,
    tidy,
    verify,
)
from trundle.cli._failures import ExitCode, failures_reported, report_bug
from trundle.cli._settings import Settings


class TrundleGroup(TyperGroup):
    """Runs a subcommand, and turns whatever goes wrong into a message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the subcommand of a context."""
        with failures_reported():
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result


app = typer.Typer(
    name="trundle",
    cls=TrundleGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
)


def _show_version(value: bool) -> None:  # noqa: FBT001 - the signature of a callback
    if value:
        from trundle import __version__  # noqa: PLC0415

        typer.echo(f"trundle {__version__}")
        raise typer.Exit


@app.callback()
def _trundle(
    context: typer.Context,
    *,
    folder: Annotated[
        Path,
        typer.Option("--project", "-C", metavar="DIR", help="The project's folder."),
    ] = Path(),
    version: Annotated[  # noqa: ARG001 - the callback does the work
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Keeps versioned things rolling forward without losing anything."""
    context.obj = Settings(folder)


for _command in (
    project.init,
    project.generate,
    project.check,
    project.lock,
    verify.verify,
    convert.convert,
    conform.conform,
    reports.diff,
    reports.stats,
    reports.suggest,
    reports.map_,
    reports.explain,
    project.schema,
    publish.publish,
    publish.unpublish,
    publish.promote,
    publish.deprecate,
    publish.mirror,
    publish.prune,
    install.install,
    install.upgrade,
    installed.plan,
    install.approve,
    install.hold,
    install.unhold,
    install.rollback,
    install.uninstall,
    tidy.tidy,
    installed.status,
    installed.list_,
    installed.history,
    installed.agent,
):
    app.command(_command.__name__.rstrip("_"))(_command)

app.add_typer(channel.app, name="channel")
app.add_typer(keys.app, name="keys")
app.add_typer(forget.app, name="forget")
app.add_typer(installed.policy_app, name="policy")


def _terminate(*_signal: object) -> NoReturn:
    """Ends what is being done, and this process, after it has tidied up."""
    sys.exit(ExitCode.TERMINATED)


def main() -> None:
    """Runs the command line of this process, and exits."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")
    # As Ctrl-C does, so that others do not have to wait for what a publisher leaves behind.
    signal.signal(signal.SIGTERM, _terminate)
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
    except Exception as error:
        if os.environ.get("TRUNDLE_TRACEBACK"):
            raise
        report_bug(error)
        sys.exit(1)
