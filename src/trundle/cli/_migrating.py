"""`trundle kube migrate`: all objects of a cluster in the shape of this release."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle.cli._failures import CommandExit, ExitCode, going_on
from trundle.cli._printing import Format, print_data, progress, say
from trundle.cli._project import config_of
from trundle.cli.project import Output, print_findings

if TYPE_CHECKING:
    from trundle.kubernetes.migration import Subject
    from trundle.project import Config

Kubeconfig = Annotated[
    Path | None,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        help="How to reach the cluster.",
        show_default="KUBECONFIG, ~/.kube/config, or the pod's account",
    ),
]
Context = Annotated[
    str | None, typer.Option("--context", metavar="NAME", help="The context of the kubeconfig.")
]
Pages = Annotated[
    bool,
    typer.Option("--pages", help="Rewrite page by page, also where the cluster could do it."),
]
Page = Annotated[
    int, typer.Option("--page", min=1, metavar="N", help="How many objects a page has.")
]
Rate = Annotated[
    float,
    typer.Option(
        "--rate",
        min=0,
        metavar="N",
        help="How many objects are rewritten in a second; 0 for no limit.",
    ),
]
PAGE, RATE = 500, 50.0


def migrate(
    context: typer.Context,
    *,
    kubeconfig: Kubeconfig = None,
    cluster_context: Context = None,
    pages: Pages = False,
    page: Page = PAGE,
    rate: Rate = RATE,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read all objects at all versions, and write nothing.")
    ] = False,
    output: Output = Format.TABLE,
) -> None:
    """Rewrite all objects of the project in a cluster in the shape of this release, and trim `storedVersions`.

    All objects are read at all versions first; where one cannot be read, or the CRD is not ready for it, nothing is written, and the command exits with 3. It can be ended and run again
    at any time.
    """
    from trundle.kubernetes.migration import Migration, connect, subjects  # noqa: PLC0415 - before what needs less: it names the extra

    config = config_of(context)
    from trundle.api import converted_kinds, served_kinds  # noqa: PLC0415
    from trundle.project import generated_scheme, load_parts  # noqa: PLC0415

    cluster = connect(kubeconfig, cluster_context)
    with generated_scheme(config) as scheme:
        parts = list(load_parts(config).values())
        pairs = list(subjects(served_kinds(parts, scheme), converted_kinds(parts, scheme)))
    with going_on(dry_run=dry_run), progress("Migrating") as step:
        migration = Migration(cluster, release_of(config), page, rate, step)
        found = [migration.examined(*each) for each in pairs]
        ready = not any(each.findings for each in found)
        if ready and not dry_run:
            by = None if pages else cluster.migrations()
            found = [migration.migrated(each, by) for each in found]
    _print(found, output, done=ready and not dry_run)
    if any(each.findings for each in found):
        raise CommandExit(ExitCode.FINDINGS)


def release_of(config: "Config") -> str:
    """What is different in each release of a project: its generated package."""
    digest = hashlib.blake2b(digest_size=8)
    from trundle.project import package_folder  # noqa: PLC0415

    folder = package_folder(config)
    for each in sorted(folder.rglob("*.py")):
        digest.update(f"{each.relative_to(folder).as_posix()}\n".encode() + each.read_bytes())
    return digest.hexdigest()


def _print(found: "list[Subject]", output: Format, *, done: bool) -> None:
    if output is not Format.TABLE:
        print_data([each.to_plain() for each in found], output.value)
        return
    print_findings([finding for each in found for finding in each.findings], every=True)
    for each in found:
        if each.findings:
            continue
        noun = "object" if each.objects == 1 else "objects"
        stored = ", ".join(each.stored)
        if done:
            say(
                f"{each.kind.qualified}: {each.objects} {noun}, {each.rewritten} rewritten; stored at storage"
            )
        else:
            say(
                f"{each.kind.qualified}: {each.objects} {noun}, stored at {stored}; all can be read and rewritten"
            )
        if each.outdated:
            say(
                f"{each.kind.qualified}: {len(each.outdated)} of them, which the API server remembered without content, are shown again"
                if done
                else f"{each.kind.qualified}: {len(each.outdated)} of them can be read, and the API server remembers them without content until they are migrated"
            )
        if each.former:
            say(
                f"{each.kind.qualified}: objects could be stored at {', '.join(each.former)} until now. Each API server follows a CRD by itself, and none shows when all have: "
                "where the CRD was applied a moment ago, migrate once more before a version leaves it"
            )
        if each.leaving:
            say(
                f"{each.kind.qualified}: {', '.join(each.leaving)} may leave the CRD"
                if done
                else f"{each.kind.qualified}: {', '.join(each.leaving)} may leave the CRD when all are rewritten"
            )
