"""The `index.json` of an image layout: which manifests have which tags."""

from pathlib import Path
from typing import Any

import msgspec

from trundle.registry._model import OCI_INDEX, Descriptor, check_descriptor
from trundle.registry.errors import InvalidManifestError

REF_NAME = "org.opencontainers.image.ref.name"
"""The annotation by which an entry has a tag, from the image layout specification."""


class LayoutIndex:
    """The entries of an `index.json`; what other tools wrote into it besides is carried along."""

    def __init__(self, document: dict[str, Any], where: str) -> None:
        self._document = document
        self._entries: list[dict[str, Any]] = document["manifests"]
        self._where = where

    @classmethod
    def read(cls, path: Path) -> "LayoutIndex":
        """Reads the file; a layout without one is empty.

        Raises:
            InvalidManifestError: it is no index.
        """
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            empty = {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": []}
            return cls(empty, str(path))
        try:
            document = msgspec.json.decode(content)
            entries = document["manifests"]
            sound = isinstance(entries, list) and all(isinstance(each, dict) for each in entries)
        except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError, RecursionError):
            sound = False
        if not sound:
            raise InvalidManifestError(
                str(path),
                "the index of an OCI image layout",
                "something else",
                "restore the file, or copy the packages into a new folder",
            )
        return cls(document, str(path))

    def content(self) -> bytes:
        """The file's content."""
        return msgspec.json.encode(self._document)

    def tags(self) -> dict[str, Descriptor]:
        """What each tag points to, in alphabetical order."""
        named = ((self._name(entry), entry) for entry in self._entries)
        found = {name: entry for name, entry in named if name is not None}
        return {name: self._descriptor(found[name]) for name in sorted(found)}

    def find(self, tag: str) -> Descriptor | None:
        """What a tag points to."""
        # The last entry counts where another tool wrote several.
        for entry in reversed(self._entries):
            if self._name(entry) == tag:
                return self._descriptor(entry)
        return None

    def roots(self) -> dict[str | None, list[Descriptor]]:
        """All entries by their tag; those without one under `None`."""
        found: dict[str | None, list[Descriptor]] = {}
        for entry in self._entries:
            found.setdefault(self._name(entry), []).append(self._descriptor(entry))
        return found

    def set(self, tag: str, descriptor: Descriptor) -> None:
        """Points a tag to a manifest."""
        self.remove_tag(tag)
        entry = {
            "mediaType": descriptor.media_type,
            "digest": descriptor.digest,
            "size": descriptor.size,
            "annotations": {REF_NAME: tag},
        }
        self._entries.append(entry)

    def remove_tag(self, tag: str) -> None:
        """Removes the entries of a tag."""
        self._entries[:] = [each for each in self._entries if self._name(each) != tag]

    def remove_digest(self, digest: str) -> None:
        """Removes the entries of a manifest."""
        self._entries[:] = [each for each in self._entries if each.get("digest") != digest]

    @staticmethod
    def _name(entry: dict[str, Any]) -> str | None:
        annotations = entry.get("annotations")
        name = annotations.get(REF_NAME) if isinstance(annotations, dict) else None
        return name if isinstance(name, str) else None

    def _descriptor(self, entry: dict[str, Any]) -> Descriptor:
        try:
            descriptor = msgspec.convert(entry, Descriptor)
        except msgspec.ValidationError as error:
            raise InvalidManifestError(
                self._where, "an entry with a descriptor", str(error), "correct the file"
            ) from None
        check_descriptor(descriptor, self._where)
        return Descriptor(
            media_type=descriptor.media_type, digest=descriptor.digest, size=descriptor.size
        )
