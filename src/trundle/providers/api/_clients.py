"""Clients of servers: by an address, or by a kubeconfig."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx2
from lightkube.config.client_adapter import Client, ConnectionParams
from lightkube.config.kubeconfig import DEFAULT_KUBECONFIG, KubeConfig
from lightkube.core.exceptions import ConfigError

from trundle._environment import expanded
from trundle._server_transport import server_transport, transport_of
from trundle._tls import verifying
from trundle.engine.effects import ProviderError
from trundle.errors import Kind, did_you_mean, expectation, listed

_TIMEOUT = 60.0


class CurrentContext(NamedTuple):
    """The current context of a kubeconfig.

    Attributes:
        name: its name.
        kubeconfig: the file; `~/.kube/config` where it is the usual one, so that each user has an own one.
    """

    name: str
    kubeconfig: str


def client_of_server(
    url: str, *, token: str | None = None, authority: Path | None = None
) -> httpx2.Client:
    """A client of a server by its address, such as that of `trundle serve`.

    Args:
        url: its address.
        token: the bearer token to show.
        authority: the certificate of the authority that its certificate is from.

    Returns:
        The client; use it in a `with` statement.

    Raises:
        OSError: the certificate cannot be read.
    """
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    transport = server_transport(url, verifying(authority))
    return httpx2.Client(base_url=url, headers=headers, transport=transport, timeout=_TIMEOUT)


def client_of_kubeconfig(
    kubeconfig: Path | None = None, context: str | None = None
) -> httpx2.Client:
    """A client of the server that a kubeconfig names.

    Args:
        kubeconfig: the file; that of the environment, or of the pod that this runs in, where None.
        context: the context; the current one where None.

    Returns:
        The client; use it in a `with` statement.

    Raises:
        ProviderError: there is no such server.
    """
    with _naming(kubeconfig):
        found = _read(kubeconfig)
        context = _current(found) if context is None else context
        _require(found, context, kubeconfig)
        config = found.get(context)
        assert config is not None
        timeout = httpx2.Timeout(_TIMEOUT)
        return Client(config, ConnectionParams(timeout, transport=transport_of(config)))


def current_context(kubeconfig: Path | None = None) -> CurrentContext | None:
    """The current context of a kubeconfig; None in a pod, which has no contexts.

    Args:
        kubeconfig: the file; that of the environment, or of the pod that this runs in, where None.

    Raises:
        ProviderError: it cannot be read, or has no current context.
    """
    with _naming(kubeconfig):
        found = _read(kubeconfig)
        if found.fname is None:
            return None
        is_usual = kubeconfig is None and found.fname == expanded(DEFAULT_KUBECONFIG)
        file = DEFAULT_KUBECONFIG if is_usual else str(found.fname.absolute())
        return CurrentContext(_current(found), file)


def check_context(kubeconfig: Path | None, context: str) -> None:
    """Makes sure that a kubeconfig has a context.

    Args:
        kubeconfig: the file; that of the environment where None.
        context: the context.

    Raises:
        ProviderError: the file cannot be read, or has no such context.
    """
    with _naming(kubeconfig):
        _require(_read(kubeconfig), context, kubeconfig)


def _require(found: KubeConfig, context: str, kubeconfig: Path | None) -> None:
    if context not in found.contexts:
        where = str(kubeconfig or found.fname or "the kubeconfig")
        near = did_you_mean(context, found.contexts, "name one of these, or another kubeconfig")
        known = listed(found.contexts) if found.contexts else "none"
        words = expectation(f"the context {context}", known, near)
        raise ProviderError(f"{where}: {words}", Kind.UNREACHABLE)


def _current(found: KubeConfig) -> str:
    """The name of the current context; kubectl writes an empty one where there is none.

    Raises:
        ConfigError: there is none.
    """
    if not found.current_context:
        raise ConfigError("no current context")
    return found.current_context


def _read(kubeconfig: Path | None) -> KubeConfig:
    return KubeConfig.from_file(kubeconfig) if kubeconfig else KubeConfig.from_env()


@contextlib.contextmanager
def _naming(kubeconfig: Path | None) -> Iterator[None]:
    try:
        yield
    except ProviderError:
        raise
    except Exception as error:  # noqa: BLE001 - lightkube lets through what it meets in a kubeconfig
        where = str(kubeconfig or "the kubeconfig")
        message = expectation("how to reach a cluster", str(error), "name a file and a context")
        raise ProviderError(f"{where}: {message}", Kind.UNREACHABLE) from None
