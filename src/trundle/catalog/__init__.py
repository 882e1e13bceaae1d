"""The packages of tenants, side by side in all versions: uploaded, shared, looked up, deleted; and the channels that tenants follow.

`Catalog` keeps them in a database, and gives immutable snapshots of what a tenant sees.
"""

from typing import TYPE_CHECKING

from trundle._faces import on_demand

if TYPE_CHECKING:
    from trundle.catalog._catalog import Catalog
    from trundle.catalog._channel_reading import verified_again
    from trundle.catalog._channel_records import (
        ChannelProblem,
        ChannelRelease,
        ChannelState,
        FollowedChannel,
        FoundChannels,
        SignedFile,
        WithdrawnRelease,
    )
    from trundle.catalog._channel_rows import ChannelKey
    from trundle.catalog._channels import Channels
    from trundle.catalog._errors import (
        BrokenRuleError,
        CatalogCode,
        CatalogError,
        ChannelFollowedError,
        DamagedContentError,
        InvalidTenantError,
        NoSuchChannelError,
        NoSuchPackageError,
        ReviewOutdatedError,
        ServerError,
        StillNeededError,
    )
    from trundle.catalog._kept_files import KeptFiles
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
    from trundle.catalog._server_channels import ServerChannels
    from trundle.catalog._snapshot import Snapshot

__all__ = [
    "BrokenRuleError",
    "Catalog",
    "CatalogCode",
    "CatalogError",
    "CatalogServer",
    "ChannelFollowedError",
    "ChannelKey",
    "ChannelProblem",
    "ChannelRelease",
    "ChannelState",
    "Channels",
    "Consumer",
    "DamagedContentError",
    "FollowedChannel",
    "FoundChannels",
    "FoundPackages",
    "InvalidTenantError",
    "KeptFiles",
    "NoSuchChannelError",
    "NoSuchPackageError",
    "Offer",
    "Review",
    "ReviewOutdatedError",
    "Reviewed",
    "ServerChannels",
    "ServerError",
    "SignedFile",
    "Snapshot",
    "StillNeededError",
    "Upload",
    "VersionChange",
    "WithdrawnRelease",
    "verified_again",
]

on_demand(__name__)
