"""The commands of a control plane: serve a project's resources, and a kubeconfig for it."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle import __version__
from trundle.cli._failures import ExitCode, Refusal, unmet
from trundle.cli._printing import say
from trundle.cli._project import config_of
from trundle.cli._stores import Place, opened_store

if TYPE_CHECKING:
    from trundle.store import Store

_HOST = "127.0.0.1"
_PORT = 8001
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 for a free one.")]


def serve(
    context: typer.Context,
    *,
    place: Place = None,
    port: Port = _PORT,
    unix_socket: Annotated[
        Path | None,
        typer.Option("--unix-socket", metavar="FILE", help="Listen on a Unix socket instead."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Write no access log.")] = False,
) -> None:
    """Serve every version of the project's resources to kubectl and other clients of Kubernetes' API.

    The server listens on this machine alone: there is no access control yet.
    """
    from trundle.api import Api, Server, listening, printing, served_kinds  # noqa: PLC0415
    from trundle.project import load_parts  # noqa: PLC0415
    from trundle.store import Lease  # noqa: PLC0415

    config = config_of(context)
    with opened_store(context, place, making=True) as store, _alone(store):
        kinds = served_kinds(load_parts(config).values(), store.scheme)
        api = Api(store, kinds, __version__)
        try:
            with listening(_HOST, port, unix_socket) as listener, Lease(store) as lease:
                where = (
                    f"unix:{unix_socket}"
                    if unix_socket
                    else "http://{}:{}".format(*listener.getsockname()[:2])
                )
                log = None if quiet else printing()
                Server(api, listener, lease, log).run(lambda: say(f"serving on {where}"))
        except OSError as error:
            found = f"{unix_socket or f'{_HOST}:{port}'}: {error.strerror or error}"
            raise Refusal(ExitCode.FAILED, f"cannot listen on {found}") from None


def kubeconfig(
    *,
    port: Port = _PORT,
    namespace: Annotated[str, typer.Option(help="The namespace of commands.")] = "default",
) -> None:
    """Write a kubeconfig for a server on this machine."""
    name = "trundle"
    found = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": f"http://{_HOST}:{port}"}}],
        "users": [{"name": name, "user": {}}],
        "contexts": [
            {"name": name, "context": {"cluster": name, "user": name, "namespace": namespace}}
        ],
        "current-context": name,
    }
    typer.echo(json.dumps(found, indent=2))


@contextlib.contextmanager
def _alone(store: "Store") -> Iterator[None]:
    """Refuses a second server on one SQLite file; servers on one PostgreSQL database work together.

    Raises:
        Refusal: another server has it.
    """
    from trundle._locking import LockBusyError, locked  # noqa: PLC0415

    if "://" in store.where and not store.where.startswith("sqlite"):
        yield
        return
    path = Path(store.where.removeprefix("sqlite:///"))
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(path.with_name(f"{path.name}.serving"), wait=0))
        except LockBusyError:
            expected, found = "a store that no server has", "one that is being served"
            advice = "stop the other server, or use PostgreSQL, which several servers can share"
            raise unmet(str(path), expected, found, advice, ExitCode.CONFLICT) from None
        yield
