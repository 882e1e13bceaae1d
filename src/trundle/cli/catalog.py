"""The commands that keep a catalog: upload, list, show, download, delete, share, tidy. Those about channels stand in their own file."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trundle.cli import _catalog_channels
from trundle.cli._catalogs import (
    At,
    CatalogPlace,
    NotAt,
    Place,
    Tenant,
    kept_catalog,
    own_catalog,
    tenant_of,
)
from trundle.cli._channels import say_done, version_of
from trundle.cli._failures import ExitCode, unmet
from trundle.cli._installing import State, installed_packages
from trundle.cli._models import naming_model, read_model
from trundle.cli._printing import (
    Format,
    one_line,
    print_data,
    print_result,
    print_text,
    say,
    table,
    warn,
)
from trundle.cli._reviewing import Override, reason_of, uploading
from trundle.cli._runs import (
    MEMORY,
    SECONDS,
    MemoryLimit,
    RunOptions,
    TimeLimit,
    Traced,
    run_code,
)
from trundle.cli._uploading import (
    not_all_read,
    places_of_packages,
    print_upload,
    read_packages,
    report_findings,
)
from trundle.cli.project import DryRun, Jobs, Output

if TYPE_CHECKING:
    from trundle.catalog import Catalog, Offer, Snapshot, VersionChange
    from trundle.engine import Limits
    from trundle.packages import Package
    from trundle.version import SemVer

app = typer.Typer(
    no_args_is_help=True,
    help="Keep packages by tenant, in all their versions, and follow channels.",
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The package.")]
Version = Annotated[str, typer.Argument(metavar="VERSION", help="The version.")]
Newest = Annotated[
    str | None,
    typer.Argument(metavar="VERSION", help="The version; the newest release by default."),
]
Force = Annotated[
    bool, typer.Option("--force", help="Do it even if packages need the version; say which.")
]


@app.command()
def upload(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH",
            help="Folders of packages or of releases, zips, or archives of Trundle; the current folder by default.",
        ),
    ] = None,
    *,
    public: Annotated[bool, typer.Option("--public", help="Let all tenants see them.")] = False,
    installed: Annotated[
        bool, typer.Option("--installed", help="Upload everything that is installed, too.")
    ] = False,
    override: Override = None,
    state: State = None,
    jobs: Jobs = None,
    tenant: Tenant = None,
    catalog: Place = None,
    server: At = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Store packages, all or none of them; of a folder with releases, each that is not yet stored."""
    reason = reason_of(override)
    read, unreadable = read_packages(places_of_packages(paths or ([] if installed else [Path()])))
    packages = list(read.values())
    if installed:
        packages += installed_packages(state)
    judging = dry_run or bool(unreadable)  # Nothing is stored then, but all that is wrong is named.
    with kept_catalog(catalog, server, making=not judging) as opened_:
        kept = CatalogPlace(catalog, server, tenant)
        review = uploading(
            {each: path for path, each in read.items()},
            lambda package: [*packages, *kept.required(package)],
            jobs,
            reason,
        )
        done = opened_.upload(
            packages,
            tenant=tenant_of(tenant),
            public=public,
            dry_run=judging,
            review=review,
        )
    if unreadable:
        raise not_all_read(unreadable, done.findings)
    print_upload(done, output, dry_run=dry_run)
    for each in done.overridden:
        warn(f"overridden: {each.coded}")
    if reason and not (done.overridden or done.refused):
        say("note: there was nothing to override; the reason is not recorded")
    report_findings(done.findings)


@app.command("list")
def list_(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A package; all by default.")
    ] = None,
    *,
    tenant: Tenant = None,
    catalog: Place = None,
    server: At = None,
    output: Output = Format.TABLE,
) -> None:
    """List the packages that a tenant sees: its own and the public ones."""
    with kept_catalog(catalog, server) as opened_:
        found = opened_.offers(tenant_of(tenant), name)
        where = opened_.where
    head = ("PACKAGE", "VERSION", "TENANT", "SEEN BY", "DIGEST")
    print_result(
        lambda: [each.to_plain() for each in found],
        lambda: table(head, [_row(each) for each in found]),
        output,
    )
    if not found:
        what = "no package" if name is None else f"no version of {name}"
        say(f"{where}: {what} for the tenant {tenant_of(tenant)}")


def _row(offer: "Offer") -> tuple[str, ...]:
    seen = "all tenants" if offer.public else "its tenant"
    return offer.name, str(offer.version), offer.tenant, seen, offer.digest


@app.command()
def show(
    name: Name,
    version: Newest = None,
    *,
    tenant: Tenant = None,
    catalog: Place = None,
    server: At = None,
    output: Output = Format.TABLE,
) -> None:
    """Show a version of a package: what it requires, its classes and its files."""
    with kept_catalog(catalog, server) as opened_:
        number = None if version is None else version_of(version)
        offer, package = opened_.package(name, number, tenant=tenant_of(tenant))
    data = _shown(offer, package)
    print_result(lambda: data, lambda: _shown_text(data), output, prose=True)


def _shown(offer: "Offer", package: "Package") -> dict[str, Any]:
    manifest = package.manifest
    return offer.to_plain() | {
        "title": manifest.title,
        "type": manifest.type,
        "format": str(manifest.format or ""),
        "requirements": {each.name: str(each.range) for each in package.requirements},
        "classes": dict(package.classes),
        "files": list(package.files),
    }


def _shown_text(data: dict[str, Any]) -> str:
    seen = "all tenants" if data["public"] else "its tenant"
    lines = [f"{data['name']} {data['version']}", f"  tenant   {data['tenant']}, seen by {seen}"]
    lines += [
        f"  {key:<8} {data[key]}" for key in ("digest", "title", "type", "format") if data[key]
    ]
    if data.get("override"):
        lines.append(f"  override {one_line(data['override'])}")
    lines += [f"  requires {name} {range_}" for name, range_ in data["requirements"].items()]
    lines += [f"  class    {name} in {file}" for name, file in data["classes"].items()]
    lines += [f"  file     {each}" for each in data["files"]]
    return "".join(f"{each}\n" for each in lines)


@app.command()
def download(
    name: Name,
    version: Newest = None,
    *,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="The file.", show_default="NAME-VERSION.tar"),
    ] = None,
    tenant: Tenant = None,
    catalog: Place = None,
    server: At = None,
    output: Output = Format.TABLE,
) -> None:
    """Write the archive of a version, a tar, to a file."""
    from trundle._durable import write_durably  # noqa: PLC0415

    with kept_catalog(catalog, server) as opened_:
        number = None if version is None else version_of(version)
        offer, package = opened_.package(name, number, tenant=tenant_of(tenant))
        file = to or Path(f"{name.replace('/', '+')}-{offer.version}.tar")
        if file.exists():
            advice = "remove it, or name another one with --to"
            found = "a folder" if file.is_dir() else "one"
            raise unmet(str(file), "no such file", found, advice, ExitCode.EXISTS)
        if not file.parent.is_dir():
            expected, advice = "a folder to write to", "make it, or name another one with --to"
            raise unmet(str(file.parent), expected, "none", advice, ExitCode.NOT_FOUND)
        write_durably(file, package.archive)
    if output is Format.TABLE:
        print_text(f"{file}\n")
    else:
        print_data(offer.to_plain() | {"file": str(file)}, output.value)


@app.command()
def delete(
    name: Name,
    version: Version,
    *,
    force: Force = False,
    tenant: Tenant = None,
    catalog: Place = None,
    server: NotAt = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Delete a version, unless packages need it."""
    with own_catalog(catalog, server) as opened_:
        number = version_of(version)
        change = opened_.delete(
            name, number, tenant=tenant_of(tenant), force=force, dry_run=dry_run
        )
    _print_change("deleted", change, output, dry_run=dry_run)


@app.command()
def share(
    name: Name,
    version: Version,
    *,
    undo: Annotated[bool, typer.Option("--undo", help="Make it private again.")] = False,
    force: Force = False,
    tenant: Tenant = None,
    catalog: Place = None,
    server: NotAt = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Let all tenants see a version, or its own tenant alone."""
    if force and not undo:
        raise unmet("--force", "--undo with it", "none", "leave it out")
    number, whose = version_of(version), tenant_of(tenant)
    with own_catalog(catalog, server) as opened_:
        if undo:
            change = opened_.unshare(name, number, tenant=whose, force=force, dry_run=dry_run)
        else:
            change = opened_.share(name, number, tenant=whose, dry_run=dry_run)
    _print_change("made private" if undo else "shared", change, output, dry_run=dry_run)


def _print_change(done: str, change: "VersionChange", output: Format, *, dry_run: bool) -> None:
    if output is not Format.TABLE:
        findings = [each.to_plain() for each in change.findings]
        data = change.offer.to_plain() | {"findings": findings, "dryRun": dry_run}
        print_data(data, output.value)
    report_findings(change.findings)
    say_done(f"{done} {change.offer}", dry_run=dry_run)


@app.command()
def use(
    environment: Annotated[str, typer.Argument(metavar="ENVIRONMENT", help="Its name.")],
    model: Annotated[
        Path | None, typer.Argument(metavar="MODEL", help="Its object model, as YAML or JSON.")
    ] = None,
    *,
    forget: Annotated[bool, typer.Option("--forget", help="It is gone, and uses nothing.")] = False,
    time_limit: TimeLimit = SECONDS,
    memory_limit: MemoryLimit = MEMORY,
    trace: Traced = False,
    tenant: Tenant = None,
    catalog: Place = None,
    server: NotAt = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Record which versions the model of an environment uses, so that they are not deleted."""
    if (model is None) is not forget:
        found = "neither" if model is None else "both"
        raise unmet("", "a model or --forget", found, "give one of them")
    whose = tenant_of(tenant)
    used: list[tuple[str, SemVer]] = []
    if model is not None:
        given = model

        def work(limits: "Limits") -> "list[tuple[str, SemVer]]":
            with own_catalog(catalog, server) as opened_:
                return _used_by(given, opened_.snapshot(whose), limits)

        used = run_code(work, RunOptions(time_limit, memory_limit, trace))
    with own_catalog(catalog, server) as opened_:
        _check_kept_elsewhere(opened_, environment, whose)
        if forget and environment not in {each.name for each in opened_.environments(whose)}:
            say(f"note: {opened_.where} knows no environment {environment} of {whose}")
        done = opened_.use(environment, used, tenant=whose, dry_run=dry_run)
    print_result(
        lambda: done.to_plain() | {"dryRun": dry_run},
        lambda: "".join(f"{each}\n" for each in done.versions),
        output,
    )
    say_done(f"{'forgot' if forget else 'recorded'} {environment}", dry_run=dry_run)


def _check_kept_elsewhere(opened_: "Catalog", environment: str, tenant: str) -> None:
    """Makes sure that `trundle env` does not keep an environment, and with it the record of what it uses.

    Raises:
        CommandExit: it does.
    """
    from trundle.environments import Environments  # noqa: PLC0415

    if environment in {each.environment.name for each in Environments(opened_).overviews(tenant)}:
        expected, found = "an environment whose model is kept elsewhere", "one of `trundle env`"
        advice = "deploy or delete it there, which records what it uses"
        raise unmet(environment, expected, found, advice, ExitCode.EXISTS)


def _used_by(file: Path, snapshot: "Snapshot", limits: "Limits") -> "list[tuple[str, SemVer]]":
    """The versions of a catalog that a model uses: those of its classes, and of all that these descend from."""
    from trundle.engine import Engine  # noqa: PLC0415

    with naming_model(file), Engine(snapshot, limits=limits).session() as session:
        session.load(read_model(file))
        types = {each.type for each in session.objects.values()}
        used = {(one.package, one.version) for each in types for one in (each, *each.ancestors)}
    return [each for each in used if each[1] in snapshot.versions(each[0])]


@app.command()
def environments(
    *,
    tenant: Tenant = None,
    catalog: Place = None,
    server: NotAt = None,
    output: Output = Format.TABLE,
) -> None:
    """List the environments of a tenant, with the versions that they use."""
    with own_catalog(catalog, server) as opened_:
        found = opened_.environments(tenant_of(tenant))
        where = opened_.where
    rows: list[tuple[str, ...]] = [
        (each.name, one.name, str(one.version)) for each in found for one in each.versions
    ]
    print_result(
        lambda: [each.to_plain() for each in found],
        lambda: table(("ENVIRONMENT", "PACKAGE", "VERSION"), rows),
        output,
    )
    if not found:
        say(f"{where}: no environment of the tenant {tenant_of(tenant)}")


@app.command()
def tidy(
    *,
    catalog: Place = None,
    server: NotAt = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Remove content that only deleted versions had; run it when no engine reads an old snapshot."""
    with own_catalog(catalog, server) as opened_:
        removed = opened_.tidy(dry_run=dry_run)
    print_result(
        lambda: {"removed": list(removed), "dryRun": dry_run},
        lambda: "".join(f"{each}\n" for each in removed),
        output,
    )
    count = "1 archive" if len(removed) == 1 else f"{len(removed)} archives"
    say_done(f"removed {count}", dry_run=dry_run)


_OTHERS: tuple[Callable[..., None], ...] = (
    _catalog_channels.follow,
    _catalog_channels.unfollow,
    _catalog_channels.channels,
    _catalog_channels.channel,
    _catalog_channels.refresh,
)
for _command in _OTHERS:
    app.command()(_command)
