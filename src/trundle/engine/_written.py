"""Parts of class files as text again: in one line, as they may be written in a class file."""

import json
import re

from trundle.engine._nodes import ListNode, MapNode, Node, ScalarNode

_BARE = re.compile(r"[A-Za-z_][\w. -]*")
_LONGEST = 72


def written(node: Node | None) -> str:
    """The text of a part of a class file; `null` for none. Expressions stand as their author wrote them."""
    match node:
        case None:
            return "null"
        case ScalarNode():
            return _scalar(node)
        case ListNode():
            return f"[{', '.join(map(written, node.items))}]"
        case MapNode():
            entries = (f"{_scalar(key)}: {written(value)}" for key, value in node.entries)
            return f"{{{', '.join(entries)}}}"


def shortened(node: Node | None) -> str:
    """The text of a part of a class file for a message, cut where it is long."""
    text = " ".join(written(node).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def same(one: Node | None, other: Node | None) -> bool:
    """Whether two parts of class files say the same, wherever they stand."""
    match one, other:
        case ScalarNode(), ScalarNode():
            kinds = (
                one.may_be_expression or one.is_tagged,
                other.may_be_expression or other.is_tagged,
            )
            return (
                type(one.value) is type(other.value)
                and one.value == other.value
                and kinds[0] == kinds[1]
            )
        case ListNode(), ListNode():
            return len(one.items) == len(other.items) and all(map(same, one.items, other.items))
        case MapNode(), MapNode():
            return len(one.entries) == len(other.entries) and all(
                same(key, name) and same(value, found)
                for (key, value), (name, found) in zip(one.entries, other.entries, strict=True)
            )
        case None, None:
            return True
    return False


def _scalar(node: ScalarNode) -> str:
    if node.may_be_expression or node.is_tagged:
        return node.text
    if isinstance(node.value, str) and not _BARE.fullmatch(node.value):
        return json.dumps(node.value, ensure_ascii=False)
    return node.text if node.value is not None else "null"
