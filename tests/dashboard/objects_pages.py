"""A server of members with its page, in this process and as a process of its own."""

import asgi
from starlette.applications import Starlette

from trundle.api import Api, served_kinds
from trundle.api.access import Guard
from trundle.dashboard import ServerPage
from trundle.store import Store

OWN = {"origin": "http://localhost:8001"}


def page_of(installed, store: Store, access):
    """The page of a server, with the API behind it, and the API alone."""
    page = ServerPage(access)
    kinds = served_kinds([installed.project], installed.scheme)
    api = Api(store, kinds, "0.0.0", access=access, beside=page.routes(kinds, store))
    assert isinstance(api.application, Starlette)
    return page.around(Guard(api.application, access)), api


def post(application, path, headers=None, **form):
    """Sends a form from the page itself."""
    return asgi.call(application, "POST", path, headers={**OWN, **(headers or {})}, form=form)
