"""The commands that look at what is installed: plan, status, list, history; policies; and the agent."""

import contextlib
import datetime as dt
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trundle.cli._channels import duration_of, now
from trundle.cli._failures import ExitCode, Refusal
from trundle.cli._installing import (
    AnyName,
    Name,
    PolicyOption,
    State,
    event_data,
    event_text,
    opened,
    package_data,
    plan_data,
    plan_text,
    state_folder,
)
from trundle.cli._policies import PolicyFile, read_policy_file
from trundle.cli._printing import Format, print_data, print_result, print_text, say
from trundle.cli.install import Down, Now, To, request_of
from trundle.cli.project import DryRun, Output

if TYPE_CHECKING:
    from trundle.channels import Status
    from trundle.channels.installing import Event, LogLine, Package

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
    """Show what would happen, and when; nothing that is installed changes."""
    from trundle.channels.installing import foresee  # noqa: PLC0415

    request = request_of(to, at, now=now_, down=down)
    tried = None if policy is None else read_policy_file(policy)
    with opened(state, "Looking") as installation:
        names = None if name is None else [name]
        plans = [each.plan for each in foresee(installation, names, request, tried)]
    print_result(
        lambda: [plan_data(each) for each in plans],
        lambda: "".join(plan_text(each) for each in plans),
        output,
    )
    refusals = [refusal for each in plans for refusal in each.refusals]
    if refusals:
        raise Refusal(ExitCode(refusals[0].code.exit_code))


def status(name: AnyName = None, *, state: State = None, output: Output = Format.TABLE) -> None:
    """Show how packages stand: installed, latest, target, what waits, what is blocked, and why."""
    from trundle.channels.installing import foresee  # noqa: PLC0415

    with opened(state, "Looking") as installation:
        found = [
            installation.status(installation.package(each.plan.package), each)
            for each in foresee(installation, None if name is None else [name])
        ]
    print_result(
        lambda: [_status_data(each) for each in found],
        lambda: "\n".join(_status_text(each) for each in found),
        output,
    )


def _status_data(found: "Status") -> dict[str, Any]:
    from trundle.channels import format_time  # noqa: PLC0415

    return {
        "package": found.package,
        "channel": found.channel,
        "pinned": found.pinned,
        "installed": {"version": found.installed_version, "digest": found.installed_digest},
        "latest": found.latest,
        "target": {"version": found.target, "digest": found.target_digest},
        "scheduled": [
            {
                "version": str(each.entry.version),
                "digest": each.entry.identity,
                "notBefore": format_time(each.not_before),
                "message": each.message,
            }
            for each in found.scheduled
        ],
        "blocked": [
            {
                "version": str(each.entry.version),
                "reason": str(each.reason),
                "message": each.message,
            }
            for each in found.blocked
        ],
        "announced": found.announced,
        "nextChange": format_time(found.next_change) if found.next_change else None,
        "conditions": [
            {
                "type": each.type,
                "status": each.status,
                "reason": each.reason,
                "message": each.message,
                "lastTransitionTime": format_time(each.last_transition_time),
            }
            for each in found.conditions
        ],
        "notes": list(found.notes),
    }


def _status_text(found: "Status") -> str:
    follows = f"pinned to {found.pinned}" if found.pinned else f"channel {found.channel}"
    lines = [f"{found.package} ({follows})"]
    pairs = (
        ("installed", f"{found.installed_version} {found.installed_digest}".strip()),
        ("latest", found.latest),
        ("target", f"{found.target} {found.target_digest}".strip()),
        ("announced", found.announced),
    )
    lines += [f"  {key:<10} {value}" for key, value in pairs if value]
    lines += [f"  scheduled  {each.entry.version}: {each.message}" for each in found.scheduled]
    lines += [f"  blocked    {each.entry.version}: {each.message}" for each in found.blocked]
    lines += [f"  note       {each}" for each in found.notes]
    lines += [
        f"  {each.type:<14} {each.status:<8} {each.reason:<17} {_first(each.message)}".rstrip()
        for each in found.conditions
    ]
    return "".join(f"{each}\n" for each in lines)


def _first(message: str) -> str:
    return message.partition("\n")[0]


def list_(*, state: State = None, output: Output = Format.TABLE) -> None:
    """List what is installed; nothing is looked up."""
    with opened(state) as installation:
        found = [(each, installation.folder(each)) for each in installation.packages()]
    print_result(
        lambda: [package_data(*each) for each in found],
        lambda: "".join(_listed(each) for each, _ in found),
        output,
    )


def _listed(package: "Package") -> str:
    follows = f"pinned to {package.pinned}" if package.pinned else f"channel {package.channel}"
    return f"{package.name} {package.version or '-'} {package.digest} {follows}\n"


def history(name: AnyName = None, *, state: State = None, output: Output = Format.TABLE) -> None:
    """Show what was installed when, the newest first."""
    with opened(state) as installation:
        events = installation.history(name)
        if not events and name is not None:
            events = installation.history(installation.package(name).name)
    print_result(
        lambda: [event_data(each) for each in events],
        lambda: "".join(_told(each) for each in events),
        output,
    )


def _told(event: "Event") -> str:
    from trundle.channels import format_time  # noqa: PLC0415

    note = f" ({event.note})" if event.note and event.action != "follow" else ""
    return f"{format_time(event.at)} {event_text(event)}{note}\n"


@policy_app.command("lint")
def policy_lint(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A YAML file with `upgrade:`.")],
    *,
    output: Output = Format.TABLE,
) -> None:
    """Find what is wrong with a policy, and what can never or hardly ever act."""
    from trundle.channels import lint  # noqa: PLC0415

    text = PolicyFile(file)
    findings = [text.located(each) for each in lint(text.policy, now())]
    print_result(
        lambda: [
            {
                "severity": each.severity,
                "where": each.where,
                "expected": each.expected,
                "found": each.found,
                "advice": each.advice,
            }
            for each in findings
        ],
        lambda: "".join(f"{each.severity}: {each}\n" for each in findings),
        output,
    )
    if findings:
        raise Refusal(ExitCode.FINDINGS)
    say(f"{file}: nothing to complain about")


@policy_app.command("show")
def policy_show(name: Name, *, state: State = None, output: Output = Format.YAML) -> None:
    """Show the policy of a package."""
    from trundle.channels import policy_to_plain  # noqa: PLC0415

    with opened(state) as installation:
        package = installation.package(name)
    kind = Format.YAML if output is Format.TABLE else output
    print_data({"upgrade": policy_to_plain(package.effective_policy)}, kind.value)
    if package.policy is None:
        say(f"{package.name} has no policy of its own")


@policy_app.command("set")
def policy_set(
    name: Name,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A YAML file with `upgrade:`; none takes it away."),
    ] = None,
    *,
    state: State = None,
    dry_run: DryRun = False,
) -> None:
    """Give a package a policy of its own, or take it away."""
    policy = None if file is None else read_policy_file(file)
    with opened(state) as installation:
        installation.set_policy(name, policy, dry_run=dry_run)
    done = "took away the policy" if policy is None else "set the policy"
    say(f"would have: {done} of {name}" if dry_run else f"{done} of {name}")


def agent(
    *,
    interval: Annotated[
        str,
        typer.Option("--interval", metavar="DURATION", help="How often to look, such as PT15M."),
    ] = "PT15M",
    once: Annotated[
        bool, typer.Option("--once", help="Look once and end, for cron and timers.")
    ] = False,
    state: State = None,
    output: Annotated[
        Format, typer.Option("--output-format", "-o", help="How to print the log.")
    ] = Format.TABLE,
) -> None:
    """Follow all channels under the policies until stopped; a line for each event."""
    from trundle.channels.installing import Agent, run_round  # noqa: PLC0415

    pause = _interval(interval)
    tell = _teller(output)
    with opened(state, making=True) as installation:
        if once:
            done = run_round(installation)
            for line in done.lines:
                tell(line)
            if any(line.event == "error" for line in done.lines):
                raise Refusal(ExitCode.FAILED)
            if done.failed:
                raise Refusal(ExitCode.UNREACHABLE)
            if done.refusals:
                raise Refusal(ExitCode.FINDINGS)
            return
        with _stopping() as stopped, _alone(state):
            Agent(installation, tell, interval=pause, stopped=stopped).run()


def _interval(text: str) -> dt.timedelta:
    pause = duration_of(text, "--interval")
    assert pause is not None
    return pause


def _teller(output: Format) -> "Callable[[LogLine], None]":
    import msgspec  # noqa: PLC0415

    def tell(line: "LogLine") -> None:
        text = str(line) if output is Format.TABLE else msgspec.json.encode(line).decode()
        print_text(text.replace("\n", " "))
        sys.stdout.flush()

    return tell


@contextlib.contextmanager
def _stopping() -> Iterator[threading.Event]:
    """Gives what is set when this process is told to end."""
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
        message = f"{path}: expected no other agent for this installation, found one"
        raise Refusal(ExitCode.CONFLICT, f"{message}; stop it, or use it") from None
