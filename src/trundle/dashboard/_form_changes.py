"""What a user did in a form, done to the document that it was made from. What they left as it was is not touched."""

from collections.abc import Mapping
from typing import NamedTuple

from trundle.dashboard._fields import Field, Group, fields_in, groups_in, name_of, parts_in
from trundle.dashboard._map_keys import Keys, keys_in, with_keys
from trundle.dashboard._nodes import at, json_node, put, text_node, value_nodes, without
from trundle.dashboard._schema_form import NUMBER
from trundle.documents import ListNode, Node, ScalarNode
from trundle.errors import TrundleError


class Changed(NamedTuple):
    """A document after a form was sent.

    Attributes:
        document: the document.
        problems: what could not be done to it, by the names of fields.
        focus: the name of the field or group that a user goes on with, or what a button does; empty where that is nothing special.
        keys: what was done to keys, or would have been without problems.
    """

    document: Node
    problems: Mapping[str, str]
    focus: str = ""
    keys: Keys = Keys({}, {}, {}, [])


def filled_in(form: Group, document: Node, given: Mapping[str, str]) -> Changed:
    """A document with what was written into the fields of its form, and with new keys where there are no problems.

    Args:
        form: the form of the document.
        document: the document.
        given: what the browser sent, by the names of fields.
    """
    problems: dict[str, str] = {}
    for field in fields_in(form):
        typed = as_shown(given.get(field.name, field.value))
        if typed == as_shown(field.value):
            continue
        try:
            document = _written(document, field, typed)
        except TrundleError as error:
            problems[field.name] = str(error)
    keys = keys_in(form, document, given)
    problems |= keys.problems
    if problems:  # They name places with the keys as they were.
        return Changed(document, problems, keys=keys)
    return Changed(with_keys(document, keys), problems, keys.focus, keys)


def extended(form: Group, document: Node, name: str) -> Changed:
    """A document with something new: a group that it did not have, or an element of a list.

    Args:
        form: the form of the document.
        document: the document.
        name: the group.

    Raises:
        LookupError: nothing can be added there.
    """
    group = next((each for each in groups_in(form) if each.name == name), None)
    if group is None:
        raise LookupError(name)
    if not group.is_there and group.initial is not None:
        return Changed(put(document, group.path, group.initial), {}, group.name)
    if group.item is None:
        raise LookupError(name)
    if group.is_keyed:
        problem = {group.key_name: "Give what is added a key."}
        return Changed(document, problem, group.key_name)
    there = at(document, group.path)
    path = (*group.path, len(there.items) if isinstance(there, ListNode) else 0)
    return Changed(put(document, path, group.item), {}, name_of(path))


def reduced(form: Group, now: Changed, name: str) -> Changed:
    """A document without a field or a group of the form that was sent.

    Raises:
        LookupError: there is no such thing.
    """
    for each in parts_in(form):
        if each.name == name and each.path:
            path = now.keys.moved(each.path)
            around = name_of(path[:-1]) if each.is_element else name_of(path)
            return Changed(without(now.document, path), {}, f"add {around}")
    raise LookupError(name)


def moved(form: Group, now: Changed, name: str) -> str:
    """What a part of the form that was sent is called now."""
    path = next((each.path for each in parts_in(form) if each.name == name), None)
    return name if path is None else name_of(now.keys.moved(path))


def _written(document: Node, field: Field, typed: str) -> Node:
    if not typed and not field.is_element and not _keeps_empty(field):
        return without(document, field.path)
    return put(document, field.path, _value(field, typed))


def _keeps_empty(field: Field) -> bool:
    """Whether an empty text is a value: where there has to be a text, it is what the user wrote."""
    return field.required and field.control in {"text", "lines"}


def _value(field: Field, typed: str) -> Node:
    match field.control:
        case "choice":
            if typed not in {each.value for each in field.choices}:
                raise TrundleError(f"{typed} is not one of the values.")
            return json_node(typed)
        case "number" if NUMBER.fullmatch(typed.strip()):
            return ScalarNode(typed.strip(), typed.strip())
        case "yaml":
            found = value_nodes(typed)
            if len(found) != 1:
                raise TrundleError("Write one value in YAML, or remove it.")
            return found[0]
    return text_node(typed)


def as_shown(text: str) -> str:
    """A text as forms give it back: browsers end lines in their own way."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
