"""Pictures of things that stand above one another: as SVG files of their own, or as parts of pages."""

from trundle.drawing._graph import Box, Graph, Line, graph_element, graph_file

__all__ = ["Box", "Graph", "Line", "graph_element", "graph_file"]
