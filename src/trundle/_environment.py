"""The environment of this process, read here alone: settings of Trundle, and where other tools keep theirs."""

import os
from collections.abc import Mapping
from pathlib import Path


def variables() -> Mapping[str, str]:
    """The environment variables, as they are now."""
    return os.environ


def set_variable(name: str, value: str) -> None:
    """Sets an environment variable, for libraries that take settings in no other way and for programs that are started."""
    os.environ[name] = value


def home() -> Path:
    """The user's folder: `/` where there is none, as for users without a name in a container."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def expanded(text: str | Path) -> Path:
    """A path whose first part may be `~`; `~NAME` stays as it is where there is no such user, as in shells."""
    path = Path(text)
    try:
        return path.expanduser()
    except RuntimeError:
        return home().joinpath(*path.parts[1:]) if path.parts[0] == "~" else path


def proxy_of(url: str, *others: str) -> str | None:
    """The proxy by which a URL is reached; None where there is none, or the URL is to be reached without it.

    Args:
        url: the URL; its scheme says which proxy counts, as `HTTPS_PROXY`.
        others: further ones that count where that is not set, such as `all` for `ALL_PROXY`.
    """
    import urllib.request  # noqa: PLC0415 - few commands need it, and it imports much
    from urllib.parse import urlsplit  # noqa: PLC0415

    parts, proxies = urlsplit(url), urllib.request.getproxies()
    proxy = next((proxies[each] for each in (parts.scheme, *others) if each in proxies), None)
    if not proxy or urllib.request.proxy_bypass(parts.netloc):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
