"""The head of a channel for its publishers: the state that it shows, read and verified, and new states pushed."""

import contextlib
import dataclasses
import shlex
from collections.abc import Iterable, Mapping

from trundle.channels._refusals import RefusalCode, RefusedError, refusal
from trundle.channels.files import ChannelFileError
from trundle.channels.publishing._signing import (
    SEEN_ANNOTATION,
    ChannelSigner,
    Shown,
    is_signed,
    read_shown,
)
from trundle.channels.reading import CHANNEL_ARTIFACT, TITLE, RepositorySource, channel_tag
from trundle.errors import Finding, Kind, expectation
from trundle.registry import (
    EMPTY,
    EMPTY_DESCRIPTOR,
    MARK_ANNOTATION,
    OCI_MANIFEST,
    Descriptor,
    DigestMismatchError,
    ImageManifest,
    InvalidManifestError,
    NotFoundError,
    Repository,
    TooLargeError,
    describe,
    encode,
)

_UNREADABLE = (DigestMismatchError, InvalidManifestError, NotFoundError, TooLargeError)
"""The errors of content that is gone or damaged."""

_DAMAGES = frozenset(
    {
        RefusalCode.BAD_SIGNATURE,
        RefusalCode.CONTENT_MISMATCH,
        RefusalCode.CONTENT_MISSING,
        RefusalCode.INCONSISTENT_FILE,
        RefusalCode.INVALID_FILE,
        RefusalCode.STALE_METADATA,
        RefusalCode.UNSIGNED_CHANNEL,
    }
)
"""The refusals of a signed head that a rebuilt one replaces."""

_FIRST_ADVICE = {
    RefusalCode.BAD_SIGNATURE: "check that these are the keys of the channel",
    RefusalCode.STALE_METADATA: "find out who changed it, or which cache serves an old state",
}

_FILE_TYPE = "application/vnd.trundle.channel.file.v1+json"
_METADATA_TYPE = "application/vnd.trundle.channel.metadata.v1+json"
_LOOKS = 20


class DamagedHeadError(RefusedError):
    """A head that is gone, cannot be read, is badly signed, or is older than a state that was seen.

    Nothing can be built on it until `repair` replaces it.

    Attributes:
        kind: what the damage means for the caller.
    """

    def __init__(self, kind: Kind, findings: Iterable[Finding], command: str) -> None:
        super().__init__(*(_with_repair(each, command) for each in findings))
        self.kind = kind

    @property
    def damage(self) -> str:
        """What is wrong with it, without advice."""
        said = (f"{each.where}: {expectation(each.expected, each.found)}" for each in self.findings)
        return "; ".join(said)


def _with_repair(finding: Finding, command: str) -> Finding:
    first = _FIRST_ADVICE.get(finding.code, "")  # type: ignore[call-overload]
    advice = "; ".join(
        filter(None, (first, f"to rebuild the channel from its ledger, run: {command}"))
    )
    return dataclasses.replace(finding, advice=advice)


class ChannelHead:
    """The tag on which a channel lives.

    Args:
        repository: the repository of the package.
        word: the name of the channel.
        package: the expected package; the package in the channel's files where None.
        signer: verifies the channel; None for one without signatures.
    """

    def __init__(
        self,
        repository: Repository,
        word: str,
        *,
        package: str | None,
        signer: ChannelSigner | None,
    ) -> None:
        self.repository = repository
        self.word = word
        self.tag = channel_tag(word)
        self.location = f"{repository.location}:{self.tag}"
        self.signer = signer
        self._package = package
        self._verified_head: tuple[str, Shown] | None = None

    def shown(self) -> Shown | None:
        """What the channel shows, verified; None where it shows nothing yet.

        Raises:
            DamagedHeadError: nothing can be built on it, but it can be replaced.
            RefusedError: it is signed while there are no keys, or is that of another package.
            RegistryError: anything else that the registry raises.
        """
        try:
            return self._shown()
        except RefusedError as error:
            if self.signer is None or error.code not in _DAMAGES:
                raise
            raise DamagedHeadError(error.kind, error.refusals, self.repair_command) from error
        except ChannelFileError as error:
            raise DamagedHeadError(error.kind, error.refusals, self.repair_command) from error
        except _UNREADABLE as error:
            raise DamagedHeadError(error.kind, error.findings, self.repair_command) from error

    @property
    def repair_command(self) -> str:
        """The command that replaces a damaged head."""
        where = shlex.quote(self.repository.location)
        keys = f" --keys {shlex.quote(str(self.signer.keys.path))}" if self.signer else ""
        return f"trundle channel repair {where} --channel {self.word}{keys}"

    def _shown(self) -> Shown | None:
        for _ in range(_LOOKS):
            source = self.source()
            try:
                return self._verified(source)
            except (NotFoundError, RefusedError) as error:
                refused = error
                if not self._has_moved(source):
                    raise
        raise refused

    def push(
        self,
        files: Mapping[str, bytes],
        metadata: Mapping[str, bytes],
        mark: str,
        seen: int | None,
    ) -> str:
        """Pushes a state of the channel, and returns the digest of its manifest; the tag is not set.

        Args:
            files: the channel's files by name.
            metadata: what vouches for them; empty where the channel is not signed.
            mark: stands for the entries of the ledger that are shown.
            seen: as `Shown` has it.
        """
        layers = []
        self.repository.put_blob(EMPTY, EMPTY_DESCRIPTOR)
        kinds = [(files, _FILE_TYPE), (dict(sorted(metadata.items())), _METADATA_TYPE)]
        for group, kind in kinds:
            for name, content in group.items():
                layer = describe(content, kind, annotations={TITLE: name})
                self.repository.put_blob(content, layer)
                layers.append(layer)
        manifest = ImageManifest(
            schema_version=2,
            media_type=OCI_MANIFEST,
            artifact_type=CHANNEL_ARTIFACT,
            config=EMPTY_DESCRIPTOR,
            layers=tuple(layers),
            annotations={MARK_ANNOTATION: mark}
            | ({} if seen is None else {SEEN_ANNOTATION: str(seen)}),
        )
        return self.repository.put_manifest(encode(manifest), OCI_MANIFEST).digest

    def content(self, digest: str, length: int) -> bytes | None:
        """A file of an earlier head, which the registry keeps until it collects its garbage."""
        found = Descriptor(media_type=_FILE_TYPE, digest=f"sha256:{digest}", size=length)
        try:
            return self.repository.read_blob(found, limit=length)
        except _UNREADABLE:
            return None

    def _verified(self, source: RepositorySource | None) -> Shown | None:
        if source is None:
            if self.signer:
                self.signer.refuse_if_seen(self.location, "no channel")
            return None
        head = source.manifest.descriptor.digest
        if self._verified_head and self._verified_head[0] == head:
            return self._verified_head[1]
        shown = self._verified_anew(source)
        self._verified_head = (head, shown)
        return shown

    def _verified_anew(self, source: RepositorySource) -> Shown:
        shown = read_shown(source)
        if self._package is not None and shown.package != self._package:
            expected, advice = f"the package {self._package}", "publish it to its own repository"
            code = RefusalCode.WRONG_PACKAGE
            raise RefusedError(refusal(code, self.location, expected, shown.package, advice))
        if is_signed(shown):
            if self.signer is None:
                advice = "give the publisher's keys with --keys"
                code = RefusalCode.BAD_SIGNATURE
                expected = "the keys of this signed channel"
                raise RefusedError(refusal(code, self.location, expected, "none", advice))
            return self.signer.verify(source, shown)
        if self.signer:
            self.signer.refuse_if_seen(self.location, "one without signatures")
        return shown

    def _has_moved(self, source: RepositorySource | None) -> bool:
        """Whether others changed the channel since, so that what they remember of it is newer than what was read."""
        before = source.manifest.descriptor.digest if source else None
        try:
            return self.repository.resolve(self.tag).digest != before
        except NotFoundError:
            return before is not None

    def source(self) -> RepositorySource | None:
        """The present head; None where there is none.

        Raises:
            NotFoundError: the tag is there, but its manifest is not.
        """
        for _ in range(_LOOKS):
            with contextlib.suppress(RefusedError):
                return RepositorySource(self.repository, self.word)
            try:
                found = self.repository.resolve(self.tag)
            except NotFoundError:
                return None
            if not self.repository.has_manifest(found.digest):
                break
            # The tag was set between the two looks: another publisher has just made the channel.
        expected = f"the manifest {found.digest} of the channel"
        raise NotFoundError(self.location, expected, "none", "")
