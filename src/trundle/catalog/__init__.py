"""The packages of tenants, side by side in all versions: uploaded, shared, looked up, deleted.

`Catalog` keeps them in a database, and gives immutable snapshots of what a tenant sees.
"""

from trundle.catalog._catalog import Catalog
from trundle.catalog._errors import (
    CatalogError,
    DamagedContentError,
    InvalidTenantError,
    NoSuchPackageError,
    RefusedError,
    StillNeededError,
)
from trundle.catalog._records import Change, Offer, Upload
from trundle.catalog._snapshot import Snapshot

__all__ = [
    "Catalog",
    "CatalogError",
    "Change",
    "DamagedContentError",
    "InvalidTenantError",
    "NoSuchPackageError",
    "Offer",
    "RefusedError",
    "Snapshot",
    "StillNeededError",
    "Upload",
]
