"""How `trundle serve` stands behind a cluster's API server."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from trundle.cli._failures import unmet
from trundle.cli._printing import warn

if TYPE_CHECKING:
    from trundle.api import Host

_TIMEOUT = 10.0
"""After how many seconds the cluster counts as away."""

Aggregated = Annotated[
    bool,
    typer.Option(
        "--aggregated",
        help="Stand behind a cluster's API server, which says who asks and what they may do.",
    ),
]
ProxyCa = Annotated[
    Path | None,
    typer.Option(
        "--proxy-ca",
        metavar="FILE",
        help="With --aggregated: the authority of the proxy's certificate.",
        show_default="what the cluster says",
    ),
]
ProxyNames = Annotated[
    list[str] | None,
    typer.Option(
        "--proxy-name",
        metavar="NAME",
        help="With --proxy-ca: the common name of the proxy's certificate; repeatable.",
        show_default="any",
    ),
]


class Hosting(NamedTuple):
    """The cluster that a server is a part of.

    Attributes:
        host: the cluster.
        authorities: gives the certificates of the authorities that sign its proxy's.
    """

    host: "Host"
    authorities: Callable[[], str]


@contextlib.contextmanager
def hosting(
    kubeconfig: Path | None,
    context: str | None,
    proxy_ca: Path | None,
    proxy_names: list[str] | None,
) -> Iterator[Hosting]:
    """The cluster of a kubeconfig; what it says of its proxy is followed, unless the user says it.

    Raises:
        ClusterError: the cluster cannot be asked.
    """
    from trundle.kubernetes.aggregation import (  # noqa: PLC0415
        Delegation,
        FollowedProxy,
        FrontProxy,
        connect,
    )

    cluster = connect(kubeconfig, context, _TIMEOUT)
    if proxy_ca is not None:
        given = FrontProxy(proxy_ca.read_text(encoding="utf-8"), tuple(proxy_names or ()))
        yield Hosting(Delegation(cluster, lambda: given), lambda: given.authorities)
        return
    followed = FollowedProxy(cluster, warn)
    with followed.following():
        yield Hosting(Delegation(cluster, followed), lambda: followed().authorities)


def require_aggregated(
    *, aggregated: bool, tls: str | None, own: Mapping[str, Any], others: Mapping[str, Any]
) -> None:
    """Refuses options that do not go together.

    Args:
        aggregated: whether the server stands behind a cluster's API server.
        tls: its certificate.
        own: options that only such a server has, by name.
        others: options that it cannot have, by name.

    Raises:
        CommandExit: there are some.
    """
    if not aggregated:
        for name in (name for name, value in own.items() if value):
            raise unmet(name, "--aggregated with it", "none", "leave it out, or add --aggregated")
        return
    for name in (name for name, value in others.items() if value):
        advice = "leave it out: the cluster says who may do what, and passes on what it has an APIService for"
        raise unmet("--aggregated", f"no {name} with it", name, advice)
    if tls is None:
        raise unmet("--aggregated", "--tls with it", "none", "name the certificate of its service")
    if own["--proxy-name"] and not own["--proxy-ca"]:
        advice = "leave --proxy-name out, or add --proxy-ca"
        raise unmet("--proxy-name", "--proxy-ca with it", "none", advice)
