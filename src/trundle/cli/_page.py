"""How commands get at the page, which needs an extra."""

import importlib
from typing import TYPE_CHECKING

from trundle.cli._failures import ExitCode, unmet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from starlette.routing import BaseRoute

    from trundle.api import Access, ServedKind
    from trundle.api.access import Application

_NEEDED = ("jinja2", "starlette", "uvicorn")


def require_page() -> None:
    """Refuses to show a page without what it needs.

    Raises:
        Refusal: something is missing.
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

    Attributes:
        around: puts the sessions of browsers in front of the guard.
    """

    def __init__(self, access: "Access") -> None:
        self.around: Callable[[Application], Application] = lambda guarded: guarded
        self._routes: Callable[[Iterable[ServedKind]], Sequence[BaseRoute]] = lambda _: ()
        if _missing():
            return
        from trundle.dashboard import Dashboard, Sessions, SignedIn, shown_kinds  # noqa: PLC0415

        sessions = Sessions()
        self.around = lambda guarded: SignedIn(guarded, sessions)
        self._routes = lambda kinds: Dashboard(shown_kinds(kinds), access, sessions).routes

    def routes(self, kinds: "Iterable[ServedKind]") -> "Sequence[BaseRoute]":
        """The routes of the page over what is served."""
        return self._routes(kinds)
