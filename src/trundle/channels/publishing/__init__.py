"""Publishing: versions go into a channel and out of it, and nothing is lost when several publish at the same time.

All changes are operations in a ledger at the package's repository. A channel shows their result, signed where
there are keys. The rules are in `channels.transitions`; here is what touches the registry.
"""

from trundle.channels.publishing._artifact import PackedArtifact, packed
from trundle.channels.publishing._changes import deprecate, promote, refresh, restore, unpublish
from trundle.channels.publishing._channel import Committed, Decide, PublishedChannel
from trundle.channels.publishing._export import export
from trundle.channels.publishing._keys import (
    Ask,
    KeyFolder,
    KeysExistError,
    MadeKeys,
    Role,
    make_keys,
    renew_root,
    replace_key,
)
from trundle.channels.publishing._log import ChannelEvent, events
from trundle.channels.publishing._mirror import Mirrored, mirror
from trundle.channels.publishing._publish import Published, PublishRequest, Review, publish
from trundle.channels.publishing._repair import Repair, repair
from trundle.channels.publishing._signing import ChannelSigner, Shown

__all__ = [
    "Ask",
    "ChannelEvent",
    "ChannelSigner",
    "Committed",
    "Decide",
    "KeyFolder",
    "KeysExistError",
    "MadeKeys",
    "Mirrored",
    "PackedArtifact",
    "PublishRequest",
    "Published",
    "PublishedChannel",
    "Repair",
    "Review",
    "Role",
    "Shown",
    "deprecate",
    "events",
    "export",
    "make_keys",
    "mirror",
    "packed",
    "promote",
    "publish",
    "refresh",
    "renew_root",
    "repair",
    "replace_key",
    "restore",
    "unpublish",
]
