"""What a user did to the keys of a form's maps, done to its document: entries that are called otherwise, and new ones."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from trundle.dashboard._fields import Group, groups_in, name_of
from trundle.dashboard._nodes import Path, at, put, text_node
from trundle.documents import MapNode, Node


class Keys(NamedTuple):
    """What is to be done to the keys of a document.

    Attributes:
        renamed: the new keys of entries, by the places of these.
        added: the keys of new entries and what they are, by the places of maps.
        problems: what cannot be done, by the names of inputs.
        inputs: the names of all inputs that a user changed.
    """

    renamed: dict[Path, str]
    added: dict[Path, tuple[str, Node]]
    problems: dict[str, str]
    inputs: list[str]

    def moved(self, path: Path) -> Path:
        """Where something stands after entries are called otherwise."""
        return tuple(self.renamed.get(path[: number + 1], part) for number, part in enumerate(path))

    @property
    def focus(self) -> str:
        """The name of what was added last; empty where nothing was."""
        found = [(*self.moved(path), key) for path, (key, _) in self.added.items()]
        return name_of(found[-1]) if found else ""


def keys_in(form: Group, document: Node, given: Mapping[str, str]) -> Keys:
    """What a user did to keys.

    Args:
        form: the form that was sent.
        document: the document, with what was written into the fields.
        given: what the browser sent, by the names of inputs.
    """
    found = Keys({}, {}, {}, [])
    for group in groups_in(form):
        _look(group, at(document, group.path), given, found)
    return found


def _look(group: Group, there: Node | None, given: Mapping[str, str], found: Keys) -> None:
    wanted: dict[str, tuple[str, str]] = {}
    for each in group.members:
        typed = given.get(each.rename_name, each.key)
        if each.key is not None and typed is not None and typed != each.key:
            wanted[each.key] = typed, each.rename_name
    added = given.get(group.key_name, "") if group.is_keyed and group.item is not None else ""
    before = [key.text for key, _ in there.entries] if isinstance(there, MapNode) else []
    after = Counter(wanted[each][0] if each in wanted else each for each in before)
    if added:
        after[added] += 1
    for key, (typed, name) in wanted.items():
        found.inputs.append(name)
        if not typed:
            found.problems[name] = f"Give {key!r} another key, or remove it."
        elif after[typed] > 1:
            found.problems[name] = _twice(typed)
        else:
            found.renamed[(*group.path, key)] = typed
    if added and group.item is not None:
        found.inputs.append(group.key_name)
        if after[added] > 1:
            found.problems[group.key_name] = _twice(added)
        else:
            found.added[group.path] = added, group.item


def _twice(key: str) -> str:
    return f"There is {key!r} already. Each key stands once in a map."


def with_keys(document: Node, keys: Keys) -> Node:
    """A document with new keys; each entry keeps its value and its place among the others."""
    maps = {path[:-1] for path in keys.renamed} | keys.added.keys()
    for path in sorted(
        maps, key=len, reverse=True
    ):  # Those within others first, as long as these have their keys.
        found = at(document, path)
        entries = list(found.entries) if isinstance(found, MapNode) else []
        for number, (key, value) in enumerate(entries):
            renamed = keys.renamed.get((*path, key.text))
            if renamed is not None:
                entries[number] = text_node(renamed), value
        if path in keys.added:
            new, item = keys.added[path]
            entries.append((text_node(new), item))
        document = put(document, path, MapNode(tuple(entries)))
    return document
