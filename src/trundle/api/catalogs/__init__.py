"""A catalog over HTTP: under `/v1/` a package and a channel are their latest version, under `/v2/` they have all of them.

Both show what one catalog keeps. They are versions of a project of Trundle itself (`own`), whose generated package converts
between them.
"""

from trundle.api.catalogs._refreshing import ChannelRefresh
from trundle.api.catalogs._routes import CatalogRoutes

__all__ = ["CatalogRoutes", "ChannelRefresh"]
