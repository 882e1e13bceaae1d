"""The pages about a catalog, in this process, and what a reader sees of them."""

import contextlib
import html
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import asgi
from starlette.applications import Starlette
from starlette.routing import BaseRoute
from storing import people

from trundle.api.access import Access, Guard
from trundle.api.catalogs import CatalogRoutes
from trundle.catalog import Catalog
from trundle.dashboard import ServerPage
from trundle.store import Store

PageOf: TypeAlias = Callable[..., Any]
"""Makes a page for users whom an `Access` knows; for all users without one."""


@contextlib.contextmanager
def pages_over(
    catalog: Catalog, folder: Path, environments: Sequence[BaseRoute] = ()
) -> Iterator[PageOf]:
    """What makes pages over a catalog, with its API behind them and that of its environments; their store is in the folder."""
    with Store(folder / "store.sqlite", people()) as store:

        def make(access: Access | None = None) -> Any:
            known = access or Access()
            page = ServerPage(known, has_packages=True, has_environments=bool(environments))
            own = CatalogRoutes(catalog, environments=bool(environments)).routes
            routes = [*own, *environments, *page.routes((), store)]
            return page.around(Guard(Starlette(routes=routes), known))

        yield make


def words(text: str) -> str:
    """What a page says, without its elements."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def shown(application: Any, path: str, code: int = 200, **query: Any) -> str:
    """A page below Packages, as HTML; its answer must have the code."""
    where = f"/ui/packages/{path}".rstrip("/")
    answer = asgi.call(application, "GET", where, **query)
    assert answer.status == code, words(answer.text)
    return answer.text
