"""What the commands about environments share: their options, how they get at environments, and at what these may reach."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trundle.cli._catalogs import own_catalog
from trundle.cli._failures import CommandExit, ExitCode, unmet
from trundle.cli._models import read_object
from trundle.cli._printing import Format, print_data, print_text, say, warn
from trundle.cli._settings import current, user_name
from trundle.errors import expectation, shown

if TYPE_CHECKING:
    from trundle.engine import Limits
    from trundle.engine.effects import Provider
    from trundle.environments import Environments, Providers, RunResult

Name = Annotated[str, typer.Argument(metavar="ENVIRONMENT", help="The environment.")]
DraftName = Annotated[
    str | None,
    typer.Option(
        "--draft", metavar="NAME", help="The draft.", show_default="one with the user's name"
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option("--folder", metavar="DIR", help="Write documents and files into a folder."),
]
Programs = Annotated[
    Path | None,
    typer.Option(
        "--programs",
        metavar="FILE",
        help="Run programs: those in this file, which has their absolute paths by name.",
    ),
]
Server = Annotated[
    str | None,
    typer.Option(
        "--server", metavar="URL", help="Apply documents to a server, such as `trundle serve`."
    ),
]
Context = Annotated[
    str | None,
    typer.Option(
        "--context",
        metavar="NAME",
        help="Apply documents to the cluster of a context in the kubeconfig; `-` is the one that is current now.",
    ),
]
Kubeconfig = Annotated[
    Path | None, typer.Option("--kubeconfig", metavar="FILE", help="With --context: the file.")
]
Namespace = Annotated[
    str | None,
    typer.Option(
        "--namespace",
        metavar="NAME",
        help="With --server or --context: the namespace of objects that name none.",
        show_default="default",
    ),
]

_CURRENT = "-"
_APIS = ("store", "cluster")
_ELSEWHERE, _CLUSTER_WIDE = "elsewhere", "cluster_wide"
_REFUSED, _ALLOWED = "refused", "allowed"
_SECONDS = 300
_ENTRIES: Mapping[str, type] = {
    "programs": dict,
    "environment": dict,
    "folder": str,
    "seconds": int,
}


@contextlib.contextmanager
def opened_environments(
    place: str | None, *, making: bool = False, limits: "Limits | None" = None
) -> Iterator["Environments"]:
    """The environments in the database of the catalog that a command works on.

    Raises:
        CommandExit: the settings name a server for the catalog, and no database.
    """
    from trundle.environments import Environments  # noqa: PLC0415

    with own_catalog(place, None, making=making) as catalog:
        yield Environments(catalog, limits=limits)


def draft_of(given: str | None) -> str:
    """The name of the draft that a command works on."""
    return given or user_name() or "default"


def provider_settings(
    folder: Path | None,
    programs: Path | None,
    server: str | None,
    context: str | None,
    kubeconfig: Path | None,
    namespace: str | None,
) -> "Providers":
    """The settings of the providers that options name.

    Raises:
        CommandExit: an option goes with another one that is not there, or a file cannot be used.
        InvalidServerUrlError: the server is no URL.
        ProviderError: there is no current context.
    """
    found: Providers = {}
    within = {"namespace": namespace or "default"}
    if folder is not None:
        found["folder"] = {"root": str(folder.absolute())}
    if server is not None:
        from trundle.registry import require_url  # noqa: PLC0415

        require_url(server, "--server")
        found["store"] = {"url": server, **within}
    if context is not None:
        found["cluster"] = {**_cluster(context, kubeconfig), **within}
    elif kubeconfig is not None:
        raise unmet("--kubeconfig", "--context with it", "none", "name a context, or `-`")
    if namespace is not None and server is None and context is None:
        raise unmet("--namespace", "--server or --context with it", "neither", "name one of them")
    if programs is not None:
        _read_programs(programs)
        found["process"] = {"programs": str(programs.absolute())}
    return found


def _cluster(context: str, kubeconfig: Path | None) -> dict[str, str]:
    """The settings of a context. The current one is kept by its name and its file: others may be current in the next run, and what is deployed stays in its cluster.

    Raises:
        ProviderError: there is no current context.
    """
    if context == _CURRENT:
        from trundle.providers.api import current_context  # noqa: PLC0415

        found = current_context(kubeconfig)
        return (
            {"context": _CURRENT}
            if found is None
            else {"context": found.name, "kubeconfig": found.kubeconfig}
        )
    file = {} if kubeconfig is None else {"kubeconfig": str(kubeconfig.absolute())}
    return {"context": context, **file}


def warn_of_context(settings: "Providers") -> None:
    """Warns where the kubeconfig has no such context now: a deployment here would fail. Elsewhere, as in CI, another kubeconfig may have it."""
    found = settings.get("cluster")
    if found is None or found["context"] == _CURRENT:
        return
    from trundle.engine.effects import ProviderError  # noqa: PLC0415
    from trundle.providers.api import check_context  # noqa: PLC0415

    file = found.get("kubeconfig")
    try:
        check_context(None if file is None else Path(file), found["context"])
    except ProviderError as error:
        warn(str(error))


def confinement(settings: "Providers", *, cluster_wide: bool) -> "Providers":
    """The settings by which objects are in the namespace that settings name, and in no other one.

    Args:
        settings: the settings.
        cluster_wide: whether there may be objects that are in no namespace.
    """
    wide = _ALLOWED if cluster_wide else _REFUSED
    return {
        name: {"namespace": each["namespace"], _ELSEWHERE: _REFUSED, _CLUSTER_WIDE: wide}
        for name, each in settings.items()
        if name in _APIS
    }


@contextlib.contextmanager
def opened_providers(
    settings: "Providers", manager: str, *, force: bool = False
) -> Iterator[dict[str, "Provider"]]:
    """What acts on the world, by name; documents that name none go to the first one.

    Args:
        settings: what it may reach.
        manager: the name by which the environment owns fields of objects.
        force: whether fields of objects that others own are taken over.

    Raises:
        CommandExit: the list of programs cannot be used.
        ProviderError: there is no such cluster.
    """
    from trundle.providers import FolderProvider, ProcessProvider  # noqa: PLC0415

    found: dict[str, Provider] = {}
    with contextlib.ExitStack() as left:
        if "folder" in settings:
            found["folder"] = FolderProvider(Path(settings["folder"]["root"]))
        for name in _APIS:
            if name in settings:
                opened = _opened_api(name, settings[name], manager, force=force)
                found[name] = left.enter_context(opened)
        if "process" in settings:
            file = Path(settings["process"]["programs"])
            entries = _read_programs(file)
            found["process"] = ProcessProvider(
                entries["programs"],
                file.parent / entries.get("folder", "."),
                environment=entries.get("environment"),
                seconds=float(entries.get("seconds", _SECONDS)),
            )
        yield found


@contextlib.contextmanager
def _opened_api(
    name: str, settings: Mapping[str, str], manager: str, *, force: bool
) -> Iterator["Provider"]:
    from trundle.providers.api import (  # noqa: PLC0415
        ApiProvider,
        client_of_kubeconfig,
        client_of_server,
    )

    if name == "store":
        client = client_of_server(settings["url"], token=current().token)
    else:
        file = settings.get("kubeconfig")
        context = settings["context"]
        client = client_of_kubeconfig(
            None if file is None else Path(file), None if context == _CURRENT else context
        )
    with client:
        yield ApiProvider(
            client,
            namespace=settings["namespace"],
            elsewhere=settings.get(_ELSEWHERE) != _REFUSED,
            cluster_wide=settings.get(_CLUSTER_WIDE) != _REFUSED,
            manager=manager,
            force=force,
        )


def _read_programs(file: Path) -> dict[str, Any]:
    """What the operator lets packages run.

    Raises:
        CommandExit: the file does not say that.
    """
    found = read_object(file, "a list of programs")
    if wrong := [*_wrong_in_programs(found)]:
        messages = (f"{file}: {place}{expectation(*words)}" for place, *words in wrong)
        raise CommandExit(ExitCode.USAGE, *messages)
    return found


def _wrong_in_programs(found: Mapping[Any, Any]) -> Iterator[tuple[str, str, str, str]]:
    """The place of each mistake, what is expected there, what was found, and what to do."""
    for key, value in found.items():
        if key not in _ENTRIES:
            yield f"$.{key}: ", f"one of {', '.join(_ENTRIES)}", str(key), "remove it"
        elif not isinstance(value, _ENTRIES[key]) or isinstance(value, bool):
            expected = {dict: "a map", str: "a text", int: "whole seconds"}[_ENTRIES[key]]
            yield f"$.{key}: ", expected, shown(value), "correct it"
    for key in ("programs", "environment"):
        values = found.get(key)
        for name, value in values.items() if isinstance(values, dict) else ():
            if not isinstance(name, str) or not isinstance(value, str):
                yield f"$.{key}.{name}: ", "a text", shown(value), "correct it"
            elif key == "programs" and not Path(value).is_absolute():
                advice = "write the path from the root on"
                yield f"$.{key}.{name}: ", "an absolute path", value, advice
    if "programs" not in found:
        yield "", "programs", "none", "write the path of each program under its name"


def print_result_of(
    result: "RunResult",
    output: Format,
    *,
    dry_run: bool,
) -> None:
    """Prints what a run did, or would do: its effects, in a dry run with what changes of each."""
    if output is not Format.TABLE:
        print_data(result.to_plain() | {"dryRun": dry_run}, output.value)
        return
    for each in result.changes:
        print_text(f"{each.action} {each.key}\n{each.diff if dry_run else ''}")
    if not result.changes:
        say("no effects")
