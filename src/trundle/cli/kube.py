"""The commands of a cluster: CRDs, and the conversion webhook."""

import json
import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trundle.cli._applying import apply
from trundle.cli._failures import ExitCode, Refusal, unmet
from trundle.cli._installations import app as installed
from trundle.cli._migrating import Context, Kubeconfig, migrate
from trundle.cli._operating import operator
from trundle.cli._printing import Format, data_text, print_data, print_exactly, say, warn
from trundle.cli._project import config_of
from trundle.cli.project import Output, print_findings
from trundle.cli.serve import announce

if TYPE_CHECKING:
    from trundle.kubernetes import Placement, Webhook

app = typer.Typer(no_args_is_help=True, help="Put the project's resources into a cluster.")
app.command("apply")(apply)
app.command("migrate")(migrate)
app.command("operator")(operator)
app.add_typer(installed, name="installed")

_STANDARD_INPUT = Path("-")

_Service = Annotated[
    str | None,
    typer.Option(
        "--service",
        metavar="NAMESPACE/NAME[:PORT]",
        help="The service of the webhook; the port is 443 by default.",
    ),
]
_Url = Annotated[
    str | None, typer.Option("--url", metavar="URL", help="The webhook, where it is no service.")
]
_Ca = Annotated[
    Path | None,
    typer.Option("--ca", metavar="FILE", help="The authority of the webhook's certificate."),
]


class AdmissionChoice(StrEnum):
    """Who puts carriers back that clients drop."""

    WEBHOOK = "webhook"
    POLICY = "policy"
    NONE = "none"


@app.command("crds")
def crds(
    context: typer.Context,
    *,
    service: _Service = None,
    url: _Url = None,
    ca: _Ca = None,
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
    webhook = _webhook(service, url, ca, needed=not checks)
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
    text = _text(made, output)
    if to is None:
        print_exactly(text)
        return
    to.write_text(text, encoding="utf-8")
    say(f"wrote {len(made)} CRD{'' if len(made) == 1 else 's'} to {to}")


def _text(made: list[dict[str, Any]], output: Format) -> str:
    """CRDs as one file: documents of YAML, or a list."""
    from trundle.project import write_documents  # noqa: PLC0415

    if output is Format.JSON:
        return data_text({"apiVersion": "v1", "kind": "List", "items": made}, output.value)
    lines = [json.dumps(each, ensure_ascii=False).encode() for each in made]
    return write_documents(lines, "yaml").rstrip("\n") + "\n"


def _webhook(service: str | None, url: str | None, ca: Path | None, *, needed: bool) -> "Webhook":
    """Where the webhook is, as the options say.

    Raises:
        Refusal: they say nothing, or two things.
    """
    from trundle.kubernetes import Webhook, service_named  # noqa: PLC0415

    if (service is None) == (url is None) and (needed or service is not None):
        found = "neither" if service is None else "both"
        advice = (
            "name the service that `trundle kube webhook` runs behind: --service crm/crm-webhook"
        )
        raise unmet("--service and --url", "one of them", found, advice)
    if url is not None and not url.startswith("https://"):
        raise unmet(
            "--url", "a URL that starts with https://", repr(url), "a cluster takes no other"
        )
    authority = b"" if ca is None else ca.read_bytes()
    if ca is not None and b"-----BEGIN CERTIFICATE-----" not in authority:
        raise unmet(f"--ca {ca}", "a certificate in PEM", "something else", "name another file")
    return Webhook(url or "", None if service is None else service_named(service), authority)


def _in_file(path: Path) -> tuple[dict[str, Any], str]:
    """The CRDs of a file, by name; and what the file is called."""
    from trundle.kubernetes import read_definitions  # noqa: PLC0415
    from trundle.project import read_documents  # noqa: PLC0415

    where = "standard input" if path == _STANDARD_INPUT else str(path)
    text = sys.stdin.buffer.read() if path == _STANDARD_INPUT else path.read_bytes()
    documents = [json.loads(each.data) for each in read_documents(text, where)]
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
        Refusal: anything.
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
        raise Refusal(ExitCode.FINDINGS)
    say(f"{where} has what the project says")


@app.command("manifests")
def manifests(
    context: typer.Context,
    *,
    service: _Service = None,
    url: _Url = None,
    ca: _Ca = None,
    image: Annotated[
        str | None,
        typer.Option("--image", metavar="IMAGE", help="The image of the webhook's service."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", help="The name of what is installed.", show_default="the package"),
    ] = None,
    admission: Annotated[
        AdmissionChoice,
        typer.Option("--admission", help="Who puts back what clients drop of carriers."),
    ] = AdmissionChoice.WEBHOOK,
    replicas: Annotated[
        int, typer.Option("--replicas", min=1, metavar="N", help="How many webhooks run.")
    ] = 2,
    operator_: Annotated[
        bool,
        typer.Option("--operator", help="Write what `trundle kube operator` needs; no project is."),
    ] = False,
    namespaces: Annotated[
        list[str] | None,
        typer.Option(
            "--namespace",
            metavar="NAME",
            help="With --operator: where it may install packages; repeatable.",
            show_default="all namespaces",
        ),
    ] = None,
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Where to write them.")] = Path(
        "manifests"
    ),
    output: Output = Format.TABLE,
) -> None:
    """Write all that a cluster needs for the project: CRDs, admission, roles, and the webhook with its certificate and image.

    They are files of a kustomization: `kubectl apply -k FOLDER`. With `--url` the webhook runs elsewhere, and only the rest is written.
    """
    from trundle import __version__  # noqa: PLC0415
    from trundle.api import served_kinds  # noqa: PLC0415
    from trundle.kubernetes import AdmissionBy, Placement, recipe  # noqa: PLC0415
    from trundle.kubernetes import manifests as made  # noqa: PLC0415
    from trundle.project import generated_scheme, load_parts  # noqa: PLC0415

    if operator_:
        if url is not None:
            raise unmet("--operator", "--service", "--url", "name the service of the operator")
        where = _webhook(service or "trundle-system/trundle-operator", None, ca, needed=True)
        if image is None:
            advice = "name the image that it runs: --image registry.example.com/trundle:1"
            raise unmet("--image", "an image", "none", advice)
        placed = Placement(name or "trundle-operator", where, image, replicas)
        _write_operator(placed, namespaces or [], to, output)
        return
    if namespaces:
        raise unmet("--namespace", "--operator", "none", "leave it out, or add --operator")
    config = config_of(context)
    where = _webhook(service, url, ca, needed=True)
    if (image is None) == (service is not None):
        found = "none" if image is None else "--url"
        advice = "name the image that the service runs: --image registry.example.com/crm-webhook:1"
        raise unmet("--image", "an image beside --service, and none beside --url", found, advice)
    placement = Placement(name or _object_name(config.package), where, image or "", replicas)
    notes: list[str] = []
    with generated_scheme(config) as scheme:
        kinds = served_kinds(load_parts(config).values(), scheme)
        files = made(kinds, placement, AdmissionBy(admission), notes.append)
    for each in notes:
        warn(each)
    _write(files, None if image is None else recipe(image, str(to), __version__), to, output)


def _write_operator(
    placement: "Placement", namespaces: list[str], to: Path, output: Format
) -> None:
    """Writes what the operator needs into a folder."""
    from trundle import __version__  # noqa: PLC0415
    from trundle.kubernetes.operator import operator_manifests, operator_recipe  # noqa: PLC0415

    written = operator_manifests(placement, namespaces, warn)
    _write(written, operator_recipe(placement.image, str(to), __version__), to, output)


def _write(
    files: dict[str, list[dict[str, Any]]], image: str | None, to: Path, output: Format
) -> None:
    """Writes manifests, and the recipe of an image, into a folder."""
    to.mkdir(parents=True, exist_ok=True)
    written = {each: _text(documents, Format.TABLE) for each, documents in files.items()}
    if image is not None:
        written["Dockerfile"] = image
    for each, text in written.items():
        (to / each).write_text(text, encoding="utf-8")
    if output is Format.TABLE:
        say(f"wrote {', '.join(sorted(written))} to {to}")
    else:
        print_data([str(to / each) for each in sorted(written)], output.value)


def _object_name(package: str) -> str:
    """A package's name as the name of an object."""
    return re.sub(r"[^a-z0-9-]+", "-", package.lower()).strip("-")


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
    output: Output = Format.TABLE,
) -> None:
    """Convert objects for a cluster, between all versions of the project's resources, over HTTPS.

    `/convert` and `/admit` answer the API server's reviews, `/readyz` and `/livez` say whether it does, and `/metrics` has figures for Prometheus. Certificates that are renewed
    count from the next connection on. No store is needed.
    """
    from trundle.api import Tls, converted_kinds, listening  # noqa: PLC0415
    from trundle.kubernetes import (  # noqa: PLC0415
        Conversions,
        WebhookApplication,
        WebhookMetrics,
        serve_webhook,
    )
    from trundle.project import generated_scheme, load_parts  # noqa: PLC0415

    config = config_of(context)
    tls = Tls(tls_cert, tls_key, None, warn)
    results = sys.stdout  # While the scheme is loaded, what hooks print goes to standard error.
    with generated_scheme(config) as scheme:
        metrics = WebhookMetrics()
        kinds = converted_kinds(load_parts(config).values(), scheme)
        guarded = admission is not AdmissionChoice.NONE
        conversions = Conversions(kinds, scheme, metrics, guarded=guarded)
        application = WebhookApplication(conversions, metrics)
        try:
            with listening(host, port) as listener:
                name, number = listener.getsockname()[:2]
                where = f"https://{f'[{name}]' if ':' in name else name}:{number}"
                serve_webhook(application, listener, tls, lambda: announce(where, output, results))
        except OSError as error:
            found = f"{host}:{port}: {error.strerror or error}"
            raise Refusal(ExitCode.FAILED, f"cannot listen on {found}") from None
