"""How commands get at the page, which needs an extra."""

import importlib
from typing import TYPE_CHECKING

from trundle.cli._channels import web_settings
from trundle.cli._failures import ExitCode, unmet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from starlette.routing import BaseRoute

    from trundle.api import Access, ServedKind
    from trundle.api.access import Application
    from trundle.store import Store

_NEEDED = ("jinja2", "starlette", "uvicorn")


def require_page() -> None:
    """Refuses to show a page without what it needs.

    Raises:
        CommandExit: something is missing.
    """
    missing = _missing()
    if missing:
        advice = "run: python -m pip install 'trundle[ui]'"
        raise unmet("", "what this command needs", f"no {missing[0]}", advice, ExitCode.FAILED)


def _missing() -> list[str]:
    found = []
    for each in _NEEDED:
        try:
            importlib.import_module(each)
        except ModuleNotFoundError:
            found.append(each)
    return found


class ServedPage:
    """The page of a server; nothing where the extra is missing that it needs.

    Args:
        access: knows users by their tokens; None where the server has none of its own, and no page.
        installed: the folder of the installation whose packages are served, where that is so.
        has_packages: whether the API has a catalog of packages.
        has_environments: whether it has environments, too.

    Attributes:
        around: puts the sessions of browsers in front of an API.
        routes: the routes of the page over resource types that are served, and the store of their objects.
    """

    def __init__(
        self,
        access: "Access | None",
        installed: "Path | None" = None,
        *,
        has_packages: bool = False,
        has_environments: bool = False,
    ) -> None:
        self.around: Callable[[Application], Application] = lambda application: application
        self.routes: Callable[[Iterable[ServedKind], Store], Sequence[BaseRoute]] = lambda *_: ()
        if access is not None and not _missing():
            from trundle.dashboard import ServerPage, ShownInstallation  # noqa: PLC0415

            shown = ShownInstallation(installed, settings=web_settings()) if installed else None
            page = ServerPage(
                access, shown, has_packages=has_packages, has_environments=has_environments
            )
            self.around, self.routes = page.around, page.routes
