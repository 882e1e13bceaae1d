"""Reading a channel: in the package's repository, in a folder, or at a web server; verified where it is signed.

In a repository a channel is the tag `channel.<name>` on a manifest whose layers are its files. One manifest is one
state of the channel, so a reader sees the old or the new one and nothing in between.

What verifies and makes signatures is in `trundle.channels.reading.signatures`, which needs an extra.
"""

from trundle.channels.reading._channel import (
    ServedChannel,
    has_signatures,
    read_channel,
    reading_again,
    refusal_of_trust,
)
from trundle.channels.reading._names import (
    CHANNEL_ARTIFACT,
    OPERATIONS,
    channel_tag,
    is_metadata_name,
    ledger_name,
    signed_name,
)
from trundle.channels.reading._search import FoundChannel, offered, search
from trundle.channels.reading._sources import (
    TITLE,
    ChannelSource,
    FolderSource,
    RepositorySource,
    WebSource,
    open_channel,
    read_whole,
)
from trundle.channels.reading._subscription import Subscription

__all__ = [
    "CHANNEL_ARTIFACT",
    "OPERATIONS",
    "TITLE",
    "ChannelSource",
    "FolderSource",
    "FoundChannel",
    "RepositorySource",
    "ServedChannel",
    "Subscription",
    "WebSource",
    "channel_tag",
    "has_signatures",
    "is_metadata_name",
    "ledger_name",
    "offered",
    "open_channel",
    "read_channel",
    "read_whole",
    "reading_again",
    "refusal_of_trust",
    "search",
    "signed_name",
]
