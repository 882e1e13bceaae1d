"""Labels and annotations that hooks write: each is a property of the versions on the side that a hook writes.

Documents have it in `metadata`, and nowhere else. What a store keeps has it as a property of its own, apart from the
metadata that all versions share. Documents of the other versions may have one under the same key, which is none of the
hook's: that is another property.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from trundle.evolution._changes import HookReference
from trundle.evolution._neighbours import Neighbours, VersionMap
from trundle.evolution._paths import PathError, split_path
from trundle.evolution._threads import METADATA
from trundle.version import ApiVersion

FIELDS = ("annotations", "labels")
"""What metadata has by keys that hooks may write."""

_NAME = re.compile(rf"{METADATA}\.({'|'.join(FIELDS)})(?:\[(.+)\]|\((.+)\))")
_PLAIN = re.compile(r"[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?")
_DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LONGEST_DOMAIN = 253


class Label(NamedTuple):
    """A label or annotation: the field of metadata that it stands in, and its key."""

    field: str
    key: str

    @property
    def name(self) -> str:
        """What the property is called on the side that the hook writes."""
        return f"{METADATA}.{self.field}[{self.key}]"

    @property
    def elsewhere(self) -> str:
        """What the property is called that has what the other side has under this key."""
        return f"{METADATA}.{self.field}({self.key})"

    @property
    def declared(self) -> str:
        """How hooks declare it."""
        return f'{METADATA}.{self.field}["{self.key}"]'


def label_of(property_: str) -> Label | None:
    """The label or annotation that a property is; None for any other."""
    found = _NAME.fullmatch(property_)
    return None if found is None else Label(found[1], found[2] or found[3])


def declared_label(text: str) -> Label | None:
    """The label or annotation that a hook declares; None for a text that names none."""
    try:
        match split_path(text):
            case (str(first), field, key) if first == METADATA and field in FIELDS:
                return Label(field, key)
    except PathError:
        pass
    return None


def is_label_key(key: str) -> bool:
    """Whether Kubernetes admits a key of labels and annotations: a name, which may have a DNS domain before it.

    The rules are those of "Labels and Selectors" in the Kubernetes documentation.
    """
    domain, slash, name = key.rpartition("/")
    if slash and (len(domain) > _LONGEST_DOMAIN or _DOMAIN.fullmatch(domain) is None):
        return False
    return _PLAIN.fullmatch(name) is not None


def written_labels(
    written: Iterable[tuple[HookReference, str, ApiVersion]],
    versions: VersionMap,
    names: Mapping[ApiVersion, str],
) -> dict[ApiVersion, tuple[str, ...]]:
    """The labels and annotations that each version of a resource type has as properties.

    Args:
        written: what hooks write: the hook, the property, and the version that it is written for.
        versions: the versions of the resource type.
        names: what each calls its root type.
    """
    found: dict[ApiVersion, set[str]] = {}
    for hook, name, target in written:
        between = Neighbours(hook.older, hook.newer)
        label = label_of(name)
        if label is None or between not in versions.pairs or names[hook.older] != hook.type:
            continue
        own = _beyond(versions, between, target)
        for version in versions.versions:
            called = label.name if version in own else label.elsewhere
            found.setdefault(version, set()).add(called)
    return {version: tuple(sorted(each)) for version, each in found.items()}


def _beyond(versions: VersionMap, between: Neighbours, start: ApiVersion) -> set[ApiVersion]:
    """The versions that one end of a pair leads to without crossing the pair."""
    found, waiting = {start}, [start]
    while waiting:
        at = waiting.pop()
        for pair in versions.pairs:
            if pair != between and at in (pair.older, pair.newer):
                other = pair.newer if at == pair.older else pair.older
                if other not in found:
                    found.add(other)
                    waiting.append(other)
    return found
