"""The page: versions of resource types, the objects of a server and what is installed, looked at in a browser.

`ServerPage` is the page of a server: its routes, and the sessions of browsers in front of the API. `serve_page` serves the page where there is no API.
"""

from trundle.dashboard._dashboard import Dashboard
from trundle.dashboard._serving import ServerPage, page_application, serve_page
from trundle.dashboard._sessions import Sessions, SignedIn
from trundle.dashboard._shown import ShownInstallation, ShownProject, shown_kinds

__all__ = [
    "Dashboard",
    "ServerPage",
    "Sessions",
    "ShownInstallation",
    "ShownProject",
    "SignedIn",
    "page_application",
    "serve_page",
    "shown_kinds",
]
