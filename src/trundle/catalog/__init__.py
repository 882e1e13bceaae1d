"""The packages of tenants, side by side in all versions: uploaded, shared, looked up, deleted.

`Catalog` keeps them in a database, and gives immutable snapshots of what a tenant sees.
"""

from typing import TYPE_CHECKING

from trundle._faces import on_demand

if TYPE_CHECKING:
    from trundle.catalog._catalog import Catalog
    from trundle.catalog._errors import (
        BrokenRuleError,
        CatalogCode,
        CatalogError,
        DamagedContentError,
        InvalidTenantError,
        NoSuchPackageError,
        ReviewOutdatedError,
        ServerError,
        StillNeededError,
    )
    from trundle.catalog._records import (
        Consumer,
        FoundPackages,
        Offer,
        Review,
        Reviewed,
        Upload,
        VersionChange,
    )
    from trundle.catalog._server import CatalogServer
    from trundle.catalog._snapshot import Snapshot

__all__ = [
    "BrokenRuleError",
    "Catalog",
    "CatalogCode",
    "CatalogError",
    "CatalogServer",
    "Consumer",
    "DamagedContentError",
    "FoundPackages",
    "InvalidTenantError",
    "NoSuchPackageError",
    "Offer",
    "Review",
    "ReviewOutdatedError",
    "Reviewed",
    "ServerError",
    "Snapshot",
    "StillNeededError",
    "Upload",
    "VersionChange",
]

on_demand(__name__)
