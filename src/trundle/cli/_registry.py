"""The default registry, for references that name none."""

from trundle.cli._failures import unmet
from trundle.cli._settings import current

_LAYOUT = "oci:"


def full_reference(text: str) -> str:
    """A reference with its registry: the default one where the text names none.

    Raises:
        CommandExit: the default registry has a tag or a path in it.
    """
    default = current().registry.rstrip("/")
    if not default or _names_registry(text):
        return text
    if default.startswith(_LAYOUT):
        return f"{default}//{text}"
    if "/" in default.rpartition("://")[2]:
        expected = "a registry, `HOST` or `oci:DIR`"
        raise unmet("the default registry", expected, repr(default), "leave the path out")
    return f"{default}/{text}"


def is_registry(text: str) -> bool:
    """Whether a text alone is a registry and no other word: a host by Docker's rule, or a folder."""
    host = "." in text or ":" in text or text == "localhost"
    return text.startswith(_LAYOUT) or "://" in text or host


def _names_registry(text: str) -> bool:
    """Whether the first component of a reference is a registry."""
    first, slash, _ = text.partition("/")
    return text.startswith(_LAYOUT) or "://" in text or (bool(slash) and is_registry(first))
