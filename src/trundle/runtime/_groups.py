"""The API group that a document names before its version, as Kubernetes writes it: `group/version`.

A resource type with a group takes its own, in any letter case, and a version without a group: the results carry
the group as the resource type spells it. Any other group is refused, because another group's resource type of
the same kind is another resource type. A resource type without a group takes none.
"""

from typing import NamedTuple

from trundle.runtime._errors import UnknownVersionError
from trundle.runtime._resource_types import ResourceType


class GroupVersion(NamedTuple):
    """An `apiVersion` in its two parts.

    Attributes:
        group: what is before the last slash; None where there is no slash.
        version: the version.
    """

    group: str | None
    version: str

    @classmethod
    def parse(cls, text: str) -> "GroupVersion":
        """Splits an `apiVersion`; any text has a version."""
        group, slash, version = text.rpartition("/")
        return cls(group if slash else None, version)

    def within(self, found: ResourceType) -> str:
        """The version, once the group is known to be that of a resource type.

        Raises:
            UnknownVersionError: it is another group.
        """
        if self.group is None or (self.group and self.group.casefold() == found.group.casefold()):
            return self.version
        own = f"is of the API group {found.group!r}" if found.group else "has no API group"
        right = f"{found.group}/{self.version}" if found.group else self.version
        raise UnknownVersionError(
            f"{found.name} {own}, but the `apiVersion` is {f'{self.group}/{self.version}'!r}; "
            f"write {right!r} if {found.name} is meant"
        )
