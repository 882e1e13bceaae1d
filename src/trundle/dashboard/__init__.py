"""The page: versions of resource types, looked at in a browser.

`Dashboard` has the routes of `/ui/`, `SignedIn` the sessions of browsers in front of the guard of an API, and `serve_page` serves the page where
there is no API.
"""

from trundle.dashboard._dashboard import Dashboard
from trundle.dashboard._serving import page_application, serve_page
from trundle.dashboard._sessions import Sessions, SignedIn
from trundle.dashboard._shown import ShownProject, shown_kinds

__all__ = [
    "Dashboard",
    "Sessions",
    "ShownProject",
    "SignedIn",
    "page_application",
    "serve_page",
    "shown_kinds",
]
