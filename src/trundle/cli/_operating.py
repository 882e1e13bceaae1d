"""`trundle kube operator`: packages of a cluster, installed and kept up to date by channel."""

import contextlib
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from trundle._clock import now
from trundle.cli._admission import AdmissionChoice
from trundle.cli._channels import duration_of
from trundle.cli._failures import CommandExit, ExitCode, unmet
from trundle.cli._migrating import Context, Kubeconfig
from trundle.cli._printing import Format, print_text, warn
from trundle.cli._server_token import server_token
from trundle.cli._webhooks import convert_for_cluster
from trundle.cli.project import Output

if TYPE_CHECKING:
    from collections.abc import Callable

    from trundle.api import Tls
    from trundle.kubernetes.migration import Cluster
    from trundle.kubernetes.operator import Operator, Records, Rolling, SchemaLoader, Webhooks

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


_Namespace = Annotated[
    str | None,
    typer.Option(
        "--namespace",
        help="Follow the installations of this namespace only.",
        show_default="all namespaces",
    ),
]
_Home = Annotated[
    str | None,
    typer.Option(
        "--home",
        metavar="NAMESPACE",
        help="Where the operator keeps what it remembers, and its Lease.",
        show_default="the pod's namespace, or trundle-system",
    ),
]
_Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        metavar="FOLDER",
        help="Where packages are kept that were fetched; it may be lost at any time.",
        show_default="a folder of this run",
    ),
]
_Interval = Annotated[
    str,
    typer.Option("--interval", metavar="DURATION", help="How often to look at channels."),
]
_Identity = Annotated[
    str | None,
    typer.Option(
        "--identity",
        metavar="NAME",
        help="The name of this operator in the Lease; one that starts again goes on at once.",
        show_default="the host and the process",
    ),
]
_Once = Annotated[bool, typer.Option("--once", help="Look once, without a Lease, and end.")]
_Host = Annotated[
    str, typer.Option("--host", metavar="ADDRESS", help="The address of the webhook.")
]
_Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Its port; 0 for a free one.")]
_Certificate = Annotated[
    Path | None,
    typer.Option(
        "--tls-cert",
        metavar="FILE",
        help="The certificate of the webhook that converts installations and what packages carry, in PEM.",
        show_default="no webhook",
    ),
]
_Key = Annotated[Path | None, typer.Option("--tls-key", metavar="FILE", help="Its key, in PEM.")]
_Admission = Annotated[
    AdmissionChoice,
    typer.Option(
        "--admission", help="Who puts back what clients drop of carriers, for what packages carry."
    ),
]

_ServerToken = Annotated[
    Path | None,
    typer.Option(
        "--server-token",
        metavar="FOLDER",
        help="Has the files `server`, a URL, and `token`: channels at that server are read with the token.",
        show_default="TRUNDLE_SERVER and TRUNDLE_TOKEN",
    ),
]


def operator(
    *,
    namespace: _Namespace = None,
    home: _Home = None,
    cache: _Cache = None,
    interval: _Interval = "PT15M",
    identity: _Identity = None,
    once: _Once = False,
    host: _Host = "0.0.0.0",  # noqa: S104 - the API server is another machine
    port: _Port = 8443,
    tls_cert: _Certificate = None,
    tls_key: _Key = None,
    admission: _Admission = AdmissionChoice.NONE,
    token_folder: _ServerToken = None,
    kubeconfig: Kubeconfig = None,
    cluster_context: Context = None,
    output: Output = Format.TABLE,
) -> None:
    """Install the packages that `Installation` objects of a cluster ask for, and keep them up to date by their channels and policies.

    Several may run: one that holds a Lease acts, and each converts installations, and the objects of what packages carry, where it has a certificate. One can be ended at any moment.
    """
    from trundle.kubernetes.migration import connect  # noqa: PLC0415
    from trundle.kubernetes.operator import Leadership, Operator  # noqa: PLC0415

    tls = _tls(tls_cert, tls_key)
    pause = duration_of(interval, "--interval")
    assert pause is not None
    cluster = connect(kubeconfig, cluster_context)
    home = home or (_ACCOUNT.read_text().strip() if _ACCOUNT.exists() else "trundle-system")
    with contextlib.ExitStack() as stack:
        folder = cache or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        identity = identity or f"{socket.gethostname()}-{os.getpid()}"
        lead = None if once else Leadership(cluster, home, identity, now=now)
        check = (lambda: None) if lead is None else lead.check
        types = stack.enter_context(_resource_types(cluster, home, check, admission))
        made = Operator(
            cluster,
            folder,
            clock=now,
            home=home,
            rolling=types.rolling,
            namespace=namespace or "*",
            leadership=lead,
            log=_log,
            interval=pause,
            token=server_token(token_folder, _log),
        )
        if once:
            if made.look().away:
                raise CommandExit(ExitCode.FAILED)
        elif tls is None:
            with _until_signal(made):
                made.run()
        else:
            guarded = admission is not AdmissionChoice.NONE
            webhooks = _webhooks(cluster, home, identity, types, guarded=guarded)
            _convert(made, webhooks, host, port, tls, output)


def _tls(certificate: Path | None, key: Path | None) -> "Tls | None":
    """How the webhook shows who it is; None for no webhook."""
    from trundle.api import Tls  # noqa: PLC0415

    if (certificate is None) != (key is None):
        raise unmet("--tls-cert and --tls-key", "both or none", "one of them", "add the other")
    return None if certificate is None or key is None else Tls(certificate, key, None, warn)


class _ResourceTypes(NamedTuple):
    """What knows of the resource types that packages carry.

    Attributes:
        rolling: brings them into the cluster.
        records: what is recorded of them there.
        loader: loads their schemas.
    """

    rolling: "Rolling"
    records: "Records"
    loader: "SchemaLoader"


@contextlib.contextmanager
def _resource_types(
    cluster: "Cluster", home: str, check: "Callable[[], None]", admission: AdmissionChoice
) -> Iterator[_ResourceTypes]:
    """What brings resource types of packages into a cluster; `check` is called before each write."""
    from trundle.kubernetes import AdmissionBy  # noqa: PLC0415
    from trundle.kubernetes.operator import (  # noqa: PLC0415
        Migrations,
        Records,
        Replicas,
        Rolling,
        SchemaLoader,
    )

    records, migrations = Records(cluster, home, check), Migrations(cluster, check)
    with SchemaLoader() as loader, contextlib.closing(migrations):
        by, replicas = AdmissionBy(admission), Replicas(cluster, home)
        rolling = Rolling(cluster, records, replicas, loader, migrations, admission=by)
        yield _ResourceTypes(rolling, records, loader)


def _convert(
    operator: "Operator", webhooks: "Webhooks", host: str, port: int, tls: "Tls", output: Format
) -> None:
    """Runs the operator, and converts for the cluster, until a signal."""
    thread = threading.Thread(target=operator.run, name="operator")

    def begin() -> None:
        webhooks.start()
        thread.start()

    try:
        convert_for_cluster(webhooks, host, port, tls, output, begin=begin)
    finally:
        operator.stop()
        if thread.is_alive():
            thread.join()
            webhooks.close()


def _webhooks(
    cluster: "Cluster",
    home: str,
    identity: str,
    types: _ResourceTypes,
    *,
    guarded: bool,
) -> "Webhooks":
    from trundle.kubernetes.operator import Replica, Webhooks  # noqa: PLC0415

    replica = Replica(cluster, home, identity, now=now)
    return Webhooks(types.records, types.loader, replica, guarded=guarded, log=_log)


def _log(line: str) -> None:
    print_text(line.replace("\n", " "))
    sys.stdout.flush()


@contextlib.contextmanager
def _until_signal(operator: "Operator") -> Iterator[None]:
    kinds = (signal.SIGTERM, signal.SIGINT)
    before = {each: signal.signal(each, lambda *_: operator.stop()) for each in kinds}
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
