"""The commands about the channels of a catalog: follow, unfollow, channels, channel, refresh."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle._clock import now
from trundle.cli._catalogs import At, NotAt, Place, Tenant, kept_catalog, own_catalog, tenant_of
from trundle.cli._channels import check_seen, read_root, say_done, trust_store
from trundle.cli._failures import CommandExit, ExitCode
from trundle.cli._printing import Format, one_line, print_result, say, table, warn
from trundle.cli._registry import full_reference
from trundle.cli.project import DryRun, Output

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trundle.catalog import Catalog, CatalogServer, FollowedChannel

Repository = Annotated[
    str | None,
    typer.Argument(
        metavar="REPOSITORY",
        help="The package's repository; not needed where the channel is a URL or a folder.",
    ),
]
Package = Annotated[str, typer.Argument(metavar="PACKAGE", help="The package.")]
Name = Annotated[str, typer.Argument(metavar="CHANNEL", help="The channel name.")]
Root = Annotated[
    Path | None,
    typer.Option(
        "--root", metavar="FILE", help="The publisher's root.json, to verify the signed bytes here."
    ),
]
Seen = Annotated[
    Path | None,
    typer.Option(
        "--seen",
        metavar="DIR",
        help="With --root: remember here what was seen, so that older states are refused next time.",
    ),
]
_HEAD = ("PACKAGE", "CHANNEL", "LATEST", "STATE", "EXPIRES", "TENANT", "SEEN BY")


def follow(
    repository: Repository = None,
    *,
    channel: Annotated[
        str,
        typer.Option(
            "--channel", metavar="CHANNEL", help="The channel name, or its URL or folder."
        ),
    ],
    root: Annotated[
        Path,
        typer.Option(
            "--root", metavar="FILE", help="The publisher's root.json, which verifies the channel."
        ),
    ],
    public: Annotated[bool, typer.Option("--public", help="Let all tenants see it.")] = False,
    tenant: Tenant = None,
    catalog: Place = None,
    server: NotAt = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Follow a signed channel: it is read, verified, and shown by `trundle serve --catalog` from now on."""
    from trundle.channels.reading import Subscription  # noqa: PLC0415

    reference = "" if repository is None else full_reference(repository)
    place = Subscription(repository=reference, channel=channel)
    with own_catalog(catalog, server, making=not dry_run) as opened:
        done = opened.channels.follow(
            place, read_root(root), tenant=tenant_of(tenant), public=public, dry_run=dry_run
        )
    _print_list([done], output)
    say_done(f"followed {done}", dry_run=dry_run)


def unfollow(
    package: Package,
    name: Name,
    *,
    tenant: Tenant = None,
    catalog: Place = None,
    server: NotAt = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Stop following a channel; what was seen of it is forgotten."""
    with own_catalog(catalog, server) as opened:
        done = opened.channels.unfollow(package, name, tenant=tenant_of(tenant), dry_run=dry_run)
    if output is not Format.TABLE:
        print_result(done.to_plain, str, output)
    say_done(f"unfollowed {done}", dry_run=dry_run)


def channels(
    *,
    search: Annotated[
        str,
        typer.Option(
            "--search", metavar="TEXT", help="Only those with a text in their packages and names."
        ),
    ] = "",
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, metavar="N", help="At most so many of them.")
    ] = None,
    tenant: Tenant = None,
    catalog: Place = None,
    server: At = None,
    output: Output = Format.TABLE,
) -> None:
    """List the channels that a tenant sees: its own and the public ones."""
    with kept_catalog(catalog, server) as opened:
        found = opened.channels.search(tenant_of(tenant), search, limit)
        where = opened.where
    _print_list(found.channels, output)
    having = f" with {search!r}" if search else ""
    if not found.number:
        say(f"{where}: no channel{having} for the tenant {tenant_of(tenant)}")
    elif found.number > len(found.channels):
        say(f"{len(found.channels)} of {found.number} channels{having}; raise --limit to see more")


def channel(
    package: Package,
    name: Name,
    *,
    root: Root = None,
    seen: Seen = None,
    tenant: Tenant = None,
    catalog: Place = None,
    server: At = None,
    output: Output = Format.TABLE,
) -> None:
    """Show a channel as the catalog last verified it; with --root, its signed bytes are verified here, too."""
    check_seen(root, seen)
    whose = tenant_of(tenant)
    with kept_catalog(catalog, server) as opened:
        found = opened.channels.channel(package, name, tenant=whose)
        if root is not None:
            found = _verified(opened, found, whose, root, seen)
    print_result(found.to_plain, lambda: _text(found), output, prose=True)
    _say_troubles([found])
    if root is not None:
        say("the signed bytes were verified here")


def _verified(
    opened: "Catalog | CatalogServer",
    found: "FollowedChannel",
    tenant: str,
    root: Path,
    seen: Path | None,
) -> "FollowedChannel":
    """A channel with what its signed bytes say, once they are verified here."""
    from trundle.catalog import KeptFiles, verified_again  # noqa: PLC0415
    from trundle.channels.reading import read_channel  # noqa: PLC0415

    package, name = found.package, found.channel
    source = KeptFiles(opened.channels, package, name, tenant=tenant)
    store = trust_store(source, root, seen)
    served = read_channel(source, store, clock=now, package=package, word=name)
    state = None if store is None else store.state(source.location)
    return found if state is None else verified_again(found, served, state)


def refresh(
    *,
    catalog: Place = None,
    server: NotAt = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Read the followed channels of all tenants again; what was verified last stays where one is refused."""
    with own_catalog(catalog, server) as opened:
        keys = opened.channels.due()
        read = [opened.channels.refresh(each, dry_run=dry_run) for each in keys]
    found = [each for each in read if each is not None]
    _print_list(found, output, saying=False)
    troubles = _troubles(found)
    if troubles:
        is_refused = any(each.state == "refused" for each in found)
        code = ExitCode.VERIFICATION_FAILED if is_refused else ExitCode.FINDINGS
        raise CommandExit(code, *troubles)
    say_done(f"read {len(found)} channel{'' if len(found) == 1 else 's'}", dry_run=dry_run)


def _print_list(found: "Iterable[FollowedChannel]", output: Format, *, saying: bool = True) -> None:
    listed = list(found)
    print_result(
        lambda: [each.to_plain() for each in listed],
        lambda: table(_HEAD, [_row(each) for each in listed]),
        output,
    )
    if saying:
        _say_troubles(listed)


def _row(each: "FollowedChannel") -> tuple[str, ...]:
    from trundle.channels import format_time  # noqa: PLC0415

    latest = each.latest.version if each.latest else "-"
    expires = format_time(each.expires) if each.expires else "-"
    seen = "all tenants" if each.public else "its tenant"
    return each.package, each.channel, latest, each.state, expires, each.tenant, seen


def _say_troubles(found: "Iterable[FollowedChannel]") -> None:
    for each in _troubles(found):
        warn(each)


def _troubles(found: "Iterable[FollowedChannel]") -> list[str]:
    """What is wrong with channels, a line for each."""
    troubles = []
    for each in found:
        why = f"{one_line(each.problem.message)} [{each.problem.code}]" if each.problem else ""
        if each.state != "valid":
            why = why or "the channel was not renewed in time"
            troubles.append(f"{each} is {each.state}: {why}")
        elif why:
            troubles.append(f"{each} could not be read: {why}")
    return troubles


def _text(found: "FollowedChannel") -> str:
    from trundle.channels import format_time  # noqa: PLC0415

    verified = format_time(found.verified.replace(microsecond=0))
    lines = [f"{found}", f"  state    {found.state}", f"  verified {verified}"]
    if found.expires:
        lines.append(f"  expires  {format_time(found.expires)}")
    seen = "all tenants" if found.public else "its tenant"
    lines.append(f"  tenant   {found.tenant}, seen by {seen}")
    if found.source:
        lines.append(f"  source   {found.source}")
    for each in found.versions or ():
        states = ["latest"] if found.latest and each.version == found.latest.version else []
        states += ["critical"] if each.critical else []
        states += [f"deprecated: {one_line(each.deprecated)}"] if each.deprecated else []
        lines.append("  version  " + "  ".join([each.version, each.id, ", ".join(states)]).rstrip())
    for gone in found.unpublished or ():
        reason = one_line(gone.reason)
        lines.append(f"  version  {gone.version}  {gone.id}  unpublished: {reason}")
    lines += [f"  file     {each.name} {each.digest}" for each in found.files]
    return "".join(f"{each}\n" for each in lines)
