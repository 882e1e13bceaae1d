"""Where channels live, and reading them: in the package's repository, in a folder, or at a web server.

In a repository a channel is the tag `channel.<word>` on a manifest whose layers are its files. One manifest is one
state of the channel, so a reader sees the old or the new one and nothing in between.
"""

from trundle.channels.serving._believing import (
    ServedChannel,
    has_signatures,
    read_channel,
    refusal_of_trust,
)
from trundle.channels.serving._names import (
    CHANNEL_ARTIFACT,
    OPERATIONS,
    channel_tag,
    is_metadata_name,
    ledger_name,
    signed_name,
)
from trundle.channels.serving._sources import (
    TITLE,
    ChannelSource,
    FolderSource,
    RepositorySource,
    WebSource,
    open_channel,
    read_whole,
)

__all__ = [
    "CHANNEL_ARTIFACT",
    "OPERATIONS",
    "TITLE",
    "ChannelSource",
    "FolderSource",
    "RepositorySource",
    "ServedChannel",
    "WebSource",
    "channel_tag",
    "has_signatures",
    "is_metadata_name",
    "ledger_name",
    "open_channel",
    "read_channel",
    "read_whole",
    "refusal_of_trust",
    "signed_name",
]
