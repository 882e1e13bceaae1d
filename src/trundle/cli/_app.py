"""The `trundle` command with all its subcommands."""

import itertools
import signal
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from trundle.cli import (
    catalog,
    channel,
    conform,
    convert,
    env,
    forget,
    install,
    installed,
    keys,
    kube,
    kubeconfig,
    model,
    package,
    project,
    publish,
    reports,
    search,
    serve,
    store,
    tidy,
    ui,
    verify,
)
from trundle.cli._failures import ExitCode, failures_reported, report_bug
from trundle.cli._settings import resolve_for, wants_traceback


class TrundleGroup(TyperGroup):
    """Runs a subcommand, and turns whatever goes wrong into a message and an exit code."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses arguments; the project's folder may be given before the command and after it."""
        parsed: list[str] = super().parse_args(ctx, project_first(args))
        return parsed

    def invoke(self, ctx: Any) -> Any:
        """Runs the subcommand of a context."""
        with failures_reported():
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result


def project_first(args: list[str]) -> list[str]:
    """The arguments with `-C DIR` and `--project DIR` before all others; what follows `--` stays where it is."""
    end = args.index("--") if "--" in args else len(args)
    first, rest = [], []
    given = iter(args[:end])
    for each in given:
        if each in {"-C", "--project"}:
            first += [each, *itertools.islice(given, 1)]
        elif each.startswith("--project="):
            first.append(each)
        else:
            rest.append(each)
    return [*first, *rest, *args[end:]]


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
    """Convert between schema versions without losing data, and roll releases forward."""
    context.obj = resolve_for(folder)


_COMMANDS = {
    "Schemas": (
        project.init,
        project.generate,
        project.check,
        project.lock,
        convert.convert,
        conform.conform,
        verify.verify,
        reports.diff,
        reports.stats,
        reports.suggest,
        reports.map_,
        reports.explain,
        project.schema,
    ),
    "Control plane": (
        serve.serve,
        ui.ui,
        kubeconfig.kubeconfig,
    ),
    "Packages and channels": (
        publish.publish,
        publish.unpublish,
        publish.promote,
        publish.deprecate,
        publish.mirror,
        publish.prune,
        search.search,
    ),
    "Installation": (
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
        search.outdated,
        installed.list_,
        installed.history,
        installed.agent,
    ),
}
"""The commands by the part of `trundle --help` that lists them, in its order."""

for _panel, _commands in _COMMANDS.items():
    for _command in _commands:
        app.command(_command.__name__.rstrip("_"), rich_help_panel=_panel)(_command)

app.add_typer(channel.app, name="channel", rich_help_panel="Packages and channels")
app.add_typer(store.app, name="store", rich_help_panel="Schemas")
app.add_typer(kube.app, name="kube", rich_help_panel="Control plane")
app.add_typer(catalog.app, name="catalog", rich_help_panel="Packages and channels")
app.add_typer(model.app, name="model", rich_help_panel="Packages and channels")
app.add_typer(package.app, name="package", rich_help_panel="Packages and channels")
app.add_typer(keys.app, name="keys", rich_help_panel="Packages and channels")
app.add_typer(env.app, name="env", rich_help_panel="Environments")
app.add_typer(installed.policy_app, name="policy", rich_help_panel="Installation")
app.add_typer(forget.app, name="forget", rich_help_panel="Installation")


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
        if wants_traceback():
            raise
        report_bug(error)
        sys.exit(1)
