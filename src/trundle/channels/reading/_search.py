"""Looks for packages in a registry: which repositories have channels, and what these offer."""

from collections.abc import Iterator
from typing import Any

import msgspec

from trundle.channels._refusals import RefusedError
from trundle.channels.files import ChannelFileError, Latest, is_channel_word, read_latest
from trundle.channels.reading._names import CHANNEL_PREFIX
from trundle.channels.reading._sources import RepositorySource, read_whole
from trundle.registry import (
    InvalidManifestError,
    NotFoundError,
    Registry,
    Repository,
)

DESCRIPTION = "org.opencontainers.image.description"
"""The annotation with the description of a package, from the image specification."""


class FoundChannel(msgspec.Struct, frozen=True):
    """What a channel in a registry offers; nothing of it is verified.

    Attributes:
        repository: the reference of the repository.
        latest: what the channel says.
        description: what the latest version says of the package; may be empty.
    """

    repository: str
    latest: Latest
    description: str = ""

    def to_plain(self) -> dict[str, Any]:
        """The offer as plain values, for programs."""
        latest = self.latest
        return {
            "package": latest.package,
            "channel": latest.name,
            "latest": str(latest.latest.version) if latest.latest else "",
            "repository": self.repository,
            "description": self.description,
        }


def search(registry: Registry, words: str = "") -> Iterator[FoundChannel]:
    """Finds channels, by the names of their packages and what these say of themselves.

    A repository without channels, and a channel that cannot be read, are passed over.

    Args:
        registry: where to look.
        words: all of these have to be in the repository, the package or the description; letter case does not matter.

    Raises:
        RegistryError: the registry cannot be read, or does not list its repositories.
    """
    wanted = words.lower().split()
    for name in registry.repositories():
        repository = registry.repository(name)
        for latest in offered(repository):
            offer = FoundChannel(repository.location, latest, _description(repository, latest))
            text = f"{offer.repository} {offer.latest.package} {offer.description}".lower()
            if all(each in text for each in wanted):
                yield offer


def offered(repository: Repository) -> Iterator[Latest]:
    """What the channels in a repository offer, not verified; a channel that cannot be read is passed over.

    Raises:
        RegistryError: the repository cannot be read.
    """
    for tag in repository.tags():
        word = tag.removeprefix(CHANNEL_PREFIX)
        if word == tag or not is_channel_word(word):
            continue
        try:
            source = RepositorySource(repository, word)
            yield read_latest(read_whole(source, "latest") or b"", source.location).latest
        except (ChannelFileError, InvalidManifestError, NotFoundError, RefusedError):
            continue


def _description(repository: Repository, latest: Latest) -> str:
    if latest.latest is None:
        return ""
    try:
        manifest = repository.get_manifest(latest.latest.digest or latest.latest.tag_name)
        return " ".join(manifest.document.annotations.get(DESCRIPTION, "").split())
    except (InvalidManifestError, NotFoundError):
        return ""
