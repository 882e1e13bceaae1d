"""The places that a channel is read from; each gives files by name, in pieces, and never more than is allowed."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from trundle.channels._refusals import RefusalCode, RefusedError, refusal
from trundle.channels.files import LONGEST_ALL, is_channel_word
from trundle.channels.reading._names import CHANNEL_ARTIFACT, channel_tag
from trundle.errors import Finding
from trundle.registry import (
    Descriptor,
    DigestMismatchError,
    HttpSettings,
    ImageManifest,
    InvalidManifestError,
    NotFoundError,
    Reference,
    Repository,
    StorageError,
    StoredManifest,
    TooLargeError,
    fetch_file,
    open_repository,
    require_url,
)

TITLE = "org.opencontainers.image.title"
"""The annotation that says which file a layer is."""

_PIECE = 64 * 1024
_REPAIR = "ask the publisher to repair the channel"


class ChannelSource(Protocol):
    """Where the files of one channel are read from."""

    @property
    def location(self) -> str:
        """The full name of the channel: what messages call it, and by what its trust is remembered."""

    def read(self, name: str) -> Iterator[bytes]:
        """Reads a file: `latest`, `all`, or metadata. The last part of a signed name is enough.

        Raises:
            FileNotFoundError: there is no such file.
            TooLargeError: it has more bytes than any file of a channel may have.
            UnreachableError: the place does not answer.
            StorageError: a folder cannot be read.
        """

    def renewed(self) -> "ChannelSource | None":
        """The channel as it is now; None where it is still the same, so that to read it again leads to the same.

        Raises:
            RefusedError: the channel is gone.
            RegistryError: the place cannot be read.
        """


class RepositorySource:
    """A channel in the repository of its package, as it was when this was opened; nothing that comes later is seen.

    Attributes:
        manifest: the state of the channel.
    """

    def __init__(self, repository: Repository, word: str) -> None:
        """Looks up the channel's present state.

        Raises:
            RefusedError: it is no channel name, or there is no such channel.
            InvalidManifestError: the channel's tag is on something else.
            RegistryError: anything else that the registry raises.
        """
        tag = channel_tag(word)
        self._repository = repository
        self._word = word
        self._location = f"{repository.location}:{tag}"
        try:
            with _for_readers(f"the manifest of {tag}"):
                self.manifest: StoredManifest = repository.get_manifest(tag)
        except NotFoundError:
            raise RefusedError(_no_channel(self._location)) from None
        document = self.manifest.document
        if not isinstance(document, ImageManifest) or document.artifact_type != CHANNEL_ARTIFACT:
            raise InvalidManifestError(
                self._location,
                f"a manifest of a channel, {CHANNEL_ARTIFACT}",
                f"one for {document.artifact_type}",
                f"another tool has set this tag; {_REPAIR}",
            )
        self._files = {each.annotations.get(TITLE, ""): each for each in document.layers}

    @property
    def location(self) -> str:
        """The repository and the channel's tag."""
        return self._location

    @property
    def files(self) -> dict[str, Descriptor]:
        """The channel's files by name."""
        return dict(self._files)

    def read(self, name: str) -> Iterator[bytes]:
        """Reads a file, verified against the digest in the channel's manifest."""
        descriptor = self._files.get(_last(name))
        if descriptor is None:
            raise FileNotFoundError(f"{self._location}: {name}")
        with _for_readers(f"the channel's file {_last(name)}"):
            content = self._repository.read_blob(descriptor, limit=LONGEST_ALL)
        yield from (content[at : at + _PIECE] for at in range(0, len(content), _PIECE))

    def renewed(self) -> "RepositorySource | None":
        """The channel's present state; None where it is still this one."""
        present = RepositorySource(self._repository, self._word)
        same = present.manifest.descriptor.digest == self.manifest.descriptor.digest
        return None if same else present


class FolderSource:
    """A channel as static files in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def location(self) -> str:
        """The folder."""
        return str(self._folder.absolute())

    def read(self, name: str) -> Iterator[bytes]:
        """Reads a file."""
        path = self._folder / _last(name)
        try:
            with path.open("rb") as file:
                pieces = iter(lambda: file.read(_PIECE), b"")
                yield from _bounded(pieces, str(path))
        except FileNotFoundError:
            raise
        except OSError as error:
            found = error.strerror or str(error)
            raise StorageError(
                str(path), "a channel's file", found, "see that it can be read"
            ) from None

    def renewed(self) -> "FolderSource":
        """The same folder, whose files may be others each time."""
        return self


class WebSource:
    """A channel as static files at a web server."""

    def __init__(self, url: str, settings: HttpSettings | None = None) -> None:
        self._url = url.rstrip("/")
        self._settings = settings

    @property
    def location(self) -> str:
        """The URL, without a slash at its end."""
        return self._url

    def read(self, name: str) -> Iterator[bytes]:
        """Fetches a file; a transfer that breaks off is an error, never a shorter file."""
        url = f"{self._url}/{quote(_last(name))}"
        yield from _bounded(fetch_file(url, settings=self._settings), url)

    def renewed(self) -> "WebSource":
        """The same address, where files may be others each time."""
        return self


def open_channel(
    channel: str,
    repository: Repository | Reference | str | None = None,
    *,
    settings: HttpSettings | None = None,
) -> ChannelSource:
    """Opens a channel by what a user calls it.

    Args:
        channel: a name such as `stable`, for a channel in the repository; or a URL (`http://`, `https://`) or a
            folder with its static files.
        repository: the repository of the package; needed with a name only.
        settings: times and sizes for servers over HTTP.

    Raises:
        RefusedError: there is no such channel, or a name stands without a repository.
        InvalidServerUrlError: it begins like a URL, and is none.
        RegistryError: the registry cannot be read.
    """
    if channel.startswith(("http://", "https://")):
        require_url(channel, channel)
        return WebSource(channel, settings)
    if is_channel_word(channel) and repository is not None:
        if isinstance(repository, Reference | str):
            repository = open_repository(repository, settings=settings)
        try:
            return RepositorySource(repository, channel)
        except RefusedError as error:
            if not Path(channel).is_dir():
                raise
            (finding,) = error.refusals
            advice = f"write ./{channel} for the folder of that name, or correct the channel name"
            raise RefusedError(replace(finding, advice=advice)) from None
    folder = Path(channel)
    if folder.is_dir():
        return FolderSource(folder)
    if is_channel_word(channel):
        advice = "name the repository of the package, or give the channel's URL or folder"
        code = RefusalCode.CHANNEL_NOT_FOUND
        raise RefusedError(refusal(code, f"the channel {channel}", "a repository", "none", advice))
    if "/" in channel:
        raise RefusedError(_no_channel(channel))
    channel_tag(channel)
    raise AssertionError(channel)


def read_whole(source: ChannelSource, name: str) -> bytes | None:
    """A file of a channel in memory; None where there is none. Errors are those of `ChannelSource.read`."""
    try:
        return b"".join(source.read(name))
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def _for_readers(expected: str) -> Iterator[None]:
    """Says of content that is gone or damaged what it was, and what a reader of a channel can do about it."""
    try:
        yield
    except (DigestMismatchError, NotFoundError) as error:
        found = error.found if isinstance(error, NotFoundError) else "other content"
        raise type(error)(error.where, expected, found, _REPAIR) from error


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _no_channel(where: str) -> Finding:
    advice = "check the address and the channel name; publishing creates a channel"
    code = RefusalCode.CHANNEL_NOT_FOUND
    return refusal(code, where, "a channel", "none", advice)


def _bounded(pieces: Iterable[bytes], where: str) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > LONGEST_ALL:
            expected, found = f"at most {LONGEST_ALL} bytes", "more"
            raise TooLargeError(where, expected, found, "do not use this channel")
        yield piece
