"""`trundle kube manifests`: what a cluster needs for a project, or for the operator, as files of a kustomization."""

import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trundle.cli._admission import AdmissionChoice
from trundle.cli._failures import unmet
from trundle.cli._printing import Format, data_text, print_data, say, warn
from trundle.cli._project import config_of
from trundle.cli._webhooks import Ca, Service, Url, webhook_of
from trundle.cli.project import Output

if TYPE_CHECKING:
    from trundle.kubernetes import Placement, WebhookAddress

_Image = Annotated[
    str | None,
    typer.Option("--image", metavar="IMAGE", help="The image of the webhook's service."),
]
_Name = Annotated[
    str | None,
    typer.Option("--name", help="The name of what is installed.", show_default="the package"),
]
_Admission = Annotated[
    AdmissionChoice,
    typer.Option("--admission", help="Who puts back what clients drop of carriers."),
]
_Replicas = Annotated[
    int, typer.Option("--replicas", min=1, metavar="N", help="How many webhooks run.")
]
_ForOperator = Annotated[
    bool,
    typer.Option("--operator", help="Write what `trundle kube operator` needs; no project is."),
]
_Aggregated = Annotated[
    bool,
    typer.Option(
        "--aggregated",
        help="Write what `trundle serve --aggregated` needs, in place of CRDs and a webhook.",
    ),
]
_Namespaces = Annotated[
    list[str] | None,
    typer.Option(
        "--namespace",
        metavar="NAME",
        help="With --operator: where it may install packages; repeatable.",
        show_default="all namespaces",
    ),
]
_To = Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Where to write them.")]
_FOLDER = Path("manifests")
_RECIPE = "Dockerfile"

Files = tuple[dict[str, list[dict[str, Any]]], str | None]
"""Manifests by file name, and the recipe of an image."""


def manifests(
    context: typer.Context,
    *,
    service: Service = None,
    url: Url = None,
    ca: Ca = None,
    image: _Image = None,
    name: _Name = None,
    admission: _Admission = AdmissionChoice.WEBHOOK,
    replicas: _Replicas = 2,
    operator_: _ForOperator = False,
    aggregated: _Aggregated = False,
    namespaces: _Namespaces = None,
    to: _To = _FOLDER,
    output: Output = Format.TABLE,
) -> None:
    """Write all that a cluster needs for the project: CRDs, admission, roles, and the webhook with its certificate and image.

    They are files of a kustomization: `kubectl apply -k FOLDER`. With `--url` the webhook runs elsewhere, and only the rest is written.
    With `--aggregated`, a server with a database of its own stands behind the cluster's API server, and there are no CRDs.
    """
    from trundle.kubernetes import Placement  # noqa: PLC0415

    if operator_:
        where = _operator_webhook(service, url, ca)
        image = _image_of(image)
        placed = Placement(name or "trundle-operator", where, image, replicas)
        _write(_for_operator(placed, namespaces or [], admission, to), to, output)
        return
    if namespaces:
        raise unmet("--namespace", "--operator", "none", "leave it out, or add --operator")
    if aggregated and (service is None or url is not None):
        found = "none" if url is None else "--url"
        advice = (
            "name the service of the server, as --service crm/crm-api: an APIService takes no URL"
        )
        raise unmet("--aggregated", "--service", found, advice)
    where = webhook_of(service, url, ca, needed=True)
    if (image is None) == (service is not None):
        found = "none" if image is None else "--url"
        advice = "name the image that the service runs: --image registry.example.com/crm-webhook:1"
        raise unmet("--image", "an image beside --service, and none beside --url", found, advice)
    placed = Placement(
        name or _object_name(config_of(context).package), where, image or "", replicas
    )
    _write(_for_project(context, placed, admission, to, aggregated=aggregated), to, output)


def _operator_webhook(service: str | None, url: str | None, ca: Path | None) -> "WebhookAddress":
    """Where the operator converts.

    Raises:
        CommandExit: it is said to be no service.
    """
    if url is not None:
        raise unmet("--operator", "--service", "--url", "name the service of the operator")
    return webhook_of(service or "trundle-system/trundle-operator", None, ca, needed=True)


def _image_of(image: str | None) -> str:
    """The image that the operator runs.

    Raises:
        CommandExit: there is none.
    """
    if image is None:
        advice = "name the image that it runs: --image registry.example.com/trundle:1"
        raise unmet("--image", "an image", "none", advice)
    return image


def _for_operator(
    placement: "Placement", namespaces: list[str], admission: AdmissionChoice, to: Path
) -> Files:
    from trundle import __version__  # noqa: PLC0415
    from trundle.kubernetes import AdmissionBy  # noqa: PLC0415
    from trundle.kubernetes.operator import operator_manifests, operator_recipe  # noqa: PLC0415

    files = operator_manifests(placement, namespaces, AdmissionBy(admission), warn)
    return files, operator_recipe(placement.image, str(to), __version__)


def _for_project(
    context: typer.Context,
    placement: "Placement",
    admission: AdmissionChoice,
    to: Path,
    *,
    aggregated: bool,
) -> Files:
    from trundle import __version__  # noqa: PLC0415
    from trundle.api import served_kinds  # noqa: PLC0415
    from trundle.kubernetes import AdmissionBy, aggregated_manifests, recipe  # noqa: PLC0415
    from trundle.kubernetes import manifests as made  # noqa: PLC0415
    from trundle.project import generated_scheme, load_parts  # noqa: PLC0415

    config = config_of(context)
    notes: list[str] = []
    with generated_scheme(config) as scheme:
        kinds = served_kinds(load_parts(config).values(), scheme)
        if aggregated:
            files = aggregated_manifests(kinds, placement)
        else:
            files = made(kinds, placement, AdmissionBy(admission), notes.append)
    for each in notes:
        warn(each)
    if not placement.image:
        return files, None
    return files, recipe(placement.image, str(to), __version__, aggregated=aggregated)


def _write(files: Files, to: Path, output: Format) -> None:
    """Writes manifests, and the recipe of an image, into a folder."""
    to.mkdir(parents=True, exist_ok=True)
    manifests_, image = files
    written = {
        each: documents_text(documents, Format.TABLE) for each, documents in manifests_.items()
    }
    if image is not None:
        written[_RECIPE] = image
    left = sorted(_written_before(to) - written.keys())
    for each, text in written.items():
        (to / each).write_text(text, encoding="utf-8")
    for each in left:
        (to / each).unlink()
    if output is Format.TABLE:
        say(f"wrote {', '.join(sorted(written))} to {to}")
        if left:
            say(f"removed {', '.join(left)}, which an earlier run wrote")
    else:
        print_data([str(to / each) for each in sorted(written)], output.value)


def _written_before(to: Path) -> set[str]:
    """The files that an earlier run has left in a folder: its kustomization lists them, and its recipe begins as each does."""
    from trundle.documents import plain  # noqa: PLC0415
    from trundle.kubernetes import ManifestFile  # noqa: PLC0415
    from trundle.project import UnreadableError, parse_documents  # noqa: PLC0415

    former: Any = None
    with contextlib.suppress(FileNotFoundError, UnreadableError):
        name = ManifestFile.KUSTOMIZATION
        former = plain(parse_documents((to / name).read_bytes(), name)[0].root)
    listed = former.get("resources") if isinstance(former, dict) else None
    listed = listed if isinstance(listed, list) else []
    found = {str(each) for each in ManifestFile if each in listed and (to / each).is_file()}
    with contextlib.suppress(FileNotFoundError, UnicodeDecodeError):
        if (to / _RECIPE).read_text(encoding="utf-8").startswith("# The image of the "):
            found.add(_RECIPE)
    return found


def documents_text(documents: list[dict[str, Any]], output: Format) -> str:
    """Objects of a cluster as one file: documents of YAML, or a list."""
    from trundle.project import write_values  # noqa: PLC0415

    if output is Format.JSON:
        return data_text({"apiVersion": "v1", "kind": "List", "items": documents}, output.value)
    return write_values(documents, "yaml").rstrip("\n") + "\n"


def _object_name(package: str) -> str:
    """A package's name as the name of an object."""
    return re.sub(r"[^a-z0-9-]+", "-", package.lower()).strip("-")
