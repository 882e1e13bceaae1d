"""The ancestors of a class as a picture.

Each class stands above all that extend it. A line has the range of the requirement that led along it, where that left the package.
"""

from collections.abc import Sequence

from trundle.drawing import Box, Graph, Line, graph_file
from trundle.engine._explain import Explained, Reason


def explanation_svg(explained: Sequence[Explained]) -> str:
    """The ancestors as the text of an SVG file that needs nothing else."""
    root = explained[0]
    boxes = [
        Box(each.label, each.name, f"{each.package} {each.version}", each.level)
        for each in explained
    ]
    lines = [
        Line(reason.child, each.label, _said(reason, each))
        for each in explained
        for reason in each.reasons
    ]
    return graph_file(Graph(f"Ancestors of {root.name} {root.version}", boxes, lines))


def _said(reason: Reason, parent: Explained) -> str:
    """What a line says: the range, and the version that it chose by itself where that is another; nothing within one package."""
    if not reason.requirement:
        return ""
    alone = f", {reason.alone} by itself" if reason.alone != parent.version else ""
    return f"{reason.allowed}{alone}"
