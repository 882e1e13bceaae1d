"""The names that a channel's parts go by in a registry and under its signatures."""

import hashlib
import re

from trundle.channels.files import check_channel_word

CHANNEL_ARTIFACT = "application/vnd.trundle.channel.v1"
"""The artifact type of a state of a channel."""

CHANNEL_PREFIX = "channel."
"""What the tags of channels begin with."""

OPERATIONS = "operations"
"""The file of a signed channel that lists by name all operations that it is made of."""

_METADATA = re.compile(r"(?:[1-9][0-9]{0,8}\.root|targets|snapshot|timestamp)\.json")
_LONGEST_LEDGER = 32
_KEPT = 15


def channel_tag(word: str) -> str:
    """The tag on which a channel lives; version tags begin with a digit, so it is none of those.

    Raises:
        RefusedError: it is no channel name.
    """
    return f"{CHANNEL_PREFIX}{check_channel_word(word)}"


def ledger_name(word: str) -> str:
    """The name of the ledger that keeps a channel's operations: the channel name, or something short for a long one."""
    if len(word) <= _LONGEST_LEDGER:
        return word
    return f"{word[:_KEPT]}-{hashlib.sha256(word.encode()).hexdigest()[:16]}"


def signed_name(package: str, word: str, file: str) -> str:
    """The name under which a channel's file is signed, so that no other channel's file can stand in for it."""
    return f"{package}/{word}/{file}"


def is_metadata_name(name: str) -> bool:
    """Whether a file of a channel is metadata that vouches for the others."""
    return _METADATA.fullmatch(name) is not None
