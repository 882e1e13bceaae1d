"""The commands that run environments: deploy, call, rollback, upgrade, delete."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypedDict, TypeVar

import typer

from trundle.cli._catalogs import Place, Tenant, tenant_of
from trundle.cli._channels import say_done
from trundle.cli._environments import (
    Context,
    DraftName,
    Folder,
    Kubeconfig,
    Name,
    Namespace,
    Programs,
    Server,
    draft_of,
    opened_environments,
    opened_providers,
    print_result_of,
    provider_settings,
)
from trundle.cli._failures import going_on
from trundle.cli._installing import State, installed_packages
from trundle.cli._models import read_object
from trundle.cli._printing import (
    DocumentFormat,
    Format,
    print_data,
    print_text,
    progress,
    say,
    warn,
)
from trundle.cli._runs import (
    MEMORY,
    SECONDS,
    MemoryLimit,
    RunOptions,
    TimeLimit,
    Traced,
    run_code,
)
from trundle.cli._settings import user_name
from trundle.cli.project import DryRun, Output
from trundle.errors import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from trundle.engine import Limits
    from trundle.engine.effects import Provider
    from trundle.environments import Environment, Environments, Opening, RunResult
    from trundle.environments import Providers as Settings

R = TypeVar("R")

Force = Annotated[
    bool, typer.Option("--force", help="Take over fields of objects that others own.")
]

_KEYWORD = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL)


def deploy(
    name: Name,
    *,
    draft: DraftName = None,
    folder: Folder = None,
    programs: Programs = None,
    server: Server = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
    namespace: Namespace = None,
    tenant: Tenant = None,
    catalog: Place = None,
    time_limit: TimeLimit = SECONDS,
    memory_limit: MemoryLimit = MEMORY,
    trace: Traced = False,
    force: Force = False,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Deploy a draft, or what is wanted already; options for what it may reach are kept."""
    from trundle.environments import deploy as deploy_  # noqa: PLC0415

    def run(kept: "Environments", about: _About) -> "RunResult":
        wanted = draft_of(draft)
        known = [each.name for each in kept.drafts(name, tenant=about["tenant"])]
        taken = "" if draft is None and wanted not in known else wanted
        done = deploy_(kept, name, draft=taken, **about)
        if wanted not in known and (known or draft is not None):
            choice = f"; name one: {listed(known)}" if known else ""
            warn(f"{name}: no draft {wanted}, so what is wanted already is deployed{choice}")
        return done

    settings = provider_settings(folder, programs, server, context, kubeconfig, namespace)
    done = _run(
        "Deploying",
        run,
        _Given(name, tenant_of(tenant), catalog, dry_run, settings, force=force),
        RunOptions(time_limit, memory_limit, trace),
    )
    print_result_of(done, output, dry_run=dry_run)
    say_done(f"deployed {name}{_numbered(done.number)}", dry_run=dry_run)


def call(
    name: Name,
    object_: Annotated[
        str,
        typer.Argument(
            metavar="OBJECT",
            help="Its id or its name; for a static method a class, `:NAME` or `:NAME/VERSION@PACKAGE`.",
        ),
    ],
    method: Annotated[str, typer.Argument(metavar="METHOD", help="A public method.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ARGUMENT",
            help="Values as YAML, `VALUE` by position or `NAME=VALUE`.",
            show_default=False,
        ),
    ] = None,
    *,
    values: Annotated[
        Path | None,
        typer.Option("--values", metavar="FILE", help="Values by name, as YAML or JSON."),
    ] = None,
    tenant: Tenant = None,
    catalog: Place = None,
    time_limit: TimeLimit = SECONDS,
    memory_limit: MemoryLimit = MEMORY,
    trace: Traced = False,
    dry_run: DryRun = False,
    output: Annotated[
        DocumentFormat, typer.Option("--output-format", "-o", help="How to print.")
    ] = DocumentFormat.YAML,
) -> None:
    """Call a method of a deployed object, or a static one, print what it returns, and keep what it changed."""
    from trundle.environments import call as call_  # noqa: PLC0415

    given = [_argument(each) for each in arguments or ()]
    positional = [value for key, value in given if key is None]
    named = {} if values is None else read_object(values, "values")
    named |= {key: value for key, value in given if key is not None}
    done = _run(
        "Calling",
        lambda kept, about: call_(kept, name, object_, method, positional, named, **about),
        _Given(name, tenant_of(tenant), catalog, dry_run),
        RunOptions(time_limit, memory_limit, trace),
    )
    print_data(done.value, output.value)
    for each in done.changes:
        say(f"{each.action} {each.key}")
    if done.number is not None:
        say(f"kept as deployment {done.number}")


def _argument(text: str) -> tuple[str | None, Any]:
    """The name and the value of an argument; the name is None for one by position."""
    from trundle.documents import parse_values  # noqa: PLC0415

    found = _KEYWORD.fullmatch(text)
    name, value = (None, text) if found is None else (found["name"], found["value"])
    documents = parse_values(value.encode(), file=name or text, yaml=True)
    return name, documents[0] if documents else None


def rollback(
    name: Name,
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="The deployment.")],
    *,
    tenant: Tenant = None,
    catalog: Place = None,
    time_limit: TimeLimit = SECONDS,
    memory_limit: MemoryLimit = MEMORY,
    trace: Traced = False,
    force: Force = False,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Deploy the model of an earlier deployment again."""
    from trundle.environments import rollback as rollback_  # noqa: PLC0415

    done = _run(
        "Deploying",
        lambda kept, about: rollback_(kept, name, number, **about),
        _Given(name, tenant_of(tenant), catalog, dry_run, force=force),
        RunOptions(time_limit, memory_limit, trace),
    )
    print_result_of(done, output, dry_run=dry_run)
    say_done(f"rolled {name} back to {number}{_numbered(done.number)}", dry_run=dry_run)


def upgrade(
    name: Name,
    packages: Annotated[
        list[str] | None,
        typer.Argument(metavar="PACKAGE", help="Packages; all that it uses by default."),
    ] = None,
    *,
    major: Annotated[
        bool, typer.Option("--major", help="Go to another major version, too.")
    ] = False,
    installed: Annotated[
        bool,
        typer.Option(
            "--installed", help="Take what is installed; it is stored in the catalog first."
        ),
    ] = False,
    state: State = None,
    tenant: Tenant = None,
    catalog: Place = None,
    time_limit: TimeLimit = SECONDS,
    memory_limit: MemoryLimit = MEMORY,
    trace: Traced = False,
    force: Force = False,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Convert the model to the newest versions of its packages, and deploy it."""
    from trundle.environments import newer_majors  # noqa: PLC0415
    from trundle.environments import upgrade as upgrade_  # noqa: PLC0415

    whose = tenant_of(tenant)
    arriving = installed_packages(state) if installed else []

    def work(kept: "Environments", about: _About) -> "tuple[RunResult, dict[str, str]]":
        done = upgrade_(kept, name, packages or (), major=major, arriving=arriving, **about)
        return done, {} if major else newer_majors(kept, name, tenant=whose)

    given, options = (
        _Given(name, whose, catalog, dry_run, force=force),
        RunOptions(time_limit, memory_limit, trace),
    )
    done, left = _run("Upgrading", work, given, options)
    is_upgraded = bool(done.upgraded) or done.number is not None
    for each in done.findings:
        warn(each.coded)
    if output is not Format.TABLE:
        moved = {key: {"from": old, "to": new} for key, (old, new) in done.upgraded.items()}
        print_data(done.to_plain() | {"dryRun": dry_run, "upgraded": moved}, output.value)
    elif is_upgraded:
        for package, (old, new) in done.upgraded.items():
            print_text(f"{package} {old} -> {new}\n")
        print_result_of(done, output, dry_run=dry_run)
    for package, version in left.items():
        if not packages or package in packages:
            say(f"note: {package} {version} is another major version; --major goes there")
    if is_upgraded:
        say_done(f"upgraded {name}{_numbered(done.number)}", dry_run=dry_run)
    else:
        say(f"{name} has the newest versions")


def delete(
    name: Name,
    *,
    purge: Annotated[bool, typer.Option("--purge", help="Remove its history, too.")] = False,
    tenant: Tenant = None,
    catalog: Place = None,
    time_limit: TimeLimit = SECONDS,
    memory_limit: MemoryLimit = MEMORY,
    trace: Traced = False,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Remove all that was deployed, in the reverse order; the history stays."""
    from trundle.environments import Actions  # noqa: PLC0415
    from trundle.environments import delete as delete_  # noqa: PLC0415

    whose = tenant_of(tenant)

    def work(kept: "Environments", about: _About) -> "RunResult | None":
        is_gone = purge and kept.get(name, tenant=whose).deleted
        done = None if is_gone else delete_(kept, name, **about)
        if purge and not dry_run:
            Actions(kept).settle()
            kept.purge(name, tenant=whose)
        return done

    given, options = (
        _Given(name, whose, catalog, dry_run),
        RunOptions(time_limit, memory_limit, trace),
    )
    done = _run("Deleting", work, given, options)
    if done is not None:
        print_result_of(done, output, dry_run=dry_run)
    say_done(f"{'purged' if purge else 'deleted'} {name}", dry_run=dry_run)


class _Given(NamedTuple):
    """What a run works on.

    Attributes:
        name: the environment.
        tenant: whose it is.
        catalog: the catalog.
        dry_run: whether nothing is kept.
        settings: what it may reach; kept, but for a dry run.
        force: whether it takes over what others own.
    """

    name: str
    tenant: str
    catalog: str | None
    dry_run: bool
    settings: "Settings | None" = None
    force: bool = False


class _About(TypedDict):
    """What all runs take."""

    tenant: str
    opening: "Opening"
    by: str
    dry_run: bool


def _run(
    label: str,
    work: "Callable[[Environments, _About], R]",
    given: _Given,
    options: RunOptions,
) -> "R":
    """What some work returns, which gets the environments and what all runs take; apart from this process."""

    def run(limits: "Limits") -> R:
        with opened_environments(given.catalog, limits=limits) as environments:
            tried = environments.get(given.name, tenant=given.tenant)
            if given.settings:
                tried = environments.configure(
                    given.name, given.settings, tenant=given.tenant, dry_run=given.dry_run
                )

            def opening(kept: "Environment") -> "AbstractContextManager[Mapping[str, Provider]]":
                settings = (tried if given.dry_run else kept).providers
                return opened_providers(settings, kept.manager, force=given.force)

            with progress(label):
                about: _About = {
                    "tenant": given.tenant,
                    "opening": opening,
                    "by": user_name(),
                    "dry_run": given.dry_run,
                }
                return work(environments, about)

    with going_on(dry_run=given.dry_run):
        return run_code(run, options)


def _numbered(number: int | None) -> str:
    return "" if number is None else f" as deployment {number}"
