"""`trundle kube installed`, which is also `kubectl trundle`: what the operator does, and words for it."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from trundle.cli._failures import ExitCode, unmet
from trundle.cli._migrating import Context, Kubeconfig
from trundle.cli._printing import Format, one_line, print_data, print_result, say, table
from trundle.cli.project import DryRun, Output

if TYPE_CHECKING:
    from pathlib import Path

    from trundle.kubernetes.operator import Installations

app = typer.Typer(
    no_args_is_help=True, help="Show what the operator does with installations, and approve it."
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The installation.")]
AnyName = Annotated[str | None, typer.Argument(metavar="NAME", help="The installation.")]
Namespace = Annotated[
    str | None,
    typer.Option("--namespace", "-n", help="Its namespace.", show_default="that of the context"),
]
_NONE = "-"
_HEAD = ("NAMESPACE", "NAME", "VERSION", "LATEST", "READY", "UP TO DATE", "BLOCKED")


def _client(kubeconfig: "Path | None", context: str | None) -> "tuple[Installations, str]":
    from trundle.kubernetes.migration import connect  # noqa: PLC0415
    from trundle.kubernetes.operator import Installations  # noqa: PLC0415

    cluster = connect(kubeconfig, context)
    return Installations(cluster), cluster.client.namespace


def _one(
    kubeconfig: "Path | None", context: str | None, namespace: str | None, name: str
) -> "tuple[Installations, dict[str, Any]]":
    """An installation.

    Raises:
        CommandExit: there is none of the name.
    """
    client, default = _client(kubeconfig, context)
    space = namespace or default
    listed = client.listed(space)
    for each in listed:
        if each["metadata"]["name"] == name:
            return client, each
    names = ", ".join(each["metadata"]["name"] for each in listed) or "none"
    where = f"namespace {space}"
    advice = "name one of them, or another namespace with -n"
    raise unmet(where, f"the installation {name}", names, advice, ExitCode.NOT_FOUND)


@app.command("status")
def status(
    name: AnyName = None,
    *,
    namespace: Namespace = None,
    everywhere: Annotated[
        bool, typer.Option("--all-namespaces", "-A", help="Those of all namespaces.")
    ] = False,
    kubeconfig: Kubeconfig = None,
    cluster_context: Context = None,
    output: Output = Format.TABLE,
) -> None:
    """Show what is installed, whether it is ready, and what is in the way."""
    if name is not None:
        _, found = _one(kubeconfig, cluster_context, namespace, name)
        print_result(lambda: found.get("status") or {}, lambda: _details(found), output, prose=True)
        return
    client, default = _client(kubeconfig, cluster_context)
    listed = client.listed("*" if everywhere else namespace or default)
    if not listed and output is Format.TABLE:
        where = "" if everywhere else f" in the namespace {namespace or default}"
        say(f"there are no installations{where}")
        return
    print_result(lambda: listed, lambda: _listed(listed), output)


@app.command("plan")
def plan(
    name: Name,
    *,
    namespace: Namespace = None,
    kubeconfig: Kubeconfig = None,
    cluster_context: Context = None,
    output: Output = Format.TABLE,
) -> None:
    """Show what comes next: what may be installed now, what is scheduled, and what is blocked."""
    _, found = _one(kubeconfig, cluster_context, namespace, name)
    planned = _planned(found)
    print_result(lambda: planned, lambda: _plan(planned), output, prose=True)


@app.command("approve")
def approve(
    name: Name,
    version: Annotated[
        str | None,
        typer.Argument(metavar="VERSION", help="The version.", show_default="the one that waits"),
    ] = None,
    *,
    namespace: Namespace = None,
    dry_run: DryRun = False,
    kubeconfig: Kubeconfig = None,
    cluster_context: Context = None,
    output: Output = Format.TABLE,
) -> None:
    """Approve a version that waits for it; the operator installs it when its policy allows."""
    from trundle.kubernetes.operator import APPROVE  # noqa: PLC0415

    client, found = _one(kubeconfig, cluster_context, namespace, name)
    blocked = (found.get("status") or {}).get("blocked") or []
    waiting = [each["version"] for each in blocked if "approv" in each["reason"]]
    space = found["metadata"]["namespace"]
    see = f"run `kubectl trundle plan {name} -n {space}` to see what comes next"
    if version is None and len(waiting) != 1:
        advice = "name it" if waiting else see
        raise unmet(name, "one version that waits", ", ".join(waiting) or "none", advice)
    chosen = version or waiting[0]
    if chosen not in waiting:
        shown = ", ".join(waiting) or "none"
        advice = "approve one of these" if waiting else see
        raise unmet(name, "a version that waits for approval", shown, advice, ExitCode.FINDINGS)
    if not dry_run:
        client.annotate(found, APPROVE, chosen)
    if output is not Format.TABLE:
        print_data({"name": name, "version": chosen, "dryRun": dry_run}, output.value)
    say(f"{'would approve' if dry_run else 'approved'} {chosen} of {name}")


def _conditions(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["type"]: each for each in (found.get("status") or {}).get("conditions") or []}


def _listed(listed: list[dict[str, Any]]) -> str:
    """A table, and below it what is in the way of each."""
    wrong = "".join(map(_wrong, listed))
    return table(_HEAD, [_row(each) for each in listed]) + (wrong and f"\n{wrong}")


def _wrong(found: dict[str, Any]) -> str:
    """Why an installation is blocked or not ready, and what to do about that; nothing where it is neither."""
    conditions = _conditions(found)
    signs = (("Blocked", "True", "blocked"), ("Ready", "False", "not ready"))
    lines: dict[str, str] = {}
    for kind, status, words in signs:
        condition = conditions.get(kind, {})
        if condition.get("status") == status:
            said = condition["message"].splitlines()
            lines |= {each: words for each in said if each not in lines}
    if not lines:
        return ""
    name = f"{found['metadata']['namespace']}/{found['metadata']['name']}\n"
    return name + "".join(f"  {words:<10} {each}\n" for each, words in lines.items())


def _row(found: dict[str, Any]) -> tuple[str, ...]:
    metadata, known, holds = found["metadata"], found.get("status") or {}, _conditions(found)
    versions = ((known.get("installed") or {}).get("version") or _NONE, known.get("latest", _NONE))
    shown = (holds.get(each, {}).get("status", _NONE) for each in ("Ready", "UpToDate", "Blocked"))
    return (metadata["namespace"], metadata["name"], *versions, *shown)


def _details(found: dict[str, Any]) -> str:
    known = found.get("status") or {}
    installed = known.get("installed") or {}
    spec = found.get("spec")  # No schema holds a `StackInstall` to anything.
    asked = spec.get("package") if isinstance(spec, dict) else None
    lines = [f"{found['metadata']['name']} ({known.get('package') or asked or 'no package'})"]
    lines.append(
        f"  installed  {installed.get('version', 'nothing')} {installed.get('digest', '')}"
    )
    lines.append(f"  latest     {known.get('latest', _NONE)}")
    planned = _planned(found)
    lines += [f"  {each}" for each in _plan_lines(planned)]
    listed = _all_blocked(planned)
    lines += [
        f"  {each['type']:<14} {each['status']:<8} {each['reason']:<17} {_in_a_line(each, listed)}"
        for each in _conditions(found).values()
    ]
    return "".join(f"{each.rstrip()}\n" for each in lines)


def _in_a_line(condition: dict[str, Any], listed: list[str]) -> str:
    """What a condition says that is not listed before."""
    return one_line("\n".join(e for e in condition["message"].splitlines() if e not in listed))


def _planned(found: dict[str, Any]) -> dict[str, Any]:
    """What comes next; `stopped` lists what blocks the installation beside versions that are blocked."""
    known = found.get("status") or {}
    parts = ("target", "scheduled", "blocked", "announced", "nextChange", "notes")
    planned = {each: known[each] for each in parts if each in known}
    stop = _conditions(found).get("Blocked", {})
    said = {_blocked(each) for each in planned.get("blocked") or []}
    if stop.get("status") == "True":
        planned["stopped"] = [each for each in stop["message"].splitlines() if each not in said]
    return planned


def _plan(planned: dict[str, Any]) -> str:
    return "".join(f"{each}\n" for each in _plan_lines(planned) or ["nothing to do"])


def _plan_lines(planned: dict[str, Any]) -> list[str]:
    lines = []
    if planned.get("target"):
        lines.append(f"now        {planned['target']['version']}")
    lines += [
        f"scheduled  {each['version']}: {each['message']}"
        for each in planned.get("scheduled") or []
    ]
    lines += [f"blocked    {each}" for each in _all_blocked(planned)]
    if planned.get("announced"):
        lines.append(f"announced  {planned['announced']}")
    return [*lines, *(f"note       {each}" for each in planned.get("notes") or [])]


def _all_blocked(planned: dict[str, Any]) -> list[str]:
    return [*map(_blocked, planned.get("blocked") or []), *planned.get("stopped", [])]


def _blocked(version: dict[str, Any]) -> str:
    return f"{version['version']}: {version['message']}"
