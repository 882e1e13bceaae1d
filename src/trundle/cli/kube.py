"""The commands of a cluster: CRDs, and the conversion webhook."""

import contextlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from trundle.cli._admission import AdmissionChoice
from trundle.cli._adopting import adopt
from trundle.cli._applying import apply
from trundle.cli._failures import CommandExit, ExitCode, unmet
from trundle.cli._installations import app as installed
from trundle.cli._manifests import documents_text, manifests
from trundle.cli._migrating import Context, Kubeconfig, migrate
from trundle.cli._operating import operator
from trundle.cli._printing import Format, print_data, print_exactly, say, warn
from trundle.cli._project import config_of
from trundle.cli._webhooks import Ca, Service, Url, convert_for_cluster, counting, webhook_of
from trundle.cli.project import Output, print_findings

app = typer.Typer(no_args_is_help=True, help="Put the project's resources into a cluster.")
app.command("adopt")(adopt)
app.command("apply")(apply)
app.command("manifests")(manifests)
app.command("migrate")(migrate)
app.command("operator")(operator)
app.add_typer(installed, name="installed")

_STANDARD_INPUT = Path("-")


@app.command("crds")
def crds(
    context: typer.Context,
    *,
    service: Service = None,
    url: Url = None,
    ca: Ca = None,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to", metavar="FILE", help="Where to write them.", show_default="standard output"
        ),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(
            "--check",
            metavar="FILE",
            help="Compare with the CRDs of a file, `-` for standard input, and write none.",
        ),
    ] = None,
    check_cluster: Annotated[
        bool, typer.Option("--check-cluster", help="Compare with the CRDs of a cluster.")
    ] = False,
    kubeconfig: Kubeconfig = None,
    cluster_context: Context = None,
    output: Output = Format.TABLE,
) -> None:
    """Write a CRD for each resource type: all served versions, and one that is stored.

    With `--check` or `--check-cluster`, say what an update of the CRDs there would change and break; exit with 3 if anything differs.
    """
    from trundle.api import served_kinds  # noqa: PLC0415
    from trundle.kubernetes import definitions  # noqa: PLC0415
    from trundle.project import generated_scheme, load_parts  # noqa: PLC0415

    checks = check is not None or check_cluster
    webhook = webhook_of(service, url, ca, needed=not checks)
    if (check is not None) + check_cluster + (to is not None) > 1:
        named = "--check, --check-cluster and --to"
        raise unmet(named, "one of them", "several", "leave all but one out")
    config = config_of(context)
    notes: list[str] = []
    with generated_scheme(config) as scheme:
        kinds = served_kinds(load_parts(config).values(), scheme)
        made = definitions(kinds, webhook, notes.append)
    if checks:
        found = _in_cluster(kubeconfig, cluster_context) if check is None else _in_file(check)
        _check(made, *found, output, stated=service is not None or url is not None)
        return
    for each in notes:
        warn(each)
    text = documents_text(made, output)
    if to is None:
        print_exactly(text)
        return
    to.write_text(text, encoding="utf-8")
    say(f"wrote {len(made)} CRD{'' if len(made) == 1 else 's'} to {to}")


def _in_file(path: Path) -> tuple[dict[str, Any], str]:
    """The CRDs of a file, by name; and what the file is called."""
    from trundle.documents import plain  # noqa: PLC0415
    from trundle.kubernetes import read_definitions  # noqa: PLC0415
    from trundle.project import parse_documents  # noqa: PLC0415

    where = "standard input" if path == _STANDARD_INPUT else str(path)
    text = sys.stdin.buffer.read() if path == _STANDARD_INPUT else path.read_bytes()
    documents = [plain(each.root) for each in parse_documents(text, where)]
    return read_definitions(documents, where), where


def _in_cluster(kubeconfig: Path | None, context: str | None) -> tuple[dict[str, Any], str]:
    """The CRDs of a cluster, by name; and what it is called."""
    from trundle.kubernetes.migration import connect  # noqa: PLC0415

    found = connect(kubeconfig, context).definitions()
    return {each["metadata"]["name"]: each for each in found}, "the cluster"


def _check(
    made: list[dict[str, Any]],
    installed: dict[str, Any],
    where: str,
    output: Format,
    *,
    stated: bool,
) -> None:
    """Prints what an update of some CRDs would change.

    Raises:
        CommandExit: anything.
    """
    from trundle.kubernetes import compared  # noqa: PLC0415

    if not stated:
        for each in made:
            found = installed.get(each["metadata"]["name"])
            each["spec"]["conversion"] = found and found["spec"].get("conversion")
    findings = compared(installed, made, where)
    if output is Format.TABLE:
        print_findings(findings, every=True)
    else:
        print_data([each.to_plain() for each in findings], output.value)
    if findings:
        raise CommandExit(ExitCode.FINDINGS)
    say(f"{where} has what the project says")


@app.command("webhook")
def webhook(
    context: typer.Context,
    *,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="The address to listen on.")
    ] = "0.0.0.0",  # noqa: S104 - the API server is another machine
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port; 0 for a free one.")
    ] = 8443,
    tls_cert: Annotated[
        Path,
        typer.Option("--tls-cert", metavar="FILE", help="The certificate, in PEM."),
    ],
    tls_key: Annotated[
        Path,
        typer.Option("--tls-key", metavar="FILE", help="Its key, in PEM, without a passphrase."),
    ],
    admission: Annotated[
        AdmissionChoice,
        typer.Option(
            "--admission",
            help="Who refuses writes where a carrier has no room; conversions do where no other does.",
        ),
    ] = AdmissionChoice.NONE,
    workers: Annotated[
        int,
        typer.Option(
            "--workers", metavar="N", min=1, help="How many processes answer on the port."
        ),
    ] = 1,
    output: Output = Format.TABLE,
) -> None:
    """Convert objects for a cluster, between all versions of the project's resources, over HTTPS.

    `/convert` and `/admit` answer the API server's reviews, `/readyz` and `/livez` say whether it does, and `/metrics` has figures for Prometheus. Certificates that are renewed
    count from the next connection on. No store is needed.
    """
    config = config_of(context)
    results = sys.stdout  # While the scheme is loaded, what hooks print goes to standard error.
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(counting(workers))
        from trundle.api import Tls, converted_kinds  # noqa: PLC0415
        from trundle.kubernetes import (  # noqa: PLC0415
            Conversions,
            WebhookApplication,
            WebhookMetrics,
        )
        from trundle.project import generated_scheme, load_parts  # noqa: PLC0415

        tls = Tls(tls_cert, tls_key, None, warn)
        scheme = stack.enter_context(generated_scheme(config, lasting=True))
        metrics = WebhookMetrics(folder)
        kinds = converted_kinds(load_parts(config).values(), scheme)
        guarded = admission is not AdmissionChoice.NONE
        conversions = Conversions(kinds, scheme, metrics, guarded=guarded)
        application = WebhookApplication(conversions, metrics)
        convert_for_cluster(
            application, host, port, tls, output, results=results, processes=workers, counted=folder
        )
