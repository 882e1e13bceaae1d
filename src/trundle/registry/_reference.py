"""Reads and writes the names that content in a registry goes by."""

import re

import msgspec

from trundle.registry._model import is_digest
from trundle.registry.errors import InvalidReferenceError

LAYOUT_PREFIX = "oci:"
"""What the name of a registry in a folder begins with."""

_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REPOSITORY = re.compile(rf"{_COMPONENT}(?:/{_COMPONENT})*")
_HOST = re.compile(r"(?:https?://)?(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::[0-9]{1,5})?")
_LONGEST_REPOSITORY = 255
_FORMS = "oci:DIR:TAG, oci:DIR//NAME:TAG, HOST/NAME:TAG or any of them with @sha256:..."


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """Names a repository, or in it a tag, a digest or both.

    Attributes:
        registry: `oci:DIR`, or a host with its port; `http://` or `https://` before it where that was said.
        repository: the repository's name; empty for the folder that is itself an image layout.
        tag: the tag.
        digest: the digest; where there is one it decides, and the tag is for people.
    """

    registry: str
    repository: str
    tag: str | None = None
    digest: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Reference":
        """Reads a reference.

        `oci:DIR` is one image layout, as `skopeo` has it; `oci:DIR//NAME` is the repository `NAME` below the
        folder `DIR`, which for any other tool is the same folder. A name without a host is refused: there is no
        registry that goes without saying.

        Raises:
            InvalidReferenceError: the text is none of these.
        """
        rest, digest = _split_digest(text)
        if rest.startswith(LAYOUT_PREFIX):
            registry, repository, tag = _parse_layout(text, rest)
        else:
            registry, repository, tag = _parse_remote(text, rest)
        if tag is not None:
            check_tag(tag, text)
        return cls(registry=registry, repository=repository, tag=tag, digest=digest)

    def __str__(self) -> str:
        """The reference as `parse` reads it."""
        if not self.repository:
            name = self.registry
        elif self.registry.startswith(LAYOUT_PREFIX):
            name = f"{self.registry}//{self.repository}"
        else:
            name = f"{self.registry}/{self.repository}"
        tag = "" if self.tag is None else f":{self.tag}"
        digest = "" if self.digest is None else f"@{self.digest}"
        return name + tag + digest


def tag_for(version: str) -> str:
    """The tag of a version: `+` is not allowed in tags and is written `_`, which no version contains."""
    return version.replace("+", "_")


def version_of(tag: str) -> str:
    """The version of a tag that `tag_for` made."""
    return tag.replace("_", "+")


def check_tag(tag: str, where: str) -> None:
    """Refuses what cannot be a tag.

    Raises:
        InvalidReferenceError: it has other characters, or more than 128.
    """
    if not _TAG.fullmatch(tag):
        advice = "write `_` for `+`" if "+" in tag else "choose another tag"
        raise InvalidReferenceError(
            where, "a tag of at most 128 letters, digits, `_`, `.` and `-`", repr(tag), advice
        )


def check_repository(name: str, where: str) -> None:
    """Refuses what cannot be the name of a repository.

    Raises:
        InvalidReferenceError: it is not lower-case words with `/` between them, or is too long.
    """
    if not _REPOSITORY.fullmatch(name) or len(name) > _LONGEST_REPOSITORY:
        raise InvalidReferenceError(
            where,
            "a repository such as acme/crm: lower-case words of letters and digits",
            repr(name),
            "choose another name",
        )


def _split_digest(text: str) -> tuple[str, str | None]:
    head, at, digest = text.rpartition("@")
    if not at:
        return text, None
    if is_digest(digest):
        return head, digest
    if ":" in digest and "/" not in digest:
        raise InvalidReferenceError(
            text,
            "a digest: sha256: and 64 hexadecimal digits",
            repr(digest),
            "correct the digest",
        )
    return text, None


def _parse_layout(text: str, rest: str) -> tuple[str, str, str | None]:
    path, tag = _split_tag(rest.removeprefix(LAYOUT_PREFIX))
    folder, separator, repository = path.rpartition("//")
    if not separator:
        folder, repository = path, ""
    elif repository:
        check_repository(repository, text)
    if not folder:
        raise InvalidReferenceError(text, _FORMS, "no folder", "name the folder after oci:")
    return f"{LAYOUT_PREFIX}{folder.rstrip('/') or '/'}", repository, tag


def _parse_remote(text: str, rest: str) -> tuple[str, str, str | None]:
    scheme, separator, without = rest.rpartition("://")
    host, slash, path = without.partition("/")
    registry = f"{scheme}{separator}{host}"
    if not slash or not _HOST.fullmatch(registry) or not _names_host(host):
        raise InvalidReferenceError(
            text,
            _FORMS,
            "no registry in it",
            "write the host of the registry first, or `oci:` for a folder",
        )
    repository, tag = _split_tag(path)
    check_repository(repository, text)
    return registry, repository, tag


def _names_host(text: str) -> bool:
    """Whether a first component is a host and not part of a repository's name, by Docker's rule."""
    return "." in text or ":" in text or text == "localhost"


def _split_tag(path: str) -> tuple[str, str | None]:
    head, colon, tag = path.rpartition(":")
    if not colon or "/" in tag:
        return path, None
    return head, tag
