"""Connections to registries and other servers over HTTP, on which no answer takes longer than it may."""

from urllib.parse import urlsplit

import urllib3

from trundle._environment import proxy_of
from trundle._late_answers import limit_answers
from trundle._tls import verifying
from trundle.registry._settings import HttpSettings


def open_pool(base: str, settings: HttpSettings, connections: int = 4) -> urllib3.PoolManager:
    """The connections to a server, through the proxy that the environment names.

    Args:
        base: the URL of the server.
        settings: the times; `request_time` bounds the way to the last header of an answer.
        connections: how many connections are kept.
    """
    timeout = urllib3.Timeout(connect=settings.connect_timeout, read=settings.read_timeout)
    parts = urlsplit(base)
    proxy = proxy_of(base)
    verified = verifying() if parts.scheme == "https" else None
    pool: urllib3.PoolManager
    if proxy:
        address = urlsplit(proxy)
        user = address.username and urllib3.util.make_headers(
            proxy_basic_auth=f"{address.username}:{address.password or ''}"
        )
        pool = urllib3.ProxyManager(
            proxy,
            timeout=timeout,
            maxsize=connections,
            proxy_headers=user or None,
            ssl_context=verified,
        )
    else:
        pool = urllib3.PoolManager(timeout=timeout, maxsize=connections, ssl_context=verified)
    limit_answers(pool, settings.request_time)
    return pool
