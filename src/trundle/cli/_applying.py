"""`trundle kube apply`: what a release carries, in a cluster."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle.cli._failures import unmet
from trundle.cli._migrating import Context, Kubeconfig
from trundle.cli._printing import Format, print_data, say, warn
from trundle.cli.project import Output

if TYPE_CHECKING:
    from trundle.kubernetes.operator import Applied, Part

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?")


def apply(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="The manifests of the release.", show_default=False),
    ],
    *,
    name: Annotated[
        str, typer.Option("--name", help="What is installed; releases of it follow each other.")
    ],
    namespace: Annotated[
        str,
        typer.Option(
            "--namespace", help="That of objects which name none, and of what is remembered."
        ),
    ] = "default",
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Take over fields that others own, and objects of other releases."
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Say what would be applied and deleted, and change nothing."
        ),
    ] = False,
    kubeconfig: Kubeconfig = None,
    cluster_context: Context = None,
    output: Output = Format.TABLE,
) -> None:
    """Apply the manifests of a release to a cluster, and delete what the release before it had and this one has not.

    Namespaces come first, then CRDs until they are established, then the rest, and admission last. CRDs that still have objects stay. It can be ended and run again.
    """
    from trundle.kubernetes.migration import connect  # noqa: PLC0415
    from trundle.kubernetes.operator import Applier, Objects, plan_of  # noqa: PLC0415

    if not _NAME.fullmatch(name):
        expected = "up to 42 lower-case letters, digits and hyphens"
        raise unmet("--name", expected, repr(name), "choose another name")
    wanted = _read(folder)
    applier = Applier(Objects(connect(kubeconfig, cluster_context), namespace), name)
    if dry_run:
        _print(plan_of(applier.earlier(), wanted), output, would=True)
        return
    _print(applier.apply(wanted, force=force), output, would=False)


def _read(folder: Path) -> "list[Part]":
    from trundle.kubernetes.operator import parts_in  # noqa: PLC0415

    found = parts_in(folder)
    if not found:
        what = "none" if folder.is_dir() else "no such folder"
        raise unmet(str(folder), "files of YAML or JSON", what, "name the folder `manifests`")
    return found


def _print(found: "Applied", output: Format, *, would: bool) -> None:
    if output is not Format.TABLE:
        print_data(found.to_plain(), output.value)
        return
    applied, deleted = ("would apply", "would delete") if would else ("applied", "deleted")
    for verb, parts in ((applied, found.applied), (deleted, found.deleted)):
        for each in parts:
            say(f"{verb} {each}")
    for each in found.kept:
        warn(f"{each} stays, though the release no longer has it: it has objects")
    for each in found.held:
        warn(f"{each} is still there, as finalizers hold it; run again to see whether it has gone")
