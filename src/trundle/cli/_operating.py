"""`trundle kube operator`: packages of a cluster, installed and kept up to date by channel."""

import contextlib
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle._clock import now
from trundle.cli._channels import duration_of
from trundle.cli._failures import ExitCode, Refusal, unmet
from trundle.cli._migrating import Context, Kubeconfig
from trundle.cli._printing import Format, print_text, warn
from trundle.cli.project import Output
from trundle.cli.serve import announce

if TYPE_CHECKING:
    from trundle.kubernetes.operator import Operator

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
        help="The certificate of the webhook that converts installations, in PEM.",
        show_default="no webhook",
    ),
]
_Key = Annotated[Path | None, typer.Option("--tls-key", metavar="FILE", help="Its key, in PEM.")]


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
    kubeconfig: Kubeconfig = None,
    cluster_context: Context = None,
    output: Output = Format.TABLE,
) -> None:
    """Install the packages that `Installation` objects of a cluster ask for, and keep them up to date by their channels and policies.

    Several may run: one that holds a Lease acts, and each converts installations where it has a certificate. One can be ended at any moment.
    """
    from trundle.kubernetes.migration import connect  # noqa: PLC0415
    from trundle.kubernetes.operator import Leadership, Operator  # noqa: PLC0415

    if (tls_cert is None) != (tls_key is None):
        raise unmet("--tls-cert and --tls-key", "both or none", "one of them", "add the other")
    pause = duration_of(interval, "--interval")
    assert pause is not None
    cluster = connect(kubeconfig, cluster_context)
    home = home or (_ACCOUNT.read_text().strip() if _ACCOUNT.exists() else "trundle-system")
    with contextlib.ExitStack() as stack:
        folder = cache or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        identity = identity or f"{socket.gethostname()}-{os.getpid()}"
        lead = None if once else Leadership(cluster, home, identity, now=now)
        made = Operator(
            cluster,
            folder,
            clock=now,
            home=home,
            namespace=namespace or "*",
            leadership=lead,
            log=_log,
            interval=pause,
        )
        if once:
            found = made.look()
            if found.away:
                raise Refusal(ExitCode.FAILED)
            return
        if tls_cert is None or tls_key is None:
            with _until_signal(made):
                made.run()
            return
        thread = threading.Thread(target=made.run, name="operator")
        try:
            _converting(host, port, tls_cert, tls_key, output, thread.start)
        finally:
            made.stop()
            if thread.is_alive():
                thread.join()


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


def _converting(
    host: str, port: int, cert: Path, key: Path, output: Format, ready: Callable[[], None]
) -> None:
    """Converts installations for the cluster until a signal."""
    from trundle.api import Tls, listening  # noqa: PLC0415
    from trundle.kubernetes import serve_webhook  # noqa: PLC0415
    from trundle.kubernetes.operator import converting  # noqa: PLC0415

    results = sys.stdout
    tls = Tls(cert, key, None, warn)
    try:
        with listening(host, port) as listener:
            name, number = listener.getsockname()[:2]
            where = f"https://{f'[{name}]' if ':' in name else name}:{number}"

            def begin() -> None:
                announce(where, output, results)
                ready()

            serve_webhook(converting(), listener, tls, begin)
    except OSError as error:
        found = f"{host}:{port}: {error.strerror or error}"
        raise Refusal(ExitCode.FAILED, f"cannot listen on {found}") from None
