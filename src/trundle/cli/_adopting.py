"""`trundle kube adopt`: takes over a CRD of a cluster that has conversions of another kind, and gives it back."""

from typing import TYPE_CHECKING, Annotated

import typer

from trundle.cli._failures import CommandExit, ExitCode, going_on, unmet
from trundle.cli._migrating import (
    PAGE,
    RATE,
    Context,
    Kubeconfig,
    Page,
    Pages,
    Rate,
    release_of,
)
from trundle.cli._printing import Format, print_data, print_exactly, progress, say
from trundle.cli._project import config_of
from trundle.cli._webhooks import Ca, Service, Url, webhook_of
from trundle.cli.conform import Except, conformance_text
from trundle.cli.project import Output, print_findings

if TYPE_CHECKING:
    from pathlib import Path

    from trundle.cli._printing import Step
    from trundle.kubernetes import WebhookAddress
    from trundle.kubernetes.migration import Adopted, Adoption, Cluster
    from trundle.project import Conformance, ExpectedDifference
    from trundle.runtime import JoinedScheme, Scheme

_WORDS = {
    "compare": "compare all objects at all versions with what the project makes of them",
    "add storage": "add the version `storage`, which is not stored yet",
    "convert": "have the project's webhook convert",
    "store": "store objects at {}",
    "migrate": "rewrite all objects",
    "restore": "put the former conversion and versions back",
}


def adopt(
    context: typer.Context,
    *,
    crd: Annotated[
        str, typer.Argument(metavar="CRD", help="Its name, as members.clubs.example.com.")
    ],
    service: Service = None,
    url: Url = None,
    ca: Ca = None,
    expected: Except = None,
    back: Annotated[
        bool, typer.Option("--back", help="Give it back: make it what it was before.")
    ] = False,
    kubeconfig: Kubeconfig = None,
    cluster_context: Context = None,
    pages: Pages = False,
    page: Page = PAGE,
    rate: Rate = RATE,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Compare, say what is left to do, and change nothing.")
    ] = False,
    output: Output = Format.TABLE,
) -> None:
    """Take over a CRD of a cluster whose conversions another webhook makes, step by step.

    All objects are first read at all versions, as that webhook converts them, and held against the project's conversions; any difference that `--except` does not list ends the command
    with 3, and nothing is changed. Then the version `storage` is added, the project's webhook converts, objects are stored at `storage` and rewritten. The command can be ended and run again at any
    time. `--back` undoes all of that.
    """
    from trundle.kubernetes.migration import connect  # noqa: PLC0415
    from trundle.project import generated_scheme, read_expected  # noqa: PLC0415

    if back and (service or url or ca or expected):
        advice = "leave it out: what the CRD was is noted in the CRD"
        raise unmet("--back", "no --service, --url, --ca or --except", "one of them", advice)
    webhook = _webhook(service, url, ca, back=back)
    listed: tuple[ExpectedDifference, ...] = ()
    if expected is not None:
        listed = read_expected(expected.read_bytes(), str(expected))
    cluster = connect(kubeconfig, cluster_context)
    with (
        going_on(dry_run=dry_run),
        generated_scheme(config_of(context)) as scheme,
        progress("Adopting") as step,
    ):
        adoption = _adoption(context, crd, webhook, scheme, cluster, (pages, page, rate), step)
        compared = None if back else _compared(adoption, scheme, listed, step)
        if back:
            found = adoption.given_back(dry_run=dry_run)
        elif dry_run or (compared is not None and compared.differences):
            found = adoption.state()
        else:
            found = adoption.adopted()
    if compared is not None:
        _require_equal(compared, output)
    _print(found, output)
    if found.findings:
        raise CommandExit(ExitCode.FINDINGS)


def _webhook(
    service: str | None, url: str | None, ca: "Path | None", *, back: bool
) -> "WebhookAddress":
    """Where the project's webhook is; its authority has to be known before the CRD is changed."""
    if service is not None and ca is None:
        advice = "name the authority: cert-manager would write it some seconds too late"
        raise unmet("--service", "--ca with it", "none", advice)
    return webhook_of(service, url, ca, needed=not back)


def _adoption(
    context: typer.Context,
    crd: str,
    webhook: "WebhookAddress",
    scheme: "Scheme | JoinedScheme",
    cluster: "Cluster",
    how: tuple[bool, int, float],
    step: "Step",
) -> "Adoption":
    """What adopts a CRD, by the resource type of the project.

    Raises:
        CommandExit: the project has none of this name.
    """
    from trundle.api import converted_kinds, served_kinds  # noqa: PLC0415
    from trundle.errors import did_you_mean  # noqa: PLC0415
    from trundle.kubernetes import definitions  # noqa: PLC0415
    from trundle.kubernetes.migration import Adoption, Migration, subjects  # noqa: PLC0415
    from trundle.project import load_parts  # noqa: PLC0415

    config = config_of(context)
    parts = list(load_parts(config).values())
    pairs = list(subjects(served_kinds(parts, scheme), converted_kinds(parts, scheme)))
    found = {kind.qualified: (kind, known) for kind, known in pairs}
    if crd not in found:
        advice = did_you_mean(crd, found, "name one of the project's resource types")
        raise unmet(crd, "the CRD of a resource type of the project", ", ".join(found), advice)
    kind, known = found[crd]
    (made,) = definitions([kind], webhook, lambda _: None)
    pages, page, rate = how
    migration = Migration(cluster, release_of(config), page, rate, step)
    return Adoption(migration, kind, known, made, None if pages else cluster.migrations())


def _compared(
    adoption: "Adoption",
    scheme: "Scheme | JoinedScheme",
    listed: "tuple[ExpectedDifference, ...]",
    step: "Step",
) -> "Conformance | None":
    """All objects, held against the project's conversions; None where the CRD's own do not convert them any more, or it cannot be adopted."""
    from trundle.kubernetes.migration import AdoptionStep  # noqa: PLC0415
    from trundle.project import conform  # noqa: PLC0415

    state = adoption.state()
    if state.findings or AdoptionStep.COMPARE in state.done:
        return None
    shown = adoption.shown()
    return conform(scheme, list(shown.pairs()), listed, alone=shown.alone(), on_step=step)


def _require_equal(compared: "Conformance", output: Format) -> None:
    """Prints what the project converts otherwise.

    Raises:
        CommandExit: anything.
    """
    number = len(compared.differences)
    if not number:
        say(f"compared {compared.pairs} pairs of objects: the project converts them as they are")
        return
    if output is Format.TABLE:
        print_exactly(f"{conformance_text(compared)}\n")
    else:
        print_data(compared.to_plain(), output.value)
    noun = "difference" if number == 1 else "differences"
    advice = "correct the rules, or list what is expected in a file for --except"
    say(f"{number} {noun}; nothing is changed; {advice}")
    raise CommandExit(ExitCode.FINDINGS)


def _print(found: "Adopted", output: Format) -> None:
    if output is not Format.TABLE:
        print_data(found.to_plain(), output.value)
        return
    print_findings(found.findings, every=True)
    stored = "the version of before" if "restore" in found.steps else "`storage`"
    for each in found.steps:
        say(f"{'done' if each in found.done else 'to do'}: {_WORDS[each].format(stored)}")
    if found.objects:
        noun = "object" if found.objects == 1 else "objects"
        say(f"{found.name}: {found.objects} {noun}, {found.rewritten} rewritten")
    if found.next is None and "compare" in found.steps:
        say(
            "the CRD keeps its schemas; `trundle kube crds --check-cluster` says what those of the project change"
        )
    if found.carriers:
        have = "object has" if found.carriers == 1 else "objects have"
        say(
            f"{found.name}: {found.carriers} {have} an annotation with what their version does not show; the former webhook does not read it"
        )
