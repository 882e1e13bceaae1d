"""The commands that keep environments: create, list, show, history, secret. What edits drafts and what runs stand in their own files."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trundle.cli import _env_drafts, _env_runs
from trundle.cli._catalogs import Place, Tenant, tenant_of
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
    provider_settings,
    warn_of_context,
)
from trundle.cli._failures import ExitCode, unmet
from trundle.cli._installing import print_done
from trundle.cli._printing import Format, print_data, print_result, say, table
from trundle.cli.project import DryRun, Output

if TYPE_CHECKING:
    from trundle.environments import Environment, Model

app = typer.Typer(no_args_is_help=True, help="Keep environments: object models that are deployed.")


@app.command()
def create(
    name: Name,
    *,
    folder: Folder = None,
    programs: Programs = None,
    server: Server = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
    namespace: Namespace = None,
    tenant: Tenant = None,
    catalog: Place = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Make an environment, and say what its deployments may reach."""
    settings = provider_settings(folder, programs, server, context, kubeconfig, namespace)
    warn_of_context(settings)
    with opened_environments(catalog, making=not dry_run) as environments:
        environments.create(name, tenant=tenant_of(tenant), providers=settings, dry_run=dry_run)
    data = {"environment": name, "tenant": tenant_of(tenant), "providers": settings}
    print_done(f"created {name}", data, output, dry_run=dry_run)


@app.command("list")
def list_(*, tenant: Tenant = None, catalog: Place = None, output: Output = Format.TABLE) -> None:
    """List the environments of a tenant, with the versions of packages that they use."""
    whose = tenant_of(tenant)
    with opened_environments(catalog) as environments:
        found = environments.overviews(whose)
        where = environments.catalog.where
    rows: list[tuple[str, ...]] = [
        (
            each.environment.name,
            each.state,
            str(each.environment.revision or "-"),
            ", ".join(f"{name} {version}" for name, version in each.uses),
        )
        for each in found
    ]
    head = ("ENVIRONMENT", "STATE", "DEPLOYMENT", "USES")
    print_result(lambda: [each.to_plain() for each in found], lambda: table(head, rows), output)
    if not found:
        say(f"{where}: no environment of {whose}")


@app.command()
def show(
    name: Name,
    *,
    model: Annotated[
        bool, typer.Option("--model", help="Show the model instead; with --draft that of a draft.")
    ] = False,
    draft: DraftName = None,
    number: Annotated[
        int | None,
        typer.Option("--deployment", metavar="N", help="With --model: that of a deployment."),
    ] = None,
    tenant: Tenant = None,
    catalog: Place = None,
    output: Output = Format.TABLE,
) -> None:
    """Show an environment: its objects, drafts and settings."""
    from trundle.environments import label_of, objects_in  # noqa: PLC0415

    whose = tenant_of(tenant)
    if number is not None and (not model or draft is not None):
        raise unmet("--deployment", "--model with it, and no --draft", "others", "correct that")
    with opened_environments(catalog) as environments:
        overview = environments.overview(name, tenant=whose)
        drafts = environments.drafts(name, tenant=whose)
        if number is not None:
            wanted: Model | None = environments.deployment(name, number, tenant=whose).objects
        elif draft is not None:
            wanted = environments.draft(name, draft_of(draft), tenant=whose).model
        else:
            wanted = environments.model(name, tenant=whose)
        effects = environments.effects(name, tenant=whose)
    if model:
        print_data(wanted, "json" if output is Format.JSON else "yaml")
        return
    found = overview.environment
    objects = [
        (each["?"]["id"], each["?"].get("name") or "", *label_of(each))
        for each in objects_in(wanted)
    ]
    data: dict[str, Any] = {
        "environment": found.name,
        "tenant": found.tenant,
        "state": overview.state,
        "deployment": found.revision or None,
        "created": found.created,
        "providers": found.providers,
        "objects": [
            {"id": x[0], "name": x[1], "class": x[2], "version": x[3], "package": x[4]}
            for x in objects
        ],
        "uses": [{"name": x, "version": version} for x, version in overview.uses],
        "drafts": [
            {"draft": each.name, "base": each.base, "by": each.by, "at": each.at} for each in drafts
        ],
        "secrets": list(overview.secrets),
        "effects": [{"key": each.key, "state": each.state} for each in effects],
    }
    print_result(lambda: data, lambda: _shown(found, data), output)


def _shown(environment: "Environment", data: dict[str, Any]) -> str:
    lines = [
        f"{environment.name}: {data['state']}",
        f"  tenant     {environment.tenant}",
        f"  created    {environment.created}",
    ]
    if environment.revision:
        lines.append(f"  deployment {environment.revision}")
    for provider, settings in environment.providers.items():
        text = ", ".join(f"{key} {value}" for key, value in settings.items())
        lines.append(f"  provider   {provider}: {text}")
    for each in data["objects"]:
        called = f" {each['name']}" if each["name"] else ""
        shown = (
            f"{each['class']} {each['version']}".strip()
        )  # A new environment has no version yet.
        lines.append(f"  object     {each['id']}{called}: {shown}")
    lines += [f"  uses       {each['name']} {each['version']}" for each in data["uses"]]
    for each in data["drafts"]:
        by = f" by {each['by']}" if each["by"] else ""
        lines.append(f"  draft      {each['draft']}{by} at {each['at']}")
    lines += [f"  secret     {each}" for each in data["secrets"]]
    lines += [f"  effect     {each['key']}: {each['state']}" for each in data["effects"]]
    return "".join(f"{line}\n" for line in lines)


@app.command()
def history(
    name: Name, *, tenant: Tenant = None, catalog: Place = None, output: Output = Format.TABLE
) -> None:
    """List the deployments of an environment, the newest first, and calls of methods that failed."""
    from trundle.environments import Actions  # noqa: PLC0415

    whose = tenant_of(tenant)
    with opened_environments(catalog) as environments:
        found = [each.to_plain() for each in environments.history(name, tenant=whose)[::-1]]
        failed = Actions(environments).failed_calls(name, tenant=whose)
    found += [each.to_plain_deployment() for each in failed]
    found.sort(key=lambda each: each["begun"], reverse=True)
    head = ("NUMBER", "BEGUN", "BY", "OUTCOME", "ACTION", "USES")
    print_result(lambda: found, lambda: table(head, [_row(each) for each in found]), output)
    if not found:
        say(f"{name} was not deployed yet")


def _row(entry: dict[str, Any]) -> tuple[str, ...]:
    uses = ", ".join(f"{each['name']} {each['version']}" for each in entry["uses"])
    return (
        str(entry["number"] or "-"),
        entry["begun"],
        entry["by"] or "-",
        entry["outcome"],
        entry["action"],
        uses,
    )


@app.command()
def secret(
    name: Name,
    secret_name: Annotated[str, typer.Argument(metavar="SECRET", help="Its name.")],
    *,
    remove: Annotated[bool, typer.Option("--remove", help="Remove it.")] = False,
    tenant: Tenant = None,
    catalog: Place = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Keep a secret, which `{{secret:NAME}}` in models stands for; it is asked for, or read from standard input."""
    import getpass  # noqa: PLC0415

    text = None
    if not remove:
        is_terminal = sys.stdin.isatty()
        text = getpass.getpass(f"{secret_name}: ") if is_terminal else sys.stdin.read()
        text = text.removesuffix("\n")
        if not text:
            advice = "write it to standard input"
            raise unmet(secret_name, "a secret", "nothing", advice, ExitCode.USAGE)
    with opened_environments(catalog) as environments:
        whose = tenant_of(tenant)
        environments.set_secret(name, secret_name, text, tenant=whose, dry_run=dry_run)
    data = {"environment": name, "secret": secret_name}
    done = f"{'removed' if remove else 'kept'} {secret_name}"
    print_done(done, data, output, dry_run=dry_run)


_OTHERS: tuple[Callable[..., None], ...] = (
    _env_drafts.add,
    _env_drafts.remove,
    _env_drafts.edit,
    _env_drafts.discard,
    _env_runs.deploy,
    _env_runs.call,
    _env_runs.rollback,
    _env_runs.upgrade,
    _env_runs.delete,
)
for _command in _OTHERS:
    app.command()(_command)
