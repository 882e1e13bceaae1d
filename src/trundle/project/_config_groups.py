"""Reads `groups`: which groups of resources are generated as packages of their own."""

import keyword
import re

import msgspec

from trundle.documents import Fields, MapNode, Node, ScalarNode, Walker
from trundle.project._config_words import IDENTIFIER

TAKEN = frozenset({"scheme"})
"""What the package itself offers, so that no subpackage can have the name."""


class Group(msgspec.Struct, frozen=True):
    """A group of resources with a package of its own.

    Attributes:
        name: the subpackage.
        group: the group as the file writes it, empty for resources without one; groups that differ in letter case only are the same.
        where: file and line, for messages.
    """

    name: str
    group: str
    where: str = ""

    @property
    def key(self) -> str:
        """What the group is found by."""
        return self.group.casefold()


def read_groups(walker: Walker, fields: Fields) -> tuple[Group, ...]:
    """The groups that a project file names, in its order."""
    if "groups" not in fields:
        return ()
    node = fields["groups"][1]
    entries = walker.entries(node, "groups of resources by subpackage")
    if isinstance(node, MapNode) and not node.entries:
        advice = "name them, or remove `groups` to generate one package"
        walker.note(node.line, "at least one group", "none", advice)
    groups: dict[str, Group] = {}
    names: dict[str, str] = {}
    for key, value in entries:
        name = _subpackage(walker, key, names)
        text = _group(walker, value)
        if text is None or name is None:
            continue
        group = Group(name, text, walker.place(key))
        first = groups.setdefault(group.key, group)
        if first is not group:
            found = f"{group.name} beside {first.name} at {first.where}"
            what = f"one subpackage for {text or 'resources without a group'}"
            walker.note(key.line, what, found, "remove one of them")
    return tuple(groups.values())


def _group(walker: Walker, node: Node) -> str | None:
    """The name of a group; empty text stands for resources without a group, as Kubernetes' own."""
    if isinstance(node, ScalarNode) and node.is_text and not node.text:
        return ""
    return walker.text(node, "a group of resources as Microsoft.Batch or example.com")


def _subpackage(walker: Walker, key: ScalarNode, names: dict[str, str]) -> str | None:
    """The name of a subpackage, where it can be one."""
    name = key.text
    if not re.fullmatch(IDENTIFIER, name) or keyword.iskeyword(name):
        advice = "use letters, digits and underscores"
        walker.note(key.line, "the name of a Python subpackage", repr(name), advice)
        return None
    if name in TAKEN:
        found = f"{name}, which the package itself offers"
        walker.note(key.line, "a name that is free", found, "choose another name")
        return None
    first = names.setdefault(name.casefold(), walker.place(key))
    if first != walker.place(key):
        found = f"{name} again, as at {first}"
        advice = "choose another name; some file systems ignore letter case"
        walker.note(key.line, "each subpackage once", found, advice)
        return None
    return name
