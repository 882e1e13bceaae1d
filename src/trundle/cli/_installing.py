"""What the commands about installations share: their options, and how results are printed."""

import contextlib
import datetime as dt
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trundle.cli._channels import bytes_progress, now
from trundle.cli._failures import ExitCode, Refusal
from trundle.cli._printing import Format, print_data, print_text, say, warn

if TYPE_CHECKING:
    from trundle.channels import Plan
    from trundle.channels import Refusal as Refused
    from trundle.channels.installing import Event, Installation, Outlook, Package

_DONE: dict[str, str] = {
    "install": "installed",
    "upgrade": "upgraded",
    "downgrade": "downgraded",
    "rollback": "rolled back",
}

STATE = "TRUNDLE_STATE"
"""The environment variable with the folder of the installation."""

State = Annotated[
    Path | None,
    typer.Option(
        "--state",
        metavar="DIR",
        envvar=STATE,
        help="The folder with what is installed.",
        show_default="~/.local/state/trundle",
    ),
]
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="An installed package, or its repository.")
]
Version = Annotated[str, typer.Argument(metavar="VERSION", help="The version.")]
AnyName = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="An installed package; all of them where absent."),
]
PolicyOption = Annotated[
    Path | None,
    typer.Option("--policy", metavar="FILE", help="A YAML file with an `upgrade:` policy."),
]


def state_folder(given: Path | None) -> Path:
    """The folder of the installation that a command works on."""
    if given is not None:
        return given
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "trundle"


@contextlib.contextmanager
def opened(
    state: Path | None, label: str = "Installing", *, making: bool = False
) -> Iterator["Installation"]:
    """The installation that a command works on.

    Args:
        state: the folder that was named.
        label: what the progress bar calls the work.
        making: whether the installation is made where there is none; else the command sees an empty one.
    """
    from trundle.channels.installing import Installation, exists  # noqa: PLC0415

    folder = state_folder(state)
    with contextlib.ExitStack() as stack:
        if not making and not exists(folder):
            say(f"nothing is installed in {folder}")
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        progress = stack.enter_context(bytes_progress(label))
        yield stack.enter_context(Installation(folder, clock=now, progress=progress))


def time_of(text: str | None, option: str) -> dt.datetime | None:
    """A time that a user wrote."""
    from trundle.channels import parse_time  # noqa: PLC0415

    if text is None:
        return None
    try:
        return parse_time(text)[0]
    except ValueError as error:
        message = f"{option}: expected a time such as 2026-03-08T02:00:00+01:00, found {text!r}"
        raise Refusal(ExitCode.USAGE, f"{message}: {error}") from None


def refusal_data(refusals: "tuple[Refused, ...]") -> Any:
    """Refusals as plain values."""
    import msgspec  # noqa: PLC0415

    return [msgspec.to_builtins(each) for each in refusals]


def event_data(event: "Event") -> dict[str, Any]:
    """An event as plain values."""
    from trundle.channels import format_time  # noqa: PLC0415

    return {
        "package": event.package,
        "at": format_time(event.at),
        "action": event.action,
        "from": {"version": event.before, "digest": event.before_digest},
        "to": {"version": event.after, "digest": event.after_digest},
        "note": event.note,
    }


def event_text(event: "Event") -> str:
    """An event in a line."""
    before = event.before or event.before_digest[:19]
    after = event.after or event.after_digest[:19]
    match event.action:
        case "uninstall":
            return f"uninstalled {event.package} {before}"
        case "follow":
            return f"{event.package} {after} {event.note}"
    way = f"{before} -> {after}" if before else after
    return f"{_DONE[event.action]} {event.package} {way} {event.after_digest}"


def plan_data(plan: "Plan") -> dict[str, Any]:
    """A plan as plain values."""
    from trundle.channels import format_time  # noqa: PLC0415

    target = plan.target
    return {
        "package": plan.package,
        "at": format_time(plan.at),
        "action": plan.action,
        "installed": str(plan.installed.version or "") if plan.installed else "",
        "latest": str(plan.latest.version) if plan.latest else "",
        "target": {"version": str(target.version), "digest": target.identity} if target else None,
        "scheduled": [
            {
                "version": str(each.entry.version),
                "digest": each.entry.identity,
                "level": each.level,
                "notBefore": format_time(each.not_before),
                "message": each.message,
            }
            for each in plan.scheduled
        ],
        "blocked": [
            {
                "version": str(each.entry.version),
                "digest": each.entry.identity,
                "level": each.level,
                "reason": str(each.reason),
                "message": each.message,
            }
            for each in plan.blocked
        ],
        "announced": str(plan.announced.version) if plan.announced else "",
        "nextChange": format_time(plan.next_change) if plan.next_change else None,
        "refusals": refusal_data(plan.refusals),
        "notes": list(plan.notes),
    }


def plan_text(plan: "Plan") -> str:
    """A plan for people."""
    lines = []
    target = plan.target
    if target is not None:
        lines.append(f"{plan.action} to {target.version} now ({target.identity})")
    elif not plan.refusals:
        lines.append("nothing to do now")
    lines += [f"scheduled {each.entry.version}: {each.message}" for each in plan.scheduled]
    lines += [f"blocked {each.entry.version}: {each.message}" for each in plan.blocked]
    if plan.announced is not None:
        lines.append(f"announced {plan.announced.version}, a new major version")
    lines += [f"refused {each}" for each in plan.refusals]
    lines += [f"note: {each}" for each in plan.notes]
    installed = plan.installed and (plan.installed.version or plan.installed.digest[:19])
    head = f"{plan.package} {installed or 'not installed'}\n"
    return head + "".join(f"  {each}\n" for each in lines)


def package_data(package: "Package", folder: Path) -> dict[str, Any]:
    """An installed package as plain values."""
    from trundle.channels import format_time, policy_to_plain  # noqa: PLC0415

    return {
        "package": package.name,
        "version": str(package.version or ""),
        "digest": package.digest,
        "since": format_time(package.since),
        "repository": package.repository,
        "channel": package.channel,
        "pinned": package.pinned,
        "signed": package.signed,
        "policy": policy_to_plain(package.effective_policy),
        "folder": str(folder),
    }


def print_changes(
    events: "tuple[Event, ...]",
    outlooks: "dict[str, Outlook]",
    notes: tuple[str, ...],
    refusals: "tuple[Refused, ...]",
    output: Format,
    *,
    dry_run: bool,
) -> None:
    """Prints what a change came to.

    Raises:
        Refusal: something was refused; its code says how the command ends.
    """
    if output is Format.TABLE:
        lines = [
            f"would have {event_text(each)}" if dry_run else event_text(each) for each in events
        ]
        print_text("".join(f"{each}\n" for each in lines))
        if dry_run and events:
            say("nothing was fetched; content is checked when it is")
        changed = {each.package for each in events}
        for name, outlook in sorted(outlooks.items()):
            _say_more(outlook, changed=name in changed)
        for note in notes:
            warn(note)
    else:
        data = {
            "changes": [event_data(each) for each in events],
            "plans": [plan_data(each.plan) for _, each in sorted(outlooks.items())],
            "refusals": refusal_data(refusals),
            "notes": list(notes),
            "dryRun": dry_run,
        }
        print_data(data, output.value)
    if refusals:
        code = ExitCode(refusals[0].code.exit_code)
        raise Refusal(code, *(str(each) for each in refusals))


def _say_more(outlook: "Outlook", *, changed: bool) -> None:
    plan = outlook.plan
    for warning in outlook.warnings:
        warn(warning)
    for waiting in plan.scheduled:
        say(f"scheduled {plan.package} {waiting.entry.version}: {waiting.message}")
    for blocked in plan.blocked:
        say(f"blocked {plan.package} {blocked.entry.version}: {blocked.message}")
    for note in plan.notes:
        say(note)
    quiet = not (plan.scheduled or plan.blocked or plan.refusals or plan.notes)
    if not changed and quiet and plan.target is None:
        say(f"{plan.package}: nothing to do")
