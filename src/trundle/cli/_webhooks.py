"""The options that say where a cluster finds the webhook, and its process."""

import contextlib
import os
import select
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from trundle._environment import set_variable
from trundle.cli._failures import unmet
from trundle.cli._listening import address_named, listening_at
from trundle.cli._printing import Format, warn
from trundle.cli.serve import announce

if TYPE_CHECKING:
    from trundle.api import Tls
    from trundle.kubernetes import WebhookAddress, WebhookApplication
    from trundle.kubernetes.operator import Webhooks

Service = Annotated[
    str | None,
    typer.Option(
        "--service",
        metavar="NAMESPACE/NAME[:PORT]",
        help="The service of the webhook; the port is 443 by default.",
    ),
]
Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="Where the webhook converts, where it is no service; at /convert unless a path is named.",
    ),
]
Ca = Annotated[
    Path | None,
    typer.Option("--ca", metavar="FILE", help="The authority of the webhook's certificate."),
]


def webhook_of(
    service: str | None, url: str | None, ca: Path | None, *, needed: bool
) -> "WebhookAddress":
    """Where the webhook is, as the options say.

    Raises:
        CommandExit: they say nothing, two things, or what is no such place.
    """
    from trundle.kubernetes import (  # noqa: PLC0415
        DefinitionError,
        WebhookAddress,
        service_named,
        url_named,
    )

    if (service is None) == (url is None) and (needed or service is not None):
        found = "neither" if service is None else "both"
        advice = (
            "name the service that `trundle kube webhook` runs behind: --service crm/crm-webhook"
        )
        raise unmet("--service and --url", "one of them", found, advice)
    authority = b"" if ca is None else ca.read_bytes()
    if ca is not None and b"-----BEGIN CERTIFICATE-----" not in authority:
        raise unmet(f"--ca {ca}", "a certificate in PEM", "something else", "name another file")
    try:
        named = None if service is None else service_named(service)
        return WebhookAddress("" if url is None else url_named(url), named, authority)
    except DefinitionError as error:
        option = "--service" if url is None else "--url"
        raise unmet(option, error.expected, error.found, error.advice) from None


@contextlib.contextmanager
def counting(processes: int) -> Iterator[Path | None]:
    """A folder where several processes keep what they count; None for one. What counts is to be imported within.

    Raises:
        CommandExit: this system has no such processes.
    """
    if processes == 1:
        yield None
        return
    if not hasattr(os, "fork") or not hasattr(socket, "SO_REUSEPORT"):
        advice = "leave it out here, or start several webhooks on ports of their own"
        raise unmet(
            "--workers",
            "1 on this system, where processes cannot share a port",
            str(processes),
            advice,
        )
    with tempfile.TemporaryDirectory(prefix="trundle-webhook-") as name:
        set_variable("PROMETHEUS_MULTIPROC_DIR", name)
        yield Path(name)


def convert_for_cluster(
    application: "WebhookApplication | Webhooks",
    host: str,
    port: int,
    tls: "Tls",
    output: Format,
    *,
    results: TextIO | None = None,
    begin: Callable[[], None] = lambda: None,
    processes: int = 1,
    counted: Path | None = None,
) -> None:
    """Answers a cluster's reviews over HTTPS until a signal.

    Args:
        application: answers them.
        host: the address to listen on.
        port: the port; 0 for a free one.
        tls: the certificate.
        output: how to print where it listens.
        results: where that is printed; standard output by default.
        begin: is called once it listens.
        processes: how many processes answer.
        counted: where several keep what they count; those that outlive this process remove it.

    Raises:
        CommandExit: the address is not free.
    """
    from trundle.api import reserved  # noqa: PLC0415
    from trundle.kubernetes import serve_webhook  # noqa: PLC0415

    results = results or sys.stdout

    def ready(bound: socket.socket) -> None:
        name, number = bound.getsockname()[:2]
        announce(f"https://{f'[{name}]' if ':' in name else name}:{number}", output, results)
        begin()

    if processes == 1:
        with listening_at(host, port) as listener:
            serve_webhook(application, listener, tls, lambda: ready(listener))
        return
    with contextlib.ExitStack() as stack:
        with address_named(host, port):
            with reserved(host, port, shared=False):
                pass  # Others that share the port would be asked, too.
            held = stack.enter_context(reserved(host, port, shared=True))
        _serve_in(processes, application, held, tls, lambda: ready(held), counted)


def _serve_in(
    processes: int,
    application: "WebhookApplication | Webhooks",
    held: socket.socket,
    tls: "Tls",
    ready: Callable[[], None],
    counted: Path | None,
) -> None:
    """Answers in several processes, on the port that a socket holds."""
    from trundle.api import listening  # noqa: PLC0415
    from trundle.kubernetes import ServerProcesses, serve_webhook  # noqa: PLC0415

    host, port = held.getsockname()[:2]

    def serve(alive: int, on_ready: Callable[[], None]) -> None:
        with listening(host, port, shared=True) as listener:
            serve_webhook(application, listener, tls, on_ready, alive)
        is_left = bool(
            select.select([alive], [], [], 0)[0]
        )  # This process may still be its parent's.
        if counted is not None and is_left:
            shutil.rmtree(counted, ignore_errors=True)

    ServerProcesses(serve, warn).run(processes, ready)
