"""The commands that look at what is installed: plan, status, list, history; policies; and the agent."""

import contextlib
import datetime as dt
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle._clock import now
from trundle.cli._channels import duration_of
from trundle.cli._failures import CommandExit, ExitCode, unmet
from trundle.cli._installing import (
    AnyName,
    Name,
    PolicyOption,
    State,
    colour_of,
    event_text,
    opened,
    print_done,
    print_plans,
    resource_lines,
    say_if_forgotten,
    state_folder,
)
from trundle.cli._policies import PolicyFile, read_policy_file
from trundle.cli._printing import Format, print_data, print_result, print_text, say, warn
from trundle.cli.install import Down, Now, To, request_of
from trundle.cli.project import DryRun, Output

if TYPE_CHECKING:
    from trundle.channels import InstallationStatus
    from trundle.installation import InstalledPackage, LogLine, PackageEvent

policy_app = typer.Typer(no_args_is_help=True, help="Inspect and set upgrade policies.")


def plan(
    name: AnyName = None,
    *,
    at: Annotated[str | None, typer.Option("--at", metavar="TIME", help="As of this time.")] = None,
    to: To = None,
    now_: Now = False,
    down: Down = False,
    policy: PolicyOption = None,
    state: State = None,
    output: Output = Format.TABLE,
) -> None:
    """Show what would happen, and when, without changing what is installed."""
    from trundle.installation import foresee  # noqa: PLC0415

    request = request_of(to, at, now=now_, down=down)
    tried = None if policy is None else read_policy_file(policy)
    with opened(state, "Looking", looking=True) as installation:
        say_if_forgotten(installation)
        names = None if name is None else [name]
        plans = [each.plan for each in foresee(installation, names, request, tried)]
    print_plans(plans, output)


def status(name: AnyName = None, *, state: State = None, output: Output = Format.TABLE) -> None:
    """Show the installed, latest and target version of packages, and what is waiting or blocked."""
    from trundle.installation import foresee  # noqa: PLC0415

    with opened(state, "Looking", looking=True) as installation:
        say_if_forgotten(installation)
        found = [
            installation.status(installation.package(each.plan.package), each)
            for each in foresee(installation, None if name is None else [name])
        ]
    print_result(
        lambda: [each.to_plain() for each in found],
        lambda: "\n".join(_status_text(each) for each in found),
        output,
        prose=True,
        colour=colour_of,
    )


def _status_text(found: "InstallationStatus") -> str:
    from trundle.channels import format_time  # noqa: PLC0415

    follows = f"pinned to {found.pinned}" if found.pinned else f"channel {found.channel}"
    lines = [f"{found.package} ({follows})"]
    pairs = (
        ("installed", f"{found.installed_version} {found.installed_digest}".strip()),
        ("latest", found.latest),
        ("target", f"{found.target} {found.target_digest}".strip()),
        ("announced", found.announced),
    )
    lines += [f"  {key:<10} {value}" for key, value in pairs if value]
    lines += [f"  {'brings':<10} {each}" for each in resource_lines(found.resources)]
    lines += [f"  scheduled  {each.entry.version}: {each.message}" for each in found.scheduled]
    lines += [f"  blocked    {each.entry.version}: {each.message}" for each in found.blocked]
    lines += [
        f"  approved   {each.version}{f' by {each.by}' if each.by else ''}, {format_time(each.at)}"
        for each in found.approvals
    ]
    lines += [f"  note       {each}" for each in found.notes]
    lines += [
        f"  {each.type:<14} {each.status:<8} {each.reason:<17} {_first(each.message)}".rstrip()
        for each in found.conditions
    ]
    return "".join(f"{each}\n" for each in lines)


def _first(message: str) -> str:
    return message.partition("\n")[0]


def list_(*, state: State = None, output: Output = Format.TABLE) -> None:
    """List what is installed, without looking for updates."""
    with opened(state, looking=True) as installation:
        found = [(each, installation.folder(each)) for each in installation.packages()]
    print_result(
        lambda: [each.to_plain() | {"folder": str(folder)} for each, folder in found],
        lambda: "".join(_listed(each) for each, _ in found),
        output,
        prose=True,
    )


def _listed(package: "InstalledPackage") -> str:
    follows = (
        f"pinned to {package.pinned}"
        if package.pinned
        else f"channel {package.subscription.channel}"
    )
    brought = "".join(f"  {each}\n" for each in resource_lines(package.manifest.resources))
    return f"{package.name} {package.release.version} {package.digest} {follows}\n{brought}"


def history(name: AnyName = None, *, state: State = None, output: Output = Format.TABLE) -> None:
    """Show what was installed and when, newest first."""
    with opened(state, looking=True) as installation:
        events = installation.history(name)
        if not events and name is not None:
            events = installation.history(installation.package(name).name)
    print_result(
        lambda: [each.to_plain() for each in events],
        lambda: "".join(_history_text(each) for each in events),
        output,
        prose=True,
    )


def _history_text(event: "PackageEvent") -> str:
    from trundle.channels import format_time  # noqa: PLC0415

    note = f" ({event.note})" if event.note and event.action != "follow" else ""
    return f"{format_time(event.at)} {event_text(event)}{note}\n"


@policy_app.command("lint")
def policy_lint(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A YAML file with `upgrade:`.")],
    *,
    output: Output = Format.TABLE,
) -> None:
    """Check a policy for errors, and for rules that never or rarely apply."""
    from trundle.channels import lint  # noqa: PLC0415

    text = PolicyFile(file)
    findings = [text.located(each) for each in lint(text.policy, now())]
    print_result(
        lambda: [each.to_plain() for each in findings],
        lambda: "".join(f"{each.severity}: {each.coded}\n" for each in findings),
        output,
    )
    if findings:
        raise CommandExit(ExitCode.FINDINGS)
    say(f"{file}: no findings")


@policy_app.command("show")
def policy_show(name: Name, *, state: State = None, output: Output = Format.YAML) -> None:
    """Show the policy of a package."""
    from trundle.channels import policy_to_plain  # noqa: PLC0415

    with opened(state, looking=True) as installation:
        package = installation.package(name)
    kind = Format.YAML if output is Format.TABLE else output
    print_data({"upgrade": policy_to_plain(package.effective_policy)}, kind.value)
    if package.subscription.policy is None:
        say(f"{package.name} has no policy of its own")


@policy_app.command("set")
def policy_set(
    name: Name,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", help="A YAML file with `upgrade:`; without one the policy is removed."
        ),
    ] = None,
    *,
    state: State = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Set or remove the policy of a package."""
    from trundle.channels import policy_to_plain  # noqa: PLC0415

    policy = None if file is None else read_policy_file(file)
    with opened(state, looking=dry_run) as installation:
        installation.set_policy(name, policy, dry_run=dry_run)
    done = "removed the policy" if policy is None else "set the policy"
    data = {"package": name, "upgrade": None if policy is None else policy_to_plain(policy)}
    print_done(f"{done} of {name}", data, output, dry_run=dry_run)


def agent(
    *,
    interval: Annotated[
        str,
        typer.Option("--interval", metavar="DURATION", help="How often to check, such as PT15M."),
    ] = "PT15M",
    once: Annotated[
        bool, typer.Option("--once", help="Check once and exit, for cron and timers.")
    ] = False,
    notify: Annotated[
        list[str] | None,
        typer.Option(
            "--notify",
            metavar="COMMAND|URL",
            help="A command or webhook that receives changes, refusals and errors as JSON; repeatable.",
        ),
    ] = None,
    state: State = None,
    output: Annotated[
        Format, typer.Option("--output-format", "-o", help="How to print the log.")
    ] = Format.TABLE,
) -> None:
    """Follow all channels and upgrade under the policies until stopped."""
    from trundle.installation import Agent, run_round  # noqa: PLC0415

    pause = _interval(interval)
    log = _notifying(_logging(output), notify or [])
    with opened(state, making=True) as installation:
        if once:
            done = run_round(installation)
            for line in done.lines:
                log(line)
            if any(line.event == "error" for line in done.lines):
                raise CommandExit(ExitCode.FAILED)
            if done.failed:
                raise CommandExit(ExitCode.UNREACHABLE)
            if done.refusals:
                raise CommandExit(ExitCode.FINDINGS)
            return
        with _stopping() as stopped, _alone(state):
            Agent(installation, log, interval=pause, stopped=stopped).run()


def _interval(text: str) -> dt.timedelta:
    pause = duration_of(text, "--interval")
    assert pause is not None
    return pause


def _logging(output: Format) -> "Callable[[LogLine], None]":
    import msgspec  # noqa: PLC0415

    def log(line: "LogLine") -> None:
        text = str(line) if output is Format.TABLE else msgspec.json.encode(line).decode()
        print_text(text.replace("\n", " "))
        sys.stdout.flush()

    return log


def _notifying(log: "Callable[[LogLine], None]", targets: list[str]) -> "Callable[[LogLine], None]":
    """Prints lines, and notifies others of those that they subscribed to."""
    from trundle.installation import NOTIFIED, NotificationError, notifier  # noqa: PLC0415

    try:
        notifiers = [notifier(each) for each in targets]
    except NotificationError as error:
        raise CommandExit(ExitCode.USAGE, f"--notify: {error}") from None

    def log_and_notify(line: "LogLine") -> None:
        log(line)
        for notify in notifiers if line.event in NOTIFIED else []:
            try:
                notify(line)
            except NotificationError as error:
                warn(str(error))

    return log_and_notify


@contextlib.contextmanager
def _stopping() -> Iterator[threading.Event]:
    """An event that is set when this process receives a signal to end."""
    stopped = threading.Event()
    kinds = (signal.SIGTERM, signal.SIGINT)
    before = {each: signal.signal(each, lambda *_: stopped.set()) for each in kinds}
    try:
        yield stopped
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


@contextlib.contextmanager
def _alone(state: Path | None) -> Iterator[None]:
    from trundle._locking import LockBusyError, locked  # noqa: PLC0415

    path = state_folder(state).absolute() / "agent.lock"
    try:
        with locked(path, 0):
            yield
    except LockBusyError:
        expected, advice = "no other agent for this installation", "stop it, or use it"
        raise unmet(str(path), expected, "one", advice, ExitCode.CONFLICT) from None
