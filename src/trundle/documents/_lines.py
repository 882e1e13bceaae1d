"""The line of a place in a document."""

import json

from trundle.documents._tree import ListNode, MapNode, Node

_ENDS = (".", "[")


def line_at(root: Node, path: str) -> int:
    """The line of what a path leads to: of its key, or of the item; of what is around it as far as the path leads; 0 where nodes know no lines.

    Names in a path may have dots and brackets, as they stand there as they are: the longest name that fits counts.

    Args:
        root: the document, read as YAML.
        path: a path that starts with `$`.
    """
    node, line, rest = root, root.line, path.removeprefix("$")
    while rest:
        found = _step(node, rest)
        if found is None:
            break
        node, line, rest = found
    return line


def _step(node: Node, rest: str) -> tuple[Node, int, str] | None:
    """The child that a path leads to next, its line, and the rest of the path."""
    steps: list[tuple[str, Node, int]] = []
    if isinstance(node, MapNode):
        for key, value in node.entries:
            name = key.text
            spelt = (f".{name}", f"['{name}']", f"[{json.dumps(name, ensure_ascii=False)}]")
            steps += ((each, value, key.line) for each in spelt)
    elif isinstance(node, ListNode):
        steps = [(f"[{at}]", item, item.line) for at, item in enumerate(node.items)]
    fitting = [x for x in steps if rest == x[0] or rest.startswith(tuple(x[0] + e for e in _ENDS))]
    if not fitting:
        return None
    step, child, line = max(fitting, key=lambda each: len(each[0]))
    return child, line, rest.removeprefix(step)
