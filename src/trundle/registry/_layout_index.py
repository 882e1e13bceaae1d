"""The `index.json` of an image layout: which manifests have which tags."""

import bisect
from typing import Any

import msgspec

from trundle.registry._interface import is_internal
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
        self._named: dict[str, dict[str, Any]] | None = None
        self._twice = False
        self._names: dict[bool, list[str]] = {}

    @classmethod
    def empty(cls, where: str) -> "LayoutIndex":
        """The index of a layout that has no file yet."""
        return cls({"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": []}, where)

    @classmethod
    def parse(cls, content: bytes, where: str) -> "LayoutIndex":
        """Reads the content of the file.

        Raises:
            InvalidManifestError: it is no index.
        """
        try:
            document = msgspec.json.decode(content)
            entries = document["manifests"]
            sound = isinstance(entries, list) and all(isinstance(each, dict) for each in entries)
        except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError, RecursionError):
            sound = False
        if not sound:
            raise InvalidManifestError(
                where,
                "the index of an OCI image layout",
                "something else",
                "restore the file, or copy the packages into a new folder",
            )
        return cls(document, where)

    def copy(self) -> "LayoutIndex":
        """The same index, to be changed."""
        document = {**self._document, "manifests": list(self._entries)}
        made = LayoutIndex(document, self._where)
        made._named = dict(self._by_name())
        made._twice = self._twice
        made._names = dict(self._names)
        return made

    def content(self) -> bytes:
        """The file's content."""
        return msgspec.json.encode(self._document)

    def names(self, *, internal: bool) -> list[str]:
        """The tags in alphabetical order: those of releases, or the others (`is_internal`)."""
        if not self._names:
            self._names = {False: [], True: []}
            for name in sorted(self._by_name()):
                self._names[is_internal(name)].append(name)
        return list(self._names[internal])

    def find(self, tag: str) -> Descriptor | None:
        """What a tag points to."""
        entry = self._by_name().get(tag)
        return None if entry is None else self._descriptor(entry)

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
        self._by_name()[tag] = entry
        if self._names:
            names = list(self._names[is_internal(tag)])
            bisect.insort(names, tag)
            self._names = {**self._names, is_internal(tag): names}

    def remove_tag(self, tag: str) -> None:
        """Removes the entries of a tag."""
        entry = self._by_name().pop(tag, None)
        if entry is None:
            return
        if self._names:
            names = [each for each in self._names[is_internal(tag)] if each != tag]
            self._names = {**self._names, is_internal(tag): names}
        if self._twice:  # Another tool wrote several entries of one tag.
            self._entries[:] = [each for each in self._entries if self._name(each) != tag]
        else:
            self._entries[:] = [each for each in self._entries if each is not entry]

    def _by_name(self) -> dict[str, dict[str, Any]]:
        """The entries by their tags; the last one counts where another tool wrote several."""
        if self._named is None:
            pairs = [(self._name(each), each) for each in self._entries]
            named = [(name, each) for name, each in pairs if name is not None]
            self._named = dict(named)
            self._twice = len(self._named) < len(named)
        return self._named

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
