"""The command of a control plane: serve a project's resources."""

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TextIO

import typer

from trundle import __version__
from trundle.cli._aggregated import Aggregated, ProxyCa, ProxyNames, hosting, require_aggregated
from trundle.cli._carried import Installed, installed_api
from trundle.cli._catalogs import opened_catalog
from trundle.cli._failures import unmet
from trundle.cli._installing import State, state_folder
from trundle.cli._listening import LOCAL_HOST, Address
from trundle.cli._migrating import Context, Kubeconfig
from trundle.cli._page import ServedPage
from trundle.cli._places import environment_routes
from trundle.cli._printing import Format, print_data, say, warn
from trundle.cli._project import config_of
from trundle.cli._stores import Place, StorePlace, alone, project_place, warn_unserved
from trundle.cli.project import Output

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from trundle.api import Access, Api, Host, InstalledApi, Keeper, ServedKind, UserLimits
    from trundle.store import ServerLease, Store

_MOST_REQUESTS = 500
_MOST_WATCHES = 1000
_REFRESH_CHANNELS = 300.0
_FEW = 3
DEFAULT_PORT = 8001


class LogFormat(StrEnum):
    """How a line of the access log is written."""

    TEXT = "text"
    JSON = "json"


Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 for a free one.")]
_Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="The address to listen on.")]
_UnixSocket = Annotated[
    Path | None,
    typer.Option("--unix-socket", metavar="FILE", help="Listen on a Unix socket instead."),
]
_TlsFiles = Annotated[
    str | None,
    typer.Option(
        "--tls",
        metavar="CERT,KEY",
        help="Serve with TLS; or a folder with `tls.crt` and `tls.key`.",
    ),
]
_ClientCa = Annotated[
    Path | None,
    typer.Option(
        "--client-ca", metavar="FILE", help="Clients may show certificates of this authority."
    ),
]
_Tokens = Annotated[
    Path | None,
    typer.Option("--tokens", metavar="FILE", help='Lines of `token,user,uid,"groups"`.'),
]
_Rules = Annotated[
    Path | None,
    typer.Option("--rules", metavar="FILE", help="Roles and bindings as RBAC has them."),
]
_MostRequests = Annotated[
    float | None,
    typer.Option(
        "--most-requests",
        min=0.001,
        metavar="N",
        help="Of one user, in a second.",
        show_default=f"{_MOST_REQUESTS} with access control",
    ),
]
_MostWatches = Annotated[
    int | None,
    typer.Option(
        "--most-watches",
        min=0,
        metavar="N",
        help="Of one user, at a time.",
        show_default=f"{_MOST_WATCHES} with access control",
    ),
]
_Catalog = Annotated[
    str | None,
    typer.Option(
        "--catalog",
        metavar="URL",
        help="Also serve the packages and channels of a catalog, under `/v1/` and `/v2/`.",
    ),
]
_RefreshChannels = Annotated[
    float,
    typer.Option(
        "--refresh-channels",
        min=0,
        metavar="SECONDS",
        help="With --catalog: how often followed channels are read again; never with 0.",
    ),
]
_Places = Annotated[
    Path | None,
    typer.Option(
        "--places",
        metavar="FILE",
        help="With --catalog: also serve its environments, which may reach the places in this file.",
    ),
]
_AuditFile = Annotated[
    Path | None,
    typer.Option("--audit", metavar="FILE", help="Append who did what, as lines of JSON."),
]
_Log = Annotated[LogFormat, typer.Option("--log", help="The form of the access log.")]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Write no access log.")]


def serve(
    context: typer.Context,
    *,
    place: Place = None,
    installed: Installed = False,
    state: State = None,
    host: _Host = LOCAL_HOST,
    port: Port = DEFAULT_PORT,
    unix_socket: _UnixSocket = None,
    tls: _TlsFiles = None,
    client_ca: _ClientCa = None,
    tokens: _Tokens = None,
    rules: _Rules = None,
    most_requests: _MostRequests = None,
    most_watches: _MostWatches = None,
    aggregated: Aggregated = False,
    kubeconfig: Kubeconfig = None,
    cluster_context: Context = None,
    proxy_ca: ProxyCa = None,
    proxy_name: ProxyNames = None,
    catalog: _Catalog = None,
    refresh_channels: _RefreshChannels = _REFRESH_CHANNELS,
    places: _Places = None,
    audit: _AuditFile = None,
    log: _Log = LogFormat.TEXT,
    quiet: _Quiet = False,
    output: Output = Format.TABLE,
) -> None:
    """Serve every version of the project's resources to kubectl and other clients of Kubernetes' API.

    With `--installed`, serve the resources that installed packages bring, and follow what is installed.
    Without `--tokens`, `--client-ca` and `--rules` every client may do everything, and the server listens on this machine alone.
    With `--aggregated`, a cluster's API server passes on requests for these resources, and the cluster says who may do what.
    """
    from trundle.api import Access, Server  # noqa: PLC0415

    own = {"--kubeconfig": kubeconfig, "--context": cluster_context, "--proxy-ca": proxy_ca, "--proxy-name": proxy_name}  # fmt: skip
    others = {"--client-ca": client_ca, "--tokens": tokens, "--rules": rules, "--catalog": catalog, "--installed": installed, "--unix-socket": unix_socket}  # fmt: skip
    require_aggregated(aggregated=aggregated, tls=tls, own=own, others=others)
    address = Address(host, port, unix_socket, tls, client_ca)
    shown = state_folder(state) if installed else None
    kept = _Kept(place, catalog, refresh_channels, places, shown)
    kept.check()
    access = Access(tokens, rules, certificates=client_ca is not None, complain=warn)
    if not aggregated:
        address.check(access)
    keepers = _keepers(audit, None if quiet else log)
    limits = _limits(most_requests, most_watches, has_limits=aggregated or not access.is_open)
    page = kept.page(None if aggregated else access)
    results = sys.stdout  # While the store is open, what is printed goes to standard error.
    cluster = hosting(kubeconfig, cluster_context, proxy_ca, proxy_name)
    with cluster if aggregated else contextlib.nullcontext() as behind:
        secured = address.secured(behind and behind.authorities)
        serving = kept.served(context, access, page, behind and behind.host)
        # First the address: where it is taken, no store is made.
        with address.listening() as listener, serving as (api, leased), leased() as lease:
            server = Server(api, listener, lease, keepers, secured, limits, warn, page.around)
            server.run(lambda: announce(address.url(listener), output, results))


class _Kept(NamedTuple):
    """What a server serves: a store, and a catalog beside it.

    Attributes:
        store: what `--store` says.
        catalog: what `--catalog` says.
        refresh_channels: how often the channels of the catalog are read again, in seconds.
        places: what `--places` says.
        installed: the folder of the installation whose resource types are served; None for those of the project.
    """

    store: str | None
    catalog: str | None
    refresh_channels: float
    places: Path | None
    installed: Path | None

    def check(self) -> None:
        """Refuses options that do not go together.

        Raises:
            CommandExit: there are some.
        """
        if self.places is not None and self.catalog is None:
            expected, advice = "--catalog with it", "name the database of the catalog"
            raise unmet("--places", expected, "none", advice)

    def page(self, access: "Access | None") -> ServedPage:
        """The page that shows it, to whom an access control lets in; without one where there is none."""
        return ServedPage(
            access,
            self.installed,
            has_packages=self.catalog is not None,
            has_environments=self.places is not None,
        )

    @contextlib.contextmanager
    def served(
        self,
        context: typer.Context,
        access: "Access",
        page: ServedPage,
        host: "Host | None",
    ) -> Iterator["tuple[Api | InstalledApi, Callable[[], ServerLease | InstalledApi]]"]:
        """The API of all this with the page, of a cluster where a host is given; and what has its lease."""
        found: contextlib.AbstractContextManager[
            tuple[Api | InstalledApi, Callable[[], ServerLease | InstalledApi]]
        ]
        with self._packages() as packages:

            def beside(kinds: "Iterable[ServedKind]", store: "Store") -> "Sequence[BaseRoute]":
                return [*packages, *page.routes(kinds, store)]

            if self.installed is not None:
                found = installed_api(self.installed, self.store, access, beside)
            else:
                found = _project_api(context, self.store, access, beside, host)
            with found as opened:
                yield opened

    @contextlib.contextmanager
    def _packages(self) -> Iterator["Sequence[BaseRoute]"]:
        """What serves the packages and channels of the catalog, and its environments; nothing where none is given."""
        if self.catalog is None:
            yield ()
            return
        from trundle.api.catalogs import CatalogRoutes, ChannelRefresh  # noqa: PLC0415

        with contextlib.ExitStack() as left:
            opened = left.enter_context(opened_catalog(self.catalog, making=True))
            if self.refresh_channels:
                left.enter_context(ChannelRefresh(opened, self.refresh_channels, warn))
            has_environments = self.places is not None
            routes = [*CatalogRoutes(opened, environments=has_environments).routes]
            if self.places is not None:
                made = environment_routes(self.catalog, self.places, self.installed)
                routes += left.enter_context(made)
            yield routes


def _keepers(audit: Path | None, log: LogFormat | None) -> "list[Keeper]":
    """What keeps a record of requests: the access log, unless there shall be none, and the audit."""
    from trundle.api import AccessLog, Audit, appending, printing  # noqa: PLC0415

    found: list[Keeper] = []
    if log is not None:
        found.append(AccessLog(printing(), as_json=log is LogFormat.JSON))
    if audit is not None:
        found.append(Audit(appending(audit)))
    return found


def _limits(
    most_requests: float | None, most_watches: int | None, *, has_limits: bool
) -> "UserLimits":
    """How much one user may ask for; without access control only what is given."""
    from trundle.api import UserLimits  # noqa: PLC0415

    if not has_limits:
        return UserLimits(most_requests, most_watches)
    return UserLimits(
        most_requests or _MOST_REQUESTS, _MOST_WATCHES if most_watches is None else most_watches
    )


@contextlib.contextmanager
def _project_api(
    context: typer.Context,
    place: str | None,
    access: "Access",
    beside: "Callable[[Iterable[ServedKind], Store], Sequence[BaseRoute]]",
    host: "Host | None",
) -> Iterator["tuple[Api, Callable[[], ServerLease]]"]:
    """An API of the project's resource types, of a cluster where a host is given."""
    from trundle.api import Api, core_scheme, served_kinds  # noqa: PLC0415
    from trundle.errors import listed  # noqa: PLC0415
    from trundle.project import (  # noqa: PLC0415
        changed_sources,
        generated_scheme,
        load_admission,
        load_parts,
    )
    from trundle.store import ServerLease  # noqa: PLC0415

    config = config_of(context)
    if changed := changed_sources(config):
        what = f"{listed(changed, _FEW)} changed since the package was generated"
        warn(f"{what}, by which objects are read and written; run `trundle generate`")
    with generated_scheme(config, lasting=True) as scheme:
        # First all that may be refused, so that no store is made for that.
        kinds = served_kinds(load_parts(config).values(), scheme)
        hooks = load_admission(config)
        with StorePlace(project_place(context, place), scheme).to_fill() as store, alone(store):
            warn_unserved(store)
            api = Api(
                store,
                kinds,
                __version__,
                access=access,
                admission=hooks,
                beside=beside(kinds, store),
                complain=warn,
                host=host,
            )
            core = () if host else (core_scheme,)
            yield api, lambda: ServerLease(store, beside=core, complain=warn)


def announce(where: str, output: Format, results: TextIO) -> None:
    """Says where a server listens, once it does."""
    if output is not Format.TABLE:
        with contextlib.redirect_stdout(results):
            print_data({"serving": where}, output.value)
    say(f"serving on {where}")
