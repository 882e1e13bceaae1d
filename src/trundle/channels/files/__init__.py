"""Channel files: what a channel holds, the rules that it keeps, and its two files read and written."""

from trundle.channels.files._fields import ChannelFileError
from trundle.channels.files._model import (
    LONGEST_TAG,
    SCHEMA_VERSION,
    STABLE,
    Channel,
    Latest,
    ListedVersion,
    Tombstone,
    belongs,
    check_channel_word,
    id_of,
    is_channel_word,
    is_digest,
    latest_of,
    membership,
    tag_of,
)
from trundle.channels.files._reading import (
    LONGEST_ALL,
    LONGEST_LATEST,
    ChannelFile,
    LatestFile,
    entry_from_json,
    read_all,
    read_latest,
    reopen_all,
)
from trundle.channels.files._rows import Rows, Versioned
from trundle.channels.files._rules import check_channel, check_latest, check_pair
from trundle.channels.files._writing import entry_to_plain, write_all, write_latest

__all__ = [
    "LONGEST_ALL",
    "LONGEST_LATEST",
    "LONGEST_TAG",
    "SCHEMA_VERSION",
    "STABLE",
    "Channel",
    "ChannelFile",
    "ChannelFileError",
    "Latest",
    "LatestFile",
    "ListedVersion",
    "Rows",
    "Tombstone",
    "Versioned",
    "belongs",
    "check_channel",
    "check_channel_word",
    "check_latest",
    "check_pair",
    "entry_from_json",
    "entry_to_plain",
    "id_of",
    "is_channel_word",
    "is_digest",
    "latest_of",
    "membership",
    "read_all",
    "read_latest",
    "reopen_all",
    "tag_of",
    "write_all",
    "write_latest",
]
