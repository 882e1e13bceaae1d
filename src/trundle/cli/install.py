"""The commands that change what is installed: install, upgrade, rollback, uninstall, approve, unapprove, hold and unhold."""

import datetime as dt
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle._clock import now
from trundle.cli._channels import duration_of, read_root, say_done, version_of
from trundle.cli._failures import CommandExit, ExitCode, unmet
from trundle.cli._installing import (
    AnyName,
    Name,
    PolicyOption,
    State,
    Version,
    event_text,
    opened,
    print_changes,
    print_done,
    print_plans,
    say_if_forgotten,
    time_of,
)
from trundle.cli._policies import read_policy_file
from trundle.cli._printing import (
    Format,
    print_data,
    print_text,
    say,
    warn,
)
from trundle.cli._registry import full_reference
from trundle.cli._settings import user_name
from trundle.cli.project import DryRun, Output
from trundle.errors import duration_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trundle.channels import Request
    from trundle.installation import PackageEvent

To = Annotated[str | None, typer.Option("--to", metavar="VERSION", help="This version only.")]
Now = Annotated[bool, typer.Option("--now", help="Wait neither for a cooldown nor for a window.")]
Down = Annotated[
    bool, typer.Option("--allow-downgrade", help="Allow a downgrade to the requested version.")
]
Reference = Annotated[
    str,
    typer.Argument(
        metavar="NAME[:TAG|@DIGEST]",
        help="The package's repository; with a tag or a digest it is pinned to that.",
    ),
]
Channel = Annotated[
    str | None,
    typer.Option(
        "--channel",
        metavar="CHANNEL",
        help="The channel name, or its URL or folder.",
        show_default="stable",
    ),
]
Root = Annotated[
    Path | None, typer.Option("--root", metavar="FILE", help="The publisher's root.json.")
]
Unsigned = Annotated[bool, typer.Option("--unsigned", help="Accept an unsigned channel.")]
Needs = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="REPOSITORY",
        help="The repository of a package that may be required; repeatable.",
    ),
]
AlsoUpgrade = Annotated[
    bool,
    typer.Option("--upgrade", help="Upgrade the package if it is installed from there already."),
]
Check = Annotated[
    bool, typer.Option("--check", help="Only check; exits with 10 if there is an update.")
]
Waiting = Annotated[
    str | None,
    typer.Option(
        "--wait",
        metavar="DURATION",
        help="Wait up to this long for a scheduled upgrade, such as PT2H.",
    ),
]
OneVersion = Annotated[
    str | None, typer.Option("--version", metavar="VERSION", help="Only this version.")
]


def request_of(to: str | None, at: str | None = None, *, now: bool, down: bool) -> "Request":
    """What the options ask for."""
    from trundle.channels import Request  # noqa: PLC0415

    return Request(
        to=None if to is None else version_of(to),
        now=now,
        allow_downgrade=down,
        at=time_of(at, "--at"),
    )


def install(
    reference: Reference,
    *,
    channel: Channel = None,
    root: Root = None,
    unsigned: Unsigned = False,
    to: To = None,
    needs: Needs = None,
    policy: PolicyOption = None,
    upgrade_: AlsoUpgrade = False,
    state: State = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Install a package by channel, or pinned to a tag or a digest."""
    from trundle.installation import Install  # noqa: PLC0415
    from trundle.installation import install as run  # noqa: PLC0415

    if root is not None and unsigned:
        raise unmet("", "--root or --unsigned", "both", "a channel with a root is verified")
    wanted = Install(
        reference=full_reference(reference),
        channel=channel,
        root=None if root is None else read_root(root),
        unsigned=unsigned,
        to=None if to is None else version_of(to),
        policy=None if policy is None else read_policy_file(policy),
        needs=tuple(full_reference(each) for each in needs or ()),
        upgrade=upgrade_,
    )
    with opened(state, making=not dry_run, looking=dry_run) as installation:
        done = run(installation, wanted, dry_run=dry_run)
    print_changes(
        done.events, dict(done.outlooks), done.notes, done.all_refusals, output, dry_run=dry_run
    )


def upgrade(
    name: AnyName = None,
    *,
    to: To = None,
    check: Check = False,
    now_: Now = False,
    down: Down = False,
    wait: Waiting = None,
    state: State = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Upgrade packages as far as their policies allow now."""
    from trundle.installation import foresee, upgrade_waiting  # noqa: PLC0415
    from trundle.installation import upgrade as run  # noqa: PLC0415

    if to is not None and name is None:
        raise unmet("--to", "a package for it", "none", "name one")
    longest = duration_of(wait, "--wait")
    if longest is not None and (check or dry_run):
        advice = "leave one of them out"
        raise unmet("--wait", "an upgrade", "--check or --dry-run", advice)
    request = request_of(to, now=now_, down=down)
    with opened(state, "Upgrading", looking=check or dry_run) as installation:
        say_if_forgotten(installation)
        names = None if name is None else [name]
        if check:
            plans = [each.plan for each in foresee(installation, names, request)]
        elif longest is not None:
            done = upgrade_waiting(installation, names, request, longest, _pause)
        else:
            done = run(installation, names, request, dry_run=dry_run)
    if not check:
        print_changes(
            *(done.events, dict(done.outlooks), done.notes, done.all_refusals, output),
            dry_run=dry_run,
        )
        if to is not None and not done.events:
            raise CommandExit(ExitCode.FINDINGS, f"{name}: {to} may not be installed now")
        return
    print_plans(plans, output)
    if any(each.update_available for each in plans):
        raise CommandExit(ExitCode.UPDATE_AVAILABLE)


def _pause(duration: dt.timedelta) -> None:
    say(f"waiting {duration_text(duration)} for scheduled upgrades")
    time.sleep(duration.total_seconds())


def rollback(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME...", help="The packages; several go back together.")
    ],
    *,
    state: State = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Go back to the version that was installed before; needs no network."""
    from trundle.installation import roll_back_together  # noqa: PLC0415

    with opened(state, looking=dry_run) as installation:
        events = roll_back_together(installation, names, dry_run=dry_run)
    _print_events(events, output, dry_run=dry_run)


def uninstall(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME...", help="The packages; several may need each other."),
    ],
    *,
    state: State = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Remove packages that no other package needs."""
    from trundle.installation import uninstall_together  # noqa: PLC0415

    with opened(state, looking=dry_run) as installation:
        events = uninstall_together(installation, names, dry_run=dry_run)
    _print_events(events, output, dry_run=dry_run)


def _print_events(events: "Sequence[PackageEvent]", output: Format, *, dry_run: bool) -> None:
    if output is not Format.TABLE:
        plain = [each.to_plain() | {"dryRun": dry_run} for each in events]
        print_data(plain if len(plain) > 1 else plain[0], output.value)
        return
    for event in events:
        print_text(f"would have {event_text(event)}" if dry_run else event_text(event))
        if event.action == "rollback" and not dry_run:
            warn(f"{event.note}; release it with `unhold`")


def approve(
    name: Name,
    version: Version,
    *,
    state: State = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Approve a version with the content that its channel lists now."""
    from trundle.version import change_level  # noqa: PLC0415

    number = version_of(version)
    with opened(state, looking=dry_run) as installation:
        approval = installation.approve(name, number, by=user_name(), dry_run=dry_run)
        package = installation.package(name)
    if output is Format.TABLE:
        print_text(f"{version} {approval.digest}")
    else:
        data = {"version": version, "digest": approval.digest, "dryRun": dry_run}
        print_data(data, output.value)
    say_done(f"approved {version}", dry_run=dry_run)
    policy = package.effective_policy
    level = change_level(package.version, number, policy.zero_major) if package.version else None
    if level is not None and policy.action(level) != "approval":
        said = f"the policy says {policy.action(level)} for {level} upgrades"
        warn(f"{said}, so the approval has no effect unless that changes")


def unapprove(
    name: Name,
    version: Version,
    *,
    state: State = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Withdraw the approval of a version."""
    number = version_of(version)
    with opened(state, looking=dry_run) as installation:
        found = installation.unapprove(name, number, dry_run=dry_run)
        versions = [str(each.version) for each in installation.approvals(name)]
    if not found:
        approved = ", ".join(versions) or "none"
        advice = "name one of these" if versions else ""
        raise unmet(name, f"an approval of {version}", approved, advice, ExitCode.NOT_FOUND)
    data = {"package": name, "version": version}
    print_done(f"withdrew the approval of {version} of {name}", data, output, dry_run=dry_run)


def hold(
    name: Name,
    *,
    reason: Annotated[str, typer.Option("--reason", help="The reason.")],
    version: OneVersion = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="When the hold ends.")
    ] = None,
    state: State = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Hold back a package, or one version of it."""
    from trundle.channels import Hold  # noqa: PLC0415

    number, end, at = (
        None if version is None else version_of(version),
        time_of(until, "--until"),
        now(),
    )
    if not reason.strip():
        raise unmet("--reason", "words", "none", "say why")
    if end is not None and end <= at:
        advice = "a hold without --until lasts until `unhold`"
        raise unmet("--until", "a time to come", f"{until}", advice)
    held = Hold(reason, at, number, end, user_name())
    with opened(state, looking=dry_run) as installation:
        installation.hold(name, held, dry_run=dry_run)
    data = {"package": name, "version": version, "reason": reason, "until": until}
    print_done(f"held {version or 'everything'} of {name}", data, output, dry_run=dry_run)


def unhold(
    name: Name,
    *,
    version: OneVersion = None,
    state: State = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """End a hold."""
    number = None if version is None else version_of(version)
    with opened(state, looking=dry_run) as installation:
        found = installation.unhold(name, number, dry_run=dry_run)
        versions = [str(each.version or "everything") for each in installation.holds(name)]
    if not found:
        expected = f"a hold on {version or 'everything'}"
        held = f"holds on {', '.join(versions)}" if versions else "none"
        advice = "name the version with --version" if versions else ""
        raise unmet(name, expected, held, advice, ExitCode.NOT_FOUND)
    data = {"package": name, "version": version}
    print_done(f"released {version or 'everything'} of {name}", data, output, dry_run=dry_run)
