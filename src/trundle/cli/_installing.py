"""What the commands about installations share: their options, and how results are printed."""

import contextlib
import datetime as dt
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trundle._clock import now
from trundle.cli._channels import bytes_progress, say_done, web_settings
from trundle.cli._failures import EXIT_CODES, CommandExit, unmet
from trundle.cli._package_sources import LARGEST_ARCHIVE
from trundle.cli._printing import Format, one_line, print_data, print_result, print_text, say, warn
from trundle.cli._settings import STATE, current

if TYPE_CHECKING:
    from trundle.channels import UpgradePlan
    from trundle.channels.decision import Bringing
    from trundle.errors import Finding
    from trundle.installation import Installation, Outlook, PackageEvent
    from trundle.packages import Package

_DONE: dict[str, str] = {
    "install": "installed",
    "upgrade": "upgraded",
    "downgrade": "downgraded",
    "rollback": "rolled back",
}

_COLOURS = {
    **dict.fromkeys(("target", "install", "upgrade"), typer.colors.GREEN),
    **dict.fromkeys(("scheduled", "announced", "note", "note:"), typer.colors.CYAN),
    **dict.fromkeys(("blocked", "downgrade"), typer.colors.YELLOW),
    "refused": typer.colors.RED,
}
"""The colours of lines by their first word."""
_WRONG = {
    **dict.fromkeys(("Installed", "UpToDate"), typer.colors.YELLOW),
    **dict.fromkeys(("ChannelUsable", "Published"), typer.colors.RED),
}
"""The colours of conditions that are false."""

State = Annotated[
    Path | None,
    typer.Option(
        "--state",
        metavar="DIR",
        envvar=STATE,
        help="The state directory.",
        show_default="~/.local/state/trundle",
    ),
]
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="An installed package, or its repository.")
]
Version = Annotated[str, typer.Argument(metavar="VERSION", help="The version.")]
AnyName = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="An installed package; all by default."),
]
PolicyOption = Annotated[
    Path | None,
    typer.Option("--policy", metavar="FILE", help="A YAML file with an `upgrade:` policy."),
]


def state_folder(given: Path | None) -> Path:
    """The folder of the installation that a command works on."""
    return current().state if given is None else given


@contextlib.contextmanager
def opened(
    state: Path | None, label: str = "Installing", *, making: bool = False, looking: bool = False
) -> Iterator["Installation"]:
    """The installation that a command works on.

    Args:
        state: the folder that was named.
        label: what the progress bar calls the work.
        making: whether the installation is made where there is none; else the command sees an empty one.
        looking: whether the command works without writing where the folder cannot be written, as a dry run does.
    """
    from trundle.installation import Installation, exists  # noqa: PLC0415

    folder = state_folder(state)
    with contextlib.ExitStack() as stack:
        if not making and not exists(folder):
            missing = "" if folder.exists() else ", which does not exist"
            say(f"nothing is installed in {folder}{missing}")
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        progress = stack.enter_context(bytes_progress(label))
        settings = web_settings()
        installation = Installation(
            folder, clock=now, progress=progress, settings=settings, looking=looking
        )
        yield stack.enter_context(installation)


def installed_packages(state: Path | None) -> "list[Package]":
    """All packages that are installed."""
    from trundle.packages import Package  # noqa: PLC0415

    with opened(state, "Reading", looking=True) as installation:
        archives = [
            installation.content.archive(each.digest, each.name, LARGEST_ARCHIVE)
            for each in installation.packages()
        ]
    return [Package.from_archive(each) for each in archives]


def print_done(done: str, data: dict[str, Any], output: Format, *, dry_run: bool) -> None:
    """Prints what a command did, or would do, that has no other result."""
    if output is not Format.TABLE:
        print_data(data | {"dryRun": dry_run}, output.value)
    say_done(done, dry_run=dry_run)


def say_if_forgotten(installation: "Installation") -> None:
    """Says so where what is seen of channels is not remembered."""
    if installation.memory.is_copy:
        folder = installation.folders.root
        say(f"{folder} cannot be written; the state seen of channels is not recorded")


def time_of(text: str | None, option: str) -> dt.datetime | None:
    """A time that a user wrote."""
    from trundle.channels import parse_time  # noqa: PLC0415

    if text is None:
        return None
    try:
        return parse_time(text)[0]
    except ValueError as error:
        expected = "a time such as 2026-03-08T02:00:00+01:00"
        raise unmet(option, expected, f"{text!r}: {error}") from None


def event_text(event: "PackageEvent") -> str:
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


def print_plans(plans: "Sequence[UpgradePlan]", output: Format) -> None:
    """Prints what would happen to packages.

    Raises:
        CommandExit: a channel is not accepted.
    """
    from trundle.channels import refusal_kind  # noqa: PLC0415

    print_result(
        lambda: [each.to_plain() for each in plans],
        lambda: "".join(map(_plan_text, plans)),
        output,
        prose=True,
        colour=colour_of,
    )
    refusals = [refusal for each in plans for refusal in each.refusals]
    if refusals:
        raise CommandExit(EXIT_CODES[refusal_kind(refusals)])


def _plan_text(plan: "UpgradePlan") -> str:
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
    if plan.bringing is not None:
        lines += list(_bringing_lines(plan.bringing))
    lines += [f"refused {each.coded}" for each in plan.refusals]
    for entry in plan.news:
        if entry.changes:
            lines.append(f"changes in {entry.version}{' (critical)' if entry.critical else ''}:")
            lines += [f"  - {one_line(each)}" for each in entry.changes]
    lines += [f"note: {each}" for each in plan.notes]
    installed = plan.installed and (plan.installed.shown_version or plan.installed.digest[:19])
    head = f"{plan.package} {installed or 'not installed'}\n"
    return head + "".join(f"  {each}\n" for each in lines)


def colour_of(line: str) -> str | None:
    """The colour for the first word of a line about an installation, where it says that all is well, that something waits, or that something is wrong."""
    if not line.startswith("  "):
        return None
    word, status = (*line.split(), "", "")[:2]
    if status in {"True", "False"} and word in _WRONG:
        return _WRONG[word] if status == "False" else typer.colors.GREEN
    if word == "Held":
        return typer.colors.YELLOW if status == "True" else None
    return _COLOURS.get(word)


def _bringing_lines(bringing: "Bringing") -> Iterator[str]:
    """What a version changes about resource types, a line for each."""
    for each in bringing.resources:
        if each.added:
            yield f"{bringing.version} adds {each.name} {', '.join(each.added)}"
        if each.removed:
            yield f"{bringing.version} removes {each.name} {', '.join(each.removed)}"


def resource_lines(resources: "Mapping[str, Sequence[str]]") -> list[str]:
    """The resource types that a package brings, a line for each with its API versions."""
    return [" ".join((name, ", ".join(each))).strip() for name, each in resources.items()]


def print_changes(
    events: "tuple[PackageEvent, ...]",
    outlooks: "dict[str, Outlook]",
    notes: tuple[str, ...],
    refusals: "tuple[Finding, ...]",
    output: Format,
    *,
    dry_run: bool,
) -> None:
    """Prints the result of a change.

    Raises:
        CommandExit: something was refused; its code says how the command ends.
    """
    if output is Format.TABLE:
        lines = [
            f"would have {event_text(each)}" if dry_run else event_text(each) for each in events
        ]
        print_text("".join(f"{each}\n" for each in lines), prose=True)
        if dry_run and events:
            say("nothing was fetched; content is checked when it is")
        changed = {each.package for each in events}
        for name, outlook in sorted(outlooks.items()):
            _say_more(outlook, changed=name in changed)
        for note in notes:
            warn(note)
    else:
        data = {
            "changes": [each.to_plain() for each in events],
            "plans": [each.plan.to_plain() for _, each in sorted(outlooks.items())],
            "refusals": [each.to_plain() for each in refusals],
            "notes": list(notes),
            "dryRun": dry_run,
        }
        print_data(data, output.value)
    if refusals:
        from trundle.channels import refusal_kind  # noqa: PLC0415

        code = EXIT_CODES[refusal_kind(refusals)]
        raise CommandExit(code, *(each.coded for each in refusals))


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
